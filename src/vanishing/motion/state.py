"""Laws of the state: polynomials that vanish on all rows, and what is left without them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from vanishing.motion import settings


class MotionState(NamedTuple):
    """Standard monomials of the rows, and laws that make the others follow from them.

    Attributes
    ----------
    standard : array of int of shape (k,)
        Places of the standard monomials, the constant and those that nearly follow from others left
        out.
    laws : list of (int, array)
        Place of the leading monomial, and coefficients of the constant and of standard monomials:
        the monomial less these vanishes. No leading monomial is a multiple of another.
    reduced : array of shape (k, n_monomials)
        Each monomial as a combination of the standard ones, up to a constant.
    """

    standard: np.ndarray
    laws: list[tuple[int, np.ndarray]]
    reduced: np.ndarray


def state_of(values: np.ndarray, exponents: np.ndarray) -> MotionState:
    """Return the standard monomials in DegLex order and the laws: OAVI with the closed form.

    Parameters
    ----------
    values : array of shape (n, n_monomials + 1)
        With the products of the constant and all monomials on the rows: values on rows, or a
        triangular factor of them.
    exponents : array of int of shape (n_monomials, n_variables)
        In DegLex order.
    """
    size = np.sqrt((values**2).sum(axis=0))
    unit = values / np.where(size > 0, size, 1.0)
    basis = np.empty((len(unit), min(unit.shape)))
    basis[:, 0] = unit[:, 0]
    standard: list[int] = []
    leading: list[int] = []
    short: dict[int, np.ndarray] = {}
    degree = exponents.sum(axis=1)
    for d in range(1, int(degree.max()) + 1):
        places = np.flatnonzero(degree == d)
        for other in leading:
            places = places[~(exponents[places] >= exponents[other]).all(axis=1)]
        known = basis[:, : len(standard) + 1]
        left = _without(known, unit[:, places + 1])
        first = known.shape[1]
        for column, place in zip(left.T, places, strict=True):
            new = basis[:, first : len(standard) + 1]
            rest = _without(new, column) if new.shape[1] else column
            norm = np.sqrt(rest @ rest)
            chosen = np.array([-1, *standard]) + 1
            law = None
            if norm <= settings.INTEGRATED:
                law = _short_law(unit[:, chosen], unit[:, place + 1])
            if norm <= settings.VANISHES or law is not None:
                leading.append(int(place))
                if law is not None:
                    short[int(place)] = law / size[chosen] * size[place + 1]
            elif norm > settings.NEARLY:
                basis[:, len(standard) + 1] = rest / norm
                standard.append(int(place))
    coef = _reductions(basis[:, : len(standard) + 1], unit, np.array([-1, *standard]) + 1)
    coef = coef / size[np.array([-1, *standard]) + 1][:, None] * size
    for lead, row in short.items():
        coef[:, lead + 1] = np.append(row, np.zeros(len(coef) - len(row)))
    laws = [(place, coef[:, place + 1]) for place in leading]
    return MotionState(np.array(standard, dtype=np.intp), laws, coef[1:, 1:])


def _short_law(columns, target) -> np.ndarray | None:
    """Return the coefficients of few columns whose combination is the target, or None."""
    coef = np.linalg.lstsq(columns, target, rcond=None)[0]
    used = np.abs(coef) > 1e-5 * max(1.0, np.abs(coef).max())
    if np.count_nonzero(used) >= settings.LAW_TERMS:
        return None
    coef = np.where(used, coef, 0.0)
    coef[used] = np.linalg.lstsq(columns[:, used], target, rcond=None)[0]
    rest = target - columns @ coef
    return coef if np.sqrt(rest @ rest) <= settings.INTEGRATED else None


def _reductions(basis, unit, chosen) -> np.ndarray:
    """Return each column as a combination of the chosen ones up to itself, by least squares."""
    inner = basis.T @ unit
    upper = np.triu(inner[:, chosen])
    coef = np.zeros_like(inner)
    coef[np.arange(len(chosen)), chosen] = 1.0
    # Columns between the same two chosen ones are combinations of the same.
    ends = np.append(chosen, unit.shape[1])
    for k, (start, stop) in enumerate(zip(ends[:-1] + 1, ends[1:], strict=True), 1):
        if stop > start:
            coef[:k, start:stop] = solve_triangular(upper[:k, :k], inner[:k, start:stop])
    return coef


def _without(basis, vectors):
    """Return vectors less their projections on an orthonormal basis, taken twice for rounding."""
    for _ in range(2):
        vectors = vectors - basis @ (basis.T @ vectors)
    return vectors


def cleaned(coef: np.ndarray) -> np.ndarray:
    """Return coefficients of an exact law without the rounding in whole numbers."""
    coef = np.where(np.abs(coef) > 1e-8 * np.abs(coef).max(), coef, 0.0)
    whole = np.round(coef)
    return np.where(np.abs(coef - whole) < 1e-8 * np.maximum(np.abs(whole), 1.0), whole, coef)


def products(quantities: Sequence[dict[tuple[int, ...], float]], max_degree: int) -> list[dict]:
    """Return all products of quantities, each with itself and others, up to a degree.

    Quantities are coefficients by exponents; the constant does not matter.
    """
    results: list[dict] = []
    last: list[tuple[int, dict]] = [(0, {})]
    while last:
        following = []
        for start, product in last:
            for i in range(start, len(quantities)):
                longer = quantities[i] if not product else _product(product, quantities[i])
                if max(map(sum, longer)) <= max_degree:
                    following.append((i, longer))
        results += [product for _, product in following]
        last = following
    return results


def _product(left: dict, right: dict) -> dict:
    product: dict[tuple[int, ...], float] = {}
    for a, x in left.items():
        for b, y in right.items():
            key = tuple(i + j for i, j in zip(a, b, strict=True))
            product[key] = product.get(key, 0.0) + x * y
    return product
