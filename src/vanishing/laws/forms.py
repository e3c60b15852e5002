"""Forms that were fitted to rows."""

from typing import NamedTuple

import numpy as np

from vanishing.equations.forms import Form
from vanishing.laws import settings
from vanishing.laws.reductions import Summand


class FormFit(NamedTuple):
    """What a form that was fitted to rows is made of; its constants are coefficients of a law.

    Attributes
    ----------
    form : Form
    variables : tuple of array of shape (n_columns,)
        Exponents of the columns in x, and in z.
    summands : tuple of Summand or None
        What x and z have beside these products, where they are sums of two.
    factor : array of shape (n_columns,)
        Exponents of the columns in what the form is multiplied by.
    slopes : array of shape (n_constants, n_rows)
        Derivatives of what is predicted by the constants.
    sizes : array of shape (n_constants,)
        What constants are small beside that the rows determine: themselves, where these are not
        zero, or the ranges of the variable and of the target. NaN for one that is out of place.
    """

    form: Form
    variables: tuple[np.ndarray, ...]
    summands: tuple[Summand | None, ...]
    factor: np.ndarray
    slopes: np.ndarray
    sizes: np.ndarray

    @property
    def columns(self) -> np.ndarray:
        """Which columns occur."""
        more = [summand.exponents for summand in self.summands if summand is not None]
        return np.any([*self.variables, *more, self.factor], axis=0)


def may_be_fitted(form: Form, count: float, n_columns: int, more: int = 0) -> bool:
    """Say whether there are rows enough for the constants of a form, and ``more`` of them.

    Fewer suffice where none is inside a function, and all columns occur, and least of a single one:
    such curves are few. With a rate that was fitted, exponential growth above a level is near any
    smooth function.
    """
    n_constants = len(form.constants) + more
    asked = settings.ROWS_PER_CONSTANT
    if not form.inner and form.n_variables == n_columns and not more:
        one = n_columns == 1
        asked = settings.LEAST_ROWS_PER_CONSTANT if one else settings.ROWS_PER_TERM
    return count >= asked * n_constants
