"""Reports on equations of motion: typeset, over the measured rows; no label is taken for markup."""

import re

import numpy as np
import pandas as pd
import pytest
from pages import HOSTILE, Page, check_page

import vanishing
from vanishing import EquationsOfMotion, load
from vanishing.algebra.markup import clean, number
from vanishing.datasets import make_motion
from vanishing.report import write_report
from vanishing.report.equations_of_motion_facts import equations_of_motion_facts_of
from vanishing.report.equations_of_motion_page import column_chart, portrait_chart, residual_chart

pytest.importorskip("jinja2")


def valleys(names=("prey", "hunter"), labels=("a", "b", "c", "d", "e")):
    """Return a fit to five runs, with a cell that is missing: model, rows, times and runs."""
    X, t, run = make_motion("predator prey", 5, 60, noise=0.01, random_state=0)
    X[7, 0] = np.nan
    X, run = pd.DataFrame(X, columns=list(names)), np.array(labels, dtype=object)[run]
    return EquationsOfMotion(functions=()).fit(X, t, run), X, t, run


def walk():
    X = np.random.default_rng(0).normal(size=(100, 2)).cumsum(axis=0)
    t = np.arange(100.0)
    return EquationsOfMotion(functions=()).fit(X, t), X, t, None


def spring():
    X, t, run = make_motion("oscillator", 2, 60, noise=0.01, random_state=0)
    return EquationsOfMotion(order=2, functions=()).fit(X[:, :1], t, run), X[:, :1], t, run


def decay():
    """Return a fit to a run without noise, whose coefficients have no errors."""
    X, t, _ = make_motion("decay", 1, 60)
    return EquationsOfMotion(functions=()).fit(X, t), X, t, None


@pytest.fixture(scope="module")
def models():
    return {"valleys": valleys(), "walk": walk(), "spring": spring(), "decay": decay()}


def report(tmp_path, model, X, t, run, **options):
    path = write_report(model, X, path=tmp_path / "report.html", groups=run, t=t, **options)
    return Page(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", ["valleys", "walk", "spring", "decay"])
def test_page_is_well_formed_and_refers_to_nothing_outside(tmp_path, models, kind):
    page = report(tmp_path, *models[kind], data_name="table")
    check_page(page)
    said = re.sub(r"EquationsOfMotion constraints.*?Provenance", "", page.words)
    assert not re.search(r"\b(nan|inf)\b", said)
    assert f"vanishing {vanishing.__version__}" in page.words


def test_equations_are_typeset_with_their_errors(tmp_path, models):
    model, *rows = models["valleys"]
    page = report(tmp_path, model, *rows)
    for equation in model.equations_:
        assert equation.to_mathml() in page.source
        assert str(equation) in page.words and equation.to_latex() in page.words
        for std in equation.coef_std:
            assert number(std, 2) in page.source
    assert f"O{model.verdict_[1:]}" in page.words
    assert number(model.held_out_error_, 3) in page.source
    for name in ("Over time", "Phase portrait", "Residuals over time"):
        assert name in page.words
    assert len(page.all("svg")) == 5


def test_derivatives_are_fractions():
    model, *_ = spring()
    written = model.equations_[0].to_mathml()
    assert written.startswith('<math displaystyle="true"><mrow><mfrac>')
    assert re.sub("<[^>]*>", "", written).startswith("d2x0dt2=")


def test_rows_and_lines_of_all_runs_are_drawn(models):
    model, X, t, run = models["valleys"]
    runs = equations_of_motion_facts_of(model, X, t, run).followed
    for j, chart in enumerate([column_chart(runs, 0), column_chart(runs, 1)]):
        points = chart.paths["points"].count("M") + chart.paths["held-out-points"].count("M")
        assert points == X.iloc[:, j].notna().sum()
        assert chart.paths["held-out"].count("M") == model.held_out_.sum() == 1
        assert chart.paths["run"].count("M") == 4
    for j in range(2):
        chart = residual_chart(runs, j)
        heights = np.array([float(y) for y in re.findall(r"M\S+ (\S+)h0", chart.paths["points"])])
        # Most residuals are between the broken lines, which are twice the noise from zero.
        low, zero, high = (float(y) for y in re.findall(r"M\S+ (\S+?)L", chart.paths["diagonal"]))
        assert low - zero == pytest.approx(zero - high, abs=0.2)
        assert 0.85 < np.mean((heights < low) & (heights > high)) < 1.0


def test_arrows_point_where_the_model_goes(models):
    model, X, t, run = models["valleys"]
    runs = equations_of_motion_facts_of(model, X, t, run).followed
    chart = portrait_chart(runs)
    shafts = re.findall(r"M(\S+) (\S+?)L(\S+) (\S+?)M", chart.paths["field"])
    assert len(shafts) == 15 * 15
    a, b, c, d = np.array(shafts, dtype=float).T
    left, top, right, bottom = chart.box
    x = np.interp((a + c) / 2, [left, right], chart.x_range)
    y = np.interp((b + d) / 2, [top, bottom], chart.y_range[::-1])
    slopes = model.predict(pd.DataFrame({"prey": x, "hunter": y}))
    scale = [np.ptp(chart.x_range) / (right - left), np.ptp(chart.y_range) / (top - bottom)]
    drawn = np.column_stack([c - a, d - b]) * scale
    cosine = (drawn * slopes / np.square(scale)).sum(axis=1) / (
        np.linalg.norm(drawn / scale, axis=1) * np.linalg.norm(slopes / scale, axis=1)
    )
    assert (cosine > 0.98).all()


def test_nothing_found_is_said(tmp_path, models):
    model, *rows = models["walk"]
    page = report(tmp_path, model, *rows)
    assert "No equations of motion are claimed" in page.words and "Residuals" not in page.words
    assert len(page.all("svg")) == 2 and "None of them is claimed" in page.words
    assert page.source.count("<math") == len(model.front_)


def test_notebooks_show_the_equations(models):
    model = models["valleys"][0]
    shown = model._repr_html_()
    assert all(equation.to_mathml() in shown for equation in model.equations_)
    assert f"O{model.verdict_[1:]}" in shown and f"{model.held_out_error_:.2f} times" in shown
    assert "<math" not in models["walk"][0]._repr_html_()
    assert "vanishing-equations" not in EquationsOfMotion()._repr_html_()


def test_a_saved_model_has_the_same_page(tmp_path, models):
    model, *rows = models["valleys"]
    model.save(tmp_path / "m.json")
    pages = [report(tmp_path, m, *rows).source for m in (model, load(tmp_path / "m.json"))]
    first, second = (re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "", page) for page in pages)
    assert first == second


def test_hostile_names_and_labels_are_text(tmp_path, models):
    model, *rows = valleys(HOSTILE[:2], [*HOSTILE[:4], "e"])
    page = report(tmp_path, model, *rows, title=HOSTILE[0], data_name=HOSTILE[1] + "\ud800")
    check_page(page)
    tags = {tag for tag, _ in page.elements}
    assert tags <= {tag for tag, _ in report(tmp_path, *models["valleys"]).elements} | {"mtext"}
    for name in HOSTILE[:2]:
        assert re.sub(r"\s+", " ", clean(name, 60)) in page.words


def test_what_is_refused(tmp_path, models):
    model, X, t, run = models["valleys"]
    path = tmp_path / "r.html"
    for rows, times, groups, problem in [
        (X, None, run, "t is required"),
        (X, t[1:], run, "one number per row"),
        (X, t, run[1:], "groups has 299 entries"),
        (X.drop(columns="prey"), t, run, "feature names"),
    ]:
        with pytest.raises(ValueError, match=problem):
            write_report(model, rows, path=path, t=times, groups=groups)
    assert not path.exists()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("kind", ["valleys", "walk"])
def test_page_renders_quietly(browser, tmp_path, models, kind, width, dark):
    model, X, t, run = models[kind]
    path = write_report(model, X, path=tmp_path / "report.html", groups=run, t=t)
    browser.open(path, width=width, height=800, dark=dark)
    browser.settle()
    assert browser.problems() == []
    assert browser.requests() == [path.resolve().as_uri()]
    assert browser.run("document.documentElement.scrollWidth") <= width
