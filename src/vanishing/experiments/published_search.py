"""psi and C chosen as in the published runs: by the mean accuracy on three contiguous folds.

Columns are scaled once, by all training rows, before these are split. The fold in the middle trains
on the rows before it only, as in the published runs. Of equal accuracies the first counts.
"""

import warnings
from collections import defaultdict

import numpy as np

from vanishing.experiments.published_runs import PublishedRun
from vanishing.experiments.records import DIFFERENT, IDENTICAL, TIES
from vanishing.experiments.replay import (
    kernel_svm,
    linear_svm,
    published_split,
    scaled,
    transformer_of,
)
from vanishing.experiments.settings import (
    ALWAYS_C_1,
    KERNEL_DEGREES,
    PUBLISHED_CS,
    PUBLISHED_PSIS,
)
from vanishing.learning.features import VanishingFeatures


def published_folds(n_rows: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return training and validation rows of the three folds."""
    first, middle, last = np.array_split(np.arange(n_rows), 3)
    return [
        (np.concatenate([middle, last]), first),
        (first, middle),
        (np.concatenate([first, middle]), last),
    ]


def scores_of(run: PublishedRun, X, y) -> dict[tuple[float, float], float]:
    """Return the mean accuracy by psi (or degree of the kernel) and C, in the published order."""
    train, test = published_split(len(X), run)
    rows, labels = scaled(X, train, test)[0], y[train]
    scores = defaultdict(list)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about parameters in the grid that do badly
        for fit, held_out in published_folds(len(train)):
            accuracies = _kernel_accuracies if run.algorithm == "svm" else _accuracies
            for parameters, score in accuracies(
                run, rows[fit], labels[fit], rows[held_out], labels[held_out]
            ):
                scores[parameters].append(score)
    # Twelve digits: equal accuracies are equal, whatever the order of their folds.
    return {parameters: round(float(np.mean(values)), 12) for parameters, values in scores.items()}


def _kernel_accuracies(run, X, y, X_held_out, y_held_out):
    for C in PUBLISHED_CS:
        for degree in KERNEL_DEGREES:
            model = kernel_svm(degree, C).fit(X, y)
            yield (degree, C), model.score(X_held_out, y_held_out)


def _accuracies(run, X, y, X_held_out, y_held_out):
    one_C = run.paper == "oavi" and run.algorithm in ALWAYS_C_1
    for psi in PUBLISHED_PSIS[run.paper]:
        features = VanishingFeatures(transformer_of(run, psi)).fit(X, y)
        Z, Z_held_out = features.transform(X), features.transform(X_held_out)
        for C in (1.0,) if one_C else PUBLISHED_CS:
            # Without generators there is nothing to learn from.
            score = linear_svm(C).fit(Z, y).score(Z_held_out, y_held_out) if Z.shape[1] else 0.0
            yield (psi, C), score


def search(run: PublishedRun, X, y) -> dict:
    """Choose psi and C of a run, and compare with the recorded ones.

    Returns
    -------
    outcome : dict
        The parameters, and "verdict": identical, up to ties (where the recorded ones have the same
        accuracy), or different.
    """
    scores = scores_of(run, X, y)
    best = max(scores, key=scores.__getitem__)
    name = "psi" if run.kernel_degree is None else "kernel_degree"
    recorded = run.recorded[name], run.C
    if best == recorded:
        verdict = IDENTICAL
    else:
        verdict = TIES if scores[recorded] == scores[best] else DIFFERENT
    return {name: best[0], "C": best[1], "verdict": verdict}
