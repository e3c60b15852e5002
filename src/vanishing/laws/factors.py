"""Step 1a: factors of a target, y = x^p f(rest), where f is not known at all.

Among rows that are neighbours in the columns of the rest, log |y| changes with the logarithms of
the other columns alone: a regression of such differences says their exponents. No surrogate is
asked, which would need rows for all columns at once.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from vanishing.laws import settings
from vanishing.laws.exponents import LogRegression, simple_exponents
from vanishing.laws.indices import index_exponents
from vanishing.laws.problem import LawTable
from vanishing.laws.products import LogRows
from vanishing.laws.reductions import Logarithms, ReductionState, shortest_factor

_RIDGE = 1e-3  # of weights of neighbours that lie on a line


class _Factors(NamedTuple):
    """y = M f(rest): the exponents of M, where they are simple, and how unlikely rows are.

    The rest are columns, or one product of powers.
    """

    rest: tuple[tuple[float, ...], ...]
    score: float
    exponents: np.ndarray | None

    def in_columns(self, logs: LogRows) -> tuple[tuple[tuple[float, ...], ...], list[float]]:
        """Return the rest and the exponents of M in all columns of the table."""
        rest = np.zeros((len(self.rest), logs.n_columns))
        rest[:, logs.used] = self.rest
        exponents = np.zeros(logs.n_columns)
        exponents[logs.used] = self.exponents
        return tuple(map(tuple, rest.tolist())), exponents.tolist()


class _Neighbours(NamedTuple):
    """Rows that are near one another in some columns.

    Attributes
    ----------
    places : array of int of shape (n_rows, n_neighbours)
    weight : array of shape (n_rows, n_neighbours)
        The least ones by which neighbours say what a linear function is of a row.
    size : array of shape (n_rows,)
        Of the noise in differences.
    """

    places: np.ndarray
    weight: np.ndarray
    size: np.ndarray

    @classmethod
    def among(cls, ranks: np.ndarray) -> "_Neighbours":
        """Find the neighbours of all rows, by ranks of shape (n_columns, n_rows)."""
        n, n_rows = ranks.shape
        count = 2 * n + 2
        places = cKDTree(ranks.T).query(ranks.T, count + 1)[1]
        own = places == np.arange(n_rows)[:, np.newaxis]
        own[~own.any(axis=1), -1] = True  # where many rows are equal
        places = places[~own].reshape(n_rows, count)
        gaps = (ranks.T[places] - ranks.T[:, np.newaxis]).transpose(0, 2, 1)
        gaps /= np.maximum(np.abs(gaps).max(axis=2, keepdims=True), 1e-12)
        terms = np.concatenate([np.ones((n_rows, 1, count)), gaps], axis=1)
        gram = terms @ terms.transpose(0, 2, 1) + _RIDGE * np.eye(n + 1)
        one = np.zeros((n_rows, n + 1, 1))
        one[:, 0] = 1.0
        weight = (terms.transpose(0, 2, 1) @ np.linalg.solve(gram, one))[..., 0]
        weight /= weight.sum(axis=1, keepdims=True)
        return cls(places, weight, np.sqrt(1.0 + np.sum(weight**2, axis=1)))

    def differences(self, values: np.ndarray) -> np.ndarray:
        """Return values less what the neighbours say, over the size of the noise."""
        return (values - np.sum(self.weight * values[..., self.places], axis=-1)) / self.size


def factor_states(table: LawTable) -> list[ReductionState]:
    """Return states in which few columns are variables, and others factors or play no part.

    The likeliest come first. None where no exponents of the others are simple numbers.
    """
    table = table.at(slice(0, settings.FACTOR_ROWS))
    found: dict[tuple, float] = {}
    for part in _parts(table):
        logs = LogRows(part)
        for factors in _rests(logs):
            rest, exponents = factors.in_columns(logs)
            key = (rest, *exponents)
            found[key] = min(factors.score, found.get(key, np.inf))
    states = []
    for rest, *exponents in _nested(sorted(found, key=lambda key: found[key])):
        variables = np.array(rest)
        positive = np.array([table.positive[row != 0.0].all() for row in variables])
        factor = shortest_factor(np.array(exponents), variables[positive], table.positive)
        states.append(ReductionState(factor, variables, positive))
    return states


@np.errstate(all="ignore")
def is_negative(table: LawTable, states: list[ReductionState]) -> bool:
    """Say whether y / M is negative on most rows: roots and logarithms are of -y / M then."""
    logarithms = Logarithms(table.columns, table.positive)
    return any(
        np.average(table.y * logarithms.factor(state) < 0.0, weights=table.counts) > 0.5
        for state in states[:1]
    )


def _nested(ordered: list[tuple]) -> list[tuple]:
    """Return the likeliest rest, and the likeliest that has more columns besides.

    A column that matters little, or in few rows, looks like a factor at first.
    """
    columns = [np.any(rest, axis=0) for rest, *_ in ordered]
    first = ordered[:1]
    more = [
        key
        for key, used in zip(ordered, columns, strict=True)
        if key[0] != first[0][0] and (used >= columns[0]).all()
    ]
    return first + more[:1]


def _parts(table: LawTable) -> Iterator[LawTable]:
    """Yield all rows, and the larger ones: small ones are noise, where that is equal on all."""
    yield table
    size = np.abs(table.y)
    large = size > np.median(size)
    if np.count_nonzero(large) >= settings.LEAST_FACTOR_ROWS:
        yield table.at(large)


def _rests(logs: LogRows) -> Iterator[_Factors]:
    """Yield the likeliest rests of one column, two, and three, whose factors are simple."""
    n, n_rows = len(logs.used), len(logs.y)
    if n < 2 or n_rows < max(settings.LEAST_FACTOR_ROWS, settings.ROWS_PER_TERM * n):
        return
    tried = []
    product = index_exponents(logs.regression)
    if product is not None:
        tried.append(_factors(logs, product[np.newaxis]))
    unit, beam = np.eye(n), [()]
    for _ in range(min(settings.MOST_REST, n - 1)):
        larger = {tuple(sorted({*rest, i})) for rest in beam for i in range(n) if i not in rest}
        ordered = sorted(
            ((_factors(logs, unit[list(rest)]), rest) for rest in sorted(larger)),
            key=lambda one: one[0].score,
        )[: settings.REST_BEAM]
        beam = [rest for _, rest in ordered]
        tried += [factors for factors, _ in ordered]
    yield from (factors for factors in tried if factors.exponents is not None)


def _factors(logs: LogRows, rest: np.ndarray) -> _Factors:
    """Fit the exponents of all columns but one of each part of the rest."""
    parts = [np.prod(logs.columns.T**row, axis=1) for row in rest]
    ranks = np.argsort(np.argsort(parts, axis=1, kind="stable"), axis=1) / len(logs.y)
    near = _Neighbours.among(ranks)
    own = list(np.argmax(np.abs(rest), axis=1))
    n, rows = len(logs.used), logs.regression
    changes = LogRegression(
        near.differences(rows.logs),
        near.differences(rows.target),
        rows.weight,
        rows.signed,
        constant=False,
    )
    start = np.ones_like(rows.weight)
    free = changes.fit(start, np.ones(n, dtype=bool), np.zeros(n))
    # Powers of the rest are part of what is not known: near ones help neighbours to tell it.
    exponents, others = np.zeros(n), np.delete(np.arange(n), own)
    exponents[own] = np.round(free.exponents[own])
    rows_of_others = changes._replace(
        logs=changes.logs[others],
        target=changes.target - exponents @ changes.logs,
        signed=changes.signed[others],
    )
    price, key = settings.REST_PRICE * len(rest), tuple(map(tuple, rest.tolist()))
    simple = next(simple_exponents(rows_of_others, start), None)
    if simple is None:
        return _Factors(key, price - 2.0 * free.log_likelihood, None)
    exponents[others], likelihood = simple
    # The sign of y / M is that of the rest, which neighbours have in common.
    negative = (exponents[:, np.newaxis] % 2.0 == 1.0) & (logs.columns < 0.0)
    sign = np.sign(logs.y) * np.where(negative.sum(axis=0) % 2, -1.0, 1.0)
    same = np.mean(sign[near.places] == sign[:, np.newaxis])
    # A column of the rest has its own powers; that of both signs may give y / M one sign.
    columns = np.count_nonzero(rest, axis=1) == 1
    exponents[
        [i for i, alone in zip(own, columns, strict=True) if alone and not rows.signed[i]]
    ] = 0
    simple_signs = same > settings.SAME_SIGN_NEARBY
    return _Factors(key, price - 2.0 * likelihood, exponents if simple_signs else None)
