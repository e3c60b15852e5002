"""Standard errors of the coefficients of a polynomial that was fitted to rows."""

import numpy as np
from sklearn.utils import check_array

from vanishing._threads import one_blas_thread
from vanishing._types import Table, Vector
from vanishing.algebra import monomials
from vanishing.algebra.evaluation import chunk_rows, evaluate
from vanishing.algebra.polynomials import Polynomial
from vanishing.checks import check_weights
from vanishing.rows.moments import Moments

_STEP = 1e-3  # relative step of a difference with respect to the noise


def error_bars(
    polynomial: Polynomial,
    data: Table | Moments,
    *,
    noise: float | Vector | None = None,
    sample_weight: Vector | None = None,
) -> Polynomial:
    """Return a polynomial with standard errors of its coefficients.

    Its terms stay, and its leading coefficient, which the others are relative to, has no error.
    Coefficients solve ``sum_i u(x_i; coef) = 0`` for some estimating functions u. Their derivatives
    A and covariance B give the sandwich A^{-1} B A^{-T} / m, without assumptions on how errors are
    distributed over the rows. Without noise, u = g t for all terms t but the leading one: least
    squares. With noise in the columns, u are the debiased g t for all terms, and the size of the
    noise is estimated along: what `OAVI.fit_moments` does with debiased moments.

    Parameters
    ----------
    polynomial : Polynomial
        A generator, for example.
    data : array-like of shape (n_samples, n_features), or Moments
        The rows it was fitted to; or their moments, of a ``max_degree`` of at least twice its
        degree, and not debiased.
    noise : float or array-like of shape (n_features,), default=None
        Standard deviation of the noise in the columns, as `Moments.debiased` takes it.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.

    Returns
    -------
    polynomial : Polynomial
        The same with ``coef_std``; ``write(errors=True)`` shows them.

    See Also
    --------
    Moments : Sums that take the place of rows, and estimates of their noise.
    OAVI : Finds the generators of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import OAVI, error_bars
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, 1000)
    >>> X = np.column_stack([x, 1 + 2 * x + 0.1 * rng.normal(size=1000)])
    >>> line = OAVI(psi=0.02, oracle="ls").fit(X).generators_[0]
    >>> print(error_bars(line, X).write(errors=True))
    x1 - 1.999(6)*x0 - 0.999(3)
    """
    degree, n_features = polynomial.degree, polynomial.terms.shape[1]
    small = Moments(n_features, max(1, degree))  # its terms are those of u
    noises = small.check_noise(0.0 if noise is None else noise)
    equations = _Equations(polynomial, small, noises)
    if isinstance(data, Moments):
        moments = _from_moments(equations, data)
    else:
        moments = _from_rows(equations, data, sample_weight)
    return polynomial.with_errors(equations.standard_errors(*moments))


class _Equations:
    """The estimating functions as combinations of monomials of up to twice the degree."""

    def __init__(self, polynomial: Polynomial, small: Moments, noise: np.ndarray):
        self.coef, self.noise, self.small = polynomial.coef, noise, small
        terms = polynomial.terms.astype(monomials.EXPONENT)
        k, n = terms.shape
        self.places = small.positions((terms[:, np.newaxis] + terms).reshape(-1, n)).reshape(k, k)
        products = np.zeros((k, len(small.terms)))
        np.add.at(products, (np.arange(k)[:, np.newaxis], self.places), self.coef)
        self.functions = small.debias.adjoint(products, noise)  # u = functions @ monomials
        if not noise.any():
            self.functions = self.functions[:-1]

    def standard_errors(self, means, covariance, n_effective) -> np.ndarray:
        """Return the errors from the means of the monomials and the covariance of u."""
        gram = self.small.debias(means, self.noise)[self.places]
        if self.noise.any():
            up, down = (
                self.small.debias(means, (1.0 + step) * self.noise)[self.places]
                for step in (_STEP, -_STEP)
            )
            slope = (up - down) @ self.coef
            derivative = np.column_stack([gram[:, :-1], slope / np.abs(slope).max(initial=1e-300)])
        else:
            derivative = gram[:-1, :-1]
        unit = 1.0 / np.sqrt(np.abs(gram.diagonal())[: len(derivative)])
        inverse = np.linalg.pinv(derivative * unit[:, np.newaxis]) * unit
        variance = np.einsum("ij,jk,ik->i", inverse, covariance, inverse) / n_effective
        return np.append(np.sqrt(variance[: len(self.coef) - 1]), 0.0)


def _from_rows(equations: _Equations, X, sample_weight):
    """Return means of the monomials, the covariance of u, and the effective number of rows."""
    X = check_array(X, dtype=[np.float64, np.float32])
    if X.shape[1] != equations.small.n_features:
        raise ValueError(
            f"X has {X.shape[1]} columns, but the polynomial has {equations.small.n_features} "
            "variables."
        )
    weight = check_weights(sample_weight, len(X))
    weight = np.ones(len(X)) if weight is None else weight
    plan, position = monomials.plan(equations.small.terms)
    sums = np.zeros(len(position))
    k = len(equations.functions)
    squares = np.zeros((k, k))
    with one_blas_thread():
        for cut, values in evaluate(X, plan, rows=chunk_rows(plan.parent.size, None)):
            values = values[position]
            u = equations.functions @ values * weight[cut]
            sums += values @ weight[cut]
            squares += u @ u.T
    total = weight.sum()
    return sums / total, squares / np.sum(weight**2), total**2 / np.sum(weight**2)


def _from_moments(equations: _Equations, moments: Moments):
    """Return what `_from_rows` returns, from moments of twice the degree."""
    small = equations.small
    if moments.n_features != small.n_features:
        raise ValueError(
            f"the moments are of {moments.n_features} columns, but the polynomial has "
            f"{small.n_features} variables."
        )
    if moments.noise is not None:
        raise ValueError("give the moments before debiasing, and their noise as noise=.")
    if moments.max_degree < 2 * small.max_degree:
        raise ValueError(
            f"standard errors of a polynomial of degree {small.max_degree} need moments with "
            f"max_degree {2 * small.max_degree}; these have {moments.max_degree}. Give rows."
        )
    means = moments.sums / moments.total_weight
    used = np.flatnonzero(equations.functions.any(axis=0))
    pairs = small.terms[used][:, np.newaxis] + small.terms[used]
    products = means[moments.positions(pairs.reshape(-1, small.n_features))]
    functions = equations.functions[:, used]
    covariance = functions @ products.reshape(len(used), len(used)) @ functions.T
    return means[moments.positions(small.terms)], covariance, moments.n_samples
