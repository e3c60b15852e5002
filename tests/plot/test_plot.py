"""Pictures: what is drawn is what was fitted, on the axes given, and matplotlib stays optional."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, minmax_scale

from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingFeatures,
)
from vanishing.plot import (
    CoefficientsDisplay,
    DistanceDisplay,
    PsiPathDisplay,
    StaircaseDisplay,
    ZeroSetDisplay,
    distance_to_variety,
    isosurface,
)
from vanishing.polynomials import Polynomial

matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed_figures():
    plt.close("all")
    yield
    plt.close("all")


def circle(n=60, radius=1.0):
    angle = np.linspace(0, 2 * np.pi, n + 1)[:-1]
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def sphere(n=200):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def circles():
    """Two circles as classes, in units that are far from [0, 1]."""
    X = np.concatenate([circle(), circle(radius=0.5)]) * [20.0, 3.0] + [100.0, -7.0]
    return X, np.repeat(["large", "small"], 60)


def unit_circle_model(**options):
    return OAVI(psi=1e-6, oracle="ls", max_degree=2, **options).fit(circle())


def sphere_function(X):
    return (X**2).sum(axis=1) - 1


def edges_of(faces):
    return np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)


# -- isosurface -----------------------------------------------------------------------------------


@pytest.mark.parametrize("resolution", [6, 13, (9, 14, 11)])
def test_a_sphere_is_a_closed_mesh_of_euler_characteristic_two(resolution):
    vertices, faces = isosurface(sphere_function, [(-1.3, 1.4)] * 3, resolution)
    edges, counts = np.unique(edges_of(faces), axis=0, return_counts=True)
    assert (counts == 2).all()
    assert len(vertices) - len(edges) + len(faces) == 2
    assert np.array_equal(np.unique(faces), np.arange(len(vertices)))


def test_a_torus_has_euler_characteristic_zero():
    def torus(X):
        return (np.hypot(X[:, 0], X[:, 1]) - 1) ** 2 + X[:, 2] ** 2 - 0.16

    vertices, faces = isosurface(torus, [(-1.6, 1.6), (-1.6, 1.6), (-0.7, 0.7)], 30)
    assert len(vertices) - len(np.unique(edges_of(faces), axis=0)) + len(faces) == 0


def test_vertices_are_on_the_surface_to_second_order():
    errors = []
    for resolution in (11, 21, 41):
        vertices, _ = isosurface(sphere_function, [(-1.5, 1.5)] * 3, resolution)
        errors.append(np.abs(np.linalg.norm(vertices, axis=1) - 1).max())
    # Halving the step divides the error by four.
    assert 3 < errors[0] / errors[1] < 5
    assert 3 < errors[1] / errors[2] < 5
    assert errors[2] < 3 * (3 / 40) ** 2


def test_linear_functions_are_met_exactly():
    normal = np.array([1.0, -2.0, 0.5])
    vertices, faces = isosurface(lambda X: X @ normal - 0.3, [(-1, 1), (0, 2), (-3, 3)], 7)
    assert len(faces)
    np.testing.assert_allclose(vertices @ normal, 0.3, atol=1e-12)


def test_faces_turn_towards_positive_values():
    vertices, faces = isosurface(sphere_function, [(-1.31, 1.4)] * 3, 15)
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    normals = np.cross(b - a, c - a)
    outwards = np.einsum("ti,ti->t", normals, a + b + c)
    assert (outwards > 0).all()
    # Its volume, by the divergence theorem, is that of the ball up to the step.
    assert np.einsum("ti,ti->t", normals, a).sum() / 6 == pytest.approx(4 / 3 * np.pi, rel=0.05)


def test_grid_points_on_the_surface_leave_no_cracks():
    # Zeros at grid points: the plane of the middle ones, and a sphere through some.
    vertices, faces = isosurface(lambda X: X[:, 2], [(-1, 1)] * 3, 5)
    assert (vertices[:, 2] == 0).all()
    vertices, faces = isosurface(sphere_function, [(-2, 2)] * 3, 9)
    _, counts = np.unique(edges_of(faces), axis=0, return_counts=True)
    assert (counts == 2).all()


@pytest.mark.parametrize(
    "function",
    [
        lambda X: np.ones(len(X)),
        lambda X: -np.ones(len(X)),
        lambda X: np.full(len(X), np.nan),
        lambda X: (X**2).sum(axis=1) + 0.1,
    ],
)
def test_nothing_found_gives_empty_arrays(function):
    vertices, faces = isosurface(function, [(-1, 1)] * 3, 8)
    assert vertices.shape == (0, 3)
    assert faces.shape == (0, 3)
    assert faces.dtype.kind == "i"


def test_isosurface_takes_a_polynomial():
    ball = Polynomial([[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]], [-1.0, 1.0, 1.0, 1.0])
    vertices, _ = isosurface(ball, [(-1.5, 1.5)] * 3, 25)
    np.testing.assert_allclose(np.linalg.norm(vertices, axis=1), 1, atol=0.01)


@pytest.mark.parametrize(
    ("bounds", "resolution", "function", "match"),
    [
        ([(0, 1)] * 2, 5, sphere_function, "three pairs"),
        ([(0, 1), (1, 0), (0, 1)], 5, sphere_function, "low < high"),
        ([(0, np.inf)] * 3, 5, sphere_function, "finite"),
        ([(0, 1)] * 3, 1, sphere_function, "resolution"),
        ([(0, 1)] * 3, 5, lambda X: X, "one value per row"),
    ],
)
def test_isosurface_says_what_is_wrong(bounds, resolution, function, match):
    with pytest.raises(ValueError, match=match):
        isosurface(function, bounds, resolution)


# -- distance_to_variety --------------------------------------------------------------------------

CIRCLE = Polynomial([[0, 0], [2, 0], [0, 2]], [-1.0, 1.0, 1.0])
CUBIC = Polynomial([[0, 0], [0, 1], [3, 0]], [0.3, -1.0, 1.0])
LINE = Polynomial([[0, 0], [1, 0], [0, 1]], [-1.0, 3.0, 4.0])


def test_points_of_the_variety_have_distance_zero():
    assert distance_to_variety([CIRCLE], circle()).max() < 1e-14


def test_the_distance_to_a_hyperplane_is_exact():
    X = np.random.default_rng(0).normal(size=(50, 2))
    expected = np.abs(X @ [3.0, 4.0] - 1) / 5
    np.testing.assert_allclose(distance_to_variety([LINE], X), expected, rtol=1e-12)
    np.testing.assert_allclose(
        distance_to_variety([Polynomial(LINE.terms, -70 * LINE.coef)], X), expected, rtol=1e-12
    )


@pytest.mark.parametrize("step", [1e-2, -1e-2, 1e-4])
def test_near_the_variety_the_distance_is_right_to_second_order(step):
    found = distance_to_variety([CIRCLE], circle(radius=1 + step))
    np.testing.assert_allclose(found, abs(step), atol=2 * step**2)


@pytest.mark.parametrize("polynomial", [CIRCLE, CUBIC, LINE])
def test_the_distance_is_a_lower_bound_everywhere(polynomial):
    # Zeros of all three, densely enough to know distances to 0.002.
    t = np.linspace(-5, 5, 200_001)
    zeros = {
        id(CIRCLE): circle(10_000),
        id(CUBIC): np.column_stack([t, t**3 + 0.3]),
        id(LINE): np.column_stack([t, (1 - 3 * t) / 4]),
    }[id(polynomial)]
    X = np.random.default_rng(0).uniform(-2, 2, size=(60, 2))
    true = np.array([np.linalg.norm(zeros - x, axis=1).min() for x in X])
    found = distance_to_variety([polynomial], X)
    assert (found <= true + 0.002).all()
    assert np.median(found / true) > 0.5


def test_where_the_gradient_is_zero_the_distance_is_neither_zero_nor_infinite():
    # The centre of a circle, and a point where x^3 + 1 is flat.
    flat = Polynomial([[0, 0], [3, 0]], [1.0, 1.0])
    assert distance_to_variety([CIRCLE], [[0.0, 0.0]])[0] == pytest.approx(2**-0.25)
    assert distance_to_variety([flat], [[0.0, 5.0]])[0] == pytest.approx(1.0)


def test_several_generators_count_by_the_farthest():
    X = np.random.default_rng(0).normal(size=(20, 2))
    single = [distance_to_variety([g], X) for g in (CIRCLE, LINE)]
    np.testing.assert_array_equal(distance_to_variety([CIRCLE, LINE], X), np.maximum(*single))
    np.testing.assert_array_equal(
        distance_to_variety([CIRCLE, LINE, LINE], X), distance_to_variety([CIRCLE, LINE], X)
    )


def test_distances_need_as_many_columns_as_variables():
    with pytest.raises(ValueError, match="2 variables, but X has 3 columns"):
        distance_to_variety([CIRCLE], sphere())


def test_distances_without_generators_and_to_no_zeros_at_all():
    assert distance_to_variety([], [[1.0, 2.0]]).tolist() == [0.0]
    assert distance_to_variety([Polynomial([[0, 0]], [2.0])], [[1.0, 2.0]]).tolist() == [np.inf]


# -- Zero sets ------------------------------------------------------------------------------------


def contour_points(contours):
    return np.concatenate([path.vertices for path in contours.get_paths()])


@pytest.mark.parametrize("model", [OAVI(1e-6), ABM(1e-6), AVI(1e-6), VCA(1e-6)])
def test_the_zero_set_of_a_circle_is_the_circle(model):
    model.set_params(max_degree=2).fit(circle())
    display = ZeroSetDisplay.from_estimator(model, circle())
    points = contour_points(display.contours_[0])
    assert np.abs(np.linalg.norm(points, axis=1) - 1).max() < 1e-2
    assert np.ptp(np.arctan2(*points.T)) > 6
    np.testing.assert_array_equal(display.scatter_[0].get_offsets(), circle())
    assert display.equations == [text.get_text() for text in display.legend_.get_texts()]


def test_values_on_the_grid_are_those_of_the_generators():
    X, y = circles()
    X = minmax_scale(X)
    model = VanishingFeatures(OAVI(0.01)).fit(X, y)
    display = ZeroSetDisplay.from_estimator(model, X, y, generators=[0, 1], resolution=7)
    assert display.owners == [0, 0, 1, 1]
    x0, x1 = display.grid
    for owner, place, values in zip(display.owners, [0, 1, 0, 1], display.values, strict=True):
        g = model.transformers_[owner].generators_[place]
        for i, j in np.ndindex(values.shape):
            assert values[i, j] == pytest.approx(g([[x0[i], x1[j]]])[0], abs=1e-12)


def in_circle_units(points):
    return (points - [100.0, -7.0]) / [20.0, 3.0]


@pytest.mark.parametrize("scale", [True, False, MinMaxScaler((-1, 1))])
def test_classifiers_are_drawn_in_original_units(scale):
    X, y = circles()
    model = VanishingClassifier(OAVI(1e-4, max_degree=2, oracle="ls"), scale=scale)
    if scale is False:
        X = in_circle_units(X)
    model.fit(X, y)
    display = ZeroSetDisplay.from_estimator(model, X, y)
    assert display.ax_.get_xlim()[0] < X[:, 0].min() < X[:, 0].max() < display.ax_.get_xlim()[1]
    assert [len(s.get_offsets()) for s in display.scatter_] == [60, 60]
    for owner, radius in ((0, 1.0), (1, 0.5)):
        points = contour_points(display.contours_[display.owners.index(owner)])
        points = points if scale is False else in_circle_units(points)
        assert np.abs(np.linalg.norm(points, axis=1) - radius).max() < 1e-2


def test_any_scaling_is_applied_to_the_grid():
    X, y = circles()
    model = VanishingClassifier(OAVI(0.01), scale="quantile", clip=True).fit(X, y)
    display = ZeroSetDisplay.from_estimator(model, X, y, generators=[0], resolution=5)
    rows = np.stack(np.meshgrid(*display.grid, indexing="ij"), axis=-1).reshape(-1, 2)
    scaled = model.scaler_.transform(rows)
    for values, transformer in zip(display.values, model.features_.transformers_, strict=True):
        expected = transformer.generators_[0](scaled)
        np.testing.assert_allclose(values.ravel(), expected, atol=1e-12)


def test_a_tuned_classifier_and_a_pipeline_are_drawn_as_what_they_hold():
    X, y = circles()
    model = VanishingClassifierCV(psis=(1e-3,), Cs=(1.0,)).fit(X, y)
    display = ZeroSetDisplay.from_estimator(model, X, y)
    held = ZeroSetDisplay.from_estimator(model.classifier_, X, y)
    np.testing.assert_array_equal(display.values, held.values)
    assert "scaled columns" in display.legend_title

    pipeline = make_pipeline(MinMaxScaler(), OAVI(1e-6, max_degree=2)).fit(X[:60])
    display = ZeroSetDisplay.from_estimator(pipeline, X[:60])
    points = in_circle_units(contour_points(display.contours_[0]))
    assert np.abs(np.linalg.norm(points, axis=1) - 1).max() < 1e-2


@pytest.mark.parametrize(
    "model",
    [
        VanishingClassifier(OAVI(0.01)),
        VanishingClassifier(VCA(0.01, max_degree=3)),
        VanishingClassifier(final_estimator=LogisticRegression()),
    ],
)
def test_classifiers_are_drawn_by_the_generators_with_the_largest_weights(model):
    X, y = load_iris(return_X_y=True)
    X = X[:, [0, 2]]
    weights = model.fit(X, y).final_estimator_.coef_
    weights[:] = np.random.default_rng(0).normal(size=weights.shape)  # the first seldom wins
    display = ZeroSetDisplay.from_estimator(model, X, y, generators=1, resolution=5)
    assert display.owners == [0, 1, 2]
    rows = np.stack(np.meshgrid(*display.grid, indexing="ij"), axis=-1).reshape(-1, 2)
    drawn, start = [], 0
    for values, transformer in zip(display.values, model.features_.transformers_, strict=True):
        stop = start + transformer.n_generators_
        drawn.append(np.abs(weights[:, start:stop]).max(axis=0).argmax())
        start = stop
        expected = transformer.generators_[drawn[-1]](model.scaler_.transform(rows))
        np.testing.assert_allclose(values.ravel(), expected, atol=1e-9)
    assert any(drawn)  # not simply the first ones


@pytest.mark.parametrize(
    "model", [VanishingFeatures(), VanishingClassifier(final_estimator=GaussianNB())]
)
def test_without_weights_the_first_generators_are_drawn(model):
    X, y = load_iris(return_X_y=True)
    model.fit(minmax_scale(X), y)
    options = {"columns": [0, 2], "resolution": 5}
    display = ZeroSetDisplay.from_estimator(model, X, y, generators=2, **options)
    first = ZeroSetDisplay.from_estimator(model, X, y, generators=[0, 1], **options)
    assert display.equations == first.equations


def test_generators_of_a_class_have_its_colour():
    X, y = circles()
    model = VanishingClassifier(OAVI(0.01)).fit(X, y)
    display = ZeroSetDisplay.from_estimator(model, X, y)
    for owner, contours in zip(display.owners, display.contours_, strict=True):
        line = matplotlib.colors.to_hex(contours.get_edgecolor()[0])
        assert line == matplotlib.colors.to_hex(display.scatter_[owner].get_facecolor()[0])


def test_surfaces_in_space():
    X = sphere()
    model = OAVI(1e-6, max_degree=2).fit(X)
    display = ZeroSetDisplay.from_estimator(model, X)
    ((vertices, faces),) = display.meshes_
    np.testing.assert_allclose(np.linalg.norm(vertices, axis=1), 1, atol=1e-2)
    assert len(display.surface_.get_facecolor()) == len(faces)
    display.figure_.canvas.draw()
    again = isosurface(
        lambda rows: model.generators_[0](rows), [(g[0], g[-1]) for g in display.grid], 40
    )
    np.testing.assert_allclose(vertices, again[0], atol=1e-12)


def test_lines_of_a_legend_are_dashed_in_the_plane_only():
    X, y = circles()
    rows = np.column_stack([X, X[:, 0] * X[:, 1]])
    for data, n_styles in ((X, 2), (rows, 1)):
        model = VanishingClassifier(OAVI(0.01)).fit(data, y)
        display = ZeroSetDisplay.from_estimator(model, data, y, generators=2, resolution=9)
        styles = {line.get_linestyle() for line in display.legend_.get_lines()}
        assert len(styles) == n_styles


def test_sections_of_more_columns():
    # x0^2 + x1^2 + x2^2 = 1 with two columns that do not matter.
    X = np.column_stack([sphere(), np.linspace(0, 1, 200), np.linspace(0, 1, 200) ** 2 % 0.3])
    model = OAVI(1e-6, max_degree=2, oracle="omp").fit(X)
    with pytest.raises(ValueError, match="columns="):
        ZeroSetDisplay.from_estimator(model, X)
    for fixed in ({"x2": 0.6}, {2: 0.6}, [9.0, 9.0, 0.6, 0.5, 0.1]):
        display = ZeroSetDisplay.from_estimator(model, X, columns=["x0", 1], fixed=fixed)
        (contours,) = [c for c in display.contours_ if c is not None]
        radius = np.linalg.norm(contour_points(contours), axis=1)
        assert np.abs(radius - 0.8).max() < 1e-2
        assert "0.6" in display.ax_.get_title()
    display = ZeroSetDisplay.from_estimator(model, X, columns=[0, 1, 2], resolution=10)
    assert display.ax_.name == "3d"


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"columns": [0]}, "two or three"),
        ({"columns": [0, 0]}, "two or three"),
        ({"columns": [0, 5]}, "no column 5"),
        ({"columns": [0, "height"]}, "no column 'height'"),
        ({"fixed": [1.0]}, "2 values"),
        ({"generators": [7]}, "generators"),
        ({"generators": 0}, "generators"),
        ({"margin": -1}, "margin"),
        ({"resolution": 1}, "resolution"),
    ],
)
def test_wrong_options_of_zero_sets(options, match):
    with pytest.raises(ValueError, match=match):
        ZeroSetDisplay.from_estimator(unit_circle_model(), circle(), **options)
    assert not plt.get_fignums()


def test_one_column_cannot_be_drawn():
    X = np.array([[0.0], [1.0]])
    with pytest.raises(ValueError, match="two or three"):
        ZeroSetDisplay.from_estimator(OAVI(0.01).fit(X), X)


def test_no_generators_and_no_zeros():
    with pytest.warns(UserWarning, match="nothing vanishes"):
        model = OAVI(1e-9, max_degree=1).fit(circle())
    display = ZeroSetDisplay.from_estimator(model, circle())
    assert display.contours_ == []
    assert display.legend_ is None

    display = ZeroSetDisplay.from_estimator(unit_circle_model(), circle(radius=0.1))
    assert display.contours_ == [None]
    assert "no zeros here" in display.legend_.get_texts()[0].get_text()


def test_surfaces_refuse_a_plane_axes_and_curves_one_in_space():
    _, flat = plt.subplots()
    space = plt.figure().add_subplot(projection="3d")
    with pytest.raises(ValueError, match="projection='3d'"):
        ZeroSetDisplay.from_estimator(OAVI(1e-6, max_degree=2).fit(sphere()), sphere(), ax=flat)
    with pytest.raises(ValueError, match="projection='3d'"):
        ZeroSetDisplay.from_estimator(unit_circle_model(), circle(), ax=space)


def test_names_are_written_as_they_are():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(circle(), columns=["price in $", "_a$b_"])
    display = ZeroSetDisplay.from_estimator(unit_circle_model().fit(X), X)
    display.figure_.canvas.draw()  # an unescaped dollar sign would be an error here
    assert display.ax_.get_xlabel() == r"price in \$"


def test_a_letter_with_an_underscore_is_no_symbol():
    display = StaircaseDisplay(
        terms=np.array([[0, 0]]), leading_terms=np.array([[1, 0], [0, 1]]), names=["x_", "y_1"]
    ).plot()
    assert display.ax_.get_xlabel() == "exponent of x_"
    assert display.ax_.get_ylabel() == "exponent of $y_{1}$"


# -- Staircase ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [OAVI(1e-4), OAVI(1e-4, border="bb"), ABM(1e-5), OAVI(0.02, max_degree=2)]
)
def test_cells_are_the_terms(model):
    X = np.random.default_rng(0).uniform(size=(20, 2))
    model.fit(X)
    display = StaircaseDisplay.from_estimator(model)
    codes = (
        display.cells_.get_array()
        .filled(0)
        .reshape(display.cells_.get_coordinates().shape[0] - 1, -1)
    )
    cells = [{(a, b) for b, a in np.argwhere(codes == k).tolist()} for k in (1, 2)]
    terms = {tuple(term) for term in model.terms_.tolist()}
    assert cells[1] == terms
    steps = {(a + 1, b) for a, b in terms} | {(a, b + 1) for a, b in terms}
    assert cells[0] == steps - terms == {tuple(t) for t in display.border.tolist()}
    marked = display.leading_.get_offsets()
    np.testing.assert_array_equal(np.rint(marked), model.leading_terms_)
    assert {tuple(t) for t in model.leading_terms_.tolist()} <= cells[0]


def test_the_stairs_lead_from_axis_to_axis():
    model = OAVI(1e-4).fit(np.random.default_rng(0).uniform(size=(20, 2)))
    segments = np.array(StaircaseDisplay.from_estimator(model).stairs_.get_segments())
    # The outline of an order ideal is as long as its widest row and its highest column.
    width, height = model.terms_.max(axis=0) + 1
    assert len(segments) == width + height
    np.testing.assert_allclose(np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1), 1)


def test_a_staircase_needs_two_variables_monomials_and_a_class():
    with pytest.raises(ValueError, match="2 variables; OAVI was fitted to 3"):
        StaircaseDisplay.from_estimator(OAVI(0.01).fit(sphere()))
    with pytest.raises(TypeError, match="VCA has no staircase"):
        StaircaseDisplay.from_estimator(VCA(0.01).fit(circle()))
    X, y = circles()
    model = VanishingClassifier().fit(X, y)
    with pytest.raises(ValueError, match="one of large, small"):
        StaircaseDisplay.from_estimator(model, class_of_interest="medium")
    with pytest.raises(ValueError, match="no classes"):
        StaircaseDisplay.from_estimator(unit_circle_model(), class_of_interest="large")
    assert not plt.get_fignums()
    only = VanishingFeatures(OAVI(0.01)).fit(X[:60], y[:60])
    assert len(StaircaseDisplay.from_estimator(only).terms) == only.n_terms_
    display = StaircaseDisplay.from_estimator(model, class_of_interest="small")
    np.testing.assert_array_equal(display.terms, model.features_.transformers_[1].terms_)
    assert "small" in display.ax_.get_title()


# -- Path over psi --------------------------------------------------------------------------------

PSIS = [0.01, 0.1, 0.001]


def path_values(model, models):
    mse = np.concatenate([m.mse_ for m in models])
    largest, median = (mse.max(), np.median(mse)) if mse.size else (np.nan, np.nan)
    return model.n_generators_, model.n_terms_, largest, median, model.sparsity_


def drawn(display):
    names = ("n_generators", "n_terms", "max_mse", "median_mse", "sparsity")
    for name in names:
        np.testing.assert_array_equal(display.lines_[name].get_ydata(), getattr(display, name))
        np.testing.assert_array_equal(display.lines_[name].get_xdata(), sorted(PSIS))
    return np.column_stack([getattr(display, name) for name in names])


@pytest.mark.parametrize("model", [OAVI(), ABM(border="bb"), VCA(max_degree=3)])
def test_a_path_is_that_of_separately_fitted_models(model):
    X = minmax_scale(load_iris().data)
    display = PsiPathDisplay.from_estimator(model, X, psis=PSIS)
    fitted = [type(model)(**{**model.get_params(), "psi": p}).fit(X) for p in sorted(PSIS)]
    expected = [path_values(m, [m]) for m in fitted]
    np.testing.assert_array_equal(drawn(display), expected)
    assert model.psi == 0.005
    assert not hasattr(model, "generators_")


def test_a_path_of_classifiers_is_that_of_separately_fitted_ones():
    X, y = load_iris(return_X_y=True)
    fitted = [VanishingClassifier(OAVI(p)).fit(X, y) for p in sorted(PSIS)]
    expected = [path_values(m, m.features_.transformers_) for m in fitted]
    pipeline = make_pipeline(MinMaxScaler(), VanishingFeatures())
    for model in (VanishingClassifier(), VanishingClassifierCV(), pipeline):
        display = PsiPathDisplay.from_estimator(model, X, y, psis=PSIS)
        np.testing.assert_allclose(drawn(display), expected, rtol=1e-9)
        assert "all classes" in display.title
        plt.close("all")


def test_a_path_of_a_search_has_the_scaling_and_oracle_it_found():
    X, y = load_iris(return_X_y=True)
    search = VanishingClassifierCV(psis=PSIS).fit(X, y)
    search.classifier_.set_params(scale="log", transformer=OAVI(oracle="omp"))
    display = PsiPathDisplay.from_estimator(search, X, y, psis=PSIS)
    fitted = [
        VanishingClassifier(OAVI(p, oracle="omp"), scale="log").fit(X, y) for p in sorted(PSIS)
    ]
    expected = [path_values(m, m.features_.transformers_) for m in fitted]
    np.testing.assert_allclose(drawn(display), expected, rtol=1e-9)


def test_a_path_goes_through_where_nothing_vanishes(recwarn):
    display = PsiPathDisplay.from_estimator(OAVI(max_degree=1), circle(), psis=[1e-4, 0.9])
    assert display.n_generators[0] == 0
    assert np.isnan(display.max_mse[0])
    display.figure_.canvas.draw()
    assert not [w for w in recwarn if "nothing vanishes" in str(w.message)]


@pytest.mark.parametrize("psis", [[0.0, 0.1], [1.0], [-0.1], []])
def test_psis_must_be_in_range(psis):
    with pytest.raises(ValueError, match="psis"):
        PsiPathDisplay.from_estimator(OAVI(), circle(), psis=psis)
    assert not plt.get_fignums()


# -- Coefficients ---------------------------------------------------------------------------------


def test_entries_are_the_coefficients_and_zeros_are_blank():
    X = minmax_scale(load_iris().data)
    model = OAVI(0.001).fit(X)
    image = CoefficientsDisplay.from_estimator(model).image_.get_array()
    np.testing.assert_array_equal(image.filled(0), model.coef_)
    np.testing.assert_array_equal(image.mask, model.coef_ == 0)
    assert 0 < image.mask.mean() < 1


def test_colours_are_symmetric_and_labels_name_the_terms():
    model = unit_circle_model()
    display = CoefficientsDisplay.from_estimator(model)
    low, high = display.image_.get_clim()
    assert low == -high < 0
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["$x_{1}^{2}$"]
    assert [t.get_text() for t in display.ax_.get_xticklabels()][:3] == [
        "$1$",
        "$x_{0}$",
        "$x_{1}$",
    ]


def test_many_generators_have_fewer_labels():
    X, y = load_wine(return_X_y=True)
    model = VanishingClassifier(OAVI(0.001, oracle="omp")).fit(X, y)
    display = CoefficientsDisplay.from_estimator(model, class_of_interest=0)
    n_labels = len(display.ax_.get_yticks())
    assert len(display.coef) > 2 * n_labels
    assert n_labels > 10
    np.testing.assert_array_equal(display.coef, model.features_.transformers_[0].coef_)
    for tick, text in zip(display.ax_.get_yticks(), display.ax_.get_yticklabels(), strict=True):
        assert text.get_text() == display.leading_names[int(tick)]


def test_components_are_expanded():
    model = VCA(1e-6, max_degree=2).fit(circle())
    display = CoefficientsDisplay.from_estimator(model)
    g = model.generators_[0]
    assert display.term_names[0] == "$1$"
    np.testing.assert_array_equal(display.coef[display.coef != 0], g.coef)


def test_no_generators_have_no_coefficients(recwarn):
    with pytest.warns(UserWarning, match="nothing vanishes"):
        model = OAVI(1e-9, max_degree=1).fit(circle())
    display = CoefficientsDisplay.from_estimator(model)
    display.figure_.canvas.draw()
    assert display.coef.shape == (0, 3)
    assert not recwarn.list


# -- Distances ------------------------------------------------------------------------------------


def test_distances_are_those_to_the_variety_of_each_class():
    X, y = circles()
    X = in_circle_units(X)
    model = VanishingFeatures(OAVI(1e-6, max_degree=2, oracle="ls")).fit(X, y)
    display = DistanceDisplay.from_estimator(model, X, y)
    assert np.abs(display.distances[y == "large", 0]).max() < 1e-9
    assert np.abs(display.distances[y == "small", 1]).max() < 1e-9
    # Half a unit from circle to circle, of which the lower bound has the larger part.
    for rows, variety in (("small", 0), ("large", 1)):
        others = display.distances[y == rows, variety]
        assert 0.3 < others.min() <= others.max() <= 0.5
    assert [axis.get_title() for axis in display.axes_] == [
        "to the variety of large",
        "to the variety of small",
    ]
    medians = [[m.get_ydata()[0] for m in boxes["medians"]] for boxes in display.boxes_]
    expected = [
        [np.median(display.distances[y == label, k]) for label in ("large", "small")]
        for k in (0, 1)
    ]
    np.testing.assert_allclose(medians, np.maximum(expected, 1e-6 * display.distances.max()))


def test_distances_of_a_classifier_are_in_scaled_columns():
    X, y = circles()
    model = VanishingClassifier(OAVI(0.001)).fit(X, y)
    display = DistanceDisplay.from_estimator(model, X, y)
    scaled = MinMaxScaler().fit_transform(X)
    for k, transformer in enumerate(model.features_.transformers_):
        expected = distance_to_variety(transformer.generators_, scaled)
        np.testing.assert_allclose(display.distances[:, k], expected, rtol=1e-9, atol=1e-12)
    assert "scaled" in display.axes_[0].get_ylabel()


def test_distances_without_classes():
    model = unit_circle_model()
    X = np.concatenate([circle(), circle(radius=2)])
    display = DistanceDisplay.from_estimator(model, X)
    assert display.distances.shape == (120, 1)
    assert len(display.boxes_[0]["boxes"]) == 1
    display = DistanceDisplay.from_estimator(model, X, np.repeat([1, 2], 60))
    assert len(display.boxes_[0]["boxes"]) == 2


def test_distances_need_labels_that_are_known():
    X, y = circles()
    model = VanishingClassifier().fit(X, y)
    with pytest.raises(ValueError, match="y is needed"):
        DistanceDisplay.from_estimator(model, X)
    with pytest.raises(ValueError, match="not fitted to: \\['medium'\\]"):
        DistanceDisplay.from_estimator(model, X, ["medium"] * len(X))
    with pytest.raises(ValueError, match="inconsistent"):
        DistanceDisplay.from_estimator(model, X, y[1:])
    assert not plt.get_fignums()


# -- What all displays share ----------------------------------------------------------------------


def from_circles(display):
    """A way to make each display from a classifier, with no arguments but ax."""
    X, y = circles()
    model = VanishingClassifier(OAVI(0.01)).fit(X, y)
    arguments = {
        ZeroSetDisplay: ((X, y), {}),
        StaircaseDisplay: ((), {"class_of_interest": "large"}),
        PsiPathDisplay: ((X, y), {"psis": [0.01, 0.1]}),
        CoefficientsDisplay: ((), {"class_of_interest": "large"}),
        DistanceDisplay: ((X, y), {}),
    }
    rest, options = arguments[display]
    return lambda **more: display.from_estimator(model, *rest, **options, **more)


ONE_PANEL = [ZeroSetDisplay, StaircaseDisplay, CoefficientsDisplay]
PANELS = [(PsiPathDisplay, 4), (DistanceDisplay, 2)]
DISPLAYS = [*ONE_PANEL, *(display for display, _ in PANELS)]


@pytest.mark.parametrize("display", ONE_PANEL)
def test_a_given_axes_is_drawn_on(display):
    figure, ax = plt.subplots()
    shown = from_circles(display)(ax=ax)
    assert shown.ax_ is ax
    assert shown.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    assert ax.has_data()


@pytest.mark.parametrize(("display", "n_panels"), PANELS)
def test_given_axes_are_panels_and_one_is_divided(display, n_panels):
    make = from_circles(display)
    figure, axes = plt.subplots(n_panels)
    shown = make(ax=axes)
    assert list(shown.axes_) == list(axes)
    assert all(axis.has_data() for axis in axes)

    other, ax = plt.subplots()
    shown = make(ax=ax)
    assert len(shown.axes_) == n_panels
    assert shown.figure_ is other
    assert not ax.axison
    assert plt.get_fignums() == [figure.number, other.number]

    with pytest.raises(ValueError, match=f"{n_panels} panels; got 3"):
        make(ax=plt.subplots(3)[1])
    with pytest.raises(ValueError, match="made by subplots"):
        make(ax=plt.figure().add_axes((0, 0, 1, 1)))


@pytest.mark.parametrize("display", DISPLAYS)
def test_plot_draws_again_and_returns_the_display(display, recwarn):
    shown = from_circles(display)()
    first = shown.figure_
    first.canvas.draw()
    assert shown.plot() is shown
    assert shown.figure_ is not first
    assert len(plt.get_fignums()) == 2
    assert not recwarn.list


@pytest.mark.parametrize("display", [ZeroSetDisplay, DistanceDisplay])
def test_rows_must_have_the_columns_of_the_fit(display):
    with pytest.raises(ValueError, match="X has 3 features, but OAVI is expecting 2"):
        display.from_estimator(unit_circle_model(), sphere())


@pytest.mark.parametrize("display", [ZeroSetDisplay, DistanceDisplay])
def test_rows_must_have_the_order_of_columns_of_the_fit(display):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(circle() * [1.0, 5.0], columns=["p", "q"])
    with pytest.raises(ValueError, match="must be in the same order"):
        display.from_estimator(OAVI(0.01).fit(X), X[["q", "p"]])


@pytest.mark.parametrize("display", DISPLAYS)
def test_part_of_a_figure_is_drawn_on(display):
    ax = plt.figure().subfigures(1, 2)[0].subplots()
    assert from_circles(display)(ax=ax).figure_ is ax.figure


@pytest.mark.parametrize("display", DISPLAYS)
def test_estimators_without_generators_are_refused(display):
    rest = () if display in (StaircaseDisplay, CoefficientsDisplay) else (circle(),)
    with pytest.raises(TypeError, match=r"LinearRegression has no (generators|parameter psi)"):
        display.from_estimator(LinearRegression(), *rest)
    if display is not PsiPathDisplay:
        for model in (OAVI(), VanishingFeatures(), VanishingClassifier(), VanishingClassifierCV()):
            with pytest.raises(NotFittedError):
                display.from_estimator(model, *rest)
    assert not plt.get_fignums()


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.slow
def test_matplotlib_is_not_imported_with_the_package():
    code = "import sys, vanishing, vanishing.plot; print('matplotlib' in sys.modules)"
    assert run(code) == "False"


@pytest.mark.slow
def test_without_matplotlib_the_error_says_what_to_install():
    code = """
import sys
sys.modules["matplotlib"] = None
from vanishing import OAVI
from vanishing.plot import *
X = [[0.0, 1.0], [1.0, 0.0]]
model = OAVI(0.01).fit(X)
for make in (
    lambda: ZeroSetDisplay.from_estimator(model, X),
    lambda: StaircaseDisplay.from_estimator(model),
    lambda: PsiPathDisplay.from_estimator(model, X),
    lambda: CoefficientsDisplay.from_estimator(model),
    lambda: DistanceDisplay.from_estimator(model, X),
    lambda: DistanceDisplay(distances=None, labels=None, classes=[], varieties=[]).plot(),
):
    try:
        make()
    except ImportError as error:
        assert 'python -m pip install ".[app]"' in str(error), error
    else:
        raise AssertionError
distance_to_variety(model.generators_, X)
isosurface(lambda X: X[:, 0], [(-1, 1)] * 3, 3)
print("done")
"""
    assert run(code) == "done"
