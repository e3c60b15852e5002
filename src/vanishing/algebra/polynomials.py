"""Polynomials as results: immutable, evaluable on any rows, printable, exportable."""

from typing import Any

import numpy as np
from sklearn.utils import check_array

from vanishing._threads import one_blas_thread
from vanishing._types import FloatArray, IntArray, Names, Table, Vector
from vanishing.algebra import monomials
from vanishing.algebra.evaluation import (
    chunk_rows,
    evaluate,
)
from vanishing.algebra.expressions import Number
from vanishing.algebra.immutable import Immutable, read_only
from vanishing.algebra.languages import writer
from vanishing.algebra.programs import to_sympy
from vanishing.algebra.writing import DIGITS, Monomials, PlainText

NOTEBOOK_TERMS = 12  # of an equation, that a notebook shows


def default_names(n_features: int) -> list[str]:
    """Return scikit-learn's names for columns without one: x0, x1, ..."""
    return [f"x{i}" for i in range(n_features)]


class BasePolynomial(Immutable):
    """Terms and coefficients of some kind: what they are, and how they are written."""

    terms: IntArray
    coef: Any
    feature_names: tuple[str, ...]
    coef_std: FloatArray | None = None

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
    def leading_term(self) -> IntArray:
        """Exponents of the leading term, of shape (n_features,)."""
        return self.terms[-1]

    @property
    def degree(self) -> int:
        """Total degree."""
        return int(self.terms.sum(axis=1).max())

    def write(
        self,
        style: str = "text",
        *,
        digits: int | Vector = DIGITS,
        limit: int | None = None,
        errors: bool = False,
    ) -> str:
        """Write the polynomial, largest term first.

        Parameters
        ----------
        style : {"text", "latex", "html", "mathml", "sympy", "python", "c", "sql"}, default="text"
            The last four write all digits of a number, for a program to read.
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
        language = self._writer(style, digits)
        if errors and language.is_formal:
            raise ValueError("standard errors are written for people: as text, LaTeX or HTML.")
        order, std = np.flatnonzero(self.coef)[::-1], self.coef_std if errors else None
        return language.write(self._monomials(order, self.coef, limit, digits, std))

    def _writer(self, style: str, digits, for_people: bool = False) -> PlainText:
        common = digits if np.ndim(digits) == 0 else None
        return writer(style, self.feature_names, common, for_people=for_people)

    def _monomials(self, order, coef, limit=None, digits=DIGITS, std=None) -> Monomials:
        """Return the first terms of some in order, to be written with coefficients."""
        shown = order[:limit]
        return Monomials(
            self.terms[shown].tolist(),
            coef[shown].tolist(),
            [0.0] * len(shown) if std is None else std[shown].tolist(),
            [None] * len(shown) if np.ndim(digits) == 0 else np.asarray(digits)[shown].tolist(),
            len(order) - len(shown),
        )

    def equation(
        self,
        style: str = "text",
        *,
        digits: int | Vector = DIGITS,
        limit: int | None = None,
        equals: str | None = None,
    ) -> str:
        """Write that the polynomial is zero, with the leading term alone on the left.

        Parameters
        ----------
        style : {"text", "latex", "html", "mathml"}, default="text"
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
        coef, last = self.coef, len(self.coef) - 1
        language = self._writer(style, digits, for_people=True)
        if not coef[-1]:  # too small for a number
            left = self._monomials(np.flatnonzero(coef)[::-1], coef, limit, digits)
            return language.equation(left, Number(0.0), equals)
        right, matters = -coef / coef[-1], np.broadcast_to(np.asarray(digits), coef.shape) != 0
        order = [i for i in reversed(range(last)) if right[i] and matters[i]]
        first = next((i for i in order if right[i] > 0), None)
        order.sort(key=lambda i: i != first)
        left = self._monomials([last], np.ones(len(coef)))
        return language.equation(left, self._monomials(order, right, limit, digits), equals)

    def __str__(self) -> str:
        """Write the polynomial, largest term first, four digits per coefficient."""
        return self.write()

    def shortened(self, limit: int) -> str:
        """Write the ``limit`` largest terms of the polynomial and dots for the others."""
        return self.write(limit=limit)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def to_latex(self) -> str:
        """Write the polynomial in LaTeX (without dollar signs)."""
        return self.write("latex")

    def _repr_latex_(self) -> str:
        return f"${self.write('latex', limit=NOTEBOOK_TERMS)}$"

    def to_sympy(self) -> Any:
        """Return the polynomial as a SymPy expression in symbols named as the columns."""
        terms = self._monomials(np.arange(len(self.coef)), self.coef)
        return to_sympy(self.feature_names, terms)

    def table(self) -> dict[str, list[Any]]:
        """Return terms and coefficients as columns, for a DataFrame of any library."""
        text = PlainText(self.feature_names)
        ones = np.ones(len(self.coef))
        return {
            "term": [text.write(self._monomials([i], ones)) for i in range(len(ones))],
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
    sparsity : float, default=nan
        Of a generator, the share of zeros among the non-leading coefficients that it could have
        had: those of the terms in O when it was found.

    See Also
    --------
    ExactPolynomial : A polynomial with rational coefficients.
    parse_polynomial : Read a polynomial from text.

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

    coef: FloatArray
    mse: float
    sparsity: float

    def __init__(
        self,
        terms: Table,
        coef: Vector,
        *,
        mse: float = np.nan,
        feature_names: Names | None = None,
        coef_std: Vector | None = None,
        sparsity: float = np.nan,
    ):
        self._set_terms(terms, np.array(coef, dtype=np.float64, ndmin=1), feature_names)
        self._set(mse=float(mse), sparsity=float(sparsity))
        if coef_std is not None:
            std = np.array(coef_std, dtype=np.float64, ndmin=1)
            if std.shape != self.coef.shape:
                raise ValueError(f"coef_std must have {len(self.coef)} entries; got {std.shape}.")
            self._set(coef_std=read_only(std))

    def __reduce__(self):
        parts = (self.terms, self.coef, self.mse, self.feature_names, self.coef_std)
        return _rebuild_polynomial, (*parts, self.sparsity)

    def with_errors(self, coef_std: Vector) -> "Polynomial":
        """Return the polynomial with standard errors of its coefficients."""
        return Polynomial(
            self.terms,
            self.coef,
            mse=self.mse,
            feature_names=self.feature_names,
            coef_std=coef_std,
            sparsity=self.sparsity,
        )

    @property
    def leading_coef(self) -> float:
        """Coefficient of the leading term."""
        return float(self.coef[-1])

    def __call__(self, X: Table) -> FloatArray:
        """Evaluate on rows: an array of shape (n_samples,)."""
        return self._combine(X, self.terms, self.coef[np.newaxis])[:, 0]

    def gradient(self, X: Table) -> FloatArray:
        """Evaluate the gradient on rows: an array of shape (n_samples, n_features)."""
        # Each partial derivative is a polynomial in the divisors of the terms.
        index, variable, quotients = monomials.divisors(self.terms)
        coef = np.zeros((self.terms.shape[1], len(index)))
        coef[variable, np.arange(len(index))] = self.coef[index] * self.terms[index, variable]
        return self._combine(X, quotients, coef)

    def distance(self, X: Table) -> FloatArray:
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
            for chunk, values in evaluate(X, plan, rows=rows):
                np.matmul(values[position].T, coef.T, out=out[chunk])
        return out


def _rebuild_polynomial(terms, coef, mse, feature_names, coef_std=None, sparsity=np.nan):
    return Polynomial(
        terms,
        coef,
        mse=mse,
        feature_names=feature_names,
        coef_std=coef_std,
        sparsity=sparsity,
    )
