"""Laws in the formats of the command ``show``."""

import math

from vanishing.algebra.writing import printable
from vanishing.cli.console import console, table
from vanishing.inspection import constants_of, law_anatomy


def write_text(model, top=None):
    """Print laws, the verdict, constants and the front, to read."""
    answer = law_anatomy(model)
    is_checked = answer.model is answer.best
    printer = console(wrapped=False)
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
        row = [printable(name), f"{value:.8g}", f"{std:.2g}" if std > 0 else ""]
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
    return {
        "model": type(model).__name__,
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
    }


def _finite(value: float) -> float | str | None:
    """Return a number as JSON has it: it knows neither infinity nor NaN."""
    if math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)
