"""Repair and calibration in the formats of the command ``show``."""

from vanishing.cli.console import console
from vanishing.cli.law_text import document_of


def write_text(model, top=None):
    """Print the laws that values are repaired by, and the noise of the columns."""
    printer = console(wrapped=False)
    laws = model.laws_[:top]
    printer.print("Laws:" if laws else "Laws: none; gaps follow the covariance of the columns.")
    for law in laws:
        printer.print(f"  {law}", style="bold")
    printer.print("Noise:")
    for name, value in zip(model.get_feature_names_out(), model.noise_, strict=True):
        printer.print(f"  {name}: {value:.3g}")


def formulas(model, top=None):
    """Return no verdict, and the laws to write in LaTeX or for SymPy."""
    return None, model.laws_[:top]


def document(model, top=None) -> dict:
    """Return laws and noise as JSON has them."""
    names = map(str, model.get_feature_names_out())
    return {
        "model": type(model).__name__,
        "noise": dict(zip(names, model.noise_.tolist(), strict=True)),
        "laws": [document_of(law) for law in model.laws_[:top]],
    }
