"""Why a row is an outlier: laws, columns to blame, values expected; streams; what people see."""

import numpy as np
import pytest
from test_outliers import detector, pump

from vanishing import Law


@pytest.fixture(scope="module")
def fitted():
    X, column = pump(1)
    return detector(contamination=0.05).fit(X), X, column


# -- Laws -----------------------------------------------------------------------------------------


def test_laws_of_the_pump(fitted):
    model, _, _ = fitted
    assert all(isinstance(law, Law) for law in model.laws_)
    found = {law.target: law for law in model.laws_}
    assert set(found) == {"x2", "x3"}
    assert found["x2"].terms == ("x0*x1", "x2") and found["x3"].terms == ("x0^2", "x3")
    for law in found.values():
        assert law.coef[0] == pytest.approx(-1.0, abs=0.005)
        assert 0 < law.coef_std[0] < 0.002


def test_laws_are_in_the_units_of_the_table():
    """Coefficients, their errors and what a law leaves over, in centimetres or in metres."""
    rng = np.random.default_rng(0)
    q, w = rng.uniform(1, 3, (2, 1000))
    X = np.column_stack([q, w, 2 * q * w + 0.01 * rng.normal(size=1000)])
    units = np.array([100.0, 0.01, 1000.0])
    laws = [detector().fit(rows).laws_ for rows in (X, X * units)]
    (one,), (other,) = ([law for law in some if law.target == "x2"] for some in laws)
    # Odd rows count little or not at all, so that fewer rows are fitted to.
    assert 1.0 < one.coef_std[0] / (0.01 / np.sqrt(np.sum((q * w) ** 2))) < 1.4
    ratio = units[2] / (units[0] * units[1])
    np.testing.assert_allclose(other.coef, one.coef * [ratio, 1.0], rtol=1e-6)
    np.testing.assert_allclose(other.coef_std, one.coef_std * [ratio, 1.0], rtol=1e-6)
    assert one.error == pytest.approx(0.01, rel=0.2)
    assert other.error == pytest.approx(1000 * one.error, rel=1e-6)
    assert other.relative_error == pytest.approx(one.relative_error, rel=1e-6)


def test_laws_that_are_no_formula_for_a_column():
    random = np.random.default_rng(0)
    angle = random.uniform(0, 2 * np.pi, 1000)
    X = np.column_stack([3 * np.cos(angle), np.sin(angle)]) + 0.01 * random.normal(size=(1000, 2))
    (law,) = detector().fit(X).laws_
    coef = dict(zip(law.terms, law.coef, strict=True))
    assert set(coef) == {"1", "x0^2", "x1^2"}
    assert coef["1"] / coef["x1^2"] == pytest.approx(-1.0, abs=0.01)
    assert coef["x0^2"] / coef["x1^2"] == pytest.approx(1 / 9, abs=0.002)


def test_no_laws_among_columns_that_have_nothing_to_do_with_one_another():
    X = np.random.default_rng(0).normal(size=(1000, 5)) * [1, 10, 1, 1, 1] + [0, 1000, -3, 0, 50]
    assert detector().fit(X).laws_ == []


def test_one_wrong_row_does_not_hide_an_exact_law():
    X = np.random.default_rng(0).normal(size=(500, 3))
    X = np.column_stack([X, X[:, 0] - 2 * X[:, 1]])
    X[4, 3] += 0.01
    model = detector().fit(X)
    (law,) = model.laws_
    assert law.n_terms == 3 and np.abs(law.residual(X[5:])).max() < 1e-9
    assert model.score_samples(X).argmin() == 4


def test_constant_columns_are_laws():
    X = np.random.default_rng(0).normal(size=(200, 2))
    X = np.column_stack([X, np.full(200, 5.0), np.zeros(200)])
    model = detector().fit(X)
    assert [str(law) for law in model.laws_] == ["x2 = 5", "x3 = 0"]
    row = [[0.0, 0.0, 5.5, 0.0]]
    (reason,) = model.explain(row)[0]
    assert (reason["kind"], str(reason["law"])) == ("broken law", "x2 = 5")
    assert (reason["expected"], reason["found"]) == ({"x2": 5.0}, {"x2": 5.5})
    assert reason["shares"]["x2"] > 0.99


# -- Reasons --------------------------------------------------------------------------------------


def test_columns_named_contain_the_faulty_one_and_are_at_most_two():
    hits, names = [], []
    for seed in range(5):
        X, column = pump(seed)
        model = detector(contamination=0.05).fit(X)
        alarms = np.flatnonzero((model.predict(X) == -1) & (column >= 0))
        for i, reasons in zip(alarms, model.explain(X[alarms]), strict=True):
            hits.append(f"x{column[i]}" in reasons[0]["columns"])
            names.append(len(reasons[0]["columns"]))
    assert np.mean(hits) > 0.95
    assert max(names) == 2 and np.mean(names) < 1.8


@pytest.mark.parametrize(
    "faulty, named", [(0, {"x0"}), (1, {"x1", "x2"}), (2, {"x1", "x2"}), (3, {"x3"})]
)
def test_columns_that_laws_cannot_tell_apart_are_both_named(fitted, faulty, named):
    """Only q*w = p has w and p; q is in both laws, and h in the other."""
    model, _, _ = fitted
    row = np.array([[1.0, 1.2, 1.2, 1.0]])
    row[0, faulty] *= 1.15
    reasons = model.explain(row)[0]
    assert set(reasons[0]["columns"]) == named
    right = row[0, faulty] / 1.15
    name = f"x{faulty}"
    assert reasons[0]["expected"][name] == pytest.approx(right, rel=0.02)
    assert reasons[0]["found"][name] == row[0, faulty]
    assert reasons[0]["kind"] == "broken law"
    broken = {str(reason["law"]).split(" = ")[0] for reason in reasons}
    assert broken == {0: {"x2", "x3"}, 1: {"x2"}, 2: {"x2"}, 3: {"x3"}}[faulty]
    shares = reasons[0]["shares"]
    assert sum(shares.values()) == pytest.approx(1.0)
    assert max(shares, key=shares.get) in named | {"x0"}


def test_rows_that_break_no_law_are_unusual():
    X = np.random.default_rng(0).normal(size=(1000, 3))
    (reason,) = detector().fit(X).explain([[0.0, 6.0, 0.0]])[0]
    assert (reason["kind"], reason["law"]) == ("unusual combination", None)
    assert reason["columns"] == ["x1"] and abs(reason["expected"]["x1"]) < 1.0
    assert reason["shares"]["x1"] > 0.6


def test_far_along_a_law_is_unusual_and_breaks_nothing():
    random = np.random.default_rng(0)
    x = random.normal(size=2000)
    X = np.column_stack([x, 2 * x + 0.02 * random.normal(size=2000)])
    model = detector().fit(X)
    assert model.explain([[6.0, 12.0]])[0][0]["kind"] == "unusual combination"
    assert model.explain([[0.5, 1.5]])[0][0]["kind"] == "broken law"


def test_names_are_those_of_the_frame():
    pd = pytest.importorskip("pandas")
    X, column = pump(0)
    frame = pd.DataFrame(X, columns=["flow", "head", "power", "loss"])
    model = detector().fit(frame)
    assert {law.target for law in model.laws_} == {"power", "loss"}
    worst = int(model.score_samples(frame).argmin())
    reason = model.explain(frame.iloc[[worst]])[0][0]
    assert frame.columns[column[worst]] in reason["columns"]
    assert list(reason["shares"]) == list(frame.columns) == model.column_names_


def test_explain_needs_rows_in_memory(fitted):
    model, X, _ = fitted
    with pytest.raises(TypeError, match="explain"):
        model.explain(lambda: iter([X]))


# -- Streams --------------------------------------------------------------------------------------


def batch(random, n_rows, factor=1.0):
    q, w = random.uniform(1, 3, (2, n_rows))
    return np.column_stack([q, w, factor * q * w]) * (1 + 0.005 * random.normal(size=(n_rows, 3)))


def test_batches_are_as_good_as_all_rows_at_once():
    random = np.random.default_rng(0)
    batches = [batch(random, 400) for _ in range(8)]
    batches[3][:40, 2] *= 1.2
    model = detector(false_alarm_rate=0.02)
    for rows in batches:
        model.partial_fit(rows)
    assert model.n_samples_seen_ == 3200
    fresh = batch(random, 5000)
    assert 0.005 < np.mean(model.predict(fresh) == -1) < 0.05
    assert (model.predict(fresh[:200] * [1.0, 1.0, 1.1]) == -1).mean() > 0.9
    whole = detector().fit(np.vstack(batches))
    both = [one.score_samples(fresh) for one in (model, whole)]
    assert np.corrcoef(*both)[0, 1] > 0.85
    (law,) = model.laws_
    assert law.terms == ("x0*x1", "x2") and "holds up to" in law.verdict


def test_what_has_changed_is_seen_and_with_a_half_life_becomes_normal():
    random = np.random.default_rng(0)
    forgets, keeps = detector(half_life=1000), detector()
    for _ in range(6):
        rows = batch(random, 500)
        for model in (forgets, keeps):
            model.partial_fit(rows)
    changed = batch(random, 500, 1.1)
    assert (keeps.predict(changed) == -1).mean() > 0.99
    keeps.partial_fit(changed)
    (law,) = keeps.laws_
    assert "no longer holds" in law.verdict
    # One bad batch is no new normal.
    assert (keeps.predict(batch(random, 500, 1.1)) == -1).mean() > 0.9
    for _ in range(12):
        forgets.partial_fit(batch(random, 500, 1.1))
    assert (forgets.predict(batch(random, 2000, 1.1)) == -1).mean() < 0.05
    assert any("no longer holds" in law.verdict for law in forgets.laws_)


def test_scores_that_are_kept_are_bounded():
    random = np.random.default_rng(0)
    model = detector()
    for _ in range(30):
        model.partial_fit(batch(random, 500))
    calibration = model._state.calibration
    assert len(calibration.scores) == 10_000
    assert calibration.counts.sum() == pytest.approx(15_000, rel=0.05)
    assert 0.003 < np.mean(model.predict(batch(random, 5000)) == -1) < 0.03


def test_single_rows_and_weights():
    random = np.random.default_rng(0)
    model = detector().partial_fit(batch(random, 500))
    for row in batch(random, 20):
        model.partial_fit(row[None], sample_weight=[2.0])
    assert model.n_samples_seen_ == 520
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit([[1.0, 2.0]])
    with pytest.raises(TypeError, match="partial_fit"):
        model.partial_fit(lambda: iter([batch(random, 5)]))


# -- What people see ------------------------------------------------------------------------------


def test_display(fitted):
    plt = pytest.importorskip("matplotlib.pyplot")
    from vanishing.plot import OutlierDisplay

    model, X, _ = fitted
    display = OutlierDisplay.from_estimator(model, X)
    assert len(display.points_[1].get_offsets()) == np.sum(model.predict(X) == -1) == 100
    assert display.line_.get_ydata()[0] == model.offset_
    assert display.blamed.sum() == pytest.approx(100)
    figure, axes = plt.subplots(1, 2)
    assert display.plot(axes).figure_ is figure
    with pytest.raises(TypeError, match="VanishingOutlierDetector"):
        OutlierDisplay.from_estimator(object(), X)
    plt.close("all")
