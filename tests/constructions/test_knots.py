"""Polynomials at knots: quantiles wherever the rows are, and curves and surfaces made of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.utils.estimator_checks import parametrize_with_checks

from vanishing import Blocks, ContrastiveVanishing, VanishingClassifier, VanishingFeatures, load
from vanishing.constructions.knots import quantile_knots, telling_pairs
from vanishing.export import to_python, to_sql
from vanishing.rows.reader import ArrayReader

RNG = np.random.default_rng(0)
X = np.column_stack(
    [
        RNG.uniform(size=900),
        np.exp(3 * RNG.normal(size=900)),  # over decades
        RNG.integers(0, 4, 900),
        np.full(900, 0.5),
    ]
)
Y = ((np.abs(X[:, 0] - 0.5) < 0.2) ^ (X[:, 2] == 2)).astype(int)


def knots_of(*parts, n_knots=5, weights=None):
    weights = [None] * len(parts) if weights is None else weights
    readers = [ArrayReader(part, weight) for part, weight in zip(parts, weights, strict=True)]
    return quantile_knots(lambda work: [work(reader) for reader in readers], 4, n_knots)


def test_knots_are_the_quantiles_of_all_rows():
    for column, knots in zip(X.T, knots_of(X[:200], X[200:]), strict=True):
        wanted = np.unique(np.quantile(column, np.arange(5) / 5, method="inverted_cdf"))
        wanted = wanted[wanted < column.max()]
        assert len(knots) == len(wanted)
        assert_allclose(knots, wanted, atol=1e-7 * np.ptp(column))


def test_a_weight_is_as_many_rows():
    weight = RNG.integers(0, 4, 900).astype(float)
    repeated = np.repeat(X, weight.astype(int), axis=0)
    for once, often in zip(knots_of(X, weights=[weight]), knots_of(repeated), strict=True):
        assert_allclose(once, often, rtol=1e-12, atol=1e-12)


def test_features_have_mean_square_one_and_vanish_at_their_knots():
    features = VanishingFeatures(
        ContrastiveVanishing(max_degree=1, n_knots=4, n_pair_knots=2, max_generators=1)
    ).fit(X, Y)
    values = features.transform(X)
    first = np.cumsum([0, features.transformers_[0].n_generators_])
    at_knots = np.delete(np.arange(values.shape[1]), first)
    assert_allclose((values[:, at_knots] ** 2).mean(axis=0), 1.0, rtol=1e-9)
    # Knots of the three columns that are not constant (3 codes below the largest), and 12 products.
    assert len(at_knots) == 4 + 4 + 3 + 3 * 2 * 2
    polynomials = [features.generators_[i] for i in at_knots]
    assert {polynomial.degree for polynomial in polynomials} == {1, 2}
    for label, part in enumerate(features.transformers_):
        own = part.generators_.evaluate(X[label == Y])
        others = part.generators_.evaluate(X[label != Y])
        assert_allclose(part.mse_, (own**2).mean(axis=0), rtol=1e-9)
        assert_allclose(part.mse_others_, (others**2).mean(axis=0), rtol=1e-9)
        assert (part.ratio_[1:] <= 1.0 + 1e-9).all()  # each with the class nearest to its zeros


def test_curves_and_surfaces_tell_classes_apart():
    errors = [
        np.mean(
            VanishingClassifier(ContrastiveVanishing(0.1, max_degree=1, **knots), C=10.0)
            .fit(X, Y)
            .predict(X)
            != Y
        )
        for knots in ({}, {"n_knots": 10}, {"n_knots": 10, "n_pair_knots": 4})
    ]
    assert errors[0] > 0.2  # no plane does
    assert errors[1] > 0.1  # the classes change sides at one of the codes
    assert errors[2] < 0.06


def cells_of(part, bounds):
    """Return the cell of each value, by counting."""
    return (part[:, :, np.newaxis] >= bounds).sum(axis=2)


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_of_cells_are_counted(weighted):
    weight = RNG.integers(0, 3, 900).astype(float) if weighted else None
    bounds = np.quantile(X, [0.2, 0.5, 0.9], axis=0).T
    bounds[3, 1:] = np.inf  # fewer cells
    (weights,) = ArrayReader(X, weight).ask("cell_weights", bounds)
    wanted = np.zeros((4, 4, 4, 4))
    for row, w in zip(cells_of(X, bounds), np.ones(900) if weight is None else weight, strict=True):
        for i, a in enumerate(row):
            for j, b in enumerate(row):
                wanted[i, a, j, b] += w
    assert_allclose(weights, wanted, rtol=1e-12)


def interaction(x, z, y):
    """Return what cells explain of y beyond two step functions, by least squares on the rows."""
    steps = np.column_stack([np.eye(x.max() + 1)[x], np.eye(z.max() + 1)[z]])
    apart = y - steps @ np.linalg.lstsq(steps, y, rcond=None)[0]
    cells = np.eye(x.max() * 10 + z.max() + 1)[x * 10 + z]
    rest = y - cells @ np.linalg.lstsq(cells, y, rcond=None)[0]
    return apart @ apart - rest @ rest


def test_pairs_that_tell_are_those_whose_cells_explain_most():
    random = np.random.default_rng(1)
    table = random.uniform(size=(600, 5))
    table[:, 4] = random.integers(0, 3, 600)
    y = (((table[:, 1] > 0.4) != (table[:, 3] > 0.6)) | (table[:, 0] + table[:, 4] > 2.2)).astype(
        int
    )
    readers = [ArrayReader(table[y == label]) for label in (0, 1)]

    def ask(work):
        return [work(reader) for reader in readers]

    knots = quantile_knots(ask, 5, 4)
    codes = [
        np.searchsorted(of, column, side="right") - 1
        for of, column in zip(knots, table.T, strict=True)
    ]
    gains = {
        (i, j): interaction(codes[i], codes[j], y.astype(float)) for j in range(5) for i in range(j)
    }
    order = sorted(gains, key=gains.get, reverse=True)
    assert order[0] == (1, 3) and gains[order[0]] > 3 * gains[order[2]]
    for n_pairs in (1, 2, 4, 9):
        assert telling_pairs(ask, knots, n_pairs) == sorted(order[:n_pairs])
    assert telling_pairs(ask, knots, None) == sorted(gains)


@pytest.mark.parametrize("degree", [1, 2])
def test_levels_are_those_of_the_mean_and_the_variance(degree):
    features = VanishingFeatures(
        ContrastiveVanishing(0.01, max_degree=degree, n_levels=5, absolute=False)
    ).fit(X[:, :3], Y)
    plain = VanishingFeatures(ContrastiveVanishing(0.01, max_degree=degree, absolute=False)).fit(
        X[:, :3], Y
    )
    own, values = plain.transform(X[:, :3]), features.transform(X[:, :3])
    n_own = own.shape[1]
    assert values.shape[1] == 6 * n_own
    z = [-4.0, -0.8416212, -0.2533471, 0.2533471, 0.8416212]  # of the normal distribution
    wanted = (own.mean(axis=0) + np.outer(z, own.std(axis=0))).T.ravel()
    # Each shifted generator is in proportion to a generator less one of its levels.
    found = []
    for column in values.T:
        matches = [
            np.allclose(column * np.sqrt(np.mean((g - t) ** 2)), g - t, atol=1e-7)
            for g, ts in zip(own.T, wanted.reshape(n_own, 5), strict=True)
            for t in ts
        ]
        found += np.flatnonzero(matches).tolist()
    assert sorted(found) == list(range(5 * n_own))


def test_few_pairs_need_few_terms():
    fitted = ContrastiveVanishing(max_degree=1, n_pair_knots=2, max_pairs=1).fit(X)
    assert fitted.n_terms_ == 1 + 4 + 1
    every = ContrastiveVanishing(max_degree=1, n_pair_knots=2).fit(X)
    assert every.n_terms_ == 1 + 4 + 3  # the constant column has no pair


def model(**parameters):
    knots = {"n_knots": 6, "n_levels": 3, "n_pair_knots": 2, "max_pairs": 2}
    return VanishingClassifier(ContrastiveVanishing(0.1, max_degree=1, **knots), **parameters)


@pytest.mark.parametrize("size", [70, 450])
def test_blocks_make_the_same_model(size):
    whole = model().fit(X, Y)
    cut = model().fit(
        Blocks(lambda: ((X[i : i + size], Y[i : i + size]) for i in range(0, 900, size)))
    )
    assert whole.n_generators_ == cut.n_generators_
    assert_allclose(whole.decision_function(X), cut.decision_function(X), atol=1e-6)


def test_rows_of_a_device_make_the_same_model():
    xp = pytest.importorskip("array_api_strict")
    there = model().fit(xp.asarray(X), xp.asarray(Y))
    here = model().fit(X, Y)
    assert there.n_generators_ == here.n_generators_
    assert_allclose(there.decision_function(X), here.decision_function(X), atol=1e-5)


def test_it_is_saved_explained_and_exported(tmp_path):
    fitted = model().fit(X, Y)
    fitted.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json", VanishingClassifier)
    assert np.array_equal(fitted.decision_function(X), loaded.decision_function(X))
    assert loaded.features_.transformers_[0].n_knots == 6
    program = {}
    exec(to_python(fitted), program)
    assert np.array_equal(program["predict"](X), fitted.predict(X))
    assert "x0" in to_sql(fitted)
    reasons = fitted.explain(X[:1])[0]
    assert any(len(reason["generator"].terms) == 2 for reason in reasons)


def test_without_knots_nothing_changes():
    plain, none = (
        VanishingFeatures(ContrastiveVanishing(max_degree=2, **knots)).fit(X, Y)
        for knots in ({}, {"n_knots": 0, "n_pair_knots": 0})
    )
    assert np.array_equal(plain.transform(X), none.transform(X))


@pytest.mark.parametrize(
    "name, value", [("n_knots", -1), ("n_levels", -1), ("n_pair_knots", -1), ("max_pairs", 0)]
)
def test_bad_numbers_of_knots(name, value):
    with pytest.raises(ValueError, match=name):
        ContrastiveVanishing(**{name: value}).fit(X)


@parametrize_with_checks(
    [
        ContrastiveVanishing(n_knots=3, n_pair_knots=2),
        ContrastiveVanishing(n_levels=2, n_pair_knots=2, max_pairs=1),
    ]
)
@pytest.mark.filterwarnings("ignore:ContrastiveVanishing")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
