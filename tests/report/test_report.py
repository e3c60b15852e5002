"""The report and the notebook's HTML: true numbers, valid pages, no markup from outside.

The browser tests need Chromium on the PATH.
"""

import hashlib
import json
import math
import re
import subprocess
import sys
import time
from base64 import b64decode, b64encode
from importlib import resources
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from helpers import training_classes
from pages import HOSTILE, Page
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PolynomialFeatures, minmax_scale

from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    BuchbergerMoller,
    ConservedQuantities,
    LawFinder,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingFeatures,
    VanishingOutlierDetector,
    bounds,
)
from vanishing.algebra.markup import clean, number
from vanishing.datasets import make_circle, make_sphere, make_two_surfaces
from vanishing.inspection import anatomy, importances
from vanishing.plot import isosurface
from vanishing.report import write_report
from vanishing.report.facts import facts_of
from vanishing.report.frame import environment
from vanishing.report.scene import scene_of
from vanishing.report.settings import SCENE_POINTS as POINTS


def report(tmp_path, model, X, y=None, **options):
    path = write_report(model, X, y, tmp_path / "report.html", **options)
    return Page(path.read_text(encoding="utf-8"))


def halves(X, y):
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.fixture(scope="module")
def iris():
    X, y, X_test, y_test = halves(*load_iris(return_X_y=True))
    return VanishingClassifier(OAVI(psi=0.01), C=10.0).fit(X, y), X_test, y_test


@pytest.fixture(scope="module")
def surfaces():
    X, y, X_test, y_test = halves(*make_two_surfaces(400, random_state=0))
    model = VanishingClassifier(OAVI(psi=0.001, oracle="omp", max_degree=2), C=10.0)
    return model.fit(X, y), X_test, y_test


def hostile_data(n_columns=6):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((120, n_columns)), columns=HOSTILE[:n_columns])
    X.iloc[:, 1] = X.iloc[:, 0] ** 2
    return X, np.array([HOSTILE[i % 3] for i in range(120)], dtype=object)


# -- Structure ------------------------------------------------------------------------------------


def transformers():
    yield from (OAVI(psi=0.01), ABM(psi=0.01), AVI(psi=0.01), VCA(psi=0.01))
    yield VanishingFeatures(VCA(psi=0.01))
    yield VanishingClassifierCV(psis=(0.01, 0.001), Cs=(1.0, 10.0))
    yield VanishingClassifier(final_estimator=LogisticRegression())
    yield VanishingClassifier(final_estimator=RandomForestClassifier(5, random_state=0))
    yield VanishingClassifier(scale="quantile", clip=True)
    yield VanishingClassifier(OAVI(absolute=False))
    yield make_pipeline(MinMaxScaler(), OAVI(psi=0.01))
    yield make_pipeline(MinMaxScaler(), VanishingClassifier(scale=False))


@pytest.mark.parametrize(
    "model", list(transformers()), ids=lambda m: re.sub(r"\s+", "", str(m))[:60]
)
@pytest.mark.parametrize("labelled", [True, False])
def test_page_is_well_formed_and_refers_to_nothing_outside(tmp_path, model, labelled):
    X, y = load_iris(return_X_y=True)
    X = minmax_scale(X)
    page = report(tmp_path, model.fit(X, y), X, y if labelled else None, data_name="iris")

    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for tag, attributes in page.elements:
        for name in ("aria-controls", "aria-labelledby", "aria-describedby", "for"):
            assert attributes.get(name, ids[0]) in ids, (tag, attributes)
        if "href" in attributes:
            target = attributes["href"]
            assert target == "data:," or (target[0] == "#" and target[1:] in ids)
        assert not any(name.startswith("on") or name == "src" for name in attributes)
    assert "://" not in page.source
    assert not page.all("img") and not page.all("iframe")
    assert "@import" not in page.source and "url(" not in page.source

    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    assert page.all("html")[0]["lang"] == "en"
    for canvas in page.all("canvas"):
        assert canvas["aria-label"] and canvas["tabindex"] == "0"


def test_the_page_allows_its_own_script_and_no_other(tmp_path, iris):
    page = report(tmp_path, *iris)
    policy = page.all("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
    data, script = page.scripts
    json.loads(data)
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_a_report_is_the_same_every_time_but_for_the_date(tmp_path, iris):
    first, second = (
        re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "", report(tmp_path, *iris).source) for _ in range(2)
    )
    assert first == second


def test_contrast_of_text_is_sufficient_on_light_and_dark_pages(tmp_path, iris):
    def luminance(colour):
        parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    sheets = re.findall(r":root \{([^}]*--page[^}]*)\}", report(tmp_path, *iris).source)
    for sheet in sheets[:2]:
        colour = dict(re.findall(r"--(\w+): (#\w{6});", sheet))
        for text in ("ink", "muted", "accent", "good", "bad"):
            for ground in ("page", "card", "soft"):
                high, low = sorted((luminance(colour[text]), luminance(colour[ground])))[::-1]
                assert (high + 0.05) / (low + 0.05) >= 4.5, (text, ground)


# -- Names from outside ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_columns", [2, 3, 6])
def test_hostile_names_and_labels_are_text(tmp_path, n_columns):
    X, y = hostile_data(n_columns)
    model = VanishingClassifier(OAVI(psi=0.02)).fit(X, y)
    plain = report(tmp_path, model, X, y)
    page = report(tmp_path, model, X, y, title=HOSTILE[0], data_name=HOSTILE[1] + "\ud800")

    assert [tag for tag, _ in page.elements].count("script") == 2
    assert {tag for tag, _ in page.elements} == {tag for tag, _ in plain.elements}
    assert not page.all("img") and not page.all("b")
    assert not any(name.startswith("on") for _, a in page.elements for name in a)
    for name in HOSTILE[:n_columns]:
        assert re.sub(r"\s+", " ", clean(name, 24)) in page.words
    assert "\x00" not in page.source and "\x1b" not in page.source
    assert page.scene["classes"] == [clean(label, 24) for label in model.classes_]


def test_very_long_names_stay_short_on_the_page_and_different(tmp_path):
    X, y = load_iris(return_X_y=True)
    X = pd.DataFrame(X, columns=[f"{'a' * 5000}{i}{'z' * 5000}" for i in range(4)])
    page = report(tmp_path, VanishingClassifier().fit(X, y), X, y)
    assert len(page.source) < 1_000_000
    assert "a" * 301 not in page.source
    assert len(set(page.scene["names"])) == 4


def test_numbers_are_written_as_people_write_them():
    assert number(-0.00012) == "\u22120.00012"
    assert number(1.5e-7) == "1.5\u2009\u00b7\u200910<sup>\u22127</sup>"
    assert number(1e12) == "10<sup>12</sup>"
    assert number(np.nan) == "\u2013"


# -- Numbers --------------------------------------------------------------------------------------


def test_error_and_confusion_are_those_of_the_model(tmp_path, iris):
    model, X, y = iris
    facts = facts_of(model, X, y)
    assert facts.errors.rate == pytest.approx(1 - model.score(X, y))
    np.testing.assert_array_equal(
        facts.errors.confusion, sklearn.metrics.confusion_matrix(y, model.predict(X))
    )
    assert facts.errors.baseline == pytest.approx(1 - np.bincount(y).max() / len(y))
    page = report(tmp_path, model, X, y)
    wrong = int((model.predict(X) != y).sum())
    assert f"{wrong} of {len(y)} wrong" in page.words
    low, high = facts.errors.interval()
    assert low < facts.errors.rate < high or wrong == 0


def test_equations_are_ranked_by_what_is_lost_with_them(iris):
    model, X, y = iris
    facts = facts_of(model, X, y)
    values = model.features_.transform(model.scaling_(X))
    weights = model.final_estimator_.coef_
    shares = importances(model, X).equations
    start = 0
    for k, variety in enumerate(facts.varieties):
        count = variety.model.n_generators_
        expected = np.sort(shares[k])[::-1]
        np.testing.assert_allclose([e.importance for e in variety.equations], expected, rtol=1e-9)
        for e in variety.equations:
            column = values[:, start + e.place]
            np.testing.assert_array_equal(e.weights, weights[:, start + e.place])
            assert e.own == pytest.approx(column[y == k].mean())
            assert e.others == pytest.approx(column[y != k].mean())
            assert e.measured == pytest.approx((column[y == k] ** 2).mean())
            assert e.mse == variety.model.mse_[e.place]
        start += count


@pytest.mark.parametrize(
    "model", [VanishingClassifier(), VanishingClassifierCV(psis=(0.1, 0.01, 0.005))]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_columns_of_a_disc_are_named_first(tmp_path, model, seed):
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (1000, 8))
    X = pd.DataFrame(X[:, [2, 3, 0, 4, 5, 1, 6, 7]], columns=list("abcdefgh"))
    y = X["c"] ** 2 + X["f"] ** 2 < 2.0 / np.pi
    page = report(tmp_path, model.fit(X[:600], y[:600]), X[600:], y[600:])
    first = re.search(r"The columns that decide most: (\w) and (\w);", page.words)
    assert {*first.groups()} == {"c", "f"}
    table = re.search(r'<section id="columns".*?</section>', page.source, re.S)[0]
    named = re.findall(r'<th scope="row"><bdi>(\w)</bdi></th>', table)
    assert {*named[:2]} == {"c", "f"} and sorted(named) == list("abcdefgh")
    assert {*page.scene["names"][:2]} == {"c", "f"}


def test_the_page_shows_these_numbers(tmp_path, surfaces):
    model, X, y = surfaces
    page = report(tmp_path, model, X, y)
    facts = facts_of(model, X, y)
    first = facts.varieties[1].equations[0]
    row = re.search(r'id="equations-1".*?<tbody><tr>(.*?)</tr>', page.source, re.S)[1]
    shown = [float(value) for value in re.findall(r'data-value="([^"]*)"', row)]
    weight = first.weights[np.abs(first.weights).argmax()]
    expected = [1, first.importance, weight, first.others / first.own, first.mse, 2]
    assert shown == pytest.approx(expected, rel=1e-8)
    assert number(first.mse, 3) in row and number(weight, 3) in row
    assert f"{facts.n_used} of {facts.n_generators} polynomial equations" in page.words


def test_equations_in_given_columns_are_the_same_functions(iris):
    model, X, y = iris
    facts = facts_of(model, X, y)
    Z = model.scaler_.transform(X)
    for variety in facts.varieties:
        for e in variety.equations:
            np.testing.assert_allclose(e.original(X), e.generator(Z), atol=1e-9)


def test_a_scaling_in_a_pipeline_keeps_terms_and_names(tmp_path):
    X = load_iris(as_frame=True).data
    model = make_pipeline(MaxAbsScaler(), OAVI(psi=0.01)).fit(X)
    facts = facts_of(model, X)
    assert facts.names == tuple(X.columns)
    Z = X.to_numpy() / np.abs(X.to_numpy()).max(axis=0)
    for e in facts.varieties[0].equations:
        assert e.original.feature_names == tuple(X.columns)
        # Units change without an offset: the same terms, and none of the size of rounding.
        before, after = ({*map(tuple, g.terms[g.coef != 0])} for g in (e.generator, e.original))
        assert before == after
        np.testing.assert_allclose(e.original(X.to_numpy()), e.generator(Z), atol=1e-9)
    page = report(tmp_path, model, X)
    assert "petal width (cm)" in page.scene["names"] and "x0" not in page.words


def test_columns_made_in_a_pipeline_have_their_names_and_those_given_theirs(tmp_path):
    X = load_iris(as_frame=True).data[["petal length (cm)", "petal width (cm)"]]
    steps = PolynomialFeatures(2, include_bias=False), MinMaxScaler(), OAVI(max_degree=1)
    page = report(tmp_path, make_pipeline(*steps).fit(X), X)
    assert "petal width (cm)^2" in page.scene["names"]
    assert "petal width (cm) 0.1 1.3 2.5" in page.words.split("The columns column")[1]


@pytest.mark.parametrize("scale", ["quantile", True])
def test_units_are_given_up_where_the_scaling_is_no_change_of_units(tmp_path, scale):
    X, y = load_wine(return_X_y=True)
    model = VanishingClassifier(OAVI(psi=0.01, max_degree=2), scale=scale, clip=True)
    page = report(tmp_path, model.fit(X[::2], y[::2]), X, y)
    has_units = bool(page.all("input", id="units-original"))
    assert has_units == (scale is True)
    assert ("these are no polynomials in original columns" in page.words) != has_units


@pytest.mark.parametrize("absolute, feature", [(True, "|g|"), (False, "g")])
def test_what_weights_multiply_is_written_as_it_is(tmp_path, absolute, feature):
    X, y = make_two_surfaces(200, random_state=0)
    page = report(tmp_path, VanishingClassifier(OAVI(absolute=absolute)).fit(X, y), X, y)
    assert f"adds up weight \u00d7 {feature};" in page.words
    assert f"A large {feature} speaks for" in page.words
    assert f"A row is judged by {feature}" in page.words
    assert page.scene["decision"]["absolute"] == absolute


def equal_columns():
    """Rows of a class on which one equation holds exactly, one on all rows, and one nearly."""
    rng = np.random.default_rng(0)
    X, y = np.zeros((60, 4)), np.repeat([0, 1], 30)
    X[30:, 0] = rng.random(30)
    X[:30, 2:] = 0.5 + 0.01 * rng.standard_normal((30, 2))
    X[30:, 2:] = rng.random((30, 2))
    return VanishingFeatures(OAVI(psi=0.001, max_degree=1)).fit(X, y), X, y


def test_contrast_is_infinite_or_unknown_where_a_mean_is_zero(tmp_path):
    page = report(tmp_path, *equal_columns())
    table = re.search(r'id="equations-0".*?</table>', page.source, re.S)[0]
    values = re.findall(r'data-value="([^"]*)" data-head="\|g\| here', table)
    assert values[0] == "Infinity" and values[-1] == ""
    assert len(values) == 4 and all(1 < float(v) < math.inf for v in values[1:-1])


def test_it_is_told_whether_rows_are_those_of_the_fit(tmp_path):
    X, y = load_iris(return_X_y=True)
    X = minmax_scale(X)
    for model in (OAVI(psi=0.01), VanishingClassifier()):
        model.fit(X[::2], y[::2])
        assert (
            "These appear to be the training rows:" in report(tmp_path, model, X[::2], y[::2]).words
        )
        assert "These are not exactly the training rows" in report(tmp_path, model, X, y).words
    assert (
        "is unknown whether these are the training rows" in report(tmp_path, model, X[::2]).words
    )  # no labels


def test_guarantees_are_those_of_bounds(tmp_path, surfaces):
    X, y = make_two_surfaces(400, random_state=0)
    model = VanishingClassifier(OAVI(psi=0.001, oracle="omp", max_degree=2), clip=True).fit(X, y)
    page = report(tmp_path, model, X, y)
    expected = bounds.of(model, X, y)
    told = page.words.partition("What theory promises")[2]
    for bound in expected:
        assert (bound.statement in told) == bound.informative
        assert all(condition in told for condition in bound.conditions if bound.informative)
    vacuous = [bound for bound in expected if not bound.informative]
    assert 0 < len(vacuous) < len(expected)
    needed = min(bound.samples_needed for bound in vacuous if bound.samples_needed is not None)
    assert f"{len(vacuous)} bounds are vacuous here" in told
    assert f"from {needed:,} rows per class on" in told


def test_where_no_bound_says_anything_that_is_one_sentence(tmp_path):
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    model = VanishingClassifier(OAVI(psi=0.01, tau=1000), clip=True).fit(X, y)
    expected = [bound for bound in bounds.of(model, X, y) if not bound.informative]
    page = report(tmp_path, model, X, y)
    informative = [bound for bound in bounds.of(model, X, y) if bound.informative]
    assert ("Theory promises nothing of use" in page.words) == (not informative)
    for bound in expected:
        assert bound.statement not in page.words


def test_refusals_of_bounds_are_shown(tmp_path, iris):
    model, X, y = iris
    assert "The margin bound is for two classes" in report(tmp_path, model, X, y).words
    model = VCA(psi=0.01).fit(minmax_scale(X))
    page = report(tmp_path, model, minmax_scale(X))
    assert "There are no bounds for this model" in page.words and "got VCA" in page.words


def test_bounds_without_suitable_rows_still_say_how_many_they_need(tmp_path, surfaces):
    model, X, y = surfaces
    model = clone(model).set_params(clip=False).fit(X, y)
    with pytest.warns(UserWarning, match="far outside"):
        page = report(tmp_path, model, 3 * X, y)  # outside the cube
    assert "the guarantees are for rows in [-1, 1]^n" in page.words.replace("The g", "the g")
    assert "cannot be evaluated on these rows" in page.words
    needed = [bound.samples_needed for bound in bounds.of(model.features_)]
    assert any(needed) and "rows needed" in page.words
    assert all(f"{count:,}" in page.words for count in needed if count is not None)


def test_provenance(tmp_path, iris):
    model, X, y = iris
    page = report(tmp_path, model, X, y, data_name="half of the flowers")
    digest = hashlib.sha256(np.ascontiguousarray(X, "<f8").tobytes()).hexdigest()
    assert digest in page.words
    assert "half of the flowers" in page.words
    assert np.__version__ in page.words and sklearn.__version__ in page.words
    assert str(Path.home()) not in page.source and str(tmp_path) not in page.source


def test_settings_are_all_there(tmp_path, iris):
    page = report(tmp_path, *iris)
    inner = iris[0].features_.transformers_[0]
    for model in (iris[0], inner, iris[0].final_estimator_):
        for name, value in model.get_params(deep=False).items():
            assert name in page.words and clean(repr(value), 300) in page.words


def test_settings_that_a_search_did_not_look_at_are_not_counted(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = VanishingClassifierCV().fit(X, y)
    scores = model.cv_results_["mean_test_score"]
    n_tried = np.count_nonzero(np.isfinite(scores))
    assert n_tried < len(scores)
    page = report(tmp_path, model, X, y)
    assert f"best of {n_tried} settings, which" in page.words
    assert f"best of {n_tried} settings that were tried" in page.words


# -- The picture's data ---------------------------------------------------------------------------


def test_points_are_a_sample_that_forgets_no_class():
    rng = np.random.default_rng(1)
    X = np.concatenate([make_circle(30, random_state=0), 3 + 0.1 * rng.random((9000, 2))])
    y = np.repeat(["few", "many"], [30, 9000])
    scene = scene_of(facts_of(VanishingClassifier(OAVI(psi=0.01)).fit(X, y), X, y))
    labels = np.array(scene["labels"])
    assert len(labels) <= POINTS
    assert (labels == 0).sum() == 30


def test_points_and_polynomials_of_the_picture_are_those_of_the_model():
    X, y = load_wine(return_X_y=True)  # thirteen columns, of which eight take part
    model = VanishingClassifier(OAVI(psi=0.01, max_degree=2)).fit(X, y)
    facts = facts_of(model, X, y)
    scene = scene_of(facts)
    assert len(scene["names"]) == 8
    columns = [facts.names.index(name) for name in scene["names"]]
    packed = np.frombuffer(b64decode(scene["points"]), dtype="<u2").reshape(-1, 8)
    low, high = np.array(scene["low"]), np.array(scene["high"])
    points = low + packed / 65535 * (high - low)
    np.testing.assert_allclose(points, facts.Z[:, columns], atol=1e-4)

    at_medians = np.tile(np.median(facts.Z, axis=0), (len(X), 1))
    at_medians[:, columns] = facts.Z[:, columns]
    scores = np.tile(scene["decision"]["intercept"], (len(X), 1))
    for function in scene["functions"]:
        terms, coef = np.array(function["terms"]), np.array(function["coef"])
        values = np.prod(facts.Z[:, columns][:, np.newaxis] ** terms, axis=2) @ coef
        scores += np.abs(values)[:, np.newaxis] * function["weights"]
    features = model.features_.transform(at_medians)
    np.testing.assert_allclose(scores, model.final_estimator_.decision_function(features))


# -- Any model ------------------------------------------------------------------------------------


def test_no_equations(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 2)), np.repeat([0, 1], 30)
    with pytest.warns(UserWarning, match="nothing vanishes"):
        model = VanishingClassifier(OAVI(psi=1e-9, max_degree=1)).fit(X, y)
    page = report(tmp_path, model, X, y)
    assert "found no equation" in page.words
    assert not page.all("canvas")


def test_one_column(tmp_path):
    X = np.repeat([[0.0], [0.5], [1.0]], 5, axis=0)
    page = report(tmp_path, OAVI(psi=0).fit(X), X)
    assert not page.all("canvas")
    assert "x03 = 1.5 x02 \u2212 0.5 x0" in page.words


def test_a_class_without_rows_and_labels_that_are_unknown(tmp_path, iris):
    model, X, y = iris
    page = report(tmp_path, model, X[y != 2], y[y != 2])
    assert "\u2013" in page.words
    with pytest.raises(ValueError, match="labels that the estimator was not fitted to"):
        report(tmp_path, model, X, y + 1)


def test_what_is_refused(tmp_path, iris):
    model, X, y = iris
    with pytest.raises(NotFittedError):
        write_report(VanishingClassifier(), X, y, tmp_path / "a.html")
    with pytest.raises(ValueError, match="features"):
        write_report(model, X[:, :2], y, tmp_path / "a.html")
    with pytest.raises(TypeError, match="no generators"):
        write_report(LogisticRegression().fit(X, y), X, y, tmp_path / "a.html")
    with pytest.raises(OSError, match="there is no folder"):
        write_report(model, X, y, tmp_path / "nowhere" / "a.html")
    with pytest.raises(TypeError, match="BuchbergerMoller"):
        write_report(BuchbergerMoller().fit([[0, 0], [1, 1]]), [[0, 0]], path=tmp_path / "a.html")
    assert not list(tmp_path.iterdir())


def test_a_file_that_exists_survives_a_failure(tmp_path, iris, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("the old one")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="the file is as before"):
        write_report(*iris, path)
    assert path.read_text() == "the old one" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.slow
def test_matplotlib_is_not_needed():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from vanishing import OAVI\n"
        "from vanishing.report.facts import facts_of\n"
        "from vanishing.report.page import page_of\n"
        "X = [[0.0, 0.0], [0.5, 0.25], [1.0, 1.0]]\n"
        "assert 'canvas' in page_of(facts_of(OAVI(psi=0).fit(X), X))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_jinja2_it_is_said_how_to_get_it(iris, tmp_path, monkeypatch):
    environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'pip install "\.\[app\]"'):
        write_report(*iris, tmp_path / "report.html")


def test_every_script_file_is_on_the_page_and_says_what_it_does(tmp_path, iris):
    script = report(tmp_path, *iris).scripts[1]
    found = list(resources.files("vanishing.report").joinpath("js").iterdir())
    assert len(found) > 5 and script.count('"use strict";') == 1
    for file in found:
        source = file.read_text(encoding="utf-8")
        assert re.match(r"// [A-Z].*[.:;]", source) and source in script


@pytest.mark.parametrize("name, psi", [("bank", 0.001), ("spam", 0.0005)])
def test_time_and_size_of_reports(tmp_path, name, psi):
    classes = training_classes(name)
    X, y = np.concatenate(classes), np.repeat(range(len(classes)), [len(c) for c in classes])
    model = VanishingClassifier(OAVI(psi=psi)).fit(X, y)
    report(tmp_path, model, X[:100], y[:100])  # whatever is compiled
    start = time.process_time()
    path = write_report(model, X, y, tmp_path / "timed.html")
    assert time.process_time() - start < 5
    assert path.stat().st_size < 2_000_000
    page = Page(path.read_text(encoding="utf-8"))
    assert page.source.count('class="equation"') <= 400
    if name == "spam":
        assert model.n_generators_ > 1500 and "Not listed:" in page.words


# -- Notebooks ------------------------------------------------------------------------------------


def test_representation_adds_equations_to_the_diagram():
    model = OAVI(psi=0.005, oracle="omp", max_degree=2)
    assert (
        "sk-container" in model._repr_html_() and "vanishing-equations" not in model._repr_html_()
    )
    page = Page(model.fit(make_circle(100, random_state=0))._repr_html_())
    assert "sk-container" in page.source
    assert "1 equation" in page.words and "x1" in page.words
    bundle = model._repr_mimebundle_()
    assert "x<sub>1</sub>" in bundle["text/html"] and bundle["text/plain"] == repr(model)


def test_representation_follows_the_display_option():
    model = OAVI().fit(make_circle(50, random_state=0))
    with sklearn.config_context(display="text"):
        assert model._repr_html_() is None
        assert list(model._repr_mimebundle_()) == ["text/plain"]


@pytest.mark.parametrize(
    "model",
    [
        VanishingFeatures(OAVI(psi=0.02)),
        VanishingClassifier(OAVI(psi=0.02)),
        VanishingClassifierCV(OAVI(), psis=(0.02,), Cs=(1.0,)),
        VanishingFeatures(VCA(psi=0.02, max_degree=2)),
    ],
)
def test_representation_escapes_and_is_short(model):
    X, y = hostile_data()
    source = model.fit(X, y)._repr_html_()
    table = Page(source[source.index('<details open class="vanishing') : -len("</div>")])
    assert 1 <= len(table.all("tr")) - 1 <= 10
    assert not table.all("script") and not table.all("img")
    for hostile in HOSTILE[:3]:
        assert hostile not in source


@pytest.mark.parametrize("scale", [True, False])
def test_representation_of_a_classifier_has_the_largest_weights(scale):
    """Those that equations are sorted by: of features of scaled columns, which can be compared."""
    X, y = load_iris(return_X_y=True)
    if scale:
        X *= [1e-3, 1.0, 1e3, 1.0]  # in original units the order would be another
    model = VanishingClassifier(OAVI(psi=0.02, max_degree=2), scale=scale).fit(X, y)
    found = anatomy(model)
    sizes = np.sort(np.concatenate([part.sizes[part.used] for part in found.parts]))[::-1]
    source = model._repr_html_()
    shown = re.findall(r'class="number">([^<]*)</td></tr>', source)
    assert len(shown) > 2 and shown == [number(size, 3) for size in sizes[:10]]
    words = Page(source).words
    assert ("|weight| in scaled columns" in words) == scale
    assert ("those of the largest weights in scaled columns" in words) <= scale


def gas_law(name="p"):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.uniform(1, 2, (200, 3)), columns=["n", "T", "V"])
    noise = 1 + 0.01 * random.normal(size=200)
    return LawFinder().fit(X, (8.314 * X.n * X["T"] / X.V * noise).rename(name))


def pumped(name="load"):
    random = np.random.default_rng(0)
    q, w = random.uniform(1, 3, (2, 1000))
    rows = np.column_stack([q, w, q * w]) * (1 + 0.005 * random.normal(size=(1000, 3)))
    table = pd.DataFrame(rows, columns=["q", "w", name])
    return VanishingOutlierDetector(random_state=0).fit(table), table


def swung(name="x"):
    t = np.linspace(0.0, 5.0, 50)
    swing = np.column_stack([np.cos(2 * t), -2 * np.sin(2 * t)])
    X = pd.DataFrame(np.vstack([a * swing for a in range(1, 9)]), columns=[name, "v"])
    return ConservedQuantities().fit(X, groups=np.repeat(np.arange(8), 50))


def above_the_diagram(model):
    """What stands above scikit-learn's diagram, which is there as well."""
    source = model._repr_html_()
    verdict, diagram, _ = source.partition("sk-container")
    assert diagram and "vanishing-equations" in verdict
    return Page(verdict[: verdict.rindex("<style>")].removeprefix("<div>"))


def test_representation_of_laws():
    model = gas_law()
    words = above_the_diagram(model).words
    assert "1 law of p" in words and model.laws_[0].verdict in words
    assert "evidence" in words and "compared" in words and str(model.front_[0]) in words
    none = LawFinder().fit(np.random.default_rng(0).normal(size=(100, 2)), np.arange(100) % 7)
    assert none.laws_ == [] and none.verdict_ in above_the_diagram(none).words


def test_representation_of_a_detector():
    model, table = pumped()
    words = above_the_diagram(model).words
    assert "1 law holds" in words and model.laws_[0].verdict in words
    assert f"{model.offset_:.3g}" in words and "1,000 rows" in words
    table["load"] *= 3.0
    words = above_the_diagram(model.partial_fit(table)).words
    assert "No laws hold, 1 no longer" in words and "It no longer holds" in words
    lawless = VanishingOutlierDetector().fit(np.random.default_rng(0).normal(size=(200, 3)))
    assert "No law with few terms" in above_the_diagram(lawless).words


def test_representation_of_conserved_quantities():
    model = swung()
    page = above_the_diagram(model)
    assert model.verdict_ in page.words and "variance within runs" in page.words
    assert len(page.all("math")) == 1
    random = np.random.default_rng(0).normal(size=(200, 2))
    none = ConservedQuantities().fit(random, groups=np.arange(200) // 25)
    assert none.verdict_ in above_the_diagram(none).words


@pytest.mark.parametrize("kind", [LawFinder, VanishingOutlierDetector, ConservedQuantities])
def test_representation_of_verdicts_escapes_and_is_left_out(kind):
    assert "vanishing-equations" not in kind()._repr_html_()
    made = {LawFinder: gas_law, ConservedQuantities: swung}.get(kind, lambda name: pumped(name)[0])
    for hostile in HOSTILE[:3]:
        page = above_the_diagram(model := made(hostile))
        assert hostile not in page.source
        assert page.all("math") and not page.all("script") and not page.all("img")
    with sklearn.config_context(display="text"):
        assert model._repr_html_() is None


def test_representation_of_exact_generators():
    model = BuchbergerMoller().fit([[0, 0], ["1/2", "1/4"], [1, 1]])
    assert "1/2" in Page(model._repr_html_()).words


# -- In a browser ---------------------------------------------------------------------------------


def show(browser, tmp_path, model, X, y=None, **options):
    path = write_report(model, X, y, tmp_path / "report.html")
    browser.open(path, **options)
    browser.settle()
    return path


def state(browser):
    return browser.run("({...document.getElementById('scene').dataset})")


def pixels(browser):
    """A checksum of what the canvas shows."""
    return hashlib.sha256(
        browser.run("document.getElementById('scene').toDataURL()").encode()
    ).hexdigest()


def middle(browser):
    browser.run(
        "document.getElementById('scene').scrollIntoView({block: 'center', behavior: 'instant'})"
    )
    x, y, width, height = browser.run(
        "(r => [r.x, r.y, r.width, r.height])"
        "(document.getElementById('scene').getBoundingClientRect())"
    )
    return x + width / 2, y + height / 2


def assert_quiet(browser, path):
    assert browser.problems() == []
    assert browser.requests() == [path.resolve().as_uri()]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1200, 390])
def test_page_renders_quietly(browser, tmp_path, iris, width, dark):
    path = show(browser, tmp_path, *iris, width=width, height=800, dark=dark)
    assert_quiet(browser, path)
    assert browser.run("document.documentElement.scrollWidth") <= width
    background = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) < 200) == dark
    colours = browser.run(
        "(() => {const c = document.getElementById('scene');"
        "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        "const found = new Set(); for (let i = 0; i < d.length; i += 4)"
        "found.add((d[i] << 16) | (d[i+1] << 8) | d[i+2]); return found.size})()"
    )
    assert colours > 100
    heights = browser.run(
        "[...document.querySelectorAll('section')].map(s => s.getBoundingClientRect().height)"
    )
    assert len(heights) == 11 and min(heights) > 50


@pytest.mark.parametrize("n_columns", [2, 3, 6])
def test_hostile_names_do_nothing_in_a_browser(browser, tmp_path, n_columns):
    X, y = hostile_data(n_columns)
    path = show(browser, tmp_path, VanishingClassifier(OAVI(psi=0.02)).fit(X, y), X, y)
    assert_quiet(browser, path)
    assert browser.run("document.images.length") == 0
    assert browser.run("document.scripts.length") == 2
    assert int(state(browser)["points"]) == len(X)


def test_dragging_and_keys_turn_the_picture(browser, tmp_path, surfaces):
    path = show(browser, tmp_path, *surfaces)
    x, y = middle(browser)
    before, picture = state(browser), pixels(browser)
    browser.drag((x, y), (x + 80, y + 30))
    after = state(browser)
    assert float(after["yaw"]) == pytest.approx(float(before["yaw"]) + 80 * 0.009, abs=1e-3)
    assert float(after["pitch"]) == pytest.approx(float(before["pitch"]) + 30 * 0.009, abs=1e-3)
    assert pixels(browser) != picture

    browser.key("ArrowLeft")
    assert float(state(browser)["yaw"]) < float(after["yaw"])
    browser.key("+")
    assert float(state(browser)["zoom"]) > 1
    browser.key("0")
    for name in ("yaw", "pitch", "zoom"):
        assert state(browser)[name] == before[name]
    assert pixels(browser) == picture
    browser.run("document.querySelector('button[data-key=ArrowUp]').click()")
    browser.settle()
    assert float(state(browser)["pitch"]) < float(before["pitch"])
    assert_quiet(browser, path)


def test_the_wheel_zooms_once_the_picture_is_chosen(browser, tmp_path, surfaces):
    show(browser, tmp_path, *surfaces)
    x, y = middle(browser)
    browser.wheel(x, y, -200)
    browser.settle()
    assert float(state(browser)["zoom"]) == 1.0  # the page scrolls
    x, y = middle(browser)
    browser.drag((x, y), (x, y))
    browser.wheel(x, y, -200)
    browser.settle()
    assert float(state(browser)["zoom"]) == pytest.approx(np.exp(0.3), rel=1e-3)


def test_two_fingers_zoom(browser, tmp_path, surfaces):
    show(browser, tmp_path, *surfaces, width=390, height=800)
    x, y = middle(browser)

    fingers = browser.page.context.new_cdp_session(browser.page)

    def touch(kind, half):
        points = [{"x": x - half, "y": y, "id": 0}, {"x": x + half, "y": y, "id": 1}]
        event = {"type": kind, "touchPoints": points if half else []}
        fingers.send("Input.dispatchTouchEvent", event)

    for kind, half in (("touchStart", 30), ("touchMove", 45), ("touchMove", 60), ("touchEnd", 0)):
        touch(kind, half)
    browser.settle()
    assert float(state(browser)["zoom"]) == pytest.approx(2.0, rel=0.05)


def click(browser, selector):
    browser.run(f"document.querySelector({json.dumps(selector)}).click()")
    browser.settle()


def test_classes_and_surfaces_can_be_left_out(browser, tmp_path, surfaces):
    model, X, y = surfaces
    show(browser, tmp_path, model, X, y)
    assert int(state(browser)["points"]) == len(X)
    both = int(state(browser)["triangles"])
    click(browser, "input[data-class='0']")
    assert int(state(browser)["points"]) == (y == 1).sum()
    click(browser, "input[data-surface]:checked")
    one = int(state(browser)["triangles"])
    assert 0 < one < both
    decision = browser.run("document.querySelectorAll('input[data-surface]').length") - 1
    click(browser, f"input[data-surface='{decision}']")
    assert int(state(browser)["triangles"]) > one


def test_the_surface_drawn_is_that_of_the_model(browser, tmp_path):
    X = make_sphere(200, random_state=0) @ [[1.0, 0.4, 0.0], [0.0, 0.6, 0.3], [0.2, 0.0, 0.8]]
    model = OAVI(psi=0.001, oracle="omp", max_degree=2).fit(X)
    show(browser, tmp_path, model, X)
    scene = scene_of(facts_of(model, X))
    limits = np.column_stack([scene["low"], scene["high"]])
    _, faces = isosurface(model.generators_[0], limits, 28)
    assert int(state(browser)["triangles"]) == len(faces) > 1000


def test_columns_and_sections_can_be_chosen(browser, tmp_path, iris):
    path = show(browser, tmp_path, *iris)
    values = "[...document.querySelectorAll('#scene-axes select')].map(s => s.value)"
    assert browser.run(values) == ["0", "1", "2"]
    picture = pixels(browser)
    browser.run(
        "(s => {s.value = '3'; s.dispatchEvent(new Event('change'))})"
        "(document.querySelector('#scene-axes select'))"
    )
    browser.settle()
    assert browser.run(values) == ["3", "1", "2"]
    changed = pixels(browser)
    assert changed != picture
    browser.run(
        "(s => {s.value = 900; s.dispatchEvent(new Event('input'))})"
        "(document.querySelector('#scene-section input'))"
    )
    browser.settle()
    assert pixels(browser) != changed
    click(browser, "#scene-section button")  # back to the medians
    assert pixels(browser) == changed
    assert_quiet(browser, path)


def test_two_columns_are_drawn_in_the_plane(browser, tmp_path):
    X = np.concatenate([make_circle(100, random_state=0), 0.7 * make_circle(100, random_state=1)])
    y = np.repeat(["large", "small"], 100)
    model = VanishingClassifier(OAVI(psi=0.001, max_degree=2), C=10.0).fit(X, y)
    path = show(browser, tmp_path, model, X, y)
    before, picture = state(browser), pixels(browser)
    assert int(before["triangles"]) > 100  # segments of two circles
    x, y = middle(browser)
    browser.drag((x, y), (x + 40, y + 10))
    assert float(state(browser)["x"]) == pytest.approx(40)
    assert pixels(browser) != picture
    assert_quiet(browser, path)


def test_clicking_a_head_sorts_the_table(browser, tmp_path, iris):
    show(browser, tmp_path, *iris)
    values = (
        "[...document.querySelectorAll('#equations-1 tbody tr')]"
        ".map(r => Number(r.cells[{}].dataset.value))"
    )
    assert browser.run(values.format(0)) == sorted(browser.run(values.format(0)))
    for column, name in ((5, "mean square"), (2, "share")):
        button = f"#equations-1 th:nth-child({column + 1}) button"
        assert browser.run(f"document.querySelector('{button}').textContent") == name
        orders = []
        for _ in range(2):
            click(browser, button)
            found = browser.run(values.format(column))
            order = browser.run(
                f"document.querySelector('{button}').parentNode.getAttribute('aria-sort')"
            )
            assert found == sorted(found, reverse=order == "descending")
            orders.append(order)
        assert sorted(orders) == ["ascending", "descending"]


def test_infinite_numbers_sort_as_the_largest_and_missing_ones_last(browser, tmp_path):
    show(browser, tmp_path, *equal_columns())
    for order in ("descending", "ascending"):
        click(browser, "#equations-0 th:nth-child(3) button")
        found = browser.run(
            "[...document.querySelectorAll('#equations-0 tbody tr')]"
            ".map(r => r.cells[2].dataset.value)"
        )
        head = "document.querySelector('#equations-0 th:nth-child(3)').getAttribute('aria-sort')"
        assert browser.run(head) == order
        numbers = [float(value) for value in found[:-1]]
        assert math.inf in numbers and found[-1] == ""
        assert numbers == sorted(numbers, reverse=order == "descending")


def test_more_equations_are_shown_on_demand(browser, tmp_path):
    X, y = load_wine(return_X_y=True)
    features = VanishingFeatures(OAVI(psi=0.01, max_degree=2)).fit(minmax_scale(X), y)
    show(browser, tmp_path, features, minmax_scale(X), y)
    count = "document.querySelectorAll('#equations-0 tbody tr:not([hidden])').length"
    assert browser.run(count) == 20
    click(browser, "#equations-0 th:nth-child(1) button")
    assert browser.run(count) == 20
    click(browser, "button.show-all")
    assert browser.run(count) == min(100, features.transformers_[0].n_generators_) > 20
    click(browser, "button.show-all")
    assert browser.run(count) == 20


def test_units_can_be_switched(browser, tmp_path, iris):
    show(browser, tmp_path, *iris)
    shown = (
        "[...document.querySelectorAll('#equations-0 tr:nth-child(1) .eq')]"
        ".filter(e => e.offsetHeight).map(e => e.className)"
    )
    assert browser.run(shown) == ["eq original"]
    click(browser, "#units-scaled")
    assert browser.run(shown) == ["eq scaled"]


def test_without_scripts_everything_but_the_picture_is_there(browser, tmp_path, iris):
    browser.open(write_report(*iris, tmp_path / "report.html"), script=False)
    for selector in (
        "h1",
        "#equations-0 .original",
        ".confusion",
        "svg.chart",
        "#guarantees p",
        "noscript p",
    ):
        assert browser.page.locator(selector).first.bounding_box()["height"] > 10


def test_probabilities_are_shown_beside_what_happened(tmp_path):
    rows, y = make_moons(400, noise=0.3, random_state=0)
    search = VanishingClassifierCV(OAVI(), psis=(0.1,), Cs=(1.0,), scale=True).fit(rows, y)
    text = write_report(search, rows, y, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Reliability diagram" in text and "held out in cross-validation" in text
    assert "free of the luck of the best of 1 settings" in text
    model = VanishingClassifier().fit(rows, y)
    text = write_report(model, rows, y, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "appears to have been fitted to" in text
    assert text.count('class="whisker"') >= 1
    text = write_report(model, rows, None, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Reliability diagram" not in text
