"""Reports on outliers: which rows, by which threshold and why; no name is taken for markup."""

import re

import numpy as np
import pandas as pd
import pytest
from pages import HOSTILE, Page, check_page

import vanishing
from vanishing import VanishingOutlierDetector, load
from vanishing.algebra.markup import clean, number
from vanishing.inspection import outlier_rows
from vanishing.report import write_report
from vanishing.report.outlier_facts import outlier_facts_of
from vanishing.report.outlier_page import score_chart
from vanishing.report.settings import POINTS, ROWS

pytest.importorskip("jinja2")
NAMES = ["flow", "head", "power", "loss"]
FAULTY = np.arange(7, 400, 40)


def pump(n=400, seed=0, names=NAMES, faulty=0):
    """Return a pump's table in which a column, by default the flow, of some rows is off."""
    rng = np.random.default_rng(seed)
    q, w = rng.uniform(1, 3, size=(2, n))
    X = np.column_stack([q, w, q * w, q**2]) * (1 + 0.005 * rng.normal(size=(n, 4)))
    X[FAULTY, faulty] *= 1.15
    return pd.DataFrame(X, columns=names)


def fitted(table, **parameters):
    return VanishingOutlierDetector(random_state=0, **parameters).fit(table)


def drifted():
    """Return a detector of a stream in which a law stops to hold, and its last rows."""
    first, last = pump(seed=1), pump(seed=2)
    last["loss"] *= 3.0
    return fitted(first).partial_fit(last), last


def lawless():
    rows = np.random.default_rng(0).normal(size=(200, 3))
    return fitted(rows, contamination=0.02), rows


@pytest.fixture(scope="module")
def models():
    """Of each kind: the detector, and rows."""
    table = pump()
    clean_rows = pump(seed=3).drop(index=FAULTY).head(30)
    return {
        "share": (fitted(table, contamination=0.025), table),
        "rate": (fitted(table, false_alarm_rate=0.01), table),
        "no alarm": (fitted(table, false_alarm_rate=1e-4), clean_rows),
        "drifted": drifted(),
        "no law": lawless(),
    }


KINDS = ("share", "rate", "no alarm", "drifted", "no law")


def report(tmp_path, model, X, **options):
    path = write_report(model, X, path=tmp_path / "report.html", **options)
    return Page(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", KINDS)
def test_page_is_well_formed_and_refers_to_nothing_outside(tmp_path, models, kind):
    page = report(tmp_path, *models[kind], data_name="table")
    check_page(page)
    said = re.sub(r"VanishingOutlierDetector contamination.*?Provenance", "", page.words)
    assert not re.search(r"\b(nan|inf)\b", said)
    assert f"vanishing {vanishing.__version__}" in page.words


def test_outliers_and_the_threshold_are_told(tmp_path, models):
    model, table = models["share"]
    n_alarms = int((model.predict(table) == -1).sum())
    page = report(tmp_path, model, table)
    assert f"{n_alarms} of 400 rows are outliers" in page.words
    assert number(model.offset_, 3) in page.words
    assert "contamination2.5%" in page.words and "false alarm rate1%" not in page.words
    page = report(tmp_path, *models["rate"])
    assert "false alarm rate1%" in page.words and "contamination2.5%" not in page.words
    page = report(tmp_path, *models["no alarm"])
    assert "None of 30 rows is an outlier" in page.words
    assert "Columns to blame" not in page.words


def test_the_oddest_rows_come_with_their_reasons(tmp_path, models):
    model, table = models["share"]
    facts = outlier_facts_of(model, table)
    scores = model.score_samples(table)
    oddest = [(int(name), *others) for name, *others in facts.oddest]
    assert [n - 1 for n, *_ in oddest] == np.argsort(scores, kind="stable")[:ROWS].tolist()
    assert {n - 1 for n, *_ in oddest[: len(FAULTY)]} == set(FAULTY)
    page = report(tmp_path, model, table)
    for n, score, is_outlier, reasons in oddest:
        assert is_outlier == (scores[n - 1] < model.offset_)
        assert f"row {n}" in page.words and number(score, 3) in page.words
        alone = model.explain(table.iloc[[n - 1]])[0]
        for key in ("kind", "columns"):
            assert [reason[key] for reason in reasons] == [reason[key] for reason in alone]
        for column in reasons[0]["columns"]:
            found, expected = (reasons[0][key][column] for key in ("found", "expected"))
            told = f"{column} is {number(found, 6)}, expected {number(expected, 6)}"
            assert told in page.words
    assert page.words.count("no outlier") == ROWS - facts.rows.n_alarms


def test_the_faulty_column_is_blamed_most(tmp_path, models):
    model, table = models["share"]
    facts = outlier_facts_of(model, table)
    assert facts.blamed[0][0] == "flow"
    assert sum(count for _, count in facts.blamed) == pytest.approx(facts.rows.n_alarms)
    assert facts.n_broken + facts.n_unusual == facts.rows.n_alarms
    assert "The column most to blame is flow" in report(tmp_path, model, table).words


def test_two_columns_that_laws_cannot_tell_apart_share_the_blame():
    table = pump(faulty=2)
    facts = outlier_facts_of(fitted(table, contamination=0.025), table)
    blamed = dict(facts.blamed)
    assert sum(blamed.values()) == pytest.approx(facts.rows.n_alarms)
    assert blamed["power"] == pytest.approx(blamed["head"], abs=1.0)


def test_laws_are_typeset_with_their_verdicts(tmp_path, models):
    model, table = models["share"]
    page = report(tmp_path, model, table)
    assert model.laws_
    for law in model.laws_:
        assert law.to_mathml() in page.source and law.verdict in page.words
    assert "no longer" not in page.words
    assert "None that can be read" in report(tmp_path, *models["no law"]).words


def test_laws_that_hold_no_longer_are_told(tmp_path, models):
    model, rows = models["drifted"]
    held, lost = outlier_rows(model, rows).laws
    assert lost and len(held) + len(lost) == len(model.laws_)
    assert all("loss" in law.columns for law in lost)
    page = report(tmp_path, model, rows)
    assert "No longer" in page.words
    for law in lost:
        assert law.verdict in page.words


def test_a_saved_detector_has_the_same_page(tmp_path, models):
    model, table = models["rate"]
    model.save(tmp_path / "m.json")
    pages = [report(tmp_path, m, table).source for m in (model, load(tmp_path / "m.json"))]
    first, second = (re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "", page) for page in pages)
    assert first == second


def test_points_are_the_scores(models):
    facts = outlier_facts_of(*models["share"])
    chart = score_chart(facts)
    normal, outliers = (
        np.array(re.findall(r"M([\d.]+) ([\d.]+)h0", chart.paths[name]), dtype=float)
        for name in ("points", "outliers")
    )
    line = float(chart.y(facts.rows.threshold))
    assert len(normal) + len(outliers) == 400 and len(outliers) == facts.rows.n_alarms
    assert (normal[:, 1] < line + 0.1).all() and (outliers[:, 1] > line - 0.1).all()
    np.testing.assert_allclose(
        np.sort(np.append(normal[:, 1], outliers[:, 1])),
        np.sort(chart.y(facts.rows.scores)),
        atol=0.06,
    )


def test_a_page_holds_few_of_many_rows(tmp_path, models):
    model, _ = models["rate"]
    table = pump(20_000)
    path = write_report(model, table, path=tmp_path / "r.html")
    assert path.stat().st_size < 200_000
    paths = score_chart(outlier_facts_of(model, table)).paths
    assert paths["points"].count("M") == POINTS and paths["outliers"].count("M") <= POINTS


def hostile():
    table = pump(names=HOSTILE[:4])
    return fitted(table, contamination=0.05), table


def test_hostile_names_are_text(tmp_path, models):
    model, table = hostile()
    plain = report(tmp_path, *models["share"])
    page = report(tmp_path, model, table, title=HOSTILE[0], data_name=HOSTILE[1] + "\ud800")
    check_page(page)
    tags = {tag for tag, _ in page.elements}
    assert tags <= {tag for tag, _ in plain.elements} | {"mtext", "mspace"}
    for name in HOSTILE[:4]:
        assert re.sub(r"\s+", " ", clean(name, 32)) in page.words


def test_what_is_refused(tmp_path, models):
    model, table = models["share"]
    path = tmp_path / "r.html"
    for rows, problem in [
        (table.drop(columns="loss"), "feature names"),
        (table.assign(loss=np.nan), "NaN"),
        (table.head(0), "0 sample"),
    ]:
        with pytest.raises(ValueError, match=problem):
            write_report(model, rows, path=path)
    with pytest.raises(TypeError, match="blocks of rows"):
        write_report(model, vanishing.Blocks.from_array(table.to_numpy(), rows=50), path=path)
    assert not path.exists()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("kind", ["drifted", "hostile"])
def test_page_renders_quietly(browser, tmp_path, models, kind, width, dark):
    model, rows = hostile() if kind == "hostile" else models[kind]
    path = write_report(model, rows, path=tmp_path / "report.html")
    browser.open(path, width=width, height=800, dark=dark)
    browser.settle()
    assert browser.problems() == []
    assert browser.requests() == [path.resolve().as_uri()]
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_rows_are_called_as_in_the_index(tmp_path, models):
    model, table = models["share"]
    assert outlier_rows(model, table).index is None
    kept = table.drop(index=range(7))  # as after dropna
    rows = outlier_rows(model, kept)
    assert rows.name_of(rows.order[0]) == str(np.argmin(model.score_samples(table)))
    assert rows.numbers[0] == 7
    page = report(tmp_path, model, kept)
    assert f"row {rows.name_of(rows.order[0])}" in page.words and "as in the table" in page.words
    called = [f"S-{i:03}" for i in range(len(table))]
    named = outlier_rows(model, table.set_axis(called))
    assert named.name_of(7) == "S-007" and named.numbers[7] == 8
    both = [(i + 1001, name) for i, name in enumerate(called)]
    given = outlier_rows(model, table.to_numpy(), index=both)
    assert given.name_of(7) == "1,008 (S-007)" and given.numbers[7] == 1008
    assert "row 1,008 (S-007)" in report(tmp_path, model, table, index=both).words
