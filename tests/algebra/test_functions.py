"""Functions that formulas may have: the registry, and functions of users in it."""

import pickle
import re

import numpy as np
import pytest

import vanishing
from vanishing.algebra import functions
from vanishing.algebra.functions import FUNCTIONS, IN_SOLUTIONS, Function


def softplus(x):
    return np.log1p(np.exp(x))


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def bell(x):
    return sigmoid(x) * (1.0 - sigmoid(x))


def softplus_undone(y):
    return np.log(np.expm1(y))


PARTS = ("softplus", softplus, sigmoid, bell, softplus_undone)
MISSING = r"'softplus' is no function .* by vanishing\.register_function\('softplus'"


@pytest.fixture(autouse=True)
def _unchanged():
    before = dict(FUNCTIONS)
    yield
    FUNCTIONS.clear()
    FUNCTIONS.update(before)


@pytest.mark.parametrize("function", [*FUNCTIONS.values(), *IN_SOLUTIONS], ids=lambda f: f.name)
def test_own_functions_pass_the_checks_of_users_functions(function):
    with np.errstate(all="ignore"):
        functions._check_values(function)


def test_a_function_can_be_registered_and_forgotten():
    function = vanishing.register_function(
        "softplus", softplus, sigmoid, second_derivative=bell, inverse=softplus_undone
    )
    assert function == Function(*PARTS) == FUNCTIONS["softplus"]
    assert vanishing.register_function(Function(*PARTS)) is function
    assert pickle.loads(pickle.dumps(function)) is function
    vanishing.unregister_function("softplus")
    assert "softplus" not in FUNCTIONS


def test_a_pickled_function_that_is_missing_is_named():
    function = vanishing.register_function(Function(*PARTS))
    pickled = pickle.dumps(function)
    vanishing.unregister_function("softplus")
    with pytest.raises(ValueError, match=MISSING):
        pickle.loads(pickled)


def test_what_undoes_a_function_has_its_own_name_where_that_is_known():
    assert FUNCTIONS["tanh"].undone == ("arctanh", np.arctanh)
    assert Function("square", np.square, lambda x: 2 * x).undone is None
    function = Function(*PARTS)
    assert function.undone == ("inverse_softplus", softplus_undone)
    vanishing.register_function("softminus", softplus_undone, lambda y: 1 / -np.expm1(-y))
    assert function.undone == ("softminus", softplus_undone)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (("soft plus", softplus, sigmoid), ValueError, "must be a word such as 'softplus'"),
        (("lambda", softplus, sigmoid), ValueError, "must be a word"),
        ((3, softplus, sigmoid), ValueError, "must be a word"),
        (("sin", np.sin, np.cos), ValueError, "'sin' is a name of the library's own"),
        (("ln", np.log, np.reciprocal), ValueError, "'ln' is a name of the library's own"),
        (("softplus", softplus), TypeError, "needs a value and a derivative"),
        (("softplus", softplus, 1.0), TypeError, "the derivative of 'softplus' must be callable"),
        (("softplus", softplus, bell), ValueError, "the derivative of 'softplus' is 0.00067"),
        (("sums", np.sum, np.ones_like), ValueError, "one real number of each of an array"),
        (("never", lambda x: x * np.nan, np.ones_like), ValueError, "is defined nowhere between"),
        (("gap", np.abs, lambda x: x * np.nan), ValueError, "the derivative of 'gap' is nan"),
    ],
)
def test_what_is_no_function_is_refused(arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        vanishing.register_function(*arguments)


def test_wrong_second_derivatives_and_inverses_are_refused():
    with pytest.raises(ValueError, match=r"the second_derivative of 'softplus' is .*, where"):
        vanishing.register_function("softplus", softplus, sigmoid, second_derivative=sigmoid)
    with pytest.raises(ValueError, match="the inverse of 'softplus' does not undo it"):
        vanishing.register_function("softplus", softplus, sigmoid, inverse=np.log)


def test_a_name_has_one_meaning():
    vanishing.register_function("softplus", softplus, sigmoid)
    with pytest.raises(ValueError, match="registered already, and differs"):
        vanishing.register_function("softplus", np.sinh, np.cosh)
    for name in ("sin", "softminus"):
        with pytest.raises(ValueError, match="these are: 'softplus'"):
            vanishing.unregister_function(name)


# -- In laws --------------------------------------------------------------------------------------


@pytest.fixture
def law():
    """A law with a function of a user, from text."""
    vanishing.register_function(Function(*PARTS))
    x = np.linspace(-2.0, 3.0, 40)
    return vanishing.check_law("y = a*softplus(2*x0)", x[:, np.newaxis], 3.0 * softplus(2.0 * x))


def test_equations_may_have_a_function_of_a_user(law):
    assert str(law) == "y = 3*softplus(2*x0)"
    np.testing.assert_allclose(law.predict([[0.7]]), [3.0 * softplus(1.4)], rtol=1e-12)


def test_laws_are_solved_by_the_inverse_of_a_function(law):
    assert str(law.solve("x0")) == "x0 = 0.5*inverse_softplus(0.333333*y)"
    x = np.linspace(-1.0, 1.0, 9)
    y = law.predict(x[:, np.newaxis])
    solved = law.solve("x0").predict(np.column_stack([x, y]))
    np.testing.assert_allclose(solved, x, atol=1e-12)


def test_a_law_cannot_be_solved_without_an_inverse():
    vanishing.register_function("softplus", softplus, sigmoid)
    x = np.linspace(-2.0, 3.0, 40)
    law = vanishing.check_law("y = a*softplus(x0)", x[:, np.newaxis], softplus(x))
    with pytest.raises(ValueError, match="no closed form for 'x0'"):
        law.solve("x0")


def test_a_saved_law_says_which_function_has_to_be_registered(law, tmp_path):
    law.save(tmp_path / "law.json")
    again = vanishing.load(tmp_path / "law.json")
    assert again._terms == law._terms
    np.testing.assert_array_equal(again.predict([[0.7]]), law.predict([[0.7]]))
    vanishing.unregister_function("softplus")
    with pytest.raises(ValueError, match=MISSING):
        vanishing.load(tmp_path / "law.json")


def test_a_law_whose_function_was_forgotten_is_not_saved(law, tmp_path):
    vanishing.unregister_function("softplus")
    with pytest.raises(TypeError, match=r"by its name \(vanishing\.register_function\)"):
        law.save(tmp_path / "law.json")
