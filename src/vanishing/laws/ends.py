"""Laws at the ends of columns: what approximates a function in the middle fails there."""

import numpy as np
from scipy.special import fdtrc

from vanishing.algebra.terms import Evaluator
from vanishing.fitting.unequal_noise import variance_of_noise
from vanishing.laws import settings
from vanishing.laws.problem import Reduced
from vanishing.laws.refit import Fitted


@np.errstate(all="ignore")
def fails_at_ends(law: Fitted, reduced: Reduced) -> bool:
    """Say whether a law that is fitted to all rows but the lowest or highest ones fails on these.

    Of each column that occurs, a fifth of the rows is held out, at either end. Their squares, as
    predicted by a law fitted to the others, are compared with those of the others (Chow's test, on
    the law linearised where it is). Of many rows the test also sees noise that differs between
    them: there, held-out rows have to be far worse off than where they are fitted, too.
    """
    jacobian, left, columns, noisy = _linearised(law, reduced, *_noise(law, reduced))
    fitted, n_free = _left(jacobian, left), jacobian.shape[1]
    whole, has_few_rows = float(fitted @ fitted), reduced.table.has_few_rows
    for column in columns:
        rank = np.argsort(np.argsort(column, kind="stable"), kind="stable") / len(column)
        for outer in (rank < settings.AN_END, rank >= 1.0 - settings.AN_END):
            n_outer, n_inner = float(noisy[outer].sum()), float(noisy[~outer].sum()) - n_free
            if n_outer >= 1.0 and n_inner >= settings.SPARE_ROWS:
                held_out = _left(jacobian, left, ~outer)
                inner, own = float(np.sum(held_out[~outer] ** 2)), np.sum(fitted[outer] ** 2)
                ratio = max((whole - inner) / n_outer / max(inner / n_inner, 1e-300), 0.0)
                # Squares of unequal variance are as uncertain as fewer of equal variance.
                freedom = n_outer**2 / float(noisy[outer] @ noisy[outer])
                is_worse = has_few_rows or np.sum(held_out[outer] ** 2) > settings.WORSE * own
                if is_worse and fdtrc(freedom, n_inner, ratio) < settings.FAILS:
                    return True
    return False


def _noise(law: Fitted, reduced: Reduced) -> tuple[np.ndarray, np.ndarray]:
    """Return roots of the rows' weights, and the share of rows' variance that is noise.

    Weights are by the noise of rows, where that grows with what is predicted: rows at the end of a
    column may be those of the largest noise. What wrong laws miss grows, too: only one that leaves
    hardly anything says what noise is. Over many decades the least rows have less noise than they
    are weighed for.
    """
    table, all_noise = reduced.table, np.ones(reduced.table.n_rows)
    is_close = law.mean_square < settings.UNSEEN**2 * table.norm
    if table.precision is not None or not (table.has_few_rows and is_close):
        return reduced.root, all_noise if table.noisy is None else table.noisy
    left = table.y - law.predicted
    noise = variance_of_noise(left, law.predicted, table.weight, least_gain=settings.CHANCE)
    if not noise.power:
        return reduced.root, all_noise
    return reduced.root / np.sqrt(noise.at(law.predicted)), noise.share(law.predicted)


def _linearised(
    law: Fitted, reduced: Reduced, root: np.ndarray, noisy: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return derivatives of y by free coefficients, residuals, columns and shares of finite rows.

    Derivatives and residuals are times the roots of the rows' weights.
    """
    if law.form is not None:
        slopes, occurs = law.form.slopes, law.form.columns
    else:
        evaluator = Evaluator(np.vstack([reduced.w, law.predicted / reduced.factor]))
        slope = law.coef @ evaluator.derivatives(law.terms, reduced.n_variables) / reduced.factor
        slopes = np.delete(-evaluator.values(law.terms), law.fixed, axis=0) / slope
        terms = reduced.in_columns(law.terms)
        n_columns = len(reduced.table.columns)
        occurs = np.array([any(t.involves(i) for t in terms) for i in range(n_columns)])
    jacobian = (slopes * root).T
    left = (reduced.table.y - law.predicted) * root
    good = np.isfinite(jacobian).all(axis=1) & np.isfinite(left)
    jacobian = jacobian[good]
    size = np.sqrt(np.mean(jacobian**2, axis=0))
    return jacobian / size, left[good], reduced.table.columns[occurs][:, good], noisy[good]


def _left(jacobian: np.ndarray, left: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
    """Return what least squares leaves of all rows, where some of them are fitted."""
    fitted = slice(None) if rows is None else rows
    step = np.linalg.lstsq(jacobian[fitted], left[fitted], rcond=None)[0]
    return left - jacobian @ step
