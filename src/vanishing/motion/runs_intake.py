"""Runs as users give them: rows in any order, times, runs, inputs, and cells that are missing."""

from collections.abc import Sequence

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d, validate_data

from vanishing._warnings import warn
from vanishing.checks import check_weights
from vanishing.equations.parts import GROUP, Group
from vanishing.motion import settings
from vanishing.motion.measured import MeasuredRun
from vanishing.rows.intake import refuse
from vanishing.rows.validation import are_missing, naming_text


def take_runs(
    estimator,
    X,
    t,
    groups=None,
    inputs=None,
    sample_weight=None,
    *,
    batches: np.ndarray | None = None,
    reset: bool = True,
) -> list[MeasuredRun]:
    """Validate rows, and return them as runs in the order of time.

    Parameters
    ----------
    estimator : object
        Gets ``n_features_in_``, and ``feature_names_in_`` where X has names.
    X : array-like of shape (n_samples, n_features)
        NaN where a cell is missing.
    t : array-like of shape (n_samples,)
    groups : array-like of shape (n_samples,), or None
    inputs : array-like of shape (n_samples, n_inputs), or None
    sample_weight : array-like of shape (n_samples,), or None
    batches : array of int of shape (n_samples,), or None
        Place of the batch of each row: one for all rows of a run.
    reset : bool
        Whether columns are set in the estimator, or compared with those it has.
    """
    refuse(estimator, X)
    if t is None:
        raise ValueError("t is required: the time of each row, as in fit(X, t).")
    with naming_text(X):
        X = validate_data(
            estimator, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
        )
    n = len(X)
    t = _times(t, n)
    U = _inputs(inputs, n)
    weight = check_weights(sample_weight, n)
    weight = np.ones(n) if weight is None else weight
    labels, run = _groups(groups, n)
    if reset:
        _warn_of_steps_back(t, run, labels, groups is not None)
    kept = np.isfinite(X).any(axis=1) & (weight > 0)
    rows = np.flatnonzero(kept)
    order = rows[np.lexsort((t[rows], run[rows]))]
    found = []
    bounds = np.searchsorted(run[order], np.arange(len(labels) + 1))
    for label, low, high in zip(labels.tolist(), bounds[:-1], bounds[1:], strict=True):
        part = order[low:high]
        where = "" if groups is None else f" of the run {label!r}"
        if not len(part):
            continue
        merged = _merged(label, where, t[part], X[part], U[part], weight[part])
        if batches is not None:
            of_run = batches[part]
            if np.ptp(of_run):
                raise ValueError(f"rows{where} are of several batches: a run is of one.")
            merged = merged._replace(batch=int(of_run[0]))
        found.append(merged)
    if not found:
        raise ValueError("X has no rows (of positive weight): nothing to fit.")
    # Weights count relative to one another: noise is that of a row of mean weight.
    mean = np.concatenate([run.weight for run in found]).mean()
    return [run._replace(weight=run.weight / mean) for run in found]


def _times(t, n: int) -> np.ndarray:
    kind = getattr(getattr(t, "dtype", None), "kind", "")
    if kind in "mM" and kind:
        raise ValueError(
            "t holds dates or durations, not numbers: give the time since a date, for instance "
            "(dates - dates.min()).dt.total_seconds()."
        )
    t = check_array(t, dtype=np.float64, ensure_2d=False, input_name="t")
    if t.ndim == 2 and t.shape[1] == 1:
        t = t[:, 0]
    if t.shape != (n,):
        raise ValueError(f"t must be one number per row, shape ({n},); its shape is {t.shape}.")
    return t


def _warn_of_steps_back(t: np.ndarray, run: np.ndarray, labels, has_groups: bool) -> None:
    """Warn of a run in the order of time but for a few steps back, which may be several runs."""
    order = np.argsort(run, kind="stable")
    same = run[order][1:] == run[order][:-1]
    back = same & (np.diff(t[order]) < 0)
    counts = np.bincount(run[order][1:][back], minlength=len(labels))
    rows = np.bincount(run, minlength=len(labels))
    few = np.flatnonzero((counts > 0) & (counts <= settings.STEPS_BACK * rows))
    if few.size:
        at = order[1:][back & (run[order][1:] == few[0])][0]
        whose = f"the run {labels[few[0]].item()!r}" if has_groups else "the table"
        warn(
            f"EquationsOfMotion: {whose} is in the order of time, except for {counts[few[0]]} "
            f"steps back, the first at row {at}. Its rows were sorted. If another run begins "
            "there, give it another label (groups)."
        )


def _inputs(inputs, n: int) -> np.ndarray:
    if inputs is None:
        return np.zeros((n, 0))
    U = check_array(inputs, dtype=np.float64, ensure_2d=False, input_name="inputs")
    U = U[:, np.newaxis] if U.ndim == 1 else U
    if len(U) != n:
        raise ValueError(f"inputs has {len(U)} rows, and X has {n}: one per row is needed.")
    return U


def _groups(groups, n: int) -> tuple[np.ndarray, np.ndarray]:
    if groups is None:
        return np.zeros(1), np.zeros(n, dtype=np.int64)
    groups = column_or_1d(groups)
    if len(groups) != n:
        raise ValueError(f"groups has {len(groups)} entries, and X has {n} rows.")
    missing = are_missing(groups)
    if missing.any():
        raise ValueError(f"groups has no run for row {np.argmax(missing)}: drop such rows.")
    try:
        return np.unique(groups, return_inverse=True)
    except TypeError:
        raise ValueError(
            "Some groups are text and others numbers. Convert them to one kind."
        ) from None


def take_batches(batches, known: Sequence[Group] | None = None) -> tuple[list[Group], np.ndarray]:
    """Return the labels of batches, and the place of each entry among them.

    Parameters
    ----------
    batches : array-like of shape (n_entries,)
    known : sequence of labels, default=None
        Labels that there are: others are an error.
    """
    entries = np.asarray(column_or_1d(batches))
    missing = are_missing(entries)
    if missing.any():
        raise ValueError(f"batches has no batch for row {np.argmax(missing)}: drop such rows.")
    if known is None:
        try:
            labels, places = np.unique(entries, return_inverse=True)
        except TypeError:  # numbers among texts
            labels, places = np.unique(entries.astype(str), return_inverse=True)
        plain = [v if isinstance(v, GROUP) and v is not True else str(v) for v in labels.tolist()]
        return plain, places
    # As text: a table on disk has text where an array may have had numbers.
    of_label = {str(label): i for i, label in enumerate(known)}
    unknown = [entry for entry in entries.tolist() if str(entry) not in of_label]
    if unknown:
        raise ValueError(
            f"there is no batch {unknown[0]!r}; the batches are {', '.join(map(repr, known))}."
        )
    return list(known), np.array([of_label[str(entry)] for entry in entries.tolist()], dtype=int)


def _merged(label, where: str, t, X, U, weight) -> MeasuredRun:
    """Return a run in which rows that were given several times are one row of their weight."""
    same = np.flatnonzero(np.diff(t) == 0)
    if same.size:
        differ = (X[same] != X[same + 1]) & ~(np.isnan(X[same]) & np.isnan(X[same + 1]))
        differ = differ.any(axis=1) | (U[same] != U[same + 1]).any(axis=1)
        if differ.any():
            raise ValueError(
                f"two rows{where} have the same time {t[same[differ.argmax()]]:g} and different "
                "values: give each run a label of its own (groups), or average such rows."
            )
        first = np.flatnonzero(np.append(True, np.diff(t) != 0))
        weight = np.add.reduceat(weight, first)
        t, X, U = t[first], X[first], U[first]
    if len(t) < 2:
        raise ValueError(
            f"{'the table' if not where else where.removeprefix(' of ')} has one row, along which "
            "nothing moves: every run needs two rows at least, and should have many."
        )
    return MeasuredRun(label, t - t[0], X, np.ascontiguousarray(U), weight, float(t[0]))


def check_moves(runs: Sequence[MeasuredRun], names: Sequence[str]) -> None:
    """Raise ValueError where a run or a column tells nothing."""
    for j, name in enumerate(names):
        moves = False
        for run in runs:
            x = run.X[np.isfinite(run.X[:, j]), j]
            if len(x) < 2:
                raise ValueError(
                    f"column {name!r} has fewer than two values in the run {run.label!r}: leave "
                    "that run out, or the column."
                )
            moves = moves or float(np.ptp(x)) > 0.0
        if not moves:
            raise ValueError(
                f"column {name!r} does not move in any run: its derivative is zero. Leave it out, "
                "or give it as one of the inputs."
            )
    sizes = [float(np.nanmax(np.abs(run.X))) for run in runs]
    if max(sizes) > 1e100:
        raise ValueError("columns must be smaller than 1e100: change their units.")
