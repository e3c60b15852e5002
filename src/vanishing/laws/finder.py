"""The estimator `LawFinder`, which asks a table for the equations it obeys."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Self, overload

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from vanishing._threads import one_blas_thread, threads
from vanishing._types import (
    Array,
    FloatArray,
    FunctionChoice,
    Labels,
    ObjectArray,
    RandomState,
    Table,
    Vector,
)
from vanishing._warnings import warn
from vanishing.algebra.polynomials import default_names
from vanishing.algebra.quantities import read_units
from vanishing.checks import check_choice, check_flag, check_number
from vanishing.equations.by_group import predicted_by_group
from vanishing.equations.forms import given_forms
from vanishing.equations.law import Law
from vanishing.estimators.bases import BaseEstimator, RegressorMixin, available_if
from vanishing.estimators.fits import all_or_nothing
from vanishing.estimators.notebook import HTMLRepresentation
from vanishing.estimators.progress import Progress
from vanishing.estimators.row_methods import RowMethods, by_row_methods, row_by_row
from vanishing.estimators.saving import Savable
from vanishing.fitting.sample import Draw, columns_of
from vanishing.laws import settings
from vanishing.laws.dictionary import given_stages
from vanishing.laws.front import FRONT_COLUMNS, front_rows
from vanishing.laws.group_search import GroupedRows, law_of_groups
from vanishing.laws.groups import read_groups
from vanishing.laws.intake import by_content, check_sizes, target_name
from vanishing.laws.options import Options, OutOfTime
from vanishing.laws.passes import ROWS
from vanishing.laws.saved_finder import noise_per_column, read_finder, write_finder
from vanishing.laws.table import SearchRows
from vanishing.laws.targets import LawAnswer, in_given_order, law_of_target
from vanishing.laws.untargeted import law_with_noise_in_all, laws_of_columns, noise_of_target
from vanishing.persistence import register
from vanishing.rows.array_source import ArraySource
from vanishing.rows.intake import take_rows, take_rows_in_memory
from vanishing.rows.source import RowSource


def _is_estimate(noise) -> bool:
    return isinstance(noise, str) and noise == "estimate"


def _has_target(estimator) -> bool:
    """Say whether laws were found for a target, and how to predict if not."""
    if getattr(estimator, "target_name_", "") is None:
        raise AttributeError(
            "the laws were found without a target: ask a law for a column, as in "
            "laws_[0].solve(name).predict(X)."
        )
    return True


class LawFinder(Savable, HTMLRepresentation, RowMethods, RegressorMixin, BaseEstimator):
    """Find the equations that the rows of a table obey.

    With a target the equations involve it, and predict it; without one they are equations among
    the columns. Where none holds, `laws_` is empty and `verdict_` says why.

    Parameters
    ----------
    max_degree : int, default=6
        Largest degree of the terms that are tried, in the combinations of columns that matter.
    max_terms : int, default=12
        Largest number of terms of a law, the target's and a constant included. Sums of more than
        nine columns, each times a number, may have as many terms as there are columns. In `OAVI`
        and the like ``max_terms`` bounds the monomials that all generators together are made of.
    functions : "auto", tuple of str, dict or tuple of callables, default="auto"
        Functions that terms may have: "auto" tries terms without functions first, then functions
        in stages, those of `vanishing.laws.register_stage` last. () means none. Names are applied
        to all columns where the function is defined, ``{column: names}`` to these columns: sin,
        cos, tan, log, exp, sqrt, reciprocal, arcsin, arccos, arctan, tanh, and those of
        `register_function`. A callable needs a name (``name`` or ``__name__``) and a
        ``derivative``, a callable, too.
    forms : sequence of str, default=None
        Curves of your own, with constants anywhere, besides the built-in ones: ``"A*x/(K + x)"``. x
        is a column or a combination of columns that matters, z a second one, and every other name
        is a constant that is fitted. () tries no forms, not even built-in ones. With ``functions``
        other than "auto" only yours are tried. They are for laws of a target.
    noise : None, float, array-like of shape (n_columns,) or "estimate", default=None
        None: the target has noise, whose size is estimated, and the columns of X have none. A
        number, or one per column with the target last: the standard deviation of the noise in each
        column (errors in variables). That of the target is estimated if it is left out. "estimate":
        all columns have noise in proportion to their standard deviations, and its size is
        estimated.
    robust : bool, default=False
        Whether some rows may be wrong: rows far from what the others say are left out.
    units : dict from str to str, default=None
        The unit of each column and of the target, as in ``{"F": "N", "m": "kg", "a": "m/s^2"}``;
        "1" for pure numbers. Coefficients are then written with their units. Constants of nature
        may join by a name that no column has: ``{"G": "6.674e-11 m^3/(kg s^2)"}``; coefficients of
        their dimension are written as multiples of them. Needs pint.
    homogeneous : bool, default=False
        Whether to admit only laws whose coefficients have no dimension, except for the named values
        in ``units``.
    n_laws : int, default=5
        Largest number of laws that the search returns.
    max_time : float, default=None
        Seconds after which the search ends with what it has.
    n_jobs : int, default=None
        Threads over rows, and over columns where there is no target. The result does not depend on
        it.
    random_state : int, RandomState or None, default=0
        Which rows the search looks at, of more than 10,000.
    verbose : int, default=0
        Whether to print the terms that are being tried.

    Attributes
    ----------
    laws_ : list of Law
        The best first; empty where no law holds. Of rows in groups, one law per group, whose
        ``law.group`` it is.
    verdict_ : str
        The law and how sure it is, or why there is none.
    front_ : list of Law
        The best equation of each number of terms, whether it holds or not; the shortest first.
    noise_ : ndarray of shape (n_columns,)
        Standard deviation of the noise in each column, the target last. It is 0 for columns that
        have none, or are taken to have none, and NaN if the search had no time to estimate it.
    reductions_ : list of str
        The combinations of columns that matter, that with the target first: y/(x0*x1), x2/x3.
    target_name_ : str or None
        Name of the target; None where there is none.
    mean_ : float or None
        Mean of the target, which is the prediction if there is no law.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Names of these, where X has names.

    See Also
    --------
    check_law : Whether an equation that you have in mind holds.
    Law : What `laws_` consists of.
    vanishing.laws.register_link : Try a function of your own, of the target.
    vanishing.laws.register_stage : Try functions of your own in terms.
    VanishingOutlierDetector : Which rows break the laws of a table?
    ConservedQuantities : What stays the same along each run?

    Notes
    -----
    Of more than nine columns a sum is tried first: y = c0 + c1*x1 + ..., with every column that
    matters. It is a law if squares and products of columns, and the columns that are not in it,
    explain nothing of its residuals. Where they do, up to four of them join it, or functions of a
    column. Where it is no law either, nine columns are searched, those that explain most. The
    others are tested against what a law leaves, and `verdict_` names them. Without a target, each
    of the 40 columns that are most related to others is the target once.

    More than 10,000 rows are searched by a sample; the laws are then fitted to all rows, in a few
    passes. A row of weight 2 counts as that row twice. A repeated row is no new observation:
    evidence and standard errors are those of (sum w)^2 / sum w^2 rows, with the weights w of
    different rows.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import LawFinder
    >>> random = np.random.default_rng(0)
    >>> n, T, V = random.uniform([1, 250, 0.01], [3, 400, 0.05], (1000, 3)).T
    >>> p = 8.314 * n * T / V * (1 + 0.001 * random.normal(size=1000))
    >>> finder = LawFinder().fit(np.column_stack([n, T, V]), p)
    >>> print(finder.laws_[0])
    y = 8.3145(3)*x0*x1/x2
    """

    laws_: list[Law]
    verdict_: str
    front_: list[Law]
    noise_: FloatArray
    reductions_: list[str]
    target_name_: str | None
    mean_: float | None
    n_features_in_: int
    feature_names_in_: ObjectArray

    def __init__(
        self,
        max_degree: int = 6,
        *,
        max_terms: int = 12,
        functions: FunctionChoice = "auto",
        forms: Sequence[str] | None = None,
        noise: float | Vector | Literal["estimate"] | None = None,
        robust: bool = False,
        units: Mapping[str, str] | None = None,
        homogeneous: bool = False,
        n_laws: int = 5,
        max_time: float | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
        verbose: int = 0,
    ):
        self.max_degree = max_degree
        self.max_terms = max_terms
        self.functions = functions
        self.forms = forms
        self.noise = noise
        self.robust = robust
        self.units = units
        self.homogeneous = homogeneous
        self.n_laws = n_laws
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        check_number("max_degree", self.max_degree, low=1, high=12, integer=True)
        check_number("max_terms", self.max_terms, low=2, integer=True)
        check_number("n_laws", self.n_laws, low=1, integer=True)
        check_number("verbose", self.verbose, low=0, integer=True)
        check_flag("robust", self.robust)
        check_flag("homogeneous", self.homogeneous)
        if self.homogeneous and self.units is None:
            raise ValueError("homogeneous=True needs the units of all columns: units={...}.")
        given_forms(self.forms, self.functions)
        if isinstance(self.noise, str):
            check_choice("noise", self.noise, ("estimate",))
        if self.max_time is not None:
            check_number("max_time", self.max_time, low=0, low_open=True)

    def fit(
        self,
        X: Table,
        y: Vector | None = None,
        sample_weight: Vector | None = None,
        groups: Labels | None = None,
    ) -> Self:
        """Find laws.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows
            Also `Blocks` and what they are made of, Dask collections, PyTorch and CuPy arrays.
        y : array-like of shape (n_samples,), default=None
            The target; None for laws among the columns of X.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row; 1 / variance if you know that. Large weights are no more
            observations: if weights differ by much, standard errors are too large rather than too
            small.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, such as a batch or a material. Then `laws_` has one law per
            group, ``law.group`` says of which: all have the same form, and `verdict_` says which
            coefficients differ. It needs a target, and rows in memory.

        Returns
        -------
        self : object
        """
        self.check_parameters()
        with all_or_nothing(self), one_blas_thread(), threads(self.n_jobs):
            if groups is None:
                source = take_rows(self, X, y, sample_weight, y_is="target").on_host()
                rows = self._rows(source, X if y is None else y)
                answer = in_given_order(self._answer(rows, self._progress()), source.ask)
            else:
                rows, answer = self._of_groups(X, y, sample_weight, groups)
            self.laws_ = answer.laws
            self.verdict_ = answer.verdict
            self.front_ = list(answer.front)
            self.noise_ = noise_per_column(answer.noise, len(rows.names))
            self.reductions_ = list(answer.reductions)
            self.target_name_ = rows.target_name
            self.mean_ = None if rows.target_name is None else rows.mean(-1)
        return self

    def _of_groups(self, X, y, sample_weight, groups) -> tuple[SearchRows, LawAnswer]:
        """Return all rows, and one law per group, of the form that searches find."""
        if y is None or self.noise is not None:
            need = "a target: give y" if y is None else "noise in the target alone: leave it out"
            raise ValueError(f"groups need {need}.")
        part = take_rows_in_memory(
            self, X, y, sample_weight, y_is="target", method="fit with groups", keep_all=True
        )
        in_groups = read_groups(groups, len(part.X))
        weight = np.ones(len(part.X)) if part.weight is None else part.weight
        part, in_groups, weight = part.with_weight(), in_groups.at(weight > 0), weight[weight > 0]
        progress, rows = self._progress(), self._rows(ArraySource(part), y)

        def search(places: np.ndarray, n_groups: int) -> LawAnswer:
            return self._answer(self._rows(ArraySource(part.at(places)), y), progress, n_groups)

        in_memory = GroupedRows(columns_of(part), weight, in_groups, rows.names)
        return rows, law_of_groups(in_memory, search, self.robust, progress)

    def _answer(self, rows: SearchRows, progress: Callable, n_groups: int = 1) -> LawAnswer:
        options = self._options(rows)._replace(n_groups=n_groups)
        noise = self._noise_per_column(rows)
        try:
            if rows.target_name is None:
                return laws_of_columns(rows, options, noise, self.n_laws, progress)
            if noise is not None or _is_estimate(self.noise):
                answer = law_with_noise_in_all(rows, options, noise, progress)
                if answer is not None:
                    return answer
        except OutOfTime:
            verdict = "No law was found in the time allowed: raise max_time."
            return LawAnswer([], verdict, np.nan)
        return law_of_target(rows, options, progress)

    def _noise_per_column(self, rows: SearchRows) -> np.ndarray | None:
        """Return the standard deviations of the noise, or None where they are to be estimated."""
        if self.noise is None or _is_estimate(self.noise):
            return None
        n_columns = len(rows.names)
        noise = np.array(self.noise, dtype=np.float64)
        if noise.shape not in [(), (rows.n_inputs,), (n_columns,)]:
            raise ValueError(
                f"noise must be a number, 'estimate', or one number per column, {n_columns} of "
                f"them with the target last; got an array of shape {noise.shape}."
            )
        if not np.isfinite(noise).all() or (noise < 0).any():
            raise ValueError(f"noise must be finite and not negative; got {self.noise!r}.")
        per_column = np.zeros(n_columns)
        per_column[: noise.size if noise.ndim else n_columns] = noise
        spread = rows.sample.spreads
        if (hidden := np.flatnonzero((per_column > spread) & (spread > 0))).size:
            raise ValueError(
                f"noise of {per_column[hidden[0]]:.3g} in {rows.names[hidden[0]]!r} is larger than "
                f"the spread of that column, {spread[hidden[0]]:.3g}: such noise hides every law."
            )
        if noise.shape == (rows.n_inputs,) and rows.n_inputs < n_columns and noise.any():
            per_column[-1] = noise_of_target(rows, noise)
        return per_column

    def _rows(self, source: RowSource, y) -> SearchRows:
        """Draw a sample of the rows."""
        source = source.ordered(by_content, ROWS)
        seed = int(check_random_state(self.random_state).randint(2**31))
        draw = Draw(seed)
        sample = source.ask(draw, draw.combine)
        if sample is None or len(sample.keys) < settings.LEAST_ROWS:
            n = 0 if sample is None else len(sample.keys)
            raise ValueError(
                f"n_samples = {n} different rows are too few to tell a law from chance: at least "
                f"{settings.LEAST_ROWS} are needed."
            )
        names = [*map(str, getattr(self, "feature_names_in_", default_names(self.n_features_in_)))]
        if len(sample.columns) > self.n_features_in_:
            names.append(target_name(y, names))
        check_sizes(sample.columns, names)
        units = None if self.units is None else read_units(self.units, names)
        return SearchRows(source.ask, sample, tuple(names), self.n_features_in_, seed, units)

    def _options(self, rows: SearchRows) -> Options:
        n = rows.n_inputs
        stages = given_stages(self.functions, rows.names[:n], rows.sample.columns[:n])
        dimensions = None
        if self.homogeneous and rows.units is not None:
            dimensions = rows.units.dimensions
        # Constants inside functions have dimensions, which a homogeneous law has not.
        forms = () if self.homogeneous else given_forms(self.forms, self.functions)
        return Options(self.max_degree, self.max_terms, stages, self.robust, dimensions, forms)

    def _progress(self) -> Callable:
        """Return what is called between the steps of a search."""
        end = np.inf if self.max_time is None else time.monotonic() + self.max_time
        steps = Progress("LawFinder", self.verbose)

        def progress(what: str | None = None):
            if what is not None:
                steps.step(what)
            if time.monotonic() > end:
                raise OutOfTime

        return progress

    def front_table(self) -> Any:
        """Return the equations that were compared, `front_`, as a table.

        Returns
        -------
        table : pandas.DataFrame, or list of dict without pandas
            One row per equation, the shortest first, with ``n_terms``, ``degree``, ``error`` (rms,
            in units of the target), ``relative_error``, ``held_out_error``, ``evidence``,
            ``n_samples``, ``equation`` (as text) and ``chosen``, which says whether it is one of
            `laws_`. Errors on rows held out and evidence are NaN where an equation was not chosen:
            they are measured of laws alone.
        """
        check_is_fitted(self, "laws_")
        rows = front_rows(self.front_, self.laws_)
        try:
            import pandas
        except ImportError:
            return rows
        return pandas.DataFrame(rows, columns=FRONT_COLUMNS)

    @overload
    def predict(
        self, X: Table, return_std: Literal[False] = ..., groups: Labels | None = ...
    ) -> FloatArray: ...
    @overload
    def predict(
        self, X: Table, return_std: Literal[True], groups: Labels | None = ...
    ) -> tuple[FloatArray, FloatArray]: ...
    @available_if(_has_target)
    @by_row_methods
    def predict(self, X, return_std=False, groups=None):
        """Predict the target by the best law.

        By its mean, with a warning, where there is no law, or none with a closed form for it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows
        return_std : bool, default=False
            Whether to return standard deviations, too.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, where the laws were found by group and differ; X is in memory
            then.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,), with ``return_std=True``
            Standard deviation of a new measurement about its prediction, as `Law.predict` has it:
            the errors of the coefficients, and the noise. NaN where the law predicts nothing.
        """
        check_is_fitted(self, "laws_")
        by_group = bool(self.laws_) and self.laws_[0].group is not None
        if groups is None:
            if by_group and len({law.coef.tobytes() for law in self.laws_}) > 1:
                raise ValueError("the laws differ between groups: say which, as in groups=batch.")
            return (self._predicted(X), self._std(X)) if return_std else self._predicted(X)
        if self.laws_ and not by_group:
            raise ValueError("the law was found without groups: leave groups out.")
        if not by_group:
            return self.predict(X, return_std)
        rows = take_rows_in_memory(self, X, method="predict with groups", reset=False)
        predicted, std = predicted_by_group(self.laws_, rows.X, groups)
        predicted = self._or_mean(predicted)
        return (predicted, std) if return_std else predicted

    @row_by_row()
    def _predicted(self, X: Array) -> FloatArray:
        """Return predictions of the best law."""
        law = self._law_of_target
        if law is None:
            name = self.target_name_
            why = f"the law has no closed form for {name}" if self.laws_ else "no law was found"
            warn(f"{why}, so the mean of the target is predicted.")
            return np.full(len(X), self.mean_)
        return self._or_mean(law.predict(X))

    @row_by_row()
    def _std(self, X: Array) -> FloatArray:
        """Return standard deviations of new measurements about predictions of the best law."""
        law = self._law_of_target
        return np.full(len(X), np.nan) if law is None else law.predict(X, return_std=True)[1]

    @property
    def _law_of_target(self) -> Law | None:
        return self.laws_[0] if self.laws_ and self.laws_[0].target is not None else None

    def _or_mean(self, predicted: np.ndarray) -> np.ndarray:
        """Return predictions, the mean where a law has none."""
        undefined = ~np.isfinite(predicted)
        if undefined.any():
            warn(
                f"the law has no solution on {undefined.sum()} of {len(predicted)} rows, where the "
                "mean of the target is predicted."
            )
            predicted[undefined] = self.mean_
        return predicted

    @available_if(_has_target)
    def score(
        self,
        X: Table,
        y: Vector,
        sample_weight: Vector | None = None,
        groups: Labels | None = None,
    ) -> float:
        """Return R^2 of the prediction; see `sklearn.base.RegressorMixin.score`."""
        if groups is None:
            return super().score(X, y, sample_weight)
        return float(r2_score(y, self.predict(X, groups=groups), sample_weight=sample_weight))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


register(LawFinder, write_finder, read_finder)
