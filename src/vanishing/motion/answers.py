"""What fitted equations of motion answer: derivatives, simulated runs, and how good these are."""

from copy import copy
from typing import Any, Literal, Self, overload

import numpy as np
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import check_is_fitted

from vanishing._types import Array, BoolArray, FloatArray, LabelArray, Labels, Table, Vector
from vanishing.equations.parts import Group
from vanishing.estimators.row_methods import RowMethods, by_row_methods, row_by_row
from vanishing.motion.equation import EquationOfMotion
from vanishing.motion.measured import MeasuredRun
from vanishing.motion.runs_intake import take_batches, take_runs
from vanishing.motion.simulation import FittedMotion, simulated, simulated_runs
from vanishing.rows.intake import refuse, take_rows_in_memory


class MotionAnswers(RowMethods):
    """Methods of fitted equations of motion."""

    equations_: list[EquationOfMotion]
    verdict_: str
    held_out_: BoolArray
    runs_: LabelArray
    batches_: LabelArray | None
    differing_: list[str]
    n_inputs_: int
    n_features_in_: int
    _motion: FittedMotion | None

    def _found(self, batch: Group | None = None) -> FittedMotion:
        """Return the equations, those of a batch where they differ."""
        check_is_fitted(self, "equations_")
        if self._motion is None:
            raise ValueError(f"no equations of motion were found ({self.verdict_})")
        if batch is not None and self.batches_ is None:
            raise ValueError("the equations were found without batches: leave the batch out.")
        if batch is None and self.differing_:
            raise ValueError("the equations differ between batches: say which, as in of_batch(...)")
        (place,) = [0] if batch is None else take_batches([batch], self._batch_labels)[1]
        return self._motion.of_batch(int(place))

    @property
    def _batch_labels(self) -> list[Group]:
        return [] if self.batches_ is None else np.unique(self.batches_).tolist()

    def of_batch(self, batch: Group) -> Self:
        """Return the equations of one batch, as if they had been found without others.

        Parameters
        ----------
        batch : str, int or float

        Returns
        -------
        model : EquationsOfMotion
            It predicts, simulates, draws and exports what the runs of that batch do.
        """
        motion, batches = self._found(batch), self.batches_
        (place,) = take_batches([batch], self._batch_labels)[1]
        model = copy(self)
        n, own = self.n_features_in_, batches == self._batch_labels[place]
        model.equations_ = self.equations_[place * n : (place + 1) * n]
        model.runs_, model.held_out_ = self.runs_[own], self.held_out_[own]
        model._motion, model.batches_, model.differing_ = motion, None, []
        return model

    @by_row_methods
    def predict(
        self, X: Table, inputs: Table | None = None, batches: Labels | None = None
    ) -> FloatArray:
        """Return the derivatives of the columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows
            For order 2 with velocities as further columns, where the equations have them. With
            velocities or inputs, rows have to be in memory.
        inputs : array-like of shape (n_samples, n_inputs), default=None
        batches : array-like of shape (n_samples,), default=None
            The batch of each row, where constants differ between batches; rows are in memory.

        Returns
        -------
        derivatives : ndarray of shape (n_samples, n_features)
            Second derivatives for order 2.
        """
        if batches is not None:
            return self._predicted_by_batch(X, inputs, batches)
        motion = self._found()
        n = self.n_features_in_
        has_velocities = motion.system.order == 2 and _width(X) == 2 * n
        if motion.needs_velocities and not has_velocities:
            raise ValueError(
                "the accelerations depend on velocities: give X with the velocities as "
                f"further columns, {2 * n} in all."
            )
        if not has_velocities and not self.n_inputs_ and inputs is None:
            return self._derivatives(X)
        if has_velocities:
            states = check_array(X, dtype=np.float64, input_name="X")
        else:
            states = self._states(take_rows_in_memory(self, X, method="predict", reset=False).X)
        return motion.derivatives(np.hstack([states, self._checked_inputs(inputs, len(states))]))

    def _predicted_by_batch(self, X, inputs, batches) -> FloatArray:
        """Return the derivatives of rows, each by the equations of its batch."""
        refuse(self, X)
        labels = np.asarray(column_or_1d(batches))
        if len(labels) != len(X):
            raise ValueError(f"batches has {len(labels)} entries, and X has {len(X)} rows.")
        found = np.full((len(labels), self.n_features_in_), np.nan)
        for label in dict.fromkeys(labels.tolist()):
            rows = np.flatnonzero(labels == label)
            U = None if inputs is None else np.asarray(inputs)[rows]
            part = X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]
            found[rows] = self.of_batch(label).predict(part, U)
        return found

    @row_by_row(n_columns=lambda self: self.n_features_in_, dtype=lambda self: np.float64)
    def _derivatives(self, X: Array) -> FloatArray:
        """Return the derivatives where neither velocities nor inputs act."""
        return self._found().derivatives(self._states(X))

    def _states(self, X: np.ndarray) -> np.ndarray:
        """Return columns with what stands for velocities that no equation has."""
        X = np.asarray(X, dtype=np.float64)
        return np.hstack([X, np.zeros_like(X)]) if self._found().system.order == 2 else X

    def _checked_inputs(self, inputs, n_rows: int) -> np.ndarray:
        if inputs is None and not self.n_inputs_:
            return np.zeros((n_rows, 0))
        if inputs is None:
            raise ValueError(f"the equations have {self.n_inputs_} inputs: give inputs=...")
        U = check_array(inputs, dtype=np.float64, ensure_2d=False, input_name="inputs")
        U = U[:, np.newaxis] if U.ndim == 1 else U
        if U.shape != (n_rows, self.n_inputs_):
            raise ValueError(f"inputs must have shape {(n_rows, self.n_inputs_)}; got {U.shape}.")
        return np.ascontiguousarray(U)

    @overload
    def simulate(
        self,
        x0: Vector,
        t: Vector,
        inputs: Table | None = ...,
        return_std: Literal[False] = ...,
        batch: Group | None = ...,
    ) -> FloatArray: ...
    @overload
    def simulate(
        self,
        x0: Vector,
        t: Vector,
        inputs: Table | None = ...,
        *,
        return_std: Literal[True],
        batch: Group | None = ...,
    ) -> tuple[FloatArray, FloatArray]: ...
    def simulate(self, x0, t, inputs=None, return_std=False, batch=None):
        """Integrate the equations from a start.

        Parameters
        ----------
        x0 : array-like of shape (n_features,)
            The state at the first time; for order 2 positions and velocities, 2 * n_features.
        t : array-like of shape (n_times,)
            Times in increasing order.
        inputs : array-like of shape (n_times, n_inputs), default=None
            At these times; straight lines between them.
        return_std : bool, default=False
            Whether to return what the errors of the coefficients amount to, too.
        batch : str, int or float, default=None
            Of the run, where constants differ between batches.

        Returns
        -------
        states : ndarray of shape (n_times, n_features)
            NaN from where the integration leaves all bounds on.
        std : ndarray of shape (n_times, n_features)
            Only if ``return_std`` is true; NaN where the errors of coefficients are not known.
        """
        motion = self._found(batch)
        start = check_array(x0, dtype=np.float64, ensure_2d=False, input_name="x0").ravel()
        size = self.n_features_in_ * motion.system.order
        if start.shape != (size,):
            raise ValueError(f"x0 must have {size} numbers; got {start.shape}.")
        t = check_array(t, dtype=np.float64, ensure_2d=False, input_name="t")
        if t.ndim != 1 or (np.diff(t) <= 0).any():
            raise ValueError("t must be times in increasing order.")
        U = self._checked_inputs(inputs, len(t))
        states, std = simulated(motion, start, t, U, return_std)
        return (states, std) if return_std else states

    def score(
        self,
        X: Table,
        t: Vector,
        groups: Labels | None = None,
        inputs: Table | None = None,
        sample_weight: Vector | None = None,
        *,
        batches: Labels | None = None,
    ) -> float:
        """Return the R2 of simulated runs, whose starts are fitted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        t : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,), default=None
        inputs : array-like of shape (n_samples, n_inputs), default=None
        sample_weight : array-like of shape (n_samples,), default=None
        batches : array-like of shape (n_samples,), default=None
            The batch of each row, where constants differ between batches.

        Returns
        -------
        score : float
            Mean over the columns; 0 where no equations were found.
        """
        check_is_fitted(self, "equations_")
        codes = None
        if batches is not None and self.batches_ is not None:
            codes = take_batches(batches, self._batch_labels)[1]
            groups = batches if groups is None else groups
        runs: list[MeasuredRun] = take_runs(
            self, X, t, groups, inputs, sample_weight, batches=codes, reset=False
        )
        if self._motion is None:
            return 0.0
        if batches is None and self.differing_:
            raise ValueError("the equations differ between batches: say which, as in batches=...")
        return simulated_runs(self._motion, runs)


def _width(X: Any) -> int | None:
    """Return how many columns rows have; None where that cannot be seen."""
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    return shape[1] if len(shape) == 2 else None
