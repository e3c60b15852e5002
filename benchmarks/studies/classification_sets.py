"""Data sets of `classification.py`: those in view while the method is made, and others."""

import os
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_circles,
    make_classification,
    make_friedman1,
    make_gaussian_quantiles,
    make_hastie_10_2,
    make_moons,
    make_s_curve,
)

from vanishing import datasets

HALF = 2 / np.pi  # squared radius of a disc that has half the area of the square around it


def disc(n_rows=1000, n_columns=8):
    """Return rows of a cube, and whether their first two columns are in a disc."""
    X = np.random.default_rng(0).uniform(-1, 1, (n_rows, n_columns))
    return X, (X[:, 0] ** 2 + X[:, 1] ** 2 < HALF).astype(int)


def thirty_classes():
    return make_classification(
        3000,
        8,
        n_informative=8,
        n_redundant=0,
        n_classes=30,
        n_clusters_per_class=1,
        class_sep=2.0,
        random_state=0,
    )


PAPER = ("bank", "credit", "htru", "seeds", "skin", "spam")
SETS = {name: partial(datasets.load, name, return_X_y=True) for name in PAPER} | {
    "iris": partial(load_iris, return_X_y=True),
    "wine": partial(load_wine, return_X_y=True),
    "breast cancer": partial(load_breast_cancer, return_X_y=True),
    "digits": partial(load_digits, return_X_y=True),
    "circles": partial(make_circles, 1000, noise=0.08, factor=0.5, random_state=0),
    "moons": partial(make_moons, 1000, noise=0.2, random_state=0),
    "disc": disc,
    "30 classes": thirty_classes,
}

# -------------------------------------------------------------------------------------- set aside


def table(name):
    """Return a table with two classes from the folder of `outliers.py`."""
    path = Path(os.environ.get("VANISHING_DATA", "")) / "outliers" / f"{name}.csv.gz"
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    return values[:, :-1], values[:, -1].astype(int)


def above_median(X, target):
    return X, (target > np.median(target)).astype(int)


def parity(n_rows=2000):
    """Return signs in three of six columns with noise, and whether their product is positive."""
    random = np.random.default_rng(0)
    signs = random.choice([-1.0, 1.0], (n_rows, 6))
    return signs + 0.5 * random.normal(size=signs.shape), (signs[:, :3].prod(axis=1) > 0) * 1


def spirals(n_rows=1000):
    """Return two spirals of one and a half turns with noise."""
    random = np.random.default_rng(0)
    y = np.arange(n_rows) % 2
    turn = 3 * np.pi * np.sqrt(random.uniform(0.02, 1, n_rows))
    arms = np.column_stack([np.cos(turn + np.pi * y), np.sin(turn + np.pi * y)])
    return turn[:, None] * arms + 0.6 * random.normal(size=arms.shape), y


def sheets(n_rows=1500):
    """Return two S-shaped sheets in space, one above the other, with noise, and idle columns."""
    random = np.random.default_rng(0)
    X, _ = make_s_curve(n_rows, noise=0.15, random_state=0)
    y = np.arange(n_rows) % 2
    X[:, 2] += 0.6 * y
    return np.column_stack([X, random.normal(size=(n_rows, 3))]), y


def checkerboard(n_rows=2000):
    """Return points of a four by four board with blurred edges, and the colours of their fields."""
    random = np.random.default_rng(0)
    X = random.uniform(0, 4, (n_rows, 2))
    return X + 0.05 * random.normal(size=X.shape), np.floor(X).sum(axis=1).astype(int) % 2


def ratios(n_rows=1500):
    """Return heavy-tailed columns, and three ranges of the ratio of two products of them."""
    random = np.random.default_rng(0)
    X = random.lognormal(sigma=1.0, size=(n_rows, 6))
    score = np.log(X[:, 0] * X[:, 1] / (X[:, 2] * X[:, 3])) + 0.3 * random.normal(size=n_rows)
    return X, np.digitize(score, [-1.0, 1.0])


def clusters():
    return make_classification(
        2000,
        20,
        n_informative=6,
        n_redundant=4,
        n_classes=3,
        n_clusters_per_class=3,
        flip_y=0.05,
        random_state=0,
    )


TABLES = ("pima", "ionosphere", "breastw", "wilt", "annthyroid", "satellite")
SET_ASIDE = {name: partial(table, name) for name in TABLES} | {
    "diabetes": lambda: above_median(*load_diabetes(return_X_y=True)),
    "friedman": lambda: above_median(*make_friedman1(1000, 10, noise=1.0, random_state=0)),
    "hastie": partial(make_hastie_10_2, 2000, random_state=0),
    "quantiles": partial(
        make_gaussian_quantiles, n_samples=1500, n_features=4, n_classes=4, random_state=0
    ),
    "clusters": clusters,
    "parity": parity,
    "spirals": spirals,
    "sheets": sheets,
    "checkerboard": checkerboard,
    "ratios": ratios,
}

# ------------------------------------------------------------------------------------- kept apart


def waveform(n_rows=2000):
    """Return Breiman's waves: mixtures of two of three triangles, with noise, in 21 columns."""
    random = np.random.default_rng(1)
    place = np.arange(1, 22)
    bases = np.array([np.maximum(6 - np.abs(place - top), 0) for top in (7, 15, 11)])
    y, share = np.arange(n_rows) % 3, random.uniform(size=(n_rows, 1))
    X = share * bases[y] + (1 - share) * bases[(y + 1) % 3]
    return X + random.normal(size=X.shape), y


def ringnorm(n_rows=2000):
    """Return Breiman's two normal classes, one of which surrounds the other, in 20 columns."""
    random = np.random.default_rng(1)
    X, y = random.normal(size=(n_rows, 20)), np.arange(n_rows) % 2
    X[y == 0] *= 2
    X[y == 1] += 2 / np.sqrt(20)
    return X, y


def loans(n_rows=3000):
    """Return skewed amounts, codes and thresholds, and who pays back."""
    random = np.random.default_rng(1)
    income, debt = (random.lognormal(mean, s, n_rows) for mean, s in ((10.3, 0.6), (8.5, 1.2)))
    age = random.integers(18, 80, n_rows)
    late = random.poisson(0.4 + 0.8 * (debt / income > 0.4))
    job, home = random.integers(0, 6, n_rows), random.integers(0, 3, n_rows)
    score = 1.0 - 1.2 * (debt / income > 0.5) - 0.9 * (late >= 2) - 0.6 * (age < 25)
    score += np.choose(job, [0.0, 0.4, -0.5, 0.2, 0.0, -0.2]) + 0.7 * (home == 1) * (income > 3e4)
    codes = [np.eye(n)[code] for n, code in ((6, job), (3, home))]
    X = np.column_stack([income, debt, age, late, random.lognormal(size=n_rows), *codes])
    return X, (score + random.logistic(scale=0.5, size=n_rows) > 0.6).astype(int)


def sensors(n_rows=2500):
    """Return sixteen correlated readings of four states, and four kinds of faults."""
    random = np.random.default_rng(1)
    state = random.normal(size=(n_rows, 4))
    state[:, 3] = state[:, 0] * state[:, 1] + 0.3 * state[:, 3]
    X = state @ random.normal(size=(4, 16)) + 0.2 * random.normal(size=(n_rows, 16))
    y = random.choice(4, n_rows, p=[0.55, 0.15, 0.15, 0.15])
    X[y == 1, 2] += 0.8
    X[y == 2, 7] *= 0.6
    X[y == 3, 11:13] = X[y == 3, 11:13][:, ::-1] + 0.2
    return X, y


def pairs(n_rows=3000):
    """Return twelve columns of several kinds, and a rule of thresholds in pairs of them."""
    random = np.random.default_rng(1)
    even, skewed = random.uniform(size=(n_rows, 4)), random.exponential(size=(n_rows, 4))
    codes, normal = random.integers(0, 5, (n_rows, 2)), random.normal(size=(n_rows, 2))
    X = np.column_stack([even, skewed, codes, normal])
    score = 1.5 * ((X[:, 0] > 0.5) != (X[:, 4] > 0.7)) + 1.0 * (X[:, 8] >= 3) * (X[:, 1] < 0.4)
    score += 0.5 * np.sin(6 * X[:, 2]) - 0.4 * np.log1p(X[:, 5]) + 0.3 * X[:, 10]
    return X, (score + random.logistic(scale=0.3, size=n_rows) > 0.9).astype(int)


APART_TABLES = ("cardio", "letter", "mammography", "pageblocks", "vowels")
APART = {name: partial(table, name) for name in APART_TABLES} | {
    "waveform": waveform,
    "ringnorm": ringnorm,
    "loans": loans,
    "sensors": sensors,
    "pairs": pairs,
}
