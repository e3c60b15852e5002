"""Thirty more one-class problems, of another make, run once: (name, normal rows, odd rows).

Fourteen are groups of classes, or columns, of scikit-learn's tables; sixteen are made: answers to
questions, counts, skewed columns, groups, shapes, and columns that depend on one another.
"""

import numpy as np
from sklearn import datasets


def fresh_problems():
    """Yield (name, normal rows, odd rows)."""
    for load in (datasets.load_iris, datasets.load_wine):
        X, y = load(return_X_y=True)
        for label in np.unique(y):
            yield f"{load.__name__[5:]} without {label}", X[y != label], X[y == label]
    X, y = datasets.load_digits(return_X_y=True)
    for group in ((0, 6, 8, 9), (1, 7), (2, 3, 5)):
        normal = np.isin(y, group)
        yield f"digits {group}", X[normal], X[~normal]
    pooled = X.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)
    for label in (3, 8):
        yield f"coarse digits {label}", pooled[y == label], pooled[y != label]
    X, y = datasets.load_breast_cancer(return_X_y=True)
    yield "benign, means", X[y == 1, :10], X[y == 0, :10]
    yield "malignant, largest", X[y == 0, 20:], X[y == 1, 20:]
    X, y = datasets.load_diabetes(return_X_y=True)
    yield "diabetes", *_permuted(np.column_stack([X, y]), -1, np.random.default_rng(3), 300)
    yield from _discrete(np.random.default_rng(4))
    yield from _skewed(np.random.default_rng(5))
    yield from _groups(np.random.default_rng(6))
    yield from _shapes(np.random.default_rng(7))
    yield from _dependent(np.random.default_rng(8))


def _permuted(rows, column, random, n_normal):
    """Return rows, and the others with a column of another row."""
    odd = rows[n_normal:].copy()
    odd[:, column] = random.permutation(odd[:, column])
    return rows[:n_normal], odd


def _discrete(random):
    factor = random.normal(size=(900, 2)) @ random.normal(size=(2, 14))
    answers = np.clip(np.round(3 + factor + 0.5 * random.normal(size=(900, 14))), 1, 5)
    yield "answers", answers[:600], random.integers(1, 6, (300, 14)).astype(float)
    X, y = datasets.make_multilabel_classification(1200, 20, n_classes=4, random_state=3)
    yield "counts of words", X[y[:, 0] == 1], X[y[:, 0] == 0]
    rate = random.gamma(3.0, 2.0, (1000, 1)) * random.uniform(0.2, 1.0, 8)
    counts = random.poisson(rate).astype(float)
    yield "counts of a rate", counts[:700], random.permuted(counts[700:], axis=0)


def _skewed(random):
    shared = random.gamma(1.5, size=(1000, 3))
    X = shared @ random.uniform(size=(3, 9)) + random.gamma(1.0, 0.2, (1000, 9))
    yield "gamma", X[:700], random.permuted(X[700:], axis=0)
    X = np.exp(random.normal(size=(1000, 2)) @ random.normal(size=(2, 7)))
    X *= random.lognormal(0.0, 0.1, X.shape)
    odd = X[700:].copy()
    odd[np.arange(300), random.integers(7, size=300)] *= 2.0
    yield "powers", X[:700], odd
    X = random.pareto(2.5, (900, 6)).cumsum(axis=1)
    yield "sums of heavy tails", X[:600], random.permuted(X[600:], axis=0)


def _groups(random):
    X, y = datasets.make_blobs(1400, 5, centers=14, cluster_std=0.8, random_state=3)
    yield "many groups", X[y < 11], X[y >= 11]
    X, y = datasets.make_blobs(1000, 8, centers=5, random_state=4)
    X = X @ random.normal(size=(8, 8))
    yield "slanted groups", X[y < 4], X[y == 4]
    X, y = datasets.make_blobs([700, 30, 200], 4, cluster_std=[3.0, 0.3, 0.3], random_state=5)
    yield "a large and a small group", X[y < 2], X[y == 2]


def _shapes(random):
    points = random.normal(size=(800, 5))
    shell = points / np.linalg.norm(points, axis=1)[:, None] * random.uniform(0.9, 1.1, (800, 1))
    yield "shell", shell, random.uniform(-1.0, 1.0, (300, 5))
    t, u = random.uniform(0.0, 2.0 * np.pi, (2, 800))
    ring = 3.0 + np.cos(u)
    torus = np.column_stack([ring * np.cos(t), ring * np.sin(t), np.sin(u)])
    torus += 0.1 * random.normal(size=torus.shape)
    yield "torus", torus, random.uniform(torus.min(axis=0), torus.max(axis=0), (300, 3))
    ends = random.normal(size=(2, 4, 4))
    place, line = random.uniform(size=(800, 1)), random.integers(4, size=800)
    lines = (1.0 - place) * ends[0, line] + place * ends[1, line]
    lines += 0.05 * random.normal(size=lines.shape)
    yield "lines", lines, random.uniform(lines.min(axis=0), lines.max(axis=0), (300, 4))


def _dependent(random):
    X, y = datasets.make_hastie_10_2(1500, random_state=3)
    yield "sums of squares", X[y < 0], X[y > 0]
    X, y = datasets.make_friedman3(1000, noise=0.1, random_state=3)
    yield "friedman3", *_permuted(np.column_stack([X, y]), -1, random, 700)
    X, y = datasets.make_regression(900, 12, n_informative=6, noise=20.0, random_state=3)
    yield "regression", *_permuted(np.column_stack([X, y]), -1, random, 600)
    mixing = np.linalg.cholesky(datasets.make_spd_matrix(25, random_state=3))
    other = np.linalg.cholesky(datasets.make_spd_matrix(25, random_state=4))
    normal, odd = (
        random.normal(size=(m, 25)) @ part.T for m, part in ((400, mixing), (200, other))
    )
    yield "another covariance", normal, odd
