"""Tables for the study of honesty: formulas over ranges that people have, and no law at all."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from law_tables import SMOOTH, rms, seed_of
from scipy import special

from vanishing.algebra.formulas import Formula
from vanishing.datasets.feynman import feynman_laws

# The first, third, ... are looked at while the search is being changed, the others kept apart.
_FORMULAS = (
    # products of powers
    "2.5*a*b; a*b*c/d; 0.7*a**2/b; 6.283*sqrt(a/b); a*b**2*c/2; 8.314*a*b/c; 1.5*a**1.5;"
    "4*a/(b**2*c); 0.01*a*b*c*d/f; a**2*b**3/7;"
    # sums
    "3*a + 2*b; a - 0.5*b + 2*c - d; a*b + c*d; a**2 + b**2 + c**2; 4.9*a**2 + a*b + c;"
    "2*a**3 - a + 0.5; a*b - c/d; a + 0.3*b*c*d - f; a**2/2 + 9.81*b; 1.8*a + 32;"
    # quotients of sums
    "a*b/(a + b); a/(1 + b); (a - b)/(a + b); a*b/(c + d); a/(b + c**2); 2*a/(3 + a);"
    "a*b/(1 + 0.2*b); (a + b*c)/(d + b); 1/(1/a + 1/b + 1/c); a*b**2/(c**2 + b**2);"
    # roots
    "sqrt(a**2 + b**2); a*sqrt(1 + b); sqrt(2*a*b + c**2); 1/sqrt(a**2 + b**2);"
    "sqrt(a*b/(c + d)); a/sqrt(1 + b**2/c**2); a**0.5 + b; 3*sqrt(a) - 2;"
    # functions of one ratio
    "a*exp(-b/c); a*log(b/c); a*(1 - exp(-b/c)); a*sin(b/c); a*(1 + (b/c)**2);"
    "a*cos(b/c)**2; a*b/c + (b/c)**3; a/(1 + b/c)**2;"
    # exponentials
    "3*exp(-0.5*a); a*exp(-b); exp(-a**2/2)/2.5; a*exp(-b*c); a + b*exp(-c);"
    "a/(exp(b) - 1); 2*exp(-a)*cos(b); a*b*exp(-b)"
)
FORMULAS = tuple(text.strip() for text in _FORMULAS.split(";"))
# Planted in columns that are far from zero.
PLANTED = ("a + 2*b - c", "0.5*a - 3*b + 1", "a*b + c", "2*a*b", "(a - b)*c")
PLANTED += ("a**2 + b**2", "a**2 - b*c", "a/b", "sqrt(a**2 + b)", "a**2*b")
SHAPES = ("circle", "ellipse", "sum", "product", "parabola", "saddle")
# Functions outside the language, beside those of law_tables.
MORE_SMOOTH = [
    ("tanh(a*b)/c", lambda a, b, c: np.tanh(a * b) / c, [(0.2, 1.5)] * 3),
    ("log(cosh(a) + b)", lambda a, b: np.log(np.cosh(a) + b), [(0.0, 4.0), (1.0, 5.0)]),
    ("a**b", lambda a, b: a**b, [(1.0, 3.0), (0.3, 3.0)]),
    ("expit(a*b - c)", lambda a, b, c: special.expit(a * b - c), [(0.5, 3.0)] * 3),
    ("|a - b| + c", lambda a, b, c: np.abs(a - b) + c, [(1.0, 3.0)] * 3),
    ("max(a, b)*c", lambda a, b, c: np.maximum(a, b) * c, [(1.0, 3.0)] * 3),
    ("floor(a) + b", lambda a, b: np.floor(a) + b, [(0.0, 6.0), (0.0, 3.0)]),
    ("ndtr(a)*b", lambda a, b: special.ndtr(a) * b, [(-2.0, 2.0), (1.0, 5.0)]),
]
NAMES = "abcdfghjk"


class Column(NamedTuple):
    """Where the values of a column lie."""

    # "uniform", "log", "signed" (log-uniform), "integer", "count" (one after the other),
    # "log-normal", "student"
    kind: str
    low: float  # or the median
    high: float  # or the deviation of the logarithm, or the degrees of freedom
    centre: float = 0.0  # added

    def draw(self, n, random, beyond=0.0):
        if self.kind == "log-normal":
            return self.low * np.exp(self.high * random.normal(size=n))
        if self.kind == "student":
            return self.low * random.standard_t(self.high, size=n)
        if self.kind == "count":
            return self.centre + self.low + np.arange(n) % (self.high - self.low + 1.0)
        logarithmic = self.kind in ("log", "signed")
        low, high = np.log([self.low, self.high]) if logarithmic else (self.low, self.high)
        edge = beyond * (high - low)
        values = random.uniform(low - edge, high + edge, n)
        if logarithmic:
            values = np.exp(values)
        if self.kind == "signed":
            values = values * random.choice([-1.0, 1.0], n)
        if self.kind == "integer":
            values = np.maximum(np.round(values), 1.0)
        return self.centre + values


class Table(NamedTuple):
    """Rows to fit, and what the judge needs."""

    name: str
    truth: str
    names: tuple[str, ...]
    X: np.ndarray
    y: np.ndarray | None
    # fresh(n, random, beyond) returns X and y (None without target); None: every claim is false.
    fresh: Callable | None = None
    noise: tuple[str, float] = ("rms", 0.0)
    deviations: np.ndarray | None = None  # of the noise in the rows
    exact_terms: bool = True  # whether doubles tell the terms of a law apart
    law: bool = True  # whether there is one to find


def generator(*numbers):
    return np.random.RandomState(seed_of(*numbers))


def with_noise(y, noise, random):
    """Return y with noise, and its standard deviation in each row."""
    kind, level = noise
    deviations = level * (np.full(len(y), rms(y)) if kind == "rms" else np.abs(y))
    return y + deviations * random.normal(size=len(y)), deviations


# --------------------------------------------------------------------------------------- formulas


def formula(index, apart):
    """Return name, text and usual ranges of a formula: ours and Feynman's in turns."""
    if index % 2:
        laws = list(feynman_laws().items())[int(apart) :: 2]
        name, law = laws[index // 2 * 7 % len(laws)]
        return name, law.formula.text, law.ranges
    ours = FORMULAS[int(apart) :: 2]
    text = ours[index // 2 * 7 % len(ours)]
    return "ours", text, dict.fromkeys(sorted(Formula(text).names), (1.0, 3.0))


def _candidate(kind, low, high, decades, random):
    """Return a column of some kind about a usual range."""
    middle = np.sqrt(max(low, 0.1) * high) if high > 0 else 1.0
    half = 10 ** (random.randint(1, decades + 1) / 2)
    return {
        "uniform": Column(kind, low, high),
        "narrow": Column("uniform", middle, middle * random.uniform(1.1, 1.4)),
        "integer": Column(kind, 1.0, 10.0 ** random.uniform(1, 3)),
        "log-normal": Column(kind, middle, random.uniform(1.0, 2.0)),
        "student": Column(kind, middle, random.randint(2, 5)),
    }.get(kind, Column(kind, middle / half, middle * half))


def _bears(text, columns):
    """Say whether a formula is finite on such columns, not constant, and does not underflow."""
    _, y = drawn(text, columns, finite=False)(1_000, np.random.RandomState(0))
    y = np.abs(y)
    if not np.isfinite(y).all():
        return False
    return np.quantile(y, 0.05) > 1e-12 * y.max() and np.ptp(y) > 1e-3 * y.max()


def drawn(text, columns, finite=True):
    """Return the function that draws rows; where the formula is finite, or anyway."""

    def fresh(n, random, beyond=0.0):
        X = np.column_stack([column.draw(2 * n, random, beyond) for column in columns.values()])
        inputs = {name: X[:, i] - c.centre for i, (name, c) in enumerate(columns.items())}
        with np.errstate(all="ignore"):
            y = np.broadcast_to(Formula(text)(inputs), 2 * n)
        kept = np.flatnonzero(np.isfinite(y) | (not finite))[:n]
        return X[kept], y[kept]

    return fresh


def table_of(name, text, columns, n, noise, random, **more):
    fresh = drawn(text, columns)
    X, y = fresh(n, random)
    y, deviations = with_noise(y, noise, random)
    ranges = (
        f"{c.kind} {k} {c.centre + c.low:.3g}..{c.centre + c.high:.3g}" for k, c in columns.items()
    )
    truth = f"{text} ({', '.join(ranges)})"
    return Table(name, truth, tuple(columns), X, y, fresh, noise, deviations, **more)


def mixed(index, n, noise, seed, apart, kinds=("log", "log", "uniform", "signed", "integer")):
    """Return rows of a formula whose columns are of these kinds, as far as the formula bears it."""
    name, text, ranges = formula(index, apart)
    random = generator(seed, index)
    columns = {key: Column("uniform", *limits) for key, limits in ranges.items()}
    decades = int(np.clip(8 // len(ranges), 1, 4))
    for key, limits in ranges.items():
        for kind in random.permutation(kinds):
            candidate = _candidate(kind, *limits, decades, random)
            if _bears(text, {**columns, key: candidate}):
                columns[key] = candidate
                break
    return table_of(name, text, columns, n, noise, generator(seed, index, n, noise[1], 1))


def signed(index, n, noise, seed, apart):
    """Return rows of a product of whole powers of columns, some of which have signs."""
    random = generator(seed, index, 2)
    count = random.randint(2, 6)
    powers = random.choice([-2, -1, -1, 1, 1, 1, 2], count)
    factors = [f"{x}**({p})" for x, p in zip(NAMES, powers, strict=False)]
    has_signs = random.rand(count) < 0.6
    has_signs[random.randint(count)] = True
    columns = {
        x: Column("signed" if s else "log", 0.1, 10.0)
        for x, s in zip(NAMES, has_signs, strict=False)
    }
    text = "*".join([f"{random.uniform(0.5, 5):.2f}", *factors])
    return table_of("product", text, columns, n, noise, random)


def with_idle(index, n, noise, seed, apart, far=False):
    """Return a mixed table with columns that play no part, maybe far from zero, at any places."""
    table, random = mixed(index, n, noise, seed, apart), generator(seed, index, 3)
    if far:  # Unix times, pascals, years, anything
        idle = [
            Column("uniform", 0.0, 10.0 ** random.uniform(3, 8), 1.7e9),
            Column("uniform", -500.0, 500.0, 101_325.0),
            Column("uniform", -20.0, 20.0, 2_000.0),
            Column("uniform", -1.0, 1.0, 10.0 ** random.uniform(2, 8)),
        ]
        idle = [idle[i] for i in random.permutation(4)[: random.randint(1, 3)]]
    else:
        kinds = random.choice(["log", "signed", "uniform"], random.randint(2, 7))
        idle = [Column(kind, 0.1, 10.0) for kind in kinds]
    order = random.permutation(len(table.names) + len(idle))

    def joined(X, random):
        return np.column_stack([X, *(column.draw(len(X), random) for column in idle)])[:, order]

    def fresh(n, random, beyond=0.0):
        X, y = table.fresh(n, random, beyond)
        return joined(X, random), y

    names = (*table.names, *(f"idle{i}" for i in range(len(idle))))
    names = tuple(names[i] for i in order)
    return table._replace(names=names, X=joined(table.X, random), fresh=fresh)


def shifted(index, n, noise, seed, apart, centre=0.0):
    """Return rows of a planted law; most columns are ``centre`` spreads from zero."""
    planted = PLANTED[int(apart) :: 2]
    text = planted[index % len(planted)]
    random = generator(seed, index, 5)
    names = sorted(Formula(text).names)
    is_far = random.rand(len(names)) < 0.7
    is_far[random.randint(len(names))] = True
    columns = {
        name: Column("uniform", scale / 4, scale * 2, centre * scale * far)
        for name, scale, far in zip(names, 10.0 ** random.uniform(-1, 1, 9), is_far, strict=False)
    }
    return table_of("planted", text, columns, n, noise, random, exact_terms=False)


# ---------------------------------------------------------------------------------- without target


def _shape(kind, n, random):
    """Return columns that obey one law."""
    angle, u, v = random.uniform(0, 2 * np.pi, n), random.normal(size=n), random.normal(size=n)
    return {
        "circle": (2 * np.cos(angle), 2 * np.sin(angle)),
        "ellipse": (3 * np.cos(angle), np.sin(angle)),
        "sum": (u, v, u + 2 * v),
        "product": (u, v, u * v),
        "parabola": (u, u**2 - u),
        "saddle": (u, v, u**2 - v**2),
    }[kind]


def shape(index, n, noise, seed, apart, centre=0.0, times=False):
    """Return rows without target that obey one law, far from zero, or beside Unix times."""
    kind, random = SHAPES[int(apart) :: 2][index % 3], generator(seed, index, 6)
    scales, span = 10.0 ** random.uniform(-1, 1, 3), 10.0 ** random.uniform(3, 7)

    def fresh(n, random, beyond=0.0):
        X = np.column_stack(_shape(kind, n, random))
        X = (X + centre) * scales[: X.shape[1]]
        return np.column_stack([X, 1.7e9 + span * random.uniform(size=n)]) if times else X, None

    X, _ = fresh(n, random)
    truth = f"{kind}, centre {centre:g}"
    return Table(kind, truth, tuple(NAMES[: X.shape[1]]), X, None, fresh, exact_terms=False)


# ----------------------------------------------------------------------------------- no law at all


def unrelated(index, n, noise, seed, apart, kind="any", target=True):
    """Return columns that have nothing to do with one another, the last as target or not."""
    random = generator(seed, index, 7)
    count = random.randint(2, 6)
    makers = [
        lambda: random.normal(random.uniform(-3, 3), random.uniform(0.5, 2), n),
        lambda: random.uniform(1.0, random.uniform(2, 10), n),
        lambda: np.exp(random.normal(0.0, random.uniform(0.3, 2.0), n)),
        lambda: random.randint(1, random.randint(20, 1_000), n).astype(float),
    ]
    if kind == "walks":
        makers = [lambda: np.cumsum(random.normal(size=n)) + random.uniform(-5, 50)]
    if kind == "far":  # 1e2 to 1e8 spreads from zero
        centre = 10.0 ** random.uniform(2, 8)
        makers = 3 * [lambda: random.normal(size=n) + centre, lambda: random.rand(n) - centre]
        makers.append(lambda: random.normal(size=n))
    scales = 10.0 ** random.uniform(-3, 3, count) if kind == "far" else np.ones(count)
    X = np.column_stack([makers[random.randint(len(makers))]() for _ in range(count)]) * scales
    X, y = (X[:, :-1], X[:, -1]) if target else (X, None)
    return Table(kind, "no law", tuple(NAMES[: X.shape[1]]), X, y, law=False)


def smooth(index, n, noise, seed, apart):
    """Return rows of a function outside the language."""
    functions = (SMOOTH + MORE_SMOOTH)[int(apart) :: 2]
    name, function, ranges = functions[index % len(functions)]
    low, high = np.array(ranges).T

    def fresh(n, random, beyond=0.0):
        X = random.uniform(low, high, (n, len(ranges)))
        return X, function(*X.T)

    return _without_law(name, NAMES[: len(ranges)], fresh, n, noise, generator(seed, index, n, 10))


def mixture(index, n, noise, seed, apart):
    """Return rows of two or three populations, each with a formula of its own."""
    random = generator(seed, index, 11)
    texts = list(random.choice(FORMULAS[int(apart) :: 2], random.randint(2, 4), replace=False))
    names = sorted({name for text in texts for name in Formula(text).names})
    share = random.uniform(0.2, 0.5)

    def fresh(n, random, beyond=0.0):
        X = random.uniform(1.0, 3.0, (n, len(names)))
        columns = dict(zip(names, X.T, strict=True))
        values = [np.broadcast_to(Formula(text)(columns), n) for text in texts]
        which = (random.rand(n) < share) * random.randint(1, len(texts), n)
        return X, np.choose(which, values)

    return _without_law(" or ".join(texts), names, fresh, n, noise, random)


def _without_law(name, names, fresh, n, noise, random):
    X, y = fresh(n, random)
    y, deviations = with_noise(y, noise, random)
    return Table(name, name, tuple(names), X, y, fresh, noise, deviations, law=False)
