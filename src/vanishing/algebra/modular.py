"""Linear algebra modulo a prime: what is independent there is independent over the rationals."""

import numpy as np

PRIME = 2**31 - 1  # products of two remainders fit into 64 bits


def residues(values) -> np.ndarray:
    """Return whole numbers of any size modulo the prime, as int64."""
    values = np.asarray(values)
    if values.dtype == object:
        return np.array(values % PRIME, dtype=np.int64)
    return values.astype(np.int64) % PRIME


def monomial_residues(points: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Return the values of terms at points, modulo the prime.

    Parameters
    ----------
    points : ndarray of int64 of shape (n_points, n_features)
        Remainders.
    terms : ndarray of int of shape (n_terms, n_features)
        Exponents.

    Returns
    -------
    values : ndarray of int64 of shape (n_points, n_terms)
    """
    values = np.ones((len(points), len(terms)), dtype=np.int64)
    for j in range(points.shape[1]):
        power = np.ones(len(points), dtype=np.int64)
        for exponent in range(int(terms[:, j].max(initial=0)) + 1):
            chosen = terms[:, j] == exponent
            values[:, chosen] = values[:, chosen] * power[:, np.newaxis] % PRIME
            power = power * points[:, j] % PRIME
    return values


class Echelon:
    """Rows of a matrix in echelon form modulo the prime, which can be added to.

    Parameters
    ----------
    n_columns : int
    """

    def __init__(self, n_columns: int):
        self.rows = np.zeros((0, n_columns), dtype=np.int64)
        self.pivots: list[int] = []

    def reduced(self, rows: np.ndarray) -> np.ndarray:
        """Return rows less their combinations of the rows in the echelon."""
        rows = rows.copy()
        for row, pivot in zip(self.rows, self.pivots, strict=True):
            rows = (rows - rows[:, pivot : pivot + 1] * row % PRIME) % PRIME
        return rows

    def add(self, rows: np.ndarray) -> None:
        """Add rows, as far as they are independent of those that are there."""
        rest = self.reduced(rows)
        new = []
        while rest.size:
            rest = rest[rest.any(axis=1)]
            if not len(rest):
                break
            pivot = int(np.flatnonzero(rest[0])[0])
            row = rest[0] * pow(int(rest[0, pivot]), -1, PRIME) % PRIME
            rest = (rest[1:] - rest[1:, pivot : pivot + 1] * row % PRIME) % PRIME
            new.append(row)
            self.pivots.append(pivot)
        if new:
            self.rows = np.vstack([self.rows, *(row[np.newaxis] for row in new)])


def rank(matrix: np.ndarray) -> int:
    """Return the rank modulo the prime, which the rank over the rationals is not below."""
    tall = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    echelon = Echelon(tall.shape[1])
    size = max(64, 2 * tall.shape[1])
    for start in range(0, len(tall), size):
        echelon.add(tall[start : start + size])
        if len(echelon.pivots) == tall.shape[1]:
            break
    return len(echelon.pivots)
