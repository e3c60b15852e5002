"""The languages that formulas are written in, by name."""

from collections.abc import Sequence

from vanishing.algebra.markup import Html, MathML
from vanishing.algebra.programs import SQL, C, Python, SympyText
from vanishing.algebra.writing import Latex, PlainText
from vanishing.checks import check_choice

WRITERS: dict[str, type[PlainText]] = {
    "text": PlainText,
    "latex": Latex,
    "html": Html,
    "mathml": MathML,
    "sympy": SympyText,
    "python": Python,
    "c": C,
    "sql": SQL,
}


def writer(
    style: str, names: Sequence[str], digits: int | None = None, *, for_people: bool = False
) -> PlainText:
    """Return what writes expressions in a style, or raise ValueError where there is none.

    Parameters
    ----------
    style : str
        A key of `WRITERS`.
    names : sequence of str
        Names of the columns.
    digits : int, default=None
        As `PlainText` takes them.
    for_people : bool, default=False
        Whether a style that programs read is refused.
    """
    styles = [key for key, kind in WRITERS.items() if not (for_people and kind.is_formal)]
    check_choice("style", style, styles)
    return WRITERS[style](names, digits)
