"""Classification: ours untuned and tuned beside tuned SVC, gradient boosting, logistic regression.

Explainable boosting (EBM) is run where asked for: `pip install -r comparison-requirements.txt`.

Every method sees the same rows: stratified random splits, 60 % of the rows to learn from, ten of
them (three on skin). Error in per cent with its standard error over the splits, log-loss and Brier
score where there are probabilities, and seconds of the processor, one thread, for the fit with its
search. Rows are appended to ``--out`` as they come, and what is there already is not run again;
``--from`` prints the tables of results on record. ``--set-aside`` has other data sets, which no one
tunes to, and ``--apart`` ten more, which were run once. ``--real`` are ten real tables in view, and
``--strangers`` ten that were kept apart and run once, and ``--newcomers`` ten more, of packages
that `classification_real.py` names.

    python benchmarks/studies/classification.py [--sets iris ...] [--methods SVC ...] [--splits 10]
        [--set-aside | --apart | --real | --strangers
        | --newcomers] [--out FILE] [--from FILE ...]
"""

import argparse
import csv
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from classification_real import NEWCOMERS, REAL, STRANGERS
from classification_sets import APART, SET_ASIDE, SETS
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    StratifiedShuffleSplit,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from vanishing import VanishingClassifier, VanishingClassifierCV

TRAINING = 0.6  # share of the rows
SPLITS = {"skin": 3}  # at most
TOO_LARGE = {("skin", "SVC"), ("credit", "SVC")}  # hours
MANY_CLASSES = 5  # above: boosting, which has a tree for each class, is tuned on one fold
POINTS = (1.0, 0.5)  # distances from the best error, in per cent, that are counted


class Result(NamedTuple):
    """What came of one method on one split."""

    set: str
    split: int
    method: str
    rows: int
    columns: int
    classes: int
    error: float  # per cent
    log_loss: float  # nan: no probabilities
    brier: float
    fit_s: float
    predict_s: float
    chosen: str
    complexity: float = np.nan  # numbers that decide, of ours


# ---------------------------------------------------------------------------------------- methods


class Tuned(ClassifierMixin, BaseEstimator):
    """A grid search with three folds, on at most ``most_rows`` rows, and a fit to all rows."""

    def __init__(self, estimator, grid, most_rows=None, calibrated=False, one_fold=False):
        self.estimator = estimator
        self.grid = grid
        self.most_rows = most_rows
        self.calibrated = calibrated
        self.one_fold = one_fold

    def fit(self, X, y):
        some, labels = X, y
        if self.most_rows and len(y) > self.most_rows:
            some, _, labels, _ = train_test_split(
                X, y, train_size=self.most_rows, stratify=y, random_state=0
            )
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        if self.one_fold:
            folds = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=0)
        search = GridSearchCV(self.estimator, self.grid, cv=folds, refit=False).fit(some, labels)
        self.best_params_ = search.best_params_
        self.model_ = clone(self.estimator).set_params(**search.best_params_).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def probabilities(self, X, y, X_test):
        """Return probabilities; the time that calibration takes is not counted."""
        if not self.calibrated:
            return self.model_.predict_proba(X_test)
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        model = CalibratedClassifierCV(clone(self.model_), cv=folds, ensemble=False)
        return model.fit(X, y).predict_proba(X_test)


def svc(X, y):
    # Columns have variance 1, so that 1 / columns is what scikit-learn calls gamma="scale".
    gamma = 1 / X.shape[1]
    Cs = [0.1, 1.0, 10.0, 100.0]
    radial = {"kernel": ["rbf"], "gamma": [gamma * f for f in (0.1, 0.3, 1.0, 3.0)], "C": Cs}
    poly = {"kernel": ["poly"], "degree": [2, 3], "gamma": [gamma * f for f in (0.3, 1.0)], "C": Cs}
    grid = [{f"svc__{key}": values for key, values in part.items()} for part in (radial, poly)]
    machine = SVC(coef0=1.0, cache_size=500, max_iter=200_000)
    return Tuned(make_pipeline(StandardScaler(), machine), grid, most_rows=2000, calibrated=True)


def boosting(X, y):
    grid = {"learning_rate": [0.05, 0.1, 0.2], "max_leaf_nodes": [7, 31]}
    many = len(np.unique(y)) > MANY_CLASSES
    if many:
        grid = {"learning_rate": [0.1], "max_leaf_nodes": [7, 31]}
    model = HistGradientBoostingClassifier(random_state=0)
    return Tuned(model, grid, most_rows=20_000, one_fold=many)


def logistic(X, y):
    grid = {"logisticregression__C": [10.0**k for k in range(-2, 5)]}
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return Tuned(model, grid, most_rows=20_000)


def explainable(X, y):
    from interpret.glassbox import ExplainableBoostingClassifier  # nobody needs it for the others

    # Its defaults, on one core; it has interactions of two columns for two classes only.
    model = ExplainableBoostingClassifier(outer_bags=8, n_jobs=1, random_state=0)
    return model.set_params(interactions=0) if len(np.unique(y)) > 2 else model


METHODS = {
    "ours": lambda X, y: VanishingClassifier(),
    "ours, tuned": lambda X, y: VanishingClassifierCV(),
    "SVC": svc,
    "boosting": boosting,
    "logistic": logistic,
    "EBM": explainable,
}
OPTIONAL = ("EBM",)  # run where they are asked for by name


# ------------------------------------------------------------------------------------------- runs


def probabilities(model, X, y, X_test):
    """Return probabilities of the classes, or None."""
    if isinstance(model, Tuned):
        return model.probabilities(X, y, X_test)
    return model.predict_proba(X_test) if hasattr(model, "predict_proba") else None


def one_run(name, X, y, split, method):
    """Fit to one training set and judge on the other rows."""
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=TRAINING, stratify=y, random_state=split
    )
    model = METHODS[method](X_train, y_train)
    start = time.process_time()
    model.fit(X_train, y_train)
    fitted = time.process_time()
    predicted = model.predict(X_test)
    done = time.process_time()
    shares = probabilities(model, X_train, y_train, X_test)
    losses = (np.nan, np.nan)
    if shares is not None:
        known = {"labels": model.classes_}
        losses = (log_loss(y_test, shares, **known), brier_score_loss(y_test, shares, **known))
    error = 100 * np.mean(predicted != y_test)
    chosen = getattr(model, "best_params_", {})
    said = " ".join(f"{key.rpartition('__')[2]}={short(value)}" for key, value in chosen.items())
    size = (*X.shape, len(np.unique(y)))
    numbers = getattr(model, "complexity_", np.nan)
    times = (fitted - start, done - fitted)
    return Result(name, split, method, *size, error, *losses, *times, said, numbers)


def short(value):
    """Return a parameter as text."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def warm_up():
    """Compile what Numba compiles, which no method is charged for."""
    X, y = SETS["circles"]()
    for model in (VanishingClassifier(), VanishingClassifierCV()):
        model.fit(X[:100], y[:100])


def run(sets, methods, splits, out):
    """Run what is not in ``out`` yet, append it there, and return all results."""
    results = read(out) if out and out.exists() else []
    done = {(r.set, r.split, r.method) for r in results}
    if any(method.startswith("ours") for method in methods):
        warm_up()
    for name, maker in sets.items():
        X, y = maker()
        for split in range(min(splits, SPLITS.get(name, splits))):
            for method in methods:
                if (name, split, method) in done or (name, method) in TOO_LARGE:
                    continue
                results.append(one_run(name, X, y, split, method))
                append(results[-1], out)
    return results


def append(result, out):
    """Print a result, and write it down where there is a file."""
    print(
        f"{result.set:<14}{result.split:>3}  {result.method:<12}{result.error:>8.3f} %"
        f"{result.fit_s:>9.2f} s  {result.chosen}",
        flush=True,
    )
    if out:
        new = not out.exists()
        with open(out, "a", newline="") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(Result._fields)
            writer.writerow([f"{v:.6g}" if isinstance(v, float) else v for v in result])


def read(path):
    """Return the results of a file."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = Result.__annotations__
    known = [name for name in kinds if name in rows[0]] if rows else []
    return [Result(**{name: kinds[name](row[name]) for name in known}) for row in rows]


# ----------------------------------------------------------------------------------------- tables


class Outcome(NamedTuple):
    """One set: for each method that was run, the results of the splits that all of them have."""

    name: str
    results: dict[str, list[Result]]

    def mean(self, method, field):
        return np.mean([getattr(result, field) for result in self.results[method]])

    def error(self, method):
        """Return the mean error and its standard error as text."""
        errors = [result.error for result in self.results[method]]
        if len(errors) < 2:
            return f"{errors[0]:.2f}"
        return f"{np.mean(errors):.2f} ± {np.std(errors, ddof=1) / np.sqrt(len(errors)):.2f}"


def outcomes(results):
    """Return an `Outcome` for each set; of two results for the same run the later one counts."""
    found = {}
    for result in results:
        runs = found.setdefault(result.set, {}).setdefault(result.method, {})
        runs[result.split] = result
    order = [*SETS, *SET_ASIDE, *APART, *REAL, *STRANGERS, *NEWCOMERS]
    for name in sorted(found, key=order.index):
        methods = found[name]
        common = sorted(set.intersection(*(set(runs) for runs in methods.values())))
        if common:
            shared = {m: [methods[m][s] for s in common] for m in METHODS if m in methods}
            yield Outcome(name, shared)


def print_table(head, rows):
    """Print a table in Markdown."""
    print()
    for row in (head, ["---", *["--:"] * (len(head) - 1)], *rows):
        print("| " + " | ".join(str(value) for value in row) + " |")


def print_sets(sets, methods):
    """Print a table of each measure, one line per set."""
    rows = []
    for one in sets:
        size = next(iter(one.results.values()))
        said = f"{size[0].rows:,} x {size[0].columns}, {size[0].classes}"
        texts = [one.error(m) if m in one.results else "-" for m in methods]
        rows.append([one.name, said, len(size), *texts])
    print_table(["error %", "rows x columns, classes", "splits", *methods], rows)
    for field, title, digits in (
        ("fit_s", "fit, processor s", 2),
        ("log_loss", "log-loss", 3),
        ("brier", "Brier score", 4),
        ("complexity", "numbers that decide", 0),
    ):
        rows = []
        for one in sets:
            values = [one.mean(m, field) if m in one.results else np.nan for m in methods]
            texts = ["-" if np.isnan(v) else f"{v:.{digits}f}" for v in values]
            if set(texts) != {"-"}:
                rows.append([one.name, *texts])
        if rows:
            print_table([title, *methods], rows)


def print_summary(sets, methods):
    """Print mean ranks, and on how many sets a method is close to the best."""
    ranks = {method: [] for method in methods}
    behind = {method: [] for method in methods}
    for one in sets:
        errors = [one.mean(method, "error") for method in one.results]
        for method, error, rank in zip(one.results, errors, rankdata(errors), strict=True):
            ranks[method].append(rank)
            behind[method].append(error - min(errors))
    rows = []
    for method in methods:
        away = np.array(behind[method])
        close = [f"{np.sum(away <= p)} of {len(away)}" for p in POINTS]
        rows.append([method, f"{np.mean(ranks[method]):.2f}", *close, f"{away.max():.2f}"])
    head = ["method", "mean rank", *(f"within {p:g} of the best" for p in POINTS)]
    print_table([*head, "furthest behind"], rows)


def chosen(parser, names, known):
    """Return the entries of ``known`` that were asked for: all where none were."""
    unknown = [name for name in names or () if name not in known]
    if unknown:
        parser.error(f"{unknown[0]!r} is none of {', '.join(known)}")
    return {name: known[name] for name in known if not names or name in names}


def main():
    known = [*SETS, *SET_ASIDE, *APART, *REAL, *STRANGERS, *NEWCOMERS]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", metavar="SET", help=", ".join(known))
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help=", ".join(METHODS))
    parser.add_argument("--splits", type=int, default=10)
    others = parser.add_mutually_exclusive_group()
    others.add_argument("--set-aside", action="store_true", help="data that no one tunes to")
    others.add_argument("--apart", action="store_true", help="ten more sets, which were run once")
    others.add_argument("--real", action="store_true", help="ten real tables in view")
    others.add_argument("--strangers", action="store_true", help="ten real tables kept apart")
    others.add_argument("--newcomers", action="store_true", help="ten more, kept apart until later")
    parser.add_argument("--out", type=Path, help="append results to this file, and resume from it")
    parser.add_argument("--from", nargs="+", type=Path, dest="record", help="print, run nothing")
    options = parser.parse_args()
    asked = {
        "set_aside": SET_ASIDE,
        "apart": APART,
        "real": REAL,
        "strangers": STRANGERS,
        "newcomers": NEWCOMERS,
    }
    among = next((among for name, among in asked.items() if getattr(options, name)), SETS)
    sets = chosen(parser, options.sets, among)
    methods = chosen(parser, options.methods, METHODS)
    if not options.methods and not options.record:
        methods = {name: make for name, make in methods.items() if name not in OPTIONAL}
    warnings.simplefilter("ignore")  # of what does not converge
    if options.record:
        results = [result for path in options.record for result in read(path)]
    else:
        with threadpool_limits(1):
            results = run(sets, methods, options.splits, options.out)
    results = [r for r in results if r.set in sets and r.method in methods]
    found = list(outcomes(results))
    present = [m for m in methods if any(m in one.results for one in found)]
    print_sets(found, present)
    print_summary(found, present)


if __name__ == "__main__":
    main()
