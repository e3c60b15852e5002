"""Decision values of training rows as if each had been left out: what a temperature is learned on.

Those of the rows the SVM was fitted to are too good. Where one is left out the SVM changes little,
and by how much one Newton step says: with x the features that have a weight, H the Hessian of the
loss in these and c the cost of the row, its slack s = max(0, 1 - margin) grows by

    s l / (1 - l),     l = 2 c x' H^-1 x,     the leverage of a row with s > 0.

A row of weight w stands for w rows one of which is left out. The step is short where the leverage
is not near one. Near one it says what no SVM does: leverages are cut at `LARGEST_LEVERAGE`, and no
slack grows beyond `LARGEST_SLACK`, where a row is as far on the wrong side as it should be on the
right one.
"""

from typing import NamedTuple

import numpy as np

from vanishing._threads import one_blas_thread, spread
from vanishing.learning import settings
from vanishing.learning.labels import LabelledRows, weighted
from vanishing.learning.passes import Features, added, pieces, positive, summed
from vanishing.learning.svm import L1SquaredHingeSVC
from vanishing.learning.svm_problems import SVMProblems
from vanishing.learning.temperature import Loss, learn_temperature, least_loss
from vanishing.rows.arrays import like, namespace
from vanishing.rows.source import RowPart


def temperature_of(final: L1SquaredHingeSVC, decisive: list, rows: LabelledRows) -> float:
    """Return the temperature of a fitted SVM, by the rows that it was fitted to.

    Parameters
    ----------
    final : L1SquaredHingeSVC
    decisive : list of (generators, weights, absolute)
        The features that have a weight in it, of each class.
    rows : LabelledRows
        Those in memory have been scaled already.

    Returns
    -------
    temperature : float
    """
    parts = [(generators, absolute) for generators, _, absolute in decisive]
    weights = np.vstack([weights for _, weights, _ in decisive])
    if not len(weights):
        weights = np.zeros((1, len(final.intercept_)))  # the column that stands for no features
    weights = np.column_stack([weights.T, final.intercept_])
    problems = SVMProblems(final, rows.classes, rows.totals)
    by_class = problems.by_class
    if rows.in_memory:
        # The SVM had all features in memory: there is room for those that have a weight.
        X, y, weight = rows.part
        part = RowPart(Features(parts)(X), y, weight)
        look = _Hessians(None, problems, weights)
        with one_blas_thread():
            left_out = _LeftOut(look, _factors(look(part)))
            scores = np.concatenate(spread(left_out, look.pieces(part)))
        return learn_temperature(scores, y, weighted(y, weight, by_class))
    look = _Hessians(Features(parts, rows.scale), problems, weights)
    hessians = rows.source.ask(look, added)  # type: ignore[arg-type]  # a tuple that is called
    left_out = _LeftOut(look, _factors(hessians))
    total = float(np.sum(rows.totals if by_class is None else rows.totals * by_class))

    def slopes(rates):
        return rows.source.ask(_Slopes(left_out, total, rates), np.add)

    return least_loss(slopes, n_rates=11, accuracy=1e-3)  # two to four passes


class _Hessians(NamedTuple):
    """The question for the Hessian of each problem in the features that have a weight in it."""

    features: Features | None  # None where the rows are features already
    problems: SVMProblems
    weights: np.ndarray  # (n_problems, n_features + 1), the intercepts last

    def __call__(self, part: RowPart) -> tuple[np.ndarray, ...]:
        """Return the sums over a block of rows."""
        return summed(self._hessians, self.pieces(part))

    def _hessians(self, piece: RowPart):
        values = self.values(piece)
        hessians = []
        for p in range(len(self.weights)):
            chosen, _, slack, cost = self.slacks(p, values, piece)
            xp = namespace(values)
            curvature = xp.where(slack > 0.0, 2.0 * cost, xp.zeros_like(cost))
            hessians.append(chosen.T @ (chosen * curvature[:, None]))
        return hessians

    def pieces(self, part: RowPart) -> list[RowPart]:
        """Return the rows of a block in pieces."""
        return pieces(part, self.weights.shape[1])

    def values(self, piece: RowPart):
        """Return the features of rows, and the constant."""
        return piece.X if self.features is None else self.features(piece.X)

    def slacks(self, p: int, values, piece: RowPart):
        """Return the columns with a weight in a problem, the rows' signs, slacks and costs."""
        support = np.flatnonzero(self.weights[p])
        chosen = namespace(values).take(values, like(values, support), axis=1)
        scores = chosen @ like(values, self.weights[p, support])
        sign, cost = self.problems.sides(p, piece.y, piece.weight, scores)
        return chosen, sign, positive(namespace(values), 1.0 - sign * scores), cost


def _factors(hessians) -> list[np.ndarray]:
    """Return F with F F' = the inverse of each Hessian."""
    factors = []
    for hessian in hessians:
        unit = np.sqrt(hessian.diagonal())
        unit[unit == 0.0] = 1.0  # of a feature that is zero on all rows with a slack
        values, vectors = np.linalg.eigh(hessian / np.outer(unit, unit))
        # Features may depend on each other: rounding makes eigenvalues negative, and is amplified.
        vectors /= np.sqrt(np.maximum(values, 0.0) + 1e-6)
        factors.append(vectors / unit[:, np.newaxis])
    return factors


class _LeftOut(NamedTuple):
    """The decision values of rows as if each had been left out."""

    look: _Hessians
    factors: list[np.ndarray]

    def __call__(self, piece: RowPart):
        """Return those of some rows, of shape (n_samples,) or (n_samples, n_classes)."""
        values = self.look.values(piece)
        xp = namespace(values)
        if piece.weight is not None:
            alone = xp.minimum(piece.weight, xp.ones_like(piece.weight))
            piece = piece._replace(weight=alone)
        scores = []
        for p, factor in enumerate(self.factors):
            chosen, sign, slack, cost = self.look.slacks(p, values, piece)
            solved = chosen @ like(values, factor)
            # A product for the sum over few columns: many times as fast.
            norms = (solved * solved) @ xp.ones_like(solved[0, :])
            leverage = 2.0 * cost * norms
            leverage = xp.minimum(leverage, settings.LARGEST_LEVERAGE * xp.ones_like(leverage[:1]))
            grown = slack * leverage / (1.0 - leverage)
            grown = xp.minimum(grown, positive(xp, settings.LARGEST_SLACK - slack))
            score = values @ like(values, self.look.weights[p, :])
            scores.append(score - sign * grown)
        return scores[0] if len(scores) == 1 else xp.stack(scores, axis=1)


class _Slopes(NamedTuple):
    """The question for the slopes of the log-loss at some rates."""

    left_out: _LeftOut
    total: float
    rates: np.ndarray

    def __call__(self, part: RowPart) -> np.ndarray:
        """Return the sums over a block of rows."""
        (slopes,) = summed(self._slopes, self.left_out.look.pieces(part))
        return slopes

    def _slopes(self, piece: RowPart):
        weight = weighted(piece.y, piece.weight, self.left_out.look.problems.by_class)
        return (Loss(self.left_out(piece), piece.y, weight, self.total).slopes(self.rates),)
