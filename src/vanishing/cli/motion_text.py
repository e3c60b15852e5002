"""Conserved quantities in the formats of the command ``show``."""

import math

from vanishing.algebra.writing import printable
from vanishing.cli.console import console


def write_text(model, top=None):
    """Print quantities, the verdict, and laws of the state, to read."""
    printer = console(wrapped=False)
    printer.print()
    for quantity in model.quantities_[:top]:
        printer.print(str(quantity), style="bold")
        printer.print(
            f"  variance within runs over that of all rows: {quantity.ratio:.2g}, on "
            f"{'runs held out' if model.held_out_.any() else 'the same runs'}"
        )
    printer.print(printable(model.verdict_))
    if model.constraints_:
        printer.print("\nLaws that hold on all rows, and so say nothing about the motion:")
        for law in model.constraints_:
            printer.print(f"  {law}")


def formulas(model, top=None):
    """Return the verdict, and the quantities to write in LaTeX or for SymPy."""
    return model.verdict_, model.quantities_[:top]


def document(model, top=None) -> dict:
    """Return everything that is known of the quantities, as JSON has it."""
    return {
        "model": type(model).__name__,
        "verdict": model.verdict_,
        "n_independent": int(model.n_independent_),
        "runs": model.runs_.tolist(),
        "quantities": [
            {
                "quantity": str(quantity),
                "latex": quantity.to_latex(),
                "terms": list(quantity.terms),
                "coefficients": quantity.coef.tolist(),
                "standard_errors": [
                    value if math.isfinite(value) else None for value in quantity.coef_std.tolist()
                ],
                "ratio": quantity.ratio,
                "values": model.values_[:, i].tolist(),
            }
            for i, quantity in enumerate(model.quantities_[:top])
        ],
        "constraints": [str(law) for law in model.constraints_],
    }
