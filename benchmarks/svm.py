"""L1SquaredHingeSVC beside liblinear on generator features: objective and time.

For each data set, psi and C: the time of one fit, liblinear's (LinearSVC, its default tolerance, at
most 10,000 iterations, median of three seeds), their ratio, and how far our objective is above or
below liblinear's, relatively. Then problems of many classes on the same features: their time
together, one after the other, and its ratio to that of one look at all features for all of them,
which nobody can do without.

    python benchmarks/svm.py [--data-home DIR] [--psis 0.005,0.0005] [htru ...]
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC

from vanishing import OAVI, L1SquaredHingeSVC, VanishingFeatures, datasets
from vanishing._threads import one_blas_thread
from vanishing.learning.svm_solver import as_columns, solve, solve_together, targets

NAMES = ("bank", "seeds", "htru", "skin", "credit", "spam")


def objective(model, X, y, C):
    """Return the objective, summed over the classes against the others."""
    labels = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    total = 0.0
    for label, coef, intercept in zip(labels, model.coef_, model.intercept_, strict=True):
        slack = np.maximum(0.0, 1.0 - np.where(y == label, 1.0, -1.0) * (X @ coef + intercept))
        total += np.abs(coef).sum() + abs(intercept) + C * (slack @ slack)
    return total


def timed(model, X, y):
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def many_classes():
    """Return labelled rows of ten and of thirty classes, in [0, 1]."""
    sets = {"digits": load_digits(return_X_y=True)}
    shape = {"n_informative": 8, "n_redundant": 0, "n_classes": 30, "n_clusters_per_class": 1}
    sets["thirty"] = make_classification(3000, 8, **shape, random_state=0)
    return {name: (MinMaxScaler().fit_transform(X), y) for name, (X, y) in sets.items()}


def best(function, repeats=3):
    """Return the least processor time of a call."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        seconds.append(time.process_time() - start)
    return min(seconds)


def compare_together(psi=0.01):
    """Print what it takes to solve the problems of many classes together and alone."""
    print(
        f"\n{'data':<8}{'C':>6}{'classes':>9}{'rows x features':>17}{'together s':>12}"
        f"{'alone s':>9}{'ratio':>7}{'looks':>8}"
    )
    for name, (X, y) in many_classes().items():
        features = VanishingFeatures(OAVI(psi=psi)).fit_transform(X, y)
        columns, signs = as_columns(features, True), targets(y, y.max() + 1)
        starts = np.zeros((len(signs), len(columns)))
        look = best(lambda columns=columns, signs=signs: signs @ columns.T)
        for C in (0.1, 1.0, 10.0):
            problems = [signs, np.full_like(signs, C), starts]
            options = {"tol": 1e-4, "max_iter": 1000}

            def together(columns=columns, problems=problems, options=options):
                solve_together(columns, *problems, **options)

            def alone(columns=columns, problems=problems, options=options):
                for problem in zip(*problems, strict=True):
                    solve(columns, *problem, **options)

            seconds, apart = best(together), best(alone)
            shape = f"{features.shape[0]} x {features.shape[1]}"
            print(
                f"{name:<8}{C:>6}{len(signs):>9}{shape:>17}{seconds:>12.4f}{apart:>9.4f}"
                f"{apart / seconds:>7.2f}{seconds / look:>8.0f}",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--data-home", default=None)
    parser.add_argument("--psis", default="0.005,0.0005")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        f"{'data':<8}{'psi':>8}{'C':>6}{'rows x features':>17}{'ours s':>9}{'liblinear s':>12}"
        f"{'ratio':>7}{'objective':>11}"
    )
    ratios = {}
    for name in options.names:
        X, y = datasets.load(name, data_home=options.data_home, return_X_y=True)
        X, _, y, _ = train_test_split(X, y, train_size=0.6, random_state=0)
        X = MinMaxScaler().fit_transform(X)
        for psi in map(float, options.psis.split(",")):
            features = VanishingFeatures(OAVI(psi=psi, refit=False)).fit_transform(X, y)
            for C in (0.1, 1.0, 10.0):
                model = L1SquaredHingeSVC(C).fit(features, y)
                ours = min(timed(model, features, y) for _ in range(3))
                theirs, objectives = [], []
                for seed in range(3):
                    liblinear = LinearSVC(
                        penalty="l1", dual=False, C=C, max_iter=10_000, random_state=seed
                    )
                    theirs.append(timed(liblinear, features, y))
                    objectives.append(objective(liblinear, features, y, C))
                ratio = np.median(theirs) / ours
                ratios.setdefault(name, []).append(ratio)
                excess = objective(model, features, y, C) / np.median(objectives) - 1.0
                shape = f"{features.shape[0]} x {features.shape[1]}"
                print(
                    f"{name:<8}{psi:>8}{C:>6}{shape:>17}{ours:>9.4f}{np.median(theirs):>12.4f}"
                    f"{ratio:>7.1f}{excess:>11.1e}",
                    flush=True,
                )
    for name, values in ratios.items():
        print(f"{name}: {np.exp(np.mean(np.log(values))):.0f} times faster in the geometric mean")
    with one_blas_thread():
        compare_together()


if __name__ == "__main__":
    main()
