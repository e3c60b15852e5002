"""Passes over all rows, wherever they are: a sample of them, and sums over them."""

from collections.abc import Callable

import numpy as np

from vanishing._threads import spread
from vanishing.laws.sample import Draw, Sample
from vanishing.rows.device import to_numpy
from vanishing.rows.source import Part

MAX_ROWS = 10_000  # of the sample
_PIECE = 1 << 15  # rows of a thread
_AT_ONCE = 8  # pieces


def pieces(part: Part) -> list[Part]:
    """Return some rows in pieces, always the same ones."""
    n_rows = part.X.shape[0]
    cuts = [slice(start, min(start + _PIECE, n_rows)) for start in range(0, n_rows, _PIECE)]
    return [
        Part(part.X[cut, :], None, None if part.weight is None else part.weight[cut])
        for cut in cuts
    ]


def weights_of(part: Part) -> np.ndarray:
    """Return what rows count."""
    return np.ones(part.X.shape[0]) if part.weight is None else part.weight


def _combined(function: Callable, part: Part, combine: Callable, n_jobs):
    """Return what all pieces of some rows say together; few answers are held at a time."""
    found = pieces(part)
    total = None
    for start in range(0, len(found), _AT_ONCE):
        for answer in spread(function, found[start : start + _AT_ONCE], n_jobs):
            total = answer if total is None else combine(total, answer)
    return total


class Sampled:
    """The question for a sample of the rows: the same one in whatever order and blocks they come.

    Rows that are equal are one, which counts for all of them.
    """

    def __init__(self, seed: int, n_jobs=None):
        self.draw = Draw(seed, MAX_ROWS)
        self.n_jobs = n_jobs

    def __call__(self, part: Part) -> Sample:
        """Draw from some rows."""
        return _combined(self.draw, part, self.combine, self.n_jobs)

    def combine(self, first: Sample, second: Sample) -> Sample:
        """Draw from two draws."""
        return self.draw.combine(first, second)


class Summed:
    """The question for a sum over rows, of what ``function(X, weight)`` says of some."""

    def __init__(self, function: Callable, combine: Callable, n_jobs=None):
        self.function, self.combine, self.n_jobs = function, combine, n_jobs

    def __call__(self, part: Part):
        """Return the sum over some rows."""
        return _combined(self._of_piece, part, self.combine, self.n_jobs)

    def _of_piece(self, part: Part):
        return self.function(to_numpy(part.X), weights_of(part))
