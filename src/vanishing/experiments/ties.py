"""What rounding decides in a run: the same problem again, where exact arithmetic changes nothing.

Sums over rows are rounded in the order of the rows. And VCA's generators that vanish on all rows of
a class, of one degree, are one of many orthonormal bases of a space: eigenvalues of zero are equal.
"""

import warnings
from collections.abc import Iterator

import numpy as np

from vanishing.experiments.published_runs import PublishedRun
from vanishing.experiments.records import DIFFERENT, IDENTICAL, TIES
from vanishing.experiments.replay import (
    differences,
    figures_of,
    linear_svm,
    published_split,
    scaled,
    transformer_of,
)
from vanishing.experiments.settings import NULL, TIE_BASES, TIE_ORDERS


def is_tie(run: PublishedRun, figures: dict, X, y) -> bool:
    """Say whether a run whose figures are not the recorded ones gives these after rounding anew."""
    random = np.random.default_rng(0)
    n_train = len(published_split(len(X), run)[0])
    for _ in range(TIE_ORDERS):
        if not differences(run, figures_of(run, X, y, random.permutation(n_train))):
            return True
    if run.algorithm != "vca" or differences(run, figures) != ["error"]:
        return False
    errors = errors_by_basis(run, X, y, random)
    return any(not differences(run, {"error": error}) for error in errors)


def errors_by_basis(run: PublishedRun, X, y, random) -> Iterator[float]:
    """Yield errors of VCA with other bases of what vanishes on all rows of a class."""
    train, test = published_split(len(X), run)
    rows = np.vstack(scaled(X, train, test))
    is_train = np.arange(len(rows)) < len(train)
    labels = np.concatenate([y[train], y[test]])
    spaces, values = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for label in np.unique(y):
            signed = transformer_of(run, run.psi).set_params(absolute=False)
            signed.fit(rows[is_train & (labels == label)])
            start = sum(part.shape[1] for part in values)
            degrees, is_null = signed.generators_.degrees, signed.mse_ < NULL
            spaces += [start + np.flatnonzero(is_null & (degrees == d)) for d in set(degrees)]
            values.append(signed.transform(rows))
        generators = np.hstack(values)
        for _ in range(TIE_BASES):
            for space in spaces:
                turn = np.linalg.qr(random.normal(size=(len(space), len(space))))[0]
                generators[:, space] = generators[:, space] @ turn
            features = np.abs(generators)
            model = linear_svm(run.C).fit(features[is_train], y[train])
            yield float(np.mean(model.predict(features[~is_train]) != y[test]))


def replay(run: PublishedRun, X, y) -> dict:
    """Make a run again and compare with the record.

    Returns
    -------
    outcome : dict
        The figures, and "verdict": identical, up to ties (see `is_tie`), or different.
    """
    figures = figures_of(run, X, y)
    if not differences(run, figures):
        return {**figures, "verdict": IDENTICAL}
    return {**figures, "verdict": TIES if is_tie(run, figures, X, y) else DIFFERENT}
