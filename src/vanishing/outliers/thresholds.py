"""Where normal ends: which rows break laws, and the score that normal rows rarely fall below."""

from typing import NamedTuple

import numpy as np
from scipy.special import betainc

from vanishing.outliers import settings
from vanishing.outliers.calibration import Calibration
from vanishing.outliers.quantiles import quantiles

_ROUNDING = 1e-9  # of scores
_BINS = 4  # of a window in which rows are counted
_REACH = 3  # widths from a window to others, at most


class Threshold(NamedTuple):
    """The score below which rows are outliers, and what it was found from.

    Attributes
    ----------
    score : float
    std : float
        Its standard error.
    wrong : float
        Share of rows that are wrong.
    """

    score: float
    std: float
    wrong: float


def lowest_normal(calibration: Calibration, rate: float) -> Threshold:
    """Return a threshold that new normal rows rarely fall below.

    Of m normal scores the k-th smallest has this chance k / (m + 1). Rows that break laws do not
    count, nor do wild ones, unless they are the majority, or have a value that comes again.
    """
    scores, weight = calibration.scores, calibration.counts
    wrong = calibration.off >= breaking(calibration.off, weight, calibration.side)
    wild = wrong | ((scores < -settings.WILD_SCORE) & (calibration.side >= 0))
    if 2.0 * weight[wild].sum() > weight.sum():
        wild = wrong = np.zeros(len(scores), dtype=bool)
    share = float(weight[wrong].sum() / weight.sum())
    return Threshold(*_of_rank(scores[~wild], weight[~wild], rate), share)


def _of_rank(scores: np.ndarray, weight: np.ndarray, rate: float) -> tuple[float, float]:
    """Return the score that new ones fall below at a rate, and its standard error.

    Where there are too few for the rate, what is below the smallest is taken to fall off as the
    lowest tenth of them does, exponentially.
    """
    order = np.argsort(scores)
    scores, share = scores[order], np.cumsum(weight[order])
    share /= share[-1]
    count = len(scores)
    rank = max(np.floor(rate * (count + 1.0) + 1e-9), 1.0)
    place = min(np.searchsorted(share, rank / count * (1.0 - 1e-12)), count - 1)
    few = max(-np.log(rate * (count + 1.0)), 0.0)
    lowest = scores[: max(count // 10, min(3, count))]
    missing = few * float(lowest[-1] - lowest.mean())
    # Of the score of a rank (Maritz and Jarrett 1978).
    chance = np.diff(betainc(rank, count - rank + 1.0, np.minimum(share, 1.0)), prepend=0.0)
    variance = chance @ np.square(scores - chance @ scores)
    # A row that comes again is scored with itself, which rounds in another way.
    score = float(scores[place]) - missing
    return score - _ROUNDING * (1.0 + abs(score)), float(np.hypot(np.sqrt(variance), missing))


def share_below(scores: np.ndarray, weight: np.ndarray, share: float) -> Threshold:
    """Return the threshold that a share of rows are below."""
    error = _of_rank(scores, weight, share)[1]
    return Threshold(float(quantiles(scores, weight, (share,))[0]), error, share)


def breaking(off: np.ndarray, weight: np.ndarray, side: np.ndarray) -> float:
    """Return the distance from laws beyond which rows break them; infinite where none do.

    Parameters
    ----------
    off : array of shape (n_rows,)
        Logarithms of squared distances, relative to the noise.
    weight : array of shape (n_rows,)
    side : array of int of shape (n_rows,)
        The law that a row is off most, and to which side.
    """
    return min(beyond_tail(off, weight, side), beyond_valley(off, weight, side))


def beyond_tail(off: np.ndarray, weight: np.ndarray, side: np.ndarray) -> float:
    """Return the distance beyond which more rows are than the tail of normal ones explains.

    Beyond most rows the logarithm of the distance of normal rows falls off at least as fast as an
    exponential that follows the rows up to a cut: heavy tails are exponential there, and others are
    lighter. Rows beyond the cut that are several times as many as that break laws; so do few rows
    beyond a gap that chance rarely makes so wide. Of all cuts the one counts whose rows are the
    least likely to be normal, and then the emptiest place below it.

    Skewed noise is near its mean on one side of a law and far on the other: two humps together, but
    one on each side. So most rows beyond a cut are on sides that have another hump there, or few.
    """
    order = np.argsort(off)
    off, weight, side = off[order], weight[order] * (len(off) / weight.sum()), side[order]
    below = np.cumsum(weight) - weight
    sums = np.append(0.0, np.cumsum(weight * off))
    best, cut = 0.0, None
    steps = np.geomspace(1.0, max(settings.MOST_BREAKING * len(off), 1.0), settings.CUTS)
    places = np.searchsorted(below, len(off) - steps)
    cuts = np.unique(places[places < len(off)])
    one_hump = _in_one_hump(off, weight, side, off[cuts])
    for i, explained in zip(cuts, one_hump, strict=True):
        found = len(off) - below[i]
        if found < settings.FEW_BEYOND:
            chance = _chance_of_gap(off, below, sums, i)
            if chance < settings.CHANCE:
                best, cut = max((best, cut), (-np.log(chance), int(i)), key=lambda each: each[0])
        # Chance makes a short stretch fall fast: a longer one has to fall, too.
        short, long = (_expected(off, below, sums, i, body) for body in settings.BODIES)
        most = max(settings.MANY_TIMES * (1.0 + short), settings.MORE_TIMES * (1.0 + long))
        if found >= most and explained < 0.5 * found:
            deviance = found * np.log(found / max(short, 1e-9)) - found + short
            best, cut = max((best, cut), (deviance, int(i)), key=lambda each: each[0])
    return np.inf if cut is None else _emptiest(off, below, cut)


def beyond_valley(off: np.ndarray, weight: np.ndarray, side: np.ndarray) -> float:
    """Return the distance beyond which a second hump of rows is, apart from normal ones.

    On one side of a law, the logarithm of the density of normal rows is concave: between two places
    there are at least as many rows as the geometric mean of both, however heavy the tails. Where
    there are fewer by more than chance, on all sides together, a valley parts normal rows from
    those that are wrong. Faults that are alike in size make one long before they are far away.
    """
    order = np.argsort(off)
    off, weight, side = off[order], weight[order] * (len(off) / weight.sum()), side[order]
    below = np.cumsum(weight) - weight
    place = int(np.searchsorted(below, (1.0 - settings.MOST_BREAKING) * len(off)))
    first = float(off[min(place, len(off) - 1)])
    best, end = settings.VALLEY_ERRORS, np.inf
    for width in settings.VALLEYS:
        lack = _lack(off, weight, side, first, width)
        deepest = int(lack.argmax())
        if lack[deepest] > best:
            best, end = float(lack[deepest]), first + deepest * width / _BINS
    cut = int(np.searchsorted(off, end))
    found = len(off) - below[cut] if cut < len(off) else 0.0
    if not 0.0 < found <= settings.MOST_BREAKING * len(off):
        return np.inf
    return _emptiest(off, below, cut)


def _lack(off, weight, side, first: float, width: float) -> np.ndarray:
    """Return by how many standard errors rows are fewer than those around them explain.

    In windows of a width, the first of which ends at ``first``, each a part of a width later.
    """
    reach = _REACH * _BINS
    names, side = np.unique(side, return_inverse=True)
    last = min(float(off[-1]), first + settings.VALLEY_END)
    count = max(int((last - first) / width * _BINS), 0) + 1 + 2 * reach + _BINS
    place = np.floor((off - (first - width)) / width * _BINS).astype(np.int64) + reach
    inside = (place >= 0) & (place < count)
    bins = np.bincount(
        side[inside] * count + place[inside], weight[inside], len(names) * count
    ).reshape(len(names), count)
    share = np.hstack([np.zeros((len(names), 1)), np.cumsum(bins, axis=1)])
    rows = np.maximum(share[:, _BINS:] - share[:, :-_BINS], 0.0)  # of windows
    found = rows[:, reach : rows.shape[1] - reach]
    n = found.shape[1]
    lack = np.zeros(n)
    for i in range(1, _REACH + 1):
        for j in range(1, _REACH + 1):
            before, after = (rows[:, reach + s * _BINS :][:, :n] for s in (-i, j))
            near, far = j / (i + j), i / (i + j)
            least = before**near * after**far
            parts = near**2 / np.maximum(before, 1e-9) + far**2 / np.maximum(after, 1e-9)
            variance = np.sum(found + np.where(least > 0.0, least**2 * parts, 0.0), axis=0)
            errors = np.sum(least - found, axis=0) / np.sqrt(np.maximum(variance, 1e-9))
            np.maximum(lack, errors, out=lack)
    return lack


def _in_one_hump(off: np.ndarray, weight: np.ndarray, side: np.ndarray, cuts) -> np.ndarray:
    """Return how many rows beyond cuts are on sides of which they are no hump of their own.

    There are fewer rows before such a hump than in it, and than somewhere before, as wide each.
    """
    in_one = np.zeros(len(cuts))
    for name in np.unique(side):
        own = side == name
        places, share = off[own], np.append(0.0, np.cumsum(weight[own]))
        beyond = share[-1] - share[np.searchsorted(places, cuts)]
        hump = beyond < settings.HUMP_ROWS
        for width in settings.HUMPS:
            ends = cuts + width * np.arange(1.0, -10.0, -1.0)[:, None]
            after, before, *earlier = -np.diff(share[np.searchsorted(places, ends)], axis=0)
            hump |= _are_more(after, before) & _are_more(np.max(earlier, axis=0), before)
        in_one += np.where(hump, 0.0, beyond)
    return in_one


def _are_more(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Say where there are more rows than others, by more than chance."""
    return some - others > settings.HUMP_ERRORS * np.sqrt(some + others)


def _chance_of_gap(off: np.ndarray, below: np.ndarray, sums: np.ndarray, cut) -> float:
    """Return the chance of a gap as wide as that before the few rows beyond a cut.

    Differences of successive values of an exponential are independent, and exponential once they
    are multiplied by how many values are beyond them (Renyi 1953): so is the gap, whose unit
    follows from the nearest rows before it.
    """
    inside = min(settings.NEAR_ROWS, below[cut] / 4.0)
    start = int(np.searchsorted(below, below[cut] - inside))
    if not (inside > settings.LEAST_INSIDE and start):
        return 1.0
    inside, beyond, last = below[cut] - below[start], len(off) - below[cut], off[cut - 1]
    total = sums[cut] - sums[start] + beyond * last - (inside + beyond) * off[start - 1]
    gap = beyond * (off[cut] - last)
    return float((1.0 + gap / max(total, 1e-300)) ** -inside) if gap > 0.0 else 1.0


def _expected(off: np.ndarray, below: np.ndarray, sums: np.ndarray, cut, body: float) -> float:
    """Return how many normal rows are beyond a cut, by those from a share of all others on.

    The rate of the exponential, times the width of the stretch, solves
    1 / x - 1 / (e^x - 1) = mean / width.
    """
    start = np.searchsorted(below, body * below[cut])
    inside, width = below[cut] - below[start], off[cut] - off[start]
    if not (inside > settings.LEAST_INSIDE and width > 0.0):
        return np.inf
    share = max(((sums[cut] - sums[start]) / inside - off[start]) / width, 1e-3)
    if share >= 0.5 - 1e-3:
        return np.inf
    x = 1.0 / share
    for _ in range(50):  # a fixed point, from above
        x = 1.0 / (share + 1.0 / np.expm1(min(x, 500.0)))
    return float(inside / np.expm1(min(x, 500.0)))


def _emptiest(off: np.ndarray, below: np.ndarray, cut: int) -> float:
    """Return the middle of the widest gap that few rows are in, from the last normal ones on."""
    few = max(1, int(settings.GAP_ROWS * (len(off) - cut)))
    start = int(np.searchsorted(below, settings.GAP_START * below[cut]))
    low = np.arange(start, max(cut - few, start) + 1)
    high = np.minimum(low + few, cut)
    widest = int(np.argmax(off[high] - off[low]))
    return float(0.5 * (off[low[widest]] + off[high[widest]]))


def conformal_p_values(scores: np.ndarray, calibration: np.ndarray, weight) -> np.ndarray:
    """Return (1 + how many calibration scores are at most this one) / (1 + their number)."""
    order = np.argsort(calibration)
    share = np.concatenate([[0.0], np.cumsum(weight[order])])
    count = len(calibration)
    below = share[np.searchsorted(calibration[order], scores, side="right")] / share[-1]
    return (1.0 + below * count) / (1.0 + count)
