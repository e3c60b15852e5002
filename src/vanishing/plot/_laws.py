"""What the displays of laws share: which law is drawn, and the size of points."""

from vanishing.equations.law import Law
from vanishing.inspection import LawRows, law_anatomy, law_rows


def law_of(estimator) -> Law:
    """Return the best law; raise ValueError where there is none."""
    answer = law_anatomy(estimator)
    if isinstance(estimator, Law):
        return estimator
    if not answer.laws:
        raise ValueError("no law was found: give an equation, such as one of front_.")
    return answer.laws[0]


def rows_of(estimator, X, y, column) -> LawRows:
    """Return what the best law says of rows."""
    return law_rows(law_of(estimator), X, y, column=column)


def point_size(n_rows: int) -> float:
    """Return the size of points, larger where they are few."""
    return 4.0 if n_rows > 100 else 8.0
