"""Laws in the formats of the command ``show``."""

import math

from vanishing.algebra.writing import printable
from vanishing.cli.console import console, table
from vanishing.inspection import constants_of, law_anatomy


def write_text(model, top=None):
    """Print laws, the verdict, constants and the front, to read."""
    answer = law_anatomy(model)
    is_checked = not hasattr(answer.model, "front_")
    printer = console(wrapped=False)
    if answer.by_group is not None:
        _write_groups(answer.by_group, answer.verdict)
        return
    shown = answer.laws[:top] if answer.holds else ((answer.best,) if is_checked else ())
    for law in shown:
        printer.print()
        printer.print(str(law), style="bold")
    printer.print()
    printer.print(printable(answer.verdict))
    for law in shown:
        printer.print()
        for part in _constants(law):
            printer.print(part)
    if not is_checked and answer.front:
        chosen = answer.laws[0] if answer.laws else None
        printer.print("Equations that were compared, the best of each number of terms:")
        printer.print(_front(answer.front, chosen))


def _write_groups(laws, verdict):
    """Print the laws of groups, the verdict, and the constants beside one another."""
    printer = console(wrapped=False)
    printer.print()
    for law in laws:
        printer.print(f"{printable(str(law.group))}: {law}", style="bold")
    printer.print()
    printer.print(printable(verdict))
    each = [constants_of(law) for law in laws]
    name_of = "constant" if each[0].left == "" else "term"
    heads = [name_of, "group", "#value", "#standard error"]
    numbers = table(*heads, *(["unit"] if each[0].has_units else []))
    for place, (name, *_) in enumerate(each[0].rows):
        rows = [constants.rows[place] for constants in each]
        is_shared = len({value for _, value, *_ in rows}) == 1
        for law, (_, value, std, unit) in zip(laws, rows[:1] if is_shared else rows, strict=False):
            group = "all" if is_shared else printable(str(law.group))
            row = [printable(name), group, *rounded(value, std)]
            numbers.add_row(*row, *([unit] if each[0].has_units else []))
    printer.print()
    printer.print(numbers)


def rounded(value: float, std: float) -> tuple[str, str]:
    """Write a number to the digits that its standard error leaves, and that error."""
    if not (math.isfinite(std) and std > 0.0):
        return f"{value:.8g}", ""
    digits = 1 - math.floor(math.log10(float(f"{std:.1e}")))
    size = math.floor(math.log10(abs(value))) + digits + 1 if value else 1
    if not 0 < digits < 7:
        return f"{value:.{max(size, 1)}g}", f"{std:.2g}"
    return f"{value:.{digits}f}", f"{std:.2g}"


def _constants(law):
    """Return a sentence about the numbers of a law, and a table of them."""
    constants = constants_of(law)
    left_side = constants.left
    if left_side is None:
        sentence = f"{law}: the sum of these coefficients times terms is 0."
    elif constants.is_single:
        sentence = f"{left_side} is the same number on all rows:"
    else:
        sum_of_terms = f"{left_side} is the sum of these coefficients times terms."
        sentence = sum_of_terms if left_side else "Constants:"
    heads = ["term" if left_side != "" else "constant", "#value", "#standard error"]
    numbers = table(*heads, *(["unit"] if constants.has_units else []))
    for name, value, std, unit in constants.rows:
        row = [printable(name), *rounded(value, std)]
        numbers.add_row(*row, *([unit] if constants.has_units else []))
    return sentence, numbers


def _front(front, chosen):
    equations = table("", "#terms", "#rms error", "equation")
    for law in front:
        mark = "->" if chosen is not None and str(law) == str(chosen) else ""
        equations.add_row(mark, str(law.n_terms), f"{law.error:.4g}", str(law))
    return equations


def formulas(model, top=None):
    """Return the verdict, and the laws to write in LaTeX or for SymPy."""
    answer = law_anatomy(model)
    return answer.verdict, answer.laws[:top]


def document(model, top=None) -> dict:
    """Return everything that is known of the laws, as JSON has it."""
    answer = law_anatomy(model)
    groups = {} if answer.by_group is None else {"groups": list(answer.by_group.groups)}
    return {
        "model": type(model).__name__,
        **groups,
        "holds": answer.holds,
        "verdict": answer.verdict,
        "columns": list(answer.names),
        "target": answer.target,
        "laws": [document_of(law) for law in answer.laws[:top]],
        "front": [document_of(law) for law in answer.front],
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
        "standard_errors": [_finite(value) for value in law.coef_std.tolist()],
        "units": law.coef_units and list(law.coef_units),
        "constants": {
            name: {
                "value": _finite(value),
                "standard_error": _finite(std),
                "unit": law.constant_units.get(name),
            }
            for name, (value, std) in law.constants.items()
        },
        **{name: _finite(getattr(law, name)) for name in measured},
        "n_samples": law.n_samples,
        "verdict": law.verdict,
        **({} if law.group is None else {"group": law.group}),
        **({"wrong_rows": list(law.wrong_rows)} if law.wrong_rows else {}),
    }


def _finite(value: float) -> float | str | None:
    """Return a number as JSON has it: it knows neither infinity nor NaN."""
    if math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)
