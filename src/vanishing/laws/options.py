"""What a search is asked for, and when it has to end."""

from typing import NamedTuple

import numpy as np

from vanishing.equations.forms import Form
from vanishing.laws.dictionary import FAMILIES, PLAIN, Stage


class OutOfTime(Exception):
    """Raised by ``progress`` when the time that was allowed is over."""


class Options(NamedTuple):
    """Parameters of the estimator that the search needs."""

    max_degree: int = 6
    max_terms: int = 12
    stages: tuple[Stage, ...] = (PLAIN,)
    robust: bool = False
    dimensions: np.ndarray | None = None  # of all columns, where laws must be homogeneous
    forms: tuple[Form, ...] = ()
    n_groups: int = 1  # of as many rows, which will share constants of forms

    @property
    def has_all_functions(self) -> bool:
        """Whether terms may have any functions, and not those that were asked for alone."""
        return {stage for family in FAMILIES[:2] for stage in family} <= {*self.stages}
