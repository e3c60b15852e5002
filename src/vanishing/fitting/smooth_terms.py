"""Terms of any smooth function: products of Legendre polynomials in columns or their logarithms."""

from functools import lru_cache

import numpy as np

from vanishing.algebra.monomials import plan_up_to, terms_of
from vanishing.fitting import settings


@lru_cache(maxsize=64)
def exponents_up_to(n_variables: int, max_terms: int, max_degree: int) -> np.ndarray:
    """Return all exponents up to the largest degree that keeps to a number of terms, by degree."""
    if not n_variables or not max_degree:
        return np.zeros((1, n_variables), dtype=np.int64)
    terms = terms_of(plan_up_to(n_variables, max_degree, max_terms), n_variables).astype(np.int64)
    return terms[np.lexsort([*-terms.T[::-1], terms.sum(axis=1)])]


def legendre_products(u: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Return products of Legendre polynomials, shape (n_terms, n_rows); exponents are sorted.

    Parameters
    ----------
    u : array of shape (n_variables, n_rows)
        Values in [-1, 1].
    exponents : array of shape (n_terms, n_variables)
        As `exponents_up_to` returns them: what is left of a term without its last variable is an
        earlier term.
    """
    n_variables, n_rows = u.shape
    highest = int(exponents.max(initial=0))
    powers = np.empty((n_variables, highest + 1, n_rows))
    powers[:, 0] = 1.0
    if highest:
        powers[:, 1] = u
    for d in range(1, highest):
        powers[:, d + 1] = ((2 * d + 1) * u * powers[:, d] - d * powers[:, d - 1]) / (d + 1)
    values = np.empty((len(exponents), n_rows))
    place = {tuple(row): i for i, row in enumerate(exponents.tolist())}
    for i, row in enumerate(exponents.tolist()):
        used = [k for k, e in enumerate(row) if e]
        if not used:
            values[i] = 1.0
            continue
        last = used[-1]
        rest = (*row[:last], 0, *row[last + 1 :])
        np.multiply(values[place[rest]], powers[last, row[last]], out=values[i])
    return values


def is_logarithmic(columns: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Say which columns are better seen in logarithms: not those that come close to zero.

    A few rows may: a rule about the smallest value of all would say something else the more rows
    there are.
    """
    if not len(columns):
        return np.zeros(0, dtype=bool)
    low, middle = np.quantile(columns, [settings.LOW_QUANTILE, 0.5], axis=1)
    return positive & (low > settings.CLOSE_TO_ZERO * middle)


def smooth_coordinates(columns: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return columns, or the logarithms of those that are better seen so."""
    coordinates = columns.copy()
    logarithmic = is_logarithmic(columns, positive)
    coordinates[logarithmic] = np.log(coordinates[logarithmic])
    return coordinates


def range_of(coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return centres and half widths, such that (value - centre) / width is in [-1, 1]."""
    if not coordinates.size:
        return np.zeros(len(coordinates)), np.ones(len(coordinates))
    low, high = coordinates.min(axis=1), coordinates.max(axis=1)
    return (low + high) / 2, np.where(high > low, (high - low) / 2, 1.0)


def smooth_terms(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return smooth terms of columns, shape (n_terms, n_rows), and their exponents.

    There are as many terms as the rows can tell from noise.
    """
    n_terms = min(settings.MAX_SMOOTH_TERMS, max(2, columns.shape[1] // 10))
    coordinates = smooth_coordinates(columns, columns.min(axis=1) > 0.0)
    centre, width = range_of(coordinates)
    exponents = exponents_up_to(len(columns), n_terms, settings.MAX_SMOOTH_DEGREE)[:n_terms]
    return legendre_products((coordinates - centre[:, None]) / width[:, None], exponents), exponents
