"""A bounded sample of the scores that rows had before they were learned from."""

from typing import NamedTuple

import numpy as np

from vanishing.outliers import settings


class Calibration(NamedTuple):
    """Scores with what they count, and a number in (0, 1) that decides which ones are kept.

    Attributes
    ----------
    scores, weight, draw : array of shape (n_scores,)
    off : array of shape (n_scores,)
        Logarithms of squared distances from laws, relative to the noise.
    side : array of int of shape (n_scores,)
        The law that a row is off most, and to which side; -1 for rows that are far off by a value
        of a column that comes again.
    limit : float
        Rows are kept whose draw / weight is below it.
    """

    scores: np.ndarray
    weight: np.ndarray
    draw: np.ndarray
    off: np.ndarray
    side: np.ndarray
    limit: float = np.inf

    @classmethod
    def of(cls, scores, off, side, weight, random) -> "Calibration":
        """Return the scores of a fit, distances from laws, and their sides."""
        return cls(scores, weight, 1.0 - random.uniform(size=len(scores)), off, side)

    def plus(self, other: "Calibration", decay: float) -> "Calibration":
        """Return both, of which the first counts ``decay`` times; as many as are kept.

        Priority sampling: a row of weight w stays with probability min(1, w * limit), so that it
        counts max(w, 1 / limit) if it does (Duffield, Lund and Thorup 2007).
        """
        known = (self.scores, self.weight * decay, self.draw, self.off, self.side)
        scores, weight, draw, off, side = (
            np.concatenate([old, new]) for old, new in zip(known, other[:5], strict=True)
        )
        # Scores that count as nothing beside others are forgotten: their weights would vanish.
        counting = weight > settings.FORGOTTEN * weight.max(initial=0.0)
        scores, weight, draw, off, side = (
            each[counting] for each in (scores, weight, draw, off, side)
        )
        limit, most = self.limit / decay, settings.SAMPLE_ROWS
        priority = draw / weight
        if len(scores) > most:
            limit = min(limit, float(np.partition(priority, most)[most]))
        kept = priority < limit
        return Calibration(scores[kept], weight[kept], draw[kept], off[kept], side[kept], limit)

    @property
    def counts(self) -> np.ndarray:
        """What each score counts, for those too that were not kept."""
        return np.maximum(self.weight, 1.0 / self.limit)
