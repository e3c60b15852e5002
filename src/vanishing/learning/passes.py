"""The linear SVM on rows that are read where they are: its losses are sums over them.

What a pass computes from the rows stays where they are, and so do their labels, as places of
classes: what comes back are sums, once per block.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vanishing._threads import fold
from vanishing.learning.features import VanishingFeatures
from vanishing.learning.labels import LabelledRows
from vanishing.learning.svm import L1SquaredHingeSVC, set_solutions
from vanishing.learning.svm_problems import SVMProblems
from vanishing.learning.svm_solver import STEPS, NewtonPass, solve_in_passes
from vanishing.rows.arrays import like, namespace, rows_at_once, to_numpy
from vanishing.rows.source import RowPart
from vanishing.rows.values import features_and_constant


def fit_in_passes(
    final: L1SquaredHingeSVC, features: VanishingFeatures, rows: LabelledRows
) -> str | None:
    """Fit the SVM to the features of rows elsewhere; return what to warn of."""
    final.n_features_in_ = max(1, features.n_generators_)
    final.classes_ = rows.classes
    problems = SVMProblems(final, rows.classes, rows.totals)
    parts = [(fitted.generators_, fitted.absolute) for fitted in features.transformers_]
    values = Features(parts, rows.scale)

    def look(asked, weights, directions):
        question = _NewtonQuestion(values, problems, asked, weights, directions)
        return [NewtonPass(*sums) for sums in zip(*rows.source.ask(question, added), strict=True)]

    return set_solutions(
        final,
        solve_in_passes(
            look, final.n_features_in_ + 1, len(problems), tol=final.tol, max_iter=final.max_iter
        ),
    )


class Features(NamedTuple):
    """Generators as features of rows, which are scaled first, and a constant after them."""

    parts: list  # (generators, absolute) of each class
    scale: Callable | None = None

    def __call__(self, X):
        """Return their values in float64, of shape (n_samples, n_features + 1), where X is.

        A column of zeros stands for no features: the intercept decides.
        """
        return features_and_constant(self.parts, X if self.scale is None else self.scale(X))


class _NewtonQuestion(NamedTuple):
    """The question of `svm_solver.solve_in_passes` to a block of rows."""

    features: Features
    problems: SVMProblems
    asked: list[int]
    weights: np.ndarray
    directions: np.ndarray

    def __call__(self, part: RowPart) -> tuple[np.ndarray, ...]:
        """Return losses, dual sums, gradients and Hessians, one entry per problem."""
        n_columns = self.weights.shape[1]
        return summed(self._sums, pieces(part, n_columns))

    def _sums(self, piece: RowPart):
        values = self.features(piece.X)
        xp = namespace(values)
        n_asked = len(self.asked)
        scores = values @ like(values, np.vstack([self.weights, self.directions]).T)
        left = like(values, 1.0 - STEPS[:, np.newaxis])
        by_problem = []
        for i, p in enumerate(self.asked):
            sign, cost = self.problems.sides(p, piece.y, piece.weight, scores[:, i])
            margin, move = sign * scores[:, i], sign * scores[:, n_asked + i]
            # At all steps at once; the first is the full one.
            slacks = positive(xp, (1.0 - margin) + left * move)
            losses = (slacks * slacks) @ cost
            slack, double = slacks[0, :], 2.0 * cost
            dual = double * slack
            curvature = xp.where(slack > 0.0, double, xp.zeros_like(double))
            hessian = values.T @ (values * curvature[:, None])
            by_problem.append((losses, xp.sum(dual), -((sign * dual) @ values), hessian))
        return tuple(xp.stack(sums) for sums in zip(*by_problem, strict=True))


def pieces(part: RowPart, n_columns: int) -> list[RowPart]:
    """Return the rows of a block in pieces whose features and slacks are looked at together."""
    return part.pieces(rows_at_once(part.X, n_columns + len(STEPS)))


def positive(xp, values):
    """Return the values, zero where they are negative."""
    return xp.maximum(values, xp.zeros_like(values[..., :1]))


def added(first, second):
    """Return the sums of answers."""
    return tuple(a + b for a, b in zip(first, second, strict=True))


def summed(function: Callable, parts: list[RowPart]) -> tuple[np.ndarray, ...]:
    """Return the sums of the answers of pieces: added up where these are, then brought to NumPy."""
    return tuple(to_numpy(total) for total in fold(function, parts, added, len(parts)))
