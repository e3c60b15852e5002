"""What generators and standard monomials know of an ideal: division, membership, points.

Theorem 4.5 and Lemma 4.6 of the paper: with psi = 0 every polynomial is a combination of generators
plus one of the terms in O, of no larger degree. With psi > 0 the same division holds as an identity
of polynomials, and generators are small on the rows rather than zero.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vanishing._threads import one_blas_thread
from vanishing._types import FloatArray, IntArray
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
    to_float_polynomial,
)
from vanishing.algebra.generators import Generators
from vanishing.algebra.polynomials import Polynomial
from vanishing.checks import check_number
from vanishing.constructions.base import (
    MonomialTransformer,
    read_monomials,
    set_monomials,
    write_monomials,
)
from vanishing.constructions.degrees_of_freedom import (
    UNDETERMINED,
    Dimension,
    Shape,
    shape_of,
)
from vanishing.constructions.zeros import joint_eigenvalues, polished
from vanishing.estimators.fits import Remarks
from vanishing.persistence import register
from vanishing.rows.reader import RowReader

# What rounding leaves of a polynomial that is zero, relative to the size of its terms.
ROUNDING = 1e-8
CANCELLED = 1e-13  # of a coefficient, next to the largest of the polynomial that is divided
NO_SHAPE = Shape(UNDETERMINED, np.zeros(0, dtype=np.intp))


class Reduction(NamedTuple):
    """A polynomial f as ``remainder + sum(quotient * generator)``.

    Attributes
    ----------
    remainder : Polynomial
        A combination of the terms in O.
    quotients : list of Polynomial
        One for each generator.
    """

    remainder: Polynomial
    quotients: list[Polynomial]


class IdealTransformer(MonomialTransformer):
    """Base of the constructions whose generators are a basis of an ideal, O their standard terms.

    A subclass says which construction it runs in ``_construction(rows, columns)``.
    """

    _construction: Callable
    generators_: Generators
    complete_: bool
    max_abs_: FloatArray | None
    # How many rows there were, and some of them: for `_shape`, and never saved.
    _seen: tuple[float, FloatArray | None] = (np.inf, None)

    def _construct(self, rows: RowReader) -> Remarks:
        with one_blas_thread():
            columns = self._ordered_columns(rows)
            construction = self._construction(rows, columns)
            construction.run()
            set_monomials(self, **construction.result())
        self.feature_order_ = columns
        if construction.n_iter is not None:
            self.n_iter_ = max(1, construction.n_iter)
        # Modulo known equations, or without excluded terms, generators are no basis by themselves.
        self.complete_ = construction.complete and construction.barred is None
        self.max_abs_ = construction.measured.max_abs
        self._seen = rows.n_samples, rows.sample()
        vars(self).pop("_shape", None)
        if construction.barred is not None:
            self._shape = NO_SHAPE
        return construction.remarks()

    def keep(self, chosen: IntArray, *, same_variety: bool = False) -> None:
        """Keep some of the generators, and forget the others: what is left is no basis."""
        shape = NO_SHAPE
        if same_variety:
            dimension, places = self._shape
            shape = Shape(dimension, np.flatnonzero(np.isin(chosen, places)))
        super().keep(chosen)
        self._shape, self.complete_ = shape, False

    def __getstate__(self):
        """Return what is pickled: the shape of the variety in place of the rows it is seen on."""
        state = dict(super().__getstate__())
        if state.pop("_seen", None) is not None:
            state["_shape"] = self._shape
        return state

    def __repr__(self, N_CHAR_MAX=700):
        text = super().__repr__(N_CHAR_MAX)
        if self.psi == 0 and not getattr(self, "complete_", True):
            text += "  # not complete: terms are left in its border"
        return text

    def reduce(self, f: Polynomial | str) -> Reduction:
        """Divide a polynomial by the generators: Theorem 4.5 and Lemma 4.6 of the paper.

        Parameters
        ----------
        f : Polynomial or str
            In the columns of the training rows: as a polynomial, or as text that
            `vanishing.polynomials.parse_polynomial` reads.

        Returns
        -------
        reduction : Reduction
            The tuple (remainder, quotients): ``f = remainder + sum(quotient * generator)``, the
            remainder in the span of O, and no summand of larger degree than f. With ``psi=0`` the
            remainder is zero if and only if f vanishes on the rows, up to rounding.

        Raises
        ------
        ValueError
            If the construction is not complete (`complete_`), and f has terms beyond its degree.

        Examples
        --------
        >>> import numpy as np
        >>> from vanishing import OAVI
        >>> angle = np.linspace(0, 6, 50)
        >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
        >>> model = OAVI(psi=1e-6, oracle="ls", max_degree=3).fit(X)
        >>> remainder, quotients = model.reduce("x0*x1^2 + x1")
        >>> print(remainder, "and", quotients[0])
        -x0^3 + x1 + x0 and x0
        """
        check_is_fitted(self, "generators_")
        names = self.generators_.feature_names
        dividend = coefficients_of(to_float_polynomial(f, names))
        remainder, quotients = divided(dividend, self._divisors(), self.feature_order_)
        # Terms that cancel leave their rounding.
        least = CANCELLED * max(map(abs, dividend.values()))
        remainder = {term: value for term, value in remainder.items() if abs(value) > least}
        refuse_beyond(remainder, self.terms_, names)
        return Reduction(self._polynomial(remainder), [self._polynomial(q) for q in quotients])

    def contains(self, f: Polynomial | str, tol: float | None = None) -> bool:
        """Say whether a polynomial belongs to the ideal, as far as its division tells.

        Parameters
        ----------
        f : Polynomial or str
            As in `reduce`.
        tol : float, default=None
            What the mean square of f on the training rows has to be at most, for sure. By default
            psi, and with ``psi=0`` what rounding can leave of f.

        Returns
        -------
        contained : bool
            Whether `mean_square_bound` of f is at most ``tol``. False does not mean that the mean
            square exceeds it: the bound adds up what the summands can be at most.

        Examples
        --------
        >>> import numpy as np
        >>> from vanishing import OAVI
        >>> angle = np.linspace(0, 6, 50)
        >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
        >>> model = OAVI(psi=1e-6, oracle="ls", max_degree=2).fit(X)
        >>> model.contains("x0*(x0^2 + x1^2 - 1)"), model.contains("x0 + x1 - 1")
        (True, False)
        """
        check_is_fitted(self, "generators_")
        if tol is None:
            size = self._largest(to_float_polynomial(f, self.generators_.feature_names))
            tol = self.psi if self.psi > 0.0 else (ROUNDING * size) ** 2
        else:
            check_number("tol", tol, low=0)
        return self.mean_square_bound(f) <= tol

    def mean_square_bound(self, f: Polynomial | str) -> float:
        """Bound the mean square of a polynomial on the training rows.

        With f = r + sum q g the root of the mean square is at most the largest possible |r| plus
        the sum over the generators of the largest possible |q| times the root of g's mean square.
        Values of r and q are bounded by their coefficients and the largest absolute values of the
        columns, `max_abs_`.

        Parameters
        ----------
        f : Polynomial or str
            As in `reduce`.

        Returns
        -------
        bound : float
        """
        remainder, quotients = self.reduce(f)
        largest = [self._largest(quotient) for quotient in quotients]
        root = self._largest(remainder) + np.dot(largest, np.sqrt(self.mse_))
        return float(root**2)

    def multiplication_matrices(self) -> FloatArray:
        """Return what multiplication by each column does to the terms in O, modulo the ideal.

        Returns
        -------
        matrices : ndarray of shape (n_features_in_, n_terms_, n_terms_)
            Column j of matrix i has the coefficients of ``x_i * terms_[j]``, reduced, on `terms_`.

        Raises
        ------
        ValueError
            If the construction is not complete: products of terms in O lie beyond its degree.
        """
        check_is_fitted(self, "generators_")
        require_complete(self.complete_)
        return multiplication_table(self.terms_, self._divisors(), self.feature_order_, float)

    def points(self) -> FloatArray:
        """Return the points that the ideal is zero at: joint eigenvalues of the multiplications.

        Returns
        -------
        points : ndarray of shape (n_terms_, n_features_in_)
            In no particular order. For generators of ``psi=0`` these are the distinct training
            rows.

        Raises
        ------
        ValueError
            If ``psi`` is not 0, if the construction is not complete, or if the ideal has repeated
            or complex zeros.

        Examples
        --------
        >>> from vanishing import OAVI
        >>> model = OAVI(psi=0).fit([[0.0, 1.0], [0.5, 0.0], [1.0, 1.0]])
        >>> points = model.points()
        >>> points[points[:, 0].argsort()].round(6)
        array([[0. , 1. ],
               [0.5, 0. ],
               [1. , 1. ]])
        """
        check_is_fitted(self, "generators_")
        if self.psi != 0:
            raise ValueError(
                f"points are those of an exact ideal, and psi is {self.psi}: fit with psi=0, or "
                "take BuchbergerMoller for rational coordinates."
            )
        generators = list(self.generators_)
        return polished(
            joint_eigenvalues(self.multiplication_matrices()),
            self.generators_.evaluate,
            lambda X: np.stack([g.gradient(X) for g in generators], axis=1),
        )

    def dimension(self) -> Dimension:
        """Count the degrees of freedom of the rows: the dimension of the fitted variety.

        Only generators count that are equations of the rows: they have at least twice as many rows
        as terms, and their zeros are much nearer to the rows than those of any polynomial of their
        degree are. Their leading terms give dimension and degree, from the growth of the number of
        terms that they leave; the rank of their gradients on a sample of the rows has to agree.

        Returns
        -------
        dimension : Dimension
            The tuple (dimension, degree, certain). Both are None where they are not determined:
            where noise is too large, or the two ways disagree. Without equations the dimension is
            the number of columns. ``certain`` is False where equations are in doubt. Rows that are
            not in memory, blocks, Dask collections and device arrays, stay where they are: no
            sample of them is taken, and nothing is determined.

        Examples
        --------
        >>> import numpy as np
        >>> from vanishing import OAVI
        >>> angle = np.linspace(0, 6, 50)
        >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
        >>> OAVI(psi=1e-6, max_degree=4).fit(X).dimension()
        Dimension(dimension=1, degree=2, certain=True)
        """
        check_is_fitted(self, "generators_")
        return self._shape.dimension

    @cached_property
    def _shape(self) -> Shape:
        """The shape of the fitted variety, which a model that was loaded has from its file."""
        sizes = self.generators_.sizes
        assert sizes is not None  # as `set_monomials` gives them
        return shape_of(self.generators_, self.psi, sizes, *self._seen)

    def _variety_equations(self) -> tuple[list[Polynomial], int]:
        (dimension, _, _), places = self._shape
        equations = [self.generators_[i] for i in places] or list(self.generators_)
        return equations, 1 if dimension is None else max(1, self.n_features_in_ - dimension)

    # -- Small things -----------------------------------------------------------------------------

    def _divisors(self) -> list[Divisor]:
        return [divisor_of(g) for g in self.generators_]

    def _polynomial(self, coefficients: Coefficients) -> Polynomial:
        terms, coef = sorted_terms(coefficients, self.n_features_in_)
        return Polynomial(terms, coef, feature_names=self.generators_.feature_names)

    def _largest(self, f: Polynomial) -> float:
        """Bound |f| on the training rows by the largest absolute values of the columns."""
        if self.max_abs_ is None:
            raise ValueError(
                "the size of values on the rows is not known: the model has no generators, was "
                "fitted to moments, or comes from a file of an earlier version."
            )
        return float(np.abs(f.coef) @ (self.max_abs_**f.terms).prod(axis=1))


# -- What is saved --------------------------------------------------------------------------------


def savable(cls: type[IdealTransformer]) -> type[IdealTransformer]:
    """Let the estimators of a class be saved, and loaded by its name."""
    register(cls, _write, _read)
    return cls


def _write(writer, model: IdealTransformer) -> dict:
    """Return the fitted part as JSON values: what is known of the rows, but no rows."""
    node = {**write_monomials(writer, model), "complete": bool(model.complete_)}
    if model.max_abs_ is not None:
        node["variety"] = {
            "max_abs": model.max_abs_.tolist(),
            **model._shape.dimension._asdict(),
            "equations": model._shape.equations.tolist(),
        }
    return node


def _read(reader, node, model: IdealTransformer) -> None:
    """Set the fitted part; files of earlier versions have generators alone."""
    complete, variety = read_monomials(reader, node, model, optional=("complete", "variety"))
    model.complete_ = complete is not None and reader.flag(complete, "complete")
    model.max_abs_, shape = None, NO_SHAPE
    if variety is not None:
        keys = ("max_abs", "dimension", "degree", "certain", "equations")
        max_abs, dimension, degree, certain, equations = reader.fields(variety, "variety", keys)
        model.max_abs_ = reader.floats(max_abs, "max_abs", model.n_features_in_)
        size, count = (
            None if value is None else reader.integer(value, "a dimension or degree")
            for value in (dimension, degree)
        )
        places = reader.integers(equations, "equations", 0, model.n_generators_ - 1)
        shape = Shape(Dimension(size, count, reader.flag(certain, "certain")), places)
    model._shape = shape
