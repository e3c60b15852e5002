"""Laws over time: those found before that do not hold in the rows that came last."""

from collections.abc import Sequence

import numpy as np

from vanishing.outliers.equations import DetectorLaw

NO_LONGER = "It no longer holds"  # how the verdict of such a law begins
_WORSE = 3.0  # error of a law that holds no longer, relative to what it was
_MEDIAN = 0.6745  # of the size of a normal variable of variance 1


def errors_on(known: Sequence[DetectorLaw], X: np.ndarray) -> list[float]:
    """Return the errors of laws on rows, of which some may be wild: by their medians."""
    with np.errstate(all="ignore"):
        return [float(np.median(np.abs(one.law.residual(X)))) / _MEDIAN for one in known]


def followed(
    known: Sequence[DetectorLaw], errors: Sequence[float], now: Sequence[DetectorLaw]
) -> list[DetectorLaw]:
    """Return the laws of now, and those of before that hold no longer, which say so."""
    lost = []
    for one, error in zip(known, errors, strict=True):
        scale = float(np.abs(one.law.coef).max())
        if not error <= _WORSE * one.error + 1e-9 * scale:
            said = (
                f"{NO_LONGER}: its error is {error:.2g} in the last rows and was {one.error:.2g}."
            )
            lost.append(one._replace(law=one.law._replace(verdict=said)))
    gone = {one.columns for one in lost}
    return [one for one in now if one.columns not in gone] + lost
