"""Known equations and excluded terms: what else holds?"""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers import as_tuples
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from vanishing import OAVI, Moments, VanishingFeatures, load
from vanishing.algebra.consequences import leading_terms
from vanishing.polynomials import Polynomial, parse_equation

sympy = pytest.importorskip("sympy")


def curve(m=60):
    """Points with three equations: a circle, and two products."""
    angle = np.linspace(0, 6, m)
    x, y = np.cos(angle), np.sin(angle)
    return np.column_stack([x, y, x * y])


CIRCLE, PRODUCT = "x0^2 + x1^2 = 1", "x2 = x0*x1"


def fit(known=None, **options):
    options = {"psi": 1e-9, "oracle": "ls", "max_degree": 4, **options}
    return OAVI(known=known, **options).fit(curve())


# ---------------------------------------------------------------------- what follows from equations


@pytest.mark.parametrize("seed", range(8))
def test_leading_terms_are_those_of_sympy(seed):
    """Of homogeneous polynomials, whose consequences up to a degree are of degrees up to it."""
    rng = np.random.default_rng(seed)
    columns = rng.permutation(3)
    names = sympy.symbols("x0:3")
    texts, degree = [], 6
    for _ in range(2):
        d = int(rng.integers(1, 4))
        terms = [t for t in np.ndindex(4, 4, 4) if sum(t) == d]
        chosen = rng.choice(len(terms), size=min(3, len(terms)), replace=False)
        parts = [f"{int(rng.integers(1, 9))}/7*x0^{a}*x1^{b}*x2^{c}"
                 for a, b, c in (terms[i] for i in chosen)]  # fmt: skip
        texts.append(" - ".join(parts))
    equations = [parse_equation(text, ["x0", "x1", "x2"]) for text in texts]
    found = leading_terms(equations, columns, degree)
    order = [names[i] for i in columns[::-1]]
    expressions = [sympy.sympify(text.replace("^", "**")) for text in texts]
    basis = sympy.groebner(expressions, *order, order="grlex")
    expected = []
    for polynomial in basis.exprs:
        term = sympy.Poly(polynomial, *order).monoms(order="grlex")[0][::-1]
        exponents = np.zeros(3, dtype=int)
        exponents[columns] = term
        if exponents.sum() <= degree:
            expected.append(exponents)

    def multiples(generators):
        return {t for t in np.ndindex(7, 7, 7) if sum(t) <= degree
                and any((np.array(t) >= g).all() for g in generators)}  # fmt: skip

    assert multiples(found) == multiples(expected)


def test_fractions_as_people_mean_them():
    equations = [parse_equation(text, ["x", "y"]) for text in ("x = 0.1*y", "y = 10*x", "9*x = y")]
    assert len(leading_terms(equations[:2], np.arange(2), 3)) == 1  # the second says nothing new
    assert len(leading_terms(equations, np.arange(2), 3)) == 2


# ---------------------------------------------------------------------------------------- known


@pytest.mark.parametrize("border", ["gb", "bb"])
@pytest.mark.parametrize("feature_order", ["given", "rev_pearson"])
def test_nothing_is_left_once_all_is_known(border, feature_order):
    options = {"border": border, "feature_order": feature_order}
    everything = fit(**options)
    with pytest.warns(UserWarning, match="nothing vanishes"):
        rest = fit([CIRCLE, PRODUCT], **options)
    assert rest.n_generators_ == 0
    np.testing.assert_array_equal(rest.terms_, everything.terms_)


def test_what_else_holds():
    model = fit([CIRCLE], max_degree=2)
    assert [str(g) for g in model.generators_] == ["x0*x1 - x2"]
    other = fit([PRODUCT], max_degree=2)
    assert [str(g) for g in other.generators_] == ["x1^2 + x0^2 - 1"]
    # No term of O or of a generator is a multiple of what leads a known equation.
    assert not (model.terms_[:, 1] >= 2).any()


def test_known_equations_may_be_polynomials_of_a_model():
    first = fit(max_degree=2)
    again = fit([first.generators_[0]], max_degree=2)
    assert as_tuples(again.leading_terms_) == as_tuples(first.leading_terms_)[1:]
    np.testing.assert_allclose(again.coef_, first.coef_[1:], atol=1e-8)


def test_rows_that_do_not_obey_are_named():
    with pytest.warns(ConvergenceWarning, match=r"the known equation x0 = 3 has a mean square of"):
        fit(["x0 = 3"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        OAVI(0.0, known=[CIRCLE], max_degree=2).fit(curve())
    assert not any("known" in str(w.message) for w in caught)  # it holds up to rounding


def test_generators_modulo_equations_are_no_basis(tmp_path):
    model = fit([CIRCLE], max_degree=2)
    assert not model.complete_
    assert model.dimension().dimension is None
    with pytest.raises(ValueError, match="is beyond what the construction has looked at"):
        model.reduce("x1^2")
    remainder, _ = model.reduce("x0*x1 + x0")
    assert str(remainder) == "x2 + x0"
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").dimension().dimension is None
    exact = OAVI(0.0, known=[CIRCLE]).fit(curve(6))
    assert len(exact.terms_) == 6  # as many as points: nothing is left in the border


def test_names_weights_blocks_moments_and_files(tmp_path):
    X = curve()
    frame = pd.DataFrame(X, columns=["p", "q", "p q"])
    known = ["p^2 + q^2 = 1"]
    model = OAVI(1e-9, oracle="ls", max_degree=2, known=known).fit(frame)
    assert [str(g) for g in model.generators_] == ["p*q - [p q]"]
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.known == known
    np.testing.assert_array_equal(loaded.transform(frame), model.transform(frame))
    options = {"psi": 1e-6, "oracle": "ls", "max_degree": 2, "known": [CIRCLE], "exclude": ["x2^2"]}
    plain = OAVI(**options).fit(X)
    weight = np.random.default_rng(0).integers(1, 4, len(X))
    for other in (
        OAVI(**options).fit(lambda: (X[i::4] for i in range(4))),
        OAVI(**options).fit(X, sample_weight=weight),
        OAVI(**options).fit_moments(Moments(3, max_degree=3).update(X)),
        clone(plain).fit(X),
    ):
        np.testing.assert_array_equal(other.leading_terms_, plain.leading_terms_)
        np.testing.assert_allclose(other.coef_, plain.coef_, atol=1e-6)


def test_by_class_with_names():
    frame = pd.DataFrame(curve(), columns=["p", "q", "p q"])
    y = frame.p > 0
    features = VanishingFeatures(OAVI(1e-6, max_degree=2, exclude=["p^2", "[p q]^2"])).fit(frame, y)
    used = np.vstack([t.leading_terms_ for t in features.transformers_])
    assert len(used)
    assert not (used[:, 0] >= 2).any()
    np.testing.assert_array_equal(features.transform(frame) >= 0, True)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"known": "x0 = 1"}, TypeError, "known must be a list"),
        ({"known": [3]}, TypeError, "known must hold texts or polynomials"),
        ({"known": ["x0 = x0"]}, ValueError, "has no content"),
        ({"known": ["x0 = 1", "x0 = 2"]}, ValueError, "contradict one another"),
        ({"known": ["x7 = 1"]}, ValueError, "'x7' is not one of the variables x0, x1"),
        ({"known": [Polynomial([[1], [2]], [1.0, 1.0])]}, ValueError, "but the rows have 3"),
        ({"exclude": ["x0 + x1"]}, ValueError, "not one term"),
        ({"exclude": ["1"]}, ValueError, "other than the constant"),
        ({"exclude": {"x0"}}, TypeError, "exclude must be a list"),
    ],
)
def test_what_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        OAVI(**options).fit(curve())


# -------------------------------------------------------------------------------------- exclude


@pytest.mark.parametrize("border", ["gb", "bb"])
def test_excluded_terms_do_not_occur(border):
    model = fit(exclude=["x0*x1"], border=border)
    terms = np.vstack([model.terms_, model.leading_terms_])
    assert not ((terms[:, 0] > 0) & (terms[:, 1] > 0)).any()
    assert model.n_generators_
    assert as_tuples(model.leading_terms_)[0] == (0, 2, 0)  # the circle is still found
    without = fit(exclude=["x2"], max_degree=2)
    assert [str(g) for g in without.generators_] == ["x1^2 + x0^2 - 1"]


# ------------------------------------------------------------------------- sparsity of one of them


@pytest.mark.parametrize("feature_order", ["given", "pearson"])
def test_sparsity_of_each_generator(tmp_path, feature_order):
    X = np.random.default_rng(0).uniform(size=(300, 3))
    model = OAVI(0.003, feature_order=feature_order).fit(X)
    sizes = model.generators_.sizes
    assert sizes.sum() == model.n_coefficients_
    zeros = [g.sparsity * size for g, size in zip(model.generators_, sizes, strict=True)]
    assert sum(zeros) / sizes.sum() == pytest.approx(model.sparsity_)
    assert len({round(g.sparsity, 6) for g in model.generators_}) > 1
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.generators_.sizes, sizes)
    assert [g.sparsity for g in loaded.generators_] == [g.sparsity for g in model.generators_]
