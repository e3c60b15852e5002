"""Fits that are all or nothing, and what a fit has to say when it returns."""

from contextlib import contextmanager
from typing import NamedTuple

from sklearn.exceptions import ConvergenceWarning

from vanishing._warnings import warn


@contextmanager
def all_or_nothing(estimator):
    """Leave an estimator as it was where what is inside fails or is interrupted."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        estimator.__dict__ = before  # at once
        raise


class Remarks(NamedTuple):
    """What a construction has to say for itself."""

    name: str  # of the algorithm
    problems: tuple[str, ...]  # what did not go as it should have
    nothing: str | None  # that there are no generators
    small: tuple[int, ...] = ()  # columns that vary less than psi

    def warn(self) -> None:
        """Give one warning with all there is to say, or none."""
        said = (*self.problems, *([] if self.nothing is None else [self.nothing]))
        if said:
            category = ConvergenceWarning if self.problems else UserWarning
            warn(f"{self.name}: {' Also: '.join(said)}", category)
