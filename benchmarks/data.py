"""Rows to measure with: data sets by name, and rows near surfaces in the unit cube."""

import os
from functools import cache

import numpy as np
import sklearn.datasets
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from vanishing import datasets

PAPER = ("seeds", "bank", "htru", "spam", "credit", "skin")
NAMES = ("iris", *PAPER)


@cache
def labelled(name):
    """Return rows in [0, 1] and their classes, 0, 1, ..."""
    if name == "thirty":
        shape = {"n_informative": 8, "n_redundant": 0, "n_classes": 30, "n_clusters_per_class": 1}
        X, y = sklearn.datasets.make_classification(3000, 8, **shape, random_state=0)
    elif name == "showers":
        X, y = showers()
    elif name in PAPER:
        if "VANISHING_DATA" not in os.environ:
            raise NotImplementedError("VANISHING_DATA names no folder with the paper's data sets")
        X, y = datasets.load(name, return_X_y=True)
    else:
        X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    return MinMaxScaler().fit_transform(X), np.unique(y, return_inverse=True)[1]


@cache
def halves(name):
    """Return training rows, in [0, 1], other rows, and the classes of both."""
    X, y = labelled(name)
    X, X_test, y, y_test = train_test_split(X, y, train_size=0.6, random_state=0)
    scaler = MinMaxScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test), y, y_test


@cache
def classes(name):
    """Return the training rows of each class, and the other rows."""
    X, X_test, y, _ = halves(name)
    return [np.ascontiguousarray(X[y == label]) for label in np.unique(y)], X_test


@cache
def surface(n_samples):
    """Return rows near x2 = (x0 + x0 x1) / 2, noise 0.01."""
    rng = np.random.default_rng(0)
    X = np.empty((n_samples, 3))
    for start in range(0, n_samples, 1 << 20):
        part = X[start : start + (1 << 20)]
        part[:, :2] = rng.random((len(part), 2))
        part[:, 2] = 0.5 * part[:, 0] * (1.0 + part[:, 1])
        part[:, 2] += rng.normal(scale=0.01, size=len(part))
    return X


@cache
def wide(n_samples, n_features, seed=0):
    """Return rows whose columns depend on five hidden ones, noise 0.02."""
    rng = np.random.default_rng(seed)
    hidden = rng.random((n_samples, 5))
    mix = rng.dirichlet(np.ones(5), size=n_features)
    X = (hidden @ mix.T) ** 2 + rng.normal(scale=0.02, size=(n_samples, n_features))
    return (X - X.min(axis=0)) / np.ptp(X, axis=0)


def showers(n_rows=10_000):
    """Return ten columns made after pictures of air showers: skewed, correlated, heavy-tailed."""
    random = np.random.default_rng(3)
    y = (random.uniform(size=n_rows) < 0.35).astype(int)
    length = random.lognormal(3.5 + 0.25 * y, 0.45) * random.lognormal(0.1, 0.2, n_rows)
    width = length * random.beta(5 - 2 * y, 6)
    size = 0.3 * np.log(length * width) + random.normal(0, 0.15, n_rows)
    focus = np.exp(-0.5 * size) * random.lognormal(0.3, 0.2, n_rows)
    peak = focus * random.beta(6, 4, n_rows)
    asymmetry = random.normal(0, 15 + 10 * y) * random.lognormal(0, 0.4, n_rows) + 0.2 * length
    along = length * random.normal(0.4 - 0.5 * y, 0.6)
    across = 0.5 * width * random.standard_t(3, n_rows)
    angle = np.where(y, random.uniform(0, 90, n_rows), np.abs(random.normal(0, 22, n_rows)))
    distance = random.normal(190 + 10 * y, 70)
    columns = (length, width, size, focus, peak, asymmetry, along, across, angle, distance)
    return np.column_stack(columns), y
