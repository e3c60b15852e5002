"""What counts over time: what is forgotten, and laws that do not hold in the last rows."""

from collections.abc import Sequence

import numpy as np

from vanishing.outliers import settings
from vanishing.outliers.equations import DetectorLaw

NO_LONGER = "It no longer holds"  # how the verdict of such a law begins


def decay_of(n_rows: int, half_life: float | None) -> float:
    """Return what is left of what was learned before so many rows; never nothing at all."""
    return 1.0 if half_life is None else max(0.5 ** (n_rows / half_life), settings.FORGOTTEN)


def measured_on(known: Sequence[DetectorLaw], X: np.ndarray) -> tuple[DetectorLaw, ...]:
    """Return laws with their errors on rows, of which some may be wild: by their medians."""
    with np.errstate(all="ignore"):
        # The median size of a normal variable of variance 1 is 0.6745.
        errors = [float(np.median(np.abs(each.law.residual(X)))) / 0.6745 for each in known]
    return tuple(each._replace(last_error=e) for each, e in zip(known, errors, strict=True))


def followed(known: Sequence[DetectorLaw], now: Sequence[DetectorLaw]) -> tuple[DetectorLaw, ...]:
    """Return the laws of now, and those known before that hold no longer, which say so."""
    lost = []
    for law, columns, error, last in known:
        scale = float(np.abs(law.coef).max())
        if not last <= settings.WORSE * error + 1e-9 * scale:
            verdict = f"{NO_LONGER}: its error is {last:.2g} in the last rows and was {error:.2g}."
            lost.append(DetectorLaw(law._replace(verdict=verdict), columns, error, last))
    gone = {law.columns for law in lost}
    return (*(law for law in now if law.columns not in gone), *lost)
