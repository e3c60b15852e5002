"""Constants by group: one equation for all groups of rows, some constants of which differ."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy as np
from scipy.special import chdtri, fdtrc
from sklearn.utils import column_or_1d

from vanishing.algebra.equations import GivenEquation
from vanishing.algebra.syntax import listed
from vanishing.equations.parts import GROUP, Group
from vanishing.laws import settings
from vanishing.laws.constants import (
    Constants,
    least_squares_of,
    refined,
    settled,
    with_equal_noise,
)
from vanishing.laws.given_problem import Problem
from vanishing.laws.robust_constants import most_rows_fit, near_with, settled_on_most
from vanishing.laws.starts import scales
from vanishing.rows.validation import are_missing

# -- Groups of rows -------------------------------------------------------------------------------


class Groups(NamedTuple):
    """Which group each row belongs to.

    Attributes
    ----------
    labels : tuple of str, int or float
        In order.
    codes : ndarray of int of shape (n_rows,)
        Places among the labels.
    """

    labels: tuple[Group, ...]
    codes: np.ndarray

    def at(self, rows) -> "Groups":
        """Return the groups of some rows."""
        return self._replace(codes=self.codes[rows])

    def check_sizes(self, n_needed: int, what: str) -> None:
        """Raise ValueError where a group has too few rows, and say which."""
        for g, label in enumerate(self.labels):
            count = int(np.count_nonzero(self.codes == g))
            if count < n_needed:
                raise ValueError(
                    f"{what} needs at least {n_needed} rows of each group; group {label!r} has "
                    f"{count}: leave it out, or join it to another."
                )


def read_groups(groups, n_rows: int) -> Groups:
    """Return the groups of rows, or raise ValueError."""
    groups = column_or_1d(groups)
    if len(groups) != n_rows:
        raise ValueError(
            f"groups has {len(groups)} entries, and X has {n_rows} rows: one per row is needed."
        )
    missing = are_missing(groups)
    if missing.any():
        raise ValueError(f"groups has no group for row {np.argmax(missing)}: drop such rows.")
    try:
        labels, codes = np.unique(groups, return_inverse=True)
    except TypeError:  # numbers among texts
        labels, codes = np.unique(groups.astype(str), return_inverse=True)
    return Groups(tuple(map(_plain, labels.tolist())), codes)


def _plain(label) -> Group:
    """Return a label as files have it."""
    is_plain = isinstance(label, GROUP) and not isinstance(label, bool)
    return label if is_plain else str(label)


# -- Equations ------------------------------------------------------------------------------------


class GroupedEquation(NamedTuple):
    """An equation whose constants may differ between groups; has the methods of `GivenEquation`.

    The last of its columns are places of groups, so that problems may leave rows out.

    Attributes
    ----------
    equation : GivenEquation
    labels : tuple of str, int or float
    layout : ndarray of int of shape (n_groups, n_constants)
        Where the constants of each group are among all values.
    """

    equation: GivenEquation
    labels: tuple[Group, ...]
    layout: np.ndarray

    @property
    def columns(self) -> tuple[int, ...]:
        """Places of the columns that occur."""
        return self.equation.columns

    @property
    def alone(self) -> int | None:
        """The column that one side consists of."""
        return self.equation.alone

    @property
    def sign_of_alone(self) -> float | None:
        """The derivative by that column."""
        return self.equation.sign_of_alone

    @property
    def constants(self) -> tuple[str, ...]:
        """Names of all values: those that differ are named with their group."""
        names = {}
        for label, row in zip(self.labels, self.layout, strict=True):
            for name, place, is_shared in zip(
                self.equation.constants, row, self.shared, strict=True
            ):
                names[int(place)] = name if is_shared else f"{name}[{label}]"
        return tuple(names[place] for place in range(len(names)))

    @property
    def shared(self) -> np.ndarray:
        """Say which constants are the same in all groups."""
        return np.ptp(self.layout, axis=0) == 0

    def _per_row(self, columns: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the constants of each row, and where they are among all values."""
        places = self.layout[columns[-1].astype(np.intp)].T
        return np.asarray(values)[places], places

    def value(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return what is zero."""
        return self.equation.value(columns[:-1], self._per_row(columns, values)[0])

    def slope(self, columns: np.ndarray, values: np.ndarray, column: int) -> np.ndarray:
        """Return its derivative by a column."""
        return self.equation.slope(columns[:-1], self._per_row(columns, values)[0], column)

    def jacobian(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return its derivatives by all values, shape (n_values, n_rows)."""
        own, places = self._per_row(columns, values)
        slopes = np.zeros((len(values), columns.shape[1]))
        if len(own):
            slopes[places, np.arange(columns.shape[1])] = self.equation.jacobian(columns[:-1], own)
        return slopes

    def on_wrong_branch(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Say on which rows the equation holds rather with a square root taken negative."""
        wrong = np.zeros(columns.shape[1], dtype=bool)
        for g, places in enumerate(self.layout):
            rows = columns[-1] == g
            wrong[rows] = self.equation.on_wrong_branch(columns[:-1, rows], values[places])
        return wrong


def _grouped(problem: Problem, groups: Groups, layout: np.ndarray) -> Problem:
    """Return a problem with the constants of each group at their places among all values."""
    equation = GroupedEquation(problem.equation, groups.labels, layout)
    columns = np.vstack([problem.columns, groups.codes])
    return problem._replace(equation=cast(GivenEquation, equation), columns=columns)


def _layout(differs: np.ndarray, n_groups: int) -> np.ndarray:
    """Return places of values: one per shared constant, one per group for those that differ."""
    layout = np.zeros((n_groups, len(differs)), dtype=np.intp)
    place = 0
    for k, own in enumerate(differs):
        count = n_groups if own else 1
        layout[:, k] = place + (np.arange(n_groups) if own else 0)
        place += count
    return layout


# -- Fits -----------------------------------------------------------------------------------------


class GroupFit(NamedTuple):
    """Constants fitted to all groups together.

    Attributes
    ----------
    problem : Problem
        All rows, with a `GroupedEquation`.
    constants : Constants
        All values.
    p_values : dict from str to float
        How likely it is by chance that a constant differs between groups as much as it does.
    layout : ndarray of int of shape (n_groups, n_constants)
    labels : tuple of str, int or float
    same_noise : bool
        Whether the noise is the same in all groups.
    """

    problem: Problem
    constants: Constants
    p_values: dict[str, float]
    layout: np.ndarray
    labels: tuple[Group, ...]
    same_noise: bool

    @property
    def differs(self) -> np.ndarray:
        """Say which constants differ between groups."""
        return np.ptp(self.layout, axis=0) > 0

    def of_group(self, g: int, problem: Problem) -> tuple[Problem, Constants]:
        """Return the rows of a group, out of all, and its constants."""
        rows, places = self.problem.columns[-1] == g, self.layout[g]
        whole = self.constants
        constants = Constants(
            whole.values[places],
            whole.covariance[np.ix_(places, places)],
            whole.residuals[rows],
            whole.weight[rows],
        )
        return problem.rows(rows), constants

    def residuals_of(self, problem: Problem, groups: Groups) -> np.ndarray:
        """Return the residuals of any rows of these groups."""
        return _grouped(problem, groups, self.layout).residuals(self.constants.values)

    def sentence(self, names: Sequence[str]) -> str:
        """Say which constants differ between groups."""
        if not len(names):
            return ""
        differs = self.differs
        own = [
            f"{name} ({_chance(self.p_values[name])})"
            for name, d in zip(names, differs, strict=True)
            if d
        ]
        same = [name for name, d in zip(names, differs, strict=True) if not d]
        if not own:
            return f"{listed(same)} {_verb(same, 'does', 'do')} not differ between groups"
        text = f"{listed(own)} {_verb(own, 'differs', 'differ')} between groups"
        return text + (f", {listed(same)} {_verb(same, 'does', 'do')} not" if same else "")


def _chance(p_value: float) -> str:
    return f"p = {p_value:.1g}" if p_value >= 1e-12 else "p < 1e-12"


def _verb(names: Sequence[str], one: str, several: str) -> str:
    return one if len(names) == 1 else several


_NEAR_GROUPS = 1.5  # ratio of the errors of groups that have the same noise


def near_by_group(
    problem: Problem,
    groups: Groups,
    known: np.ndarray | None = None,
    error: float = 0.0,
    progress: Callable = lambda: None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Say which rows are near the equation, with constants by group that fit most rows.

    Once it is known which constants are shared, rows are judged again: few rows of a group may
    follow a wrong one.

    Parameters
    ----------
    problem : Problem
    groups : Groups
    known : ndarray of shape (n_constants,), default=None
        Constants that are near those of some group.
    error : float, default=0
        What these leave there: constants that they lead to, and leave as little, need no others.
    progress : callable
        Called now and then: it may raise, to interrupt.

    Returns
    -------
    near : ndarray of bool of shape (n_rows,)
    start : ndarray of shape (n_groups, n_constants) or None
        The constants of groups; None where no fit succeeds, and `fit_by_group` says why.
    """
    n_groups, n_constants = len(groups.labels), len(problem.equation.constants)
    each: dict[int, np.ndarray] = {}
    # Constants of the largest group are where those of the others start, too.
    for g in np.argsort(-np.bincount(groups.codes), kind="stable").tolist():
        progress()
        near = [*each.values()][:1] if known is None else [known, *each.values()][:2]
        fit = most_rows_fit(problem.rows(groups.codes == g), near, _NEAR_GROUPS * error)
        if fit is None:
            return np.ones(len(problem.weight), dtype=bool), None
        each[g] = fit
    start = np.array([each[g] for g in range(n_groups)])
    apart = _grouped(problem, groups, _layout(np.ones(n_constants, dtype=bool), n_groups))
    near = near_with(apart, start.T.ravel())
    whole = fit_by_group(problem.rows(near), groups.at(near), start, progress)
    together = _grouped(problem, groups, whole.layout)
    values = settled_on_most(together, whole.constants.values)
    return near_with(together, values), values[whole.layout]


def fit_by_group(
    problem: Problem,
    groups: Groups,
    start: np.ndarray | None = None,
    progress: Callable = lambda: None,
) -> GroupFit:
    """Fit constants to all groups together, and share those that do not differ.

    Parameters
    ----------
    problem : Problem
        All rows.
    groups : Groups
    start : ndarray of shape (n_groups, n_constants), default=None
        Where to start; by default the rows say where.
    progress : callable
        Called now and then: it may raise, to interrupt.
    """
    n_groups, names = len(groups.labels), problem.equation.constants
    differs = np.full(len(names), n_groups > 1)
    apart = _grouped(problem, groups, _layout(differs, n_groups))
    each = _each(problem, groups, start, progress)
    values = (each.T if n_groups > 1 else each[0]).ravel()
    scale = _scale(values)
    residuals, same_noise = apart.residuals(values), True
    share = np.ones(len(problem.weight))
    if names and np.isfinite(residuals).all():
        equal, values, share = with_equal_noise(apart, values, scale, residuals)
        apart = equal
        if not np.ptp(problem.weight):
            apart = _with_noise_of_groups(equal, values, n_groups)
        same_noise = apart is equal
        values = _moved(apart, values)
    choice = _Sharing(problem._replace(weight=apart.weight), groups, apart, values)
    layout = choice.chosen(progress)
    chosen = _grouped(problem._replace(weight=apart.weight), groups, layout)
    values = _moved(chosen, choice.values)
    constants = settled(chosen, values, share, _scale(values))
    return GroupFit(
        chosen._replace(weight=problem.weight),
        constants,
        dict(zip(names, choice.p_values.tolist(), strict=True)),
        layout,
        groups.labels,
        same_noise,
    )


def _scale(values: np.ndarray) -> np.ndarray:
    return np.where(values == 0.0, 1.0, np.abs(values))


def _moved(problem: Problem, values: np.ndarray) -> np.ndarray:
    fit = refined(problem, values, _scale(values)) if len(values) else None
    return values if fit is None else fit[1]


def _each(
    problem: Problem, groups: Groups, start: np.ndarray | None, progress: Callable
) -> np.ndarray:
    """Return the constants that fit each group best, shape (n_groups, n_constants)."""
    n_groups, n_constants = len(groups.labels), len(problem.equation.constants)
    if not n_constants:
        return np.empty((n_groups, 0))
    if start is None:
        pooled = _from_rows(problem)
    best = []
    for g in range(n_groups):
        progress()
        rows = problem.rows(groups.codes == g)
        starts = [_from_rows(rows), pooled] if start is None else [start[g]]
        fits = [refined(rows, s, _scale(s)) for s in starts if s is not None]
        ends = [fit for fit in fits if fit is not None]
        if not ends:
            raise ValueError(
                f"the equation cannot be fitted to the rows of group {groups.labels[g]!r}: leave "
                "it out."
            )
        best.append(min(ends, key=lambda fit: fit[0])[1])
    return np.array(best)


def _from_rows(problem: Problem) -> np.ndarray | None:
    try:
        return least_squares_of(problem, scales(problem))
    except ValueError:
        return None


def _with_noise_of_groups(problem: Problem, values: np.ndarray, n_groups: int) -> Problem:
    """Return rows that count by the variance of their group, where these differ."""
    codes = problem.columns[-1]
    squares = problem.weight * problem.residuals(values) ** 2
    members = [codes == g for g in range(n_groups)]
    n_own = len(values) / n_groups
    count = np.array([max(np.count_nonzero(rows) - n_own, 1.0) for rows in members])
    sums = np.array([squares[rows].sum() for rows in members])
    if n_groups < 2 or not (sums > 0.0).all():
        return problem
    variances = sums / count
    gain = count.sum() * np.log(sums.sum() / count.sum()) - count @ np.log(variances)
    if gain < chdtri(n_groups - 1, settings.UNEQUAL_GROUPS):
        return problem
    weight = problem.weight / variances[codes.astype(np.intp)]
    return problem._replace(weight=weight * (problem.weight.sum() / weight.sum()))


class _Sharing:
    """Which constants are shared: one after the other, the one that differs least first.

    A constant is shared where the squares that this adds are no more than chance adds, by an F
    test. The level is divided by the number of constants.
    """

    def __init__(self, problem: Problem, groups: Groups, apart: Problem, values: np.ndarray):
        self.problem, self.groups = problem, groups
        self.n_groups, self.n_constants = len(groups.labels), len(problem.equation.constants)
        self.differs = np.full(self.n_constants, self.n_groups > 1)
        self.values, self.p_values = values, np.ones(self.n_constants)
        self.square = self._square(apart, values)
        self.level = settings.DIFFERENT / max(self.n_constants, 1)
        self.rounding = 0.0
        if problem.target is not None:
            size = problem.mean_square(problem.columns[problem.target])
            self.rounding = settings.EXACT_CHECK**2 * size * problem.weight.sum()

    @staticmethod
    def _square(problem: Problem, values: np.ndarray) -> float:
        return float(problem.weight @ problem.residuals(values) ** 2)

    def chosen(self, progress: Callable) -> np.ndarray:
        """Return the places of values; `values` are these then."""
        while self.differs.any():
            trials = []
            for k in np.flatnonzero(self.differs).tolist():
                progress()
                trials.append(self._shared(k))
            for k, (p_value, *_) in zip(np.flatnonzero(self.differs), trials, strict=True):
                self.p_values[k] = p_value
            best = max(trials, key=lambda trial: trial[0])
            if best[0] < self.level:
                break
            _, self.square, self.values, self.differs = best
        return _layout(self.differs, self.n_groups)

    def _shared(self, k: int) -> tuple[float, float, np.ndarray, np.ndarray]:
        """Return the p-value, sum of squares, values and what differs, with one more shared."""
        differs = self.differs.copy()
        differs[k] = False
        old, new = _layout(self.differs, self.n_groups), _layout(differs, self.n_groups)
        trial = _grouped(self.problem, self.groups, new)
        best: tuple[float, float, np.ndarray, np.ndarray] = 0.0, np.inf, self.values, self.differs
        own = np.sort(self.values[old[:, k]])
        for value in dict.fromkeys([float(np.median(own)), float(own[0]), float(own[-1])]):
            start = np.zeros(int(new.max()) + 1)
            for g in range(self.n_groups):
                start[new[g]] = self.values[old[g]]
            start[new[0, k]] = value
            fit = refined(trial, start, _scale(start), max_steps=settings.SHARING_STEPS)
            if fit is None:
                continue
            square = self._square(trial, fit[1])
            if square < best[1]:
                best = self._chance(square), square, fit[1], differs
            if best[0] >= self.level:  # other starts would say the same
                break
        return best

    def _chance(self, square: float) -> float:
        """Return how likely it is by chance that sharing a constant adds so much to the squares."""
        if square <= self.rounding:
            return 1.0
        free = max(float(self.problem.weight.sum()) - len(self.values), 1.0)
        more = max(square - self.square, 0.0) / (self.n_groups - 1)
        noise = max(self.square, 1e-12 * square) / free
        return float(fdtrc(self.n_groups - 1, free, more / noise))
