"""Whether rows that follow one another are alike, so that they count as fewer: random walks are."""

from typing import NamedTuple

import numpy as np

from vanishing.equations.law import Law
from vanishing.fitting.sparse import price
from vanishing.laws import settings
from vanishing.rows.source import RowPart


class ErrorsInOrder(NamedTuple):
    """Sums over rows in the order given, by which errors of a law that follow one another are told.

    Attributes
    ----------
    n_rows, y, y_square : float
        Number of rows, and sums of the target and of its squares.
    square : float
        Sum of squared errors.
    product, product_square : float
        Sums over pairs of rows that follow one another, of the product of their errors.
    """

    n_rows: float
    y: float
    y_square: float
    square: float
    product: float
    product_square: float

    def plus(self, other: "ErrorsInOrder") -> "ErrorsInOrder":
        """Return the sums over both parts of the rows."""
        return ErrorsInOrder(*(one + two for one, two in zip(self, other, strict=True)))

    @property
    def n_independent(self) -> float:
        """How many rows with independent errors these are worth, if errors are alike."""
        if not self.product > settings.ALIKE_IN_ORDER * np.sqrt(self.product_square):
            return self.n_rows
        alike = min(self.product / self.square, 1.0)
        return self.n_rows * (1.0 - alike) / (1.0 + alike)


def errors_in_order(law: Law, part: RowPart) -> ErrorsInOrder:
    """Return the sums over a part of the rows; a row that is repeated at once is one."""
    rows = np.column_stack([part.X, part.y])
    rows = rows[np.append(True, (rows[1:] != rows[:-1]).any(axis=1))]
    X, y = rows[:, :-1], rows[:, -1]
    with np.errstate(all="ignore"):
        left = y - law.predict(X) if law.solution is not None else law.residual(X, y)
    # Rows that are wrong may well follow one another.
    left = np.where(np.abs(left) < settings.FAR * law.error, left, 0.0)  # NaN is not
    products = left[1:] * left[:-1]
    sums = (y.sum(), y @ y, left @ left, products.sum(), products @ products)
    return ErrorsInOrder(len(y), *map(float, sums))


def is_by_chance(law: Law, errors: ErrorsInOrder) -> bool:
    """Say whether a law explains no more than chance does on as many independent rows.

    Two random walks have much in common. Where errors of rows that follow one another are noise,
    the order of rows plays no part.
    """
    if errors.n_independent == errors.n_rows:
        return False
    variance = max(errors.y_square - errors.y**2 / errors.n_rows, 1e-300)
    gain = -errors.n_independent * np.log(min(max(errors.square / variance, 1e-300), 1.0))
    n_free = max(law.n_terms - 1, len(law.constants))
    return bool(gain < settings.CHANCE + price(errors.n_rows) * n_free)
