"""What all constructions of generators share: input, output, names, and what is saved."""

from collections.abc import Iterable
from typing import Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from vanishing._threads import check_jobs, threads
from vanishing._types import Array, FloatArray, IntArray, Names, ObjectArray, Table, Vector
from vanishing.algebra.generators import Generators, PolynomialSequence, sizes_before
from vanishing.algebra.polynomials import Polynomial
from vanishing.checks import check_choice, check_flag, check_number
from vanishing.constructions.nearest import nearest_points
from vanishing.constructions.redundancy import constructed
from vanishing.constructions.small_columns import warn_of_small_columns
from vanishing.estimators.bases import BaseEstimator, TransformerMixin
from vanishing.estimators.fits import Remarks, all_or_nothing
from vanishing.estimators.names import adopt_columns, input_names
from vanishing.estimators.notebook import HTMLRepresentation
from vanishing.estimators.row_methods import RowTransformer, row_by_row
from vanishing.estimators.saving import Savable
from vanishing.rows.intake import take_rows, take_rows_in_memory
from vanishing.rows.reader import RowReader, reader_of
from vanishing.rows.remembered import remembering
from vanishing.rows.values import generator_values

EQUATION = 20  # terms of a polynomial that its equation in a model file shows


def sparsity(n_nonzero: int, n_coefficients: int) -> float:
    """Return SPAR, the share of zeros among the non-leading coefficients; 0 if there are none."""
    return 1.0 - n_nonzero / n_coefficients if n_coefficients else 0.0


class GeneratorTransformer(
    Savable, HTMLRepresentation, RowTransformer, TransformerMixin, BaseEstimator
):
    """Base of the transformers that construct generators.

    A subclass says in ``_construct(rows)`` how.
    """

    psi: float
    max_degree: int
    max_terms: int | None
    absolute: bool
    chunk_size: int | None
    n_jobs: int | None
    generators_: PolynomialSequence
    mse_: FloatArray
    n_generators_: int
    n_terms_: int
    degree_: int
    sparsity_: float
    n_coefficients_: int
    n_features_in_: int
    feature_names_in_: ObjectArray

    @property
    def names_columns(self) -> bool:
        """Whether some of the parameters name columns."""
        return False

    def _psi_below(self) -> float:
        """Return what psi has to be smaller than."""
        return 1.0

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        check_number("psi", self.psi, low=0, high=self._psi_below(), high_open=True)
        check_number("max_degree", self.max_degree, low=1, integer=True)
        for name in ("max_terms", "chunk_size"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), low=1, integer=True)
        check_flag("absolute", self.absolute)
        check_flag("remove_redundant", getattr(self, "remove_redundant", False))
        check_jobs(self.n_jobs)

    def fit(self, X: Table, y: object = None, sample_weight: Vector | None = None) -> Self:
        """Construct the generators of the approximate vanishing ideal of the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows
            Rows; best scaled into [0, 1] or [-1, 1]. Also `Blocks` and what they are made of, Dask
            arrays and DataFrames, PyTorch and CuPy arrays: these are read where they are.
        y : Ignored
            For scikit-learn's pipelines.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows: all means become weighted means.

        Returns
        -------
        self : object
        """
        self.check_parameters()
        with all_or_nothing(self), threads(self.n_jobs):
            rows = take_rows(self, X, sample_weight=sample_weight, keep_all=True)
            remarks = constructed(self, reader_of(rows, self.chunk_size))
            remarks.warn()
            if remarks.small and not remarks.problems:  # one warning is enough
                warn_of_small_columns(self.psi, remarks.small, input_names(self))
            return self

    def path(
        self, X: Table, psis: Iterable[float], sample_weight: Vector | None = None
    ) -> list[Self]:
        """Construct the generators for each of several psi, reading the rows once for all of them.

        What psi have in common, the moments, is computed once. Each model is the one that `fit`
        gives with that psi.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows
            As `fit` takes it.
        psis : sequence of float
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        models : list of estimators
            One for each psi, in their order, fitted; this one stays as it is.

        Examples
        --------
        >>> import numpy as np
        >>> from vanishing import OAVI
        >>> X = np.random.default_rng(0).uniform(size=(100, 2))
        >>> [model.n_terms_ for model in OAVI().path(X, [0.1, 0.01, 0.001])]
        [1, 3, 6]
        """
        models = [clone(self).set_params(psi=psi) for psi in psis]
        for model in models:
            model.check_parameters()
        like = clone(self)
        with threads(self.n_jobs):
            rows = take_rows(like, X, sample_weight=sample_weight, keep_all=True)
            reader = remembering(reader_of(rows, self.chunk_size))
            # The smallest psi asks for nearly all the moments that the others need.
            for model in sorted(models, key=lambda model: model.psi):
                adopt_columns(model, like)
                construct(model, reader).warn()
        return models

    def _construct(self, rows: RowReader) -> Remarks:
        """Construct the generators of rows; return the warnings to issue when `fit` returns."""
        raise NotImplementedError

    def keep(self, chosen: IntArray, *, same_variety: bool = False) -> None:
        """Keep some of the generators, and forget the others.

        Parameters
        ----------
        chosen : ndarray of int
            Their places.
        same_variety : bool
            Whether the others say nothing more of where the rows lie.
        """
        raise NotImplementedError

    @row_by_row(n_columns=lambda self: self.n_generators_, on_device=lambda self, X: True)
    def transform(self, X: Array) -> FloatArray:
        """Evaluate the generators.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows
            Rows with the columns seen in `fit`.

        Returns
        -------
        X_out : ndarray of shape (n_samples, n_generators_)
            ``|g(x)|`` for each generator, or ``g(x)`` with ``absolute=False``: an array of X's
            library on X's device, and lazily, block by block, for Dask collections and blocks.
        """
        return generator_values([(self.generators_, self.absolute, self.chunk_size)], X)

    def project(
        self, X: Table, *, noise: float | Vector = 1.0, first_order: bool = False
    ) -> FloatArray:
        """Return the nearest point of the fitted variety to each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in memory, with the columns seen in `fit`.
        noise : float or array-like of shape (n_features,), default=1.0
            Standard deviations of the columns' errors, up to a common factor: distances are
            measured in these units, so that columns that are known well move little.
        first_order : bool, default=False
            Whether to take one step only, to the zeros of the linearised equations, which is nearly
            as good near the variety and faster.

        Returns
        -------
        points : ndarray of shape (n_samples, n_features)
            NaN in rows that have no point of the variety near them; a warning names these.

        Examples
        --------
        >>> import numpy as np
        >>> from vanishing import OAVI
        >>> angle = np.linspace(0, 6, 50)
        >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
        >>> model = OAVI(psi=1e-6, oracle="ls", max_degree=2).fit(X)
        >>> model.project([[3.0, 4.0]]).round(6)
        array([[0.6, 0.8]])
        """
        check_is_fitted(self, "generators_")
        check_flag("first_order", first_order)
        rows = take_rows_in_memory(self, X, method="project", reset=False).X
        per_column = np.broadcast_to(np.asarray(noise, dtype=np.float64), rows.shape[1:])
        if not (np.isfinite(per_column).all() and (per_column > 0.0).all()):
            raise ValueError("noise must be positive: one number, or one for each column.")
        equations, codimension = self._variety_equations()
        return nearest_points(
            equations, rows, per_column, codimension=codimension, first_order=first_order
        )

    def _variety_equations(self) -> tuple[list[Polynomial], int]:
        """Return the generators whose common zeros are the fitted variety, and its codimension.

        That is at least 1: how many of them are independent.
        """
        return list(self.generators_), 1

    def get_feature_names_out(self, input_features: Names | None = None) -> ObjectArray:
        """Return a name for each output: the polynomial, shortened where it is long.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the input's columns; must agree with those seen in `fit`, if any.

        Returns
        -------
        names : ndarray of object of shape (n_generators_,)
        """
        check_is_fitted(self, "generators_")
        generators = self.generators_.renamed(input_names(self, input_features))
        bar = "|" if self.absolute else ""
        # The leading term comes first and tells generators apart, however short the rest is cut.
        return np.array([f"{bar}{g.shortened(4)}{bar}" for g in generators], dtype=object)

    @property
    def _n_features_out(self):
        return self.n_generators_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def construct(estimator: GeneratorTransformer, rows: RowReader) -> Remarks:
    """Fit an estimator to rows that have been validated, wherever they are.

    For estimators that are made of others: parameters and the names of columns have been checked,
    and no warning is given.

    Parameters
    ----------
    estimator : GeneratorTransformer
    rows : RowReader

    Returns
    -------
    remarks : Remarks
        Warnings to issue when the whole is fitted.
    """
    estimator.n_features_in_ = rows.n_features
    with threads(estimator.n_jobs):
        return constructed(estimator, rows)


class MonomialTransformer(GeneratorTransformer):
    """Base of the transformers whose generators are combinations of monomials."""

    border: str
    feature_order: str
    n_iter_: int
    terms_: IntArray
    leading_terms_: IntArray
    coef_: FloatArray
    leading_coef_: FloatArray
    generators_: Generators
    feature_order_: IntArray

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        super().check_parameters()
        check_choice("border", self.border, ("gb", "bb"))
        check_choice("feature_order", self.feature_order, ("given", "pearson", "rev_pearson"))

    def keep(self, chosen: IntArray, *, same_variety: bool = False) -> None:
        """Keep some of the generators, and forget the others; O stays as it is."""
        sizes = self.generators_.sizes
        assert sizes is not None  # as `set_monomials` gives them
        set_monomials(
            self,
            terms=self.terms_,
            leading_terms=self.leading_terms_[chosen],
            coef=self.coef_[chosen],
            leading_coef=self.leading_coef_[chosen],
            sizes=sizes[chosen],
            mse=self.mse_[chosen],
        )

    def _ordered_columns(self, rows):
        """Return the columns in their order; that by correlations is of Wirth, Kera and Pokutta.

        References: "Approximate Vanishing Ideal Computations at Scale", ICLR 2023.
        """
        if self.feature_order == "given":
            return np.arange(self.n_features_in_)
        total = np.abs(rows.correlations()).sum(axis=0).round(12)  # ties: the order given
        return np.argsort(-total if self.feature_order == "rev_pearson" else total, kind="stable")


def set_monomials(model, *, terms, leading_terms, coef, leading_coef, sizes, mse) -> None:
    """Set what all models of monomials have; ``sizes`` is |O| when each generator was found."""
    model.terms_ = terms
    model.leading_terms_ = leading_terms
    model.coef_ = coef
    model.leading_coef_ = leading_coef
    model.mse_ = mse
    model.n_coefficients_ = int(sizes.sum())
    model.sparsity_ = sparsity(int(np.count_nonzero(coef)), model.n_coefficients_)
    model.n_generators_ = len(leading_terms)
    model.n_terms_ = len(terms)
    model.generators_ = Generators(
        terms, leading_terms, coef, leading_coef, mse, input_names(model), sizes
    )
    model.degree_ = model.generators_.degree


# -- What is saved --------------------------------------------------------------------------------


def write_monomials(writer, model) -> dict:
    """Return the fitted part of a transformer on monomials as JSON values."""
    generators = model.generators_
    node = {
        **writer.input(model),
        "feature_names": list(generators.feature_names),
        "feature_order": model.feature_order_.tolist(),
        "n_coefficients": int(model.n_coefficients_),
    }
    if hasattr(model, "n_iter_"):
        node["n_iter"] = int(model.n_iter_)
    node["terms"] = writer.terms(model.terms_)
    leading_terms = writer.terms(model.leading_terms_)
    node["generators"] = []
    for i, generator in enumerate(generators):
        row = model.coef_[i]
        used = np.flatnonzero((row != 0.0) | np.signbit(row))
        node["generators"].append(
            {
                "equation": f"{generator.shortened(EQUATION)} = 0",
                "leading_term": leading_terms[i],
                "leading_coef": float(model.leading_coef_[i]),
                "terms": used.tolist(),
                "coef": row[used].tolist(),
                "mse": writer.float(model.mse_[i]),
            }
        )
    return node


def read_monomials(reader, node, model, more=(), optional=()) -> list:
    """Set the fitted part of a transformer on monomials; return the values of other keys.

    These are the keys ``more``, then the ``optional`` ones, None where they are missing.
    """
    keys = ("feature_names", "feature_order", "n_coefficients", "terms", "generators", *more)
    fields = reader.fitted(model, node, keys, ("n_iter", *optional))
    names, order, n_coefficients, terms, generators = fields[:5]
    others, n_iter = [*fields[5 : len(keys)], *fields[len(keys) + 1 :]], fields[len(keys)]
    n_features = model.n_features_in_
    order = reader.integers(order, "feature_order", 0, n_features)
    is_order = np.array_equal(np.sort(order), np.arange(n_features))
    reader.require(is_order, "feature_order is no order of the columns.")
    terms = reader.terms(terms, "terms", n_features)
    starts = len(terms) and not terms[0].any()
    reader.require(starts, "the first of the terms is not the constant.")
    keys = ("equation", "leading_term", "leading_coef", "terms", "coef", "mse")
    generators = reader.listed(generators, "generators")
    rows = [reader.fields(row, "a generator", keys) for row in generators]
    reader.names([row[0] for row in rows], "equations", None)
    leading_terms = reader.terms([row[1] for row in rows], "leading terms", n_features)
    leading_coef = reader.floats([row[2] for row in rows], "leading coefficients")
    reader.allocate(8 * len(rows) * len(terms))
    coef = np.zeros((len(rows), len(terms)))
    for values, row in zip(coef, rows, strict=True):
        used = reader.integers(row[3], "the terms of a generator", 0, len(terms) - 1)
        reader.require((np.diff(used) > 0).all(), "the terms of a generator are not in order.")
        values[used] = reader.floats(row[4], "the coefficients of a generator", len(used))
    least = int(np.count_nonzero(coef))
    n_coefficients = reader.integer(n_coefficients, "n_coefficients", least, coef.size)
    set_monomials(
        model,
        terms=terms,
        leading_terms=leading_terms,
        coef=coef,
        leading_coef=leading_coef,
        sizes=sizes_before(terms, leading_terms, order),
        mse=np.array([reader.measured(row[5], "an mse") for row in rows]),
    )
    model.n_coefficients_ = n_coefficients
    model.sparsity_ = sparsity(least, n_coefficients)
    names = reader.names(names, "feature_names", n_features)
    model.generators_ = model.generators_.renamed(names)
    model.feature_order_ = order
    if n_iter is not None:
        model.n_iter_ = reader.integer(n_iter, "n_iter")
    return others
