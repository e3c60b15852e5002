"""Laws as JSON values, written and read."""

from typing import Any

from vanishing.algebra import saving
from vanishing.equations.fitted import read_terms

_MEASURED = ("error", "relative_error", "evidence", "lack_of_fit", "held_out_error")


def write_law(writer, law: Any) -> dict:
    """Write a law as JSON values."""
    node: dict = {
        "equation": str(law),
        **law.written_terms(writer),
        "target": law.target,
        "n_inputs": law.n_inputs,
        "branch": law.branch,
        "n_samples": law.n_samples,
        "verdict": law.verdict,
    }
    if law.constants:
        node["constants"] = saving.write_constants(writer, law.constants)
    if law.constant_units:
        node["constant_units"] = law.constant_units
    for name in _MEASURED:
        node[name] = writer.float(getattr(law, name))
    node["errors"] = None if law.errors is None else writer.array(law.errors, "errors")
    if law.formula is not None:
        node["formula"] = saving.write_tree(writer, law.formula)
    if law.units is not None:
        node["units"] = saving.write_units(writer, law.units)
    return node


def read_parts(reader, node) -> dict[str, Any]:
    """Return what `write_law` has written, by names of parameters of a law."""
    keys = ("names", "target", "n_inputs", "terms", "coef", "branch", "n_samples", "verdict")
    names, target, n_inputs, terms, coef, branch, n_samples, verdict, *rest = reader.fields(
        node,
        "a law",
        (*keys, *_MEASURED, "covariance", "errors"),
        ("constants", "equation", "units", "constant_units", "offsets", "formula"),
    )
    *measured, covariance, errors, constants, _, units, constant_units, offsets, formula = rest
    constants, constant_units = saving.read_constants(reader, constants, constant_units)
    parts = read_terms(reader, names, terms, coef, covariance, offsets)
    n_columns = len(parts["names"])
    if errors is not None:
        errors = reader.array(errors, "errors", (n_columns,))
    return dict(
        **parts,
        target=None if target is None else reader.string(target, "target"),
        n_inputs=reader.integer(n_inputs, "n_inputs"),
        branch=reader.integer(branch, "branch", -1, 1),
        errors=errors,
        n_samples=reader.integer(n_samples, "n_samples"),
        verdict=reader.string(verdict, "verdict"),
        constants=constants,
        constant_units=constant_units,
        units=None if units is None else saving.read_saved_units(reader, units, n_columns),
        formula=None if formula is None else saving.read_tree(reader, formula, n_columns),
        **{k: reader.measured(v, k) for k, v in zip(_MEASURED, measured, strict=True)},
    )
