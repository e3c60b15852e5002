"""The comparison with other methods: its judge, its processes, its methods, and its page."""

import csv
import importlib
import multiprocessing
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sympy")
pytest.importorskip("pandas")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "studies"))
import comparison  # noqa: E402
from comparison_answers import (  # noqa: E402
    SYMBOLS,
    ExpressionAnswer,
    TermsAnswer,
    fit_of,
    is_found,
    read_expression,
)
from comparison_methods import METHODS  # noqa: E402
from law_fits import warm_up  # noqa: E402
from law_tables import VARIABLES, problem_of, without_target  # noqa: E402

from vanishing.datasets.feynman import feynman_laws  # noqa: E402

forks = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="processes are not forked here"
)


@pytest.fixture(scope="module")
def warm():
    warm_up()  # or every process would compile


def expression(text, column):
    return ExpressionAnswer(text, read_expression(text, SYMBOLS), column)


def fresh(name):
    return problem_of(name, feynman_laws()[name]).fresh


# I.13.4: K = m*(v^2 + u^2 + w^2)/2; I.18.4: r = (m1*r1 + m2*r2)/(m1 + m2);
# I.6.2a: f = exp(-theta^2/2)/sqrt(2*pi); II.15.4: E_n = -mom*B*cos(theta)
@pytest.mark.parametrize(
    ("name", "text", "column", "right"),
    [
        ("I.13.4", "0.5*x0*(x1*x1 + x2^2 + x3^2)", 4, True),
        ("I.13.4", "mul(0.503, mul(x0, add(0.98*x1*x1, add(x2*x2, x3*x3))))", 4, True),
        ("I.13.4", "0.02 + 0.5*x0*(x1*x1 + x2^2 + x3^2)", 4, True),  # linear scaling
        ("I.13.4", "0.5*x0*(x1*x1 + x2^2 + x3^2 + 0.00001*x2)", 4, True),  # negligible
        ("I.13.4", "0.5*x0*(x1*x1 + x2^2 + x3^2 + 0.3*x2)", 4, False),  # superfluous
        ("I.13.4", "0.5*x0*(x1*x1 + x2^2)", 4, False),
        ("I.18.4", "(1.01*x0*x2 + x1*x3)/(0.99*x0 + 1.02*x1)", 4, True),
        ("I.18.4", "(x0*x2 + x1*x3)/(x0 + x1 + 0.2)", 4, False),
        ("I.6.2a", "0.4*exp(-0.49*x0*x0)", 1, True),
        ("I.6.2a", "0.18*exp(cos(x0)) - 0.06", 1, False),  # accurate, but no law
        ("I.6.2a", "0.5*exp(0.01*x0 - 0.5*x0*x0)", 1, False),
        ("II.15.4", "0.98*x0*x1*sin(0.99*x2 - 1.6)", 3, True),
        ("II.15.4", "x0*x1*(x2*x2/2 - 1)", 3, False),
    ],
)
def test_expressions_are_judged_by_their_form(name, text, column, right):
    assert is_found(expression(text, column), fresh(name)) == right


def test_terms_are_judged_with_and_without_their_constant():
    def answer(*more):
        def values(z):
            terms = [np.ones(len(z)), z[:, 2], z[:, 0] / z[:, 1], *(z[:, i] for i in more)]
            return np.column_stack(terms)

        return TermsAnswer("", values, np.array([0.0, -1.0, 1.0, *(0.0 for _ in more)]), constant=0)

    assert is_found(answer(), fresh("I.25.13"))  # Volt = q/C
    assert not is_found(answer(0), fresh("I.25.13"))


def test_accuracy_is_R2_without_noise():
    problem = fresh("I.25.13")
    assert fit_of(expression("x0/x1", 2), problem, 2) == pytest.approx(1.0, abs=1e-12)
    off = fit_of(expression("x0/x1 + 0.1", 2), problem, 2)
    _, y = problem(100_000, np.random.RandomState(0), 0.0)
    assert off == pytest.approx(1 - 0.01 / np.var(y), abs=0.002)
    # An ellipse as an equation: no column is a function of the other, but the distance is zero.
    ellipse = without_target(VARIABLES[-1]).fresh
    terms = TermsAnswer(
        "",
        lambda z: np.column_stack([z[:, 0] ** 2, z[:, 1] ** 2, np.ones(len(z))]),
        np.array([0.25, 1.0, -1.0]),
    )
    assert fit_of(terms, ellipse) == pytest.approx(1.0, abs=1e-12)
    assert is_found(terms, ellipse)


@pytest.mark.parametrize("text", ["__import__('os')", "x0.real", "[x0]", "'x0'", "x0 if x1 else 1"])
def test_expressions_are_read_and_not_run(text):
    with pytest.raises((ValueError, KeyError, AttributeError)):
        read_expression(text, SYMBOLS)


def endless(columns, target, limit, seed):
    while True:
        pass


def failing(columns, target, limit, seed):
    raise RuntimeError("on purpose")


def asleep(columns, target, limit, seed):
    time.sleep(0.6)  # no time of the processor
    return []


@forks
@pytest.mark.parametrize(
    ("method", "outcome"), [(endless, "timeout"), (failing, "failed"), (asleep, "none")]
)
def test_what_does_not_end_in_time_is_killed_and_reported(monkeypatch, warm, method, outcome):
    monkeypatch.setitem(METHODS, "one", method)
    monkeypatch.setattr(comparison, "GRACE", 0.2)
    made = comparison.Table("feynman", 24, 0.0, 0)
    run = comparison.run_one("one", made, 0.1)
    assert (run.outcome, run.accurate) == (outcome, False)
    summary = comparison.summaries([run])[0]
    assert summary.timeouts == (outcome == "timeout")
    assert summary.found == 0


NEEDS = {
    "vanishing.LawFinder": None,
    "PyOperon": "pyoperon",
    "gplearn": "gplearn",
    "PySINDy, STLSQ": "pysindy",
    "PySINDy, SINDy-PI": "pysindy",
    "PolynomialFeatures, LassoLarsIC": None,
}


@forks
@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_a_product(warm, method):
    if NEEDS[method] is not None:
        pytest.importorskip(NEEDS[method])
    index = list(feynman_laws()).index("I.12.5")  # F = q2*Ef
    run = comparison.run_one(method, comparison.Table("feynman", index, 0.0, 0), 5.0)
    assert (run.outcome, run.accurate) == ("found", True)
    assert "q2" in run.said


def test_tables_are_those_of_the_benchmark_of_laws():
    tables = comparison.tables_of([0.0, 0.01], 0)
    names = [made.problem().name for made in tables if made.noise == 0]
    assert names == [*list(feynman_laws())[::4], *(problem.name for problem in VARIABLES)]
    assert len(tables) == 60


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="there is no documentation here")
def test_pages_show_the_results(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    pages = importlib.import_module("make_comparison").pages()
    for path, text in pages.items():
        assert path.read_text(encoding="utf-8") == text, "run docs/make_comparison.py"


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="there is no documentation here")
def test_the_summary_is_that_of_the_runs():
    results = ROOT / "docs" / "results"
    with open(results / "comparison.runs.csv", encoding="utf-8") as file:
        runs = [
            comparison.Run(**line)._replace(
                noise=float(line["noise"]),
                accurate=line["accurate"] == "True",
                seconds=float(line["seconds"]),
            )
            for line in csv.DictReader(file)
        ]
    with open(results / "comparison.csv", encoding="utf-8") as file:
        written = [tuple(line.values()) for line in csv.DictReader(file)]
    assert [tuple(map(str, one)) for one in comparison.summaries(runs)] == written
