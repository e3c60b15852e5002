"""A pass over all rows, wherever they are: a sample of them."""

import numpy as np

from vanishing.fitting.sample import Draw, Sample
from vanishing.outliers import settings
from vanishing.rows.source import RowPart

PIECE = 1 << 15  # rows of a thread


def weights_of(part: RowPart) -> np.ndarray:
    """Return what rows count."""
    return np.ones(part.X.shape[0]) if part.weight is None else part.weight


class Sampled:
    """The question for a sample of the rows: the same one in whatever order and blocks they come.

    Rows that are equal are one, which counts for all of them.
    """

    def __init__(self, seed: int):
        self.draw = Draw(seed, settings.SAMPLE_ROWS)

    def __call__(self, part: RowPart) -> Sample:
        """Draw from some rows."""
        return part._replace(y=None).ask(self.draw, self.combine, PIECE)

    def combine(self, first: Sample, second: Sample) -> Sample:
        """Draw from two draws."""
        return self.draw.combine(first, second)
