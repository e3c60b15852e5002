"""Log-loss and Brier score of our probabilities beside CalibratedClassifierCV's.

All methods are fitted to the same three fifths of the rows and judged on the others. Isotonic
regression gives probabilities of 0 to what happens: scikit-learn cuts them at 2e-16, and its
log-loss is that of the cut.

    VANISHING_DATA=... python benchmarks/studies/probabilities.py [--tuned] [--splits 5] [names ...]
"""

import argparse
import warnings

import numpy as np
from sklearn import datasets as toys
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from vanishing import VanishingClassifier, VanishingClassifierCV, datasets

SETS = {
    "iris": lambda: toys.load_iris(return_X_y=True),
    "wine": lambda: toys.load_wine(return_X_y=True),
    "breast cancer": lambda: toys.load_breast_cancer(return_X_y=True),
    "digits": lambda: toys.load_digits(return_X_y=True),
    "bank": lambda: datasets.load("bank", return_X_y=True),
    "seeds": lambda: datasets.load("seeds", return_X_y=True),
    "htru": lambda: datasets.load("htru", return_X_y=True),
    "circles": lambda: toys.make_circles(1000, noise=0.08, factor=0.5, random_state=0),
    "moons": lambda: toys.make_moons(1000, noise=0.2, random_state=0),
}
METHODS = ("ours", "sigmoid", "isotonic")


def scores(y, chances):
    """Return the log-loss and the Brier score."""
    hit = y[:, np.newaxis] == np.arange(chances.shape[1])
    return log_loss(y, chances), ((chances - hit) ** 2).sum(axis=1).mean()


def judge(X, y, seed, tuned):
    """Return log-loss and Brier score of each method on one split, and the error."""
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.4, stratify=y, random_state=seed
    )
    model = VanishingClassifier()
    ours = model.fit(X_train, y_train)
    if tuned:
        ours = VanishingClassifierCV().fit(X_train, y_train)
        model = clone(ours.classifier_)
    found = [scores(y_test, ours.predict_proba(X_test))]
    for method in METHODS[1:]:
        other = CalibratedClassifierCV(model, method=method, cv=3).fit(X_train, y_train)
        found.append(scores(y_test, other.predict_proba(X_test)))
    return np.mean(ours.predict(X_test) != y_test), np.array(found)


def main():
    """Print a line for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(SETS))
    parser.add_argument("--tuned", action="store_true", help="psi and C by VanishingClassifierCV")
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| | error, % | log-loss: "
        + " | ".join(METHODS)
        + " | Brier: "
        + " | ".join(METHODS)
        + " |"
    )
    print("| --- " * (2 + 2 * len(METHODS)) + "|")
    for name in options.names:
        X, y = SETS[name]()
        y = np.unique(y, return_inverse=True)[1]
        runs = [judge(X, y, seed, options.tuned) for seed in range(options.splits)]
        error = 100 * np.mean([run[0] for run in runs])
        losses, briers = np.mean([run[1] for run in runs], axis=0).T
        cells = [name, f"{error:.1f}", *(f"{value:.3f}" for value in (*losses, *briers))]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
