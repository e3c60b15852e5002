"""OAVI, and ABM with gradients as the unit, as scikit-learn estimators."""

import pickle

import numpy as np
import pytest
from helpers import assert_same_model
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from vanishing import ABM, OAVI

X = np.random.default_rng(0).uniform(size=(80, 3))
OTHER_PARAMETERS = {
    "psi": 0.01,
    "oracle": "bpcg",
    "border": "bb",
    "tau": "auto",
    "region": "l2",
    "eps": 1e-2,
    "tol": 1e-5,
    "max_iter": 500,
    "max_degree": 4,
    "max_terms": 30,
    "certify": False,
    "refit": False,
    "known": ["x0 = x1^3"],
    "exclude": ["x1^4"],
    "remove_redundant": True,
    "feature_order": "pearson",
    "absolute": False,
    "chunk_size": 17,
    "n_jobs": 2,
    "verbose": 0,
}


@pytest.mark.filterwarnings("ignore:OAVI", "ignore:ABM")
@parametrize_with_checks(
    [
        OAVI(),
        OAVI(oracle="ls"),
        OAVI(psi=0),
        OAVI(certify=False, refit=False, border="bb", feature_order="pearson", max_degree=3),
        ABM(normalization="gradient"),
        ABM(2.0, normalization="gradient", noise=0.1, border="bb", max_degree=2),
        OAVI(region="l2", remove_redundant=True, max_degree=3),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def circle_or_square(m=300):
    """Two classes: near a circle, and anywhere in the square."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, m)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    circle += rng.normal(scale=0.02, size=circle.shape)
    points = np.vstack([circle, rng.uniform(-1.2, 1.2, size=(m, 2))])
    return points, np.repeat([0, 1], m)


# --------------------------------------------------------------------------------------- output


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output(library):
    frames = pytest.importorskip(library)
    names = ["a", "b", "petal length"]
    frame = frames.DataFrame({name: column for name, column in zip(names, X.T, strict=True)})
    model = OAVI(0.005).set_output(transform=library).fit(frame)
    assert model.feature_names_in_.tolist() == names
    out = model.transform(frame)
    assert isinstance(out, frames.DataFrame)
    assert list(out.columns) == model.get_feature_names_out().tolist()
    assert any("[petal length]" in name for name in out.columns)
    np.testing.assert_array_equal(out.to_numpy(), OAVI(0.005).fit_transform(X))
    if library == "pandas":
        renumbered = frame.set_index(np.arange(80) + 100)
        assert model.transform(renumbered).index.tolist() == list(range(100, 180))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_without_generators(library):
    pytest.importorskip(library)
    with pytest.warns(UserWarning, match="nothing vanishes"):
        model = OAVI(1e-9, max_degree=2).set_output(transform=library).fit(X)
    assert model.transform(X).shape[1] == 0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_in_a_union_are_unique(library):
    frames = pytest.importorskip(library)
    union = make_union(OAVI(0.005), OAVI(0.01, absolute=False)).set_output(transform=library)
    out = union.fit_transform(X)
    assert isinstance(out, frames.DataFrame)
    assert len(set(out.columns)) == out.shape[1] > 5


def test_output_in_the_precision_of_the_input():
    single = X.astype(np.float32)
    model = OAVI(0.005).fit(single)
    out = model.transform(single)
    assert out.dtype == np.float32
    # Computed in double precision, rounded once.
    exact = model.transform(single.astype(np.float64))
    assert exact.dtype == np.float64
    np.testing.assert_array_equal(out, exact.astype(np.float32))
    assert model.coef_.dtype == model.mse_.dtype == np.float64
    assert OAVI(0.005, max_degree=1).fit_transform(np.ones((5, 2), dtype=int)).dtype == np.float64


def test_fit_transform_is_fit_and_transform():
    model = OAVI(0.005)
    np.testing.assert_array_equal(model.fit_transform(X), OAVI(0.005).fit(X).transform(X))
    weights = np.linspace(0, 1, 80)
    weighted = OAVI(0.005).fit(X, sample_weight=weights)
    assert not np.array_equal(weighted.coef_, model.coef_)
    np.testing.assert_array_equal(
        OAVI(0.005).fit_transform(X, sample_weight=weights), weighted.transform(X)
    )


def test_y_is_ignored():
    y = np.arange(80) % 2
    assert_same_model(OAVI(0.005).fit(X, y), OAVI(0.005).fit(X), coef_tol=0)


# ---------------------------------------------------------------------------------- estimators


@pytest.mark.parametrize("parameters", [{}, OTHER_PARAMETERS], ids=["default", "other"])
def test_clone(parameters):
    model = OAVI(**parameters).fit(X)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "terms_")
    assert_same_model(copy.fit(X), model, coef_tol=0)


def test_every_parameter_is_covered():
    assert OTHER_PARAMETERS.keys() == OAVI().get_params().keys()


@pytest.mark.parametrize("parameters", [{}, OTHER_PARAMETERS], ids=["default", "other"])
def test_pickle(parameters):
    model = OAVI(**parameters).fit(X)
    again = pickle.loads(pickle.dumps(model))
    assert again.get_params() == model.get_params()
    assert_same_model(again, model, coef_tol=0)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    assert str(again.generators_) == str(model.generators_)


def test_a_fitted_model_holds_no_rows():
    """Its size does not depend on how many there were."""
    repeated = np.repeat(X, 200, axis=0)
    small, large = (len(pickle.dumps(OAVI(0.005).fit(data))) for data in (X, repeated))
    assert abs(large - small) < 500
    assert large < repeated.nbytes / 10


def test_parameters_are_never_altered():
    model = OAVI(**OTHER_PARAMETERS)
    for _ in range(2):
        model.fit(X).transform(X)
        parameters = model.get_params()
        assert all(parameters[name] is OTHER_PARAMETERS[name] for name in OTHER_PARAMETERS)


# ---------------------------------------------------------------------------------- composition


def test_grid_search_over_psi():
    X_iris, y = load_iris(return_X_y=True)
    transformer = OAVI(max_degree=3)
    pipeline = make_pipeline(MinMaxScaler(), transformer, KNeighborsClassifier())
    grid = {"oavi__psi": [0.03, 0.01, 0.003], "oavi__border": ["gb", "bb"]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X_iris, y)
    assert search.cv_results_["mean_test_score"].shape == (6,)
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    assert search.best_score_ > 0.8
    best = search.best_estimator_.named_steps["oavi"]
    assert best.psi == search.best_params_["oavi__psi"]
    assert best.border == search.best_params_["oavi__border"]
    assert len(search.best_estimator_[:-1].get_feature_names_out()) == best.n_generators_ > 0
    # What was handed in is neither fitted nor changed.
    assert transformer.psi == 0.005
    assert not hasattr(transformer, "terms_")


def test_generators_of_a_class_tell_it_from_another():
    """A circle has an equation that points of the square do not satisfy."""
    points, y = circle_or_square()
    model = OAVI(0.002, oracle="ls", max_degree=2).fit(points[y == 0])
    score = cross_val_score(LogisticRegression(C=1000), model.transform(points), y, cv=3).mean()
    plain = cross_val_score(LogisticRegression(C=1000), points, y, cv=3).mean()
    assert score > 0.9
    assert plain < 0.7


def test_in_a_column_transformer():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    columns = ColumnTransformer([("laws", OAVI(0.005), ["a", "c"])], remainder="passthrough")
    out = columns.set_output(transform="pandas").fit_transform(frame)
    assert out.columns[-1] == "remainder__b"
    expected = OAVI(0.005).fit_transform(X[:, [0, 2]])
    np.testing.assert_array_equal(out.iloc[:, :-1].to_numpy(), expected)
    assert all(name.startswith("laws__|") for name in out.columns[:-1])
    assert out.columns.is_unique
