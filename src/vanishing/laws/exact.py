"""Exact laws: which hold up to rounding on rows they were not fitted to, and which of them agree.

Ten terms of one variable fit any smooth function to 1e-11: a small residual alone is no law. An
approximation has more than rounding beside the size of its terms, gets by without its least term
nearly as well, and fails beyond the rows it was fitted to.
"""

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.linalg import qr, solve_triangular

from vanishing.algebra.expressions import Node, evaluate
from vanishing.algebra.solving import solved
from vanishing.algebra.terms import Evaluator
from vanishing.laws import settings
from vanishing.laws.forms import FormFit
from vanishing.laws.problem import Reduced
from vanishing.laws.refit import Fitted

_EPS = float(np.finfo(np.float64).eps)
_DECADES, _POINTS = 6.0, 1000  # of points on which laws are compared, on both sides of their units


@np.errstate(all="ignore")
def is_confirmed(law: Fitted, reduced: Reduced) -> bool:
    """Say whether an exact law is no approximation, however many terms it has.

    Residuals and derivatives are in units of what rounding does to y. The law is fitted to the half
    of the rows that is innermost in the columns that occur, and has to hold on the others.
    """
    jacobian, left, inner = _in_units_of_rounding(law, reduced)
    n_rows, n_free = jacobian.shape
    if n_rows < max(4 * n_free, 0.2 * reduced.table.n_rows) or _is_polynomial(law, reduced):
        return False
    scale = np.sqrt(np.mean(jacobian**2, axis=0))
    unit = jacobian / scale
    # What would be left without a term, the others fitted again.
    sizes = np.abs(np.delete(law.coef, law.fixed)) if law.form is None else law.form.sizes
    least = sizes * scale / np.sqrt(n_rows * _variances(unit))
    step = np.linalg.lstsq(unit[inner], left[inner], rcond=None)[0]
    beyond = left[~inner] - unit[~inner] @ step
    leverage = _leverage(unit[inner], unit[~inner])
    return bool(
        np.isfinite(leverage).all()
        and np.sqrt(np.mean(left**2)) < settings.ROUNDING_UNITS
        and np.sqrt(np.mean(beyond**2 / (1.0 + leverage))) < settings.ROUNDING_UNITS
        and (least > settings.NEEDED_TERM).all()
    )


def _is_polynomial(law: Fitted, reduced: Reduced) -> bool:
    """Say whether a polynomial is as exact as a law with functions of one variable.

    Over a short range any function is one, and functions on both sides of a quotient match more of
    its coefficients than they have themselves.
    """
    n = reduced.n_variables
    if n != 1 or not any(term.factors for term in law.terms):
        return False
    w, Y = reduced.w[0], reduced.table.y / reduced.factor
    unit = (w - w.mean()) / max(float(np.ptp(w)), 1e-300)
    powers = legvander(2.0 * unit, min(law.n_terms + 2, len(w) - 1))
    left = Y - powers @ np.linalg.lstsq(powers, Y, rcond=None)[0]
    return bool(np.sqrt(np.mean(left**2) / np.mean(Y**2)) < settings.EXACT_LINK)


def _in_units_of_rounding(law: Fitted, reduced: Reduced) -> tuple[np.ndarray, ...]:
    """Return derivatives of y by the free coefficients, residuals, and which rows are innermost.

    Rounding changes the sum of a law's terms by that of their sizes, and of what they change with
    the variables, in the last digit. Rows on which all terms are zero, or where y is at the end of
    a root, say nothing.
    """
    if law.form is not None:
        return _form_in_units_of_rounding(law, law.form, reduced)
    n = reduced.n_variables
    evaluator = Evaluator(np.vstack([reduced.w, law.predicted / reduced.factor]))
    values = evaluator.values(law.terms)
    size = np.abs(law.coef) @ np.abs(values)
    rounding = reduced.table.rounding / _EPS  # of columns that were far from the origin
    for i in range(n):
        change = np.abs(law.coef @ evaluator.derivatives(law.terms, i))
        size += change * np.maximum(np.abs(reduced.w[i]), rounding * np.std(reduced.w[i]))
    slope = law.coef @ evaluator.derivatives(law.terms, n) / reduced.factor
    size += np.abs(slope) * rounding * np.std(reduced.table.y)
    unit = _EPS * size / np.abs(slope)
    jacobian = (np.delete(-values, law.fixed, axis=0) / slope / unit).T
    left = (reduced.table.y - law.predicted) / unit
    terms = reduced.in_columns(law.terms)
    occurs = [any(t.involves(i) for t in terms) for i in range(len(reduced.table.columns))]
    telling = np.isfinite(jacobian).all(axis=1) & np.isfinite(left)
    return jacobian[telling], left[telling], _is_inner(reduced.table.columns[occurs][:, telling])


def _form_in_units_of_rounding(
    law: Fitted, form: FormFit, reduced: Reduced
) -> tuple[np.ndarray, ...]:
    """Return the same of a form, whose parts are as large as what it changes with its constants."""
    table = reduced.table
    size = np.abs(law.predicted) + np.abs(law.coef) @ np.abs(form.slopes)
    unit = _EPS * size + table.rounding * np.std(table.y)
    jacobian, left = (form.slopes / unit).T, (table.y - law.predicted) / unit
    telling = np.isfinite(jacobian).all(axis=1) & np.isfinite(left)
    return jacobian[telling], left[telling], _is_inner(table.columns[form.columns][:, telling])


def _is_inner(columns: np.ndarray) -> np.ndarray:
    """Say which half of the rows is farthest from the ends of each column, by ranks."""
    ranks = np.argsort(np.argsort(columns, axis=1, kind="stable"), axis=1, kind="stable")
    ends = np.abs(2 * ranks - columns.shape[1]).max(axis=0, initial=0)
    order = np.argsort(ends, kind="stable")
    inner = np.zeros(len(order), dtype=bool)
    inner[order[: len(order) // 2]] = True
    return inner


def _variances(jacobian: np.ndarray) -> np.ndarray:
    """Return the variances of coefficients for noise of variance 1; infinite if they depend."""
    return _leverage(jacobian, np.eye(jacobian.shape[1]))


def _leverage(jacobian: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the variances that noise of variance 1 on some rows gives to what others are fitted.

    Infinite where these rows do not determine all coefficients.
    """
    (triangle,) = qr(jacobian, mode="r", check_finite=False)
    triangle = triangle[: triangle.shape[1]]
    size = np.abs(triangle.diagonal())
    if not size.min() > _EPS * len(size) * size.max():
        return np.full(len(others), np.inf)
    return np.sum(solve_triangular(triangle, others.T, trans="T") ** 2, axis=0)


@np.errstate(all="ignore")
def agree(law: Fitted, reduced: Reduced, other: Fitted, of_other: Reduced) -> bool:
    """Say whether two laws are one, written in two ways: they say the same far from the rows, too.

    On the rows all exact laws agree. Points are spread over many decades, on some of which each
    term matters.
    """
    table = reduced.table
    rng = np.random.default_rng(0)
    columns = 10.0 ** rng.uniform(-_DECADES, _DECADES, (len(table.columns), _POINTS))
    columns *= np.where(table.positive[:, np.newaxis], 1.0, rng.choice([-1.0, 1.0], columns.shape))
    points = np.vstack([columns, np.ones(_POINTS)])
    solutions = [_solution(law, reduced), _solution(other, of_other)]
    y, of_y = (points[-1] * (np.nan if x is None else evaluate(x, points)) for x in solutions)
    points[-1] = y
    values = Evaluator(points).values(of_other.in_columns(other.terms)) * other.coef[:, np.newaxis]
    gap = np.fmin(
        np.abs(values.sum(axis=0)) / np.abs(values).sum(axis=0),
        np.abs(y - of_y) / (np.abs(y) + np.abs(of_y)),
    )
    gap = gap[np.isfinite(gap)]
    return bool(gap.size and np.mean(gap > settings.APART) < settings.APART_POINTS)


def _solution(law: Fitted, reduced: Reduced) -> Node | None:
    """Return what a law says of y, on the branch of the rows; None without a closed form."""
    terms, rows = reduced.in_columns(law.terms), slice(0, settings.COMPARED_ROWS)
    columns = np.vstack([reduced.table.columns[:, rows], law.predicted[rows]])
    solutions = [solved(terms, law.coef, None, len(columns) - 1, branch) for branch in (1, -1)]
    gaps = [
        np.inf if node is None else np.nansum(np.abs(evaluate(node, columns) - columns[-1]))
        for node in solutions
    ]
    return solutions[int(np.argmin(gaps))]
