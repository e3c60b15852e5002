"""Pictures of laws: what is drawn is what the law says of the rows."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from tables_of_laws import circle, gas, nothing

from vanishing import Law, LawFinder, check_law, load
from vanishing.algebra.terms import monomial
from vanishing.inspection import constants_of, law_anatomy, law_rows, unexplained
from vanishing.inspection.laws import percent, running
from vanishing.plot import (
    LawCurveDisplay,
    LawFrontDisplay,
    LawPredictionDisplay,
    LawResidualsDisplay,
    LawUnexplainedDisplay,
)

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

HOSTILE = ["$x", r"\frac{", "<b>", "a\nb"]


@pytest.fixture(autouse=True)
def closed_figures():
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def found():
    table = gas()
    return LawFinder(functions=()).fit(table[["n", "T", "V"]], table["p"]), table


@pytest.fixture(scope="module")
def ring():
    table = circle()
    return LawFinder().fit(table), table


@pytest.fixture(scope="module")
def lost():
    table = nothing()
    return LawFinder(functions=()).fit(table[["a", "b"]], table["y"]), table


def ticks(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


# -- What a law says of rows ----------------------------------------------------------------------


def test_rows_of_a_target_are_its_predictions(found):
    finder, table = found
    law = finder.laws_[0]
    rows = law_rows(law, table)
    np.testing.assert_array_equal(rows.measured, table["p"])
    np.testing.assert_allclose(rows.predicted, finder.predict(table[["n", "T", "V"]]))
    assert rows.error == pytest.approx(law.error)
    assert (rows.name, list(rows.others), rows.n_undefined) == ("p", ["n", "T", "V"], 0)
    other = law_rows(law, table, column="V")
    assert other.name == "V"
    np.testing.assert_allclose(other.predicted, law.solve("V").predict(table))


def test_of_two_solutions_the_nearer_one_is_taken(ring):
    finder, table = ring
    rows = law_rows(finder.laws_[0], table, column="y")
    good = np.isfinite(rows.predicted)
    assert 0 < rows.n_undefined == np.count_nonzero(~good) < 40
    assert (np.sign(rows.predicted[good]) == np.sign(table["y"][good])).mean() > 0.98
    assert np.median(np.abs(rows.residuals[good])) < 0.05


def test_without_a_target_one_solution_is_better_than_two():
    law = Law([monomial([2, 0]), monomial([0, 1])], [1.0, -1.0], names=("x", "y"))
    rows = law_rows(law, np.array([[-2.0, 4.5], [3.0, 9.0]]))
    assert rows.name == "y"
    np.testing.assert_allclose(rows.predicted, [4.0, 9.0])


def test_without_a_target_the_column_that_has_the_noise_is_predicted():
    for name in ("p", "V"):
        table = gas(noise=0.0)
        noise = np.random.default_rng(0).normal(scale=0.1, size=len(table))
        table[name] *= 1 + noise
        law = check_law("p*V = R*n*T", table)
        assert law.target is None
        assert law_rows(law, table).name == name


def test_without_a_closed_form_residuals_are_right_to_first_order():
    y = np.linspace(0.5, 2, 50)
    x = y + np.exp(y)
    law = check_law("y + exp(y) = x", pd.DataFrame({"x": x, "y": y}))
    shifted = pd.DataFrame({"x": x, "y": y + 1e-4})
    rows = law_rows(law, shifted, column="y")
    np.testing.assert_allclose(rows.residuals, 1e-4, rtol=1e-3)
    with pytest.raises(ValueError, match="'z' does not occur"):
        law_rows(law, shifted, column="z")


def test_thinned_rows_are_evenly_spread(found):
    finder, table = found
    rows = law_rows(finder.laws_[0], table).thinned(100)
    places = [int(np.flatnonzero(table["p"] == value)[0]) for value in rows.measured]
    assert (places[0], places[-1]) == (0, len(table) - 1)
    assert np.ptp(np.diff(places)) <= 1
    assert all(len(values) == 100 for values in rows.others.values())


def test_running_quartiles_follow_a_trend():
    x = np.linspace(0, 1, 2000)
    noise = np.random.default_rng(0).normal(size=2000)
    centres, low, middle, high = running(x, 10 * x + noise)
    np.testing.assert_allclose(middle, 10 * centres, atol=0.5)
    np.testing.assert_allclose(high - low, 1.35, atol=0.6)


def test_the_share_of_noise_stays_below_chance_and_that_of_a_missing_factor_does_not(found):
    finder, table = found
    left = unexplained(law_rows(finder.laws_[0], table))
    assert left.names == ("n", "T", "V", "") and not left.exact
    assert (left.shares < left.chance).all() and (left.chance < 0.5).all()
    wrong = unexplained(law_rows(check_law("p = R*n/V", table), table))
    beyond = dict(zip(wrong.names, wrong.shares > wrong.chance, strict=True))
    assert beyond["T"] and beyond[""] and not beyond["n"]
    assert wrong.shares[-1] > 0.95
    variance = np.var(table["p"])
    assert left.explained == pytest.approx(1 - finder.laws_[0].error ** 2 / variance)


def test_chance_is_exceeded_about_as_often_as_it_should_be():
    """Also where noise grows with a column, for which random signs are made."""
    rng = np.random.default_rng(0)
    terms = [monomial([0, 0, 1]), monomial([1, 0, 0])]
    law = Law(terms, [1.0, -1.0], names=("a", "b", "y"), target="y")
    n_beyond = 0
    for _ in range(100):
        X = rng.uniform(1, 2, size=(150, 2))
        y = X[:, 0] + X[:, 0] ** 6 * rng.normal(scale=0.01, size=150)
        left = unexplained(law_rows(law, np.column_stack([X, y])))
        n_beyond += int((left.shares > left.chance).sum())
    assert n_beyond <= 12  # 3 are expected of 300


def test_an_exact_law_leaves_nothing():
    table = gas(noise=0.0)
    left = unexplained(law_rows(check_law("p = R*n*T/V", table), table))
    assert left.exact and not left.shares.any()


def test_shares_near_one_have_digits_that_tell_them_from_it():
    assert [percent(s) for s in (1.0, 0.999934, 0.5, -1.2)] == [
        "100.0 %",
        "99.9934 %",
        "50.0 %",
        "-120.0 %",
    ]


def test_numbers_of_laws(found, ring):
    left, ((term, value, std, unit),) = constants_of(found[0].laws_[0])
    assert (left, term, unit) == ("V*p/(n*T)", "1", "")
    assert abs(value - 8.314) < 4 * std < 0.1
    assert constants_of(ring[0].laws_[0]).left is None
    checked = constants_of(check_law("p = R*n*T/V", found[1]))
    assert checked.left == "" and checked.rows[0][0] == "R"


# -- The displays ---------------------------------------------------------------------------------


def test_the_front_marks_the_law(found):
    finder, _ = found
    display = LawFrontDisplay.from_estimator(finder)
    assert list(display.n_terms) == [law.n_terms for law in finder.front_]
    np.testing.assert_array_equal(display.line_.get_ydata(), display.errors)
    x, y = (values[0] for values in display.chosen_.get_data())
    assert (x, y) == (2, pytest.approx(finder.laws_[0].error))
    assert any(finder.laws_[0].to_latex() in text.get_text() for text in display.ax_.texts)
    display.figure_.canvas.draw()


def test_the_front_says_that_there_is_no_law(lost):
    display = LawFrontDisplay.from_estimator(lost[0])
    assert display.chosen is None and display.chosen_ is None
    assert [text.get_text() for text in display.ax_.texts] == ["no law was found"]
    nowhere = LawFinder(functions=()).fit(nothing())
    assert not len(LawFrontDisplay.from_estimator(nowhere).n_terms)


def test_predictions_are_on_the_diagonal_up_to_the_error(found, tmp_path):
    finder, table = found
    X, y = table[["n", "T", "V"]], table["p"]
    display = LawPredictionDisplay.from_estimator(finder, X, y)
    predicted, measured = display.points_.get_data()
    np.testing.assert_array_equal(measured, y)
    np.testing.assert_allclose(predicted, finder.predict(X))
    assert f"{display.error:.3g}" in display.ax_.texts[0].get_text()
    finder.save(tmp_path / "laws.json")
    again = LawPredictionDisplay.from_estimator(load(tmp_path / "laws.json").laws_[0], table)
    np.testing.assert_array_equal(again.predicted, display.predicted)


def test_a_column_can_be_chosen(ring):
    finder, table = ring
    display = LawPredictionDisplay.from_estimator(finder, table, column="y")
    assert display.name == "y"
    assert "no solution on" in display.ax_.texts[0].get_text()
    with pytest.raises(ValueError, match="'z' does not occur"):
        LawPredictionDisplay.from_estimator(finder, table, column="z")


def test_residuals_have_a_panel_per_column_and_show_a_pattern(found):
    _, table = found
    law = check_law("p = R*n/V", table)
    display = LawResidualsDisplay.from_estimator(law, table)
    assert [ax.get_xlabel() for ax in display.axes_] == ["$n$", "$T$", "$V$"]
    medians = [line.get_ydata() for line in display.medians_]
    # The temperature is missing: what is left rises with it.
    assert np.corrcoef(np.arange(len(medians[1])), medians[1])[0, 1] > 0.9
    assert np.ptp(medians[1]) > 2 * np.ptp(medians[0])


def test_far_rows_are_drawn_at_the_edge():
    table = gas()
    law = check_law("p = R*n*T/V", table)
    table.loc[:4, "p"] *= 3
    display = LawResidualsDisplay.from_estimator(law, table)
    drawn = display.points_[0].get_ydata()
    assert (drawn[:5] == drawn.max()).all() and drawn.max() < 0.1 * display.residuals.max()
    np.testing.assert_array_equal(drawn[5:], display.residuals[5:])


def test_without_a_law_the_best_equation_has_enough_rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(1, 3, (14, 2)), columns=["a", "b"])
    found = law_anatomy(LawFinder(functions=()).fit(X, rng.uniform(1, 3, 14)))
    assert not found.holds
    # Three terms leave less, but have fewer than five rows each.
    assert [law.n_terms for law in found.front] == [2, 3, 4]
    assert found.best is found.front[0]


def test_unexplained_names_the_column_that_is_missing(found):
    finder, table = found
    display = LawUnexplainedDisplay.from_estimator(check_law("p = R*n/V", table), table)
    assert ticks(display.ax_) == ["$n$", "$T$", "$V$", "all columns together"]
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_array_equal(widths, display.shares)
    colours = [bar.get_facecolor() for bar in display.bars_]
    assert colours[1] == colours[3] != colours[0]
    fine = LawUnexplainedDisplay.from_estimator(finder, table)
    assert "The law explains 99.99" in fine.ax_.get_title()


def test_many_rows_are_thinned_out_but_measured_all():
    table = gas(20_000)
    law = check_law("p = R*n*T/V", table)
    display = LawPredictionDisplay.from_estimator(law, table)
    assert len(display.measured) == 3000
    assert display.error == pytest.approx(law.error)
    assert len(LawResidualsDisplay.from_estimator(law, table).residuals) == 3000


def test_units_are_on_the_axes():
    pytest.importorskip("pint")
    table = gas()
    units = {"n": "mol", "T": "K", "V": "m^3", "p": "Pa"}
    law = check_law("p = R*n*T/V", table, units=units)
    ax = LawPredictionDisplay.from_estimator(law, table).ax_
    assert ax.get_xlabel() == "p, predicted [Pa]"
    axes = LawResidualsDisplay.from_estimator(law, table).axes_
    assert axes[1].get_xlabel() == "$T$ [K]"


@pytest.mark.parametrize(
    "draw",
    [LawPredictionDisplay, LawResidualsDisplay, LawUnexplainedDisplay],
)
def test_axes_are_those_given_and_names_are_no_formulas(draw):
    table = gas()
    table.columns = HOSTILE
    law = LawFinder(functions=()).fit(table[HOSTILE[:3]], table[HOSTILE[3]]).laws_[0]
    figure, ax = plt.subplots()
    display = draw.from_estimator(law, table, ax=ax)
    assert display.figure_ is figure
    figure.canvas.draw()
    LawFrontDisplay.from_estimator(law, ax=plt.subplots()[1]).figure_.canvas.draw()


def test_what_has_no_law_is_refused(lost):
    finder, table = lost
    for draw in (LawPredictionDisplay, LawResidualsDisplay, LawUnexplainedDisplay):
        with pytest.raises(ValueError, match="no law was found"):
            draw.from_estimator(finder, table)
        draw.from_estimator(finder.front_[0], table)
    with pytest.raises(TypeError, match="DataFrame has no laws"):
        LawFrontDisplay.from_estimator(table)
    with pytest.raises(NotFittedError):
        LawFrontDisplay.from_estimator(LawFinder())


def test_the_verdict_of_a_checked_law_decides_whether_it_holds(found):
    _, table = found
    assert law_anatomy(check_law("p = R*n*T/V", table)).holds
    failed = law_anatomy(check_law("p = R*n/V", table))
    assert not failed.holds and failed.best is failed.model and failed.laws == ()


# -- Curves ---------------------------------------------------------------------------------------


def doses(n=24):
    rng = np.random.default_rng(0)
    dose, batch = np.tile(np.geomspace(0.05, 100, n), 2), np.repeat([1, 2], n)
    y = 100 / (1 + (np.where(batch == 1, 2.0, 8.0) / dose) ** 1.2) + rng.normal(scale=2, size=2 * n)
    return pd.DataFrame({"dose": dose, "response": y}), pd.Series(batch, name="batch")


def test_a_curve_has_a_band_of_two_standard_deviations_around_the_law():
    table, batch = doses()
    table = table[batch == 1]
    law = check_law("response = top/(1 + (E/dose)^h)", table)
    display = LawCurveDisplay.from_estimator(law, table)
    (curve,) = display.curves
    y, std = law.predict(pd.DataFrame({"dose": curve.x}), return_std=True)
    np.testing.assert_allclose(curve.y, y)
    np.testing.assert_allclose(curve.high - curve.low, 4 * std)
    assert display.logarithmic == (True, False) and display.ax_.get_xscale() == "log"
    assert len(display.points_[0].get_xdata()) == 24 and display.far_ is None


def test_curves_by_group_and_far_rows():
    table, batch = doses()
    table.loc[40, "response"] = 10.0
    laws = check_law("response = top/(1 + (E/dose)^h)", table, groups=batch, robust=True)
    display = LawCurveDisplay.from_estimator(laws, table, groups=batch)
    assert [curve.group for curve in display.curves] == [1, 2]
    assert display.far_.get_ydata().tolist() == [10.0]
    assert [len(points.get_xdata()) for points in display.points_] == [24, 23]
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["1", "2", "far from the law"]
    assert display.ax_.get_legend().get_title().get_text() == "batch"
    with pytest.raises(ValueError, match="by group"):
        LawCurveDisplay.from_estimator(laws, table)
    for other in (LawPredictionDisplay, LawResidualsDisplay):
        other.from_estimator(laws, table, groups=batch)


def test_a_product_of_columns_is_a_variable_and_zeros_are_at_the_edge(found, ring):
    finder, table = found
    display = LawCurveDisplay.from_estimator(finder, table)
    assert display.xlabel == "n*T/V"
    np.testing.assert_allclose(display.x, table["n"] * table["T"] / table["V"])
    (curve,) = display.curves
    np.testing.assert_allclose(curve.y / curve.x, 8.314, rtol=0.01)
    zero, _ = doses()
    zero.loc[[0, 24], "dose"] = 0.0
    law = check_law("response = top/(1 + (E/dose)^h)", zero)
    edge = LawCurveDisplay.from_estimator(law, zero)
    assert "2 rows at 0" in edge.xlabel and edge.x.min() > 0
    with pytest.raises(ValueError, match="no curve"):
        LawCurveDisplay.from_estimator(check_law("p = a*n + b*T", table), table)


@pytest.mark.parametrize(
    ("equation", "x", "y", "logarithmic"),
    [
        ("y = a*x**b", np.geomspace(1, 1000, 30), lambda x: 3 * x**1.5, (True, True)),
        ("y = a*x**b", np.linspace(1, 5, 30), lambda x: 3 * x**1.5, (False, False)),
        ("y = a + b*log(x)", np.geomspace(1, 1000, 30), lambda x: 3 + np.log(x), (True, False)),
        ("y = a*x/(k + x)", np.geomspace(1, 1000, 30), lambda x: x / (9 + x), (False, False)),
        ("y = a*x**b + c", np.linspace(-1, 5, 30) ** 2, lambda x: x**1.5, (True, False)),
    ],
)
def test_logarithmic_axes_are_for_decades_in_powers_and_logarithms(equation, x, y, logarithmic):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": x, "y": y(x) * (1 + 0.01 * rng.normal(size=30))})
    assert (
        LawCurveDisplay.from_estimator(check_law(equation, table), table).logarithmic == logarithmic
    )
