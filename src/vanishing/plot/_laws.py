"""What the displays of laws share: which law is drawn, and how it is written."""

from vanishing.equations.law import Law
from vanishing.inspection import LawRows, law_anatomy, law_rows
from vanishing.plot._shared import is_symbol, plain

POINTS = 3000
_FEW = 100  # rows whose points can be large
_WRITTEN = 75  # characters of a law in a title


def law_of(estimator) -> Law:
    """Return the best law; raise ValueError where there is none."""
    found = law_anatomy(estimator)
    if isinstance(estimator, Law):
        return estimator
    if not found.laws:
        raise ValueError("no law was found: give an equation, such as one of front_.")
    return found.laws[0]


def rows_of(estimator, X, y, column) -> LawRows:
    """Return what the best law says of rows."""
    return law_rows(law_of(estimator), X, y, column=column)


def written(law: Law, limit: int = _WRITTEN) -> str:
    """Write a law for a picture: as a formula if its columns are symbols such as x0."""
    text = str(law)
    if len(text) > limit:
        return plain(text[: limit - 3]) + "..."
    return f"${law.to_latex()}$" if all(map(is_symbol, law.names)) else plain(text)


def point_size(n_rows: int) -> float:
    """Return the size of points, larger where they are few."""
    return 4.0 if n_rows > _FEW else 8.0
