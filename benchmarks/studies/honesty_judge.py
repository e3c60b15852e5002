"""The judge of honesty: is what a finder claims so, on fresh rows without noise?

Errors are those of the law's prediction on 2,000 fresh rows of the same ranges, measured twice:

- in the whole: rms error beside the standard deviation of y, both without the 1 % of the rows
  whose y is furthest from the median (next to a pole a single row would decide);
- in the bulk: median error beside the median distance of y from its median, for in a heavy tail the
  rms is that of a few rows, and a law that holds there alone is none.

Rows on which the law has no solution are infinitely wrong. The standard deviations of the noise
that was put in are measured in the same two ways. A law counts as

- "found" if its terms are those of the formula (`law_judge`, or an error of rounding) and both
  errors are at most 2 %, or the noise, or what the noise allows its p coefficients on n rows:
  3 sqrt(p/n) times the noise, n being (sum s^2)^2 / sum s^4 for standard deviations s; in the
  whole, where noise moves a pole by more than this, three of the standard errors that the law
  itself gives to its predictions;
- "close" if both errors are at most 2 %, and at most the noise where there is any;
- "approximation" instead, if its verdict has this word; then it suffices, where there is noise,
  that both errors are at most the noise;
- "unsaid" if both errors are at most the noise, one is above 2 %, and the verdict lacks the word;
- "wrong" in all other cases. So is every claim on rows of noise. Both of these are garbage.

Where columns are so far from zero that doubles do not tell terms apart, "found" is by errors alone:
at most 0.2 %, or what the noise allows, also a quarter beyond the ranges. Without target errors are
first-order distances, in standard deviations of the columns.
"""

import numpy as np
from law_judge import BEYOND, is_law

FRESH_ROWS = 2_000
OFF = 0.02  # of the spread: a claim that misses by more is garbage
TAIL = 0.01  # of the rows
SAMPLING = 3.0  # standard errors
EXACT = 1e-6
SAME = 2e-3  # where terms are not told apart
WORD = "approximation"


def prediction_errors(law, X, y):
    """Return the errors of the law's prediction; infinite where it has none."""
    with np.errstate(all="ignore"):
        if law.target is not None and law.solution is not None:
            errors = law.predict(X) - y
        else:  # to first order
            step = 1e-5 * np.maximum(np.abs(y), np.std(y))
            slope = (law.residual(X, y + step) - law.residual(X, y - step)) / (2 * step)
            errors = law.residual(X, y) / slope
    return np.where(np.isfinite(errors), errors, np.inf)


def distances(law, X):
    """Return the distances of rows from a law without target, in standard deviations of columns."""
    with np.errstate(all="ignore"):
        squares = np.zeros(len(X))
        for j, deviation in enumerate(X.std(axis=0)):
            step = np.zeros(X.shape[1])
            step[j] = 1e-2 * deviation
            squares += ((law.residual(X + step) - law.residual(X - step)) / 2e-2) ** 2
        values = np.abs(law.residual(X)) / np.sqrt(squares)
    return np.where(np.isfinite(values), values, np.inf)


def sizes(values, y):
    """Return how large values are beside the spread of y, in the whole and in the bulk."""
    distance = np.abs(y - np.median(y))
    kept = distance <= np.quantile(distance, 1.0 - TAIL)
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.sqrt(np.mean(values[kept] ** 2)) / max(np.std(y[kept]), 1e-300)
    return np.array([whole, np.median(np.abs(values)) / max(np.median(distance), 1e-300)])


def _deviations(table, y):
    """Return the standard deviation that the noise would have on fresh rows."""
    kind, level = table.noise
    if kind == "relative":
        return level * np.abs(y)
    return np.full(len(y), 0.0 if table.deviations is None else table.deviations[0])


def _allowed(law, table, noise):
    """Return the errors that the noise allows the coefficients of a law."""
    if not noise.any():
        return noise
    squares = table.deviations**2
    rows = squares.sum() ** 2 / np.sum(squares**2)
    return SAMPLING * np.sqrt(len(law.coef) / rows) * noise


def law_outcome(law, table):
    """Return the outcome of one claim, and its two errors."""
    if table.fresh is None:
        return "wrong", np.array([np.inf, np.inf])
    X, y = table.fresh(FRESH_ROWS, np.random.RandomState(1), 0.0)
    if y is None:
        values = distances(law, X)
        errors = np.array([np.sqrt(np.mean(values**2)), np.median(values)])
        noise = allowed = np.zeros(2)
    else:
        errors = sizes(prediction_errors(law, X, y), y)
        noise = sizes(_deviations(table, y), y)
        allowed = _allowed(law, table, noise)
    if table.law and _is_right(law, table, errors, allowed):
        limit = np.maximum(OFF, np.maximum(noise, allowed))
        if noise.any() and law.solution is not None:
            std = law.predict(X, return_std=True)[1]
            limit[0] = max(limit[0], SAMPLING * sizes(std, y)[0])
        return "found" if (errors <= limit).all() else "wrong", errors
    admits = WORD in law.verdict
    if (errors <= (np.minimum(OFF, noise) if noise.any() else OFF)).all():
        return WORD if admits else "close", errors
    if (errors <= noise).all():
        return WORD if admits else "unsaid", errors
    return "wrong", errors


def _is_right(law, table, errors, allowed):
    if table.exact_terms:
        return bool((errors <= EXACT).all()) or is_law(law, table.fresh)
    limit = np.maximum(SAME, allowed)
    if table.y is None:
        return bool((errors <= limit).all())
    X, y = table.fresh(FRESH_ROWS, np.random.RandomState(2), BEYOND)
    finite = np.isfinite(y)
    beyond = sizes(prediction_errors(law, X[finite], y[finite]), y[finite])
    return bool((np.maximum(errors, beyond) <= limit).all())


def table_outcome(laws, table):
    """Return the outcome of all claims on a table, and the errors of the claim that decides it."""
    if not laws:
        return "none", np.array([np.nan, np.nan])
    outcomes = [law_outcome(law, table) for law in laws]
    wrong = [one for one in outcomes if one[0] == "wrong"]
    return (wrong or sorted(outcomes, key=lambda one: one[0] != "found"))[0]
