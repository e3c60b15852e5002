"""Laws in the formats of the command ``show``."""

import math

from vanishing.algebra.writing import printable
from vanishing.cli.console import console
from vanishing.inspection import constants_of, law_anatomy
from vanishing.persistence import layout


def write_text(model, top=None):
    """Print laws, the verdict, constants and the front, to read."""
    from rich.text import Text

    found = law_anatomy(model)
    printer = console(wrapped=False)
    shown = found.laws[:top] if found.holds else ((found.best,) if _is_checked(found) else ())
    for law in shown:
        printer.print()
        printer.print(Text(str(law), style="bold"))
    printer.print()
    printer.print(printable(found.verdict))
    for law in shown:
        sentence, table = _constants(law)
        printer.print()
        printer.print(sentence)
        printer.print(table)
    if not _is_checked(found) and found.front:
        chosen = found.laws[0] if found.laws else None
        printer.print("Equations that were compared, the best of each number of terms:")
        printer.print(_front(found.front, chosen))


def _is_checked(found) -> bool:
    return found.model is found.best


def _table(*heads):
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    for head in heads:
        right = head.startswith("#")
        table.add_column(
            head.removeprefix("#"),
            justify="right" if right else "left",
            no_wrap=right,
            overflow="ellipsis" if right else "fold",
        )
    return table


def _constants(law):
    """Return a table of the numbers of a law, and a sentence about them."""
    found = constants_of(law)
    left = found.left
    if left is None:
        sentence = f"{law}: the sum of these coefficients times terms is 0."
    elif found.is_single:
        sentence = f"{left} is the same number on all rows:"
    else:
        sentence = f"{left} is the sum of these coefficients times terms." if left else "Constants:"
    heads = ["term" if left != "" else "constant", "#value", "#standard error"]
    table = _table(*heads, *(["unit"] if found.has_units else []))
    for name, value, std, unit in found.rows:
        row = [printable(name), f"{value:.8g}", f"{std:.2g}" if std > 0 else ""]
        table.add_row(*row, *([unit] if found.has_units else []))
    return sentence, table


def _front(front, chosen):
    table = _table("", "#terms", "#rms error", "equation")
    for law in front:
        mark = "->" if chosen is not None and str(law) == str(chosen) else ""
        table.add_row(mark, str(law.n_terms), f"{law.error:.4g}", str(law))
    return table


def write_latex(model, top=None):
    """Print one law per line, in LaTeX."""
    found = law_anatomy(model)
    print(f"% {printable(found.verdict)}")
    for law in found.laws[:top]:
        print(law.to_latex())


def write_sympy(model, top=None):
    """Print one equation per line that ``sympy.sympify`` takes, whatever columns are called."""
    found = law_anatomy(model)
    equations = [law.to_sympy() for law in found.laws[:top]]
    print(f"# {printable(found.verdict)}")
    for equation in equations:
        from sympy import srepr

        print(srepr(equation))


def write_json(model, top=None):
    """Print everything that is known of the laws."""
    found = law_anatomy(model)
    document = {
        "model": type(model).__name__,
        "holds": found.holds,
        "verdict": found.verdict,
        "columns": list(found.names),
        "target": found.target,
        "laws": [document_of(law) for law in found.laws[:top]],
        "front": [document_of(law) for law in found.front],
    }
    # Halves of surrogate pairs, which names may hold, are no text, but JSON writes them as \uXXXX.
    print(layout(document).encode("utf-8", "backslashreplace").decode())


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
