"""Scatter within runs against scatter of all rows, on polynomials that are no laws of the state."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from vanishing.motion import settings
from vanishing.motion.runs import Scatter, triangular


class PencilCandidate(NamedTuple):
    """A polynomial that may be conserved.

    Attributes
    ----------
    support : array of int
        Places of its terms among the standard monomials.
    coef : array
    ratio : float
        Variance within runs over that of all rows, on the runs it was learnt from.
    """

    support: np.ndarray
    coef: np.ndarray
    ratio: float

    def dense(self, n_terms: int) -> np.ndarray:
        """Return the coefficients of all standard monomials."""
        row = np.zeros(n_terms)
        row[self.support] = self.coef
        return row


class Pencil(NamedTuple):
    """Scatter of the standard monomials, in runs to learn from, in runs held out, or in all.

    Attributes
    ----------
    within, total : arrays of shape (k, k)
        Triangular R with R'R the variance within runs, and that of all rows.
    n_rows : float
        How many rows there are: (sum of weights)^2 over the sum of their squares.
    n_runs : int
    """

    within: np.ndarray
    total: np.ndarray
    n_rows: float
    n_runs: int

    def tells_apart(self, total: np.ndarray) -> bool:
        """Say whether no monomial is a combination of others, beside its spread in ``total``."""
        sizes = np.sqrt((total**2).sum(axis=0))
        return bool((np.abs(np.diag(self.total)) > settings.ROUNDING * sizes).all())

    def ratio(self, candidate: PencilCandidate) -> float:
        """Return the variance of a candidate within runs over that of all rows."""
        total = self.variance(candidate)
        return self.left(candidate) / total if total > 0 else 1.0

    def left(self, candidate: PencilCandidate) -> float:
        """Return the variance of a candidate within runs."""
        values = self.within[:, candidate.support] @ candidate.coef
        return float(values @ values)

    def variance(self, candidate: PencilCandidate) -> float:
        """Return the variance of a candidate over all rows."""
        values = self.total[:, candidate.support] @ candidate.coef
        return float(values @ values)

    def least(self, support: Sequence[int] | np.ndarray) -> PencilCandidate:
        """Return the polynomial with some terms that varies least within runs."""
        places = np.asarray(support, dtype=np.intp)
        upper = np.linalg.qr(self.total[:, places], mode="r")
        inside = solve_triangular(upper, self.within[:, places].T, trans="T").T
        _, singular, vectors = np.linalg.svd(inside)
        ratio = float(singular[-1] ** 2) if len(singular) == len(places) else 0.0
        return PencilCandidate(places, solve_triangular(upper, vectors[-1]), ratio)


def pencil(scatter: Scatter, standard: np.ndarray, runs: np.ndarray) -> Pencil:
    """Return the scatter in some runs: all those to learn from, all those held out, or all.

    Parameters
    ----------
    scatter : Scatter
    standard : array of int
        Places of the standard monomials.
    runs : array of bool of shape (n_runs,)
    """
    runs = runs & (scatter.weight > 0)
    weight, square, mean = (
        scatter.weight[runs],
        scatter.square[runs],
        scatter.mean[runs][:, standard],
    )
    folds = [fold for fold in (0, 1) if (scatter.held_out[runs] == bool(fold)).any()]
    within = triangular([scatter.roots[fold][:, standard] for fold in folds])
    apart = (mean - weight @ mean / weight.sum()) * np.sqrt(weight)[:, None]
    total = triangular([within, apart])
    # Means are of the rows they are taken from: one degree of freedom is theirs.
    free = float(np.sum(weight - square / weight))
    n_rows = float(weight.sum() ** 2 / square.sum())
    return Pencil(within / np.sqrt(free), total / np.sqrt(weight.sum()), n_rows, len(weight))


def total_factor(scatter: Scatter) -> np.ndarray:
    """Return a triangular factor of the products of the constant and all monomials, on all rows."""
    weight = scatter.weight
    centre = weight @ scatter.mean / weight.sum()
    apart = (scatter.mean - centre) * np.sqrt(weight)[:, None]
    lower = triangular([*scatter.roots, apart])
    first = np.append(1.0, centre) * np.sqrt(weight.sum())
    return np.vstack([first, np.column_stack([np.zeros(len(lower)), lower])])


class Family:
    """Quantities found so far, and all polynomials in them: what need not be reported again.

    Parameters
    ----------
    total : array of shape (k, k)
        `Pencil.total`.
    vectors : sequence of array of shape (k,)
        The polynomials that are known, as coefficients of all standard monomials.
    """

    def __init__(self, total: np.ndarray, vectors: Sequence[np.ndarray]):
        self.total = total
        self.basis = np.zeros((len(total), 0))
        if len(vectors):
            values = self.total @ np.array(vectors).T
            values /= np.sqrt((values**2).sum(axis=0))
            left, singular, _ = np.linalg.svd(values, full_matrices=False)
            self.basis = left[:, singular > 1e-7 * singular[0]]

    @property
    def rank(self) -> int:
        """How many independent polynomials are known."""
        return self.basis.shape[1]

    def novelty(self, candidate: PencilCandidate) -> float:
        """Return the share of a candidate's spread that no known polynomial has."""
        values = self.total[:, candidate.support] @ candidate.coef
        rest = values - self.basis @ (self.basis.T @ values)
        return float(np.sqrt((rest @ rest) / (values @ values)))
