"""A detector of outliers in the formats of the command ``show``."""

from vanishing.cli.console import console
from vanishing.cli.law_text import document_of
from vanishing.persistence import layout


def write_text(model, top=None):
    """Print the threshold and the laws with their verdicts, to read."""
    from rich.text import Text

    printer = console(wrapped=False)
    printer.print(
        f"Rows with a score below {model.offset_:.3g} are outliers ({_threshold(model)}). "
        f"Learned from {model.n_samples_seen_} rows of {model.n_features_in_} columns."
    )
    laws = model.laws_[:top]
    printer.print("\nLaws:" if laws else "\nLaws: none that can be read.")
    for law in laws:
        printer.print(Text(f"  {law}", style="bold"))
        printer.print(f"    {law.verdict}")


def _threshold(model) -> str:
    if isinstance(model.contamination, str):
        return f"{100 * model.false_alarm_rate:g} % of normal rows"
    return f"{100 * model.contamination:g} % of the rows of the fit"


def write_latex(model, top=None):
    """Print one law per line, in LaTeX."""
    for law in model.laws_[:top]:
        print(law.to_latex())


def write_sympy(model, top=None):
    """Print one equation per line that ``sympy.sympify`` takes, whatever columns are called."""
    equations = [law.to_sympy() for law in model.laws_[:top]]
    for equation in equations:
        from sympy import srepr

        print(srepr(equation))


def write_json(model, top=None):
    """Print everything that is known of the laws, and the threshold."""
    document = {
        "model": type(model).__name__,
        "threshold": float(model.offset_),
        "n_samples": int(model.n_samples_seen_),
        "columns": model.column_names_,
        "laws": [document_of(law) for law in model.laws_[:top]],
    }
    # Halves of surrogate pairs, which names may hold, are no text, but JSON writes them as \uXXXX.
    print(layout(document).encode("utf-8", "backslashreplace").decode())
