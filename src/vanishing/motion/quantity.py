"""A conserved quantity: a polynomial in columns and functions of them, the same along every run."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from vanishing._types import FloatArray, Table, Vector
from vanishing.algebra.languages import writer
from vanishing.algebra.programs import to_sympy
from vanishing.algebra.terms import Evaluator, Term
from vanishing.algebra.writing import PlainText
from vanishing.equations.columns import read_columns
from vanishing.equations.fitted import FittedTerms, read_terms
from vanishing.persistence import register_result


class ConservedQuantity(FittedTerms):
    """What stays the same along every run: the sum of ``coef[j]`` times term j.

    `ConservedQuantities` finds them. A quantity is known up to a factor and a constant: one
    coefficient is 1, and no term is constant.

    Parameters
    ----------
    terms : sequence of Term
    coef : array-like of shape (n_terms,)
    names : sequence of str
        Names of all columns, different from one another.
    covariance : array-like of shape (n_terms, n_terms), default=None
        Of the coefficients; None where they are exact.
    ratio : float, default=nan
        Variance within runs over that of all rows, on runs that were held out.
    offsets : array-like of shape (n_columns,), default=None
        Numbers that are subtracted from the columns before terms are evaluated. None means zeros.

    Attributes
    ----------
    terms : tuple of str
        The terms as text.
    coef, coef_std : ndarray of shape (n_terms,)
        Coefficients and their standard errors, NaN where these are not known.
    n_terms : int
        Number of terms.
    degree : int
        The largest degree of a term, in columns and functions.
    covariance : ndarray of shape (n_terms, n_terms) or None
        Of the coefficients; None where they are exact.
    names : tuple of str
        Names of all columns.
    ratio : float
        Variance within runs over that of all rows, on runs that were held out.

    See Also
    --------
    vanishing.ConservedQuantities : Finds quantities.
    vanishing.Law : An equation that all rows obey.

    Examples
    --------
    >>> from vanishing import ConservedQuantity
    >>> from vanishing.algebra.functions import FUNCTIONS
    >>> from vanishing.algebra.terms import Factor, Term, monomial
    >>> cosine = Term((0.0, 0.0), (Factor(FUNCTIONS["cos"], 1.0, (1.0, 0.0)),))
    >>> names = ["angle", "speed"]
    >>> energy = ConservedQuantity([monomial([0, 2]), cosine], [1, -19.62], names=names)
    >>> print(energy)
    speed^2 - 19.62*cos(angle)
    >>> energy([[0.0, 3.0]])
    array([-10.62])
    """

    kind = "quantity"

    ratio: float

    def __init__(
        self,
        terms: Sequence[Term],
        coef: Vector,
        *,
        names: Sequence[str],
        covariance: Table | None = None,
        ratio: float = math.nan,
        offsets: Vector | None = None,
    ):
        self._set_terms(terms, coef, names, covariance, offsets)
        self._set(ratio=float(ratio))

    @property
    def degree(self) -> int:
        """The largest degree of a term, in columns and functions."""
        return max(
            int(sum(term.exponents)) + sum(factor.power for factor in term.factors)
            for term in self._terms
        )

    # -- Values -----------------------------------------------------------------------------------

    def __call__(self, X: Table) -> FloatArray:
        """Evaluate the quantity.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns), or frame
            A frame is read by the names of its columns.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            NaN or infinite where a function is not defined.
        """
        with np.errstate(all="ignore"):
            return self.coef @ Evaluator(self._read(X)).values(self._terms)

    def gradient(self, X: Table) -> FloatArray:
        """Evaluate the derivatives by all columns, shape (n_samples, n_columns)."""
        columns = self._read(X)
        evaluator = Evaluator(columns)
        with np.errstate(all="ignore"):
            rows = [
                self.coef @ evaluator.derivatives(self._terms, j) for j in range(len(self.names))
            ]
        return np.array(rows).T

    def _read(self, X) -> np.ndarray:
        columns = read_columns(X, None, self.names, len(self.names), self._columns)
        return self._without_offsets(columns)

    # -- Writing ----------------------------------------------------------------------------------

    def to_text(self, names: Sequence[str]) -> str:
        """Write the quantity with other names of the columns."""
        return PlainText(names).write(self.total)

    def write(self, style: str = "text") -> str:
        """Write the quantity.

        Parameters
        ----------
        style : {"text", "latex", "html", "mathml", "sympy", "python", "c", "sql"}, default="text"
            The first four write the digits that matter, the others all, for a program to read.
        """
        return writer(style, self.names).write(self.total)

    def to_sympy(self) -> Any:
        """Return the quantity as an expression of SymPy in symbols named as the columns."""
        return to_sympy(self.names, self.total)


# -- Saving ---------------------------------------------------------------------------------------


def write_quantity(writer, quantity: ConservedQuantity) -> dict:
    """Write a quantity as JSON values."""
    return {
        "quantity": str(quantity),
        **quantity.written_terms(writer),
        "ratio": writer.float(quantity.ratio),
    }


def read_quantity(reader, node) -> ConservedQuantity:
    """Return a quantity that `write_quantity` has written."""
    *parts, ratio, _, offsets = reader.fields(
        node,
        "a quantity",
        ("names", "terms", "coef", "covariance", "ratio"),
        ("quantity", "offsets"),
    )
    names, terms, coef, covariance = parts
    read = read_terms(reader, names, terms, coef, covariance, offsets)
    return ConservedQuantity(**read, ratio=reader.measured(ratio, "ratio"))


register_result(ConservedQuantity, write_quantity, read_quantity)
