"""Decision values of training rows as if each had been left out: what a temperature is learned on.

Those of the rows the SVM was fitted to are too good. Where one is left out the SVM changes little,
and by how much one Newton step says: with x the features that have a weight, H the Hessian of the
loss in these and c the cost of the row, its slack s = max(0, 1 - margin) grows by

    s l / (1 - l),     l = 2 c x' H^-1 x,     the leverage of a row with s > 0.

A row of weight w stands for w rows one of which is left out. The step is short where the leverage
is not near one. Near one it says what no SVM does: leverages are cut at `_LARGEST_LEVERAGE`, and no
slack grows beyond `_LARGEST_SLACK`, where a row is as far on the wrong side as it should be on the
right one.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from vanishing._threads import one_blas_thread
from vanishing.learning.labels import LabelledRows, LabelledSource, class_weights, or_constant
from vanishing.learning.passes import added, pieces, positive
from vanishing.learning.svm import L1SquaredHingeSVC, row_costs
from vanishing.learning.svm_solver import targets
from vanishing.learning.temperature import Loss, learn_in_passes, learn_temperature
from vanishing.rows.device import (
    evaluate_generators,
    is_device_array,
    is_on_cpu,
    like,
    namespace,
    to_numpy,
    with_constant,
)
from vanishing.rows.source import Part

_LARGEST_LEVERAGE = 0.95
_LARGEST_SLACK = 2.0
_CACHED_BYTES = 1 << 20  # of the features of rows that are looked at together
_RIDGE = 1e-6  # on a Hessian with ones on its diagonal: rounding is amplified by its inverse


def temperature_of(
    final: L1SquaredHingeSVC, decisive: list, rows: LabelledRows | LabelledSource
) -> float:
    """Return the temperature of a fitted SVM, by the rows that it was fitted to.

    Parameters
    ----------
    final : L1SquaredHingeSVC
    decisive : list of (generators, weights, absolute)
        The features that have a weight in it, of each class.
    rows : LabelledRows or LabelledSource
        Those in memory have been scaled already.

    Returns
    -------
    temperature : float
    """
    by_class = class_weights(final.class_weight, rows.classes, rows.totals)
    parts = [(generators, absolute) for generators, _, absolute in decisive]
    weights = np.vstack([weights for _, weights, _ in decisive])
    if not len(weights):
        weights = np.zeros((1, len(final.intercept_)))  # the column that stands for no features
    weights = np.column_stack([weights.T, final.intercept_])
    costs = partial(row_costs, float(final.C), n_classes=len(rows.classes), by_class=by_class)
    if isinstance(rows, LabelledRows):
        # The SVM had all features in memory: there is room for those that have a weight.
        part = Part(_Features(parts)(rows.X), rows.y, rows.weight)
        look = _Hessians(None, np.arange(len(rows.classes)), weights, costs)
        with one_blas_thread():
            left_out = _LeftOut(look, _factors(look(part)))
            scores = np.concatenate([left_out(piece) for piece in look.pieces(part)])
        return learn_temperature(scores, rows.y, _weights(rows.y, rows.weight, by_class))
    look = _Hessians(_Features(parts, rows.scale), rows.classes, weights, costs)
    return _learn_elsewhere(rows, look, by_class)


def _learn_elsewhere(rows, look, by_class):
    left_out = _LeftOut(look, _factors(rows.source.ask(look, added)))
    total = float(np.sum(rows.totals if by_class is None else rows.totals * by_class))

    def slopes(rates):
        return rows.source.ask(_Slopes(left_out, by_class, total, rates), np.add)

    return learn_in_passes(slopes)


def _weights(y, weight, by_class):
    """Return what rows count: the temperature is for the classes as they are weighted."""
    if by_class is None:
        return weight
    return by_class[y] if weight is None else weight * by_class[y]


class _Features(NamedTuple):
    """The features that have a weight in the SVM."""

    parts: list  # (generators, absolute) of each class
    scale: Callable | None = None

    def __call__(self, X):
        """Return their values on rows."""
        X = X if self.scale is None else self.scale(X)
        if is_device_array(X):
            found = [evaluate_generators(g, X, absolute=absolute) for g, absolute in self.parts]
            return or_constant(namespace(X).concat(found, axis=1))
        found = [g.evaluate(X, absolute=absolute) for g, absolute in self.parts]
        return or_constant(np.hstack(found))


class _Hessians(NamedTuple):
    """The question for the Hessian of each problem in the features that have a weight in it."""

    features: _Features | None  # None where the rows are features already
    classes: np.ndarray
    weights: np.ndarray  # (n_problems, n_features + 1), the intercepts last
    costs: Callable  # of rows, given their classes and weights

    def __call__(self, part: Part) -> tuple[np.ndarray, ...]:
        """Return the sums over a block of rows."""
        sizes = [np.count_nonzero(weights) for weights in self.weights]
        found = tuple(np.zeros((size, size)) for size in sizes)
        for piece in self.pieces(part):
            values, signs, costs = self.look(piece, piece.weight)
            for p, hessian in enumerate(found):
                xp, chosen, slack = self.slacks(p, values, signs)
                cost = xp.where(slack > 0.0, 2.0 * costs[p, :], xp.zeros_like(slack))
                hessian += to_numpy(chosen.T @ (chosen * cost[:, None]))
        return found

    def pieces(self, part: Part) -> Iterator[Part]:
        """Yield some rows of a block at a time."""
        on_cpu = not is_device_array(part.X) or is_on_cpu(part.X)
        return pieces(part, self.weights.shape[1], _CACHED_BYTES if on_cpu else None)

    def look(self, piece: Part, weight):
        """Return the features of rows, their signs and their costs for each problem."""
        X = piece.X if self.features is None else self.features(piece.X)
        y = self.places(piece)
        signs = targets(y, len(self.classes))
        costs = self.costs(y=y, weight=weight)
        if is_device_array(X):
            signs, costs = like(X, signs), like(X, costs)
        return with_constant(X), signs, costs

    def places(self, piece: Part) -> np.ndarray:
        """Return the places of the rows' classes."""
        # The survey refuses blocks without labels.
        return np.searchsorted(self.classes, piece.y)  # type: ignore[arg-type]

    def slacks(self, p: int, values, signs):
        """Return the namespace, the columns with a weight in a problem, and the rows' slacks."""
        support = np.flatnonzero(self.weights[p])
        weights = self.weights[p, support]
        xp = np
        if is_device_array(values):
            xp = namespace(values)
            support, weights = like(values, support), like(values, weights)
        chosen = xp.take(values, support, axis=1)
        return xp, chosen, positive(xp, 1.0 - signs[p, :] * (chosen @ weights))


def _factors(hessians) -> list[np.ndarray]:
    """Return F with F F' = the inverse of each Hessian."""
    factors = []
    for hessian in hessians:
        unit = np.sqrt(hessian.diagonal())
        unit[unit == 0.0] = 1.0  # of a feature that is zero on all rows with a slack
        values, vectors = np.linalg.eigh(hessian / np.outer(unit, unit))
        # Features may depend on each other, and rounding makes eigenvalues negative.
        vectors /= np.sqrt(np.maximum(values, 0.0) + _RIDGE)
        factors.append(vectors / unit[:, np.newaxis])
    return factors


class _LeftOut(NamedTuple):
    """The decision values of rows as if each had been left out."""

    look: _Hessians
    factors: list[np.ndarray]

    def __call__(self, piece: Part):
        """Return those of some rows, of shape (n_samples,) or (n_samples, n_classes)."""
        alone = None if piece.weight is None else np.minimum(piece.weight, 1.0)
        values, signs, costs = self.look.look(piece, alone)
        scores = []
        for p, factor in enumerate(self.factors):
            xp, chosen, slack = self.look.slacks(p, values, signs)
            solved = chosen @ (factor if xp is np else like(values, factor))
            # A product for the sum over few columns: many times as fast.
            norms = (solved * solved) @ xp.ones_like(solved[0, :])
            leverage = 2.0 * costs[p, :] * norms
            largest = _LARGEST_LEVERAGE * xp.ones_like(leverage)
            leverage = xp.where(leverage < largest, leverage, largest)
            grown = slack * leverage / (1.0 - leverage)
            room = positive(xp, _LARGEST_SLACK - slack)
            grown = xp.where(grown < room, grown, room)
            weights = self.look.weights[p, :]
            score = values @ (weights if xp is np else like(values, weights))
            scores.append(score - signs[p, :] * grown)
        return scores[0] if len(scores) == 1 else xp.stack(scores, axis=1)


class _Slopes(NamedTuple):
    """The question for the slopes of the log-loss at some rates."""

    left_out: _LeftOut
    by_class: np.ndarray | None
    total: float
    rates: np.ndarray

    def __call__(self, part: Part) -> np.ndarray:
        """Return the sums over a block of rows."""
        found = np.zeros((2, len(self.rates)))
        for piece in self.left_out.look.pieces(part):
            y = self.left_out.look.places(piece)
            weight = _weights(y, piece.weight, self.by_class)
            found += Loss(self.left_out(piece), y, weight, self.total).slopes(self.rates)
        return found
