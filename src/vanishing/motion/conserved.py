"""The estimator `ConservedQuantities`, which asks runs for what stays the same along each."""

from functools import partial
from typing import Literal, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from vanishing._threads import one_blas_thread, spread, threads
from vanishing._types import (
    Array,
    BoolArray,
    FloatArray,
    FunctionChoice,
    LabelArray,
    Labels,
    Names,
    ObjectArray,
    RandomState,
    Table,
    Vector,
)
from vanishing._warnings import warn
from vanishing.checks import check_number
from vanishing.equations.law import Law, read_law, write_law
from vanishing.estimators.bases import BaseEstimator, TransformerMixin
from vanishing.estimators.fits import all_or_nothing
from vanishing.estimators.names import input_names
from vanishing.estimators.notebook import HTMLRepresentation
from vanishing.estimators.progress import Progress
from vanishing.estimators.row_methods import RowTransformer, row_by_row
from vanishing.estimators.saving import Savable
from vanishing.fitting.origins import ask_shifted
from vanishing.motion import settings
from vanishing.motion.origins import offsets_of_runs
from vanishing.motion.parameters import noise_of_columns, runs_held_out
from vanishing.motion.quantity import ConservedQuantity, read_quantity, write_quantity
from vanishing.motion.runs import Measure, RowSubset, RunQuestion, Scatter, Survey
from vanishing.motion.search import Search
from vanishing.motion.variables import MotionMonomials, Variable, asked_variables
from vanishing.persistence import register
from vanishing.rows.intake import take_rows, take_rows_in_memory
from vanishing.rows.source import RowPart

_ROWS = 100_000  # of an array, that a thread takes at a time


class ConservedQuantities(
    Savable, HTMLRepresentation, RowTransformer, TransformerMixin, BaseEstimator
):
    """Find what stays the same along every run.

    A polynomial in the columns, and in functions of them, that is constant along each run and
    differs between runs is a conserved quantity. One that is the same on all rows is a law of the
    state, and no news about the motion.

    Parameters
    ----------
    max_degree : int, default=3
        Largest degree of the polynomials, in the columns and functions.
    functions : tuple of str, dict or tuple of callables, default=()
        Functions that polynomials may have: names out of sin, cos, tan, log, exp, sqrt, arcsin,
        arccos, arctan, tanh and reciprocal, of all columns where they are defined; or
        ``{column: names}``. A callable needs a name (``name`` or ``__name__``) and a
        ``derivative``, a callable, too.
    max_terms : int, default=8
        Largest number of terms of a quantity. In `OAVI` and the like ``max_terms`` bounds the
        monomials that all generators together are made of.
    noise : None, float or array-like of shape (n_features,), default=None
        Standard deviation of the noise, in all columns or in each. None: if nothing is conserved up
        to rounding, noise is assumed to be in proportion to the spread of the columns, of the size
        that the best quantity leaves over. Slow motion may look like noise then. So a quantity is
        reported only if its variance within runs is small: at most 5 % of that of all rows, and of
        what noise would leave in each run. With few or short runs this cannot be tested, and the
        limit is 1 %. Where something varies far less than the noise that is given, the same is done
        with noise in proportion to that.
    n_jobs : int, default=None
        Number of threads over rows. The result does not depend on it.
    random_state : int, RandomState or None, default=0
        Decides which runs are held out.
    verbose : int, default=0
        1 prints one line per step.

    Attributes
    ----------
    quantities_ : list of ConservedQuantity
        The best first, none of them a polynomial in those before it; empty where nothing is
        conserved.
    ratio_ : ndarray of shape (n_quantities,)
        Variance within runs that were held out, over the variance of all rows.
    n_independent_ : int
        How many of the quantities are independent: the rank of their gradients and those of the
        laws of the state together, minus the rank of those of the laws.
    constraints_ : list of Law
        Laws of the state: equations that hold on all rows.
    values_ : ndarray of shape (n_runs, n_quantities)
        Mean of each quantity along each run.
    runs_ : ndarray of shape (n_runs,)
        Labels of the runs, sorted.
    held_out_ : ndarray of bool of shape (n_runs,)
        Which runs were held out; none where there are two or three.
    noise_ : ndarray of shape (n_features,)
        Standard deviations of the noise, given or estimated; zero where quantities are exact.
    verdict_ : str
        What is conserved; or, if nothing is, the ratio of the best polynomial.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Names of the columns; only where X has names.

    See Also
    --------
    vanishing.ConservedQuantity : One of the quantities.
    vanishing.motion.derivatives : Time derivatives along runs.
    vanishing.LawFinder : Laws among columns, for instance of motion with derivatives as columns.
    vanishing.plot.ConservedQuantitiesDisplay : Quantities along runs.

    Notes
    -----
    A quarter of the runs is held out: a quantity that is found on the others is reported if it is
    conserved along these, too. Its coefficients are then fitted to all runs.

    Of more than 40,000 rows, the search looks at about so many, of up to 400 runs. The quantities
    are then fitted to all rows, and `ratio_` and `values_` are of all.

    Examples
    --------
    A mass on a spring, pulled and let go eight times; x0 is where it is and x1 how fast:

    >>> import numpy as np
    >>> from vanishing import ConservedQuantities
    >>> t = np.linspace(0.0, 5.0, 50)
    >>> swing = np.column_stack([np.cos(2 * t), -2 * np.sin(2 * t)])
    >>> pulled = np.arange(1.0, 9.0)
    >>> X = np.vstack([a * swing for a in pulled])
    >>> model = ConservedQuantities().fit(X, groups=np.repeat(pulled, 50))
    >>> print(model.quantities_[0])
    x1^2 + 4*x0^2
    >>> model.values_[:3, 0]
    array([ 4., 16., 36.])
    """

    quantities_: list[ConservedQuantity]
    ratio_: FloatArray
    n_independent_: int
    constraints_: list[Law]
    values_: FloatArray
    runs_: LabelArray
    held_out_: BoolArray
    noise_: FloatArray
    verdict_: str
    n_features_in_: int
    feature_names_in_: ObjectArray

    def __init__(
        self,
        max_degree: int = 3,
        *,
        functions: FunctionChoice = (),
        max_terms: int = 8,
        noise: float | Vector | Literal["estimate"] | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
        verbose: int = 0,
    ):
        self.max_degree = max_degree
        self.functions = functions
        self.max_terms = max_terms
        self.noise = noise
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        check_number("max_degree", self.max_degree, low=1, high=12, integer=True)
        check_number("max_terms", self.max_terms, low=1, integer=True)
        check_number("verbose", self.verbose, low=0, integer=True)
        if isinstance(self.noise, str):
            raise ValueError(f"noise must be None or numbers; got {self.noise!r}.")

    def fit(
        self,
        X: Table,
        y: object = None,
        groups: Labels | None = None,
        sample_weight: Vector | None = None,
    ) -> Self:
        """Find conserved quantities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows
            Also `Blocks` and what they are made of, Dask collections, PyTorch and CuPy arrays.
        y : ignored
        groups : array-like of shape (n_samples,)
            Which run each row belongs to. Blocks may be tuples (rows, groups) instead.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row; 1 / variance if you know that.

        Returns
        -------
        self : object
        """
        self.check_parameters()
        with all_or_nothing(self), one_blas_thread(), threads(self.n_jobs):
            rows = take_rows(self, X, groups, sample_weight, y_is="runs", piece_rows=_ROWS)
            ask = rows.on_host().ask
            names = tuple(map(str, input_names(self)))
            progress = Progress("ConservedQuantities", self.verbose)
            progress.step("looking at the runs")
            asked = asked_variables(self.functions, names)
            look = RunQuestion([variable for variable, _ in asked])
            survey = _surveyed(ask, look, names)
            offsets = offsets_of_runs(survey, look.variables)
            if offsets.any():
                ask = partial(ask_shifted, ask, offsets)
                survey = ask(look, Survey.combine)
            monomials = self._monomials(survey, asked, names)
            held_out = runs_held_out(len(survey.labels), self.random_state)
            progress.step(f"{len(survey.labels)} runs, {len(monomials)} monomials")
            seed = int(check_random_state(self.random_state).randint(2**31))
            noise = noise_of_columns(self.noise, self.n_features_in_)
            subset = _searched(survey.counts, held_out, seed)

            def measured(values, subset: RowSubset | None) -> Scatter:
                question = Measure(values, survey.labels, held_out, seed, subset)
                return ask(question, question.combine)

            scatter = measured(monomials, subset)
            search = Search(scatter, monomials, names, self.max_terms, noise, offsets)
            is_all = subset.share >= 1.0 and subset.runs.all()
            answer = search.answer(None if is_all else lambda terms: measured(terms, None))
            self.runs_, self.held_out_ = survey.labels, held_out
            self.quantities_, self.constraints_ = answer.quantities, answer.constraints
            self.ratio_ = np.array([quantity.ratio for quantity in answer.quantities])
            self.n_independent_, self.values_ = answer.n_independent, answer.values
            self.noise_, self.verdict_ = answer.noise, answer.verdict
        if not held_out.any():
            warn(
                f"{len(held_out)} runs are too few to hold some out, which would confirm the "
                "result. Four are needed."
            )
        return self

    # -- Reading rows -----------------------------------------------------------------------------

    def _monomials(self, survey: Survey, asked, names) -> MotionMonomials:
        """Return the monomials in variables that are defined on all rows."""
        kept: list[tuple[Variable, float]] = []
        defined = set()
        for (variable, by_name), square in zip(asked, survey.squares, strict=True):
            if np.isfinite(square) and square > 0:
                defined.add(variable.function)
                if variable.carries_more(survey.low, survey.high):
                    kept.append((variable, float(np.sqrt(square / survey.weight))))
            elif by_name and variable.function is not None:
                raise ValueError(
                    f"the function {variable.function.name} is not defined on all rows of column "
                    f"{names[variable.column]!r}: leave it out of functions."
                )
        for variable, _ in asked:
            if variable.function is not None and variable.function not in defined:
                raise ValueError(
                    f"the function {variable.function.name} is not defined on all rows of any "
                    "column: leave it out of functions."
                )
        variables, scale = zip(*kept, strict=True)
        return MotionMonomials(variables, np.array(scale), self.max_degree)

    # -- Answers ----------------------------------------------------------------------------------

    @row_by_row(n_columns=lambda self: len(self.quantities_), dtype=lambda self: np.float64)
    def transform(self, X: Array) -> FloatArray:
        """Return the values of the quantities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows

        Returns
        -------
        values : ndarray of shape (n_samples, n_quantities)
        """
        if not self.quantities_:
            warn("nothing is conserved, so there are no values.")
            return np.empty((len(X), 0))

        def values(part: RowPart) -> np.ndarray:
            return np.column_stack([quantity(part.X) for quantity in self.quantities_])

        return np.vstack(spread(values, RowPart(X, None, None).pieces(_ROWS)))

    def get_feature_names_out(self, input_features: Names | None = None) -> ObjectArray:
        """Return the quantities as text, one name per column of `transform`.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the input's columns; must agree with those seen in `fit`, if any.

        Returns
        -------
        names : ndarray of object of shape (n_quantities,)
        """
        check_is_fitted(self, "quantities_")
        names = tuple(map(str, input_names(self, input_features)))
        return np.array([quantity.to_text(names) for quantity in self.quantities_], dtype=object)

    def score(
        self,
        X: Table,
        y: object = None,
        groups: Labels | None = None,
        sample_weight: Vector | None = None,
    ) -> float:
        """Return one minus the mean of variance within runs over that of all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        groups : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
            0 where nothing is conserved.
        """
        check_is_fitted(self, "quantities_")
        part = take_rows_in_memory(
            self, X, groups, sample_weight, y_is="runs", method="score", reset=False
        )
        if not self.quantities_:
            return 0.0
        values = np.column_stack([quantity(part.X) for quantity in self.quantities_])
        weight = np.ones(len(values)) if part.weight is None else part.weight
        _, run = np.unique(part.y, return_inverse=True)
        shares = weight / np.bincount(run, weight)[run]
        means = np.zeros((run.max() + 1, values.shape[1]))
        np.add.at(means, run, shares[:, None] * values)
        within = weight @ (values - means[run]) ** 2
        total = weight @ (values - np.average(values, axis=0, weights=weight)) ** 2
        return float(1.0 - np.mean(within / np.where(total > 0, total, 1.0)))


def _searched(counts: np.ndarray, held_out: np.ndarray, seed: int) -> RowSubset:
    """Return the rows of a search: all, or so many that more would tell nothing new."""
    runs = np.ones(len(counts), dtype=bool)
    if counts.sum() > settings.SEARCHED_ROWS:
        # In proportion, of runs to learn from and of runs held out.
        random = np.random.default_rng(seed)
        for fold in (held_out, ~held_out):
            places = random.permutation(np.flatnonzero(fold))
            n_kept = -(-settings.SEARCHED_RUNS * len(places) // len(counts))
            runs[places[n_kept:]] = False
    return RowSubset(runs, min(1.0, settings.SEARCHED_ROWS / counts[runs].sum()), seed)


def _surveyed(ask, look: RunQuestion, names) -> Survey:
    """Look at all rows; raise ValueError where they tell nothing."""
    survey = ask(look, Survey.combine)
    if survey is None:
        raise ValueError("X has no rows (of positive weight): nothing to fit.")
    _check(survey, names)
    return survey


def _check(survey: Survey, names) -> None:
    """Raise ValueError where runs or columns tell nothing."""
    few = np.flatnonzero(survey.counts < 2)
    if few.size:
        label = survey.labels[few].tolist()[0]
        raise ValueError(
            f"the run {label!r} has one row, along which nothing moves: every run needs two rows "
            "at least, and should have many."
        )
    if len(survey.labels) < 2:
        raise ValueError(
            "groups has one run: a quantity may be constant along it by chance. Two are needed, "
            "and four to hold one out."
        )
    constant = np.flatnonzero(survey.low == survey.high)
    if constant.size:
        raise ValueError(
            f"column {names[constant[0]]!r} is constant: it tells nothing about the motion. Leave "
            "it out."
        )
    size = np.maximum(np.abs(survey.low), np.abs(survey.high))
    if (size > 1e100).any() or (size < 1e-100).any():
        raise ValueError(
            "columns must be of sizes between 1e-100 and 1e100: powers of others overflow. Change "
            "their units."
        )


# -- What is saved --------------------------------------------------------------------------------


def _write(writer, model) -> dict:
    return {
        **writer.input(model),
        "quantities": [write_quantity(writer, quantity) for quantity in model.quantities_],
        "constraints": [write_law(writer, law) for law in model.constraints_],
        "n_independent": int(model.n_independent_),
        "values": writer.array(model.values_, "values_"),
        "runs": writer.array(model.runs_, "runs_"),
        "held_out": writer.array(model.held_out_, "held_out_"),
        "noise": writer.array(model.noise_, "noise_"),
        "verdict": model.verdict_,
    }


def _read(reader, node, model):
    keys = ("quantities", "constraints", "n_independent", "values", "runs", "held_out", "noise")
    quantities, laws, independent, values, runs, held_out, noise, verdict = reader.fitted(
        model, node, (*keys, "verdict")
    )
    model.quantities_ = [read_quantity(reader, q) for q in reader.listed(quantities, "quantities")]
    model.ratio_ = np.array([quantity.ratio for quantity in model.quantities_])
    model.constraints_ = [read_law(reader, law) for law in reader.listed(laws, "constraints")]
    model.n_independent_ = reader.integer(independent, "n_independent")
    model.runs_ = reader.array(runs, "runs", (None,))
    shape = (len(model.runs_), len(model.quantities_))
    model.values_ = reader.array(values, "values", shape)
    model.held_out_ = reader.array(held_out, "held_out", shape[:1])
    model.noise_ = reader.array(noise, "noise", (model.n_features_in_,))
    model.verdict_ = reader.string(verdict, "verdict")


register(ConservedQuantities, _write, _read)
