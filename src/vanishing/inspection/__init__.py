"""The anatomy of a fitted model: what it consists of, for everyone who shows it."""

from vanishing.inspection.anatomy import Anatomy, Part, anatomy, places
from vanishing.inspection.laws import (
    Constants,
    LawAnatomy,
    LawRows,
    Unexplained,
    constants_of,
    is_about_laws,
    law_anatomy,
    law_rows,
    percent,
    running,
    shown_range,
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
    "is_about_laws",
    "law_anatomy",
    "law_rows",
    "percent",
    "places",
    "running",
    "shown_range",
    "unexplained",
]
