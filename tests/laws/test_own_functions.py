"""Functions from outside the package: as links of the target, and in terms of the search."""

import numpy as np
import pytest
from scipy.special import erf, expit

import vanishing
from vanishing import LawFinder, check_law, laws


def logit(x):
    """The logarithm of the odds, which has poles at 0 and 1."""
    return np.log(x) - np.log1p(-x)


@pytest.fixture
def functions():
    """Two functions: logit, which can be a link, and erf, which cannot."""
    vanishing.register_function(
        "logit",
        logit,
        lambda x: 1 / (x * (1 - x)),
        second_derivative=lambda x: (2 * x - 1) / (x * (1 - x)) ** 2,
        inverse=expit,
    )
    vanishing.register_function("erf", erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-(x**2)))
    yield
    vanishing.unregister_function("logit")
    vanishing.unregister_function("erf")


@pytest.fixture
def link(functions):
    laws.register_link("logit")
    yield
    laws.unregister_link("logit")


@pytest.fixture
def stage(functions):
    laws.register_stage("error function", "erf")
    yield
    laws.unregister_stage("error function")


def table(noise, value):
    rng = np.random.default_rng(0)
    X = rng.uniform([-1, 0.5], [1, 2], (1000, 2))
    return X, value(*X.T) + noise * rng.normal(size=1000)


def saturating(u, v):
    return expit(1.5 * u * v + 0.4 * v - 0.7)


def diffusing(u, v):
    return 2 * v * erf(v) + 0.5 * u**2


# -- Links ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_link_is_tried_and_its_law_predicts_and_is_solved(link, noise):
    X, y = table(noise, saturating)
    (law,) = LawFinder().fit(X, y).laws_
    assert str(law).startswith("y = inverse_logit(") and law.n_terms == 4
    np.testing.assert_allclose(law.predict(X), saturating(*X.T), atol=max(noise / 3, 1e-12))
    x0 = law.solve("x0")
    assert "logit(y)" in str(x0)
    if not noise:
        np.testing.assert_allclose(x0.predict(np.column_stack([X, y])), X[:, 0], rtol=1e-9)


def test_noise_beyond_what_a_link_is_defined_for_does_not_stop_it(link):
    rng = np.random.default_rng(1)
    X = rng.uniform([-1, 0.5], [1, 2], (3000, 2))
    y = expit(3 * X[:, 0] * X[:, 1]) + 0.01 * rng.normal(size=3000)
    assert 0.01 < np.mean((y <= 0) | (y >= 1)) < 0.02
    (law,) = LawFinder().fit(X, y).laws_
    assert law.n_terms == 2 and abs(law.coef[1] + 3) < 0.02


def test_a_target_outside_of_a_link_is_searched_without_it(link):
    X, y = table(0.0, lambda u, v: 5 + u * v)
    assert str(LawFinder().fit(X, y).laws_[0]) == "y = 5 + x0*x1"


def test_without_its_link_there_is_no_such_law(functions):
    X, y = table(0.01, saturating)
    assert "logit" not in str(LawFinder(functions=()).fit(X, y).laws_)


def test_functions_of_the_library_can_become_links():
    X, y = table(0.0, lambda u, v: np.arctanh(0.4 * u * v + 0.1))
    laws.register_link("tanh")
    try:
        assert str(LawFinder().fit(X, y).laws_[0]) == "y = arctanh(0.1 + 0.4*x0*x1)"
    finally:
        laws.unregister_link("tanh")


def test_links_that_cannot_be(link):
    with pytest.raises(ValueError, match="'erf' lacks one of them: give both to"):
        laws.register_link("erf")
    for name in ("logit", "log", "sin"):
        with pytest.raises(ValueError, match=f"'{name}' is a link already"):
            laws.register_link(name)
    with pytest.raises(ValueError, match=r"'sech'.* has to be registered first"):
        laws.register_link("sech")
    for name in ("log", "erf", "Y^2"):
        with pytest.raises(ValueError, match="is no link that was registered; these are: 'logit'"):
            laws.unregister_link(name)


# -- Stages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_stage_is_tried_by_itself(stage, noise):
    X, y = table(noise, diffusing)
    (law,) = LawFinder().fit(X, y).laws_
    assert "x1*erf(x1)" in str(law) and law.n_terms == 3
    np.testing.assert_allclose(law.predict(X), y, atol=5 * noise + 1e-12)


@pytest.mark.parametrize("asked", [("erf",), {"x1": ("erf",)}, {1: "erf"}])
def test_a_function_is_asked_for_by_its_name(functions, asked):
    X, y = table(0.01, diffusing)
    (law,) = LawFinder(functions=asked).fit(X, y).laws_
    assert "x1*erf(x1)" in str(law) and law.n_terms == 3


def test_an_equation_may_have_the_function(functions):
    X, y = table(0.01, diffusing)
    law = check_law("y = a*x1*erf(x1) + b*x0**2", X, y)
    assert law.verdict.startswith("holds") and abs(law.constants["a"][0] - 2) < 0.01


def test_squares_and_pairs_of_functions_are_terms_where_they_are_asked_for(functions):
    X, y = table(0.0, lambda u, v: v + 3 * erf(u) ** 2)
    assert not LawFinder(functions=("erf",)).fit(X, y).laws_
    laws.register_stage("squares", ["erf"], squares=True)
    try:
        assert str(LawFinder().fit(X, y).laws_[0]) == "y = x1 + 3*erf(x0)^2"
    finally:
        laws.unregister_stage("squares")


def test_stages_that_cannot_be(stage):
    with pytest.raises(ValueError, match="there is a stage 'error function' already"):
        laws.register_stage("error function", "erf")
    with pytest.raises(ValueError, match="at least one function"):
        laws.register_stage("nothing", ())
    with pytest.raises(ValueError, match=r"'sech'.* has to be registered first"):
        laws.register_stage("hyperbolic", ("erf", "sech"))
    with pytest.raises(ValueError, match="is no stage that was registered; these are: 'error fun"):
        laws.unregister_stage("powers")


# -- Files ----------------------------------------------------------------------------------------


def test_a_saved_finder_asks_for_its_functions(tmp_path, stage):
    X, y = table(0.01, diffusing)
    finder = LawFinder().fit(X, y)
    finder.save(tmp_path / "laws.json")
    again = vanishing.load(tmp_path / "laws.json")
    np.testing.assert_array_equal(again.predict(X), finder.predict(X))
    assert str(again.laws_[0]) == str(finder.laws_[0])
    laws.unregister_stage("error function")
    vanishing.unregister_function("erf")
    try:
        with pytest.raises(ValueError, match=r"'erf'.*registered first.*register_function\('erf'"):
            vanishing.load(tmp_path / "laws.json")
    finally:
        vanishing.register_function("erf", erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-(x**2)))
        laws.register_stage("error function", "erf")


# -- What functions are used by, and what they are called -----------------------------------------


def test_a_function_that_a_search_tries_is_not_forgotten(functions, link, stage):
    for name, undo in (("logit", "unregister_link"), ("erf", "unregister_stage")):
        with pytest.raises(ValueError, match=rf"{name!r} is in use: call vanishing.laws.{undo}"):
            vanishing.unregister_function(name)
    X, y = table(0.0, lambda u, v: 3 * u + 2 * v**2)
    assert LawFinder().fit(X, y).laws_  # links and stages are whole


def test_a_function_that_is_registered_again_is_the_same(tmp_path):
    parts = {"second_derivative": np.sinh, "inverse": np.arcsinh}
    x = np.linspace(0.5, 2, 30)[:, np.newaxis]
    vanishing.register_function("sinh", np.sinh, np.cosh, **parts)
    law = check_law("y = a*sinh(x0)", x, 3 * np.sinh(x[:, 0]))
    vanishing.unregister_function("sinh")
    vanishing.register_function("sinh", np.sinh, np.cosh, **parts)
    law.save(tmp_path / "law.json")
    # What undoes it is NumPy's, and is written by that name.
    assert law.solve("x0").write("python") == "np.arcsinh(0.3333333333333333*y)"
    assert law.solve("x0").write("c") == "asinh(0.3333333333333333 * y)"
    vanishing.unregister_function("sinh")


class Own:
    """A callable with a name and a derivative."""

    def __init__(self, name, value, derivative):
        self.name, self.value, self.derivative = name, value, derivative

    def __call__(self, x):
        return self.value(x)


def test_the_name_of_a_callable_has_one_meaning():
    X = np.random.default_rng(0).uniform(0.5, 2, (120, 2))
    y = 3 * X[:, 0] + 2 * X[:, 1] * np.cbrt(X[:, 0])
    cube_root = Own("cbrt", np.cbrt, lambda x: 1 / (3 * np.cbrt(x) ** 2))
    assert "cbrt(" in str(LawFinder(functions=(cube_root,)).fit(X, y).laws_[0])
    other = Own("log", np.log1p, lambda x: 1 / (1 + x))
    with pytest.raises(ValueError, match="'log' has the name of another one: choose another"):
        LawFinder(functions=(other,)).fit(X, y)


def test_functions_are_asked_for_by_what_registering_returns(functions):
    function = vanishing.register_function("squared", np.square, lambda x: 2 * x)
    X, y = table(0.0, lambda u, v: 3 * u + 2 * v**2)
    assert LawFinder(functions=(function,)).fit(X, y).laws_
    vanishing.unregister_function("squared")


def test_functions_of_numbers_are_functions_of_arrays():
    values = lambda x: np.array([np.exp(v) for v in x])  # noqa: E731
    vanishing.register_function("gam", values, values)
    x = np.linspace(1, 2, 20)[:, np.newaxis]
    assert str(check_law("y = a*x0^gam(0)", x, 3 * x[:, 0])) == "y = 3*x0"
    assert check_law("y = a*gam(2)*x0", x, 3 * x[:, 0]).error < 1e-9
    vanishing.unregister_function("gam")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: laws.register_stage(5, "tanh"), "the name of a stage must be a text"),
        (lambda: laws.register_stage("s", (np.tanh,)), "a function goes by its name"),
        (lambda: laws.register_link(["tanh"]), "a function goes by its name"),
        (lambda: laws.register_link("sqrt"), "'sqrt' is a link already"),
    ],
)
def test_what_is_no_stage_or_link_is_refused(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
