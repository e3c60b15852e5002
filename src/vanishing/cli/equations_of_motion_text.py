"""Equations of motion in the formats of the command ``show``."""

import math

from vanishing.algebra.writing import printable
from vanishing.cli.console import console, table
from vanishing.cli.law_text import rounded


def write_text(model, top=None):
    """Print the equations, the verdict, numbers with their errors, and the noise, to read."""
    printer = console(wrapped=False)
    printer.print()
    for equation in model.equations_:
        printer.print(str(equation), style="bold")
    if model.equations_:
        printer.print()
    printer.print(printable(model.verdict_[:1].upper() + model.verdict_[1:]))
    for sentence in _measures(model):
        printer.print(sentence)
    printer.print()
    if model.equations_:
        printer.print(_columns(model))
        printer.print(_numbers(model.equations_))
    elif model.front_:
        printer.print("Equations that were compared; none of them is claimed:")
        for equation in model.front_[:top]:
            printer.print(f"  {equation}")


def _measures(model):
    """Yield sentences about runs held out, pieces, and what the runs do not determine."""
    if not math.isnan(model.held_out_error_):
        held_out = ", ".join(map(str, model.runs_[model.held_out_].tolist()))
        yield (
            f"Error on runs held out ({printable(held_out)}): {model.held_out_error_:.2f} times "
            "the noise."
        )
    elif model.equations_:
        yield "No run was held out: four are needed for that."
    if model.n_pieces_ > 1:
        yield f"Each run was followed in {model.n_pieces_} pieces."
    if model.ambiguous_:
        yield f"Not determined by the runs: {printable(', '.join(model.ambiguous_))}."


def _columns(model):
    """Return a table of what is known of each column."""
    found = table("column", "#noise", "#explained", "#evidence", "#lack of fit")
    for equation, noise in zip(model.equations_, model.noise_, strict=False):  # batches have one
        found.add_row(
            printable(equation.target),
            f"{noise:.3g}",
            f"{100 * equation.explained:.4g} %",
            f"{equation.evidence:.3g}",
            f"{equation.lack_of_fit:.2g}",
        )
    return found


def _numbers(equations):
    """Return a table of the coefficients and of the constants inside terms."""
    found = table("equation", "term", "#value", "#standard error")
    for equation in equations:
        coefficients = zip(equation.terms, equation.coef, equation.coef_std, strict=True)
        inside = [(name, *pair) for name, pair in equation.constants.items()]
        for term, value, std in [*coefficients, *inside]:
            found.add_row(
                printable(equation.heading), printable(term), *rounded(float(value), float(std))
            )
    return found


def formulas(model, top=None):
    """Return the verdict, and the equations to write in LaTeX or for SymPy."""
    return model.verdict_, model.equations_[:top]


def document(model, top=None) -> dict:
    """Return everything that is known of the equations, as JSON has it."""
    return {
        "model": type(model).__name__,
        "verdict": model.verdict_,
        "equations": [_document_of(equation) for equation in model.equations_[:top]],
        "front": [str(equation) for equation in model.front_],
        "noise": [_finite(value) for value in model.noise_.tolist()],
        "held_out_error": _finite(model.held_out_error_),
        "n_pieces": int(model.n_pieces_),
        "ambiguous": list(model.ambiguous_),
        "runs": model.runs_.tolist(),
        "held_out": model.runs_[model.held_out_].tolist(),
        "differing": list(model.differing_),
    }


def _document_of(equation) -> dict:
    measured = ("evidence", "explained", "lack_of_fit")
    return {
        "equation": str(equation),
        "latex": equation.to_latex(),
        "target": equation.target,
        "order": equation.order,
        **({} if equation.batch is None else {"batch": equation.batch}),
        "terms": list(equation.terms),
        "coefficients": equation.coef.tolist(),
        "standard_errors": [_finite(value) for value in equation.coef_std.tolist()],
        "constants": {
            name: {"value": _finite(value), "standard_error": _finite(std)}
            for name, (value, std) in equation.constants.items()
        },
        **{name: _finite(getattr(equation, name)) for name in measured},
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
