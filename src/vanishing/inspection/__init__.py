"""The anatomy of a fitted model: what it consists of, for everyone who shows it."""

from vanishing.inspection.anatomy import Anatomy, Part, anatomy, places
from vanishing.inspection.laws import (
    Constants,
    LawAnatomy,
    LawRows,
    Unexplained,
    constants_of,
    law_anatomy,
    law_rows,
    unexplained,
)

__all__ = [
    "Anatomy",
    "Constants",
    "LawAnatomy",
    "LawRows",
    "Part",
    "Unexplained",
    "anatomy",
    "constants_of",
    "law_anatomy",
    "law_rows",
    "places",
    "unexplained",
]
