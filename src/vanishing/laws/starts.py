"""Where a fit of constants starts: sizes that data give them, on a grid, linear ones solved for."""

from itertools import islice, product
from math import prod

import numpy as np
from scipy.linalg import LinAlgError

from vanishing.algebra.equations import GivenEquation
from vanishing.algebra.expressions import (
    Apply,
    Column,
    Node,
    Power,
    Product,
    Sum,
    columns_of,
    parts_of,
)
from vanishing.algebra.relations import relations
from vanishing.laws import settings
from vanishing.laws.given_problem import Problem


def scales(problem: Problem) -> np.ndarray:
    """Return sizes of the constants that make all terms alike in size, and arguments near one."""
    return _scales(problem.equation, _typical(problem.columns))


def _typical(columns: np.ndarray) -> np.ndarray:
    """Return means of the logarithms of columns."""
    with np.errstate(all="ignore"):
        logs = np.log(np.abs(columns))
    return np.array(
        [np.mean(row[np.isfinite(row)]) if np.any(np.isfinite(row)) else 0.0 for row in logs]
    )


def _scales(equation: GivenEquation, typical: np.ndarray) -> np.ndarray:
    """Return the sizes of constants for logarithms of the sizes of columns."""
    n = equation.n_columns
    rows = relations(equation.zero.node, n)
    places = sorted({place for row in rows for place in row.exponents if not 0 <= place < n})
    matrix = np.array([[row.exponents.get(place, 0.0) for place in places] for row in rows])
    right = [
        -row.number - sum(e * typical[i] for i, e in row.exponents.items() if 0 <= i < n)
        for row in rows
    ]
    logs = np.linalg.lstsq(matrix, np.array(right), rcond=None)[0]
    sizes = dict(zip(places, np.exp(np.clip(logs, -300.0, 300.0)), strict=True))
    return np.array([sizes.get(n + k, 1.0) for k in range(len(equation.constants))])


def _other_sizes(problem: Problem) -> list[np.ndarray]:
    """Return other logarithms of the sizes of columns that constants may have to do with.

    The spread of columns: a peak may be narrow, far from zero. And their sizes on the few rows that
    most of the squares of the target come from, where the target spans decades.
    """
    columns = problem.columns
    with np.errstate(divide="ignore"):
        spread = np.log(columns.std(axis=1))
    typical = _typical(columns)
    others = [np.where(np.isfinite(spread), spread, typical)]
    if problem.target is not None:
        target = np.abs(columns[problem.target])
        others.append(_typical(columns[:, target >= settings.DECISIVE * target.max()]))
    return others


def start_values(problem: Problem) -> list[list[float]]:
    """Return values to start each constant from, the likeliest first."""
    return _values(problem, scales(problem))


def _values(problem: Problem, scale: np.ndarray) -> list[list[float]]:
    """Return values to start each constant from."""
    typical, others = _typical(problem.columns), _other_sizes(problem)
    other_scales = [_scales(problem.equation, sizes) for sizes in others]
    values = []
    for k, grid in enumerate(_grids(problem.equation)):
        own = [scale[k] * factor for factor in grid]
        if grid is not settings.START_FACTORS:
            values.append(own)
            continue
        more = []
        for other in other_scales:
            if abs(np.log(other[k] / scale[k])) > 0.7:
                more += [other[k] * factor for factor in settings.MORE_FACTORS]
        # What is of the size of a column, as the place of a peak is, may be anywhere in it.
        for i in problem.equation.columns:
            if i != problem.target and abs(np.log(scale[k]) - typical[i]) < 1e-9:
                more += _places(problem, i)
        values.append([*own[:2], *more, *own[2:]])
    return values


def _places(problem: Problem, column: int) -> list[float]:
    """Return values of a column: where the target is farthest from its median, and quantiles."""
    row = problem.columns[column]
    places = np.quantile(row, settings.START_QUANTILES).tolist()
    if problem.target is None:
        return places
    target = problem.columns[problem.target]
    return [float(row[np.argmax(np.abs(target - np.median(target)))]), *places]


def _grids(equation: GivenEquation) -> list[tuple[float, ...]]:
    """Return where to start each constant from, relative to its size."""
    n = equation.n_columns
    grids: list[tuple[float, ...]] = [settings.START_FACTORS] * len(equation.constants)

    def scaling(node: Node, exponent: float) -> None:
        """Give constants that multiply a column inside a wave a grid of frequencies."""
        match node:
            case Column(place=place) if place >= n:
                rates = settings.START_FREQUENCIES
                grids[place - n] = rates if exponent > 0.0 else tuple(1.0 / r for r in rates)
            case Power(base=base, exponent=inner):
                scaling(base, exponent * inner)
            case Product(parts=parts):
                for part in parts:
                    scaling(part, exponent)
            case Sum(parts=parts):
                for part in parts:
                    if any(place < n for place in columns_of(part)):
                        scaling(part, exponent)

    for node in parts_of(equation.zero.node):
        if not isinstance(node, Apply) or node.name not in ("sin", "cos", "tan"):
            continue
        for part in node.argument.parts if isinstance(node.argument, Sum) else (node.argument,):
            places = columns_of(part)
            if any(place < n for place in places):
                scaling(part, 1.0)
            for place in places:  # a phase
                if min(places) >= n and grids[place - n] is settings.START_FACTORS:
                    grids[place - n] = settings.START_PHASES
    return grids


def starts(problem: Problem) -> list[tuple[np.ndarray, bool]]:
    """Return starts, the best first, and whether each is one for the logarithm of the target.

    Constants that are not linear are on a grid, the others solved for.
    """
    scale = scales(problem)
    linear = list(problem.equation.linear)
    others = [k for k in range(len(scale)) if k not in linear]
    grids = [values for k, values in enumerate(_values(problem, scale)) if k in others]
    n_frequencies = len(settings.START_FREQUENCIES)
    while prod(map(len, grids)) > settings.MAX_STARTS:
        longest = max(
            range(len(grids)), key=lambda i: (len(grids[i]) != n_frequencies, len(grids[i]))
        )
        if len(grids[longest]) == 1:
            break
        grids[longest] = grids[longest][:-1]
    tried = []
    for values in islice(product(*grids), settings.MAX_STARTS):
        start = scale.copy()
        start[others] = values
        tried.append(_solved(problem, start, linear))
    ranked = _ranked(tried, [problem.residuals(start) for start in tried])
    if not problem.has_logarithm:
        return [(start, False) for start in ranked]
    logarithmic = _ranked(tried, [problem.log_residuals(start) for start in tried])
    pairs = zip(ranked, logarithmic, strict=True)
    return [start for pair in pairs for start in zip(pair, (False, True), strict=True)]


def _ranked(tried: list[np.ndarray], residuals: list[np.ndarray]) -> list[np.ndarray]:
    """Return starts by the mean squares of their residuals."""

    def rank(i: int) -> tuple[int, float, int]:
        left = residuals[i][np.isfinite(residuals[i])]
        # Rows on which a start is not defined count more than any residual.
        missing = len(residuals[i]) - len(left)
        return missing, float(np.mean(left**2)) if len(left) else np.inf, i

    return [tried[i] for i in sorted(range(len(tried)), key=rank)]


def _solved(problem: Problem, start, linear) -> np.ndarray:
    """Return a start in which the linear constants are solved for, in units of the target."""
    for _ in range(3 if linear else 0):
        with np.errstate(all="ignore"):
            unit = np.sqrt(problem.weight) / problem.unit(start)
            without = start.copy()
            without[linear] = 0.0
            value = problem.value(without) * unit
            slopes = problem.constant_slopes(start)[linear] * unit
        good = np.isfinite(value) & np.isfinite(slopes).all(axis=0)
        norm = np.linalg.norm(slopes[:, good], axis=1)
        if not (good.any() and norm.all() and np.isfinite(norm).all()):
            break
        try:
            solution = np.linalg.lstsq(
                (slopes[:, good] / norm[:, None]).T, -value[good], rcond=None
            )[0]
        except LinAlgError:
            break
        if not solution.any():  # all zero is no law
            break
        start = start.copy()
        start[linear] = solution / norm
    return start
