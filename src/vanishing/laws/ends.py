"""Laws at the ends of columns: what approximates a function in the middle fails there."""

import numpy as np
from scipy.special import fdtrc

from vanishing.algebra.terms import Evaluator
from vanishing.laws import settings
from vanishing.laws.problem import Reduced
from vanishing.laws.refit import Fitted


@np.errstate(all="ignore")
def fails_at_ends(law: Fitted, reduced: Reduced) -> bool:
    """Say whether a law that is fitted to all rows but the lowest or highest ones fails on these.

    Of each column that occurs, a fifth of the rows is held out, at either end. Their squares, as
    predicted by a law fitted to the others, are compared with those of the others (Chow's test, on
    the law linearised where it is).
    """
    jacobian, left, columns = _linearised(law, reduced)
    whole, n_free = _squares(jacobian, left), jacobian.shape[1]
    for column in columns:
        rank = np.argsort(np.argsort(column, kind="stable"), kind="stable") / len(column)
        for outer in (rank < settings.AN_END, rank >= 1.0 - settings.AN_END):
            n_outer, freedom = np.count_nonzero(outer), np.count_nonzero(~outer) - n_free
            if n_outer and freedom >= settings.SPARE_ROWS:
                inner = _squares(jacobian[~outer], left[~outer])
                ratio = (whole - inner) / n_outer / max(inner / freedom, 1e-300)
                if fdtrc(n_outer, freedom, max(ratio, 0.0)) < settings.FAILS:
                    return True
    return False


def _linearised(law: Fitted, reduced: Reduced) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return derivatives of y by free coefficients, residuals, and columns of the rows with both.

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
    jacobian = (slopes * reduced.root).T
    left = (reduced.table.y - law.predicted) * reduced.root
    good = np.isfinite(jacobian).all(axis=1) & np.isfinite(left)
    jacobian = jacobian[good]
    size = np.sqrt(np.mean(jacobian**2, axis=0))
    return jacobian / size, left[good], reduced.table.columns[occurs][:, good]


def _squares(jacobian: np.ndarray, left: np.ndarray) -> float:
    """Return the sum of squares that least squares leaves."""
    step = np.linalg.lstsq(jacobian, left, rcond=None)[0]
    return float(np.sum((left - jacobian @ step) ** 2))
