"""A pass over all rows, wherever they are: a sample of them."""

import numpy as np

from vanishing.fitting.sample import Draw, Sample, row_keys
from vanishing.outliers import settings
from vanishing.rows.source import RowPart

PIECE = 1 << 15  # rows of a thread
_ORDER = 209_652_396  # seed of the order of rows


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

    @staticmethod
    def in_order(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of a sample and what they count, in an order that looks random.

        It depends on what the rows hold alone, in whatever units and from whatever origin, and
        decides on folds: where all rows are in the sample, nothing depends on the seed.
        """
        exact, coarse = (
            row_keys(columns, _ORDER) for columns in (sample.columns, _coarse(sample.columns))
        )
        order = np.lexsort((sample.weight, exact, coarse))
        return np.ascontiguousarray(sample.columns[:, order].T), sample.weight[order]


def _coarse(columns: np.ndarray) -> np.ndarray:
    """Return columns in units of their middle halves, to few digits: rounding changes none."""
    size = np.maximum(np.abs(columns).max(axis=1, keepdims=True), 1e-300)
    low, middle, high = np.quantile(columns / size, (0.25, 0.5, 0.75), axis=1, keepdims=True)
    spread = np.where(high - low > settings.CONSTANT, high - low, 1.0)
    return np.round((columns / size - middle) / spread, settings.COARSE_DIGITS)
