"""The estimator `EquationsOfMotion`, which asks runs how they move."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal, Self

import numpy as np
from sklearn.utils import check_random_state

from vanishing._threads import check_jobs, one_blas_thread, threads
from vanishing._types import (
    FloatArray,
    FunctionChoice,
    Labels,
    ObjectArray,
    RandomState,
    Table,
    Vector,
)
from vanishing._warnings import warn
from vanishing.checks import check_number
from vanishing.equations.forms import Form, given_forms
from vanishing.equations.parts import Group
from vanishing.estimators.bases import BaseEstimator
from vanishing.estimators.fits import all_or_nothing
from vanishing.estimators.names import input_names
from vanishing.estimators.notebook import HTMLRepresentation
from vanishing.estimators.progress import Progress
from vanishing.estimators.saving import Savable
from vanishing.motion import settings
from vanishing.motion.answers import MotionAnswers
from vanishing.motion.batches import BatchedFit
from vanishing.motion.equation import EquationOfMotion
from vanishing.motion.equations_fit import EquationsFit
from vanishing.motion.given_parts import given_parts
from vanishing.motion.parameters import noise_of_columns, runs_held_out
from vanishing.motion.runs_intake import check_moves, take_batches, take_runs
from vanishing.motion.runs_source import read_runs
from vanishing.motion.saved_motion import read_equations, write_equations
from vanishing.motion.tape import tape_of
from vanishing.persistence import register
from vanishing.rows.intake import is_lazy, refuse


class EquationsOfMotion(HTMLRepresentation, MotionAnswers, Savable, BaseEstimator):
    """Find the differential equations that runs obey: dx/dt = f(x).

    Runs may be noisy, at irregular times, of different lengths and with cells that are missing.
    Right-hand sides are sums of few terms: products of powers of columns, functions of columns, and
    terms with constants inside such as x/(K + x). The equations are integrated and fitted to the
    rows themselves, and are reported only if they follow the rows within the noise.

    Parameters
    ----------
    max_degree : int, default=3
        Largest degree of the polynomials that are tried first.
    functions : "auto", or tuple of str, default="auto"
        Functions that terms may have. "auto" tries sin, cos, exp, log, sqrt, reciprocals and x|x|,
        and forms with constants inside; names ask for these functions alone; an empty tuple asks
        for polynomials.
    max_terms : int, default=8
        Largest number of terms of an equation.
    order : {1, 2}, default=1
        2 finds accelerations from positions alone; terms are then in columns and their velocities,
        which are called by the column's name with "_dot".
    noise : None, float or array-like of shape (n_features,), default=None
        Standard deviation of the noise, in all columns or in each. None estimates it.
    known : dict from str to str, default=None
        The known part of derivatives, such as ``{"v": "-9.81 + ..."}``. Without the dots this is
        all of it.
    units : dict from str to str, default=None
        Units of columns, of the time under the key "t", and of inputs: coefficients are then
        written with theirs.
    constraints : sequence of str, default=None
        What equations have to obey: "dx/dt = v" (v is the derivative of x), or signs of
        coefficients such as "x*y in dx/dt <= 0" and "dx/dt >= 0" (all terms of that equation).
    shared : sequence of tuples of str, default=None
        Terms whose coefficients are the same up to their signs, such as
        ``[("s*i in ds/dt", "s*i in di/dt")]``.
    max_time : float, default=None
        Seconds after which no new system of equations is tried.
    n_jobs : int, default=None
        Number of threads over columns, while these are smoothed and terms are searched. The
        result does not depend on it.
    random_state : int, RandomState or None, default=0
        Decides which runs are held out, and which rows of large tables are searched.
    verbose : int, default=0
        1 prints one line per step.
    forms : sequence of str, default=None
        Curves of your own that terms may have, with constants inside: ``"A*x/(K + x + x^2/L)"``. x
        is any column or input; parts that a constant is a factor of are terms, times monomials.
        Those of `vanishing.laws.register_form` in x alone are tried, too. () tries none, not even
        built-in ones; with ``functions`` other than "auto" only yours are tried.

    Attributes
    ----------
    equations_ : list of EquationOfMotion
        One per column, of each batch if there are some; empty where none were found.
    verdict_ : str
        "obeys", "follows the runs; other equations do so too", or "none", each with reasons.
    front_ : list of EquationOfMotion
        For each column, the best equation of each number of terms that was tried.
    noise_ : ndarray of shape (n_features,)
        Standard deviations of the noise, given or estimated.
    evidence_ : ndarray of shape (n_features,)
        How much better each equation is than the best one that lacks one of its terms, in nats.
    lack_of_fit_ : ndarray of shape (n_features,)
        How far residuals of neighbouring rows are alike: about N(0, 1) where they are noise.
    explained_ : ndarray of shape (n_features,)
        Share of each column's variance along the runs that the integrated equations explain.
    n_pieces_ : int
        Pieces that runs had to be cut into to be followed: 1, or more where motion is chaotic.
    ambiguous_ : list of str
        Columns whose equations the runs do not determine, and combinations of columns that are
        constant along all runs.
    held_out_ : ndarray of bool of shape (n_runs,)
        Which runs were held out; none of fewer than four.
    held_out_error_ : float
        Error of the equations on runs held out, in units of the noise; NaN where there are none.
    runs_ : ndarray of shape (n_runs,)
        Labels of the runs, sorted; of a source of rows, those that were read.
    batches_ : ndarray of shape (n_runs,) or None
        The batch of each run; None where there were none.
    differing_ : list of str
        Constants that differ between batches, such as "x*y in dx/dt".
    n_inputs_ : int
        Number of inputs.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Names of the columns; only where X has names.

    See Also
    --------
    vanishing.EquationOfMotion : One of the equations.
    vanishing.ConservedQuantities : What stays the same along runs.
    vanishing.motion.derivatives : Time derivatives along runs.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import EquationsOfMotion
    >>> t = np.linspace(0.0, 6.0, 200)
    >>> X = np.column_stack([np.exp(-0.2 * t) * np.cos(2 * t), np.exp(-0.2 * t) * np.sin(2 * t)])
    >>> model = EquationsOfMotion(functions=()).fit(X, t)
    >>> for equation in model.equations_:
    ...     print(equation)
    dx0/dt = -0.2*x0 - 2*x1
    dx1/dt = 2*x0 - 0.2*x1
    >>> model.simulate([1.0, 0.0], [0.0, 1.0]).round(3)
    array([[ 1.   ,  0.   ],
           [-0.341,  0.744]])
    """

    front_: list[EquationOfMotion]
    noise_: FloatArray
    evidence_: FloatArray
    lack_of_fit_: FloatArray
    explained_: FloatArray
    n_pieces_: int
    ambiguous_: list[str]
    held_out_error_: float
    feature_names_in_: ObjectArray

    def __init__(
        self,
        max_degree: int = 3,
        *,
        functions: FunctionChoice = "auto",
        max_terms: int = 8,
        order: Literal[1, 2] = 1,
        noise: float | Vector | None = None,
        known: Mapping[str, str] | None = None,
        units: Mapping[str, str] | None = None,
        constraints: Sequence[str] | None = None,
        shared: Sequence[tuple[str, ...]] | None = None,
        max_time: float | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
        verbose: int = 0,
        forms: Sequence[str] | None = None,
    ):
        self.max_degree = max_degree
        self.functions = functions
        self.max_terms = max_terms
        self.order = order
        self.noise = noise
        self.known = known
        self.units = units
        self.constraints = constraints
        self.shared = shared
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.forms = forms

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        check_number("max_degree", self.max_degree, low=1, high=8, integer=True)
        check_number("max_terms", self.max_terms, low=1, integer=True)
        check_number("order", self.order, low=1, high=2, integer=True)
        check_number("verbose", self.verbose, low=0, integer=True)
        check_jobs(self.n_jobs)
        if self.max_time is not None:
            check_number("max_time", self.max_time, low=0, low_open=True)
        self._functions()
        self._forms()

    def _functions(self) -> tuple[str, ...] | None:
        """Return the names of the functions that are asked for; None means all."""
        if isinstance(self.functions, str):
            if self.functions == "auto":
                return None
            raise ValueError(
                f"functions must be 'auto' or a tuple of names: write ({self.functions!r},)."
            )
        if isinstance(self.functions, Mapping):
            raise ValueError("functions of single columns are not looked for: give names.")
        names = tuple(map(str, self.functions))
        for name in names:
            if name not in settings.NAMED_FUNCTIONS:
                raise ValueError(
                    f"functions must be out of {', '.join(settings.NAMED_FUNCTIONS)}; got {name!r}."
                )
        return names

    def _forms(self) -> tuple[Form, ...]:
        """Return the forms that terms may have."""
        found = []
        for form in given_forms(self.forms, self.functions):
            is_given = form.text in (self.forms or ())
            if is_given and not form.terms:
                raise ValueError(f"the form {form.text!r} has no term in x with a constant inside.")
            try:
                tape_of([term.node for term in form.terms])
            except ValueError:  # a function that laws may have, and motion may not
                if is_given:
                    raise
                continue
            found.append(form)
        return tuple(found)

    def fit(
        self,
        X: Table,
        t: Vector | str | int,
        groups: Labels | None = None,
        inputs: Table | Sequence[str] | None = None,
        sample_weight: Vector | None = None,
        *,
        batches: Labels | None = None,
    ) -> Self:
        """Find the equations of motion.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows
            Rows in any order; NaN where a cell is missing. Of blocks and Dask collections, which
            have no missing cells, whole runs of up to 200,000 rows are read into memory.
        t : array-like of shape (n_samples,); or str or int
            Their times; steps need not be equal. Of a source of rows, the column of times.
        groups : array-like of shape (n_samples,), default=None
            Which run each row belongs to; None means that all are one run.
        inputs : array-like of shape (n_samples, n_inputs), default=None
            Columns that act on the others and are not explained. Between rows they are straight
            lines. Names of a frame are used in the equations. Of a source of rows, the columns of
            inputs.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row relative to the others; 1 / variance if you know that. ``noise``
            is that of a row of mean weight.
        batches : array-like of shape (n_samples,), default=None
            The batch of each row, such as a material: one for all rows of a run. Equations then
            have the same terms in all batches, and some constants differ: `equations_` has one
            equation per batch and column, ``equation.batch`` says of which. Rows are in memory;
            without ``groups``, each batch is one run.

        Returns
        -------
        self : object
        """
        self.check_parameters()
        deadline = np.inf if self.max_time is None else time.monotonic() + self.max_time
        seed = int(check_random_state(self.random_state).randint(2**31))
        with all_or_nothing(self), one_blas_thread(), threads(self.n_jobs):
            labels: list[Group] = []
            codes = None
            if batches is not None:
                refuse(self, X)
                labels, codes = take_batches(batches)
                groups = batches if groups is None else groups
            if is_lazy(X):
                X, t, groups, inputs, sample_weight = read_runs(
                    X, t, groups, inputs, sample_weight, seed
                )
            if codes is not None and len(codes) != len(np.asarray(X)):
                raise ValueError(f"batches has {len(codes)} entries: one per row of X is needed.")
            runs = take_runs(self, X, t, groups, inputs, sample_weight, batches=codes)
            names = tuple(map(str, input_names(self)))
            check_moves(runs, names)
            self.n_inputs_ = runs[0].U.shape[1]
            variables = self._variables(names, inputs)
            progress = Progress("EquationsOfMotion", self.verbose)
            progress.step(f"{len(runs)} runs, {sum(len(run.t) for run in runs)} rows")
            of_runs = None if codes is None else np.array([run.batch for run in runs])
            held_out = runs_held_out(len(runs), self.random_state, of_runs)
            given = given_parts(
                self.known, self.constraints, self.shared, self.units, names, variables, self.order
            )
            if labels and all(given.fixed):
                raise ValueError("known has no dots: no constants could differ between batches.")
            kind = partial(BatchedFit, labels) if len(labels) > 1 else EquationsFit
            fit = kind(
                runs,
                held_out,
                names,
                variables,
                given,
                order=self.order,
                max_degree=self.max_degree,
                max_terms=self.max_terms,
                functions=self._functions(),
                forms=self._forms(),
                noise=noise_of_columns(self.noise, self.n_features_in_),
                deadline=deadline,
                seed=seed,
                progress=progress,
            )
            result = fit.result()
            self.runs_ = np.array([run.label for run in runs])
            self.batches_ = None if codes is None else np.array(labels)[of_runs]
            self.differing_ = list(result.differing)
            self.held_out_ = held_out
            self.held_out_error_ = result.held_out_error
            self.equations_, self.front_ = result.equations, result.front
            self.noise_, self.evidence_ = result.noise, result.evidence
            self.lack_of_fit_, self.explained_ = result.lack_of_fit, result.explained
            self.n_pieces_, self.ambiguous_ = result.n_pieces, result.ambiguous
            self.verdict_, self._motion = result.verdict, result.motion
        if time.monotonic() > deadline:
            warn(
                f"EquationsOfMotion: max_time={self.max_time:g} seconds were over before all "
                "systems of equations were tried."
            )
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _variables(self, names: tuple[str, ...], inputs) -> tuple[str, ...]:
        """Return the names of all variables: columns, velocities and inputs."""
        more = tuple(f"{name}_dot" for name in names) if self.order == 2 else ()
        headings = getattr(inputs, "columns", None)
        if headings is None and getattr(inputs, "name", None) is not None:
            headings = [inputs.name]
        if headings is None:
            headings = [f"u{i}" for i in range(self.n_inputs_)]
        variables = (*names, *more, *map(str, headings))
        if len(set(variables)) < len(variables):
            raise ValueError(f"two variables have the same name, of {', '.join(variables)}.")
        return variables


register(EquationsOfMotion, write_equations, read_equations)
