"""Step 1b: scaling symmetries, which is dimensional analysis without units.

Where y = M(x) Y(w) with a product M of powers and few products w of powers of the columns, the
gradients of y along the logarithms of columns are dependent. Each dependence removes a variable.
"""

from collections.abc import Iterator
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

from vanishing.algebra.terms import raised
from vanishing.fitting.smooth_terms import is_logarithmic
from vanishing.fitting.surrogate import Surrogate, fit_surrogate
from vanishing.laws import settings

# What rounding leaves of a surrogate, relative to the mean square of y.
_ROUNDING = 1e-12


class ReductionState(NamedTuple):
    """y = M Y(w): M and w are products of powers of the columns.

    Attributes
    ----------
    factor : array of shape (n_columns,)
        Exponents of M.
    variables : array of shape (n_variables, n_columns)
        Exponents of w.
    positive : array of bool of shape (n_variables,)
        Whether w is positive, so that its powers are defined.
    surrogate : Surrogate or None
    logarithmic : array of bool of shape (n_variables,) or None
        Whether the surrogate sees the logarithm of w.
    """

    factor: np.ndarray
    variables: np.ndarray
    positive: np.ndarray
    surrogate: Surrogate | None = None
    logarithmic: np.ndarray | None = None

    def fit(self) -> tuple[Surrogate, np.ndarray]:
        """Return the surrogate and which variables it sees the logarithms of."""
        if self.surrogate is None or self.logarithmic is None:
            raise ValueError("the state has no surrogate")
        return self.surrogate, self.logarithmic

    @property
    def n_variables(self) -> int:
        """Number of variables that are left."""
        return len(self.variables)


class Logarithms:
    """Columns and their logarithms, from which products of powers are sums.

    Parameters
    ----------
    columns : array of shape (n_columns, n_rows)
    positive : array of bool of shape (n_columns,)
    """

    def __init__(self, columns: np.ndarray, positive: np.ndarray):
        self.columns, self.positive = columns, positive
        self.logs = np.log(np.where(positive[:, np.newaxis], columns, 1.0))

    def product(self, exponents: np.ndarray) -> np.ndarray:
        """Return a product of powers on the rows; whole ones of columns that are not positive."""
        value = np.exp(exponents @ self.logs)
        for i in np.flatnonzero(~self.positive & (exponents != 0.0)):
            value = value * raised(self.columns[i], exponents[i])
        return value

    def factor(self, state: ReductionState) -> np.ndarray:
        """Return M on the rows."""
        return self.product(state.factor)

    def variables(self, state: ReductionState) -> np.ndarray:
        """Return the variables of a state on the rows."""
        rows = np.empty((state.n_variables, self.columns.shape[1]))
        for row, exponents in zip(rows, state.variables, strict=True):
            used = np.flatnonzero(exponents)
            if len(used) == 1 and exponents[used[0]] == 1.0:
                row[:] = self.columns[used[0]]
            else:
                np.exp(exponents @ self.logs, out=row)
        return rows

    def coordinates(self, state: ReductionState, logarithmic: np.ndarray) -> np.ndarray:
        """Return the variables, of some their logarithms."""
        rows = self.variables(state)
        for i in np.flatnonzero(logarithmic):
            rows[i] = state.variables[i] @ self.logs
        return rows


class _ReductionCandidate(NamedTuple):
    """An equation of gradients, as the state it leads to."""

    rank: float
    state: ReductionState


def _halves(value: float) -> float:
    return round(2.0 * value) / 2.0


def _simplicity(*exponents: float) -> float:
    """Return by how much an equation with unusual exponents has to be better than a plain one."""
    return float(
        np.prod(
            [
                1.0 if e == int(e) and abs(e) <= 1 else 1.5 if 2 * e == int(2 * e) else 3.0
                for e in exponents
            ]
        )
    )


def _without(state: ReductionState, i: int, factor, variables) -> ReductionState:
    kept = np.arange(state.n_variables) != i
    return ReductionState(factor, variables[kept], state.positive[kept])


def _factors(state: ReductionState, gram: np.ndarray) -> Iterator[tuple[float, int, float]]:
    """Yield (rank, variable, power) for g_i = p y."""
    for i in range(state.n_variables):
        power = _halves(gram[i, -1] / gram[-1, -1]) if state.positive[i] else 0.0
        left = gram[i, i] - 2 * power * gram[i, -1] + power**2 * gram[-1, -1]
        yield left * _simplicity(power), i, power


def _with_factors(state: ReductionState, factors) -> ReductionState:
    factor, gone = state.factor.copy(), []
    for i, power in factors:
        factor += power * state.variables[i]
        gone.append(i)
    kept = np.setdiff1d(np.arange(state.n_variables), gone)
    return ReductionState(factor, state.variables[kept], state.positive[kept])


def _left(gram, direction):
    return float(direction @ gram @ direction)


def _pairs(state: ReductionState, gram: np.ndarray) -> Iterator[_ReductionCandidate]:
    """Yield g_i = a g_j + b y: w_i enters only through w_j w_i^a, and a factor w_i^b."""
    for i, j in permutations(range(state.n_variables), 2):
        if not (state.positive[i] and state.positive[j]):
            continue
        for a in settings.REDUCTION_RATIOS:
            direction = np.zeros(len(gram))
            direction[i], direction[j] = 1.0, -a
            b = _halves(float(direction @ gram[:, -1]) / gram[-1, -1])
            direction[-1] = -b
            rank = _left(gram, direction) / (1 + a * a) * _simplicity(a, b)
            if rank < settings.REDUCTION_RANK:
                variables = state.variables.copy()
                variables[j] += a * variables[i]
                factor = state.factor + b * state.variables[i]
                yield _ReductionCandidate(rank, _without(state, i, factor, variables))


def _triples(state: ReductionState, gram: np.ndarray) -> Iterator[_ReductionCandidate]:
    """Yield g_i = a g_j + c g_k + b y."""
    ratios = settings.REDUCTION_RATIOS[:6]
    for i in range(state.n_variables):
        others = [j for j in range(state.n_variables) if j != i and state.positive[j]]
        if not state.positive[i]:
            continue
        for j, k in combinations(others, 2):
            for a in ratios:
                for c in ratios:
                    direction = np.zeros(len(gram))
                    direction[i], direction[j], direction[k] = 1.0, -a, -c
                    b = _halves(float(direction @ gram[:, -1]) / gram[-1, -1])
                    direction[-1] = -b
                    rank = 3.0 * _left(gram, direction) / (1 + a * a + c * c) * _simplicity(a, b, c)
                    if rank < settings.REDUCTION_RANK:
                        variables = state.variables.copy()
                        variables[j] += a * variables[i]
                        variables[k] += c * variables[i]
                        factor = state.factor + b * state.variables[i]
                        yield _ReductionCandidate(rank, _without(state, i, factor, variables))


def _candidates(state: ReductionState, gram: np.ndarray) -> list[ReductionState]:
    """Return states to try: all good factors at once, then the best single equations."""
    factors = [
        (rank, i, power)
        for rank, i, power in _factors(state, gram)
        if rank < settings.REDUCTION_RANK
    ]
    states = []
    good = [(i, power) for rank, i, power in factors if rank < 0.2 * settings.REDUCTION_RANK]
    if len(good) > 1:
        states.append(_with_factors(state, good))
    single = [_ReductionCandidate(rank, _with_factors(state, [(i, p)])) for rank, i, p in factors]
    single += _pairs(state, gram)
    if state.n_variables <= 5:
        single += _triples(state, gram)
    single.sort(key=lambda candidate: candidate.rank)
    return states + [candidate.state for candidate in single[: settings.REDUCTIONS_TRIED]]


def _gram_of_gradients(state: ReductionState, logarithms: Logarithms, weight) -> np.ndarray:
    """Return the Gram matrix of (g_1, ..., g_r, y) over |y|^2, g_i = dy / d log w_i."""
    surrogate, logarithmic = state.fit()
    gradients = surrogate.gradients(logarithms.coordinates(state, logarithmic))
    variables = logarithms.variables(state)
    for i in np.flatnonzero(~logarithmic):
        # Of a variable that may be negative only "plays no part" is asked, in any unit.
        unit = variables[i] if state.positive[i] else np.ptp(variables[i])
        gradients[i] *= unit
    gradients *= logarithms.factor(state) * np.sqrt(weight / weight.sum())
    gram = gradients @ gradients.T
    return gram / gram[-1, -1]


def with_surrogate(state: ReductionState, logarithms: Logarithms, y, weight) -> ReductionState:
    """Return a state with a surrogate of the target, fitted to rows."""
    logarithmic = is_logarithmic(logarithms.variables(state), state.positive)
    coordinates = logarithms.coordinates(state, logarithmic)
    surrogate = fit_surrogate(coordinates, logarithms.factor(state), y, weight)
    return state._replace(surrogate=surrogate, logarithmic=logarithmic)


def reduced_states(
    columns, positive, y, weight, start: ReductionState, progress
) -> list[ReductionState]:
    """Return the states from the first one to the one with the fewest variables.

    Parameters
    ----------
    columns : array of shape (n_columns, n_rows)
    positive : array of bool of shape (n_columns,)
    y, weight : array of shape (n_rows,)
    start : ReductionState
        Without a surrogate: the columns that play a part.
    progress : callable
        Called before each fit: it may raise, to interrupt.
    """
    logarithms = Logarithms(columns, positive)
    count = float(weight.sum())
    norm = float(np.average(y**2, weights=weight))
    variance = float(np.average((y - np.average(y, weights=weight)) ** 2, weights=weight))

    def fitted(state):
        progress(f"surrogate of {state.n_variables} variables")
        return with_surrogate(state, logarithms, y, weight)

    states = [fitted(start)]
    while states[-1].n_variables:
        state = states[-1]
        old = state.surrogate
        gram = _gram_of_gradients(state, logarithms, weight)
        for candidate in _candidates(state, gram):
            new = fitted(candidate)
            saved = max(1, old.n_terms - new.surrogate.n_terms)
            allowed = old.mean_square * (1 + (4 * np.sqrt(2 * saved) + 10) / count)
            if old.limited and old.mean_square < 1e-3 * variance:
                allowed = 10.0 * old.mean_square
            if new.surrogate.mean_square <= max(allowed, _ROUNDING * norm):
                states.append(new)
                break
        else:
            break
    return states
