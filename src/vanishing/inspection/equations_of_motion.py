"""Equations of motion on rows: where they take each run, from starts that are fitted to it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vanishing._types import Labels, Table, Vector
from vanishing.estimators.names import input_names
from vanishing.inspection.samples import evenly
from vanishing.motion.equations_of_motion import EquationsOfMotion
from vanishing.motion.measured import MeasuredRun, cut_runs
from vanishing.motion.parameters import noise_of_columns
from vanishing.motion.runs_intake import take_runs
from vanishing.motion.shooting import path_of
from vanishing.motion.simulation import FittedMotion, followed_runs, states_between

_CURVE = 200  # steps of a curve at least: straight lines between few rows would be angular


@dataclass(frozen=True)
class FollowedRun:
    """A run in the order of time, and where the equations take it.

    Attributes
    ----------
    label : object
    held_out : bool
        Whether it was held out in the fit.
    times : ndarray of shape (n_rows,)
    measured : ndarray of shape (n_rows, n_columns)
        NaN where a cell is missing.
    fitted : ndarray of shape (n_rows, n_columns)
        NaN where there are no equations, or where these cannot be integrated.
    curve_times : ndarray of shape (n_points,)
    curve : ndarray of shape (n_points, n_states)
        States along the fitted run, columns first and then, for order 2, their velocities; rows of
        NaN are between pieces.
    """

    label: object
    held_out: bool
    times: np.ndarray
    measured: np.ndarray
    fitted: np.ndarray
    curve_times: np.ndarray
    curve: np.ndarray

    @property
    def residuals(self) -> np.ndarray:
        """Measured minus fitted."""
        return self.measured - self.fitted


@dataclass(frozen=True)
class FollowedRuns:
    """Runs, and where equations of motion take them.

    Attributes
    ----------
    model : EquationsOfMotion
    runs : list of FollowedRun
        By their labels.
    n_runs, n_rows : int
        How many there are, of which ``runs`` may be some.
    names : tuple of str
        Of the columns.

    See Also
    --------
    MotionRows : What is conserved along runs.
    vanishing.EquationsOfMotion : The equations that are followed.
    """

    model: EquationsOfMotion
    runs: list[FollowedRun]
    n_runs: int
    n_rows: int
    names: tuple[str, ...]

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the states: of the columns and, for order 2, of their velocities."""
        motion = self.model._motion
        order = 1 if motion is None else motion.system.order
        return self.names if order == 1 else (*self.names, *(f"{name}_dot" for name in self.names))

    @property
    def has_field(self) -> bool:
        """Whether the motion is one field in a plane: two states, no inputs, no batches."""
        model = self.model
        is_one = model._motion is not None and not model.n_inputs_ and not model.differing_
        return is_one and len(self.states) == 2

    def field_grid(self, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return a grid about the runs in the plane of two states, and how states move on it.

        Parameters
        ----------
        size : int
            Points in each direction.

        Returns
        -------
        x, y : ndarrays of shape (size,)
        slopes : ndarray of shape (size, size, 2)
            A row per y; NaN where the equations are not defined.
        """
        states = [run.curve for run in self.runs]
        if len(self.names) == 2:
            states += [run.measured for run in self.runs]
        low, high = (f(np.concatenate(states), axis=0) for f in (np.nanmin, np.nanmax))
        margin = 0.05 * (high - low)
        x, y = (np.linspace(a, b, size) for a, b in zip(low - margin, high + margin, strict=True))
        points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        slopes = self.model._found().derivatives(points)
        if len(self.names) == 1:  # the velocity is a state, too
            slopes = np.column_stack([points[:, 1], slopes])
        slopes[~np.isfinite(slopes)] = np.nan
        return x, y, slopes.reshape(size, size, 2)

    def errors(self, held_out: bool) -> np.ndarray:
        """Return root mean squares of the residuals of runs held out, or of the others.

        NaN where there are none.
        """
        rest = [run.residuals for run in self.runs if run.held_out == held_out]
        rows = np.concatenate([np.empty((0, len(self.names))), *rest])
        counts = np.isfinite(rows).sum(axis=0)
        with np.errstate(invalid="ignore"):
            return np.sqrt(np.nansum(rows**2, axis=0) / np.where(counts > 0, counts, np.nan))


def followed(
    model: EquationsOfMotion,
    X: Table,
    t: Vector,
    groups: Labels | None = None,
    inputs: Table | None = None,
    *,
    max_runs: int | None = None,
) -> FollowedRuns:
    """Follow runs by the equations of motion that were found.

    Starts of the runs are fitted to them, and nothing else. Where the fit cut runs into pieces,
    each piece has a start of its own.

    Parameters
    ----------
    model : EquationsOfMotion
        Fitted.
    X : array-like of shape (n_samples, n_features), or frame
    t : array-like of shape (n_samples,)
        Times of the rows.
    groups : array-like of shape (n_samples,), default=None
        Which run each row belongs to; None means that all are one run.
    inputs : array-like of shape (n_samples, n_inputs), default=None
        Those that the model was fitted with.
    max_runs : int, default=None
        Of more runs, so many are followed: some of those held out, and some of the others.

    Returns
    -------
    runs : FollowedRuns

    See Also
    --------
    vanishing.plot.EquationsOfMotionDisplay : A picture of them.
    vanishing.report.write_report : A page about them.
    """
    if not isinstance(model, EquationsOfMotion):
        raise TypeError(f"an EquationsOfMotion is needed; got {type(model).__name__}.")
    check_is_fitted(model, "equations_")
    motion = model._motion
    if motion is not None:
        model._checked_inputs(inputs, len(np.asarray(X)))
    runs = take_runs(model, X, t, groups, inputs, reset=False)
    if model.batches_ is not None:
        runs = _with_batches(model, runs, model.batches_)
    # As text: a table on disk has text where an array may have had numbers.
    labels = set(map(str, model.runs_[model.held_out_].tolist()))
    held_out = np.array([str(run.label) in labels for run in runs])
    chosen = _chosen(held_out, len(runs) if max_runs is None else max_runs)
    n_pieces = max(model.n_pieces_, 1)
    noise = noise_of_columns(model.noise, model.n_features_in_)
    found = [
        _followed(
            None if motion is None else motion.of_batch(runs[i].batch),
            runs[i],
            bool(held_out[i]),
            n_pieces,
            noise,
        )
        for i in chosen
    ]
    return FollowedRuns(
        model=model,
        runs=found,
        n_runs=len(runs),
        n_rows=sum(len(run.t) for run in runs),
        names=tuple(map(str, input_names(model))),
    )


def _with_batches(
    model: EquationsOfMotion, runs: list[MeasuredRun], batches: np.ndarray
) -> list[MeasuredRun]:
    """Return runs with the batch that each had in the fit."""
    places = np.unique(batches, return_inverse=True)[1].tolist()
    of_run = dict(zip(map(str, model.runs_.tolist()), places, strict=True))
    for run in runs:
        if str(run.label) not in of_run:
            raise ValueError(
                f"the run {run.label!r} was not fitted, so its batch is not known: use "
                "model.of_batch(...)."
            )
    return [run._replace(batch=of_run[str(run.label)]) for run in runs]


def _chosen(held_out: np.ndarray, most: int) -> Sequence[int]:
    """Return which runs are followed: a quarter or more of those held out, if there are many."""
    others, kept = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    n_kept = min(len(kept), max(1, most // 4, most - len(others)))
    kept = kept[evenly(len(kept), n_kept)]
    return sorted([*kept, *others[evenly(len(others), most - n_kept)]])


def _followed(
    motion: FittedMotion | None,
    run: MeasuredRun,
    held_out: bool,
    n_pieces: int,
    noise: np.ndarray | None,
) -> FollowedRun:
    times = run.begin + run.t
    if motion is None:
        nothing = np.full_like(run.X, np.nan)
        return FollowedRun(run.label, held_out, times, run.X, nothing, times[:0], nothing[:0])
    shot, rows = followed_runs(motion, cut_runs([run]), n_pieces, noise)
    path, _ = path_of(shot, rows)
    longest = run.t[-1] / _CURVE
    curve_times, curve = [], []
    for low, high in shot.bounds.tolist():
        part = slice(low, high)
        t, states = states_between(motion, path[part], rows.t[part], rows.U[part], longest)
        curve_times += [run.begin + t, np.array([np.nan])]
        curve += [states, np.full((1, path.shape[1]), np.nan)]
    n_columns = run.X.shape[1]
    return FollowedRun(
        run.label,
        held_out,
        times,
        run.X,
        path[:, :n_columns],
        np.concatenate(curve_times)[:-1],
        np.concatenate(curve)[:-1],
    )
