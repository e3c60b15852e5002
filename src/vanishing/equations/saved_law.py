"""Laws as JSON values, written and read."""

from typing import Any

from vanishing.algebra import saving
from vanishing.equations.fitted import read_terms
from vanishing.equations.parts import GROUP
from vanishing.fitting.unequal_noise import Variance

_MEASURED = ("error", "relative_error", "evidence", "lack_of_fit", "held_out_error")
_LATER = ("zero", "constant_covariance", "noise", "group", "wrong_rows")


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
    if law.equation is not None:
        node["zero"] = saving.write_tree(writer, law.equation)
    if law.constant_covariance is not None:
        node["constant_covariance"] = writer.array(law.constant_covariance, "constant_covariance")
    if law.noise is not None:
        noise = law.noise
        node["noise"] = [
            writer.float(number) for number in (noise.floor, noise.power, noise.size, noise.factor)
        ]
    if law.group is not None:
        node["group"] = law.group
    if law.wrong_rows:
        node["wrong_rows"] = list(law.wrong_rows)
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
        ("constants", "equation", "units", "constant_units", "offsets", "formula", *_LATER),
    )
    later = dict(zip(_LATER, rest[-len(_LATER) :], strict=True))
    *measured, covariance, errors, constants, _, units, constant_units, offsets, formula = rest[
        : -len(_LATER)
    ]
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
        **_read_later(reader, later, n_columns, len(constants)),
        **{k: reader.measured(v, k) for k, v in zip(_MEASURED, measured, strict=True)},
    )


def _read_later(reader, later: dict[str, Any], n_columns: int, n_constants: int) -> dict[str, Any]:
    """Return what files of earlier versions do not have."""
    zero, covariance, noise, group, wrong = (later[name] for name in _LATER)
    if covariance is not None:
        shape = (n_constants, n_constants)
        covariance = reader.array(covariance, "constant_covariance", shape)
    if noise is not None:
        floor, power, size, factor = reader.floats(noise, "noise", 4).tolist()
        noise = Variance(floor, int(power), size, factor)
    reader.require(
        group is None or (isinstance(group, GROUP) and not isinstance(group, bool)),
        "the group of a law is neither a text nor a number.",
    )
    wrong = [] if wrong is None else reader.listed(wrong, "wrong_rows")
    return {
        "equation": None
        if zero is None
        else saving.read_tree(reader, zero, n_columns + n_constants),
        "constant_covariance": covariance,
        "noise": noise,
        "group": group,
        "wrong_rows": [reader.integer(row, "wrong_rows") for row in wrong],
    }
