"""The judge of laws: does what a law says hold where there is no noise?

A law is true if, on fresh rows of the formula without noise, its terms have exactly one vanishing
combination, and that uses every term and depends on the target. It has to hold on rows within the
ranges of the table and on rows a quarter beyond them.
"""

import numpy as np

from vanishing.algebra.formulas import Formula

FRESH_ROWS = 2_000
BEYOND = 0.25  # of the width of each range, on both sides
LEAST_ROWS = 400  # with finite terms; formulas have gaps beyond their ranges

LARGE = 1e150  # terms have to be smaller: their squares are finite

# Singular values relative to the largest, of terms scaled to one size. Of the true laws tried the
# smallest is 1e-16 to 1e-14, rounding alone, and the second at least 1e-3 (a polynomial of degree 6
# in one variable between 1 and 3: 5e-6). An approximation is not as exact, or has so many terms
# that both are small: erf by degrees up to 8 and 10 has 6e-6 and 4e-10, 3e-7 and 3e-12.
VANISHES = 1e-11  # the smallest is at most this,
ALONE = 1e-6  # the second at least this
USED = 1e-7  # components of the vanishing combination, which has unit norm
TRIMMED = 0.01  # of the rows: some formulas lose all digits next to a pole or where they underflow

SAME = 1e-5  # relative error of two sides of one law


def vanishing_combination(values):
    """Return the coefficients of the one vanishing combination of columns, or None.

    Terms may differ by any powers of ten, and some have poles beyond the ranges: columns are scaled
    by the geometric means of their sizes, then rows to unit norm (a combination that vanishes in
    every row does so in multiples of rows), then columns to unit norm.
    """
    values = values[(np.abs(values) < LARGE).all(axis=1)]
    if values.shape[1] < 2 or len(values) < LEAST_ROWS or not values.any(axis=0).all():
        return None
    values, scale = _balanced(values)
    _, _, right = np.linalg.svd(values, full_matrices=False)
    residual = np.abs(values @ right[-1])
    values, again = _balanced(values[residual <= np.quantile(residual, 1.0 - TRIMMED)])
    _, singular, right = np.linalg.svd(values, full_matrices=False)
    singular, vector = singular / singular[0], right[-1]
    if singular[-1] > VANISHES or singular[-2] < ALONE:
        return None
    return vector / (scale * again) if np.abs(vector).min() > USED else None


def _balanced(values):
    """Return values with rows and columns scaled to one size, and the divisors of the columns."""
    sizes = np.abs(values)
    scale = np.exp(np.mean(np.log(sizes, where=sizes > 0, out=np.zeros_like(sizes)), axis=0))
    values = values / scale
    norms = np.linalg.norm(values, axis=1)
    values = values[norms > 0] / norms[norms > 0, None]
    norms = np.linalg.norm(values, axis=0)
    return values / norms, scale * norms


def values_of(law, X, y=None):
    """Return the values of a law's terms; not finite where they are not defined."""
    with np.errstate(all="ignore"):
        return np.asarray(law.term_values(X) if y is None else law.term_values(X, y), dtype=float)


def depends_on_target(law, X, y):
    """Say whether any term changes with the target."""
    moved = y * 1.1 + 0.01 * np.sqrt(np.mean(y**2))
    before, after = values_of(law, X, y), values_of(law, X, moved)
    both = (np.abs(before) < LARGE) & (np.abs(after) < LARGE)
    before, after = before[both], after[both]
    return bool((np.abs(after - before) > 1e-9 * np.abs(before)).any())


def true_coef(law, fresh, seed=0):
    """Return the coefficients that a law's terms have in truth, or None if it is no law.

    Parameters
    ----------
    law : Law
    fresh : callable
        ``fresh(n_samples, random_state, beyond)`` returns X and y (None without target) without
        noise, from ranges widened on both sides by a part of their width.
    seed : int
    """
    random = np.random.RandomState(seed)
    coef = None
    for beyond in (BEYOND, 0.0):
        with np.errstate(all="ignore"):
            X, y = fresh(FRESH_ROWS, random, beyond)
        finite = np.isfinite(X).all(axis=1) & (True if y is None else np.isfinite(y))
        X, y = X[finite], None if y is None else y[finite]
        coef = vanishing_combination(values_of(law, X, y))
        if coef is None or (y is not None and not depends_on_target(law, X, y)):
            return None
    return coef


def is_law(law, fresh, seed=0):
    """Say whether a law is true: see `true_coef`."""
    return true_coef(law, fresh, seed) is not None


def same_law(law, coef, truth, columns, seed=0):
    """Say whether a law without target is ``truth = 0``, up to powers of columns as a factor.

    Compares both where neither vanishes, on random positive columns: the logarithm of the ratio is
    linear in the logarithms of the columns.
    """
    random = np.random.RandomState(seed)
    X = random.uniform(0.5, 2.0, (500, len(columns)))
    left = values_of(law, X) @ coef
    right = Formula(truth)(dict(zip(columns, X.T, strict=True)))
    # Near zero both consist of rounding.
    good = np.isfinite(left) & (np.abs(right) > 0.1 * np.median(np.abs(right))) & (left != 0)
    if good.sum() < 50:
        return False
    design = np.column_stack([np.ones(good.sum()), np.log(X[good])])
    ratio = np.log(np.abs(left[good] / right[good]))
    rest = ratio - design @ np.linalg.lstsq(design, ratio, rcond=None)[0]
    return bool(np.abs(rest).max() < SAME)


def covered(law, coef):
    """Say for each coefficient but one whether it is within two standard errors of the truth.

    The one that is left out sets the scale: it is known best, or fixed.
    """
    estimate, error = np.asarray(law.coef, dtype=float), np.asarray(law.coef_std, dtype=float)
    reference = np.argmin(error / np.abs(estimate))
    factor = estimate[reference] / coef[reference]
    within = np.abs(estimate - factor * coef) <= 2 * error
    return np.delete(within, reference)
