"""Faults of a simulated plant: what is detected and which sensor is blamed, beside other methods.

All methods learn from the normal rows before the first fault, and raise alarms on 1 % of normal
rows: ours by its own threshold, others by the quantile of held-out fifths of these rows. *Followed*
judges batches of 50 rows as they come, and learns from each, faults and all, afterwards. A fault
is detected where at least five of its rows are alarms. Blame is that of the whole fault: ours that
of its gravest event, others by contributions to their distance, summed over the alarms. A leak has
no wrong sensor: right are those of the balance that it breaks.

    python benchmarks/studies/outliers.py plant [--splits 10]
"""

import numpy as np
from sklearn.covariance import MinCovDet
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest

from vanishing import VanishingOutlierDetector
from vanishing.datasets import make_plant

RATE = 0.01
BATCH = 50  # rows that a detector that follows the plant judges before it learns from them
LEAST_ALARMS = 5  # of the rows of a fault
HELD_OUT = 1000  # first seed of the runs that nothing was chosen on


class Distances:
    """A method with a score per row and contributions of columns, in standard units."""

    def fit(self, X):
        self.mean_, self.scale_ = X.mean(axis=0), X.std(axis=0)
        self.learn(self.standard(X))
        return self

    def standard(self, X):
        return (X - self.mean_) / self.scale_


class PrincipalComponents(Distances):
    """T2 within the components of 95 % of the variance, and Q, the squared distance from them."""

    def learn(self, Z):
        self.pca_ = PCA(0.95, svd_solver="full").fit(Z)
        self.limits_ = np.ones(2)
        self.limits_ = np.quantile(self.both(Z), 1 - RATE / 2, axis=0)

    def both(self, Z):
        scores = self.pca_.transform(Z)
        t2 = np.sum(scores**2 / self.pca_.explained_variance_, axis=1)
        q = np.sum((Z - self.pca_.inverse_transform(scores)) ** 2, axis=1)
        return np.column_stack([t2, q]) / self.limits_

    def scores(self, X):
        return -self.both(self.standard(X)).max(axis=1)

    def contributions(self, X):
        Z = self.standard(X)
        scores = self.pca_.transform(Z)
        parts = (scores / self.pca_.explained_variance_) @ self.pca_.components_ * Z
        rest = (Z - self.pca_.inverse_transform(scores)) ** 2
        return np.abs(parts) / self.limits_[0] + rest / self.limits_[1]


class RobustCovariance(Distances):
    """Mahalanobis distance by the minimum covariance determinant."""

    def learn(self, Z):
        self.model_ = MinCovDet(random_state=0, support_fraction=0.9).fit(Z)

    def scores(self, X):
        return -self.model_.mahalanobis(self.standard(X))

    def contributions(self, X):
        # What the distance loses if a column takes the value that the others give it.
        off = (self.standard(X) - self.model_.location_) @ self.model_.precision_
        return off**2 / self.model_.precision_.diagonal()


class Forest(Distances):
    """Isolation forest; it names no column, so that the one farthest out is taken."""

    def learn(self, Z):
        self.model_ = IsolationForest(random_state=0).fit(Z)

    def scores(self, X):
        return self.model_.score_samples(self.standard(X))

    def contributions(self, X):
        return np.abs(self.standard(X))


def threshold(maker, X):
    """Return the quantile of scores that rows have by fits to the other fifths of the time."""
    scores = []
    for part in np.array_split(np.arange(len(X)), 5):
        rest = np.setdiff1d(np.arange(len(X)), part)
        scores.append(maker().fit(X[rest]).scores(X[part]))
    return np.quantile(np.concatenate(scores), RATE)


def judged(run, alarms, blamed):
    """Return one line per fault: kind, detected, share of its rows, whether blame is right."""
    lines = []
    for fault in run.faults:
        rows = slice(fault.start, fault.end + 1)
        detected = np.count_nonzero(alarms[rows]) >= LEAST_ALARMS
        named = blamed(fault) if detected else None
        right = named in fault.columns if named is not None else None
        lines.append((fault.kind, detected, float(np.mean(alarms[rows])), right))
    return lines


def normal_after(run, first):
    """Return which rows after the training rows are normal; some rows after faults are not."""
    normal = np.arange(len(run.X)) >= first
    for fault in run.faults:
        normal[fault.start : fault.end + 60] = False
    return normal


def ours(run, first, lags):
    """Return the lines of our detector, and its false alarms."""
    model = VanishingOutlierDetector(lags=lags, false_alarm_rate=RATE, random_state=0)
    model.fit(run.X[:first])
    alarms = model.predict(run.X) == -1
    events = model.events(run.X)
    for event in events:
        if event.kind == "stuck value":
            alarms[event.start : event.end + 1] = True

    def blamed(fault):
        own = [e for e in events if e.start <= fault.end and e.end >= fault.start]
        if not own:
            return None
        return run.columns[int(own[0].columns[0].removeprefix("x"))]

    return judged(run, alarms, blamed), float(np.mean(alarms[normal_after(run, first)]))


def followed(run, first, half_life):
    """Return the lines of our detector that goes on learning, and its false alarms."""
    model = VanishingOutlierDetector(half_life=half_life, false_alarm_rate=RATE, random_state=0)
    model.fit(run.X[:first])
    alarms, gravest = np.zeros(len(run.X), dtype=bool), {}
    for start in range(first, len(run.X), BATCH):
        rows = run.X[start : start + BATCH]
        alarms[start : start + BATCH] = model.predict(rows) == -1
        events = model.events(rows)
        for event in events:
            if event.kind == "stuck value":
                alarms[start + event.start : start + event.end + 1] = True
        if events:
            gravest[start] = events[0]
        model.partial_fit(rows)

    def blamed(fault):
        own = [e for s, e in gravest.items() if fault.start < s + BATCH and s <= fault.end]
        if not own:
            return None
        return run.columns[int(max(own, key=lambda e: e.severity).columns[0].removeprefix("x"))]

    return judged(run, alarms, blamed), float(np.mean(alarms[normal_after(run, first)]))


def others(run, first, maker):
    """Return the lines of another method, and its false alarms."""
    limit = threshold(maker, run.X[:first])
    model = maker().fit(run.X[:first])
    alarms = model.scores(run.X) < limit

    def blamed(fault):
        rows = np.flatnonzero(alarms[fault.start : fault.end + 1]) + fault.start
        return run.columns[int(model.contributions(run.X[rows]).sum(axis=0).argmax())]

    return judged(run, alarms, blamed), float(np.mean(alarms[normal_after(run, first)]))


METHODS = {
    "vanishing": lambda run, first: ours(run, first, 0),
    "vanishing, lags=1": lambda run, first: ours(run, first, 1),
    "vanishing, followed, half_life=500": lambda run, first: followed(run, first, 500),
    "PCA T2/Q": lambda run, first: others(run, first, PrincipalComponents),
    "MCD": lambda run, first: others(run, first, RobustCovariance),
    "IsolationForest": lambda run, first: others(run, first, Forest),
}


def plant(n_runs, print_table, *, seed=HELD_OUT):
    """Print what is detected and blamed in some runs, by kind of fault."""
    found = {name: [] for name in METHODS}
    false = {name: [] for name in METHODS}
    for run_seed in range(seed, seed + n_runs):
        run = make_plant(6000, normal_rows=3000, random_state=run_seed)
        for name, method in METHODS.items():
            lines, rate = method(run, 3000)
            found[name] += lines
            false[name].append(rate)
    kinds = list(dict.fromkeys(kind for kind, *_ in found["vanishing"]))
    rows = []
    for name, lines in found.items():
        cells = []
        for kind in kinds:
            own = [line for line in lines if line[0] == kind]
            blame = [line[3] for line in own if line[3] is not None]
            share = f"{np.mean(blame):.2f}" if blame else "-"
            detected = f"{np.mean([line[1] for line in own]):.2f}"
            cells.append(f"{detected} / {np.mean([line[2] for line in own]):.2f} / {share}")
        right = [line[3] for line in lines if line[3] is not None]
        cells.append(f"{np.mean([line[1] for line in lines]):.2f} / {np.mean(right):.2f}")
        rows.append([name, *cells, f"{np.mean(false[name]):.3f}"])
    head = [f"{kind}: detected / rows / blame" for kind in kinds]
    print_table(["plant", *head, "all: detected / blame", "false alarms"], rows)
