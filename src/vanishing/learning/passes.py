"""The linear SVM on rows that are read where they are: its losses are sums over them."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from vanishing.learning.features import VanishingFeatures
from vanishing.learning.labels import LabelledSource, class_weights, or_constant
from vanishing.learning.svm import L1SquaredHingeSVC, row_costs
from vanishing.learning.svm_solver import STEPS, Look, solve_in_passes, targets
from vanishing.rows.device import is_device_array, like, namespace, to_numpy, with_constant
from vanishing.rows.source import Part

_LOOK_BYTES = 1 << 25  # features that a pass over blocks evaluates at a time


def fit_in_passes(
    final: L1SquaredHingeSVC, features: VanishingFeatures, rows: LabelledSource
) -> str | None:
    """Fit the SVM to the features of rows elsewhere; return what to warn of."""
    final.n_features_in_ = max(1, features.n_generators_)
    final.classes_ = rows.classes
    by_class = class_weights(final.class_weight, rows.classes, rows.totals)
    costs = partial(row_costs, float(final.C), n_classes=len(rows.classes), by_class=by_class)

    def look(problems, weights, directions):
        question = _Look(features, rows.scale, rows.classes, costs, problems, weights, directions)
        return [Look(*parts) for parts in zip(*rows.source.ask(question, added), strict=True)]

    n_problems = 1 if len(rows.classes) == 2 else len(rows.classes)
    return final.store(
        solve_in_passes(
            look, final.n_features_in_ + 1, n_problems, tol=final.tol, max_iter=final.max_iter
        )
    )


class _Look(NamedTuple):
    """The question of `svm_solver.solve_in_passes` to a block of rows."""

    features: VanishingFeatures
    scale: Callable
    classes: np.ndarray
    costs: Callable  # of rows, given their classes and weights
    problems: list[int]
    weights: np.ndarray
    directions: np.ndarray

    def __call__(self, part: Part) -> tuple[np.ndarray, ...]:
        """Return losses, dual sums, gradients and Hessians, an entry a problem each."""
        n_problems, n_columns = self.weights.shape
        shapes = ((len(STEPS),), (), (n_columns,), (n_columns, n_columns))
        found = tuple(np.zeros((n_problems, *shape)) for shape in shapes)
        for piece in pieces(part, n_columns):
            self._add(*piece, found)
        return found

    def _add(self, X, y, weight, found):
        X = self.scale(X)
        xp = namespace(X) if is_device_array(X) else np
        features = with_constant(or_constant(self.features.values_of(X)))
        y = np.searchsorted(self.classes, y)
        weights, directions, signs, costs = (
            values if xp is np else like(X, values)
            for values in (
                self.weights,
                self.directions,
                targets(y, len(self.classes))[self.problems],
                self.costs(y=y, weight=weight)[self.problems],
            )
        )
        margins = signs * (weights @ features.T)
        moves = signs * (directions @ features.T)
        losses, dual_sums, gradients, hessians = found
        for p in range(len(self.problems)):
            cost = costs[p, :]
            for s, step in enumerate(STEPS.tolist()):
                slack = positive(xp, 1.0 - margins[p, :] + (1.0 - step) * moves[p, :])
                losses[p, s] += float(xp.sum(cost * slack * slack))
            slack = positive(xp, 1.0 - margins[p, :])
            dual = 2.0 * cost * slack
            dual_sums[p] += float(xp.sum(dual))
            gradients[p] -= to_numpy((signs[p, :] * dual) @ features)
            curvature = xp.where(slack > 0.0, 2.0 * cost, xp.zeros_like(cost))
            hessians[p] += to_numpy(features.T @ (features * curvature[:, None]))


def pieces(part: Part, n_columns: int, size: int | None = None) -> Iterator[Part]:
    """Yield rows of a block, at a time as many as have ``n_columns`` features of some bytes."""
    rows = max(256, (size or _LOOK_BYTES) // (8 * n_columns))
    n_samples = part.X.shape[0]
    for start in range(0, n_samples, rows):
        here = slice(start, min(start + rows, n_samples))
        weight = None if part.weight is None else part.weight[here]
        # The survey refuses blocks without labels.
        yield Part(part.X[here, :], part.y[here], weight)  # type: ignore[index]


def positive(xp, values):
    """Return the values, zero where they are negative."""
    return xp.where(values > 0.0, values, xp.zeros_like(values))


def added(first, second):
    """Return the sums of answers."""
    return tuple(a + b for a, b in zip(first, second, strict=True))
