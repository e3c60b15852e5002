"""The linear SVM on rows that are read where they are: its losses are sums over them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vanishing.learning.features import VanishingFeatures
from vanishing.learning.labels import LabelledSource, or_constant
from vanishing.learning.svm import L1SquaredHingeSVC
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

    def look(problems, weights, directions):
        question = _Look(
            features, rows.scale, rows.classes, float(final.C), problems, weights, directions
        )
        return [Look(*parts) for parts in zip(*rows.source.ask(question, _added), strict=True)]

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
    C: float
    problems: list[int]
    weights: np.ndarray
    directions: np.ndarray

    def __call__(self, part: Part) -> tuple[np.ndarray, ...]:
        """Return losses, dual sums, gradients and Hessians, an entry a problem each."""
        n_problems, n_columns = self.weights.shape
        shapes = ((len(STEPS),), (), (n_columns,), (n_columns, n_columns))
        found = tuple(np.zeros((n_problems, *shape)) for shape in shapes)
        rows = max(256, _LOOK_BYTES // (8 * n_columns))
        n_samples = part.X.shape[0]
        for start in range(0, n_samples, rows):
            here = slice(start, min(start + rows, n_samples))
            weight = None if part.weight is None else part.weight[here]
            # The survey refuses blocks without labels.
            y = part.y[here]  # type: ignore[index]
            self._add(part.X[here, :], y, weight, found)
        return found

    def _add(self, X, y, weight, found):
        X = self.scale(X)
        xp = namespace(X) if is_device_array(X) else np
        features = with_constant(or_constant(self.features.transform(X)))
        targets_ = targets(np.searchsorted(self.classes, y), len(self.classes))[self.problems]
        cost = np.full(len(y), self.C) if weight is None else self.C * weight
        weights, directions, signs, cost = (
            values if xp is np else like(X, values)
            for values in (self.weights, self.directions, targets_, cost)
        )
        margins = signs * (weights @ features.T)
        moves = signs * (directions @ features.T)
        losses, dual_sums, gradients, hessians = found
        for p in range(len(self.problems)):
            for s, step in enumerate(STEPS.tolist()):
                slack = _positive(xp, 1.0 - margins[p, :] + (1.0 - step) * moves[p, :])
                losses[p, s] += float(xp.sum(cost * slack * slack))
            slack = _positive(xp, 1.0 - margins[p, :])
            dual = 2.0 * cost * slack
            dual_sums[p] += float(xp.sum(dual))
            gradients[p] -= to_numpy((signs[p, :] * dual) @ features)
            curvature = xp.where(slack > 0.0, 2.0 * cost, xp.zeros_like(cost))
            hessians[p] += to_numpy(features.T @ (features * curvature[:, None]))


def _positive(xp, values):
    return xp.where(values > 0.0, values, xp.zeros_like(values))


def _added(first, second):
    return tuple(a + b for a, b in zip(first, second, strict=True))
