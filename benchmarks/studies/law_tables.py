"""Tables for the benchmark of laws: of formulas, of shapes, and without any law."""

from collections.abc import Callable
from typing import NamedTuple

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


# ------------------------------------------------------------------------------------ no law at all


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
    """Return X with 2 to 8 columns, and y (None for every other index), without any law.

    In a third of the tables the columns of X are correlated.
    """
    random = np.random.RandomState(seed_of(seed, index))
    n_samples = int(np.exp(random.uniform(np.log(300), np.log(10_000))))
    kinds = random.choice(["normal", "uniform", "log-normal", "integer"], random.randint(3, 10))
    columns = np.column_stack([_column(kind, n_samples, random) for kind in kinds])
    X, y = columns[:, :-1], columns[:, -1]
    if index % 3 == 0:
        shared = random.normal(size=(n_samples, 1)) * random.uniform(0.5, 3.0, X.shape[1])
        X = random.normal(size=X.shape) + shared + random.uniform(0, 10, X.shape[1])
    return X, None if index % 2 else y


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
    ("S(a)*b", lambda a, b: special.fresnel(a)[0] * b, [(0.2, 3.0), (1.0, 5.0)]),
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


# ------------------------------------------------------------------------------------ many columns


def _many(text, n_columns, ranges):
    """Return a formula of columns x1, x2, ... of which it may have few; ranges take turns."""
    names = [f"x{i + 1}" for i in range(n_columns)]
    return Law("y", Formula(text), {n: ranges[i % len(ranges)] for i, n in enumerate(names)})


def _sum(places, random):
    """Return a sum of columns with numbers of one decimal, as text."""
    numbers = np.round(
        random.uniform(0.5, 4.0, len(places)) * random.choice([-1, 1], len(places)), 1
    )
    return "".join(f"{c:+.1f}*x{i}" for c, i in zip(numbers, places, strict=True))


def many_column_laws(apart=False):
    """Return laws of tables with many columns: those built on, or those that were kept apart.

    Six columns of thirty, and sums of many columns with one or two terms that are no column.
    """
    positive, mixed = [(0.5, 3.0)], [(0.5, 3.0), (-2.0, 2.0)]
    random = np.random.RandomState(1 if apart else 0)
    if apart:
        few = {
            "6 of 30, quotient": ("x3*x9*x14/(x20*x25*x28)", positive),
            "6 of 30, sum of products": ("x2*x11-x5*x17+x23*x29", mixed),
            "6 of 30, waves": ("2*x4+3*x8+x15*sin(x16)+x21*x26", mixed),
            "6 of 30, root": ("sqrt(x1**2+x6**2+x13**2+x18*x22+x30)", positive),
        }
        sums = [(22, "+2.5*sin(x1)", mixed), (17, "-1.5*x3*x4+2.0*x6**2", positive)]
        sums += [(25, "+3.0*log(x5)", positive), (20, "+1.5*x2*x7", mixed)]
    else:
        few = {
            "6 of 30, product": ("x1*x4*x7*x12*x19/x27", positive),
            "6 of 30, sum": ("2*x1+3*x5*x9-x14**2+1.5*x20*x24", positive),
            "6 of 30, signs": ("x2*x4+x8*x10-2*x16*x20", mixed),
            "6 of 30, function": ("x3*x7*cos(x12)+x15*x21*x29", positive),
        }
        sums = [(20, "+2.0*x2**2", mixed), (15, "-1.2*x1*x6", positive)]
        sums += [(24, "+3.0*exp(-x3)", positive), (18, "+2.0*x4*x5-0.8*x9**2", positive)]
    laws = {name: _many(text, 30, ranges) for name, (text, ranges) in few.items()}
    for n_summed, more, ranges in sums:
        places = np.sort(random.permutation(30)[:n_summed]) + 1
        laws[f"{n_summed} of 30{more}"] = _many(_sum(places, random) + more, 30, ranges)
    return laws
