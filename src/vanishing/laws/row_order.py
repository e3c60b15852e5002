"""Whether rows that follow one another are alike, so that they count as fewer: random walks are."""

from functools import partial
from typing import NamedTuple

import numpy as np

from vanishing.equations.law import Law
from vanishing.fitting.sparse import price
from vanishing.laws import settings
from vanishing.laws.passes import ROWS
from vanishing.rows.source import RowPart


class ErrorsInOrder(NamedTuple):
    """Sums over rows in the order given, by which errors of a law that follow one another are told.

    A row that is repeated at once is one.

    Attributes
    ----------
    n_rows, y, y_square : float
        Number of rows, and sums of the target and of its squares.
    square : float
        Sum of squared errors.
    product, product_square : float
        Sums over pairs of rows that follow one another, of the product of their errors.
    first, last : array of shape (n_columns + 2,)
        The first row and the last one: their columns, the target and its error.
    """

    n_rows: float
    y: float
    y_square: float
    square: float
    product: float
    product_square: float
    first: np.ndarray
    last: np.ndarray

    def plus(self, other: "ErrorsInOrder") -> "ErrorsInOrder":
        """Return the sums over these rows and those that follow: the same wherever they part."""
        one, two = self.last[-1], other.first[-1]
        is_repeated = float((self.last == other.first).all())
        y = is_repeated * other.first[-2]
        product = (1.0 - is_repeated) * one * two
        return ErrorsInOrder(
            self.n_rows + other.n_rows - is_repeated,
            self.y + other.y - y,
            self.y_square + other.y_square - y**2,
            self.square + other.square - is_repeated * two**2,
            self.product + other.product + product,
            self.product_square + other.product_square + product**2,
            self.first,
            other.last,
        )

    @property
    def n_independent(self) -> float:
        """How many rows with independent errors these are worth, if errors are alike."""
        if not self.product > settings.ALIKE_IN_ORDER * np.sqrt(self.product_square):
            return self.n_rows
        alike = min(self.product / self.square, 1.0)
        return self.n_rows * (1.0 - alike) / (1.0 + alike)


def errors_in_order(law: Law, part: RowPart) -> ErrorsInOrder:
    """Return the sums over a part of the rows."""
    return part.ask(partial(_errors_of_piece, law), ErrorsInOrder.plus, ROWS)


def _errors_of_piece(law: Law, part: RowPart) -> ErrorsInOrder:
    rows = np.column_stack([part.X, part.y])
    rows = rows[np.append(True, (rows[1:] != rows[:-1]).any(axis=1))]
    X, y = rows[:, :-1], rows[:, -1]
    with np.errstate(all="ignore"):
        left = y - law.predict(X) if law.solution is not None else law.residual(X, y)
    # Rows that are wrong may well follow one another.
    left = np.where(np.abs(left) < settings.FAR * law.error, left, 0.0)  # NaN is not
    products = left[1:] * left[:-1]
    first, last = (np.append(rows[i], left[i]) for i in (0, -1))
    return ErrorsInOrder(
        float(len(y)),
        float(y.sum()),
        float(y @ y),
        float(left @ left),
        float(products.sum()),
        float(products @ products),
        first,
        last,
    )


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
