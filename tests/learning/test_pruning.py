"""VanishingFeatures(max_generators=k): the generators that tell a class from others."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import minmax_scale

from vanishing import ABM, OAVI, VCA, ContrastiveVanishing, VanishingFeatures, load

X, Y = load_iris(return_X_y=True)
X = minmax_scale(X)
TRANSFORMERS = [OAVI(), ABM(), VCA(max_degree=2), ContrastiveVanishing()]


def ratios(transformer, label, weight=None):
    """Mean squares on the other classes relative to those on their own."""
    weight = np.ones(len(X)) if weight is None else weight
    values = transformer.generators_.evaluate(X) ** 2
    own = label == Y
    return np.average(values[~own], axis=0, weights=weight[~own]) / np.average(
        values[own], axis=0, weights=weight[own]
    )


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: type(t).__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_largest_ratios_are_kept(transformer, weighted):
    weight = np.random.default_rng(0).uniform(0.1, 2, len(X)) if weighted else None
    everything = VanishingFeatures(transformer).fit(X, Y, weight)
    pruned = VanishingFeatures(transformer, max_generators=2).fit(X, Y, weight)
    assert pruned.n_generators_ == sum(t.n_generators_ for t in pruned.transformers_) <= 6
    start = 0
    columns = []
    for label, (full, few) in enumerate(
        zip(everything.transformers_, pruned.transformers_, strict=True)
    ):
        best = np.sort(np.argsort(-ratios(full, label, weight), kind="stable")[:2])
        np.testing.assert_allclose(few.mse_, full.mse_[best], rtol=1e-12)
        columns += (start + best).tolist()
        start += full.n_generators_
    np.testing.assert_allclose(
        pruned.transform(X), everything.transform(X)[:, columns], rtol=1e-9, atol=1e-12
    )
    assert len(pruned.get_feature_names_out()) == pruned.n_generators_


def test_as_many_as_there_are_change_nothing():
    everything = VanishingFeatures().fit(X, Y)
    most = max(t.n_generators_ for t in everything.transformers_)
    same = VanishingFeatures(max_generators=most).fit(X, Y)
    np.testing.assert_array_equal(same.transform(X), everything.transform(X))


def test_blocks_repetitions_and_row_order():
    pruned = VanishingFeatures(max_generators=2).fit(X, Y)
    order = np.random.default_rng(0).permutation(len(X))
    for other in (
        VanishingFeatures(max_generators=2).fit(lambda: ((X[i::7], Y[i::7]) for i in range(7))),
        VanishingFeatures(max_generators=2).fit(X[order], Y[order]),
        VanishingFeatures(max_generators=2).fit(np.tile(X, (2, 1)), np.tile(Y, 2)),
        VanishingFeatures(max_generators=2, n_jobs=2).fit(X, Y),
        VanishingFeatures(OAVI(), max_generators=2).path(X, Y, psis=[0.005])[0],
    ):
        np.testing.assert_allclose(other.transform(X), pruned.transform(X), rtol=0, atol=1e-9)


def test_generators_that_vanish_exactly_count_alike():
    """Their own mean squares are rounding, which must not choose among them."""
    rng = np.random.default_rng(0)
    t = rng.uniform(size=60)
    flat = np.column_stack([t, t**2, t**3])
    points, labels = np.vstack([flat, rng.uniform(size=(60, 3))]), np.repeat([0, 1], 60)
    orders = [np.arange(120), rng.permutation(120)]
    first, second = (
        VanishingFeatures(OAVI(0, max_degree=3), max_generators=2).fit(points[o], labels[o])
        for o in orders
    )
    np.testing.assert_array_equal(
        first.transformers_[0].leading_terms_, second.transformers_[0].leading_terms_
    )
    assert first.transformers_[0].leading_terms_.sum(axis=1).tolist() == [2, 2]


def test_saved_and_loaded(tmp_path):
    for transformer in TRANSFORMERS:
        pruned = VanishingFeatures(transformer, max_generators=2).fit(X, Y)
        pruned.save(tmp_path / "model.json")
        loaded = load(tmp_path / "model.json")
        assert loaded.max_generators == 2
        np.testing.assert_array_equal(loaded.transform(X), pruned.transform(X))
        assert loaded.sparsity_ == pytest.approx(pruned.sparsity_)


class Foreign(OAVI):
    """A construction that has a fit of its own."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, y, sample_weight)


def test_what_is_refused():
    for bad, error in ((0, ValueError), (1.5, TypeError), ("all", TypeError)):
        with pytest.raises(error, match="max_generators must be"):
            VanishingFeatures(max_generators=bad).fit(X, Y)
    with pytest.raises(ValueError, match="only one class"):
        VanishingFeatures(max_generators=2).fit(X, np.zeros(len(X)))
    own = VanishingFeatures(Foreign(), max_generators=2).fit(X, Y)
    assert own.n_generators_ <= 6
