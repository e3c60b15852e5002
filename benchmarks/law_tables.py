"""Tables for the benchmark of laws: formulas under all kinds of conditions, and tables without law."""

import ast
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from vanishing.algebra.formulas import Formula
from vanishing.datasets.feynman import Law

# % of the Feynman problems solved at noise 0, .001 and .01 of the target, by W. La Cava et al.,
# "Contemporary symbolic regression methods and their relative performance", NeurIPS Datasets and
# Benchmarks 2021.
SRBENCH = {
    "AFP": (21.1, 14.9, 7.1),
    "AFP_FE": (27.0, 15.9, 6.1),
    "AIFeynman": (55.8, 1.5, 0.0),
    "BSR": (2.5, 0.0, 0.0),
    "DSR": (19.7, 16.8, 8.4),
    "EPLEX": (12.4, 10.0, 8.8),
    "FEAT": (0.0, 0.0, 0.0),
    "FFX": (0.0, 0.1, 0.0),
    "GP-GOMEA": (26.8, 1.6, 0.0),
    "ITEA": (22.4, 1.9, 0.1),
    "MRGP": (0.0, 0.0, 0.0),
    "Operon": (16.6, 0.3, 0.1),
    "SBP-GP": (12.7, 0.0, 0.0),
    "gplearn": (16.3, 15.8, 13.2),
}


class Problem(NamedTuple):
    """Rows that obey a law: those of the table, and fresh ones for the judge."""

    name: str
    text: str
    columns: tuple[str, ...]
    target: str | None
    draw: Callable  # (n_samples, random_state) -> X, y (None without target)
    fresh: Callable  # (n_samples, random_state, beyond) -> the same, from wider ranges
    truths: dict[str, str] = {}  # noqa: RUF012 (a tuple's default; never changed)
    needed: int = 1  # so many of the truths


def seed_of(*numbers):
    """Return one seed for some numbers, noise levels among them."""
    sequence = np.random.SeedSequence([round(1e6 * number) for number in numbers])
    return int(sequence.generate_state(1)[0])


def rms(values):
    return np.sqrt(np.mean(np.square(values), axis=0))


def widened(ranges, beyond):
    """Return ranges that are wider by a part of their width on both sides."""
    return {
        name: (low - beyond * (high - low), high + beyond * (high - low))
        for name, (low, high) in ranges.items()
    }


def fresh_rows(law):
    """Return the function that draws rows of a law from ranges as wide as told."""
    return lambda n, random, beyond: law._replace(ranges=widened(law.ranges, beyond)).sample(
        n, random
    )


def problem_of(name, law):
    """Return the problem of a formula with inputs uniform in their ranges."""
    return Problem(
        name, law.formula.text, tuple(law.ranges), law.target, law.sample, fresh_rows(law)
    )


def table(problem, n_samples, noise, random):
    """Return X and y with noise of a part of the target's rms; as `datasets.feynman` draws them."""
    X, y = problem.draw(n_samples, random)
    return X, y + noise * rms(y) * random.normal(size=n_samples) if noise else y


def noisy_columns(problem, n_samples, noise, random):
    """Return X, y and the standard deviations, with noise of a part of the rms in all columns."""
    X, y = problem.draw(n_samples, random)
    columns = X if y is None else np.column_stack([X, y])
    deviations = noise * rms(columns)
    columns = columns + deviations * random.normal(size=columns.shape)
    return (
        (columns, None, deviations) if y is None else (columns[:, :-1], columns[:, -1], deviations)
    )


# -------------------------------------------------------------------------------------- conditions


def _finite(inputs, law):
    """Return a function that draws rows where the formula is finite, of inputs(n, random)."""

    def draw(n_samples, random):
        found, count = [], 0
        for _ in range(20):
            X = inputs(n_samples, random)
            with np.errstate(all="ignore"):
                y = np.broadcast_to(law.formula(dict(zip(law.ranges, X.T, strict=True))), len(X))
            good = np.isfinite(y)
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


def _tame(law):
    """Say how many of some rows are finite, and how far the target's largest is from its median."""
    with np.errstate(all="ignore"):
        _, y = law.sample(2_000, np.random.RandomState(0))
    y = np.abs(y[np.isfinite(y)])
    return len(y) / 2_000, y.max(initial=0.0) / (np.median(y) if y.any() else 1.0)


def _moved(law, candidates, finite):
    """Return a law with each range replaced by the first candidate that the formula bears."""
    bound, moved = max(300.0, 3 * _tame(law)[1]), []
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
    return problem_of(name, law) if moved else None


def integers(name, law, random):
    """Inputs of at least eleven whole numbers, of each input where the formula stays finite."""

    def candidates(low, high):
        start = np.floor(low)
        return [(start, start + max(10.0, np.ceil(high - low)))]

    law, moved = _moved(law, candidates, finite=0.5)
    if not moved:
        return None
    whole = np.array([column in moved for column in law.ranges])

    def inputs(n_samples, random):
        low, high = _limits(law)
        X = random.uniform(low, high, (n_samples, len(low)))
        return np.where(whole, random.randint(low, high + 1, X.shape), X)

    return problem_of(name, law)._replace(draw=_finite(inputs, law))


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


# ------------------------------------------------------------------------------- noise in columns


def _formula(name, target, formula, **ranges):
    return problem_of(name, Law(target, Formula(formula), ranges))


def _shape(name, truths, columns, sample, needed=1):
    """Return a problem without target: ``sample(random, n, beyond)`` returns the columns."""

    def fresh(n_samples, random, beyond):
        return np.column_stack(sample(random, n_samples, beyond)), None

    text = ", ".join(f"{truth} = 0" for truth in truths.values())
    columns = tuple(columns.split())
    return Problem(
        name, text, columns, None, lambda n, random: fresh(n, random, 0.0), fresh, truths, needed
    )


def _uniform(random, n, beyond, low, high):
    edge = beyond * (high - low)
    return random.uniform(low - edge, high + edge, n)


def _ellipse(random, n, beyond, a=2.0):
    angle = random.uniform(0, 2 * np.pi, n)
    return a * np.cos(angle), np.sin(angle)


def _sphere(random, n, beyond):
    points = random.normal(size=(3, n))
    return points / np.linalg.norm(points, axis=0)


def without_target(problem):
    """Return the problem with its target as the last column."""
    if problem.target is None:
        return problem

    def joined(sample):
        return lambda *arguments: (np.column_stack(sample(*arguments)), None)

    return problem._replace(
        columns=(*problem.columns, problem.target),
        target=None,
        draw=joined(problem.draw),
        fresh=joined(problem.fresh),
    )


VARIABLES = [
    _formula("gas law", "p", "8.314*n*T/V", V=(0.01, 0.1), n=(0.5, 3.0), T=(250.0, 400.0)),
    _formula("Kepler", "T", "a**1.5", a=(0.4, 30.0)),
    _formula("thin lens", "f", "1/(1/a + 1/b)", a=(1.0, 5.0), b=(1.0, 5.0)),
    _formula("velocities", "w", "(u + v)/(1 + u*v)", u=(0.1, 0.9), v=(0.1, 0.9)),
    _shape("ellipse", {"ellipse": "x**2/4 + y**2 - 1"}, "x y", _ellipse),
]


# --------------------------------------------------------------------------------- without target


def _collision(random, n, beyond):
    m1, m2 = (_uniform(random, n, beyond, 1.0, 5.0) for _ in range(2))
    u1, u2 = (_uniform(random, n, beyond, -3.0, 3.0) for _ in range(2))
    centre = (m1 * u1 + m2 * u2) / (m1 + m2)
    return m1, m2, u1, u2, 2 * centre - u1, 2 * centre - u2


def _plane_collision(random, n, beyond):
    m1, m2 = (_uniform(random, n, beyond, 1.0, 5.0) for _ in range(2))
    u1, u2 = (_uniform(random, 2 * n, beyond, -3.0, 3.0).reshape(2, n) for _ in range(2))
    centre = (m1 * u1 + m2 * u2) / (m1 + m2)
    # In the frame of the centre of mass both are turned by the same angle.
    angle = random.uniform(0, 2 * np.pi, n)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    v1, v2 = (centre + np.einsum("ijn,jn->in", turn, u - centre) for u in (u1, u2))
    return m1, m2, *u1, *u2, *v1, *v2


def _triangle(random, n, beyond):
    a, b = (_uniform(random, n, beyond, 1.0, 5.0) for _ in range(2))
    angle = random.uniform(0.2, np.pi - 0.2, n)
    c = np.sqrt(a**2 + b**2 - 2 * a * b * np.cos(angle))
    return a, b, c, a * b * np.sin(angle) / 2


SHAPES = [
    _shape("circle", {"circle": "x**2 + y**2 - 1"}, "x y", lambda *a: _ellipse(*a, a=1.0)),
    _shape("sphere", {"sphere": "x**2 + y**2 + z**2 - 1"}, "x y z", _sphere),
    # Two of these imply the third: energy is momentum times velocities, and the relative velocity.
    _shape(
        "collision",
        {
            "momentum": "m1*u1 + m2*u2 - m1*v1 - m2*v2",
            "energy": "m1*u1**2 + m2*u2**2 - m1*v1**2 - m2*v2**2",
            "relative velocity": "u1 - u2 + v1 - v2",
        },
        "m1 m2 u1 u2 v1 v2",
        _collision,
        needed=2,
    ),
    _shape(
        "plane collision",
        {
            "momentum x": "m1*ux1 + m2*ux2 - m1*vx1 - m2*vx2",
            "momentum y": "m1*uy1 + m2*uy2 - m1*vy1 - m2*vy2",
            "energy": "m1*(ux1**2 + uy1**2 - vx1**2 - vy1**2)"
            " + m2*(ux2**2 + uy2**2 - vx2**2 - vy2**2)",
        },
        "m1 m2 ux1 uy1 ux2 uy2 vx1 vy1 vx2 vy2",
        _plane_collision,
        needed=3,
    ),
    _shape(
        "Heron",
        {
            "Heron": "16*A**2 - 2*a**2*b**2 - 2*b**2*c**2 - 2*c**2*a**2 + a**4 + b**4 + c**4",
        },
        "a b c A",
        _triangle,
    ),
]


# ------------------------------------------------------------------------------------- no law at all


def _column(kind, n_samples, random):
    if kind == "normal":
        return random.normal(random.uniform(-3, 3), random.uniform(0.5, 2), n_samples)
    if kind == "uniform":
        low = random.uniform(-2, 3)
        return random.uniform(low, low + random.uniform(1, 5), n_samples)
    if kind == "log-normal":
        return np.exp(random.normal(0.0, random.uniform(0.3, 1.2), n_samples))
    # So many values that no polynomial of a degree in question is zero at all of them.
    return random.randint(1, random.randint(20, 1_000), n_samples).astype(float)


def random_table(index, seed=0):
    """Return X, and y for every other index: 2 to 8 columns that have nothing to do with another.

    In a third of the tables the inputs are correlated normal columns.
    """
    random = np.random.RandomState(seed_of(seed, index))
    n_samples = int(np.exp(random.uniform(np.log(300), np.log(10_000))))
    n_columns = random.randint(2, 9)
    kinds = random.choice(["normal", "uniform", "log-normal", "integer"], n_columns)
    X = np.column_stack([_column(kind, n_samples, random) for kind in kinds])
    if index % 3 == 0:
        mixing = np.eye(n_columns) + random.uniform(0, 0.8) * np.ones((n_columns, n_columns))
        X = random.normal(size=X.shape) @ mixing + random.uniform(0, 10, n_columns)
    return (X, None) if index % 2 else (X[:, :-1], X[:, -1] if index % 3 else _target(X, random))


def _target(X, random):
    """Return a target for correlated columns: independent of them all."""
    return _column(random.choice(["normal", "uniform", "log-normal"]), len(X), random)


def _airy(x):
    return special.airy(x)[0]


def _option(price, strike, volatility, years):
    """Return the price of an option by Black and Scholes, without interest."""
    deviation = volatility * np.sqrt(years)
    d = np.log(price / strike) / deviation + deviation / 2
    return price * special.ndtr(d) - strike * special.ndtr(d - deviation)


# Name, function, ranges. No link and no function of the library makes a short law of any of these.
SMOOTH = [
    ("J0(a)", special.j0, [(0.5, 8.0)]),
    ("erf(a)", special.erf, [(0.1, 2.0)]),
    ("gamma(a)", special.gamma, [(1.0, 5.0)]),
    ("Ai(a)", _airy, [(-4.0, 2.0)]),
    ("K(a)", special.ellipk, [(0.05, 0.95)]),
    ("zeta(a)", special.zeta, [(1.5, 5.0)]),
    ("dawson(a)", special.dawsn, [(0.1, 4.0)]),
    ("I1(a)/I0(a)", lambda a: special.i1(a) / special.i0(a), [(0.2, 6.0)]),
    ("J1(a)*b", lambda a, b: special.j1(a) * b, [(0.5, 8.0), (1.0, 5.0)]),
    ("E(a)*b", lambda a, b: special.ellipe(a) * b, [(0.05, 0.99), (1.0, 5.0)]),
    ("tanh(a + sin(b))", lambda a, b: np.tanh(a + np.sin(b)), [(-1.0, 1.0), (0.0, 6.0)]),
    ("sin(a + sin(b))", lambda a, b: np.sin(a + np.sin(b)), [(0.0, 3.0), (0.0, 6.0)]),
    ("expit(sin(a) + b)", lambda a, b: special.expit(np.sin(a) + b), [(0.0, 6.0), (-2.0, 2.0)]),
    ("arctan(a) + exp(-b)", lambda a, b: np.arctan(a) + np.exp(-b), [(0.2, 5.0), (0.2, 3.0)]),
    ("F(a, b)", special.ellipkinc, [(0.3, 1.5), (0.1, 0.9)]),
    ("log(2 + cos(a*b))", lambda a, b: np.log(2 + np.cos(a * b)) * a, [(1.0, 3.0), (1.0, 3.0)]),
    ("digamma(a)*b + c", lambda a, b, c: special.digamma(a) * b + c, [(1.0, 5.0)] * 3),
    ("voigt(a, b, c)", special.voigt_profile, [(0.0, 3.0), (0.5, 2.0), (0.5, 2.0)]),
    ("Si(a*b)/c + d", lambda a, b, c, d: special.sici(a * b)[0] / c + d, [(1.0, 3.0)] * 4),
    ("option(a, b, c, d)", _option, [(80.0, 120.0), (80.0, 120.0), (0.1, 0.5), (0.2, 2.0)]),
]


def smooth_table(index, n_samples, noise, seed=0):
    """Return X and y of a smooth function without a law."""
    _, function, ranges = SMOOTH[index]
    random = np.random.RandomState(seed_of(seed, index, noise))
    low, high = np.array(ranges).T
    X = random.uniform(low, high, (n_samples, len(ranges)))
    y = function(*X.T)
    return X, y + noise * rms(y) * random.normal(size=n_samples)
