"""Made tables for outliers: normal rows of many kinds, and a pump some of whose cells are wrong."""

import numpy as np

FRESH = 4000  # normal rows that a detector has not seen


def factors(n_columns, random, n_rows):
    """Return rows of columns that five hidden factors drive, with noise of their own."""
    loadings = random.normal(size=(5, n_columns))
    noise = random.uniform(0.1, 1.0, n_columns)
    hidden = random.normal(size=(n_rows, 5))
    return hidden @ loadings + noise * random.normal(size=(n_rows, n_columns))


def clusters(random, n_rows):
    """Return rows of six groups of different widths."""
    centres, widths = 4.0 * random.normal(size=(6, 5)), random.uniform(0.2, 1.0, 6)
    group = random.integers(6, size=n_rows)
    return centres[group] + widths[group, None] * random.normal(size=(n_rows, 5))


def binary(random, n_rows):
    """Return ten columns of 0 and 1."""
    return (random.uniform(size=(n_rows, 10)) < random.uniform(0.1, 0.9, 10)).astype(float)


def two_rows(random, n_rows):
    """Return draws of two distinct rows."""
    return random.normal(size=(2, 5))[(random.uniform(size=n_rows) < 0.47).astype(int)]


def pump_rows(random, n_rows):
    """Return columns q, w, q w and q^2 with noise of 0.5 %."""
    q, w = random.uniform(0.5, 1.5, (2, n_rows))
    return np.column_stack([q, w, q * w, q**2]) * (1 + 0.005 * random.normal(size=(n_rows, 4)))


def rare_counts(random, n_rows):
    """Return counts of which some are mostly zero."""
    many, few = [1, 2, 5, 1, 0.3], [0.1, 0.5, 0.2, 0.9, 0.05]
    return random.negative_binomial(many, few, size=(n_rows, 5)).astype(float)


def coarse_gauges(random, n_rows):
    """Return rounded values, of which one is mostly zero."""
    loadings = [[1.0, 2.5, -0.9, 0.1], [0.4, 0.9, 0.2, -0.25]]
    return np.round(
        random.normal(size=(n_rows, 2)) @ loadings + 0.3 * random.normal(size=(n_rows, 4))
    )


def three_decades(random, n_rows):
    """Return p, T and p / T with noise of 1 %, p over three decades."""
    p, t = 10 ** random.uniform(-1, 2, n_rows), random.uniform(200, 400, n_rows)
    return np.column_stack([p, t, 1000 * p / t]) * (1 + 0.01 * random.normal(size=(n_rows, 3)))


def law_with_noise(noise):
    """Return rows of a law whose noise is drawn by a method of a generator."""

    def maker(random, n_rows):
        x = random.normal(size=(n_rows, 3))
        noises = getattr(random, noise)(size=n_rows)
        return np.column_stack([x, x @ [1.0, 2.0, -1.0] + 0.03 * noises])

    return maker


def normal_tables():
    """Return (name, number of rows, whether continuous, maker) of tables without wrong rows."""
    kinds = []
    for n_columns in (20, 60, 200):
        for n_rows in (100, 200, 500):
            kinds.append((f"{n_columns} columns of 5 factors", n_rows, True, _factor(n_columns)))
    five = {
        "Gaussian": lambda random, m: random.normal(size=(m, 5)),
        "t3": lambda random, m: random.standard_t(3, size=(m, 5)),
        "Cauchy": lambda random, m: random.standard_cauchy(size=(m, 5)),
        "lognormal": lambda random, m: random.lognormal(size=(m, 5)),
        "clusters": clusters,
        "pump": pump_rows,
        "law, exponential noise": law_with_noise("exponential"),
        "law, lognormal noise": law_with_noise("lognormal"),
        "law, Cauchy noise": law_with_noise("standard_cauchy"),
        "three decades, relative noise": three_decades,
    }
    for name, maker in five.items():
        for n_rows in (100, 500, 2000):
            kinds.append((name, n_rows, True, maker))
    discrete = {"Poisson": lambda random, m: random.poisson(3.0, size=(m, 5)).astype(float)}
    discrete |= {"binary": binary, "rare counts": rare_counts, "coarse gauges": coarse_gauges}
    for name, maker in discrete.items():
        for n_rows in (100, 500, 2000):
            kinds.append((name, n_rows, False, maker))
    kinds.append(("duplicated rows", 500, True, None))
    kinds.append(("two distinct rows", 200, False, two_rows))
    return kinds


def _factor(n_columns):
    return lambda random, m: factors(n_columns, random, m)


def normal_rows(kind, seed):
    """Return training rows of a normal table, and fresh ones."""
    _, n_rows, _, maker = kind
    random = np.random.default_rng(seed)
    if maker is None:  # each row five times
        rows = random.normal(size=(n_rows // 5 + FRESH, 5))
        return np.repeat(rows[: n_rows // 5], 5, axis=0), rows[n_rows // 5 :]
    rows = maker(random, n_rows + FRESH)
    return rows[:n_rows], rows[n_rows:]


def wrong_pump(seed, share, n_rows=2000):
    """Return rows of a pump, the column that is off by 8 to 30 % (or -1), and fresh right rows."""
    random = np.random.default_rng(seed)
    X = pump_rows(random, n_rows + FRESH)
    column = np.full(n_rows, -1)
    bad = random.choice(n_rows, int(share * n_rows), replace=False)
    column[bad] = random.integers(4, size=len(bad))
    off = random.uniform(0.08, 0.3, len(bad)) * random.choice([-1, 1], len(bad))
    X[bad, column[bad]] *= 1 + off
    return X[:n_rows], column, X[n_rows:]
