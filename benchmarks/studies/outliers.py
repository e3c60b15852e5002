"""Outliers: `VanishingOutlierDetector` beside other detectors, on tables and on a simulated pump.

``sets``: area under the ROC curve on every table of a folder (CSV, the last column 0 or 1), in two
protocols. *Unsupervised*: fitted to all rows and asked about them. *Novelty*: fitted to half of the
normal rows, asked about all others, several splits. All detectors have their defaults; those that
depend on units see standardised columns. ``alarms``: share of fresh normal rows that detectors call
outliers when a rate is asked for: on the tables of the folder, on made tables of many kinds, and on
a pump some of whose rows are wrong (twice as many seeds as splits). ``problems``, if asked for:
twice thirty one-class problems that were set aside. ``pump``: columns q, w, q*w, q^2, one of them
off by 5 %, and which columns are blamed. ``line``: the ends of y = x. ``plant``, if asked for:
faults of a plant (`outlier_plant`). ``settings``, if asked for: what half and twice each number of
`vanishing.outliers.settings` changes (take ``--splits 2``).

    python benchmarks/studies/outliers.py [sets] [alarms] [problems] [pump] [line] [--splits 10]
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
from outlier_fresh_problems import fresh_problems
from outlier_plant import plant
from outlier_problems import novelty, problems, unsupervised
from outlier_tables import normal_rows, normal_tables, wrong_pump
from sklearn.base import BaseEstimator
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from vanishing import VanishingOutlierDetector
from vanishing.outliers import settings

OURS = "vanishing"
LEAST_ROWS = 500  # of a table that false alarms are counted on


class Neighbours(BaseEstimator):
    """Distance to the fifth neighbour; a row is no neighbour of itself."""

    def __init__(self, rate=0.1):
        self.rate = rate

    def fit(self, X, y=None):
        self.index_ = NearestNeighbors(n_neighbors=5).fit(X)
        self.own_ = -self.index_.kneighbors()[0][:, -1]
        self.offset_ = np.quantile(self.own_, self.rate)
        return self

    def score_samples(self, X):
        return -self.index_.kneighbors(X)[0][:, -1]

    def predict(self, X):
        return np.where(self.score_samples(X) < self.offset_, -1, 1)


class PyOD:
    """A detector of PyOD, whose scores are larger for outliers."""

    def __init__(self, kind, rate):
        self.model = kind(contamination=rate)

    def fit(self, X):
        self.model.fit(X)
        return self

    def score_samples(self, X):
        return -self.model.decision_function(X)

    def predict(self, X):
        return np.where(self.model.predict(X) == 1, -1, 1)


def detectors(rate=None):
    """Return makers of detectors by name; with ``rate`` they are told how many alarms to raise."""
    share = {} if rate is None else {"contamination": rate}
    wanted = 0.1 if rate is None else rate

    def ours():
        told = {} if rate is None else {"false_alarm_rate": rate}
        return VanishingOutlierDetector(random_state=0, **told)

    def scaled(maker):
        return lambda: make_pipeline(StandardScaler(), maker())

    found = {
        OURS: ours,
        "IsolationForest": lambda: IsolationForest(random_state=0, **share),
        "LOF": scaled(lambda: LocalOutlierFactor(novelty=True, **share)),
        "OneClassSVM": scaled(lambda: OneClassSVM(**({} if rate is None else {"nu": rate}))),
        "EllipticEnvelope": lambda: EllipticEnvelope(random_state=0, **share),
        "neighbours, k = 5": scaled(lambda: Neighbours(wanted)),
    }
    try:
        from pyod.models.copod import COPOD
        from pyod.models.ecod import ECOD
    except ImportError:
        return found
    return found | {"ECOD": lambda: PyOD(ECOD, wanted), "COPOD": lambda: PyOD(COPOD, wanted)}


def tables(folder):
    """Yield (name, rows, labels) of the CSV files of a folder."""
    for path in sorted(Path(folder).glob("*.csv*")):
        values = np.loadtxt(path, delimiter=",", skiprows=1)
        yield path.name.partition(".")[0], values[:, :-1], values[:, -1].astype(int)


def scores_of(model, X, training):
    """Return scores; of training rows as the detector has them for these."""
    last = model[-1] if hasattr(model, "steps") else model
    if training and isinstance(last, Neighbours):
        return last.own_
    if training and isinstance(last, LocalOutlierFactor):
        return last.negative_outlier_factor_
    return model.score_samples(X) if hasattr(model, "score_samples") else model.decision_function(X)


def halves(labels, seed):
    """Return half of the normal rows, and all others."""
    normal = np.flatnonzero(labels == 0)
    np.random.default_rng(seed).shuffle(normal)
    train = np.sort(normal[: len(normal) // 2])
    return train, np.setdiff1d(np.arange(len(labels)), train)


def print_table(head, rows):
    """Print a table in Markdown."""
    print("\n| " + " | ".join(head) + " |\n| " + " | ".join("---" for _ in head) + " |")
    for row in rows:
        print("| " + " | ".join(str(value) for value in row) + " |")


def sets(folder, splits):
    makers = detectors()
    names, areas, seconds = [], [], dict.fromkeys(makers, 0.0)
    for name, X, y in tables(folder):
        names.append(name)
        unsupervised, novelty = [], []
        for label, maker in makers.items():
            start = time.process_time()
            model = maker().fit(X)
            found = scores_of(model, X, training=True)
            seconds[label] += time.process_time() - start
            unsupervised.append(roc_auc_score(y, -found))
            split = []
            for seed in range(splits):
                train, test = halves(y, seed)
                found = scores_of(maker().fit(X[train]), X[test], training=False)
                split.append(roc_auc_score(y[test], -found))
            novelty.append(np.mean(split))
        areas.append([unsupervised, novelty])
    areas = np.array(areas)  # table, protocol, detector
    for p, protocol in enumerate(("unsupervised", "novelty")):
        rows = [[n, *(f"{v:.3f}" for v in areas[i, p])] for i, n in enumerate(names)]
        print_table([protocol, *makers], rows)
    ranks = (-areas).argsort(axis=2).argsort(axis=2) + 1
    rows = []
    for k, label in enumerate(makers):
        mean, worst, rank = areas.mean(axis=0), areas.min(axis=0), ranks.mean(axis=0)
        rows.append([label])
        for p in range(2):
            rows[-1] += [f"{mean[p, k]:.3f}", f"{rank[p, k]:.1f}", f"{worst[p, k]:.3f}"]
        rows[-1].append(f"{seconds[label]:.1f}")
    head = ["detector"]
    head += [f"{p}: {w}" for p in ("unsupervised", "novelty") for w in ("mean", "rank", "worst")]
    print_table([*head, "seconds"], rows)


def alarms(folder, splits):
    rows = []
    for rate in (0.05, 0.01):
        found = {name: [] for name in detectors(rate)}
        for _, X, y in tables(folder):
            if len(X) < LEAST_ROWS:
                continue
            for label, maker in detectors(rate).items():
                shares = []
                for seed in range(splits):
                    train, test = halves(y, seed)
                    fresh = X[test[y[test] == 0]]
                    shares.append(np.mean(maker().fit(X[train]).predict(fresh) == -1))
                found[label].append(np.mean(shares))
        said = [f"{np.mean(v):.4f} ({min(v):.3f}-{max(v):.3f})" for v in found.values()]
        rows.append([rate, *said])
    print_table(["nominal", *detectors(0.01)], rows)


def made_alarms(seeds):
    """Print false alarms at 1 % on made tables: means and the worst fit of some seeds."""
    rows = []
    for kind in normal_tables():
        shares, errors = [], []
        for seed in range(seeds):
            train, fresh = normal_rows(kind, seed)
            model = VanishingOutlierDetector().fit(train)
            shares.append(np.mean(model.predict(fresh) == -1))
            errors.append(model.offset_std_)
        said = f"{max(shares):.4f} (seed {np.argmax(shares)})"
        rows.append([*kind[:2], f"{np.mean(shares):.4f}", said, f"{np.mean(errors):.2f}"])
    print_table(["normal rows", "rows", "false alarms at 0.01", "worst fit", "offset_std_"], rows)
    rows = []
    for share in (0.0, 0.005, 0.02, 0.05, 0.1, 0.2):
        found = np.array([_wrong_pump(seed, share) for seed in range(seeds)])
        mean, worst = np.nanmean(found, axis=0), np.nanmin(found[:, 0], initial=1.0)
        rows.append([share, f"{mean[0]:.3f}", f"{worst:.3f}", f"{mean[1]:.4f}"])
        rows[-1] += [f"{found[:, 1].max():.4f}", f"{mean[2]:.3f}", f"{mean[3]:.3f}"]
    head = ["pump: wrong rows", "recall", "worst", "false alarms, fresh", "worst"]
    print_table([*head, "broken law, by explain", "contamination_"], rows)


def _wrong_pump(seed, share):
    """Return recall, false alarms, the share of wrong rows explained so, and the estimate."""
    X, column, fresh = wrong_pump(seed, share)
    model = VanishingOutlierDetector().fit(X)
    wrong = column >= 0
    alarms = np.mean(model.predict(fresh) == -1)
    if not wrong.any():
        return np.nan, alarms, np.nan, model.contamination_
    kinds = [reasons[0]["kind"] == "broken law" for reasons in model.explain(X[wrong])]
    recall = np.mean(model.predict(X[wrong]) == -1)
    return recall, alarms, np.mean(kinds), model.contamination_


def run_problems(seeds):
    """Print areas on the problems that were set aside: thirty, and thirty of another make."""
    makers = {
        name: maker
        for name, maker in detectors().items()
        if name in (OURS, "IsolationForest", "neighbours, k = 5")
    }
    for of in (problems, fresh_problems):
        rows = []
        for name, normal, odd in of():
            areas = np.zeros((2, len(makers)))
            for seed in range(seeds):
                X, y = unsupervised(normal, odd, seed)
                train, rest, labels = novelty(normal, odd, seed)
                for i, maker in enumerate(makers.values()):
                    scores = scores_of(maker().fit(X), X, training=True)
                    areas[0, i] += roc_auc_score(y, -scores) / seeds
                    scores = scores_of(maker().fit(train), rest, training=False)
                    areas[1, i] += roc_auc_score(labels, -scores) / seeds
            rows.append([name, *areas.ravel()])
        rows.append(["mean", *np.mean([row[1:] for row in rows], axis=0)])
        rows = [[name, *(f"{v:.3f}" for v in values)] for name, *values in rows]
        print_table(
            ["problem", *(f"{m}: {n}" for m in ("all rows", "novelty") for n in makers)], rows
        )


def pump(seed, n_rows=2000, share=0.05):
    """Return rows of a pump, labels, and the column that is off by 5 % in each faulty row."""
    random = np.random.default_rng(seed)
    q, w = random.uniform(0.5, 1.5, (2, n_rows))
    X = np.column_stack([q, w, q * w, q**2]) * (1 + 0.005 * random.normal(size=(n_rows, 4)))
    bad = random.choice(n_rows, int(share * n_rows), replace=False)
    column = np.full(n_rows, -1)
    column[bad] = random.integers(4, size=len(bad))
    X[bad, column[bad]] *= 1 + 0.05 * random.choice([-1, 1], size=len(bad))
    return X, (column >= 0).astype(int), column


def run_pump(seeds):
    areas = {name: [] for name in detectors()}
    for seed in range(seeds):
        X, y, _ = pump(seed)
        for label, maker in detectors().items():
            model = maker().fit(X)
            areas[label].append(roc_auc_score(y, -scores_of(model, X, training=True)))
    rows = [[n, f"{np.mean(v):.3f}", f"{min(v):.3f}"] for n, v in areas.items()]
    print_table(["pump", "mean area", "worst"], rows)
    rows = []
    for told in ({}, {"contamination": 0.05}):
        hits, names, right, wrong = [], [], 0, 0
        for seed in range(seeds):
            X, _, column = pump(seed)
            model = VanishingOutlierDetector(random_state=0, **told).fit(X)
            found = np.flatnonzero(model.predict(X) == -1)
            faulty = found[column[found] >= 0]
            right, wrong = right + len(faulty), wrong + len(found) - len(faulty)
            for i, reasons in zip(faulty, model.explain(X[faulty]), strict=True):
                names.append(len(reasons[0]["columns"]))
                hits.append(f"x{column[i]}" in reasons[0]["columns"])
        said = f"{right / seeds:.0f} + {wrong / seeds:.0f} wrong"
        rows.append([told or "default", said, f"{np.mean(hits):.3f}", f"{np.mean(names):.2f}"])
        rows[-1].append(max(names))
    head = ["pump", "alarms per seed", "faulty column is named", "columns named", "at most"]
    print_table(head, rows)


def line(seeds):
    rows = []
    for label in (OURS, "IsolationForest"):
        for rate in (0.05, 0.01):
            shares = []
            for seed in range(2 * seeds):
                random = np.random.default_rng(seed)
                x = np.sort(random.uniform(size=1000))
                X = np.column_stack([x, x + 0.01 * random.normal(size=1000)])
                ends = np.r_[X[:10], X[-10:]]
                shares.append(np.mean(detectors(rate)[label]().fit(X).predict(ends) == -1))
            rows.append([label, rate, f"{np.mean(shares):.3f}"])
    print_table(["y = x", "nominal", "of the ten rows at each end flagged"], rows)


def run_settings(folder, splits):
    """Print what half and twice each number of the detector changes in the mean areas."""
    kinds = ((X, y) for _, X, y in tables(folder))
    kinds = [*kinds, *(pump(seed)[:2] for seed in range(3))]

    def areas():
        means = [[], [], []]
        for k, (X, y) in enumerate(kinds):
            found = VanishingOutlierDetector(random_state=0).fit(X).score_samples(X)
            means[2 if k >= len(kinds) - 3 else 0].append(roc_auc_score(y, -found))
            for seed in range(splits if k < len(kinds) - 3 else 0):
                train, test = halves(y, seed)
                model = VanishingOutlierDetector(random_state=0).fit(X[train])
                means[1].append(roc_auc_score(y[test], -model.score_samples(X[test])))
        return np.array([np.mean(values) for values in means])

    usual, rows = areas(), []
    for name, value in list(vars(settings).items()):
        if not name.isupper():
            continue
        rows.append([name, value])
        for factor in (0.5, 2.0):
            is_pair = isinstance(value, tuple)
            changed = tuple(v * factor for v in value) if is_pair else type(value)(value * factor)
            setattr(settings, name, changed)
            try:
                rows[-1] += [f"{change:+.3f}" for change in areas() - usual]
            except Exception as problem:  # a number that breaks the fit is an answer, too
                rows[-1] += [type(problem).__name__] * 3
            setattr(settings, name, value)
    head = [f"{n}: {p}" for n in ("half", "double") for p in ("unsupervised", "novelty", "pump")]
    print_table(["number", "value", *head], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    usual = ("sets", "alarms", "pump", "line")
    known = (*usual, "problems", "plant", "settings")
    parser.add_argument("what", nargs="*", default=usual, metavar="WHAT", help=", ".join(known))
    parser.add_argument("--folder", help="tables; default: outliers/ in the folder VANISHING_DATA")
    parser.add_argument("--splits", type=int, default=10)
    options = parser.parse_args()
    unknown = sorted(set(options.what) - set(known))
    if unknown:
        parser.error(f"{unknown[0]!r} is none of {', '.join(known)}")
    folder = options.folder or Path(os.environ.get("VANISHING_DATA", "")) / "outliers"
    if {"sets", "alarms", "settings"} & set(options.what) and not any(Path(folder).glob("*.csv*")):
        parser.error(f"there are no tables in {folder}: give --folder")
    warnings.simplefilter("ignore")  # of detectors that do not converge
    if "sets" in options.what:
        sets(folder, options.splits)
    if "alarms" in options.what:
        made_alarms(2 * options.splits)
        alarms(folder, options.splits)
    if "problems" in options.what:
        run_problems(max(options.splits // 2, 1))
    if "pump" in options.what:
        run_pump(options.splits)
    if "line" in options.what:
        line(options.splits)
    if "plant" in options.what:
        plant(options.splits, print_table)
    if "settings" in options.what:
        run_settings(folder, options.splits)


if __name__ == "__main__":
    main()
