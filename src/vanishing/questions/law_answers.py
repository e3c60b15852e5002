"""Laws as answers: equations, verdict, constants with their errors, and what was compared."""

from vanishing.algebra.writing import printable
from vanishing.inspection import constants_of, law_anatomy
from vanishing.questions.answer import (
    Answer,
    AnswerTable,
    Constant,
    Equation,
    finite,
    numbers_table,
    rounded,
)

_FRONT = "Equations that were compared, the best of each number of terms:"


def law_answer(model, top: int | None = None) -> Answer:
    """Return what a `LawFinder`, a `Law` or `LawsByGroup` says, the first ``top`` laws of it."""
    whole = law_anatomy(model)
    is_checked = not hasattr(whole.model, "front_")
    best = () if whole.best is None else (whole.best,)
    shown = whole.laws[:top] if whole.holds else best * is_checked
    if whole.by_group is not None:
        shown, tables = tuple(whole.by_group), [_of_groups(whole.by_group)]
    else:
        tables = [numbers_table(_sentence(law), _name(law), _constants(law)) for law in shown]
    front = () if is_checked or whole.by_group is not None else whole.front
    chosen = whole.laws[0] if whole.laws else None
    compared = tuple(law_equation(law, str(law) == str(chosen)) for law in front)
    if front:
        rows = [
            ("->" if e.chosen else "", e.measures["n_terms"], f"{e.measures['error']:.4g}", e.text)
            for e in compared
        ]
        tables.append(AnswerTable(_FRONT, ("", "terms", "rms error", "equation"), tuple(rows)))
    return Answer(
        found=whole.holds,
        verdict=printable(whole.verdict),
        equations=tuple(law_equation(law, whole.holds) for law in shown),
        front=compared,
        tables=tuple(tables),
        model=model,
        details=_document(whole, top),
    )


def _constants(law) -> list[Constant]:
    return [
        Constant(printable(name), value, std, unit)
        for name, value, std, unit in constants_of(law).rows
    ]


def law_equation(law, chosen: bool) -> Equation:
    """Return a law as an equation of an answer."""
    of = "" if law.group is None else f"{printable(str(law.group))}: "
    measures = {"n_terms": law.n_terms, "error": law.error, "relative_error": law.relative_error}
    return Equation(
        f"{of}{law}",
        law.to_latex(),
        law.to_mathml(),
        tuple(_constants(law)),
        chosen,
        measures,
        law,
    )


def _name(law) -> str:
    return "constant" if constants_of(law).left == "" else "term"


def _sentence(law) -> str:
    """Return a sentence about the numbers of a law."""
    constants = constants_of(law)
    if constants.left is None:
        return f"{law}: the sum of these coefficients times terms is 0."
    if constants.is_single:
        return f"{constants.left} is the same number on all rows:"
    if not constants.left:
        return "Constants:"
    return f"{constants.left} is the sum of these coefficients times terms."


def _of_groups(laws) -> AnswerTable:
    """Return the constants of groups beside one another; those that are shared once."""
    each = [_constants(law) for law in laws]
    units = any(constant.unit for constant in each[0])
    rows = []
    for place, first in enumerate(each[0]):
        values = [constants[place] for constants in each]
        is_shared = len({constant.value for constant in values}) == 1
        for law, constant in zip(laws, values[:1] if is_shared else values, strict=False):
            group = "all" if is_shared else printable(str(law.group))
            row = (first.name, group, *rounded(constant.value, constant.std), constant.unit)
            rows.append(row[: 5 if units else 4])
    heads = (_name(laws[0]), "group", "value", "standard error", *(["unit"] * units))
    return AnswerTable("Constants by group:", heads, tuple(rows))


def _document(whole, top: int | None) -> dict:
    """Return everything that is known of the laws, as JSON has it."""
    groups = {} if whole.by_group is None else {"groups": list(whole.by_group.groups)}
    return {
        "model": type(whole.model).__name__,
        **groups,
        "holds": whole.holds,
        "verdict": whole.verdict,
        "columns": list(whole.names),
        "target": whole.target,
        "laws": [document_of(law) for law in whole.laws[:top]],
        "front": [document_of(law) for law in whole.front],
    }


def document_of(law) -> dict:
    """Return what is known of a law, as JSON has it."""
    measured = ("error", "relative_error", "held_out_error", "evidence", "lack_of_fit")
    return {
        "equation": str(law),
        "latex": law.to_latex(),
        "target": law.target,
        "terms": list(law.terms),
        "coefficients": law.coef.tolist(),
        "standard_errors": [finite(value) for value in law.coef_std.tolist()],
        "units": law.coef_units and list(law.coef_units),
        "constants": {
            name: {
                "value": finite(value),
                "standard_error": finite(std),
                "unit": law.constant_units.get(name),
            }
            for name, (value, std) in law.constants.items()
        },
        **{name: finite(getattr(law, name)) for name in measured},
        "n_samples": law.n_samples,
        "verdict": law.verdict,
        **({} if law.group is None else {"group": law.group}),
        **({"wrong_rows": list(law.wrong_rows)} if law.wrong_rows else {}),
    }
