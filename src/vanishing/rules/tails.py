"""How far values reach: tails of a column beyond the rows at hand."""

from math import exp, floor, log, log10, sqrt

import numpy as np

from vanishing.rules import settings


class UpperTail:
    """The largest values of a sample, as excesses over a threshold.

    The excesses are taken to have a generalised Pareto distribution, whose shape is estimated by
    probability-weighted moments. It is taken one standard error heavier than estimated, and never
    shorter than exponential: rows to come may reach farther than those at hand.

    Parameters
    ----------
    values : ndarray of shape (n,)

    References
    ----------
    J. R. M. Hosking, J. R. Wallis, "Parameter and quantile estimation for the generalized Pareto
    distribution".
    """

    def __init__(self, values: np.ndarray):
        n = len(values)
        share = int(settings.TAIL * n)
        k = min(max(share, settings.FEWEST_IN_TAIL), settings.MOST_IN_TAIL, n - 1)
        top = np.sort(values)[n - k - 1 :]
        self.n, self.k = n, k
        self.threshold = float(top[0])
        excess = top[1:] - top[0]
        self.mean = float(excess.mean())
        self.shape = 0.0
        weight = 1.0 - (np.arange(1, k + 1) - 0.35) / k
        below = float((weight * excess).mean())
        if self.mean > 2.0 * below > 0.0:
            shape = 2.0 - self.mean / (self.mean - 2.0 * below)
            heavier = shape + (1.0 + max(shape, 0.0)) / sqrt(k)
            self.shape = min(max(heavier, 0.0), 0.9)

    def end(self, rate: float) -> float:
        """Return what a new value exceeds at this rate, or less often."""
        times = max(self.k / (self.n * rate), 1.0)
        if self.shape < 1e-3:
            return self.threshold + self.mean * log(times)
        scale = self.mean * (1.0 - self.shape)
        return self.threshold + scale / self.shape * (times**self.shape - 1.0)

    def chance_of_none_beyond(self, limit: float) -> float:
        """Return the chance that no value of the sample is beyond a limit, with an open end.

        That is how likely it would be, for values whose tail goes on smoothly, that all of them
        stay within the limit by accident.
        """
        if not self.mean:
            return 1.0
        expected = self.k * exp(-(limit - self.threshold) / self.mean)
        return exp(-expected)


def ends_at_zero(values: np.ndarray, chance: float) -> bool:
    """Say whether values that are not negative end at zero, rather than by accident above it.

    Parameters
    ----------
    values : ndarray of shape (n,)
        None of them negative.
    chance : float
        Largest chance of an accident.
    """
    at_zero = int(np.count_nonzero(values == 0.0))
    if at_zero and exp(-at_zero) < chance:
        return True  # a value as frequent as zero is, below it, would have been seen
    return UpperTail(-values).chance_of_none_beyond(0.0) < chance


def outward(value: float, unit: float, up: bool) -> float:
    """Return a number with few digits beyond another one, by at most about ``unit`` / 100."""
    step = 10.0 ** (floor(log10(unit)) - 2)
    steps = floor(value / step) + (1 if up else 0)
    return float(f"{steps * step:.12g}")
