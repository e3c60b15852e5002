"""Conserved quantities on rows: their values along each run over time, and their spread."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted, column_or_1d

from vanishing._types import Labels, Table, Vector
from vanishing.motion.conserved import ConservedQuantities
from vanishing.rows.intake import refuse


@dataclass(frozen=True)
class Run:
    """The rows of a run, in their order.

    Attributes
    ----------
    label : object
    held_out : bool
        Whether it was held out in the fit.
    places : ndarray of int of shape (n_rows,)
        Of its rows among all.
    times : ndarray of shape (n_rows,)
    values : ndarray of shape (n_rows, n_quantities)
        NaN where a quantity is not defined.
    """

    label: object
    held_out: bool
    places: np.ndarray
    times: np.ndarray
    values: np.ndarray

    def mean(self, place: int) -> float:
        """Return the mean of a quantity, NaN where it is nowhere defined."""
        good = self.defined(place)
        return float(self.values[good, place].mean()) if good.any() else np.nan

    def defined(self, place: int) -> np.ndarray:
        """Say which rows a quantity is defined on."""
        return np.isfinite(self.values[:, place])


@dataclass(frozen=True)
class MotionRows:
    """What was found, on the rows of runs.

    Attributes
    ----------
    model : ConservedQuantities
    runs : list of Run
        By their labels.
    within, between : ndarray of shape (n_quantities,)
        Standard deviations within runs, and of the means of runs, weighted by their rows.
    n_undefined : int
        Rows on which a quantity is not defined.
    timed : bool
        Whether times were given; they are numbers of rows within runs otherwise.

    See Also
    --------
    FollowedRuns : Runs that equations follow.
    vanishing.ConservedQuantities : What finds the quantities.
    """

    model: ConservedQuantities
    runs: list[Run]
    within: np.ndarray
    between: np.ndarray
    n_undefined: int
    timed: bool

    @property
    def ratios(self) -> np.ndarray:
        """Variance within runs over that of all rows, per quantity."""
        total = self.within**2 + self.between**2
        return self.within**2 / np.where(total > 0.0, total, 1.0)

    @property
    def seen(self) -> bool:
        """Whether these appear to be the training rows: the same runs, with the same means."""
        labels = [run.label for run in self.runs]
        if not self.model.quantities_ or labels != self.model.runs_.tolist():
            return False
        means = [[run.mean(i) for i in range(len(self.within))] for run in self.runs]
        return bool(np.allclose(means, self.model.values_, rtol=1e-9, atol=0.0))


def motion_rows(
    model: ConservedQuantities, X: Table, groups: Labels | None, t: Vector | None = None
) -> MotionRows:
    """Evaluate a model of motion on the rows of runs.

    Parameters
    ----------
    model : ConservedQuantities
        Fitted.
    X : array-like of shape (n_samples, n_features), or frame
    groups : array-like of shape (n_samples,)
        Which run each row belongs to.
    t : array-like of shape (n_samples,), default=None
        Times; None takes the rows of a run in their order.

    Returns
    -------
    rows : MotionRows

    See Also
    --------
    vanishing.plot.ConservedQuantitiesDisplay : A picture of them.
    vanishing.report.write_report : A page about them.
    """
    check_is_fitted(model, "quantities_")
    refuse(model, X, "score")
    model.score(X, groups=groups)  # which checks the rows and the runs
    n_rows, count = len(np.asarray(X)), len(model.quantities_)
    values = np.empty((n_rows, 0))
    if count:
        values = np.column_stack([quantity(X) for quantity in model.quantities_])
        values[~np.isfinite(values)] = np.nan
    if t is not None:
        t = column_or_1d(t).astype(np.float64)
        if len(t) != n_rows or not np.isfinite(t).all():
            raise ValueError(f"t must have {n_rows} finite numbers, one per row.")
    labels, place = np.unique(column_or_1d(groups), return_inverse=True)
    # As text: a table on disk has text where an array may have had numbers.
    held_out = set(map(str, model.runs_[model.held_out_].tolist()))
    order = np.argsort(place, kind="stable")
    runs = []
    for label, rows in zip(
        labels.tolist(), np.split(order, np.flatnonzero(np.diff(place[order])) + 1), strict=True
    ):
        if t is not None:
            rows = rows[np.argsort(t[rows], kind="stable")]
        times = np.arange(1.0, len(rows) + 1) if t is None else t[rows]
        runs.append(Run(label, str(label) in held_out, rows, times, values[rows]))
    spreads = [spread(values[:, i], place) for i in range(count)]
    return MotionRows(
        model=model,
        runs=runs,
        within=np.array([within for within, _ in spreads]),
        between=np.array([between for _, between in spreads]),
        n_undefined=int(np.count_nonzero(np.isnan(values).any(axis=1))),
        timed=t is not None,
    )


def spread(values: np.ndarray, run: np.ndarray) -> tuple[float, float]:
    """Return standard deviations within runs, and of their means."""
    good = np.isfinite(values)
    if not good.any():
        return np.nan, np.nan
    values, (_, run) = values[good], np.unique(run[good], return_inverse=True)
    means = (np.bincount(run, values) / np.bincount(run))[run]
    return float(np.sqrt(np.mean((values - means) ** 2))), float(np.std(means))
