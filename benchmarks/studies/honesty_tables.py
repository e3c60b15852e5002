"""Tables for the study of honesty: formulas over ranges that people have, and no law at all."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from law_tables import SMOOTH, rms, seed_of
from scipy import special

from vanishing.algebra.formulas import Formula
from vanishing.datasets.feynman import feynman_laws

# In turns: the first, third, ... of each kind are looked at, the others are kept apart (--apart).
FORMULAS = {
    "product": "2.5*a*b; a*b*c/d; 0.7*a**2/b; 6.283*sqrt(a/b); a*b**2*c/2; 8.314*a*b/c; 1.5*a**1.5;"
    "4*a/(b**2*c); 0.01*a*b*c*d/f; a**2*b**3/7",
    "sum": "3*a + 2*b; a - 0.5*b + 2*c - d; a*b + c*d; a**2 + b**2 + c**2; 4.9*a**2 + a*b + c;"
    "2*a**3 - a + 0.5; a*b - c/d; a + 0.3*b*c*d - f; a**2/2 + 9.81*b; 1.8*a + 32",
    "rational": "a*b/(a + b); a/(1 + b); (a - b)/(a + b); a*b/(c + d); a/(b + c**2); 2*a/(3 + a);"
    "a*b/(1 + 0.2*b); (a + b*c)/(d + b); 1/(1/a + 1/b + 1/c); a*b**2/(c**2 + b**2)",
    "root": "sqrt(a**2 + b**2); a*sqrt(1 + b); sqrt(2*a*b + c**2); 1/sqrt(a**2 + b**2);"
    "sqrt(a*b/(c + d)); a/sqrt(1 + b**2/c**2); a**0.5 + b; 3*sqrt(a) - 2",
    "one ratio": "a*exp(-b/c); a*log(b/c); a*(1 - exp(-b/c)); a*sin(b/c); a*(1 + (b/c)**2);"
    "a*cos(b/c)**2; a*b/c + (b/c)**3; a/(1 + b/c)**2",
    "exponential": "3*exp(-0.5*a); a*exp(-b); exp(-a**2/2)/2.5; a*exp(-b*c); a + b*exp(-c);"
    "a/(exp(b) - 1); 2*exp(-a)*cos(b); a*b*exp(-b)",
}
# Laws planted in columns that are far from zero: polynomials, quotients and links of them.
PLANTED = (
    "a + 2*b - c",
    "0.5*a - 3*b + 1",
    "a*b + c",
    "2*a*b",
    "(a - b)*c",
    "a**2 + b**2",
    "a**2 - b*c",
    "a/b",
    "sqrt(a**2 + b)",
    "3*exp(-a) + b",
)
NAMES = "abcdfghjk"


class Column(NamedTuple):
    """Where the values of a column lie."""

    kind: str  # "uniform", "log", "signed", "integer", "log-normal" or "student"
    low: float
    high: float
    centre: float = 0.0  # added

    def draw(self, n, random, beyond=0.0):
        low, high = self.low, self.high
        if self.kind == "log-normal":
            return low * np.exp(high * random.normal(size=n))
        if self.kind == "student":
            return low * random.standard_t(high, size=n)
        if self.kind in ("log", "signed"):
            low, high = np.log(low), np.log(high)
        edge = beyond * (high - low)
        values = random.uniform(low - edge, high + edge, n)
        if self.kind == "integer":
            values = np.clip(np.round(values), 1.0, None)
        elif self.kind in ("log", "signed"):
            values = np.exp(values)
        if self.kind == "signed":
            values = values * random.choice([-1.0, 1.0], n)
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
    exact_terms: bool = True  # whether the terms of a law are told apart by doubles
    law: bool = True  # whether there is one to find


def generator(*numbers):
    return np.random.RandomState(seed_of(*numbers))


def with_noise(y, noise, random):
    """Return y with noise, and its standard deviation in each row."""
    kind, level = noise
    deviations = level * (np.full(len(y), rms(y)) if kind == "rms" else np.abs(y))
    return y + deviations * random.normal(size=len(y)), deviations


# --------------------------------------------------------------------------------------- formulas


def formulas(apart):
    """Return names, texts and usual ranges of the formulas: ours and Feynman's in turns."""
    ours = [
        (kind, text.strip(), {})
        for kind, texts in FORMULAS.items()
        for text in texts.split(";")[int(apart) :: 2]
    ]
    theirs = list(feynman_laws().items())[int(apart) :: 2]
    theirs = [(name, law.formula.text, law.ranges) for name, law in theirs]
    return ours, theirs


def formula(index, apart):
    """Return name, text and usual ranges of the formula of a table."""
    ours, theirs = formulas(apart)
    name, text, ranges = (ours, theirs)[index % 2][index // 2 % len((ours, theirs)[index % 2])]
    names = sorted(Formula(text).names) if not ranges else list(ranges)
    return name, text, {n: ranges.get(n, (1.0, 3.0)) for n in names}


def _candidates(kinds, low, high, decades, random):
    """Yield columns about a usual range, those of the kinds that are asked for first."""
    middle = np.sqrt(max(low, 0.1) * high) if high > 0 else 1.0
    for kind in random.permutation(kinds):
        half = 10 ** (random.randint(1, decades + 1) / 2)
        if kind == "integer":
            yield Column(kind, 1.0, 10.0 ** random.uniform(1, 3))
        elif kind == "uniform":
            yield Column(kind, low, high)
        elif kind == "narrow":
            yield Column("uniform", middle, middle * random.uniform(1.1, 1.4))
        elif kind == "log-normal":
            yield Column(kind, middle, random.uniform(1.0, 2.0))
        elif kind == "student":
            yield Column(kind, middle, random.randint(2, 5))
        else:
            yield Column(kind, middle / half, middle * half)
            yield Column(kind, middle / 10**0.5, middle * 10**0.5)


def _bears(text, columns):
    """Say whether a formula is finite on such columns and does not underflow."""
    random = np.random.RandomState(0)
    values = {name: column.draw(1_000, random) for name, column in columns.items()}
    with np.errstate(all="ignore"):
        y = np.abs(np.broadcast_to(Formula(text)(values), 1_000))
    if not np.isfinite(y).all() or y.max() == 0.0:
        return False
    return np.quantile(y, 0.05) > 1e-12 * y.max() and np.ptp(y) > 1e-3 * y.max()


def spread_columns(text, ranges, random, kinds):
    """Return a column of one of the kinds for each name, as far as the formula bears it."""
    columns = {name: Column("uniform", *limits) for name, limits in ranges.items()}
    decades = int(np.clip(8 // len(ranges), 1, 4))
    for name, limits in ranges.items():
        for candidate in _candidates(kinds, *limits, decades, random):
            if _bears(text, {**columns, name: candidate}):
                columns[name] = candidate
                break
    return columns


def drawn(text, columns):
    """Return the function that draws rows where the formula is finite."""

    def fresh(n, random, beyond=0.0):
        rows = []
        while sum(map(len, rows)) < n:
            X = np.column_stack([column.draw(n, random, beyond) for column in columns.values()])
            inputs = {name: X[:, i] - c.centre for i, (name, c) in enumerate(columns.items())}
            with np.errstate(all="ignore"):
                y = np.broadcast_to(Formula(text)(inputs), n)
            rows.append(np.column_stack([X, y])[np.isfinite(y)])
            if not len(rows[-1]):
                break
        rows = np.concatenate(rows)[:n]
        return rows[:, :-1], rows[:, -1]

    return fresh


def table_of(name, text, columns, n, noise, random, **more):
    fresh = drawn(text, columns)
    X, y = fresh(n, random)
    y, deviations = with_noise(y, noise, random)
    ranges = ", ".join(
        f"{c.kind} {key} {c.centre + c.low:.3g}..{c.centre + c.high:.3g}"
        for key, c in columns.items()
    )
    truth = f"{text} ({ranges})"
    return Table(name, truth, tuple(columns), X, y, fresh, noise, deviations, **more)


def mixed(index, n, noise, seed, apart, kinds=("log", "log", "uniform", "signed", "integer")):
    """A formula of any kind: columns log-uniform over decades, uniform, with signs, integers."""
    name, text, ranges = formula(index, apart)
    columns = spread_columns(text, ranges, generator(seed, index), kinds)
    return table_of(name, text, columns, n, noise, generator(seed, index, n, noise[1], 1))


def signed(index, n, noise, seed, apart):
    """A product of powers of columns with signs."""
    random = generator(seed, index, 2)
    count = random.randint(2, 6)
    # Half-integer powers of signed columns do not exist: all are whole.
    powers = random.choice([-2, -1, -1, 1, 1, 1, 2], count)
    text = f"{random.uniform(0.5, 5):.2f}" + "".join(
        f"*{x}**{p}" if p > 0 else f"/{x}**{-p}" for x, p in zip(NAMES, powers, strict=False)
    )
    signs = random.permutation(count)[: random.randint(1, count + 1)]
    columns = {NAMES[i]: Column("signed" if i in signs else "log", 0.1, 10.0) for i in range(count)}
    return table_of("product", text, columns, n, noise, random)


def narrow(index, n, noise, seed, apart):
    """A formula with columns that are narrow, or uniform."""
    return mixed(index, n, noise, seed + 10, apart, kinds=("narrow", "uniform"))


def heavy(index, n, noise, seed, apart):
    """A formula with heavy-tailed columns."""
    return mixed(index, n, noise, seed + 20, apart, kinds=("log-normal", "student"))


def _extended(table, more, random):
    """Return a table with further columns that play no part, at random places."""
    order = random.permutation(table.X.shape[1] + len(more))
    names = (*table.names, *more)

    def joined(X):
        return np.column_stack([X, *(c.draw(len(X), random) for c in more.values())])[:, order]

    def fresh(n, random, beyond=0.0):
        X, y = table.fresh(n, random, beyond)
        return joined(X), y

    names = tuple(names[i] for i in order)
    return table._replace(names=names, X=joined(table.X), fresh=fresh)


def irrelevant(index, n, noise, seed, apart):
    """A formula beside two to six columns that play no part."""
    table, random = mixed(index, n, noise, seed + 30, apart), generator(seed, index, 3)
    more = {
        f"idle{i}": Column(random.choice(["log", "signed", "uniform"]), 0.1, 10.0)
        for i in range(random.randint(2, 7))
    }
    return _extended(table, more, random)


def far_column(index, n, noise, seed, apart):
    """A formula beside a Unix time, a pressure in pascals or a year."""
    table, random = mixed(index, n, noise, seed + 40, apart), generator(seed, index, 4)
    far = [
        Column("uniform", 0.0, 10.0 ** random.uniform(3, 8), 1.7e9),
        Column("uniform", -500.0, 500.0, 101_325.0),
        Column("uniform", -20.0, 20.0, 2_000.0),
        Column("uniform", -1.0, 1.0, 10.0 ** random.uniform(2, 8)),
    ]
    chosen = random.permutation(len(far))[: random.randint(1, 3)]
    return _extended(table, {f"far{i}": far[i] for i in chosen}, random)


def shifted(index, n, noise, seed, apart, centre=0.0):
    """A planted law in columns whose centre is so many times their spread from zero."""
    text = PLANTED[(2 * index + int(apart)) % len(PLANTED)]
    random = generator(seed, index, 5)
    names = sorted(Formula(text).names)
    scales = 10.0 ** random.uniform(-1, 1, len(names))
    some = random.rand(len(names)) < 0.7
    some[random.randint(len(names))] = True
    columns = {
        name: Column("uniform", scale / 4, scale * 2, centre * scale * far)
        for name, scale, far in zip(names, scales, some, strict=True)
    }
    return table_of("planted", text, columns, n, noise, random, exact_terms=False)


# ----------------------------------------------------------------------------------- without target


def _planted_rows(kind, n, random):
    """Return columns that obey one law of degree one or two."""
    angle, u, v = random.uniform(0, 2 * np.pi, n), random.normal(size=n), random.normal(size=n)
    return {
        "circle": lambda: (2 * np.cos(angle), 2 * np.sin(angle)),
        "ellipse": lambda: (3 * np.cos(angle), np.sin(angle)),
        "sum": lambda: (u, v, u + 2 * v),
        "product": lambda: (u, v, u * v),
        "parabola": lambda: (u, u**2 - u),
        "saddle": lambda: (u, v, u**2 - v**2),
    }[kind]()


def shifted_shape(index, n, noise, seed, apart, centre=0.0, time=False):
    """A shape without target in far columns; beside a column of Unix times."""
    kinds = ["circle", "sum", "parabola", "ellipse", "product", "saddle"]
    kind = kinds[(index + 3 * int(apart)) % len(kinds)]
    random = generator(seed, index, 6)
    scales, span = 10.0 ** random.uniform(-1, 1, 3), 10.0 ** random.uniform(3, 7)

    def fresh(n, random, beyond=0.0):
        columns = np.column_stack(_planted_rows(kind, n, random))
        columns = (columns + centre) * scales[: columns.shape[1]]
        if time:
            columns = np.column_stack([columns, 1.7e9 + span * random.uniform(size=n)])
        return columns, None

    X, _ = fresh(n, random)
    names = tuple(NAMES[: X.shape[1]])
    return Table(kind, f"{kind}, centre {centre:g}", names, X, None, fresh, exact_terms=False)


# ------------------------------------------------------------------------------------ no law at all


def far_noise(index, n, noise, seed, apart, target=False):
    """Independent columns 1e2 to 1e8 spreads from zero."""
    random = generator(seed, index, 7, apart)
    count, centre = random.randint(2, 5), 10.0 ** random.uniform(2, 8)
    X = random.normal(size=(n, count)) if random.rand() < 0.5 else random.uniform(size=(n, count))
    X = X * 10.0 ** random.uniform(-1, 1, count) * np.where(random.rand(count) < 0.7, 1, 1e-3)
    X = X + centre * X.std(axis=0) * (random.rand(count) < 0.8)
    y = random.normal(size=n) if target else None
    return Table("noise", f"no law, centre {centre:.2g}", tuple(NAMES[:count]), X, y, law=False)


def walks(index, n, noise, seed, apart, target=True):
    """Random walks that have nothing to do with one another."""
    random = generator(seed, index, 8, apart)
    count = random.randint(2, 5)
    columns = np.cumsum(random.normal(size=(n, count)), axis=0) + random.uniform(-5, 50, count)
    names = tuple(NAMES[: count - target])
    X, y = (columns[:, :-1], columns[:, -1]) if target else (columns, None)
    return Table("walks", "no law: random walks", names, X, y, law=False)


def noise_columns(index, n, noise, seed, apart, target=True):
    """Independent columns: normal, uniform, log-normal, integers."""
    random = generator(seed, index, 9, apart)
    kinds = {
        "normal": lambda: random.normal(random.uniform(-3, 3), random.uniform(0.5, 2), n),
        "uniform": lambda: random.uniform(1.0, random.uniform(2, 10), n),
        "log-normal": lambda: np.exp(random.normal(0.0, random.uniform(0.3, 2.0), n)),
        "integer": lambda: random.randint(1, random.randint(20, 1_000), n).astype(float),
    }
    columns = [kinds[kind]() for kind in random.choice(list(kinds), random.randint(2, 7))]
    X = np.column_stack(columns)
    X, y = (X[:, :-1], X[:, -1]) if target else (X, None)
    return Table("noise", "no law: noise", tuple(NAMES[: X.shape[1]]), X, y, law=False)


# Beside those of law_tables; no short law of the library is any of these.
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


def smooth(index, n, noise, seed, apart):
    """A function outside the language."""
    functions = (SMOOTH + MORE_SMOOTH)[int(apart) :: 2]
    name, function, ranges = functions[index % len(functions)]
    random = generator(seed, index, n, noise[1], 10)
    low, high = np.array(ranges).T

    def fresh(n, random, beyond=0.0):
        X = random.uniform(low, high, (n, len(ranges)))
        return X, function(*X.T)

    X, y = fresh(n, random)
    y, deviations = with_noise(y, noise, random)
    names = tuple(NAMES[: len(ranges)])
    return Table(name, name, names, X, y, fresh, noise, deviations, law=False)


def mixture(index, n, noise, seed, apart):
    """Rows of two or three populations, each with a formula of its own."""
    ours, _ = formulas(apart)
    random = generator(seed, index, 11)
    texts = [ours[i][1] for i in random.permutation(len(ours))[: random.randint(2, 4)]]
    names = sorted({name for text in texts for name in Formula(text).names})
    share = random.uniform(0.2, 0.5)

    def fresh(n, random, beyond=0.0):
        X = random.uniform(1.0, 3.0, (n, len(names)))
        columns = dict(zip(names, X.T, strict=True))
        values = [np.broadcast_to(Formula(text)(columns), n) for text in texts]
        which = (random.rand(n) < share) * random.randint(1, len(texts), n)
        return X, np.choose(which, values)

    X, y = fresh(n, random)
    y, deviations = with_noise(y, noise, random)
    truth = " or ".join(texts)
    return Table("mixture", truth, tuple(names), X, y, fresh, noise, deviations, law=False)
