"""Products of two columns that are a third one, in tables too wide to try all products at once."""

from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np

from vanishing.equations.law import Law
from vanishing.laws.check import check_law
from vanishing.rules import settings
from vanishing.rules.columns import is_text


def product_laws(columns: dict[str, np.ndarray], known: Sequence[Law]) -> list[Law]:
    """Return laws z = k x y that hold, at most one per column z.

    Parameters
    ----------
    columns : dict from str to ndarray of shape (n_rows,)
        Of rows that are right.
    known : sequence of Law
        Laws that are known. Where z is a multiple of z' by one of them, the product is a law of
        one of the two.

    Returns
    -------
    laws : list of Law
        Solved for z. The product has to say more than a plane through both columns does.
    """
    numbers = {name: column for name, column in columns.items() if not is_text(column)}
    names = [name for name, column in numbers.items() if np.nanstd(column) > 0.0]
    if len(names) < 2:
        return []
    X = np.column_stack([numbers[name] for name in names])
    X = X[np.isfinite(X).all(axis=1)]
    low, middle, high = np.quantile(X, (0.25, 0.5, 0.75), axis=0)
    # One wild cell would hide a correlation.
    X = X[(np.abs(X - middle) <= settings.WRONG[1] * (high - low)).all(axis=1)]
    if len(X) < settings.FEWEST_ROWS:
        return []
    candidates = _candidates(X)
    laws: list[Law] = []
    for place in range(len(names)):
        for left, right in candidates.get(place, ()):
            law = _checked(X, names, place, left, right)
            if law is not None and not _follows(law, laws, known):
                laws.append(law)
                break
    return laws


def _follows(law: Law, laws: Sequence[Law], known: Sequence[Law]) -> bool:
    """Say whether a law is another one, solved for another column or times a known factor."""
    multiples = {frozenset(other.columns) for other in known if len(other.columns) == 2}
    for other in laws:
        one, two = set(law.columns), set(other.columns)
        if one == two or (len(one & two) == len(one) - 1 and frozenset(one ^ two) in multiples):
            return True
    return False


def _candidates(X: np.ndarray) -> dict[int, list[tuple[int, int]]]:
    """Return pairs of columns whose product goes with another column, the closest first."""
    with np.errstate(all="ignore"):
        scaled = np.nan_to_num((X - X.mean(axis=0)) / X.std(axis=0)) / np.sqrt(len(X))
    found: dict[int, list[tuple[float, int, int]]] = {}
    for left, right in combinations_with_replacement(range(X.shape[1]), 2):
        product = X[:, left] * X[:, right]
        product = product - product.mean()
        length = np.linalg.norm(product)
        if not length > 0.0:
            continue
        alike = np.abs(product @ scaled) / length
        alike[[left, right]] = 0.0
        for place in np.flatnonzero(alike > settings.ALIKE).tolist():
            found.setdefault(place, []).append((-float(alike[place]), left, right))
    return {
        place: [(left, right) for _, left, right in sorted(pairs)[:3]]
        for place, pairs in found.items()
    }


def _checked(X: np.ndarray, names: list[str], place: int, left: int, right: int) -> Law | None:
    """Return the law if it holds, and better than a plane."""
    z, x, y = X[:, place], X[:, left], X[:, right]
    plane = np.column_stack([np.ones(len(X)), x, y])
    flat = z - plane @ np.linalg.lstsq(plane, z)[0]
    product = x * y
    curved = np.abs(z - product * (product @ z) / (product @ product))
    usual = float(np.median(curved))
    if settings.BETTER * usual > np.median(np.abs(flat)):
        return None
    near = curved <= settings.WRONG[1] * max(1.48 * usual, float(np.quantile(curved, 0.8)))
    used = [place, left] if left == right else [place, left, right]
    # Columns of an array have short names; those of the table may hold what no equation can.
    text = "x0 = k*x1*x1" if left == right else "x0 = k*x1*x2"
    law = check_law(text, X[np.ix_(near, used)])
    if not law.verdict.startswith(("holds", "may hold")):
        return None
    return law._replace(names=[names[i] for i in used], target=names[place])
