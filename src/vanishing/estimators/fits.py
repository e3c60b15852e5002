"""Fits that are all or nothing, and the warning that a fit issues when it returns."""

from contextlib import contextmanager
from typing import NamedTuple

from sklearn.exceptions import ConvergenceWarning

from vanishing._warnings import warn


@contextmanager
def all_or_nothing(estimator):
    """Restore an estimator if the code inside fails or is interrupted."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        estimator.__dict__ = before  # in one step
        raise


class Remarks(NamedTuple):
    """What a construction warns of when its fit returns."""

    name: str  # of the algorithm
    problems: tuple[str, ...]  # what did not go as it should have
    nothing: str | None  # a sentence, if there are no generators
    small: tuple[int, ...] = ()  # columns that vary less than psi

    def warn(self) -> None:
        """Issue one warning with all remarks, if there are any."""
        remarks = (*self.problems, *([] if self.nothing is None else [self.nothing]))
        if remarks:
            category = ConvergenceWarning if self.problems else UserWarning
            warn(f"{self.name}: {' Also: '.join(remarks)}", category)
