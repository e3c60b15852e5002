"""Polynomials at knots: quantiles wherever the rows are, and curves and surfaces made of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.utils.estimator_checks import parametrize_with_checks

from vanishing import Blocks, ContrastiveVanishing, VanishingClassifier, VanishingFeatures, load
from vanishing.constructions.knots import quantile_knots
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


def model(**parameters):
    return VanishingClassifier(
        ContrastiveVanishing(0.1, max_degree=1, n_knots=6, n_pair_knots=2), **parameters
    )


@pytest.mark.parametrize("size", [70, 450])
def test_blocks_make_the_same_model(size):
    whole = model().fit(X, Y)
    cut = model().fit(
        Blocks(lambda: ((X[i : i + size], Y[i : i + size]) for i in range(0, 900, size)))
    )
    assert whole.n_generators_ == cut.n_generators_
    assert_allclose(whole.decision_function(X), cut.decision_function(X), atol=1e-6)


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


@pytest.mark.parametrize("name", ["n_knots", "n_pair_knots"])
def test_bad_numbers_of_knots(name):
    with pytest.raises(ValueError, match=name):
        ContrastiveVanishing(**{name: -1}).fit(X)


@parametrize_with_checks([ContrastiveVanishing(n_knots=3, n_pair_knots=2)])
@pytest.mark.filterwarnings("ignore:ContrastiveVanishing")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
