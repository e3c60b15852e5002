"""How far a fit is from the work no one can avoid.

The floor is one chunked evaluation of the |O| + |G| terms of the result with the products E'E, E'F
and E W (E: the terms of O, F: the leading terms, W: the coefficients), on one BLAS thread: about
what anyone needs who is told the answer. Steps of PCG are timed without the closed form on the
terms that it chooses (refit=False), and that by what it adds. All times of a line are taken in one
run, interleaved, best of several.

    python benchmarks/fit.py [--data-home DIR] [--repeat 7] [bank skin ...]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from vanishing import OAVI, datasets
from vanishing._threads import one_blas_thread
from vanishing.algebra import monomials
from vanishing.algebra.evaluation import chunk_rows, evaluate

NAMES = ("bank", "seeds", "htru", "skin", "credit", "spam")


def seconds(*functions, repeat):
    """Return the best time of each function, taken in turns so that noise hits all alike."""
    best = [np.inf] * len(functions)
    for _ in range(repeat):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def classes(name, data_home):
    """Return the training rows of each class and the test rows, min-max scaled."""
    X, y = datasets.load(name, data_home=data_home, return_X_y=True)
    X, X_test, y, _ = train_test_split(X, y, train_size=0.6, random_state=0)
    scaler = MinMaxScaler().fit(X)
    X = scaler.transform(X)
    return [np.ascontiguousarray(X[y == label]) for label in np.unique(y)], scaler.transform(X_test)


def floor(X, model):
    """Evaluate the terms of a fitted model once, with the bare products."""
    terms = np.vstack([model.terms_, model.leading_terms_])
    plan, position = monomials.plan(terms)
    k = model.n_terms_
    rows = chunk_rows(plan.parent.size, None)

    def run():
        gram, cross = np.zeros((k, k)), np.zeros((k, len(terms) - k))
        with one_blas_thread():
            for _, values in evaluate(X, plan, rows=rows):
                E, F = values[position[:k]], values[position[k:]]
                gram += E @ E.T
                cross += E @ F.T
                model.coef_ @ E

    return run


def evaluation_floor(X, models):
    """Evaluate all terms, form E W, and write an output of the size of a transform's."""
    plans = [monomials.plan(np.vstack([m.terms_, m.leading_terms_])) for m in models]

    def run():
        with one_blas_thread():
            for model, (plan, position) in zip(models, plans, strict=True):
                out = np.empty((len(X), model.n_generators_))
                for here, values in evaluate(X, plan, rows=chunk_rows(plan.parent.size, None)):
                    np.matmul(values[position[: model.n_terms_]].T, model.coef_.T, out=out[here])

    return run


def fit_all(models, parts):
    """Fit a model to the rows of each class."""
    for model, X in zip(models, parts, strict=True):
        model.fit(X)


def first_fit():
    """Time the first fit of a process, with an empty and then with a filled compilation cache."""
    code = (
        "import time, numpy as np; t = time.perf_counter(); from vanishing import OAVI; "
        "i = time.perf_counter(); OAVI().fit(np.random.default_rng(0).random((50, 3))); "
        "print(i - t, time.perf_counter() - i)"
    )
    with tempfile.TemporaryDirectory() as cache:
        for state in ("empty", "filled"):
            result = subprocess.run(
                [sys.executable, "-c", code],
                env={**os.environ, "NUMBA_CACHE_DIR": cache},
                capture_output=True,
                text=True,
                check=True,
            )
            imported, fitted = map(float, result.stdout.split())
            print(f"compilation cache {state}: import {imported:.1f} s, first fit {fitted:.1f} s")


def main():
    """Print one line per data set and psi."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--data-home", default=None)
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    first_fit()
    print(
        f"{'data':<7}{'psi':>7}{'|O|':>5}{'|G|':>6}{'floor ms':>10}{'ls ms':>8}{'ls/floor':>9}"
        f"{'over ms/class':>14}{'pcg ms':>8}{'pcg extra':>10}{'steps':>8}{'ns/step':>8}"
        f"{'refit ms':>9}{'transform/EW':>13}"
    )
    for name in options.names:
        parts, X_test = classes(name, options.data_home)
        for psi in (0.005, 0.0005):
            ls = [OAVI(psi=psi, oracle="ls").fit(X) for X in parts]
            pcg = [OAVI(psi=psi, oracle="pcg", refit=False).fit(X) for X in parts]
            refitted = [OAVI(psi=psi, oracle="pcg").fit(X) for X in parts]
            floors = [floor(X, model) for X, model in zip(parts, ls, strict=True)]
            t_floor, t_ls, t_pcg, t_refitted = seconds(
                lambda floors=floors: [run() for run in floors],
                partial(fit_all, ls, parts),
                partial(fit_all, pcg, parts),
                partial(fit_all, refitted, parts),
                repeat=options.repeat,
            )
            t_ew, t_transform = seconds(
                evaluation_floor(X_test, ls),
                lambda ls=ls, X_test=X_test: [m.transform(X_test) for m in ls],
                repeat=options.repeat,
            )
            steps = sum(m.n_iter_ for m in pcg)
            extra = t_pcg - t_ls
            print(
                f"{name:<7}{psi:>7}{sum(m.n_terms_ for m in ls):>5}"
                f"{sum(m.n_generators_ for m in ls):>6}{1e3 * t_floor:>10.2f}{1e3 * t_ls:>8.2f}"
                f"{t_ls / t_floor:>9.2f}{1e3 * (t_ls - t_floor) / len(parts):>14.2f}"
                f"{1e3 * t_pcg:>8.2f}{1e3 * extra:>10.2f}{steps:>8}{1e9 * extra / steps:>8.0f}"
                f"{1e3 * (t_refitted - t_pcg):>9.2f}"
                f"{t_transform / t_ew:>13.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
