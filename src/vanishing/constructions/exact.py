"""Exact points: the Buchberger-Moeller algorithm over the rationals."""

import math
import re
from fractions import Fraction
from typing import Literal, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vanishing._types import FloatArray, IntArray, ObjectArray
from vanishing.algebra import monomials
from vanishing.algebra.division import (
    Coefficients,
    Divisor,
    coefficients_of,
    divided,
    divisor_of,
    multiplication_table,
    refuse_beyond,
    require_complete,
    sorted_terms,
    to_exact_polynomial,
)
from vanishing.algebra.exact import ExactPolynomial, to_fractions
from vanishing.algebra.polynomials import Polynomial, default_names
from vanishing.checks import check_choice, check_number
from vanishing.constructions.zeros import joint_eigenvalues, polished
from vanishing.estimators.bases import BaseEstimator
from vanishing.estimators.notebook import HTMLRepresentation
from vanishing.estimators.saving import Savable
from vanishing.persistence import register
from vanishing.rows.intake import refuse

_INTEGER = r"-?(?:[0-9]{1,640}|0x[0-9a-f]+)"
_FRACTION = re.compile(f"({_INTEGER})(?:/({_INTEGER}))?")


class ExactReduction(NamedTuple):
    """A polynomial f as ``remainder + sum(quotient * generator)``, one quotient per generator."""

    remainder: ExactPolynomial
    quotients: list[ExactPolynomial]


class BuchbergerMoller(Savable, HTMLRepresentation, BaseEstimator):
    """Exact generators of the vanishing ideal of points with rational coordinates.

    All polynomials that are zero at the points are combinations of the generators: the reduced
    Groebner basis in DegLex order with x0 < x1 < ..., or the border basis. There is no tolerance
    and no rounding. For noisy points take `OAVI`.

    Coefficients get long, a thousand digits for 200 points: in three variables these take seconds
    with python-flint, which is used where it is installed, and minutes without it. In the folder of
    vanishing, ``python -m pip install ".[symbolic]"`` installs it.

    Parameters
    ----------
    border : {"gb", "bb"}, default="gb"
        Reduced Groebner basis or border basis.
    max_degree : int or None, default=None
        Largest degree of a generator; None means all generators.

    Attributes
    ----------
    terms_ : ndarray of int of shape (n_terms_, n_features_in_)
        Exponents of the standard monomials O, in DegLex order; as many as there are distinct
        points, unless ``max_degree`` is too small for that.
    leading_terms_ : ndarray of int of shape (n_generators_, n_features_in_)
        Exponents of the leading terms, in DegLex order.
    coef_ : ndarray of `fractions.Fraction` of shape (n_generators_, n_terms_)
        Non-leading coefficients on ``terms_``. Leading coefficients are one.
    generators_ : list of n_generators_ ExactPolynomial
        The generators.
    n_generators_, n_terms_ : int
        Numbers of generators and of standard monomials.
    degree_ : int
        Largest degree of a generator, 0 if there is none.
    complete_ : bool
        Whether these are all generators: no term was left in the border.
    n_features_in_ : int
        Number of coordinates.

    See Also
    --------
    OAVI : Approximate generators, of noisy points.

    References
    ----------
    H. M. Moeller, B. Buchberger, "The construction of multivariate polynomials with preassigned
    zeros".

    Examples
    --------
    >>> from vanishing import BuchbergerMoller
    >>> model = BuchbergerMoller().fit([["0.1", "0.01"], ["0.2", "0.04"], ["0.3", "0.09"]])
    >>> for generator in model.generators_:
    ...     print(generator)
    x0^2 - x1
    x0*x1 - 3/5*x1 + 11/100*x0 - 3/500
    x1^2 - 1/4*x1 + 3/50*x0 - 9/2500
    """

    terms_: IntArray
    leading_terms_: IntArray
    coef_: ObjectArray
    generators_: list[ExactPolynomial]
    n_generators_: int
    n_terms_: int
    degree_: int
    complete_: bool
    n_features_in_: int

    def __init__(self, *, border: Literal["gb", "bb"] = "gb", max_degree: int | None = None):
        self.border = border
        self.max_degree = max_degree

    def fit(self, points: object) -> Self:
        """Construct the generators of the vanishing ideal of the points.

        Parameters
        ----------
        points : array-like of shape (n_points, n_features)
            Coordinates as integers, `fractions.Fraction`, `decimal.Decimal` or strings such as
            "0.1" and "1/3". Floats are refused, except integers such as 14.0. Duplicate points
            count once.

        Returns
        -------
        self : BuchbergerMoller
        """
        self.check_parameters()
        refuse(self, points)
        points = list(dict.fromkeys(to_fractions(points)))

        # Points as integers over a common denominator. In degree d the row of a point is multiplied
        # by the d-th power of its denominator, which makes it integer and changes no relation
        # between the columns.
        denominator = [math.lcm(*(x.denominator for x in point)) for point in points]
        X = [[int(x * d) for x in point] for point, d in zip(points, denominator, strict=True)]
        X = np.array(X, dtype=object)
        denominator = np.array(denominator, dtype=object)[:, np.newaxis]

        terms = np.zeros((1, X.shape[1]), dtype=monomials.EXPONENT)
        values = np.ones((len(points), 1), dtype=object)
        leading_terms, coefs = [terms[:0]], []
        degree = below = 0  # terms[below:] are those of the current degree
        while below < len(terms) and degree != self.max_degree:
            degree += 1
            border = monomials.border(terms[below:], self.border)
            border_values = values[:, below:][:, border.parent] * X[:, border.variable]
            below = len(terms)
            terms = np.vstack([terms, border.terms])
            values = np.hstack([denominator * values, border_values])
            pivots, others, coef = _relations(values)
            leading_terms.append(terms[others])
            coefs += coef
            terms, values = terms[pivots], values[:, pivots]
        set_generators(self, terms, np.concatenate(leading_terms), coefs)
        self.complete_ = not monomials.has_border(terms[below:], self.border)
        return self

    def reduce(self, f: ExactPolynomial | str) -> ExactReduction:
        """Divide a polynomial by the generators.

        Parameters
        ----------
        f : ExactPolynomial or str
            In the variables x0, x1, ...; of numbers in a text, and of floats, the simplest fraction
            that is the same float counts.

        Returns
        -------
        reduction : ExactReduction
            The tuple (remainder, quotients): ``f = remainder + sum(quotient * generator)``. The
            remainder is a combination of ``terms_``, and zero if and only if f is zero at all
            points.

        Examples
        --------
        >>> from vanishing import BuchbergerMoller
        >>> model = BuchbergerMoller().fit([["0.1", "0.01"], ["0.2", "0.04"], ["0.3", "0.09"]])
        >>> print(model.reduce("x0^3").remainder)
        3/5*x1 - 11/100*x0 + 3/500
        """
        check_is_fitted(self, "generators_")
        names = default_names(self.n_features_in_)
        dividend = coefficients_of(to_exact_polynomial(f, names))
        order = np.arange(self.n_features_in_)
        remainder, quotients = divided(dividend, self._divisors(), order)
        refuse_beyond(remainder, self.terms_, names)
        return ExactReduction(self._polynomial(remainder), [*map(self._polynomial, quotients)])

    def contains(self, f: ExactPolynomial | str) -> bool:
        """Say whether a polynomial belongs to the ideal: whether it is zero at all points.

        Parameters
        ----------
        f : ExactPolynomial or str
            As in `reduce`.

        Returns
        -------
        contained : bool

        Examples
        --------
        >>> from vanishing import BuchbergerMoller
        >>> model = BuchbergerMoller().fit([[1, 2], [3, 4]])
        >>> model.contains("x1 - x0 - 1"), model.contains("x0 - 1")
        (True, False)
        """
        return not any(self.reduce(f).remainder.coef)

    def multiplication_matrices(self) -> ObjectArray:
        """Return what multiplication by each variable does to ``terms_``, modulo the ideal.

        Returns
        -------
        matrices : ndarray of Fraction of shape (n_features_in_, n_terms_, n_terms_)
            Column j of matrix i has the coefficients of ``x_i * terms_[j]``, reduced.
        """
        check_is_fitted(self, "generators_")
        require_complete(self.complete_)
        order = np.arange(self.n_features_in_)
        return multiplication_table(self.terms_, self._divisors(), order, Fraction)

    def points(self) -> FloatArray:
        """Return the points back from their ideal: joint eigenvalues of the multiplications.

        Returns
        -------
        points : ndarray of shape (n_terms_, n_features_in_)
            As floats, in no particular order.

        Examples
        --------
        >>> from vanishing import BuchbergerMoller
        >>> points = BuchbergerMoller().fit([[1, 2], [3, 4], [5, 0]]).points()
        >>> points[points[:, 0].argsort()].round(6)
        array([[1., 2.],
               [3., 4.],
               [5., 0.]])
        """
        matrices = self.multiplication_matrices().astype(np.float64)
        generators = self.generators_
        floats = [Polynomial(g.terms, g.coef.astype(np.float64)) for g in generators]

        def values(X: FloatArray) -> FloatArray:
            # Exact: the points are known only as well as the values of the generators.
            points = [[Fraction(x) for x in row] for row in X.tolist()]
            return np.array([[float(g(point)) for g in generators] for point in points])

        return polished(
            joint_eigenvalues(matrices),
            values,
            lambda X: np.stack([g.gradient(X) for g in floats], axis=1),
        )

    def _divisors(self) -> list[Divisor]:
        return [divisor_of(g) for g in self.generators_]

    def _polynomial(self, coefficients: Coefficients) -> ExactPolynomial:
        return ExactPolynomial(*sorted_terms(coefficients, self.n_features_in_))

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        check_choice("border", self.border, ("gb", "bb"))
        if self.max_degree is not None:
            check_number("max_degree", self.max_degree, low=1, integer=True)


def set_generators(model, terms, leading_terms, coefs) -> None:
    """Set the fitted attributes."""
    model.terms_ = terms.astype(np.int64)
    model.leading_terms_ = leading_terms.astype(np.int64)
    model.coef_ = np.full((len(coefs), len(terms)), Fraction(0), dtype=object)
    model.generators_ = []
    for row, leading_term, coef in zip(model.coef_, model.leading_terms_, coefs, strict=True):
        row[: len(coef)] = coef
        used = np.flatnonzero(row)
        model.generators_.append(
            ExactPolynomial(np.vstack([model.terms_[used], leading_term]), [*row[used], 1])
        )
    model.n_features_in_ = terms.shape[1]
    model.n_generators_ = len(coefs)
    model.n_terms_ = len(terms)
    model.degree_ = int(model.leading_terms_.sum(axis=1).max(initial=0))


def _relations(values: np.ndarray) -> tuple[list[int], list[int], list[list[Fraction]]]:
    """Write columns of an integer matrix as combinations of independent columns before them.

    Returns
    -------
    pivots : list of int
        The columns that are no combination of columns before them.
    others : list of int
        The columns that are.
    coef : list of one list of Fraction for each of ``others``
        ``values[:, j] + values[:, pivots] @ coef = 0``.
    """
    try:
        from flint import fmpz_mat
    except ImportError:
        echelon, denominator, rank = _reduced_echelon(values)
    else:
        # FLINT's matrix and integer have what is asked of them below.
        echelon, denominator, rank = fmpz_mat(values.tolist()).rref()  # type: ignore[assignment]
    echelon = np.array(echelon.tolist(), dtype=object)[:rank]
    pivots = (echelon != 0).argmax(axis=1).tolist()
    others = sorted(set(range(values.shape[1])) - set(pivots))
    minus = -int(denominator)
    coef = [[Fraction(int(value), minus) for value in echelon[:, j]] for j in others]
    return pivots, others, coef


def _reduced_echelon(matrix: np.ndarray) -> tuple[np.ndarray, int, int]:
    """Return the reduced row echelon form times its denominator, the denominator, and the rank.

    Bareiss: every entry on the way is a minor of the matrix, so that all divisions are exact.
    """
    matrix = matrix.copy()
    n_columns = matrix.shape[1]
    pivots: list[int] = []
    denominator = 1
    for j in range(n_columns):
        rank = len(pivots)
        nonzero = np.flatnonzero(matrix[rank:, j])
        if not nonzero.size:
            continue
        matrix[[rank, rank + nonzero[0]]] = matrix[[rank + nonzero[0], rank]]
        pivot, rest = matrix[rank, j], matrix[rank + 1 :, j + 1 :]
        rest *= pivot
        rest -= np.outer(matrix[rank + 1 :, j], matrix[rank, j + 1 :])
        rest //= denominator
        denominator = pivot
        pivots.append(j)
    others = np.setdiff1d(np.arange(n_columns), pivots)
    echelon = np.zeros((len(pivots), n_columns), dtype=object)
    for i, j in reversed(list(enumerate(pivots))):
        after = others[others > j]
        rest = matrix[i, pivots[i + 1 :]] @ echelon[i + 1 :, after]
        echelon[i, after] = (denominator * matrix[i, after] - rest) // matrix[i, j]
        echelon[i, j] = denominator
    return echelon, denominator, len(pivots)


# -- What is saved --------------------------------------------------------------------------------


def _write(writer, model) -> dict:
    leading_terms = writer.terms(model.leading_terms_)
    terms = writer.terms(model.terms_)
    node = {**writer.input(model), "terms": terms, "complete": model.complete_, "generators": []}
    for i, generator in enumerate(model.generators_):
        used = np.flatnonzero(model.coef_[i])
        coef = [_write_fraction(value) for value in model.coef_[i, used]]
        equation = {}
        if sum(map(len, coef)) < 1000:
            equation = {"equation": f"{generator} = 0"}
        parts = {"leading_term": leading_terms[i], "terms": used.tolist(), "coef": coef}
        node["generators"].append({**equation, **parts})
    return node


def _read(reader, node, model):
    terms, generators, complete = reader.fitted(model, node, ("terms", "generators"), ("complete",))
    model.complete_ = complete is not None and reader.flag(complete, "complete")
    n_features = model.n_features_in_
    terms = reader.terms(terms, "terms", n_features)
    keys = ("leading_term", "terms", "coef")
    generators = reader.listed(generators, "generators")
    rows = [reader.fields(row, "a generator", keys, ("equation",)) for row in generators]
    leading_terms = reader.terms([row[0] for row in rows], "leading terms", n_features)
    reader.allocate(16 * len(rows) * len(terms))
    coefs = []
    for _, used, values, equation in rows:
        reader.string(equation or "", "an equation")
        used = reader.integers(used, "the terms of a generator", 0, len(terms) - 1)
        coef = [Fraction(0)] * len(terms)
        values = reader.listed(values, "the coefficients of a generator", len(used))
        for i, value in zip(used, values, strict=True):
            coef[i] = _read_fraction(reader, value)
        coefs.append(coef)
    set_generators(model, terms, leading_terms, coefs)


def _write_fraction(value) -> str:
    def write(integer):
        # Python limits decimal digits.
        return str(integer) if integer.bit_length() < 2000 else hex(integer)

    parts = (value.numerator, value.denominator)
    return "/".join(write(part) for part in parts[: 1 if value.denominator == 1 else 2])


def _read_fraction(reader, node) -> Fraction:
    match = _FRACTION.fullmatch(reader.string(node, "a coefficient"))
    reader.require(match, "a coefficient is not a fraction.")
    parts = ("0", "1") if match is None else (match[1], match[2] or "1")
    numerator, denominator = (int(part, 16 if "x" in part else 10) for part in parts)
    reader.require(denominator > 0, "a coefficient has a denominator that is not positive.")
    return Fraction(numerator, denominator)


register(BuchbergerMoller, _write, _read)
