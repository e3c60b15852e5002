"""Rows outside of the training range: what clipping does to the error, and how often is warned.

For each data set, ten splits (60 % for training): test errors of the default classifier with psi
0.005 and 0.0005, without and with ``clip``, paired, and the mean difference with its standard
error; then, of a hundred splits, those whose test rows the classifier would warn of. Last, wine:
how many of 72 predictions change when a column is set to twice its largest value.

    python benchmarks/studies/outside.py [--data-home DIR] [--splits 10]
"""

import argparse
import warnings

import numpy as np
import sklearn.datasets
from sklearn.model_selection import train_test_split

from vanishing import VanishingClassifier, datasets
from vanishing.learning.scaling import FarRows, Scaling

NAMES = ("bank", "seeds", "htru", "skin", "credit", "spam")
ROWS = 6000  # of the larger data sets, drawn anew for each split
PSIS = (0.005, 0.0005)
SLOW = ("digits", "spam")  # at the smaller psi


def disc(seed):
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (1000, 8))
    return X, X[:, 0] ** 2 + X[:, 1] ** 2 < 2.0 / np.pi


def of_paper(name, data_home):
    X, y = datasets.load(name, data_home=data_home, return_X_y=True)

    def rows(seed):
        some = np.random.default_rng(seed).permutation(len(X))[:ROWS]
        return X[some], y[some]

    return rows


def data_sets(data_home):
    """Return functions of a seed that give rows and labels."""
    found = {name: of_paper(name, data_home) for name in NAMES}
    for name in ("iris", "wine", "breast_cancer", "digits"):
        load = getattr(sklearn.datasets, f"load_{name}")
        found[name] = lambda seed, load=load: load(return_X_y=True)
    make_circles, make_moons = sklearn.datasets.make_circles, sklearn.datasets.make_moons
    found["circles"] = lambda seed: make_circles(1000, noise=0.08, factor=0.5, random_state=seed)
    found["moons"] = lambda seed: make_moons(1000, noise=0.2, random_state=seed)
    return {**found, "disc": disc}


def halves(rows, seed):
    X, y = rows(seed)
    return train_test_split(np.asarray(X, dtype=float), y, test_size=0.4, random_state=seed)


def errors(rows, psi, n_splits):
    """Return percentages of wrong labels: (n_splits, 2), without and with clipping."""
    found = []
    for seed in range(n_splits):
        X, X_test, y, y_test = halves(rows, seed)
        model = VanishingClassifier(psi=psi, clip=False).fit(X, y)
        wrong = []
        for clip in (False, True):
            model.scaling_.clip = clip  # in the fit nothing is outside: the model is the same
            wrong.append(100.0 * np.mean(model.predict(X_test) != y_test))
        found.append(wrong)
    return np.array(found)


def alarms(rows, n_splits=100):
    """Return in how many splits more rows are far outside than is ordinary."""
    count = 0
    for seed in range(n_splits):
        X, X_test, _, _ = halves(rows, seed)
        scaling, far = Scaling(True, False), FarRows()
        scaling.fit_transform(X)
        scaling(X_test, far)
        count += far.many
    return count


def wine():
    X, X_test, y, _ = halves(lambda _: sklearn.datasets.load_wine(return_X_y=True), 0)
    for clip in (False, True):
        model = VanishingClassifier(clip=clip).fit(X, y)
        before, changed = model.predict(X_test), []
        for j in range(X.shape[1]):
            moved = X_test.copy()
            moved[:, j] = 2.0 * X[:, j].max()
            changed.append(int(np.sum(model.predict(moved) != before)))
        print(f"wine, clip={clip}: {np.mean(changed):.1f} of {len(before)} change, {changed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-home")
    parser.add_argument("--splits", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| data set | psi | clip=False | clip=True | difference | splits of 100 that warn |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, rows in data_sets(options.data_home).items():
        warned = alarms(rows)
        for psi in PSIS[: 1 if name in SLOW else None]:
            found = errors(rows, psi, options.splits)
            change = found[:, 1] - found[:, 0]
            spread = change.std(ddof=1) / np.sqrt(len(change))
            means = "{:.2f} | {:.2f}".format(*found.mean(axis=0))
            print(
                f"| {name} | {psi} | {means} | {change.mean():+.2f} ± {spread:.2f} | {warned} |",
                flush=True,
            )
    wine()


if __name__ == "__main__":
    main()
