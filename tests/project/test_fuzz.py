"""A short run of the fuzzer, and a test for each failure that it found."""

import warnings

import numpy as np
import pytest
from fuzz import Failure, check_model, check_transform, main, require, run_case
from sklearn.exceptions import ConvergenceWarning

from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    ContrastiveVanishing,
    L1SquaredHingeSVC,
    VanishingFeatures,
)


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_cases(first):
    for number in range(first, first + 50):
        run_case(number)


@pytest.mark.parametrize("kind", ["laws", "outliers", "motion", "tables"])
def test_cases_of_a_kind(kind):
    for number in range(40):
        assert run_case(number, kind)[0] == f"case_{kind}"


def test_a_case_is_its_number():
    assert [run_case(n) for n in range(5)] == [run_case(n) for n in range(5)]


def test_the_command_reports(capsys):
    assert main(["--cases", "5", "--seed", "3"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("5 cases in")


def test_the_checks_can_fail():
    """A model with a coefficient changed by hand is no valid model of its rows."""
    X = np.random.default_rng(0).uniform(size=(20, 2))
    model = OAVI(0.01).fit(X)
    check_model(model, X, None, [])
    model.coef_[0, 0] += 1e-3
    with pytest.raises(Failure, match="measured"):
        check_model(model, X, None, [])
    with pytest.raises(Failure, match="nothing"):
        require(False, "nothing")


# ------------------------------------------------------------------------------- what it found


def checked(model, X, weight=None):
    """Fit with nothing but documented warnings, check, and return the model."""
    X = np.asarray(X, dtype=float)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, sample_weight=weight)
        check_model(model, X, weight, caught)
        check_transform(model, X, X)
    assert all(issubclass(w.category, UserWarning) for w in caught), [str(w) for w in caught]
    return model


RNG = np.random.default_rng(0)
UNIFORM = RNG.uniform(size=(46, 5))


@pytest.mark.parametrize("unit", [1e-6, 1e6, [1e6, 1.0, 1e-6, 1.0, 1e3]])
def test_avi_exactly_in_any_unit(unit):
    """A kernel of columns of very different size: the small ones were taken for rounding."""
    model = checked(AVI(0, max_degree=3), UNIFORM * np.array(unit))
    assert model.n_terms_ == 46


def test_avi_of_very_large_values():
    checked(AVI(0, max_degree=12), 1e77 * UNIFORM[:5, :1])
    checked(AVI(0.005, pivot_tol=0.5, max_degree=2), np.clip(1e38 * (UNIFORM - 0.5), -1e36, 1e36))


def test_avi_with_a_psi_whose_root_is_nearly_zero():
    """Pivots were looked for in columns of zeros, and divided by."""
    assert checked(AVI(1e-300, border="gb"), np.zeros((4, 2))).n_generators_ == 2
    checked(AVI(1e-300, max_degree=3), UNIFORM[:9, :3] * np.array([1.0, 1e-100, 1e30]))


def test_avi_of_columns_from_tiny_to_huge():
    """Eigenvalues of such moments do not converge."""
    X = UNIFORM[:, :3] * np.array([1e30, 1e-100, 1e-300])
    checked(AVI(1e-6, max_degree=5), X)
    checked(AVI(1e-6, max_degree=5), X, weight=UNIFORM[:, 3])


@pytest.mark.parametrize("psi", [0, 1e-12, 0.05])
@pytest.mark.parametrize("algorithm", [ABM, AVI, OAVI])
def test_values_next_to_overflow(algorithm, psi):
    """Squares of 1e153 are finite; but such terms were taken to depend on others."""
    checked(algorithm(psi, max_degree=2), 1e153 * (1 + UNIFORM[:2]))


@pytest.mark.parametrize("certify", [True, False])
@pytest.mark.parametrize("oracle", ["agd", "pcg", "ls"])
def test_an_mse_that_overflows_on_the_way(oracle, certify):
    """Twice a product of 1e308 is infinite, and was subtracted from what is not."""
    X = 1e154 * np.array([[0.0, 1.0, 1.0, 0.0]])
    checked(OAVI(oracle=oracle, certify=certify, max_degree=2, max_iter=5, tol=0), X)


@pytest.mark.parametrize("scale", [1e-100, 1e-160, 1e-297])
def test_abm_of_values_next_to_underflow(scale):
    """Every term vanishes with the terms before, however small it is: O has as many as points."""
    X = UNIFORM[:3, :2] * np.array([scale, 1.0])
    for border in ("gb", "bb"):
        assert checked(ABM(0, border=border, max_degree=3), X).n_terms_ <= 3
    if scale < 1e-150:  # whose squares are below this psi
        assert checked(ABM(1e-300), scale * UNIFORM[:1, :2]).n_terms_ == 1


@pytest.mark.parametrize("feature_order", ["pearson", "rev_pearson"])
@pytest.mark.parametrize("units", [(1e300, 1.0), (1e-300, 1.0), (1e-170, 1e-170)])
def test_correlations_that_overflow_or_underflow(units, feature_order):
    weight = 10.0 ** np.linspace(-20, 20, 46)
    model = OAVI(0.01, feature_order=feature_order, max_degree=2)
    checked(model, (UNIFORM[:, :2] - 0.5) * np.array(units), weight)


@pytest.mark.parametrize("oracle", ["pcg", "bpcg", "afw", "cg", "omp"])
@pytest.mark.parametrize("certify", [True, False])
def test_a_ball_as_large_as_numbers_get(oracle, certify):
    for X in (UNIFORM[:, :2], np.zeros((5, 2))):
        checked(OAVI(0.01, oracle=oracle, tau=1e300, certify=certify, max_iter=50), X)


def test_vca_next_to_a_huge_column():
    """What is zero next to 1e30 need not be below psi, and is left out then, with a warning."""
    X = UNIFORM[:, :2] * np.array([1e30, 1.0])
    model = checked(VCA(0.005, max_degree=1), X)
    assert model.n_generators_ == 0
    with pytest.warns(ConvergenceWarning, match="1 generators .* left out"):
        model.fit(X)


def test_vca_refuses_absolute_that_is_no_flag():
    with pytest.raises(TypeError, match="absolute must be True or False"):
        VCA(absolute=None).fit(UNIFORM)


@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_vca_whose_coefficients_overflow(scale):
    """In monomials: as products of components the generators are fine."""
    angle = np.linspace(0, 6, 30)
    X = scale * np.column_stack([np.cos(angle), np.sin(angle), UNIFORM[:30, 0]])
    model = checked(VCA(0, max_degree=3), X)
    assert model.n_generators_ > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            assert np.isfinite(model.generators_[-1].coef).all()
        except ValueError as error:
            assert "overflow" in str(error)


def test_svm_of_features_whose_squares_overflow():
    with pytest.raises(ValueError, match="squares of the features overflow"):
        L1SquaredHingeSVC().fit(1e200 * UNIFORM, np.arange(46) % 2)


@pytest.mark.parametrize("scale", [1e20, 1e30, 1e36])
@pytest.mark.parametrize("psi", [0, 1e-300, 0.005, 0.5])
def test_abm_of_zero_and_a_huge_number(psi, scale):
    """The leading coefficient of a singular vector underflowed, and was divided by."""
    model = checked(ABM(psi, max_degree=3), [[0.0], [scale]])
    if psi == 0:
        assert model.terms_.tolist() == [[0], [1]]
        assert model.coef_ == pytest.approx(np.array([[0.0, -1.0]]))
        assert model.leading_coef_ == pytest.approx(1 / scale, rel=1e-12, abs=0)


def test_abm_says_which_terms_joined_although_they_depend_on_others():
    run_case(24000203)


def test_svm_of_features_whose_products_nearly_overflow():
    run_case(24002083)


def test_avi_exactly_on_rounded_rows():
    """What the echelon form took for zero left generators that were not zero up to rounding."""
    run_case(11003253)
    run_case(21005983)


def test_moments_that_underflow():
    """Mean squares of 1e-316 have few digits, and no term is independent of others for that."""
    run_case(777001006686)
    for seed in range(10):
        X = 1e-80 * np.random.default_rng(seed).uniform(size=(3, 3))
        assert checked(OAVI(0, max_degree=3), X).n_terms_ <= 3


def test_vca_with_weights_of_very_different_size():
    """A row of tiny weight makes products so large that everything was zero next to them."""
    run_case(777001084640)
    weight = np.append(np.ones(29), 1e-20)
    X = np.zeros((30, 3))
    X[:, 0], X[29, 1], X[::2, 2] = np.arange(30) % 3 - 1, 1.0, 1.0
    model = checked(VCA(0, max_degree=2), X, weight)
    assert model.mse_.max() <= 1e-9


def test_avi_beside_a_tiny_column():
    """Coefficients that are not felt were dropped, and what was left was not of norm 1."""
    run_case(424242081976)
    for seed, m in ((18, 11), (2, 15), (5, 15)):
        X = np.random.default_rng(seed).uniform(size=(m, 3)) * np.array([1e-100, 1e3, 1.0])
        checked(AVI(1e-6, pivot_tol=1e-8, max_degree=4), X)


@pytest.mark.parametrize(
    "number",
    [424242027377, 424242043035, 424242055997, 424242093945, 777001026699, 777001032214],
)
def test_a_final_estimator_that_refuses_huge_features(number):
    """A tree casts to single precision; what overflows there is its error, and no warning."""
    assert run_case(number) == ("case_classifier", "refused")


def test_svm_of_huge_features_gives_up_in_time():
    """Each of thirty stages of costs took all of its steps, and none led anywhere."""
    run_case(424242061738)
    X, y = np.vstack([UNIFORM, 1e60 * UNIFORM]), np.arange(92) % 2
    with pytest.warns(ConvergenceWarning):
        model = L1SquaredHingeSVC().fit(X, y)
    assert model.n_iter_ < 300


@pytest.mark.parametrize("C", [1e4, 1e8, 1e12])
def test_svm_with_hardly_any_penalty(C):
    """Coordinate descent alone, from zero, ended with a gap of 0.9 after a thousand steps."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(20, 60)), rng.uniform(size=20) > 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = L1SquaredHingeSVC(C, max_iter=300).fit(X, y)
    assert model.dual_gap_[0] <= 1e-4


def test_svm_ends_where_rounding_hides_any_progress():
    """Costs from 1e-14 to 1e17: not a thousand Newton steps that lead nowhere."""
    weight = 10.0 ** np.linspace(-14, 17, 8)
    X = np.hstack([np.eye(8), UNIFORM[:8]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = L1SquaredHingeSVC(C=1.0).fit(X, np.arange(8) % 2, weight)
    assert model.n_iter_ < 200


def test_contrastive_where_the_moments_of_two_classes_are_finite_and_their_sum_is_not():
    run_case(20261116019717)


def test_contrastive_of_columns_whose_squares_underflow():
    """Mean squares without digits were multiplied by coefficients whose squares are infinite."""
    run_case(20261116031619)
    X, y = UNIFORM * np.array([1.0, 1e-162, 1.0, 1.0, 1e-155]), np.arange(46) % 2
    model = VanishingFeatures(ContrastiveVanishing(0, max_degree=1)).fit(X, y)
    for part in model.transformers_:
        assert part.n_generators_ > 0
        assert not part.leading_terms_[:, [1, 4]].any()
        np.testing.assert_allclose(part.mse_others_, 1.0)


def test_contrastive_refuses_mean_squares_that_overflow():
    """Moments are finite; polynomials with leading coefficient 1 are ten million times larger."""
    assert run_case(20261116057488) == ("case_contrastive", "refused")
    rng = np.random.default_rng(0)
    X, y = 1e148 * rng.normal(size=(40, 2)), np.arange(40) % 2
    X[y == 0, 0] = 1e-7 * X[y == 0, 1]
    with pytest.raises(ValueError, match="moments of degree 2 overflow"):
        VanishingFeatures(ContrastiveVanishing(0, max_degree=1)).fit(X, y)


def test_an_equation_without_solutions_is_no_law():
    """All rows were left out as wrong, and what is left fitted them well."""
    run_case(77001897, "laws")
