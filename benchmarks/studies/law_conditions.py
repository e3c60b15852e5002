"""Conditions for the benchmark of laws: what real tables have that plain ones do not."""

import ast
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from law_tables import problem_of, rms
from scipy import special

from vanishing.algebra.formulas import Formula


def _tame(law):
    """Say how many of some rows are finite, and how far the target's largest is from its median."""
    with np.errstate(all="ignore"):
        _, y = law.sample(2_000, np.random.RandomState(0))
    y = np.abs(y[np.isfinite(y)])
    return len(y) / 2_000, y.max(initial=0.0) / (np.median(y) if y.any() else 1.0)


def _bound(law):
    """Return how many medians the target may be: it has no poles nearby, or has them anyway."""
    return max(300.0, 3 * _tame(law)[1])


def _finite(inputs, law):
    """Return a function that draws rows of inputs(n, random) where the formula is finite.

    Rows next to a pole are out as well: a single one would decide how large the noise is.
    """
    bound = _bound(law)

    def draw(n_samples, random):
        found, count = [], 0
        for _ in range(20):
            X = inputs(n_samples, random)
            with np.errstate(all="ignore"):
                y = np.broadcast_to(law.formula(dict(zip(law.ranges, X.T, strict=True))), len(X))
            good = np.isfinite(y)
            good[good] = np.abs(y[good]) <= bound * np.median(np.abs(y[good]))
            found.append(np.column_stack([X, y])[good])
            count += good.sum()
            if count >= n_samples:
                break
        rows = np.concatenate(found)[:n_samples]
        return rows[:, :-1], rows[:, -1]

    return draw


def _limits(law):
    return np.array(list(law.ranges.values())).T


def correlated(name, law, random):
    """Inputs uniform in their ranges, with a Gaussian copula of correlation .7."""

    def inputs(n_samples, random):
        low, high = _limits(law)
        shared = random.normal(size=(n_samples, 1))
        z = np.sqrt(0.7) * shared + np.sqrt(0.3) * random.normal(size=(n_samples, len(low)))
        return low + (high - low) * special.ndtr(z)

    return problem_of(name, law)._replace(draw=_finite(inputs, law))


def heavy_tailed(name, law, random):
    """Log-normal inputs: half in the lower third of the range, one in twelve beyond it."""

    def inputs(n_samples, random):
        low, high = _limits(law)
        return low + (high - low) / 3 * np.exp(0.8 * random.normal(size=(n_samples, len(low))))

    return problem_of(name, law)._replace(draw=_finite(inputs, law))


def idle(count):
    """Return the condition of so many columns more that play no part, at random places."""

    def change(name, law, random):
        names = [*law.ranges, *(f"idle{i}" for i in range(count))]
        limits = list(law.ranges.values())
        limits += [limits[i] for i in random.randint(len(limits), size=count)]
        order = random.permutation(len(names))
        return problem_of(name, law._replace(ranges={names[i]: limits[i] for i in order}))

    return change


def _moved(law, candidates, finite):
    """Return a law with each range replaced by the first candidate that the formula bears."""
    bound, moved = _bound(law), []
    for name, limits in law.ranges.items():
        for candidate in candidates(*limits):
            changed = law._replace(ranges={**law.ranges, name: candidate})
            share, ratio = _tame(changed)
            if share >= finite and ratio <= bound:
                law, moved = changed, [*moved, name]
                break
    return law, moved


def negative(name, law, random):
    """Ranges about zero, else mirrored at zero, of each input where the formula stays finite."""

    def candidates(low, high):
        return [((low - high) / 2, (high - low) / 2), (-high, -low)]

    law, moved = _moved(law, candidates, finite=1.0)
    if not moved:
        return None

    def inputs(n_samples, random):
        low, high = _limits(law)
        return random.uniform(low, high, (n_samples, len(low)))

    return problem_of(name, law)._replace(draw=_finite(inputs, law))


def integers(name, law, random):
    """Inputs of at least eleven whole numbers, of each input where the formula stays finite.

    Laws are judged in the old ranges: a quarter beyond these wide ones is beyond many a pole.
    """

    def candidates(low, high):
        start = np.floor(low)
        return [(start, start + max(10.0, np.ceil(high - low)))]

    wide, moved = _moved(law, candidates, finite=0.5)
    if not moved:
        return None
    whole = np.array([column in moved for column in wide.ranges])

    def inputs(n_samples, random):
        low, high = _limits(wide)
        X = random.uniform(low, high, (n_samples, len(low)))
        return np.where(whole, random.randint(low, high + 1, X.shape), X)

    return problem_of(name, law)._replace(draw=_finite(inputs, wide))


def units(name, law, random):
    """Columns and target in other units, 1e-12 to 1e12 times the old ones.

    What is inside a function has no unit: the scales are drawn from those that change no argument
    of a function, and an angle (the value of an inverse function) keeps its scale.
    """
    arguments, functions = _arguments(law.formula)
    scales = 10.0 ** _exponents(law, arguments, random)
    angle = any(function.startswith("arc") for function in functions)
    target = 1.0 if angle else 10.0 ** random.randint(-12, 13)

    def scaled(sample):
        def draw(*arguments):
            X, y = sample(*arguments)
            return X * scales, y * target

        return draw

    problem = problem_of(name, law)
    return problem._replace(draw=scaled(problem.draw), fresh=scaled(problem.fresh))


def _arguments(formula):
    """Return the arguments of the functions of a formula but sqrt, and the functions' names."""
    calls = [
        n for n in ast.walk(ast.parse(formula.text.replace("^", "**"))) if isinstance(n, ast.Call)
    ]
    calls = [(call.args[0], call.func.id) for call in calls if call.func.id != "sqrt"]
    return [Formula(ast.unparse(argument)) for argument, _ in calls], [name for _, name in calls]


def _exponents(law, arguments, random):
    """Return random powers of ten for the inputs that leave the arguments as they are.

    Scaling inputs by s**e leaves f as it is if sum e_i x_i df/dx_i = 0 everywhere.
    """
    exponents = random.uniform(-12, 12, len(law.ranges))
    if not arguments:
        return np.round(exponents)
    X, _ = law.sample(50, np.random.RandomState(0))
    step, slopes = 1e-5, []
    for argument in arguments:
        columns = dict(zip(law.ranges, X.T, strict=True))
        slopes.append(
            [
                argument({**columns, name: columns[name] * (1 + step)})
                - argument({**columns, name: columns[name] * (1 - step)})
                for name in columns
            ]
        )
    slopes = np.concatenate(slopes, axis=1).T / (2 * step)
    _, singular, right = np.linalg.svd(slopes)
    rank = np.sum(singular > 1e-6 * singular[0])
    # The projection consists of fractions: without rounding them, arguments would change by 1e-9.
    projection = right[rank:].T @ right[rank:]
    projection = np.vectorize(lambda p: float(Fraction(p).limit_denominator(60)))(projection)
    exponents = projection @ exponents
    return exponents * min(1.0, 12.0 / np.abs(exponents).max()) if exponents.any() else exponents


def spoiled(y, random):
    """Return a target with 2 % wrong rows: half have a wrong factor, half any value."""
    y, size = y.copy(), rms(y)
    wrong = random.permutation(len(y))[: len(y) // 50]
    first, second = np.array_split(wrong, 2)
    y[first] *= random.choice([-1, 1], len(first)) * 10.0 ** random.uniform(-1, 1, len(first))
    y[second] = 10 * size * random.normal(size=len(second))
    return y


class Condition(NamedTuple):
    """What is different from a plain table of a formula."""

    change: Callable = lambda name, law, random: problem_of(name, law)  # or None: not for this law
    rows: int | None = None
    spoil: Callable | None = None
    options: dict[str, Any] = {}  # noqa: RUF012 (a tuple's default; never changed)


CONDITIONS = {
    "plain": Condition(),
    "300 rows": Condition(rows=300),
    "1,000 rows": Condition(rows=1_000),
    "correlated inputs": Condition(correlated),
    "heavy-tailed inputs": Condition(heavy_tailed),
    "3 idle columns": Condition(idle(3)),
    "10 idle columns": Condition(idle(10)),
    "30 idle columns": Condition(idle(30)),
    "2 % wrong rows, robust": Condition(spoil=spoiled, options={"robust": True}),
    "other units": Condition(units),
    "negative columns": Condition(negative),
    "integer columns": Condition(integers),
}
