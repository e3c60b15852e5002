"""Step 1b: scaling symmetries, which is dimensional analysis without units.

Where y = M(x) Y(w) with a product M of powers and few products w of powers of the columns, the
gradients of y along the logarithms of columns are dependent. Each dependence removes a variable.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

from vanishing.algebra.terms import Term, raised
from vanishing.fitting.smooth_terms import is_logarithmic
from vanishing.fitting.surrogate import Surrogate, fit_surrogate
from vanishing.laws import settings

# What rounding leaves of a surrogate, relative to the mean square of y.
_ROUNDING = 1e-12
_SAME = 1e-9  # of exponents


class Summand(NamedTuple):
    """A product of powers, times a number, that a variable has beside its own product."""

    number: float
    exponents: np.ndarray


class ReductionState(NamedTuple):
    """y = M Y(w): M and w are products of powers of the columns, or sums of two of these.

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
    summands : dict of int to Summand
        What is added to a variable, by its place.
    """

    factor: np.ndarray
    variables: np.ndarray
    positive: np.ndarray
    surrogate: Surrogate | None = None
    logarithmic: np.ndarray | None = None
    summands: dict[int, Summand] = {}  # noqa: RUF012 (a tuple's default; never changed)

    def fit(self) -> tuple[Surrogate, np.ndarray]:
        """Return the surrogate and which variables it sees the logarithms of."""
        if self.surrogate is None or self.logarithmic is None:
            raise ValueError("the state has no surrogate")
        return self.surrogate, self.logarithmic

    @property
    def n_variables(self) -> int:
        """Number of variables that are left."""
        return len(self.variables)

    @property
    def key(self) -> tuple:
        """What tells the state from others, whatever is known of its surrogate."""
        summands = ((i, s.number, *s.exponents.tolist()) for i, s in sorted(self.summands.items()))
        return *self.factor.tolist(), *map(tuple, self.variables.tolist()), *summands

    @property
    def is_product(self) -> np.ndarray:
        """Whether each variable is a positive product, so that it may be part of another one."""
        products = self.positive.copy()
        products[list(self.summands)] = False
        return products

    def of(self, kept: np.ndarray, factor: np.ndarray, variables: np.ndarray) -> "ReductionState":
        """Return the state of some of the variables, without a surrogate."""
        places = kept.tolist()
        summands = {places.index(i): s for i, s in self.summands.items() if i in places}
        return ReductionState(factor, variables[kept], self.positive[kept], summands=summands)


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
                row[:] = self.product(exponents)
        for i, (number, exponents) in state.summands.items():
            rows[i] += number * self.product(exponents)
        return rows

    def coordinates(self, state: ReductionState, logarithmic: np.ndarray) -> np.ndarray:
        """Return the variables, of some their logarithms."""
        rows = self.variables(state)
        for i in np.flatnonzero(logarithmic):
            rows[i] = np.log(rows[i]) if i in state.summands else state.variables[i] @ self.logs
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
    return state.of(np.flatnonzero(np.arange(state.n_variables) != i), factor, variables)


def _factors(
    state: ReductionState, gram: np.ndarray, flatness: np.ndarray
) -> Iterator[tuple[float, int, float]]:
    """Yield (rank, variable, power) for g_i = p y."""
    for i in range(state.n_variables):
        if state.is_product[i]:
            power = _halves(gram[i, -1] / gram[-1, -1])
            left = gram[i, i] - 2 * power * gram[i, -1] + power**2 * gram[-1, -1]
            yield left * _simplicity(power), i, power
        else:  # of either sign, or a sum: only "plays no part" is asked
            yield flatness[i], i, 0.0


def _with_factors(state: ReductionState, factors) -> ReductionState:
    factor, gone = state.factor.copy(), []
    for i, power in factors:
        factor += power * state.variables[i]
        gone.append(i)
    kept = np.setdiff1d(np.arange(state.n_variables), gone)
    return state.of(kept, factor, state.variables)


def _left(gram, direction):
    return float(direction @ gram @ direction)


def _pairs(state: ReductionState, gram: np.ndarray) -> Iterator[_ReductionCandidate]:
    """Yield g_i = a g_j + b y: w_i enters only through w_j w_i^a, and a factor w_i^b."""
    for i, j in permutations(range(state.n_variables), 2):
        if not state.is_product[i] or j in state.summands:
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
        others = [j for j in range(state.n_variables) if j != i and j not in state.summands]
        if not state.is_product[i]:
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


def _candidates(
    state: ReductionState, gram: np.ndarray, flatness: np.ndarray
) -> list[ReductionState]:
    """Return states to try: all good factors at once, then the best single equations."""
    if not np.isfinite(gram).all():  # the surrogate is zero on all rows that count
        return []
    factors = [
        (rank, i, power)
        for rank, i, power in _factors(state, gram, flatness)
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


def gram_of_gradients(
    state: ReductionState, logarithms: Logarithms, weight
) -> tuple[np.ndarray, np.ndarray]:
    """Return the Gram matrix of (g_1, ..., g_r, y) over |y|^2, g_i = dy / d log |w_i|.

    And the squares of dy / dw_i in units of the width of w_i, likewise: next to zero, what changes
    with w_i does not change with its logarithm.
    """
    surrogate, logarithmic = state.fit()
    gradients = surrogate.gradients(logarithms.coordinates(state, logarithmic))
    variables = logarithms.variables(state)
    gradients *= logarithms.factor(state) * np.sqrt(weight / weight.sum())
    flatness = np.sum(gradients[:-1] ** 2, axis=1) * np.ptp(variables, axis=1) ** 2
    gradients[:-1][~logarithmic] *= variables[~logarithmic]
    gram = gradients @ gradients.T
    return gram / gram[-1, -1], flatness / gram[-1, -1]


def with_surrogate(state: ReductionState, logarithms: Logarithms, y, weight) -> ReductionState:
    """Return a state with a surrogate of the target, fitted to rows."""
    logarithmic = is_logarithmic(logarithms.variables(state), state.positive)
    coordinates = logarithms.coordinates(state, logarithmic)
    surrogate = fit_surrogate(coordinates, logarithms.factor(state), y, weight)
    return state._replace(surrogate=surrogate, logarithmic=logarithmic)


def shortest_factor(factor: np.ndarray, variables: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return the factor of the smallest exponents, up to powers of variables.

    What they are multiplied with is not known, so that M may as well lack them: of exp(-w) the
    logarithm is short, of exp(-w)/w^3 it is not. Columns that are not ``positive`` keep whole
    powers.
    """
    for row in variables:
        used = np.flatnonzero(row)
        shorter = (factor - k * row for k in factor[used] / row[used])
        whole = (f for f in shorter if not (f[~positive] % 1.0).any())
        factor = min([factor, *whole], key=lambda f: float(np.abs(f).sum()))
    return factor


def state_of_terms(terms: Sequence[Term], positive: np.ndarray) -> ReductionState | None:
    """Return y = M Y(w) with the only variable w that an equation has, or None if it has more.

    Whatever units columns have, an equation holds that is one of y / M and w: both are read from
    the exponents of its terms, those of the target last.
    """
    if any(factor.inside is not None for term in terms for factor in term.factors):
        return None
    wholes, insides = zip(*(term.dimensions for term in terms), strict=True)
    differences = np.array(wholes) - wholes[0]
    rows = np.array([*differences, *(row for some in insides for row in some)])
    pivot = int(np.argmax(np.abs(rows[:, -1])))
    if not rows[pivot, -1]:
        return None
    target = rows[pivot] / rows[pivot, -1]
    others = rows - np.outer(rows[:, -1], target)
    variable = others[int(np.argmax(np.abs(others).sum(axis=1)))]
    sizes = np.abs(variable[np.abs(variable) > _SAME])
    if not len(sizes) or np.linalg.matrix_rank(others, tol=_SAME) > 1:
        return None
    variables = variable[np.newaxis, :-1] / sizes.min()
    factor = shortest_factor(-target[:-1], variables, positive)
    if (np.array([*variables, factor])[:, ~positive] % 1.0).any():
        return None  # a root of a column with both signs
    return ReductionState(factor, variables, positive[variables[0] != 0].all(keepdims=True))


def _simple_factors(state: ReductionState) -> Iterator[ReductionState]:
    """Yield states in which one variable is a factor, or divides."""
    for i in np.flatnonzero(state.is_product):
        for power in (1.0, -1.0):
            yield _with_factors(state, [(i, power)])


def _is_far_better(new: ReductionState, old: ReductionState) -> bool:
    """Say whether fewer variables explain far more, since a surrogate of them reaches further."""
    after, before = new.fit()[0], old.fit()[0]
    return after.mean_square < settings.FAR_BETTER * before.mean_square


def is_as_good(new: ReductionState, old: ReductionState, y, weight) -> bool:
    """Say whether fewer variables explain as much, up to what saved coefficients would explain."""
    before, after = old.fit()[0], new.fit()[0]
    saved = max(1, before.n_terms - after.n_terms)
    allowed = before.mean_square * (1 + (4 * np.sqrt(2 * saved) + 10) / float(weight.sum()))
    variance = float(np.average((y - np.average(y, weights=weight)) ** 2, weights=weight))
    if before.limited and before.mean_square < 1e-3 * variance:
        allowed = 10.0 * before.mean_square
    norm = float(np.average(y**2, weights=weight))
    return after.mean_square <= max(allowed, _ROUNDING * norm)


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

    def fitted(state):
        progress(f"surrogate of {state.n_variables} variables")
        return with_surrogate(state, logarithms, y, weight)

    states = [fitted(start)]
    while states[-1].n_variables:
        state = states[-1]
        for candidate in _candidates(state, *gram_of_gradients(state, logarithms, weight)):
            new = fitted(candidate)
            if is_as_good(new, state, y, weight):
                states.append(new)
                break
        else:
            # Gradients of a surrogate that is far from the target say little.
            tried = map(fitted, _simple_factors(state)) if state.fit()[0].limited else ()
            better = [new for new in tried if _is_far_better(new, state)]
            if not better:
                break
            states.append(min(better, key=lambda new: new.fit()[0].mean_square))
    return states
