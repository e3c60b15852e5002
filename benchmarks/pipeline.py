"""The whole pipeline, tuned, beside other classifiers: error, times, size, sparsity.

The paper's protocol: random 60/40 splits, hyper-parameters by three stratified folds of the
training rows, a refit, then the whole test split predicted. Ours: psi in {0.1, 0.05, 0.01, 0.005,
0.001, 0.0005} and C in {0.1, 1, 10}, min-max scaling inside the folds. Polynomial SVM: degree 1 to
4 and the same C, at most 10,000 iterations, with coef0 = 0 as the paper and with coef0 = 1.
Polynomial features: degree 2, the same C. Boosting: scikit-learn's histograms, a small grid.

    python benchmarks/pipeline.py [--data-home DIR] [--splits 1] [--methods pcg,omp,svc0] [bank ...]
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures
from sklearn.svm import SVC, LinearSVC

from vanishing import OAVI, VanishingClassifierCV, datasets

NAMES = ("bank", "seeds", "htru", "skin", "credit", "spam")
CS = (0.1, 1.0, 10.0)


def ours(oracle):
    return lambda n_jobs: VanishingClassifierCV(OAVI(oracle=oracle), n_jobs=n_jobs)


def kernel_svm(coef0):
    def make(n_jobs):
        svc = make_pipeline(MinMaxScaler(), SVC(kernel="poly", coef0=coef0, max_iter=10_000))
        grid = {"svc__degree": (1, 2, 3, 4), "svc__C": CS}
        return GridSearchCV(svc, grid, cv=3, n_jobs=n_jobs)

    return make


def polynomial_features(n_jobs):
    linear = LinearSVC(penalty="l1", dual=False, max_iter=10_000, random_state=0)
    model = make_pipeline(MinMaxScaler(), PolynomialFeatures(2, include_bias=False), linear)
    return GridSearchCV(model, {"linearsvc__C": CS}, cv=3, n_jobs=n_jobs)


def boosting(n_jobs):
    grid = {"learning_rate": (0.03, 0.1), "max_leaf_nodes": (15, 31)}
    return GridSearchCV(HistGradientBoostingClassifier(random_state=0), grid, cv=3, n_jobs=n_jobs)


METHODS = {
    "pcg": ours("pcg"),
    "bpcg": ours("bpcg"),
    "agd": ours("agd"),
    "ls": ours("ls"),
    "omp": ours("omp"),
    "svc0": kernel_svm(0.0),
    "svc1": kernel_svm(1.0),
    "poly2": polynomial_features,
    "boost": boosting,
}


def run(make, X, y, seed, n_jobs):
    """Return error in per cent, tuning time, test time, |G| + |O|, SPAR for one split."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=0.6, random_state=seed)
    model = make(n_jobs)
    start = time.perf_counter()
    model.fit(X_train, y_train)
    tuning = time.perf_counter() - start
    times = []
    while len(times) < 5 and sum(times) < 1.0:
        start = time.perf_counter()
        predicted = model.predict(X_test)
        times.append(time.perf_counter() - start)
    size = spar = np.nan
    if hasattr(model, "classifier_"):
        size = model.classifier_.n_generators_ + model.classifier_.n_terms_
        spar = model.classifier_.sparsity_
    return 100.0 * np.mean(predicted != y_test), tuning, min(times), size, spar


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--data-home", default=None)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--n-jobs", type=int, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    methods = options.methods.split(",")
    unknown = set(methods) - set(METHODS)
    if unknown:
        parser.error(f"unknown methods {sorted(unknown)}; choose from {', '.join(METHODS)}")

    # Compile and load everything once, outside of the measured times.
    rng = np.random.default_rng(0)
    warm_up = rng.random((60, 3)), np.arange(60) % 2
    for method in methods:
        METHODS[method](None).fit(*warm_up)

    print(
        f"{'data':<8}{'method':<7}{'error %':>9}{'+- s.e.':>9}{'tuning s':>10}{'test ms':>9}"
        f"{'|G|+|O|':>9}{'SPAR':>6}"
    )
    for name in options.names:
        X, y = datasets.load(name, data_home=options.data_home, return_X_y=True)
        for method in methods:
            results = np.array(
                [run(METHODS[method], X, y, s, options.n_jobs) for s in range(options.splits)]
            )
            error, tuning, test, size, spar = results.mean(axis=0)
            spread = results[:, 0].std(ddof=1) / np.sqrt(len(results)) if len(results) > 1 else 0
            print(
                f"{name:<8}{method:<7}{error:>9.2f}{spread:>9.2f}{tuning:>10.2f}{1e3 * test:>9.2f}"
                f"{size:>9.1f}{spar:>6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
