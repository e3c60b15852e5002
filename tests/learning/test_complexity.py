"""How many numbers decide: counted, traded against the error, and fewer on request."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_circles, make_moons
from sklearn.linear_model import LogisticRegression

from vanishing import (
    OAVI,
    VCA,
    Blocks,
    ContrastiveVanishing,
    VanishingClassifier,
    VanishingClassifierCV,
    load,
)
from vanishing.plot import SearchFrontDisplay
from vanishing.report import write_report

X, Y = make_moons(300, noise=0.15, random_state=0)


def counted(model):
    """Count as a reader of the equations would."""
    total, columns = 0, set()
    weights = model.final_estimator_.coef_
    for i in np.flatnonzero(weights.any(axis=0)):
        polynomial = model.generators_[int(i)]
        total += int(np.count_nonzero(weights[:, i])) + len(polynomial.coef) - 1
        columns |= set(np.flatnonzero(polynomial.terms.any(axis=0)).tolist())
    if model.scale == "quantile":
        total += len(columns) * len(model.scaler_.quantiles_)
    return total


@pytest.mark.parametrize("scale", ["minmax", "quantile"])
@pytest.mark.parametrize(
    "transformer",
    [OAVI(0.01, oracle="omp"), VCA(0.01), ContrastiveVanishing(0.1, n_knots=5, n_pair_knots=2)],
    ids=["oavi", "vca", "contrastive"],
)
def test_all_numbers_that_decide_are_counted(transformer, scale):
    model = VanishingClassifier(transformer, scale=scale).fit(X, Y)
    assert model.complexity_ == counted(model)


@pytest.mark.parametrize("degree, n_numbers", [(1, 2), (2, 5)])
def test_a_decision_by_a_single_polynomial_counts_its_coefficients(degree, n_numbers):
    transformer = ContrastiveVanishing(0.1, max_degree=degree, absolute=False)
    model = VanishingClassifier(transformer, C=10.0).fit(X, Y)
    assert model.complexity_ == n_numbers < counted(model)
    # The decision is this polynomial of the scaled columns, and nothing else.
    x, z = model.scaling_(X).T
    terms = np.column_stack([np.ones(300), x, z, x * x, x * z, z * z][: n_numbers + 1])
    values = model.decision_function(X)
    coefficients = np.linalg.lstsq(terms, values, rcond=None)[0]
    assert_allclose(terms @ coefficients, values, atol=1e-9)
    assert np.abs(coefficients[1:]).min() > 1e-3
    (decision,) = model.decision_polynomials_
    assert decision.degree == degree
    assert_allclose(decision(model.scaling_(X)), values, atol=1e-9)
    sizes = VanishingClassifier(transformer.set_params(absolute=True), C=10.0).fit(X, Y)
    assert sizes.complexity_ == counted(sizes)


def test_decisions_of_several_classes_are_polynomials_or_none():
    y = Y + (X[:, 0] > 1.0)
    transformer = ContrastiveVanishing(0.1, max_degree=2, absolute=False)
    table = pd.DataFrame(X, columns=["length", "width"])
    model = VanishingClassifier(transformer, C=10.0).fit(table, y)
    values = np.column_stack([p(model.scaling_(X)) for p in model.decision_polynomials_])
    assert_allclose(values, model.decision_function(table), atol=1e-9)
    assert "length" in str(model.decision_polynomials_[0])
    search = VanishingClassifierCV(transformer, psis=(0.1,), scale="minmax").fit(table, y)
    assert len(search.decision_polynomials_) == 3
    assert VanishingClassifier().fit(X, y).decision_polynomials_ is None  # of sizes
    nothing = VanishingClassifier(transformer, C=1e-9).fit(X, Y)
    assert nothing.decision_polynomials_[0].degree == 0


def test_one_generator_by_its_value_is_no_more_than_its_numbers():
    transformer = OAVI(0.01, oracle="omp", absolute=False)
    model = VanishingClassifier(transformer, max_equations=1).fit(X, Y)
    assert model.complexity_ <= counted(model)


def test_quantiles_are_few_numbers():
    rows, y = make_moons(3000, noise=0.15, random_state=0)
    model = VanishingClassifier(scale="quantile").fit(rows, y)
    assert len(model.scaler_.quantiles_) == 100
    assert model.complexity_ < 300


def test_several_classes_and_other_classifiers():
    y = Y + (X[:, 0] > 1.0)
    model = VanishingClassifier(C=10.0).fit(X, y)
    assert model.complexity_ == counted(model)
    assert VanishingClassifier(final_estimator=LogisticRegression()).fit(X, Y).complexity_ is None


@pytest.mark.parametrize("most", [1, 3])
def test_at_most_so_many_equations_decide(most):
    transformer = ContrastiveVanishing(0.01, max_degree=1, n_knots=8)
    free = VanishingClassifier(transformer).fit(X, Y)
    few = VanishingClassifier(transformer, max_equations=most).fit(X, Y)
    assert sum(len(generators) for generators, _ in free.decisive_) > 3
    assert few.n_generators_ == most  # the others are not kept
    assert few.complexity_ < free.complexity_
    # Those that decided most, with weights of their own.
    sizes = np.abs(free.final_estimator_.coef_[0])
    sizes = sizes * np.sqrt((free.features_.transform(free.scaling_(X)) ** 2).mean(axis=0))
    chosen = np.sort(np.argsort(-sizes)[:most])
    assert [str(g) for g in few.generators_] == [str(free.generators_[int(i)]) for i in chosen]
    assert np.mean(few.predict(X) == Y) > 0.6
    enough = VanishingClassifier(transformer, max_equations=1000).fit(X, Y)
    assert np.array_equal(enough.decision_function(X), free.decision_function(X))


def test_blocks_choose_the_same_equations():
    few = VanishingClassifier(ContrastiveVanishing(0.01, n_knots=4), max_equations=4)
    blocks = Blocks(lambda: ((X[i : i + 70], Y[i : i + 70]) for i in range(0, 300, 70)))
    whole, cut = few.fit(X, Y).decision_function(X), few.fit(blocks).decision_function(X)
    assert_allclose(whole, cut, atol=1e-3)  # both to the tolerance of the SVM


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_equations": 0}, "max_equations"),
        ({"max_equations": 3, "final_estimator": LogisticRegression()}, "max_equations is for"),
    ],
)
def test_bad_numbers_of_equations(options, message):
    with pytest.raises(ValueError, match=message):
        VanishingClassifier(**options).fit(X, Y)


def test_a_search_takes_what_is_simple_and_shows_the_front(tmp_path):
    search = VanishingClassifierCV().fit(X, Y)
    front = search.front_
    sizes, scores = (np.array(values) for values in list(zip(*front, strict=True))[:2])
    assert (np.diff(sizes) > 0).all() and (np.diff(scores) > 0).all()
    results = search.cv_results_
    # No point is better than the front at its complexity.
    known = np.isfinite(results["mean_test_score"])
    for size, score in zip(
        results["mean_complexity"][known], results["mean_test_score"][known], strict=True
    ):
        assert score <= scores[sizes <= size].max() + 1e-9
    assert search.best_score_ >= scores.max() - 0.02  # a few rows
    assert search.complexity_ == search.classifier_.complexity_
    simplest = VanishingClassifier().set_params(**front[0].params).fit(X, Y)
    assert simplest.complexity_ <= search.complexity_
    search.save(tmp_path / "search.json")
    again = load(tmp_path / "search.json", VanishingClassifierCV)
    assert [point[:3] for point in again.front_] == [point[:3] for point in front]
    assert again.complexity_ == search.complexity_


def test_equations_that_are_not_needed_are_left_out():
    rings = make_circles(300, noise=0.1, factor=0.5, random_state=0)
    search = VanishingClassifierCV().fit(*rings)
    chosen = dict(search.best_params_)
    assert chosen.pop("max_equations") < 6
    assert search.complexity_ < VanishingClassifier(**chosen).fit(*rings).complexity_


def test_what_is_given_is_not_simplified():
    search = VanishingClassifierCV(OAVI(), psis=(0.1, 0.01), Cs=(1.0,)).fit(X, Y)
    assert search.best_score_ == max(point.score for point in search.front_)
    assert "max_equations" not in search.best_params_


def test_the_front_is_drawn_and_reported(tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need matplotlib").use("Agg")
    search = VanishingClassifierCV().fit(X, Y)
    display = SearchFrontDisplay.from_estimator(search)
    np.testing.assert_array_equal(display.line_.get_xdata(), [p.complexity for p in search.front_])
    np.testing.assert_allclose(
        display.line_.get_ydata(), [1.0 - point.score for point in search.front_]
    )
    write_report(search, X, Y, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Simpler classifiers" in page
    assert f"{search.front_[0].score:.4g}" in page
    write_report(search.classifier_, X, Y, tmp_path / "plain.html")
    assert "Simpler classifiers" not in (tmp_path / "plain.html").read_text(encoding="utf-8")
    with pytest.raises(TypeError, match="searched nothing"):
        SearchFrontDisplay.from_estimator(search.classifier_)
