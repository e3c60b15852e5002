"""Where laws come from: equations as text, fitted finders and detectors, or the table itself."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from vanishing.algebra.equations import read_equation
from vanishing.equations.law import Law
from vanishing.laws.check import check_law
from vanishing.laws.finder import LawFinder
from vanishing.outliers.detector import VanishingOutlierDetector
from vanishing.repair import settings
from vanishing.repair.independence import distance, independent
from vanishing.repair.noise import noise_of, obeying
from vanishing.repair.prior import middle_spreads
from vanishing.repair.system import LawSystem

SOURCES = (VanishingOutlierDetector, LawFinder)


class NamedColumns:
    """Rows with names of columns, as `check_law` reads them from frames of any library."""

    def __init__(self, X: np.ndarray, names: Sequence[str]):
        self.X, self.columns = X, list(names)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.X[:, self.columns.index(name)]

    def __len__(self) -> int:
        return len(self.X)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.array(self.X, dtype=dtype)


def laws_of_user(laws: Any, X: np.ndarray, names: Sequence[str]) -> list[Law]:
    """Return the laws that a user gave, in any of the forms that are possible.

    Parameters
    ----------
    laws : str, Law, estimator with laws, or sequence of these
    X : array of shape (n_rows, n_columns)
        Rows to fit constants to, NaN where there are gaps.
    names : sequence of str
    """
    if isinstance(laws, (str, Law, *SOURCES)):
        laws = [laws]
    found = []
    for given in laws:
        if isinstance(given, str):
            found.append(_checked(given, X, names))
        elif isinstance(given, Law):
            found.append(_renamed(given, names))
        else:
            found += [law for law in _of_estimator(given, X, names) if _is_usable(law)]
    return found


def check_laws(laws: Any) -> None:
    """Raise TypeError unless laws are given in a form that is possible."""
    if laws is None or isinstance(laws, (str, Law, *SOURCES)):
        return
    each = laws if isinstance(laws, (list, tuple)) else [laws]
    for given in each:
        if not isinstance(given, (str, Law, *SOURCES)):
            raise TypeError(
                "laws must be equations such as 'net = quantity*price', Laws, a LawFinder or a "
                f"VanishingOutlierDetector, or a list of these; got {type(given).__name__}."
            )


def _of_estimator(estimator, X: np.ndarray, names: Sequence[str]) -> list[Law]:
    """Return the laws of an estimator, which is fitted to rows without gaps if it is not yet."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        rows = _complete(X)
        if len(rows) < settings.LEAST_ROWS:
            raise ValueError(
                f"only {len(rows)} rows have no gap, too few to fit a {type(estimator).__name__} "
                "to: give one that is fitted, or the laws themselves."
            ) from None
        return [_named(law, names) for law in clone(estimator).fit(rows).laws_]
    return [_renamed(law, names) for law in estimator.laws_]


def _complete(X: np.ndarray) -> np.ndarray:
    return X[np.isfinite(X).all(axis=1)]


def _checked(equation: str, X: np.ndarray, names: Sequence[str]) -> Law:
    """Return an equation whose constants are fitted to the rows that have all of its columns."""
    places = sorted(read_equation(equation, list(names)).columns)
    rows = _complete(X[:, places])
    # Wrong values are what is looked for: constants come from the rows that go together.
    law = check_law(equation, NamedColumns(rows, [names[i] for i in places]), robust=True)
    if not law.constants:
        law = law._replace(constant_covariance=None)  # which a file cannot hold without constants
    return law._replace(units=None)


def _renamed(law: Law, names: Sequence[str]) -> Law:
    """Return a law in the columns of a table, which has others as well."""
    missing = [name for name in law.columns if name not in names]
    if not missing:
        return law
    if len(law.names) == len(names) and list(names) == [f"x{i}" for i in range(len(names))]:
        return law._replace(names=tuple(names), target=None)
    raise ValueError(
        f"the law {law} is about a column {missing[0]!r}, which the table does not have; its "
        f"columns are {', '.join(map(str, names[:10]))}."
    )


# -- The table itself -----------------------------------------------------------------------------


def laws_of_table(
    X: np.ndarray, names: Sequence[str], max_degree: int, seed: int, n_jobs: int | None
) -> list[Law]:
    """Return laws that rows without gaps obey.

    Where hardly any row has none, columns are left out one by one: rows without gaps in the others
    tell the laws of these.
    """
    n = X.shape[1]

    def search(places: Sequence[int], targets: Sequence[int]) -> list[Law]:
        rows, own = _complete(X[:, places]), [names[i] for i in places]
        wanted = [names[i] for i in targets]
        return _laws_of_rows(rows, own, wanted, max_degree, seed, n_jobs)

    if len(_complete(X)) >= max(settings.LEAST_ROWS, settings.COMPLETE * len(X)):
        return search(range(n), range(n))
    found: list[Law] = []
    for left_out in range(n):
        others = [i for i in range(n) if i != left_out]
        # Searches take long: each column is the target of three.
        targets = [(left_out + step) % n for step in (1, 2, 3)] if n > 4 else others
        known = {frozenset(law.columns) for law in found}
        new = search(others, targets)
        found += [law for law in new if frozenset(law.columns) not in known]
    return [_refitted(law, X, names) for law in independent(found, names, X, seed)]


def _refitted(law: Law, X: np.ndarray, names: Sequence[str]) -> Law:
    """Return a law whose coefficients are fitted to all rows that have its columns and are near."""
    places = [names.index(name) for name in law.columns]
    rows = X[np.isfinite(X[:, places]).all(axis=1)]
    whole = np.zeros((len(rows), len(law.names)))
    whole[:, [law.names.index(name) for name in law.columns]] = rows[:, places]
    values = law.term_values(whole)
    off = np.abs(values @ law.coef)
    values = values[off <= settings.ROUGH * np.median(off)]
    fixed = np.flatnonzero((law.coef == 1.0) & (law.coef_std == 0.0))
    fitted = np.setdiff1d(np.flatnonzero(law.coef_std > 0.0), fixed[:1])
    if not len(fixed) or not len(fitted) or len(values) < settings.LEAST_ROWS:
        return law
    others = np.setdiff1d(np.arange(len(law.coef)), fitted)
    A, b = values[:, fitted], -values[:, others] @ law.coef[others]
    unit = np.sqrt(np.mean(np.square(A), axis=0))
    coef, covariance = law.coef.copy(), np.zeros((len(law.coef),) * 2)
    coef[fitted] = np.linalg.lstsq(A / unit, b, rcond=None)[0] / unit
    error = float(np.sqrt(np.mean(np.square(values @ coef))))
    inverse = np.linalg.pinv((A / unit).T @ (A / unit), hermitian=True)
    covariance[np.ix_(fitted, fitted)] = error**2 * inverse / np.outer(unit, unit)
    return law._replace(coef=coef, covariance=covariance, n_samples=len(values))


def _laws_of_rows(
    rows: np.ndarray,
    names: Sequence[str],
    targets: Sequence[str],
    max_degree: int,
    seed: int,
    n_jobs: int | None,
) -> list[Law]:
    """Return laws that most rows obey.

    Rows with wrong values hide laws. So laws are looked for in all rows, in the half that is most
    normal, and again in those that obey what was found.
    """
    if len(rows) < settings.LEAST_ROWS or len(names) < 2:
        return []

    def fitted(to: np.ndarray) -> tuple[VanishingOutlierDetector, list[Law]]:
        degree = min(max_degree, 2)
        detector = VanishingOutlierDetector(
            degree, contamination=0.1, n_jobs=n_jobs, random_state=seed
        ).fit(to)
        return detector, [_named(law, names) for law in detector.laws_ if _is_usable(law)]

    detector, laws = fitted(rows)
    scores = detector.score_samples(rows)
    half = rows[scores >= np.median(scores)]
    if len(half) >= settings.LEAST_ROWS:
        of_half = fitted(half)[1]
        if len(of_half) > len(laws) and _near(of_half, names, rows).mean() > 0.5:
            laws = of_half
    if laws:
        near = _near(laws, names, rows)
        if not near.all() and near.sum() >= settings.LEAST_ROWS:
            rows = rows[near]
            again = fitted(rows)[1]
            laws = again if len(again) >= len(laws) else laws
    if max_degree > 2:
        laws = _of_higher_degree(rows, names, targets, max_degree, seed, n_jobs, laws)
        laws = independent(laws, names, rows, seed)
    return laws


def _is_usable(law: Law) -> bool:
    """Say whether a law determines a column: one of a single column may have several solutions."""
    return len(law.columns) > 1 or law.degree == 1


def _named(law: Law, names: Sequence[str]) -> Law:
    """Return a law of columns without names, by the names that they have."""
    target = None if law.target is None else names[law.names.index(law.target)]
    return law._replace(names=tuple(names), target=target, n_inputs=len(names))


def _near(laws: list[Law], names: Sequence[str], rows: np.ndarray) -> np.ndarray:
    """Return which rows obey laws."""
    system, spread = LawSystem(laws, names), middle_spreads(rows)
    return obeying(noise_of(system, rows, spread), system, rows)


def _of_higher_degree(
    rows: np.ndarray,
    names: Sequence[str],
    targets: Sequence[str],
    max_degree: int,
    seed: int,
    n_jobs: int | None,
    known: list[Law],
) -> list[Law]:
    """Return laws with those of products of more than two columns, for each of some targets.

    A law replaces others of the same columns that rows are farther from.
    """
    found: list[Law] = []
    spread = middle_spreads(rows)
    constant = {name for law in known if len(law.columns) == 1 for name in law.columns}
    varying = [i for i, name in enumerate(names) if name not in constant]
    for place in [i for i in varying if names[i] in targets]:
        others = [i for i in varying if i != place]
        if not others or any(names[place] in law.columns for law in found):
            continue
        finder = LawFinder(
            max_degree, functions=(), forms=(), robust=True, n_jobs=n_jobs, random_state=seed
        ).fit(rows[:, others], rows[:, place])
        for law in finder.laws_[:1]:
            if law.error < settings.LAW_CLOSE * spread[place]:
                found.append(_among_all(law, [*others, place], names))
    kept = list(known)
    for law in found:
        same = [other for other in kept if set(other.columns) == set(law.columns)]
        own = distance(law, names, rows, spread)
        if all(own < settings.BETTER * distance(each, names, rows, spread) for each in same):
            kept = [other for other in kept if other not in same] + [law]
    return kept


def _among_all(law: Law, places: Sequence[int], names: Sequence[str]) -> Law:
    """Return a law of some columns as one of all columns of a table."""
    return law._replace(
        names=tuple(names[i] for i in places), target=names[places[-1]], n_inputs=len(places)
    )
