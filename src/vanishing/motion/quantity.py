"""A conserved quantity: a polynomial in columns and functions of them, the same along every run."""

import math
from collections.abc import Sequence

import numpy as np

from vanishing.algebra.expressions import Node, Number, of_term, total
from vanishing.algebra.immutable import Immutable, read_only
from vanishing.algebra.languages import writer
from vanishing.algebra.programs import to_sympy
from vanishing.algebra.saving import read_term, write_term
from vanishing.algebra.solving import standard_errors
from vanishing.algebra.terms import Evaluator, Term
from vanishing.algebra.writing import PlainText
from vanishing.equations.columns import read_columns
from vanishing.estimators.saving import Savable
from vanishing.persistence import register_result


class ConservedQuantity(Immutable, Savable):
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

    Attributes
    ----------
    terms : tuple of str
        The terms as text.
    coef, coef_std : ndarray of shape (n_terms,)
        Coefficients and their standard errors, NaN where these are not known.
    n_terms : int
    degree : int
        The largest degree of a term, in columns and functions.
    ratio : float

    Examples
    --------
    >>> from vanishing import ConservedQuantity
    >>> from vanishing.algebra.terms import FUNCTIONS, Factor, Term, monomial
    >>> cosine = Term((0.0, 0.0), (Factor(FUNCTIONS["cos"], 1.0, (1.0, 0.0)),))
    >>> names = ["angle", "speed"]
    >>> energy = ConservedQuantity([monomial([0, 2]), cosine], [1, -19.62], names=names)
    >>> print(energy)
    speed^2 - 19.62*cos(angle)
    >>> energy([[0.0, 3.0]])
    array([-10.62])
    """

    coef: np.ndarray
    coef_std: np.ndarray
    covariance: np.ndarray | None
    names: tuple[str, ...]
    ratio: float
    _terms: tuple[Term, ...]

    def __init__(
        self,
        terms: Sequence[Term],
        coef,
        *,
        names: Sequence[str],
        covariance=None,
        ratio: float = math.nan,
    ):
        terms, names = tuple(terms), tuple(map(str, names))
        coef = np.array(coef, dtype=np.float64)
        if coef.shape != (len(terms),) or not len(terms) or not np.isfinite(coef).all():
            raise ValueError("a quantity needs one finite coefficient per term.")
        if len(set(names)) < len(names):
            raise ValueError("two columns of a quantity have the same name: rename them.")
        exponents = [term.exponents for term in terms]
        exponents += [factor.exponents for term in terms for factor in term.factors]
        if any(len(row) != len(names) for row in exponents):
            raise ValueError("a term of a quantity has one exponent per column.")
        if covariance is not None:
            covariance = np.array(covariance, dtype=np.float64)
            if covariance.shape != (len(terms), len(terms)):
                raise ValueError("the covariance of a quantity has one row and column per term.")
        self._set(
            _terms=terms,
            coef=read_only(coef),
            coef_std=read_only(standard_errors(covariance, len(terms))),
            covariance=None if covariance is None else read_only(covariance),
            names=names,
            ratio=float(ratio),
        )

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms as text."""
        text = PlainText(self.names)
        return tuple(text.write(of_term(term)) for term in self._terms)

    @property
    def n_terms(self) -> int:
        """How many terms the quantity has."""
        return len(self._terms)

    @property
    def degree(self) -> int:
        """The largest degree of a term, in columns and functions."""
        return max(
            int(sum(term.exponents)) + sum(factor.power for factor in term.factors)
            for term in self._terms
        )

    # -- Values -----------------------------------------------------------------------------------

    def __call__(self, X) -> np.ndarray:
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

    def gradient(self, X) -> np.ndarray:
        """Evaluate the derivatives by all columns, shape (n_samples, n_columns)."""
        columns = self._read(X)
        evaluator = Evaluator(columns)
        with np.errstate(all="ignore"):
            rows = [
                self.coef @ evaluator.derivatives(self._terms, j) for j in range(len(self.names))
            ]
        return np.array(rows).T

    def _read(self, X) -> np.ndarray:
        used = {i for i in range(len(self.names)) if any(t.involves(i) for t in self._terms)}
        return read_columns(X, None, self.names, len(self.names), used)

    # -- Writing ----------------------------------------------------------------------------------

    @property
    def _expression(self) -> Node:
        std = np.nan_to_num(self.coef_std)
        return total(
            [
                of_term(t, Number(float(c), float(s)))
                for t, c, s in zip(self._terms, self.coef, std, strict=True)
            ]
        )

    def __str__(self) -> str:
        """Write the quantity with the digits that matter."""
        return self._written(self.names)

    def _written(self, names: Sequence[str]) -> str:
        return PlainText(names).write(self._expression)

    def __repr__(self) -> str:
        return f"ConservedQuantity({str(self)!r})"

    def write(self, style: str = "text") -> str:
        """Write the quantity.

        Parameters
        ----------
        style : {"text", "latex", "html", "mathml", "sympy", "python", "c", "sql"}, default="text"
            The first four write the digits that matter, the others all, for a program to read.
        """
        return writer(style, self.names).write(self._expression)

    def to_latex(self) -> str:
        """Write the quantity in LaTeX (without dollar signs)."""
        return self.write("latex")

    def _repr_latex_(self) -> str:
        return f"${self.to_latex()}$"

    def to_mathml(self) -> str:
        """Write the quantity in MathML, which browsers typeset; names of columns are text in it."""
        return self.write("mathml")

    def to_sympy(self):
        """Return the quantity as an expression of SymPy in symbols named as the columns."""
        return to_sympy(self.names, self._expression)[0]


# -- Saving ---------------------------------------------------------------------------------------


def write_quantity(writer, quantity: ConservedQuantity) -> dict:
    """Write a quantity as JSON values."""
    covariance = quantity.covariance
    return {
        "quantity": str(quantity),
        "names": list(quantity.names),
        "terms": [write_term(writer, term) for term in quantity._terms],
        "coef": quantity.coef.tolist(),
        "covariance": None if covariance is None else writer.array(covariance, "covariance"),
        "ratio": writer.float(quantity.ratio),
    }


def read_quantity(reader, node) -> ConservedQuantity:
    """Return a quantity that `write_quantity` has written."""
    names, terms, coef, covariance, ratio, _ = reader.fields(
        node, "a quantity", ("names", "terms", "coef", "covariance", "ratio"), ("quantity",)
    )
    names = reader.names(names, "names", None)
    terms = [read_term(reader, term, len(names)) for term in reader.listed(terms, "terms")]
    if covariance is not None:
        covariance = reader.array(covariance, "covariance", (len(terms), len(terms)))
    return ConservedQuantity(
        terms,
        reader.floats(coef, "coef", len(terms)),
        names=names,
        covariance=covariance,
        ratio=reader.measured(ratio, "ratio"),
    )


register_result(ConservedQuantity, write_quantity, read_quantity)
