"""Polynomials as results: immutable, evaluable on any rows, printable, exportable."""

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from numba import njit
from sklearn.utils import check_array

from vanishing._threads import one_blas_thread, spread
from vanishing.algebra import monomials
from vanishing.algebra.evaluation import (
    NO_WEIGHTS,
    batches,
    chunk_rows,
    evaluate,
    evaluate_chunk,
    stretches,
)
from vanishing.algebra.immutable import Immutable, read_only
from vanishing.algebra.writing import DIGITS, check_told_apart, write, write_equation

_TILE = 32
_NOTEBOOK, _NOTEBOOK_TERMS = 20, 12  # equations that a notebook shows, and terms of one


@njit(cache=True, nogil=True)
def _fill(linear, values, leading, leading_coef, absolute, out):
    """out[r, j] = linear[j, r] + leading_coef[j] values[leading[j], r], tile by tile."""
    n_rows, n_polynomials = out.shape
    for j0 in range(0, n_polynomials, _TILE):
        j1 = min(j0 + _TILE, n_polynomials)
        for r0 in range(0, n_rows, _TILE):
            r1 = min(r0 + _TILE, n_rows)
            for j in range(j0, j1):
                t = leading[j]
                c = leading_coef[j]
                for r in range(r0, r1):
                    value = linear[j, r] + c * values[t, r]
                    out[r, j] = abs(value) if absolute else value


@njit(cache=True, nogil=True)
def _fill_rows(columns, parent, variable, terms, coef, leading, leading_coef, absolute, rows, out):
    """Evaluate generators on all rows of the columns, chunk by chunk."""
    n_terms, n_rows, n_polynomials = parent.size, columns.shape[1], leading.size
    rows = min(rows, n_rows)
    memory = np.empty(n_terms * rows)
    copied = np.empty(terms.size * rows)
    sums = np.zeros(n_polynomials * rows)
    for start in range(0, n_rows, rows):
        size = min(rows, n_rows - start)
        values = memory[: n_terms * size].reshape((n_terms, size))
        evaluate_chunk(columns, start, NO_WEIGHTS, parent, variable, values)
        linear = sums[: n_polynomials * size].reshape((n_polynomials, size))
        if terms.size:
            used = copied[: terms.size * size].reshape((terms.size, size))
            for i in range(terms.size):
                used[i] = values[terms[i]]
            np.dot(coef, used, linear)
        _fill(linear, values, leading, leading_coef, absolute, out[start : start + size])


def default_names(n_features: int) -> list[str]:
    """Return scikit-learn's names for columns without one: x0, x1, ..."""
    return [f"x{i}" for i in range(n_features)]


class BasePolynomial(Immutable):
    """Terms and coefficients of some kind: what they are, and how they are written."""

    terms: np.ndarray
    coef: np.ndarray
    feature_names: tuple[str, ...]
    coef_std: np.ndarray | None = None

    def _set_terms(self, terms, coef, feature_names=None):
        terms = np.array(terms, dtype=np.int64, ndmin=2)
        if len(terms) != len(coef):
            raise ValueError(
                f"a polynomial needs one coefficient per term; got {len(terms)} terms and "
                f"{len(coef)} coefficients."
            )
        names = default_names(terms.shape[1]) if feature_names is None else feature_names
        self._set(
            terms=read_only(terms),
            coef=read_only(coef),
            feature_names=tuple(str(name) for name in names),
        )

    @property
    def leading_term(self) -> np.ndarray:
        """Exponents of the leading term, of shape (n_features,)."""
        return self.terms[-1]

    @property
    def degree(self) -> int:
        """Total degree."""
        return int(self.terms.sum(axis=1).max())

    def write(self, style="text", *, digits=DIGITS, limit=None, errors=False) -> str:
        """Write the polynomial, largest term first.

        Parameters
        ----------
        style : {"text", "latex", "html", "sympy", "python"}, default="text"
            "sympy" and "python" write all digits of a number, for a program to read.
        digits : int or array-like of int of shape (n_terms,), default=4
            Digits of a number, in the other styles.
        limit : int, default=None
            How many terms are written; dots stand for the others.
        errors : bool, default=False
            Whether numbers are written with their standard errors, which the last digits are
            uncertain by: 1.003(2) is 1.003 with a standard error of 0.002.
        """
        if errors and self.coef_std is None:
            raise ValueError("the polynomial has no standard errors: see vanishing.error_bars.")
        return write(
            self.terms,
            self.coef,
            self.feature_names,
            style,
            digits=digits,
            limit=limit,
            std=self.coef_std if errors else None,
        )

    def equation(self, style="text", *, digits=DIGITS, limit=None, equals=None) -> str:
        """Write that the polynomial is zero, with the leading term alone on the left.

        Parameters
        ----------
        style : {"text", "latex", "html"}, default="text"
        digits : int or array-like of int of shape (n_terms,), default=4
            Digits of a number; one number per term keeps zeros at the end, and leaves out terms
            that have 0 digits.
        limit : int, default=None
            How many terms are written on the right; dots stand for the others.
        equals : str, default=None
            What stands between the sides; the style's sign of equality by default.

        Examples
        --------
        >>> from vanishing.polynomials import Polynomial
        >>> Polynomial([[0, 0], [2, 0], [0, 2]], [-1.0, 1.0, 1.0]).equation()
        'x1^2 = 1 - x0^2'
        """
        names = self.feature_names
        return write_equation(
            self.terms, self.coef, names, style, digits=digits, limit=limit, equals=equals
        )

    def __str__(self) -> str:
        """Write the polynomial, largest term first, four digits per coefficient."""
        return self.write()

    def shortened(self, limit) -> str:
        """Write the ``limit`` largest terms of the polynomial and dots for the others."""
        return self.write(limit=limit)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def to_latex(self) -> str:
        """Write the polynomial in LaTeX (without dollar signs)."""
        return self.write("latex")

    def _repr_latex_(self) -> str:
        return f"${self.write('latex', limit=_NOTEBOOK_TERMS)}$"

    def to_sympy(self):
        """Return the polynomial as a SymPy expression in symbols named as the columns."""
        try:
            import sympy
        except ImportError:
            raise ImportError(
                "to_sympy needs SymPy: install it with pip install 'vanishing[symbolic]'."
            ) from None
        check_told_apart(self.terms, self.feature_names)
        symbols = [sympy.Symbol(name) for name in self.feature_names]

        def number(value):
            if isinstance(value, Fraction):
                return sympy.Rational(value.numerator, value.denominator)
            return sympy.Float(float(value))

        return sympy.Add(
            *(
                sympy.Mul(
                    number(value),
                    *(symbol**e for symbol, e in zip(symbols, term, strict=True) if e),
                )
                for term, value in zip(self.terms.tolist(), self.coef, strict=True)
            )
        )

    def table(self) -> dict[str, list]:
        """Return terms and coefficients as columns, for a DataFrame of any library."""
        return {
            "term": [write([term], [1.0], self.feature_names) for term in self.terms],
            "degree": self.terms.sum(axis=1).tolist(),
            "coefficient": self.coef.tolist(),
        }


class Polynomial(BasePolynomial):
    """A polynomial in the columns of a data set.

    Parameters
    ----------
    terms : array-like of int of shape (n_terms, n_features)
        Exponents, the leading term last.
    coef : array-like of shape (n_terms,)
        A coefficient for each term.
    mse : float, default=nan
        Mean square of its values on the rows it was fitted to.
    feature_names : sequence of str, default=None
        Names of the columns; x0, x1, ... by default.
    coef_std : array-like of shape (n_terms,), default=None
        Standard errors of the coefficients, where they are known.

    Examples
    --------
    >>> from vanishing.polynomials import Polynomial
    >>> circle = Polynomial([[0, 0], [2, 0], [0, 2]], [-1.0, 1.0, 1.0])
    >>> print(circle)
    x1^2 + x0^2 - 1
    >>> circle([[0.6, 0.8], [1.0, 1.0]]).round(6)
    array([0., 1.])
    >>> circle.gradient([[0.6, 0.8]])
    array([[1.2, 1.6]])
    """

    mse: float

    def __init__(self, terms, coef, *, mse=np.nan, feature_names=None, coef_std=None):
        self._set_terms(terms, np.array(coef, dtype=np.float64, ndmin=1), feature_names)
        self._set(mse=float(mse))
        if coef_std is not None:
            std = np.array(coef_std, dtype=np.float64, ndmin=1)
            if std.shape != self.coef.shape:
                raise ValueError(f"coef_std must have {len(self.coef)} entries; got {std.shape}.")
            self._set(coef_std=read_only(std))

    def __reduce__(self):
        parts = (self.terms, self.coef, self.mse, self.feature_names, self.coef_std)
        return _rebuild_polynomial, parts

    def with_errors(self, coef_std) -> "Polynomial":
        """Return the polynomial with standard errors of its coefficients."""
        names = self.feature_names
        return Polynomial(
            self.terms, self.coef, mse=self.mse, feature_names=names, coef_std=coef_std
        )

    @property
    def leading_coef(self) -> float:
        """Coefficient of the leading term."""
        return float(self.coef[-1])

    def __call__(self, X) -> np.ndarray:
        """Evaluate on rows: an array of shape (n_samples,)."""
        return self._combine(X, self.terms, self.coef[np.newaxis])[:, 0]

    def gradient(self, X) -> np.ndarray:
        """Evaluate the gradient on rows: an array of shape (n_samples, n_features)."""
        # Each partial derivative is a polynomial in the divisors of the terms.
        index, variable, quotients = monomials.divisors(self.terms)
        coef = np.zeros((self.terms.shape[1], len(index)))
        coef[variable, np.arange(len(index))] = self.coef[index] * self.terms[index, variable]
        return self._combine(X, quotients, coef)

    def distance(self, X) -> np.ndarray:
        """Return the distances of rows from the zeros, to first order: |g| / |grad g|.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        distance : ndarray of shape (n_samples,)
            0 on the zeros, infinite where only the gradient is zero. Good near the zeros; for a
            lower bound everywhere see `vanishing.plot.distance_to_variety`.
        """
        value, slope = np.abs(self(X)), np.linalg.norm(self.gradient(X), axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(value == 0.0, 0.0, value / slope)

    def _combine(self, X, terms, coef) -> np.ndarray:
        X = check_array(X, dtype=[np.float64, np.float32])
        if X.shape[1] != self.terms.shape[1]:
            raise ValueError(
                f"the polynomial has {self.terms.shape[1]} variables, but X has {X.shape[1]} "
                "columns."
            )
        plan, position = monomials.plan(terms)
        out = np.empty((len(X), len(coef)))
        rows = chunk_rows(plan.parent.size, None)
        with one_blas_thread():
            for here, values in evaluate(X, plan, rows=rows):
                np.matmul(values[position].T, coef.T, out=out[here])
        return out


def _rebuild_polynomial(terms, coef, mse, feature_names, coef_std=None):
    return Polynomial(terms, coef, mse=mse, feature_names=feature_names, coef_std=coef_std)


def aligned(polynomials) -> str | None:
    """Write the first equations of a sequence in LaTeX, aligned at their signs of equality.

    None where there are none, or where components are too large to be expanded.
    """
    try:
        some = polynomials[:_NOTEBOOK]
        lines = [g.equation("latex", limit=_NOTEBOOK_TERMS, equals=" &= ") for g in some]
    except ValueError:
        return None
    if not lines:
        return None
    if len(polynomials) > _NOTEBOOK:
        lines.append(rf"&\quad \text{{({len(polynomials) - _NOTEBOOK:,} more)}}")
    inner = " \\\\\n".join(lines)
    return f"$$\n\\begin{{aligned}}\n{inner}\n\\end{{aligned}}\n$$"


class PolynomialSequence(Immutable, Sequence):
    """The generators of a fitted model, one of which is made when it is asked for."""

    @property
    @abstractmethod
    def degrees(self) -> np.ndarray:
        """The degree that each generator was found in."""

    @abstractmethod
    def _polynomial(self, i: int) -> Polynomial: ...

    @property
    def degree(self) -> int:
        """Largest degree, 0 if there are no generators."""
        return int(self.degrees.max(initial=0))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._polynomial(range(len(self))[index])

    def __str__(self) -> str:
        return "\n".join(f"{g.equation()}   (mse {g.mse:.2g})" for g in self)

    def __repr__(self) -> str:
        return f"<{len(self)} generators of degree up to {self.degree}>"

    def _repr_latex_(self) -> str | None:
        return aligned(self)

    def table(self) -> dict[str, list]:
        """Return one line per generator as columns, for a DataFrame of any library."""
        polynomials = list(self)
        return {
            "equation": [g.equation() for g in polynomials],
            "degree": [g.degree for g in polynomials],
            "n_terms": [len(g.terms) for g in polynomials],
            "mse": [g.mse for g in polynomials],
        }

    def distance(self, X) -> np.ndarray:
        """Return the distances of rows from each generator's zeros: (n_samples, |G|).

        To first order, as `Polynomial.distance`.
        """
        X = check_array(X, dtype=[np.float64, np.float32])
        found = [g.distance(X) for g in self]
        return np.column_stack(found) if found else np.zeros((len(X), 0))

    @abstractmethod
    def _chunking(self, chunk_size) -> tuple[int, int]:
        """Return how many rows to evaluate at a time, and how many multiply-adds a row takes."""

    @abstractmethod
    def _evaluate(self, X, absolute: bool, rows: int, out) -> None:
        """Write the values of all generators on rows, a stretch of chunks of ``rows`` each."""

    def _by_stretches(self, function, n_samples: int, chunk_size) -> None:
        """Call ``function(some rows, rows of a chunk)`` for all rows, in several threads."""
        rows, work = self._chunking(chunk_size)
        with one_blas_thread():
            spread(lambda here: function(here, rows), stretches(n_samples, rows, work))

    def evaluate(self, X, *, absolute=False, chunk_size=None, out=None) -> np.ndarray:
        """Evaluate all generators on rows: (n_samples, |G|) in the dtype of X.

        ``X`` is a float64 or float32 array with the right number of columns; ``out`` an array to
        write to.
        """
        if out is None:
            out = np.empty((len(X), len(self)), dtype=X.dtype)
        if len(self):
            self._by_stretches(
                lambda here, rows: self._evaluate(X[here], absolute, rows, out[here]),
                len(X),
                chunk_size,
            )
        return out

    def combine(self, X, weights, *, absolute=False, chunk_size=None) -> np.ndarray:
        """Return ``evaluate(X) @ weights`` without ever holding all values of the generators.

        ``weights`` has shape (|G|, n_outputs).
        """
        out = np.zeros((len(X), weights.shape[1]))

        def combine(here: slice, rows: int) -> None:
            values = np.empty((here.stop - here.start, len(self)))
            self._evaluate(X[here], absolute, rows, values)
            np.matmul(values, weights, out=out[here])

        if len(self):
            self._by_stretches(combine, len(X), chunk_size)
        return out


class Generators(PolynomialSequence):
    """The generators of a fitted model: a sequence of `Polynomial`, evaluated together.

    Generator i is ``leading_coef[i] * leading_terms[i] + coef[i] @ terms``.

    Parameters
    ----------
    terms : ndarray of int of shape (|O|, n_features)
    leading_terms : ndarray of int of shape (|G|, n_features)
    coef : ndarray of shape (|G|, |O|)
    leading_coef : ndarray of shape (|G|,)
    mse : ndarray of shape (|G|,)
    feature_names : sequence of str
    """

    terms: np.ndarray
    leading_terms: np.ndarray
    coef: np.ndarray
    leading_coef: np.ndarray
    mse: np.ndarray
    feature_names: tuple[str, ...]

    def __init__(self, terms, leading_terms, coef, leading_coef, mse, feature_names):
        self._set(
            terms=read_only(terms),
            leading_terms=read_only(leading_terms),
            coef=read_only(coef),
            leading_coef=read_only(leading_coef),
            mse=read_only(mse),
            feature_names=tuple(str(name) for name in feature_names),
        )

    def __reduce__(self):
        parts = (self.terms, self.leading_terms, self.coef, self.leading_coef, self.mse)
        return Generators, (*parts, self.feature_names)

    def __len__(self) -> int:
        return len(self.leading_terms)

    def _polynomial(self, i: int) -> Polynomial:
        used = np.flatnonzero(self.coef[i])
        return Polynomial(
            np.vstack([self.terms[used], self.leading_terms[i]]),
            np.append(self.coef[i, used], self.leading_coef[i]),
            mse=self.mse[i],
            feature_names=self.feature_names,
        )

    @property
    def degrees(self) -> np.ndarray:
        """The degree of each generator."""
        return self.leading_terms.sum(axis=1)

    @cached_property
    def compiled(self):
        """What `evaluate` needs: only terms that some generator uses, and the plan for them."""
        used = np.flatnonzero(self.coef.any(axis=0))
        plan, position = monomials.plan(np.vstack([self.terms[used], self.leading_terms]))
        coef = np.ascontiguousarray(self.coef[:, used])
        return plan, position[: used.size], coef, position[used.size :]

    def subset(self, chosen) -> "Generators":
        """Return some of the generators, as a sequence of their own."""
        return Generators(
            self.terms,
            self.leading_terms[chosen],
            self.coef[chosen],
            self.leading_coef[chosen],
            self.mse[chosen],
            self.feature_names,
        )

    def renamed(self, feature_names) -> "Generators":
        """Return the same generators with other names of the columns."""
        return Generators(
            self.terms, self.leading_terms, self.coef, self.leading_coef, self.mse, feature_names
        )

    def _chunking(self, chunk_size):
        plan, _, coef, _ = self.compiled
        n_terms = plan.parent.size
        return chunk_rows(n_terms + len(self), chunk_size), n_terms + coef.size

    def _evaluate(self, X, absolute, rows, out):
        plan, terms, coef, leading = self.compiled
        weights = (terms, coef, leading, self.leading_coef)
        for here, columns in batches(X, rows, plan.variable):
            _fill_rows(columns, *plan, *weights, absolute, rows, out[here])
