"""The estimator `VanishingOutlierDetector`, which says which rows break the laws of a table."""

from typing import Literal, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from vanishing._names import module_of
from vanishing._threads import one_blas_thread, threads
from vanishing._types import (
    Array,
    FloatArray,
    IntArray,
    Labels,
    ObjectArray,
    RandomState,
    Table,
    Vector,
)
from vanishing._warnings import warn
from vanishing.checks import check_choice, check_number
from vanishing.equations.law import Law
from vanishing.estimators.bases import BaseEstimator, OutlierMixin
from vanishing.estimators.fits import all_or_nothing
from vanishing.estimators.notebook import HTMLRepresentation
from vanishing.estimators.row_methods import row_by_row
from vanishing.estimators.saving import Savable
from vanishing.outliers.from_moments import state_from
from vanishing.outliers.gap_training import without_gaps
from vanishing.outliers.lags import lagged, last_rows, names_with_lags, training_rows
from vanishing.outliers.ordered_rows import OrderedRows
from vanishing.outliers.passes import weights_of
from vanishing.outliers.reasons import Reason, reasons_of
from vanishing.outliers.saving import read_detector, write_detector
from vanishing.outliers.state import DetectorState, fit_state, updated
from vanishing.outliers.thresholds import conformal_p_values, lowest_normal, share_below
from vanishing.persistence import register
from vanishing.rows.intake import adopt_layout, take_rows_in_memory
from vanishing.rows.moments import Moments


class VanishingOutlierDetector(
    Savable, HTMLRepresentation, OrderedRows, OutlierMixin, BaseEstimator
):
    """Find rows that break the laws of a table, or are unusual, and say why.

    The score has two parts. Both come from moments of 1, the columns and products of their
    principal components. Rows are weighted so that wild ones count little. *Breaks a law*: each
    column is compared with its prediction from all others, relative to the noise at that row.
    *Unusual*: the same, learned from the half of the rows that are nearest to one another. The
    larger of the two counts.

    Parameters
    ----------
    max_degree : int, default=2
        Largest degree of products; lowered where there are fewer than ten rows per feature.
    contamination : "auto" or float, default="auto"
        A number is the share of training rows that count as outliers. "auto" sets the threshold
        by ``false_alarm_rate``, and leaves out training rows that break laws and are more than
        normal rows explain: up to 35 % of all.
    false_alarm_rate : float, default=0.01
        Share of normal new rows that may be called outliers. The threshold comes from scores of
        training rows by the moments of all others. Training rows that are wrong and break no law
        count as normal: where they are more than this share, give ``contamination`` instead.
    half_life : float, default=None
        Number of rows after which what `partial_fit` has learned counts half; None: it counts in
        full forever.
    lags : int, default=0
        How many rows before each row are columns, too, such as ``flow[t-1]``: of rows in the order
        of time. The first rows of each run, and of each call of a method, are scored by the columns
        that they have.
    missing : "error" or "ignore", default="error"
        "ignore" takes NaN for cells that are missing: rows with gaps are scored by the columns that
        they have, and the fit uses these cells, too.
    neighbours : bool or "auto", default="auto"
        Whether the score also uses the distance of a row to the nearest of some training rows (up
        to eight groups of 128 rows), in the columns that no law determines. "auto": unless more
        than 5 % of the training rows break laws, since rows that are wrong alike are near one
        another.
    n_jobs : int, default=None
        Number of threads over rows. The result does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed of all random choices. If there are more than 10,000 rows, it decides which are
        searched, and which 10,000 scores of training rows are kept. It also decides the threshold
        of `fit_moments`, which is that of random normal rows. Nothing else: a fit to at most 10,000
        rows does not depend on it. None: other ones in each fit.

    Attributes
    ----------
    offset_ : float
        The threshold: ``decision_function`` is ``score_samples`` minus this, and rows below zero
        are outliers.
    offset_std_ : float
        Standard error of the threshold, from the number of scores it comes from.
    contamination_ : float
        Share of training rows that are wrong: estimated where `contamination` is "auto".
    laws_ : list of Law
        Equations with few terms that the columns obey, the shortest first; none is a multiple or
        a consequence of others. Their errors are those of rows that they were not fitted to.
        After `partial_fit`, those that hold no longer are at the end and say so in their
        verdicts. Searched for when first read; the result does not depend on when that is.
    n_samples_seen_ : int
        Number of rows that were learned from.
    column_names_ : list of str of length n_features_in_ * (1 + lags)
        Names of the columns in reasons and laws: x0, x1, ... where X has none; before them those of
        rows before, x0[t-1], ...
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Names of the columns; only where X has names.
    learned : DetectorState
        All that was learned, as one value, for exports and studies.

    See Also
    --------
    vanishing.LawFinder : Laws with evidence, roots and functions.
    vanishing.check_law : Does an equation that you know hold?
    vanishing.Moments : What `fit_moments` takes in place of rows.
    vanishing.plot.OutlierDisplay : A picture of the rows that break a law.

    Notes
    -----
    The rows are read twice if there are more than 10,000, and once otherwise; no number per row is
    kept. GPU arrays are brought to the CPU some rows at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import VanishingOutlierDetector
    >>> random = np.random.default_rng(0)
    >>> q, w = random.uniform(1, 3, (2, 1000))
    >>> X = np.column_stack([q, w, q * w]) * (1 + 0.005 * random.normal(size=(1000, 3)))
    >>> X[7, 2] *= 1.1
    >>> detector = VanishingOutlierDetector(random_state=0).fit(X)
    >>> int(detector.score_samples(X).argmin())
    7
    >>> print(detector.explain(X[7:8])[0][0]["law"])
    x2 = 1.0000(3)*x0*x1
    """

    offset_: float
    offset_std_: float
    contamination_: float
    n_features_in_: int
    feature_names_in_: ObjectArray

    def __init__(
        self,
        max_degree: int = 2,
        *,
        contamination: float | Literal["auto"] = "auto",
        false_alarm_rate: float = 0.01,
        half_life: float | None = None,
        lags: int = 0,
        missing: Literal["error", "ignore"] = "error",
        neighbours: bool | Literal["auto"] = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ):
        self.max_degree = max_degree
        self.contamination = contamination
        self.false_alarm_rate = false_alarm_rate
        self.half_life = half_life
        self.lags = lags
        self.missing = missing
        self.neighbours = neighbours
        self.n_jobs = n_jobs
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        check_number("max_degree", self.max_degree, low=1, high=4, integer=True)
        if isinstance(self.contamination, str):
            check_choice("contamination", self.contamination, ("auto",))
        else:
            check_number("contamination", self.contamination, low=0, low_open=True, high=0.5)
        check_number("false_alarm_rate", self.false_alarm_rate, low=0, low_open=True, high=0.5)
        if self.half_life is not None:
            check_number("half_life", self.half_life, low=0, low_open=True)
        check_number("lags", self.lags, low=0, high=100, integer=True)
        check_choice("missing", self.missing, ("error", "ignore"))
        if not isinstance(self.neighbours, bool | np.bool_):
            check_choice("neighbours", self.neighbours, (True, False, "auto"))

    # -- Learning ---------------------------------------------------------------------------------

    def fit(
        self,
        X: Table,
        y: object = None,
        sample_weight: Vector | None = None,
        groups: Labels | None = None,
    ) -> Self:
        """Learn the laws and the threshold from training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows
            Also `Blocks` and what they are made of, Dask collections, PyTorch and CuPy arrays.
            Some of the rows may be wrong.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight of each row; 1 / variance if you know that.
        groups : array-like of shape (n_samples,), default=None
            The run of each row, where there are several: with ``lags``, the rows before the first
            one of a run are not known.

        Returns
        -------
        self : object
        """
        self.check_parameters()
        with all_or_nothing(self), one_blas_thread(), threads(self.n_jobs):
            source, self._last_rows = training_rows(self, X, sample_weight, groups)
            seed = int(check_random_state(self.random_state).randint(2**31))
            names = names_with_lags(self)
            if self.lags or self.takes_gaps:
                source = without_gaps(source, names, seed, self.max_degree)
            state, rows, weight = fit_state(
                source.ask, names, seed, self.max_degree, self.neighbours
            )
            self._state = state
            if self.contamination != "auto" and source.part is not None:
                rows, weight = source.part.X, weights_of(source.part)  # all are at hand
            self._set_offset(rows, weight)
        if self.contamination == "auto" and self.false_alarm_rate * (state.n_rows + 1.0) < 1.0:
            warn(
                f"{state.n_rows:.0f} different rows are too few for one alarm in "
                f"{1 / self.false_alarm_rate:.0f}: the threshold is a guess beyond all "
                f"of them. Give at least {np.ceil(1 / self.false_alarm_rate - 1 - 1e-9):.0f} rows, "
                "or a larger false_alarm_rate."
            )
        if state.n_rows <= len(names):
            warn(
                f"there are {state.n_rows:.0f} different rows and {len(names)} columns: "
                "laws and chance look alike, and scores are rough. Give more rows or fewer columns."
            )
        return self

    def _set_offset(self, rows: np.ndarray | None = None, weight=None) -> None:
        """Set the threshold by scores that rows had before they were learned from.

        Where `contamination` is a share of training rows, these are what the threshold is of as
        long as they are at hand.
        """
        calibration = self._state.calibration
        if self.contamination == "auto":
            found = lowest_normal(calibration, self.false_alarm_rate)
        elif rows is None:
            found = share_below(calibration.scores, calibration.counts, self.contamination)
        else:
            found = share_below(self._scores(rows), weight, self.contamination)
        self.offset_, self.offset_std_, self.contamination_ = found

    def partial_fit(self, X: Table, y: object = None, sample_weight: Vector | None = None) -> Self:
        """Learn from a batch of rows, each weighted by what the model so far thinks of it.

        The first batch is fitted as a whole, and should have some hundred rows: units, products
        and local noise stay as it has them. The threshold follows the scores that rows of later
        batches have before they are learned from. With ``lags``, batches come in the order of time:
        the last rows of one are those before the first of the next.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        if not hasattr(self, "_state"):
            return self.fit(X, sample_weight=sample_weight)
        self.check_parameters()
        with all_or_nothing(self), one_blas_thread(), threads(self.n_jobs):
            part = take_rows_in_memory(
                self,
                X,
                sample_weight=sample_weight,
                method="partial_fit",
                reset=False,
                keep_all=True,
            )
            rows = lagged(part.X, self._n_lags, self._last_rows)
            if self._n_lags:
                self._last_rows = last_rows(part.X, self._n_lags, self._last_rows)
            part = part._replace(X=rows).with_weight()
            rows = self._without_gaps(np.asarray(part.X, dtype=np.float64))
            share = self.false_alarm_rate if self.contamination == "auto" else self.contamination
            limits = (self.offset_, share)
            self._state = updated(self._state, rows, weights_of(part), self.half_life, limits)
            self._set_offset()
        return self

    def fit_moments(self, moments: Moments) -> Self:
        """Learn from moments alone, without the rows.

        Not robust: moments count all rows alike, wrong ones too, and a warning says so. The
        threshold is that of normally distributed residuals. `p_values` need calibration rows then.

        Parameters
        ----------
        moments : Moments
            Of degree `max_degree` at least 2, of rows scaled so that their spread is not tiny
            relative to their size.

        Returns
        -------
        self : object
        """
        self.check_parameters()
        if not isinstance(moments, Moments):
            raise TypeError(f"fit_moments takes Moments; got {type(moments).__name__}.")
        if not isinstance(self.contamination, str):
            raise ValueError(
                "contamination is a share of training rows, and moments do not keep rows: leave "
                "it 'auto' and set false_alarm_rate."
            )
        if self.lags:
            raise ValueError("moments do not keep the order of rows: set lags to 0.")
        with all_or_nothing(self), one_blas_thread(), threads(self.n_jobs):
            adopt_layout(self, moments.layout)
            self._last_rows = None
            seed = int(check_random_state(self.random_state).randint(2**31))
            self._state = state_from(moments, names_with_lags(self), np.random.default_rng(seed))
            self._set_offset()
        warn(
            "moments count wrong rows as much as right ones, so this fit is not robust: fit to "
            "the rows if some may be wrong."
        )
        return self

    # -- Answers ----------------------------------------------------------------------------------

    @row_by_row(dtype=lambda self: np.float64)
    def score_samples(self, X: Array) -> FloatArray:
        """Return how normal rows are: the lower, the less.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            About 0 for the middle row. Lazy for `Blocks` and Dask collections.
        """
        return self._scores_in_order(X)

    @row_by_row(dtype=lambda self: np.float64)
    def decision_function(self, X: Array) -> FloatArray:
        """Return `score_samples` minus the threshold: negative for outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return self._decisions(X)

    @row_by_row(dtype=lambda self: np.int64)
    def predict(self, X: Array) -> IntArray:
        """Return -1 for outliers and 1 for others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return np.where(self._decisions(X) < 0.0, -1, 1)

    def p_values(self, X: Table, calibration: Table | None = None) -> FloatArray:
        """Return the chance that a normal row looks at least as odd.

        With calibration rows it is split-conformal: if rows are drawn as the calibration rows are,
        a p value is at most a with probability at most a, whatever the model. Of n calibration
        rows the smallest p value is 1 / (n + 1), so that alarms at a level a need at least
        1 / a - 1 of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        calibration : array-like of shape (n_calibration, n_features), default=None
            Normal rows that the detector has not seen. By default the scores that training rows
            have by the moments of the others take their place: about right, but not guaranteed.

        Returns
        -------
        p : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        scores = self._scores_in_memory(X)
        if calibration is None:
            known, weight = self._state.calibration.scores, self._state.calibration.counts
        else:
            known = self._scores_in_memory(calibration)
            weight = np.ones(len(known))
        if (len(known) + 1) * self.false_alarm_rate < 1.0:
            warn(
                f"p values cannot be below {1 / (len(known) + 1):.2g} with {len(known)} rows to "
                f"compare with: alarms at false_alarm_rate={self.false_alarm_rate} need at least "
                f"{int(np.ceil(1 / self.false_alarm_rate - 1 - 1e-9))}."
            )
        return conformal_p_values(scores, known, weight)

    def explain(self, X: Table, rows: Vector | None = None) -> list[list[Reason]]:
        """Say why rows have their scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        rows : array-like of int, default=None
            Places of the rows to explain; None: all of them. With ``lags``, the rows before them
            are taken from X.

        Returns
        -------
        reasons : list of lists of dict
            One reason per law that a row breaks, the law it breaks most first; or one reason if it
            breaks none. Keys are "kind" ("broken law" or "unusual combination"), "law" (a `Law`, or
            None if no short equation is known) and "columns" (the column to blame). If laws cannot
            tell which of two columns is wrong, "columns" has both, the one outside its own range
            first. "expected" and "found" are values by column. "shares" are those of each column in
            the score, and "probabilities" those that this column alone is wrong, if one is.
        """
        check_is_fitted(self)
        X = lagged(take_rows_in_memory(self, X, method="explain", reset=False).X, self._n_lags)
        with one_blas_thread():
            chosen = X if rows is None else X[np.asarray(rows, dtype=int)]
            return reasons_of(self._state, chosen, self.offset_)

    def repair(self, X: Table) -> FloatArray:
        """Return a table in which gaps are filled and values that break `laws_` are replaced.

        It is what ``VanishingRepair(laws=detector).fit(X).transform(X)`` returns: the noise and the
        covariance of the columns are those of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN where there are gaps. Some hundred rows.

        Returns
        -------
        repaired : ndarray of shape (n_samples, n_features)

        See Also
        --------
        vanishing.VanishingRepair : Says what it changed, too, and how sure that is.
        """
        check_is_fitted(self)
        repair = module_of("VanishingRepair").VanishingRepair(laws=self, n_jobs=self.n_jobs)
        return repair.fit(X).transform(X)

    @property
    def laws_(self) -> list[Law]:
        """Equations with few terms that the columns obey."""
        # One among rows before alone is the same law, one row later.
        n_before = len(self.learned.names) - self.n_features_in_
        laws = self.learned.laws
        return [known.law for known in laws if max(known.columns, default=n_before) >= n_before]

    @property
    def n_samples_seen_(self) -> int:
        """How many rows have been learned from."""
        return self.learned.n_samples

    @property
    def column_names_(self) -> list[str]:
        """Names of the columns: x0, x1, ... where X has none."""
        return list(self.learned.names)

    @property
    def learned(self) -> DetectorState:
        """All that was learned, as one value; scores, laws and reasons follow from it."""
        check_is_fitted(self)
        return self._state

    @learned.setter
    def learned(self, state: DetectorState) -> None:
        self._state = state


# -- What is saved --------------------------------------------------------------------------------


register(VanishingOutlierDetector, write_detector, read_detector)
