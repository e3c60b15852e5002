"""Rows in time: lags, gaps, events and the columns to blame for them."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import vanishing
from vanishing import Blocks, VanishingOutlierDetector, check_law
from vanishing.datasets import make_plant
from vanishing.outliers import settings
from vanishing.outliers.events import NO_CELLS, NO_ROWS, STUCK, _by_depth
from vanishing.outliers.lags import lagged_names
from vanishing.outliers.stretches import long_runs


def detector(**parameters):
    return VanishingOutlierDetector(**{"random_state": 0, **parameters})


def sums(seed, n_rows=1500):
    """Rows a, b, a + b, a - b with noise."""
    random = np.random.default_rng(seed)
    a, b = random.uniform(1, 3, (2, n_rows))
    return np.column_stack([a, b, a + b, a - b]) + 0.01 * random.normal(size=(n_rows, 4))


def tank(seed, n_rows=1500):
    """Inflow, outflow and level of a tank, whose level follows from the row before."""
    random = np.random.default_rng(seed)
    inflow = 5 + random.normal(size=n_rows)
    level, outflow = np.empty(n_rows), np.empty(n_rows)
    now = 20.0
    for i in range(n_rows):
        level[i], outflow[i] = now, 0.25 * now + 0.3 * random.normal()
        now += 0.1 * (inflow[i] - outflow[i])
    X = np.column_stack([inflow, outflow, level])
    return X + 0.002 * random.normal(size=X.shape)


def with_gaps(X, share, seed=1):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


# -- Gaps -----------------------------------------------------------------------------------------


def test_gaps_are_refused_with_a_remedy_unless_they_are_ignored():
    X = with_gaps(sums(0), 0.02)
    with pytest.raises(ValueError, match=r"contains NaN.*missing='ignore'"):
        detector().fit(X)
    model = detector(missing="ignore").fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    model.set_params(missing="error")
    with pytest.raises(ValueError, match="missing='ignore'"):
        model.score_samples(X)
    with pytest.raises(ValueError, match="infinity"):
        detector(missing="ignore").fit(np.where(np.isnan(X), np.inf, X))
    with pytest.raises(ValueError, match="missing must be"):
        detector(missing="drop").fit(X)


def test_rows_with_gaps_are_scored_as_by_a_detector_of_the_columns_they_have():
    train, X = sums(0), sums(1)
    faulty = np.arange(len(X)) % 20 == 0
    X[faulty, 0] += 0.1
    for missing in (1, 3):
        gone = X.copy()
        gone[:, missing] = np.nan
        model = detector(missing="ignore").fit(train)
        alone = detector().fit(np.delete(train, missing, axis=1))
        known = roc_auc_score(faulty, -model.score_samples(gone))
        expected = roc_auc_score(faulty, -alone.score_samples(np.delete(X, missing, axis=1)))
        assert expected > 0.9 and known > expected - 0.03


@pytest.mark.parametrize("share", [0.02, 0.2])
def test_gaps_keep_the_rate_of_alarms_and_the_laws(share):
    model = detector(missing="ignore").fit(with_gaps(sums(0, 3000), share))
    rate = np.mean(model.predict(with_gaps(sums(1, 3000), share, 2)) == -1)
    assert 0.002 < rate < 0.025
    assert [law.n_terms for law in model.laws_] == [3, 3]
    X = sums(3)
    assert all(
        check_law(str(law), _named(X, model.column_names_)).error < 0.03 for law in model.laws_
    )


def _named(X, names):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(X, columns=names)


def test_a_table_without_any_complete_row():
    X = sums(0, 2000)
    X[np.arange(2000), np.arange(2000) % 4] = np.nan
    model = detector(missing="ignore").fit(X)
    fresh = sums(1, 500)
    assert np.mean(model.predict(fresh) == -1) < 0.05
    fresh[:, 2] += 0.3
    assert np.mean(model.predict(fresh) == -1) > 0.9
    with pytest.raises(ValueError, match="column 'x3' has no values"):
        detector(missing="ignore").fit(np.where(np.arange(4) == 3, np.nan, X))


def test_a_wrong_value_is_blamed_beside_a_gap():
    model = detector(missing="ignore").fit(sums(0))
    X = sums(1, 200)
    X[:, 0] += 0.5
    X[:, 3] = np.nan
    reasons = model.explain(X)
    named = [reason[0]["columns"] for reason in reasons]
    # Without a - b, a sum of three columns is all that is known of them.
    assert all("x3" not in columns for columns in named)
    assert np.mean([reason[0]["kind"] == "broken law" for reason in reasons]) == 1.0
    assert model.explain(np.full((1, 4), np.nan)) == [[]]


def test_gaps_wherever_rows_are(tmp_path):
    X = with_gaps(sums(0, 900), 0.05)
    model = detector(missing="ignore").fit(X)
    blocks = Blocks.from_array(X, rows=250)
    of_blocks = detector(missing="ignore").fit(blocks)
    assert np.allclose(of_blocks.score_samples(X), model.score_samples(X), rtol=0, atol=1e-9)
    parts = np.concatenate(list(model.score_samples(blocks)))
    assert np.allclose(parts, model.score_samples(X), rtol=0, atol=1e-12)
    shuffled = np.random.default_rng(0).permutation(len(X))
    again = detector(missing="ignore").fit(X[shuffled])
    assert np.allclose(again.score_samples(X), model.score_samples(X), rtol=0, atol=1e-9)
    model.save(tmp_path / "m.json")
    loaded = vanishing.load(tmp_path / "m.json")
    assert np.allclose(loaded.score_samples(X), model.score_samples(X), rtol=0, atol=1e-9)
    loaded.partial_fit(X[:300])
    model.partial_fit(X[:300])
    assert np.allclose(loaded.score_samples(X), model.score_samples(X), rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match="contains NaN"):
        detector().fit(blocks)


# -- Lags -----------------------------------------------------------------------------------------


def test_names_of_lags():
    assert lagged_names(["a", "b"], 2) == ("a[t-2]", "b[t-2]", "a[t-1]", "b[t-1]", "a", "b")


def test_a_law_of_the_row_before():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(tank(0), columns=["inflow", "outflow", "level"])
    model = detector(lags=1).fit(X)
    laws = [str(law) for law in model.laws_]
    # level = level[t-1] + 0.1*inflow[t-1] - 0.1*outflow[t-1]
    assert any(
        law.startswith("level = ") and all(f"{name}[t-1]" in law for name in X.columns)
        for law in laws
    )
    assert not any(law.replace("[t-1]", "") == law and "level = " in law for law in laws)
    law = next(law for law in model.laws_ if law.n_terms == 4)
    rows = np.hstack([X[:-1], X[1:]])
    assert np.median(np.abs(law.residual(rows))) < 0.01
    # Its text is read again.
    table = pd.DataFrame(rows, columns=model.column_names_)
    assert check_law(str(law), table).error < 0.01


def test_first_rows_are_scored_by_the_columns_they_have():
    X = tank(0)
    model = detector(lags=2).fit(X)
    assert np.isfinite(model.score_samples(X[:1])).all()
    X[0, 0] += 50.0
    assert model.predict(X)[0] == -1
    assert model.n_features_in_ == 3 and len(model.column_names_) == 9


def test_lags_wherever_rows_are(tmp_path):
    X = tank(0)
    model = detector(lags=2).fit(X)
    blocks = Blocks.from_array(X, rows=400)
    of_blocks = detector(lags=2).fit(blocks)
    expected = model.score_samples(X)
    assert np.allclose(of_blocks.score_samples(X), expected, rtol=0, atol=1e-9)
    assert np.allclose(np.concatenate(list(model.score_samples(blocks))), expected, atol=1e-9)
    model.save(tmp_path / "m.json")
    loaded = vanishing.load(tmp_path / "m.json")
    assert np.allclose(loaded.score_samples(X), expected, rtol=0, atol=1e-9)
    assert np.allclose(loaded.decision_function(X), model.decision_function(X), atol=1e-9)
    da = pytest.importorskip("dask.array")
    lazy = da.from_array(X, chunks=(500, 3))
    for refused in (lambda: detector(lags=1).fit(lazy), lambda: model.predict(lazy)):
        with pytest.raises(TypeError, match="with lags does not take Dask"):
            refused()


def test_batches_carry_the_last_rows_over(tmp_path):
    X = tank(0)
    whole = detector(lags=2).partial_fit(X[:800]).partial_fit(X[800:1200])
    saved = detector(lags=2).partial_fit(X[:800])
    saved.save(tmp_path / "m.json")
    parts = vanishing.load(tmp_path / "m.json").partial_fit(X[800:1200])
    assert np.allclose(parts.score_samples(X), whole.score_samples(X), rtol=0, atol=1e-9)
    # Every row of the batch has those before it: none was filled in.
    known = detector(lags=2).partial_fit(X[:800])
    assert np.array_equal(known._last_rows, X[798:800])
    known.partial_fit(X[800:801])
    assert np.array_equal(known._last_rows, X[799:801])


def test_runs_have_no_rows_before_them():
    X = tank(0, 600)
    groups = np.repeat([0, 1, 2], 200)
    model = detector(lags=1).fit(X, groups=groups)
    order = np.random.default_rng(0).permutation(3)
    moved = np.concatenate([np.flatnonzero(groups == run) for run in order])
    again = detector(lags=1).fit(X[moved], groups=groups[moved])
    assert np.allclose(again.score_samples(X), model.score_samples(X), rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match="groups are for lags"):
        detector().fit(X, groups=groups)
    with pytest.raises(TypeError, match="groups need the rows in memory"):
        detector(lags=1).fit(Blocks.from_array(X), groups=groups)


def test_forgetting_all_at_once_divides_by_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = detector(half_life=0.5)
        for seed in range(6):
            model.partial_fit(sums(seed, 300))
    assert np.isfinite(model.offset_) and np.isfinite(model.score_samples(sums(9))).all()
    assert [law.n_terms for law in model.laws_] == [3, 3]


# -- Events ---------------------------------------------------------------------------------------


def test_alarms_in_a_row_are_one_event():
    model = detector().fit(sums(0))
    X = sums(1)
    X[600:640, 2] += 0.5
    first = model.events(X)[0]
    assert (first.start, first.end, first.kind) == (600, 639, "broken law")
    assert first.columns[0] == "x2" and first.probabilities["x2"] > 0.9
    assert 600 <= first.peak <= 639 and first.n_alarms >= 38
    assert abs(first.found["x2"] - first.expected["x2"] - 0.5) < 0.1
    assert "x2" in str(first.law) and "rows 600 to 639" in str(first)
    assert abs(sum(first.probabilities.values()) - 1.0) < 0.01
    times = np.datetime64("2024-01-01") + np.arange(len(X)).astype("timedelta64[m]")
    assert model.events(X, times)[0].times[0] == times[600]


def test_the_first_alarms_of_an_event_weigh_most():
    model = detector().fit(sums(0))
    X = sums(1)
    X[600:640, 2] += 0.5
    X[620:640, 0] += 0.5  # the fault spreads
    assert model.events(X)[0].columns[0] == "x2"


def test_a_column_outside_its_range_is_named_first():
    train, X = sums(0)[:, :3], sums(1, 50)[:, :3]
    model = detector().fit(train)
    for column in range(3):  # one law: whichever is wrong, the row breaks it
        wrong = X.copy()
        wrong[:, column] += 8.0
        reasons = model.explain(wrong)
        assert np.mean([r[0]["columns"][0] == f"x{column}" for r in reasons]) > 0.9


def test_expected_values_far_from_all_rows():
    model = detector().fit(sums(0))
    X = sums(1, 100)
    true = X[:, 2].copy()
    X[:, 2] += 0.5  # fifty times the noise
    found = [reason[0]["expected"].get("x2", np.nan) for reason in model.explain(X)]
    assert np.nanmedian(np.abs(np.array(found) - true)) < 0.03


def test_stuck_values_and_gaps_are_events():
    model = detector(missing="ignore").fit(sums(0))
    X = with_gaps(sums(1), 0.02)
    X[300:400, 1] = X[299, 1] = 2.0
    X[700:730, 3] = np.nan
    times = np.arange(1500.0)
    times[1000:] += 60.0
    events = model.events(X, times)
    stuck = next(event for event in events if event.kind == STUCK)
    assert (stuck.start, stuck.columns) == (299, ["x1"]) and 397 <= stuck.end <= 399
    gap = next(event for event in events if event.kind == NO_CELLS)
    assert gap.columns == ["x3"] and gap.start <= 700 and gap.end >= 729
    rows = next(event for event in events if event.kind == NO_ROWS)
    assert (rows.start, rows.end, rows.severity) == (999, 1000, 60.0)
    kinds = [event.kind for event in events]
    assert kinds.count(STUCK) == kinds.count(NO_CELLS) == kinds.count(NO_ROWS) == 1
    # No event of alarms beside that of the sensor that is stuck.
    assert not any(e.kind == "broken law" and e.n_alarms > 5 for e in events)


def test_chance_makes_no_stretch():
    random = np.random.default_rng(0)
    for share in (0.01, 0.3, 0.9):
        assert not long_runs(random.random(5000) < share)
    assert long_runs(np.ones(50, dtype=bool)) == [(0, 49)]
    assert long_runs(np.zeros(50, dtype=bool)) == []
    coarse = np.round(np.cumsum(random.normal(size=3000)) / 5)
    assert not long_runs(np.diff(coarse) == 0.0)


def test_times_are_checked():
    model = detector().fit(sums(0))
    X = sums(1, 20)
    for t, said in (
        (np.arange(20)[::-1], "t goes back at row 1"),
        (np.arange(19), "one time per row"),
        (np.where(np.arange(20) == 3, np.nan, np.arange(20.0)), "no time for row 3"),
    ):
        with pytest.raises(ValueError, match=said):
            model.events(X, t)


def test_the_plant():
    run = make_plant(2400, normal_rows=1200, missing=0.02, random_state=3)
    model = detector(missing="ignore").fit(run.X[:1200])
    events = model.events(run.X)
    hit = 0
    for fault in run.faults:
        own = [e for e in events if fault.start - 5 <= e.start <= fault.end]
        names = [run.columns[int(e.columns[0].removeprefix("x"))] for e in own[:1]]
        hit += bool(set(names) & set(fault.columns))
    assert hit >= 3


def test_a_sensor_that_drifts_in_a_fifth_of_the_training_rows_is_found():
    """It hid in the law that it breaks: 2 % of the rows were alarms, and the law was not known."""
    random = np.random.default_rng(0)
    a, b, c, d = 10.0 + random.normal(size=(4, 3000))
    X = np.column_stack([a, b, c, d, a + b, c + d])
    X += 0.03 * random.normal(size=X.shape)
    X[2400:, 4] += np.linspace(0.0, 1.5, 600)
    model = detector().fit(X)
    alarms = model.predict(X) == -1
    assert alarms[2700:].mean() > 0.95
    assert alarms[:2400].mean() < 0.02
    assert [law.target for law in model.laws_] == ["x4", "x5"]
    event = model.events(X)[0]
    assert "x4" in event.columns
    assert 2400 <= event.start < 2700


@pytest.mark.parametrize("kind", ["clusters", "noise that grows"])
def test_rows_that_have_a_place_of_their_own_are_no_drift(kind):
    random = np.random.default_rng(1)
    if kind == "clusters":
        group = random.integers(6, size=1000)
        X = 4.0 * random.normal(size=(6, 5))[group] + 0.5 * random.normal(size=(1000, 5))
    else:
        q, w = random.uniform(0.5, 1.5, (2, 1000))
        X = np.column_stack([q, w, q * w, q**2]) * (1 + 0.005 * random.normal(size=(1000, 4)))
    model = detector().fit(X)
    assert model.contamination_ == 0.0
    assert np.mean(model.predict(X) == -1) < 0.015


def test_a_fault_that_starts_small_is_one_part():
    """Two shallow alarms before deep ones are no event of their own, and few after them neither."""
    deep = 10 * settings.EVENT_DEEP
    group = np.arange(100, 100 + 3 * settings.EVENT_ALARMS)
    excess = np.full(len(group), deep)
    excess[:2] = 0.5 * settings.EVENT_DEEP
    assert [part.tolist() for part in _by_depth(group, excess)] == [group.tolist()]
    np.testing.assert_equal(_by_depth(group, excess[::-1]), [group])
    excess[: settings.EVENT_ALARMS] = 0.5 * settings.EVENT_DEEP
    assert [len(part) for part in _by_depth(group, excess)] == [
        settings.EVENT_ALARMS,
        2 * settings.EVENT_ALARMS,
    ]
