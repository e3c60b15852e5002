"""Thirty one-class problems that no number of the detector was chosen by: (name, normal, odd rows).

Eighteen are classes of scikit-learn's tables, asked about the other classes; twelve are made, of
which five have odd rows in dense groups or on shapes of their own, and four obey or break a law.
"""

import numpy as np
from sklearn import datasets

ODD_SHARE = 0.05  # of the rows, unsupervised


def problems():
    """Yield (name, normal rows, odd rows)."""
    for load in (datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer):
        X, y = load(return_X_y=True)
        for label in np.unique(y):
            yield f"{load.__name__[5:]} {label}", X[y == label], X[y != label]
    X, y = datasets.load_digits(return_X_y=True)
    for label in range(10):
        yield f"digits {label}", X[y == label], X[y != label]
    yield from _shapes()
    yield from _groups()
    yield from _laws()


def _box(X, random, n_rows=400):
    """Return rows that are uniform in the box around others."""
    return random.uniform(X.min(axis=0), X.max(axis=0), (n_rows, X.shape[1]))


def _shapes():
    random = np.random.default_rng(1)
    moons = datasets.make_moons(800, noise=0.08, random_state=1)[0]
    yield "moons", moons, _box(moons, random)
    X, y = datasets.make_circles(1200, noise=0.08, factor=0.5, random_state=1)
    yield "circles", X[y == 0], X[y == 1]
    for maker in (datasets.make_swiss_roll, datasets.make_s_curve):
        X = maker(800, noise=0.1, random_state=1)[0]
        yield maker.__name__[5:], X, _box(X, random)


def _groups():
    X, y = datasets.make_blobs(1500, 6, centers=10, cluster_std=1.5, random_state=1)
    yield "blobs", X[y < 8], X[y >= 8]
    X, y = datasets.make_blobs([600, 300], 12, centers=None, cluster_std=[2.0, 0.3], random_state=2)
    yield "a dense group", X[y == 0], X[y == 1]
    X, y = datasets.make_classification(
        1200, 20, n_informative=6, n_redundant=4, class_sep=1.5, random_state=1
    )
    yield "classification", X[y == 0], X[y == 1]
    X, y = datasets.make_gaussian_quantiles(n_samples=1200, n_features=8, random_state=1)
    yield "quantiles", X[y == 0], X[y == 2]


def _laws():
    random = np.random.default_rng(2)
    X, y = datasets.make_friedman1(1000, noise=0.5, random_state=1)
    yield "friedman1", *_permuted(X, y, random)
    X, y = datasets.make_friedman2(1000, noise=20.0, random_state=1)
    yield "friedman2", *_permuted(X, y, random)
    X, y = datasets.make_sparse_uncorrelated(1000, random_state=1)
    yield "sparse uncorrelated", *_permuted(X, y, random)
    X = datasets.make_low_rank_matrix(1000, 30, effective_rank=5, random_state=1)
    X /= X.std(axis=0)
    yield "low rank", X[:800] + 0.1 * random.normal(size=(800, 30)), random.normal(size=(300, 30))


def _permuted(X, y, random):
    """Return rows with their target, and rows with that of another row."""
    rows = np.column_stack([X, y])
    odd = np.column_stack([X[700:], random.permutation(y[700:])])
    return rows[:700], odd


def unsupervised(normal, odd, seed):
    """Return all normal rows with few odd ones among them, and labels."""
    random = np.random.default_rng(seed)
    count = max(int(ODD_SHARE * len(normal)), 3)
    some = odd[random.choice(len(odd), min(count, len(odd)), replace=False)]
    return np.vstack([normal, some]), np.repeat([0, 1], [len(normal), len(some)])


def novelty(normal, odd, seed):
    """Return half of the normal rows; all others with odd ones, and labels."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(normal))
    train, rest = np.array_split(normal[order], 2)
    some = odd[random.choice(len(odd), min(len(odd), len(normal)), replace=False)]
    return train, np.vstack([rest, some]), np.repeat([0, 1], [len(rest), len(some)])
