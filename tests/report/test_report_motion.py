"""Reports on motion: what is conserved, typeset and over time; no label is taken for markup."""

import re

import numpy as np
import pandas as pd
import pytest
from pages import HOSTILE, Page, check_page

import vanishing
from vanishing import ConservedQuantities, load
from vanishing.algebra.markup import clean, number
from vanishing.inspection import motion_rows
from vanishing.report import write_report
from vanishing.report.motion_facts import motion_facts_of
from vanishing.report.motion_page import value_chart
from vanishing.report.settings import ROWS

pytest.importorskip("jinja2")


def spring(n_runs=8, damping=0.0, noise=0.0):
    """Return runs of a mass on a spring: columns, labels of runs, and times."""
    rng = np.random.default_rng(0)
    t = np.linspace(0.0, 5.0, 40)
    swing = np.column_stack([np.cos(2 * t), -2 * np.sin(2 * t)]) * np.exp(-damping * t)[:, None]
    X = np.vstack([a * swing for a in np.linspace(1.0, 3.0, n_runs)])
    X += noise * rng.normal(size=X.shape)
    labels = np.repeat([f"run {i:03d}" for i in range(n_runs)], len(t))
    return pd.DataFrame(X, columns=["x", "v"]), labels, np.tile(t, n_runs)


def pendulum():
    """Return runs of a pendulum with its height and the state's law among the columns."""
    X, labels, t = spring(6)
    return X.assign(w=X["x"] + 2 * X["v"]), labels, t


def logarithmic():
    """Return a fit with a function that is not defined on all of the rows to report on."""
    t = np.linspace(0.0, 2.0, 40)
    runs = [np.column_stack([np.exp(t), a - t]) for a in np.arange(1.0, 9.0)]
    X, labels = pd.DataFrame(np.vstack(runs), columns=["p", "q"]), np.repeat(np.arange(8), 40)
    model = ConservedQuantities(functions={"p": ("log",)}, max_degree=2).fit(X, groups=labels)
    bad = X.copy()
    bad.loc[:4, "p"] = -1.0
    return model, bad, labels, np.tile(t, 8)


@pytest.fixture(scope="module")
def models():
    """Of each kind: what searched, rows, labels, times."""
    found = {}
    for kind, rows in {
        "conserved": spring(),
        "many runs": spring(45),
        "noise": spring(noise=0.02),
        "nothing": spring(damping=0.3),
        "constraint": pendulum(),
    }.items():
        X, labels, t = rows
        found[kind] = ConservedQuantities(max_degree=2).fit(X, groups=labels), *rows
    X, labels, t = spring(3)
    with pytest.warns(UserWarning):
        found["three runs"] = ConservedQuantities(max_degree=2).fit(X, groups=labels), X, labels, t
    found["undefined"] = logarithmic()
    return found


KINDS = (
    *("conserved", "many runs", "noise", "nothing"),
    *("constraint", "three runs", "undefined"),
)


def report(tmp_path, model, X, labels, t=None, **options):
    path = write_report(model, X, path=tmp_path / "report.html", groups=labels, t=t, **options)
    return Page(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", KINDS)
def test_page_is_well_formed_and_refers_to_nothing_outside(tmp_path, models, kind):
    page = report(tmp_path, *models[kind], data_name="table")
    check_page(page)
    said = re.sub(r"ConservedQuantities functions.*?Provenance", "", page.words)
    assert not re.search(r"\b(nan|inf)\b", said)
    assert models[kind][0].verdict_ in page.words
    assert f"vanishing {vanishing.__version__}" in page.words


@pytest.mark.parametrize("kind", ["conserved", "noise"])
def test_quantities_are_typeset_with_their_ratios(tmp_path, models, kind):
    model, *rows = models[kind]
    page = report(tmp_path, model, *rows)
    assert model.quantities_
    for quantity in model.quantities_:
        assert page.source.count(quantity.to_mathml()) == 2
        assert str(quantity) in page.words and quantity.to_latex() in page.words
        assert number(quantity.ratio, 2) in page.source
    assert "These appear to be the training rows" in page.words
    other = rows[0] * 1.1
    assert (
        "These appear to be the training rows"
        not in report(tmp_path, model, other, *rows[1:]).words
    )


def test_mathml_of_a_quantity(models):
    (quantity,) = models["conserved"][0].quantities_
    written = quantity.to_mathml()
    assert written.startswith("<math") and written.endswith("</math>")
    assert "<msup><mi>v</mi><mn>2</mn></msup>" in written
    assert re.sub("<[^>]*>", "", written) in ("v2+4x2", "4x2+v2", "x2+0.25v2")


def test_nothing_conserved_is_said(tmp_path, models):
    page = report(tmp_path, *models["nothing"])
    assert not page.all("svg") and not page.all("math")
    assert "Over time" not in page.words and "quantities0" in page.words


def test_laws_of_the_state_are_told(tmp_path, models):
    model, *rows = models["constraint"]
    page = report(tmp_path, model, *rows)
    assert model.constraints_
    for law in model.constraints_:
        assert law.to_mathml() in page.source
    assert "Laws of the state" not in report(tmp_path, *models["conserved"]).words


def test_what_was_held_out_is_said(tmp_path, models):
    model = models["conserved"][0]
    page = report(tmp_path, *models["conserved"])
    assert page.words.count("(held out)") == model.held_out_.sum() > 0
    assert "too few runs to hold any out" not in page.words
    page = report(tmp_path, *models["three runs"])
    assert "too few runs to hold any out" in page.words and "(held out)" not in page.words


def test_labels_may_have_been_numbers():
    X, labels, _ = spring()
    numbers = np.unique(labels, return_inverse=True)[1]
    model = ConservedQuantities(max_degree=2).fit(X, groups=numbers)
    found = motion_rows(model, X, numbers.astype(str))
    assert [run.held_out for run in found.runs] == model.held_out_.tolist()


def test_spread_within_and_between_runs(models):
    model, X, labels, t = models["noise"]
    rows = motion_rows(model, X, labels, t)
    values = pd.Series(model.quantities_[0](X))
    mean = values.groupby(labels).transform("mean")
    assert rows.within[0] == pytest.approx(np.sqrt(np.mean((values - mean) ** 2)))
    assert rows.between[0] == pytest.approx(mean.std(ddof=0))
    assert 1 - rows.ratios[0] == pytest.approx(model.score(X, groups=labels))
    assert [run.mean(0) for run in rows.runs] == pytest.approx(model.values_[:, 0])


def test_rows_without_a_value_are_left_out(tmp_path, models):
    rows = motion_rows(*models["undefined"])
    assert rows.n_undefined == 5
    assert np.isfinite(rows.within).all() and np.isfinite(rows.between).all()
    assert "On 5 rows a quantity is not defined" in report(tmp_path, *models["undefined"]).words


def test_one_line_per_run(tmp_path, models):
    model, X, labels, t = models["conserved"]
    facts = motion_facts_of(model, X, labels, t)
    chart = value_chart(facts, facts.rows.runs, 0)
    n_held = int(model.held_out_.sum())
    assert chart.paths["held-out"].count("M") == n_held
    assert chart.paths["run"].count("M") == 8 - n_held
    for path in chart.paths.values():
        for line in path.split("M")[1:]:
            heights = [float(pair.split()[1]) for pair in line.split("L")]
            assert len(heights) == 40 and max(heights) - min(heights) < 0.15
    page = report(tmp_path, *models["many runs"])
    assert f"Shown are {ROWS} of 45 runs" in page.words
    assert sum(
        a["d"].count("M") for a in page.all("path") if a["class"] in ("run", "held-out")
    ) == (ROWS * len(models["many runs"][0].quantities_))


def test_times_order_the_rows(models):
    model, X, labels, t = models["conserved"]
    order = np.random.default_rng(0).permutation(len(X))
    there = motion_rows(model, X, labels, t)
    here = motion_rows(model, X.iloc[order], labels[order], t[order])
    for one, other in zip(there.runs, here.runs, strict=True):
        assert one.label == other.label
        np.testing.assert_array_equal(one.times, other.times)
        np.testing.assert_allclose(one.values, other.values)
    assert motion_rows(model, X, labels).runs[0].times.tolist() == list(range(1, 41))


def test_a_saved_model_has_the_same_page(tmp_path, models):
    model, *rows = models["noise"]
    model.save(tmp_path / "m.json")
    pages = [report(tmp_path, m, *rows).source for m in (model, load(tmp_path / "m.json"))]
    first, second = (re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "", page) for page in pages)
    assert first == second


def hostile():
    X, _, t = spring()
    X.columns = HOSTILE[:2]
    labels = np.repeat([*HOSTILE[:5], "a", "b", "c"], 40)
    return ConservedQuantities(max_degree=2).fit(X, groups=labels), X, labels, t


def test_hostile_names_and_labels_are_text(tmp_path, models):
    model, X, labels, t = hostile()
    plain = report(tmp_path, *models["conserved"])
    page = report(tmp_path, model, X, labels, t, title=HOSTILE[0], data_name=HOSTILE[1] + "\ud800")
    check_page(page)
    tags = {tag for tag, _ in page.elements}
    assert tags <= {tag for tag, _ in plain.elements} | {"mtext", "mspace"}
    for name in HOSTILE[:5]:
        assert re.sub(r"\s+", " ", clean(name, 60)) in page.words


def test_what_is_refused(tmp_path, models):
    model, X, labels, t = models["conserved"]
    path = tmp_path / "r.html"
    for rows, groups, times, problem in [
        (X, None, t, "groups is required"),
        (X, labels[1:], t, "groups has 319 entries"),
        (X, labels, t[1:], "t must have 320 finite numbers"),
        (X, labels, t * np.nan, "t must have 320 finite numbers"),
        (X.drop(columns="v"), labels, t, "feature names"),
        (X.assign(v=np.nan), labels, t, "NaN"),
    ]:
        with pytest.raises(ValueError, match=problem):
            write_report(model, rows, path=path, groups=groups, t=times)
    assert not path.exists()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("kind", ["constraint", "nothing", "hostile"])
def test_page_renders_quietly(browser, tmp_path, models, kind, width, dark):
    model, X, labels, t = hostile() if kind == "hostile" else models[kind]
    path = write_report(model, X, path=tmp_path / "report.html", groups=labels, t=t)
    browser.open(path, width=width, height=800, dark=dark)
    browser.settle()
    assert browser.problems() == []
    assert browser.requests() == [path.resolve().as_uri()]
    assert browser.run("document.documentElement.scrollWidth") <= width
