"""OAVI and its relatives on the paper's data sets: size, sparsity, times, error, robustness.

One line per data set and algorithm, all classes together, psi as given, 60 % of the rows for
training (min-max scaled), the rest for the error of the classification pipeline with C = 10.
Robustness: does the model have the same leading terms (for VCA: as many generators) when all rows
are repeated, and is every reported mse at most psi when all values are 30 times as large?

    python benchmarks/family.py [--data-home DIR] [--psi 0.001] [--markdown] [bank ...]
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from vanishing import ABM, AVI, OAVI, VCA, VanishingClassifier, VanishingFeatures, datasets

NAMES = ("bank", "seeds", "htru", "skin", "credit", "spam")
ALGORITHMS = {
    "OAVI pcg": OAVI(),
    "PCGAVI": OAVI(certify=False, refit=False),
    "OAVI omp": OAVI(oracle="omp"),
    "OAVI ls": OAVI(oracle="ls"),
    "BB-ABM": OAVI(oracle="ls", border="bb"),
    "ABM": ABM(),
    "ABM bb": ABM(border="bb"),
    "AVI": AVI(),
    "VCA": VCA(),
    "VCA l2, d <= 3": VCA(normalization="l2", max_degree=3),
}
HEADER = (
    "data", "algorithm", "|G|", "|O|", "SPAR", "fit ms", "transform ms", "error %", "repeated",
    "30 times",
)  # fmt: skip


def best_of(function, repeat=3):
    times = []
    while len(times) < repeat and sum(times) < 3.0:
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return result, min(times)


def leading(features):
    """Return what tells whether two fitted feature maps are alike."""
    return [
        t.leading_terms_.tolist() if hasattr(t, "leading_terms_") else t.n_generators_
        for t in features.transformers_
    ]


def line(name, label, algorithm, psi, data_home):
    X, y = datasets.load(name, data_home=data_home, return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, train_size=0.6, random_state=0)
    scaler = MinMaxScaler().fit(X)
    Z, Z_test = scaler.transform(X), scaler.transform(X_test)
    estimator = VanishingFeatures(algorithm.set_params(psi=psi))
    features, fit_time = best_of(lambda: estimator.fit(Z, y))
    _, transform_time = best_of(lambda: features.transform(Z_test))
    sizes = features.n_generators_, features.n_terms_, features.sparsity_
    found = leading(features)
    repeated = leading(estimator.fit(np.repeat(Z, 2, axis=0), np.repeat(y, 2))) == found
    model = VanishingClassifier(algorithm, C=10.0).fit(X, y)
    error = 100.0 * np.mean(model.predict(X_test) != y_test)
    # Little vanishes on large values, and O grows: up to degree 2 is enough to see.
    bounded = VanishingFeatures(clone(algorithm).set_params(max_degree=2, max_terms=200))
    worst = max(t.mse_.max(initial=0.0) for t in bounded.fit(30.0 * Z, y).transformers_)
    return (
        name,
        label,
        f"{sizes[0]}",
        f"{sizes[1]}",
        f"{sizes[2]:.2f}",
        f"{1e3 * fit_time:.1f}",
        f"{1e3 * transform_time:.1f}",
        f"{error:.2f}",
        "same" if repeated else "differs",
        "yes" if worst <= psi else f"no, {worst:.1e}",
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--data-home", default=None)
    parser.add_argument("--psi", type=float, default=0.001)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    separator = " | " if options.markdown else "  "
    widths = (8, 14, 6, 6, 6, 9, 13, 8, 9, 11)

    def show(cells):
        edge = "|" if options.markdown else ""
        text = separator.join(cell.ljust(w) for cell, w in zip(cells, widths, strict=True))
        print(f"{edge} {text} {edge}".strip(), flush=True)

    show(HEADER)
    if options.markdown:
        show(tuple("-" * w for w in widths))
    for name in options.names:
        for label, algorithm in ALGORITHMS.items():
            show(line(name, label, algorithm, options.psi, options.data_home))


if __name__ == "__main__":
    main()
