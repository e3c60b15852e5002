"""A detector of outliers in the formats of the command ``show``."""

from vanishing.cli.console import console
from vanishing.cli.law_text import document_of


def write_text(model, top=None):
    """Print the threshold and the laws with their verdicts, to read."""
    printer = console(wrapped=False)
    printer.print(
        f"Rows with a score below {model.offset_:.3g} are outliers ({_threshold(model)}). "
        f"Learned from {model.n_samples_seen_} rows of {model.n_features_in_} columns."
    )
    laws = model.laws_[:top]
    printer.print("\nLaws:" if laws else "\nLaws: none that can be read.")
    for law in laws:
        printer.print(f"  {law}", style="bold")
        printer.print(f"    {law.verdict}")


def _threshold(model) -> str:
    if isinstance(model.contamination, str):
        return f"{100 * model.false_alarm_rate:g} % of normal rows"
    return f"{100 * model.contamination:g} % of the rows of the fit"


def formulas(model, top=None):
    """Return no verdict, and the laws to write in LaTeX or for SymPy."""
    return None, model.laws_[:top]


def document(model, top=None) -> dict:
    """Return everything that is known of the laws, and the threshold, as JSON has it."""
    return {
        "model": type(model).__name__,
        "threshold": float(model.offset_),
        "n_samples": int(model.n_samples_seen_),
        "columns": model.column_names_,
        "laws": [document_of(law) for law in model.laws_[:top]],
    }
