"""L1SquaredHingeSVC solves the problem it states, to the gap it claims."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from vanishing import L1SquaredHingeSVC
from vanishing._threads import one_blas_thread
from vanishing.learning import svm_solver
from vanishing.learning.svm import fit_svm
from vanishing.learning.svm_model import minimise_model
from vanishing.learning.svm_solver import as_columns, solve_together


def problem(n_samples, n_features, seed=0):
    X, y = make_classification(
        n_samples, n_features, n_informative=min(5, n_features), n_redundant=0, random_state=seed
    )
    return X, y


def objective(coef, intercept, X, target, cost):
    slack = np.maximum(0.0, 1.0 - target * (X @ coef + intercept))
    return np.abs(coef).sum() + abs(intercept) + cost @ slack**2


def dual_bound(coef, intercept, X, target, cost):
    """A lower bound on the optimum, straight from the dual: any feasible a gives one."""
    slack = np.maximum(0.0, 1.0 - target * (X @ coef + intercept))
    a = 2.0 * cost * slack
    largest = max(np.abs(X.T @ (a * target)).max(), abs(a @ target))
    return max(t * a.sum() - t**2 * (cost @ slack**2) for t in np.linspace(0, 1 / largest, 2001))


@pytest.mark.parametrize("shape", [(60, 5), (40, 200), (2000, 12)])
@pytest.mark.parametrize("C", [0.01, 0.1, 1.0, 10.0])
def test_objective_is_within_the_gap_of_the_optimum(shape, C):
    X, y = problem(*shape)
    target, cost = np.where(y == 1, 1.0, -1.0), np.full(len(y), C)
    model = L1SquaredHingeSVC(C, tol=1e-4).fit(X, y)
    reached = objective(model.coef_[0], model.intercept_[0], X, target, cost)
    bound = dual_bound(model.coef_[0], model.intercept_[0], X, target, cost)
    assert bound <= reached <= bound * (1.0 + 3e-4)
    assert model.dual_gap_[0] <= 1e-4
    tight = L1SquaredHingeSVC(C, tol=1e-9).fit(X, y)
    best = objective(tight.coef_[0], tight.intercept_[0], X, target, cost)
    assert best * (1.0 - 1e-8) <= reached <= best * (1.0 + 1.1 * model.dual_gap_[0])


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 1: 0.5, 2: 1.0}])
def test_agrees_with_liblinear(C, fit_intercept, class_weight):
    X, y = load_iris(return_X_y=True)
    X = X[:-10]
    y = y[:-10]  # unequal classes
    options = {"C": C, "fit_intercept": fit_intercept, "class_weight": class_weight}
    ours = L1SquaredHingeSVC(tol=1e-8, **options).fit(X, y)
    theirs = LinearSVC(
        penalty="l1", dual=False, tol=1e-10, max_iter=200_000, random_state=0, **options
    ).fit(X, y)
    weight = np.ones(len(y))
    if class_weight == "balanced":
        weight = len(y) / (3 * np.bincount(y))[y]
    elif class_weight is not None:
        weight = np.array([class_weight[label] for label in y])
    for k in range(3):
        target = np.where(y == k, 1.0, -1.0)
        cost = C * np.where(y == k, weight, 1.0)
        intercepts = np.broadcast_to(theirs.intercept_, 3)  # a plain 0.0 if there is none
        mine = objective(ours.coef_[k], ours.intercept_[k], X, target, cost)
        reference = objective(theirs.coef_[k], intercepts[k], X, target, cost)
        np.testing.assert_allclose(mine, reference, rtol=1e-6)
    assert fit_intercept or not ours.intercept_.any()


def test_class_weights_of_two_classes():
    X, y = problem(100, 4)
    weight = {0: 3.0, 1: 0.5}
    by_class = L1SquaredHingeSVC(tol=1e-10, class_weight=weight).fit(X, y)
    by_row = L1SquaredHingeSVC(tol=1e-10).fit(X, y, sample_weight=np.where(y == 0, 3.0, 0.5))
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, atol=1e-6)


def test_weights_are_repetitions():
    X, y = problem(80, 6)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = L1SquaredHingeSVC(tol=1e-10).fit(X, y, sample_weight=weight)
    repeated = L1SquaredHingeSVC(tol=1e-10).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def test_starting_from_the_solution_takes_no_step():
    X, y = problem(200, 30)
    columns, target = as_columns(X, True), np.where(y == 1, 1.0, -1.0)
    costs, options = [np.ones(len(y))], {"tol": 1e-6, "max_iter": 1000}
    ((w, gap, steps),) = solve_together(columns, [target], costs, [np.zeros(31)], **options)
    assert steps > 0
    assert gap <= 1e-6
    ((again, _, steps),) = solve_together(columns, [target], costs, [w], **options)
    assert steps == 0
    np.testing.assert_array_equal(again, w)


def many_classes(n_classes, n_samples=600, n_features=300):
    """Rows of many classes, and features that nearly depend on each other."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((n_classes, 6))
    y = np.arange(n_samples) % n_classes
    X = centres[y] + rng.standard_normal((n_samples, 6))
    mixed = X @ rng.standard_normal((6, n_features))
    return np.abs(mixed + 0.01 * rng.standard_normal(mixed.shape)), y


def test_threads_change_no_bit():
    X, y = many_classes(8)
    columns = as_columns(X, True)
    assert columns.size * 8 >= svm_solver._WORTH_THREADS
    models = []
    for n_jobs in (None, 2, 5):
        model = L1SquaredHingeSVC(0.1)
        model.classes_ = np.arange(8)
        with one_blas_thread():
            assert fit_svm(model, columns, y, n_jobs=n_jobs) is None
        models.append(model)
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        np.testing.assert_array_equal(model.intercept_, models[0].intercept_)
    np.testing.assert_array_equal(L1SquaredHingeSVC(0.1).fit(X, y).coef_, models[0].coef_)


@pytest.mark.parametrize("C", [0.1, 100.0])
def test_problems_solved_together_are_those_solved_alone(C):
    X, y = many_classes(4, 200, 60)
    columns, signs = as_columns(X, True), np.where(y == np.arange(4)[:, np.newaxis], 1.0, -1.0)
    costs = np.full((4, len(y)), C) * np.arange(1, 5)[:, np.newaxis]
    starts = np.zeros((4, 61))
    together = solve_together(columns, signs, costs, starts, tol=1e-6, max_iter=1000)
    for sign, cost, (w, gap, _) in zip(signs, costs, together, strict=True):
        options = {"tol": 1e-6, "max_iter": 1000}
        ((alone, _, _),) = solve_together(columns, [sign], [cost], [starts[0]], **options)
        values = [objective(v[:-1], v[-1], X, sign, cost) for v in (w, alone)]
        np.testing.assert_allclose(*values, rtol=2e-6)
        assert gap <= 1e-6


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_model_is_minimised_where_columns_nearly_depend(scale):
    rng = np.random.default_rng(1)
    columns = rng.standard_normal((60, 5)) @ rng.standard_normal((5, 400))
    columns += 1e-3 * rng.standard_normal(columns.shape)
    columns[-1] = columns[0]  # exactly
    hessian, w = scale * columns @ columns.T, np.zeros(60)
    w[:30] = rng.standard_normal(30)
    gradient = columns @ rng.standard_normal(400)

    def violation(at):
        slope = gradient + hessian @ (at - w)
        return np.where(at == 0.0, np.abs(slope) - 1.0, np.abs(slope + np.sign(at))).max()

    new = minimise_model(hessian, gradient, w)
    assert violation(new) <= 0.051 * violation(w)
    assert 0 < np.count_nonzero(new) < 60


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_the_model_of_columns_that_have_nothing_to_do_with_each_other(unit):
    """Each weight by itself, in any unit: a soft threshold."""
    rng = np.random.default_rng(0)
    curvature, gradient = unit * rng.uniform(1, 2, 300), 3 * rng.normal(size=300)
    expected = -np.sign(gradient) * np.maximum(np.abs(gradient) - 1, 0) / curvature
    new = minimise_model(np.diag(curvature), gradient, np.zeros(300))
    np.testing.assert_allclose(new, expected, rtol=1e-7)


def test_the_model_of_columns_that_no_row_has():
    w = np.array([1.0, -2.0])
    new = minimise_model(np.zeros((2, 2)), np.array([0.5, -0.3]), w)
    np.testing.assert_array_equal(new, [0.0, 0.0])


def test_dependent_and_zero_columns():
    X, y = problem(100, 4)
    X = np.hstack([X, X, np.zeros((100, 2)), np.ones((100, 1))])
    model = L1SquaredHingeSVC(10.0, tol=1e-6).fit(X, y)
    assert model.dual_gap_[0] <= 1e-6
    np.testing.assert_array_equal(model.coef_[0, 8:10], 0.0)


def test_small_c_uses_nothing_and_says_so_by_the_intercept():
    X, y = problem(50, 3)
    model = L1SquaredHingeSVC(1e-6).fit(X, y)
    np.testing.assert_array_equal(model.coef_, 0.0)


def test_a_starved_solver_warns():
    X, y = problem(200, 30)
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        model = L1SquaredHingeSVC(10.0, max_iter=1, tol=1e-8).fit(X, y)
    assert model.dual_gap_[0] > 1e-8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        L1SquaredHingeSVC(10.0, tol=1e-8).fit(X, y)


@pytest.mark.parametrize(
    "options, error",
    [
        ({"C": 0.0}, ValueError),
        ({"C": -1.0}, ValueError),
        ({"C": np.nan}, ValueError),
        ({"C": "1"}, TypeError),
        ({"tol": 0.0}, ValueError),
        ({"max_iter": 0}, ValueError),
        ({"max_iter": 1.5}, TypeError),
    ],
)
def test_bad_parameters(options, error):
    X, y = problem(20, 2)
    with pytest.raises(error, match=next(iter(options))):
        L1SquaredHingeSVC(**options).fit(X, y)


def test_bad_labels_and_weights():
    X, y = problem(20, 2)
    with pytest.raises(ValueError, match="only one class"):
        L1SquaredHingeSVC().fit(X, np.zeros(20))
    with pytest.raises(ValueError, match="NaN"):
        L1SquaredHingeSVC().fit(X, np.where(y == 1, np.nan, 0.0))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        L1SquaredHingeSVC().fit(X, y[:-1])
    with pytest.raises(ValueError, match="Unknown label type"):
        L1SquaredHingeSVC().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="negative"):
        L1SquaredHingeSVC().fit(X, y, sample_weight=-np.ones(20))
