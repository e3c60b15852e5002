"""Reports on laws: they say what was found, need nothing else, and take no name for markup."""

import re
import subprocess
import sys

import numpy as np
import pytest
from pages import HOSTILE, Page, check_page
from tables_of_laws import circle, gas, nothing

import vanishing
from vanishing import LawFinder, check_law, load
from vanishing.algebra.markup import clean, number
from vanishing.inspection.laws import percent
from vanishing.report import write_report
from vanishing.report.law_charts import front_chart, prediction_chart, residual_charts
from vanishing.report.law_facts import law_facts_of
from vanishing.report.settings import POINTS

pytest.importorskip("jinja2")


def report(tmp_path, model, X, y=None, **options):
    path = write_report(model, X, y, tmp_path / "report.html", **options)
    return Page(path.read_text(encoding="utf-8"))


def exact():
    """Two laws without noise."""
    rng = np.random.default_rng(0)
    table = gas(noise=0.0)
    table["w"] = table["n"] + table["T"]
    return table.sample(frac=1, random_state=rng.integers(100))


@pytest.fixture(scope="module")
def models():
    """Of each kind: the model, and the rows."""
    table, ring, noise = gas(), circle(), nothing()
    return {
        "target": (LawFinder(functions=()).fit(table[["n", "T", "V"]], table["p"]), table),
        "no target": (LawFinder(functions=()).fit(ring), ring),
        "several": (LawFinder(functions=()).fit(exact()), exact()),
        "no law": (LawFinder(functions=()).fit(noise[["a", "b"]], noise["y"]), noise),
        "no equation": (LawFinder(functions=()).fit(noise), noise),
        "checked": (check_law("p*V = R*n*T", table), table),
        "failed": (check_law("p = R*n/V", table), table),
        "no closed form": (check_law("y + exp(y) = b + k", noise), noise),
    }


KINDS = (
    *("target", "no target", "several", "no law", "no equation"),
    *("checked", "failed", "no closed form"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_page_is_well_formed_and_refers_to_nothing_outside(tmp_path, models, kind):
    page = report(tmp_path, *models[kind], data_name="table")
    check_page(page)
    said = re.sub(r"LawFinder functions.*?Provenance", "", page.words)  # without parameters
    assert not re.search(r"\b(nan|inf)\b", said)


@pytest.mark.parametrize("kind", KINDS)
def test_the_verdict_and_how_to_cite_are_there(tmp_path, models, kind):
    model, table = models[kind]
    page = report(tmp_path, model, table)
    verdict = model.verdict_ if isinstance(model, LawFinder) else model.verdict
    if kind == "target":
        verdict = model.laws_[0].verdict
    assert verdict[1:] in page.words
    assert f"vanishing {vanishing.__version__}" in page.words
    assert "Conditional Gradients for the Approximate Vanishing Ideal" in page.words
    assert ("It is no law." in page.words) == (kind in ("no law", "failed", "no closed form"))


def test_a_law_is_typeset_with_its_numbers(tmp_path, models):
    finder, table = models["target"]
    page = report(tmp_path, finder, table)
    law = finder.laws_[0]
    assert law.to_mathml() in page.source
    assert number(-law.coef[1], 8) in page.words
    assert number(law.coef_std[1], 2) in page.words
    assert law.to_latex() in page.words
    assert number(law.error, 4) in page.words
    assert "These appear to be the training rows" in page.words
    assert "These appear to be the training rows" not in report(tmp_path, finder, gas(seed=1)).words


def test_the_target_may_stand_apart(tmp_path, models):
    finder, table = models["target"]
    date = r"\d{4}-\d\d-\d\d \d\d:\d\d"
    together = report(tmp_path, finder, table).source
    apart = report(tmp_path, finder, table[["n", "T", "V"]], table["p"]).source
    assert re.sub(date, "", together) == re.sub(date, "", apart)


def test_all_laws_are_told(tmp_path, models):
    finder, table = models["several"]
    assert len(finder.laws_) > 1
    page = report(tmp_path, finder, table)
    for law in finder.laws_:
        assert law.to_mathml() in page.source
    assert "Other laws" in page.words and "the rest is rounding" in page.words


def test_without_any_equation_there_is_a_page_still(tmp_path, models):
    page = report(tmp_path, *models["no equation"])
    assert not page.all("svg") and not page.all("math")
    assert "No law among the columns was found" in page.words


def test_a_saved_finder_has_the_same_page(tmp_path, models):
    finder, table = models["target"]
    finder.save(tmp_path / "laws.json")
    pages = [report(tmp_path, m, table).source for m in (finder, load(tmp_path / "laws.json"))]
    first, second = (re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "", page) for page in pages)
    assert first == second


def test_what_is_unexplained_is_named(tmp_path, models):
    facts = law_facts_of(*models["failed"])
    page = report(tmp_path, *models["failed"])
    assert (
        page.words.count("explains some of it")
        == (facts.unexplained.shares > facts.unexplained.chance).sum()
    )
    assert percent(facts.unexplained.explained) in page.words
    assert "explains some of it" not in report(tmp_path, *models["target"]).words


def test_units(tmp_path):
    pytest.importorskip("pint")
    units = {"n": "mol", "T": "K", "V": "m^3", "p": "Pa"}
    page = report(tmp_path, check_law("p = R*n*T/V", gas(), units=units), gas())
    assert "J/(mol K)" in page.words and "p, measured [Pa]" in page.words and "T [K]" in page.words


# -- Pictures -------------------------------------------------------------------------------------


def numbers(path):
    return np.array(re.findall(r"-?[\d.]+", path.replace("h0", "")), dtype=float).reshape(-1, 2)


def test_points_are_the_rows(models):
    facts = law_facts_of(*models["target"])
    chart = prediction_chart(facts.rows)
    points = numbers(chart.paths["points"])
    np.testing.assert_allclose(points[:, 0], chart.x(facts.rows.predicted), atol=0.06)
    np.testing.assert_allclose(points[:, 1], chart.y(facts.rows.measured), atol=0.06)
    left, top, right, bottom = chart.box
    assert (points > [left, top]).all() and (points < [right, bottom]).all()
    charts = residual_charts(facts.rows)
    assert [chart.x_label for chart in charts] == ["n", "T", "V"]
    for chart, values in zip(charts, facts.rows.others.values(), strict=True):
        points = numbers(chart.paths["points"])
        np.testing.assert_allclose(points[:, 0], chart.x(values), atol=0.06)
        np.testing.assert_allclose(points[:, 1], chart.y(facts.rows.residuals), atol=0.06)


def test_the_front_has_a_ring_around_the_law(tmp_path, models):
    finder, table = models["target"]
    chart = front_chart(law_facts_of(finder, table).answer)
    assert [mark["chosen"] for mark in chart.marks].count(True) == 1
    page = report(tmp_path, finder, table)
    assert len(page.all("circle", **{"class": "ring"})) == 1
    assert not report(tmp_path, *models["no law"]).all("circle", **{"class": "ring"})


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e9])
def test_ticks_are_round_and_inside(models, scale):
    finder, table = models["target"]
    rows = law_facts_of(finder, table).rows
    rows = rows._replace(measured=rows.measured * scale, predicted=rows.predicted * scale)
    chart = prediction_chart(rows)
    left, _, right, _ = chart.box
    assert 3 <= len(chart.x_ticks) <= 7
    assert all(left <= x <= right and len(shown) <= 8 for x, shown in chart.x_ticks)


@pytest.mark.slow
def test_a_page_holds_few_of_many_rows(tmp_path):
    table = gas(20_000)
    law = check_law("p = R*n*T/V", table)
    path = write_report(law, table, path=tmp_path / "r.html")
    assert path.stat().st_size < 200_000
    facts = law_facts_of(law, table)
    assert prediction_chart(facts.rows).paths["points"].count("M") == POINTS
    assert f"{POINTS:,} of the 20,000 rows" in Page(path.read_text(encoding="utf-8")).words


# -- What comes from outside ----------------------------------------------------------------------


def hostile():
    table = gas()
    table.columns = HOSTILE[:4]
    return LawFinder(functions=()).fit(table[HOSTILE[:3]], table[HOSTILE[3]]), table


def test_hostile_names_are_text(tmp_path, models):
    finder, table = hostile()
    plain = report(tmp_path, *models["target"])
    page = report(tmp_path, finder, table, title=HOSTILE[0], data_name=HOSTILE[1] + "\ud800")
    tags = {tag for tag, _ in page.elements}
    assert tags <= {tag for tag, _ in plain.elements} | {"mtext", "mspace"}
    assert not any(name.startswith("on") for _, a in page.elements for name in a)
    for name in HOSTILE[:4]:
        assert re.sub(r"\s+", " ", clean(name, 32)) in page.words


def test_what_is_refused(tmp_path, models):
    finder, table = models["target"]
    path = tmp_path / "r.html"
    for rows, problem in [
        (table.drop(columns="T"), "no column 'T'"),
        (table.assign(T=np.nan), "'T' has values that are NaN"),
        (table.head(0), "needs rows"),
        (table.assign(T="hot"), "'T' does not hold numbers"),
    ]:
        with pytest.raises(ValueError, match=problem):
            write_report(finder, rows, path=path)
    assert not path.exists()


@pytest.mark.slow
def test_matplotlib_is_not_needed():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import numpy as np\n"
        "from vanishing import check_law\n"
        "from vanishing.report.law_facts import law_facts_of\n"
        "from vanishing.report.law_page import law_page_of\n"
        "X = np.random.default_rng(0).uniform(1, 2, size=(30, 2))\n"
        "law = check_law('x0 = k*x1', X)\n"
        "assert '</html>' in law_page_of(law_facts_of(law, X))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# -- In a browser ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("kind", ["target", "no law", "hostile"])
def test_page_renders_quietly(browser, tmp_path, models, kind, width, dark):
    model, table = hostile() if kind == "hostile" else models[kind]
    path = write_report(model, table, path=tmp_path / "report.html")
    browser.open(path, width=width, height=800, dark=dark)
    browser.settle()
    assert browser.problems() == []
    assert browser.requests() == [path.resolve().as_uri()]
    assert browser.run("document.documentElement.scrollWidth") <= width
    background = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) < 200) == dark
    heights = browser.run(
        "[...document.querySelectorAll('section')].map(s => s.getBoundingClientRect().height)"
    )
    assert len(heights) >= 8 and min(heights) > 50


def test_no_scroll_bar_beside_a_fraction_of_two_lines(browser, tmp_path):
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).uniform(1, 3, (200, 3))
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    target = (table.a / (1 + table.b / table.c)).rename("y")
    law = check_law("y = a/(k + b/c)", table, target)
    path = write_report(law, table, target, path=tmp_path / "report.html")
    browser.open(path, width=1200, height=800)
    browser.settle()
    bars = browser.run(
        "[...document.querySelectorAll('.scroll')].filter(e => e.querySelector(':scope > math') && "
        "getComputedStyle(e).overflowY != 'hidden').length"
    )
    assert browser.run("document.querySelectorAll('mfrac mfrac').length") >= 1
    assert bars == 0
