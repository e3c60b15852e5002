"""Contrastive generators: the smallest quotients of mean squares, whatever way rows are read."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from vanishing import (
    Blocks,
    ContrastiveVanishing,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingFeatures,
    load,
)
from vanishing.constructions.contrastive import unit_cube

M = 600
RNG = np.random.default_rng(0)
Y = np.array([0, 0, 0, 1, 1, 2])[np.arange(M) % 6]  # classes of different sizes
ANGLE = RNG.uniform(0, 2 * np.pi, M)
RADIUS = np.array([0.2, 0.3, 0.45])[Y] + 0.02 * RNG.normal(size=M)
X = 0.5 + np.column_stack(
    [RADIUS * np.cos(ANGLE), RADIUS * np.sin(ANGLE), RNG.uniform(-0.5, 0.5, M)]
)
PSIS = (0.0, 1e-4, 0.1)


def fitted(X=X, y=Y, *, sample_weight=None, **parameters):
    model = VanishingFeatures(ContrastiveVanishing(**parameters))
    return model.fit(X, y, sample_weight=sample_weight)


def mean_squares(part, X):
    return np.mean(part.generators_.evaluate(X) ** 2, axis=0)


def background(part):
    """The mean squares of generators over the unit cube."""
    polynomials = [(g.terms, g.coef) for g in part.generators_]
    return np.array([coef @ unit_cube(terms) @ coef for terms, coef in polynomials])


def quotients(part, psi):
    more = psi * background(part)
    return (part.mse_ + more) / (part.mse_others_ + more)


def design(X, terms):
    return np.prod(X[:, np.newaxis] ** terms, axis=2)


@parametrize_with_checks([ContrastiveVanishing(), ContrastiveVanishing(psi=0, slack=0.2)])
@pytest.mark.filterwarnings("ignore:ContrastiveVanishing")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# -- What they are ---------------------------------------------------------------------------------


@pytest.mark.parametrize("psi", PSIS)
@pytest.mark.parametrize("slack", [0.0, 0.3])
def test_mean_squares_are_those_of_the_rows(psi, slack):
    for label, part in enumerate(fitted(psi=psi, slack=slack).transformers_):
        assert_allclose(part.mse_, mean_squares(part, X[label == Y]), rtol=1e-9)
        assert_allclose(part.mse_others_, mean_squares(part, X[label != Y]), rtol=1e-9)
        assert_allclose(part.ratio_, part.mse_ / part.mse_others_, rtol=1e-14)
        assert_allclose([g.mse for g in part.generators_], part.mse_)


@pytest.mark.parametrize("psi", PSIS)
@pytest.mark.parametrize("slack", [0.0, 0.3])
def test_generators_come_in_the_order_of_their_quotients_below_one(psi, slack):
    for part in fitted(psi=psi, slack=slack).transformers_:
        found = quotients(part, psi)
        assert len(found)
        assert (np.diff(found) >= -1e-9).all()
        assert (found < 1.0 + slack).all()
        assert_allclose(part.mse_others_ + psi * background(part), 1.0, rtol=1e-7)
        assert (part.leading_coef_ > 0).all()


@pytest.mark.parametrize("psi", PSIS)
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_they_are_the_generalised_eigenvectors(psi, degree):
    for label, part in enumerate(fitted(psi=psi, max_degree=degree).transformers_):
        values = design(X, part.terms_)
        own, others = (values[rows] for rows in (label == Y, label != Y))
        more = psi * unit_cube(part.terms_)
        small = own.T @ own / len(own) + more
        large = others.T @ others / len(others) + more
        expected = eigh(small, large, eigvals_only=True)
        assert part.n_terms_ == len(expected)
        assert_allclose(quotients(part, psi), expected[expected < 1.0], rtol=1e-6)


@pytest.mark.parametrize("psi", PSIS)
def test_no_polynomial_has_a_smaller_quotient(psi):
    part = fitted(psi=psi).transformers_[1]
    least = quotients(part, psi)[0]
    values = design(X, part.terms_)
    cube = unit_cube(part.terms_)
    mine = part.coef_[0].copy()
    mine[(part.terms_ == part.leading_terms_[0]).all(axis=1)] += part.leading_coef_[0]
    rng = np.random.default_rng(1)
    for size in (1e-3, 0.1, 10.0):  # near the generator, and anywhere
        for coef in mine + size * rng.normal(size=(200, len(mine))):
            more = psi * (coef @ cube @ coef)
            squares = (values @ coef) ** 2
            assert (squares[Y == 1].mean() + more) / (
                squares[Y != 1].mean() + more
            ) >= least - 1e-12


def test_a_circle_among_circles_is_seen():
    generator = fitted(psi=1e-4).transformers_[1].generators_[0]
    on, off = (0.5 + r * np.column_stack([np.cos(ANGLE), np.sin(ANGLE)]) for r in (0.3, 0.45))
    height = np.full((M, 1), 0.5)
    on, off = (np.abs(generator(np.hstack([part, height]))) for part in (on, off))
    assert on.max() < 0.35 < 0.7 < off.min()


def test_alone_rows_are_compared_with_the_unit_cube():
    part = ContrastiveVanishing(psi=1e-3).fit(X[Y == 0])
    assert_allclose(part.mse_, mean_squares(part, X[Y == 0]), rtol=1e-9)
    assert_allclose(part.mse_others_, background(part), rtol=1e-7)
    anywhere = np.random.default_rng(2).uniform(size=(100_000, 3))
    assert_allclose(part.mse_others_, mean_squares(part, anywhere), rtol=0.05)
    assert part.ratio_[0] < 0.02


def test_one_class_is_compared_with_the_unit_cube():
    alone = ContrastiveVanishing().fit(X)
    (part,) = fitted(y=np.zeros(M)).transformers_
    assert_allclose(part.ratio_, alone.ratio_, rtol=1e-12)


# -- What does not change them ---------------------------------------------------------------------


def assert_same(first, second, X=X, tolerance=1e-7):
    for a, b in zip(first.transformers_, second.transformers_, strict=True):
        assert_allclose(a.ratio_, b.ratio_, rtol=tolerance, atol=1e-12)
    assert_allclose(first.transform(X), second.transform(X), atol=tolerance * 10)


@pytest.mark.parametrize("psi", PSIS)
def test_order_chunks_and_threads_of_rows_change_nothing(psi):
    model = fitted(psi=psi)
    order = np.random.default_rng(3).permutation(M)
    assert_same(model, fitted(X[order], Y[order], psi=psi))
    assert_same(model, fitted(psi=psi, chunk_size=7))
    threads = VanishingFeatures(ContrastiveVanishing(psi), n_jobs=2).fit(X, Y)
    assert_same(model, threads, tolerance=1e-12)


def test_weights_are_repetitions_and_zeros_are_absent():
    weight = np.random.default_rng(4).integers(0, 4, M)
    repeated = fitted(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    assert_same(repeated, fitted(sample_weight=weight))


def test_with_psi_zero_shifts_and_scales_of_columns_change_nothing():
    scale, shift = np.array([3.0, 0.2, -1.5]), np.array([-1.0, 2.0, 0.3])
    model, moved = fitted(psi=0), fitted(X * scale + shift, psi=0)
    for a, b in zip(model.transformers_, moved.transformers_, strict=True):
        assert_allclose(a.ratio_, b.ratio_, rtol=1e-6)
    assert_allclose(model.transform(X), moved.transform(X * scale + shift), atol=1e-5)


def test_blocks_give_the_model_of_their_rows():
    blocks = Blocks(lambda: ((X[i : i + 100], Y[i : i + 100]) for i in range(0, M, 100)))
    found = VanishingFeatures(ContrastiveVanishing()).fit(blocks)
    assert_same(fitted(), found)
    model = VanishingClassifier(ContrastiveVanishing())
    in_memory, elsewhere = clone(model).fit(X, Y), clone(model).fit(blocks)
    assert np.mean(in_memory.predict(X) == elsewhere.predict(X)) > 0.995
    assert in_memory.score(X, Y) > 0.97


def test_dask_gives_the_model_of_its_rows():
    da = pytest.importorskip("dask.array")
    rows, labels = da.from_array(X, chunks=(70, 3)), da.from_array(Y, chunks=70)
    assert_same(fitted(), VanishingFeatures(ContrastiveVanishing()).fit(rows, labels))


def test_arrays_of_a_device_give_the_model_of_their_rows():
    strict = pytest.importorskip("array_api_strict")
    found = VanishingFeatures(ContrastiveVanishing(slack=0.2)).fit(strict.asarray(X), Y)
    assert_same(fitted(slack=0.2), found)


def test_a_path_gives_the_models_of_its_psis():
    models = VanishingFeatures(ContrastiveVanishing()).path(X, Y, psis=PSIS)
    for psi, model in zip(PSIS, models, strict=True):
        assert_same(fitted(psi=psi), model)


# -- Fewer terms, fewer generators -----------------------------------------------------------------


@pytest.mark.parametrize("slack", [0.02, 0.2, 2.0])
@pytest.mark.parametrize("psi", [1e-4, 0.1])
def test_sparse_quotients_are_within_the_slack(psi, slack):
    for dense, sparse in zip(
        fitted(psi=psi, max_degree=3).transformers_,
        fitted(psi=psi, max_degree=3, slack=slack).transformers_,
        strict=True,
    ):
        # Each sparse one is within the slack of a dense one, so that this holds in order, too.
        bound = (1.0 + slack) * quotients(dense, psi)
        assert (quotients(sparse, psi) <= bound * (1.0 + 1e-6)).all()
        assert dense.sparsity_ == 0.0 < sparse.sparsity_


def test_no_generator_is_a_constant():
    """With slack it would be as good as one whose quotient is nearly one."""
    rng = np.random.default_rng(2)
    rows = rng.uniform(0.99, 1.01, size=(400, 2))
    features = VanishingFeatures(ContrastiveVanishing(1e-3, max_degree=1, slack=3.0))
    for part in features.fit(rows, np.arange(400) % 2).transformers_:
        assert part.leading_terms_.any(axis=1).all()
        assert len(list(part.generators_)) == part.n_generators_


def test_more_slack_means_fewer_coefficients():
    sizes = [
        sum(len(g.coef) for g in fitted(max_degree=3, slack=slack).generators_)
        for slack in (0.0, 0.1, 1.0)
    ]
    assert sizes[0] > sizes[1] > sizes[2]


def test_idle_columns_leave_sparse_generators():
    rng = np.random.default_rng(5)
    rows = rng.uniform(size=(2000, 4))
    y = (np.abs(rows[:, 0] + rows[:, 1] - 1.0) < 0.1).astype(int)
    part = fitted(rows, y, max_degree=1, slack=0.2).transformers_[1]
    used = np.abs(part.generators_[0].terms).max(axis=0)
    assert used.tolist() == [1, 1, 0, 0]


def test_the_best_are_kept():
    for few, all_of_them in zip(
        fitted(max_generators=2).transformers_, fitted().transformers_, strict=True
    ):
        assert few.n_generators_ == 2
        assert_allclose(few.ratio_, all_of_them.ratio_[:2])


def test_the_degree_is_lowered_to_what_is_bearable():
    degrees = [fitted(max_degree=4, max_terms=n).transformers_[0].degree_ for n in (2, 10, 19, 20)]
    assert degrees == [1, 2, 2, 3]


# -- Corners ---------------------------------------------------------------------------------------


def test_classes_that_are_the_same_have_no_generators():
    with pytest.warns(UserWarning, match="nothing vanishes on any class"):
        model = fitted(np.vstack([X, X]), np.repeat([0, 1], M))
    assert model.transform(X).shape == (M, 0)


def test_what_vanishes_on_all_rows_is_no_generator():
    more = np.column_stack([X, X[:, 0], np.full(M, 0.3)])
    for psi in PSIS:
        for part in fitted(more, psi=psi).transformers_:
            assert (part.mse_others_ > 1e-3).all()


def test_values_that_overflow_are_named():
    with pytest.raises(ValueError, match=r"moments of degree 4 overflow.*Scale the data"):
        fitted(X * 1e150)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"psi": 1.0}, "psi"),
        ({"psi": -1.0}, "psi"),
        ({"max_degree": 0}, "max_degree"),
        ({"max_generators": 0}, "max_generators"),
        ({"slack": -0.1}, "slack"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(**parameters)


@pytest.mark.parametrize("slack", [0.0, 0.5])
def test_saved_and_loaded_it_is_the_same(tmp_path, slack):
    path = tmp_path / "model.json"
    model = fitted(slack=slack)
    model.save(path)
    found = load(path)
    for a, b in zip(model.transformers_, found.transformers_, strict=True):
        assert np.array_equal(a.ratio_, b.ratio_)
        assert np.array_equal(a.mse_others_, b.mse_others_)
        assert (a.sparsity_, a.n_terms_, a.degree_) == (b.sparsity_, b.n_terms_, b.degree_)
    assert np.array_equal(model.transform(X), found.transform(X))


def test_a_search_takes_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = VanishingClassifierCV(ContrastiveVanishing()).fit(X, Y)
    assert model.best_score_ > 0.97
    assert set(model.best_params_) == {"psi", "C", "scale", "transformer"}
