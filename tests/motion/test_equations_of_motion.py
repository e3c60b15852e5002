"""Equations of motion: what is found, what is not claimed, and what is refused."""

import pickle
import warnings

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp
from sklearn.base import clone

from vanishing import Blocks, EquationsOfMotion, load
from vanishing.datasets import make_motion
from vanishing.motion import settings


def run_of(f, start, t, noise=0.0, seed=0):
    """Return a run of dx/dt = f(x) with noise relative to the spread."""
    X = solve_ivp(lambda _, x: f(x), (t[0], t[-1]), start, t_eval=t, rtol=1e-9, atol=1e-11).y.T
    return X + noise * X.std(axis=0) * np.random.default_rng(seed).normal(size=X.shape)


def predator_prey(x):
    return np.array([x[0] * (1.84 - 1.45 * x[1]), -x[1] * (3.0 - 1.62 * x[0])])


def coefficients(equation):
    return dict(zip(equation.terms, equation.coef, strict=True))


def test_predator_and_prey_without_noise():
    t = np.linspace(0, 6, 200)
    model = EquationsOfMotion(functions=()).fit(run_of(predator_prey, [3.0, 1.0], t), t)
    first, second = map(coefficients, model.equations_)
    assert first == pytest.approx({"x0": 1.84, "x0*x1": -1.45}, rel=1e-5)
    assert second == pytest.approx({"x1": -3.0, "x0*x1": 1.62}, rel=1e-5)
    assert model.verdict_.startswith("obeys")
    assert np.isnan(model.equations_[0].coef_std).all()


def test_noise_leaves_the_terms_and_errors_that_hold():
    t = np.linspace(0, 6, 300)
    X = run_of(predator_prey, [3.0, 1.0], t, noise=0.03)
    model = EquationsOfMotion(functions=()).fit(X, t)
    first, second = model.equations_
    assert set(first.terms) == {"x0", "x0*x1"}
    assert set(second.terms) == {"x1", "x0*x1"}
    truth = {"x0": 1.84, "x0*x1": -1.45}, {"x1": -3.0, "x0*x1": 1.62}
    for equation, values in zip(model.equations_, truth, strict=True):
        for term, coef, std in zip(equation.terms, equation.coef, equation.coef_std, strict=True):
            assert abs(coef - values[term]) < 4 * std
            assert std < 0.05 * abs(coef)
    assert model.noise_ == pytest.approx(0.03 * X.std(axis=0), rel=0.2)


def test_nothing_is_claimed_about_a_random_walk():
    random = np.random.default_rng(3)
    X = np.cumsum(random.normal(size=(300, 2)), axis=0)
    model = EquationsOfMotion().fit(X, np.arange(300.0))
    assert model.verdict_.startswith("none")
    assert model.equations_ == []
    with pytest.raises(ValueError, match="no equations of motion"):
        model.simulate([0.0, 0.0], [0.0, 1.0])


# -- Runs of any kind -----------------------------------------------------------------------------


def test_order_of_rows_and_repeated_rows_change_nothing():
    X, t, groups = make_motion("predator prey", 2, 60, noise=0.02, irregular=True, random_state=0)
    X[5, 0] = X[70, 1] = np.nan
    plain = EquationsOfMotion(functions=()).fit(X, t, groups)
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = EquationsOfMotion(functions=()).fit(X[order], t[order], groups[order])
    twice = np.append(order, order[:40])
    repeated = EquationsOfMotion(functions=()).fit(X[twice], t[twice], groups[twice])
    weight = np.bincount(twice, minlength=len(X)).astype(float)
    weighted = EquationsOfMotion(functions=()).fit(X, t, groups, sample_weight=weight)
    assert list(map(str, plain.equations_)) == list(map(str, shuffled.equations_))
    for one, two in zip(repeated.equations_, weighted.equations_, strict=True):
        assert one.terms == two.terms
        assert one.coef == pytest.approx(two.coef, rel=1e-8)
    assert set(plain.equations_[0].terms) == {"x0", "x0*x1"}


def test_weights_are_one_over_variance_in_any_unit():
    X, t, groups = make_motion("predator prey", 3, 60, noise=0.0, random_state=0)
    random = np.random.default_rng(0)
    deviation = random.choice([0.3, 2.0], (len(X), 1))
    noisy = X + 0.02 * X.std(axis=0) * deviation * random.normal(size=X.shape)
    weight = 1.0 / deviation[:, 0] ** 2
    plain = EquationsOfMotion(functions=()).fit(noisy, t, groups)
    one, two = (
        EquationsOfMotion(functions=()).fit(noisy, t, groups, sample_weight=scale * weight)
        for scale in (1.0, 100.0)
    )
    assert one.verdict_.startswith("obeys")
    assert list(map(str, one.equations_)) == list(map(str, two.equations_))
    for weighted, unweighted in zip(one.equations_, plain.equations_, strict=True):
        assert set(weighted.terms) == set(unweighted.terms)
        assert (weighted.coef_std < 0.5 * unweighted.coef_std).all()
    prey = one.equations_[0]
    true = {"x0": 1.1, "x0*x1": -0.4}
    for term, coef, std in zip(prey.terms, prey.coef, prey.coef_std, strict=True):
        assert coef == pytest.approx(true[term], abs=4 * std)


def test_runs_held_out_confirm():
    X, t, groups = make_motion("predator prey", 4, 60, noise=0.02, random_state=1)
    model = EquationsOfMotion(functions=()).fit(X, t, groups)
    assert model.held_out_.sum() == 1
    assert 0.7 < model.held_out_error_ < 1.2
    assert "held out" in model.verdict_
    assert model.score(X, t, groups) > 0.99


def test_chaotic_runs_held_out_are_followed():
    """Smooth starts are too far from a chaotic path; those of short pieces are not."""
    X, t, groups = make_motion("lorenz", 4, 400, noise=0.01, t_end=12.0, random_state=0)
    model = EquationsOfMotion(max_degree=2, functions=()).fit(X, t, groups)
    assert model.equations_ and model.held_out_error_ < 1.2
    first = groups == 0
    assert model.score(X[first][:200], t[first][:200]) > 0.99


def test_noise_that_is_given_stays_as_it_is():
    X, t, _ = make_motion("predator prey", 1, 60, noise=0.01, random_state=0)
    noise = np.array([0.5, 0.2])  # more than there is
    given = EquationsOfMotion(functions=(), noise=noise).fit(X, t)
    np.testing.assert_allclose(given.noise_, noise)
    estimated = EquationsOfMotion(functions=()).fit(X, t)
    for one, other in zip(given.equations_, estimated.equations_, strict=True):
        assert (one.coef_std > 2.0 * other.coef_std).all()


def test_parameters_changed_after_the_fit_change_nothing():
    X, t, groups = make_motion("oscillator", 2, 60, noise=0.01, random_state=0)
    model = EquationsOfMotion(functions=()).fit(X, t, groups)
    before = model.predict(X), model.simulate(X[0], t[:60])
    model.set_params(order=2)
    np.testing.assert_array_equal(model.predict(X), before[0])
    np.testing.assert_array_equal(model.simulate(X[0], t[:60]), before[1])


def test_errors_fall_with_the_number_of_runs():
    errors = {}
    for n_runs in (1, 3):
        X, t, groups = make_motion(
            "decay", n_runs, 80, noise=0.05, starts=[[3.0]] * n_runs, random_state=2
        )
        (equation,) = EquationsOfMotion(functions=()).fit(X, t, groups).equations_
        assert equation.terms == ("x0",)
        errors[n_runs] = equation.coef_std[0]
    assert errors[1] / errors[3] == pytest.approx(np.sqrt(3), rel=0.25)


def test_inputs_act_and_are_not_explained():
    t = np.linspace(0, 12, 300)
    u = np.sin(1.7 * t) + 0.5 * np.cos(0.6 * t)
    found = solve_ivp(
        lambda s, x: [x[1], -3 * x[0] - 0.4 * x[1] + 2 * np.interp(s, t, u)],
        (0, 12), [1.0, 0.0], t_eval=t, max_step=0.05,
    )  # fmt: skip
    model = EquationsOfMotion(functions=()).fit(found.y.T, t, inputs=u)
    first, second = map(coefficients, model.equations_)
    assert first == pytest.approx({"x1": 1.0}, rel=1e-3)
    assert second == pytest.approx({"x0": -3.0, "x1": -0.4, "u0": 2.0}, rel=1e-2)
    assert model.predict([[1.0, 1.0]], inputs=[0.5])[0] == pytest.approx([1.0, -2.4], rel=1e-2)
    path = model.simulate([1.0, 0.0], t, inputs=u)
    assert np.abs(path - found.y.T).max() < 0.02
    with pytest.raises(ValueError, match="inputs"):
        model.simulate([1.0, 0.0], t)


def test_accelerations_from_positions():
    X, t, groups = make_motion("pendulum", 2, 120, noise=0.01, random_state=3)
    model = EquationsOfMotion(order=2).fit(X[:, :1], t, groups)
    (equation,) = model.equations_
    assert coefficients(equation) == pytest.approx({"x0_dot": -0.2, "sin(x0)": -6.0}, rel=0.1)
    assert str(equation).startswith("d2x0/dt2 = ")
    assert model.simulate([1.0, 0.0], [0.0, 0.5]).shape == (2, 1)
    with pytest.raises(ValueError, match="velocities"):
        model.predict(X[:3, :1])


def test_a_constant_inside_a_term():
    X, t, groups = make_motion("enzyme", 2, 100, noise=0.005, random_state=0)
    model = EquationsOfMotion().fit(X, t, groups)
    states = np.linspace(0.3, 4.0, 50)[:, None]
    truth = -1.5 * states / (0.6 + states)
    assert np.abs(model.predict(states) - truth).max() < 0.05 * np.abs(truth).max()


# -- What is given --------------------------------------------------------------------------------


def test_known_parts_constraints_and_shared_coefficients():
    X, t, groups = make_motion("epidemic", 2, 80, noise=0.02, random_state=0)
    frame = pd.DataFrame(X, columns=["s", "i", "r"])
    model = EquationsOfMotion(
        functions=(),
        known={"r": "0.3*i"},
        shared=[("s*i in ds/dt", "s*i in di/dt")],
        constraints=["s*i in ds/dt <= 0"],
        units={"s": "1", "i": "1", "r": "1", "t": "day"},
    ).fit(frame, t, groups)
    s, i, r = model.equations_
    assert str(r) == "dr/dt = 0.3[1/d]*i"
    assert r.coef_std.tolist() == [0.0]
    assert coefficients(s)["s*i"] == pytest.approx(-coefficients(i)["s*i"], rel=1e-9)
    assert "[1/d]" in str(i)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"known": {"z": "1"}}, "known has the column 'z'"),
        ({"known": {"x0": "g*x1"}}, "has the name 'g'"),
        ({"constraints": ["x0 >= 1"]}, "must compare with 0"),
        ({"constraints": ["x0 >= 0"]}, "is no derivative"),
        ({"shared": [("x0",)]}, "are written as"),
        ({"units": {"x0": "m", "x1": "m"}}, "unit of the time"),
        ({"functions": "sin"}, "tuple of names"),
        ({"functions": ("gamma",)}, "got 'gamma'"),
        ({"order": 3}, "order"),
        ({"max_time": 0}, "max_time"),
        ({"noise": -1.0}, "noise must be"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    X, t, _ = make_motion("oscillator", 1, 20, random_state=0)
    with pytest.raises((ValueError, TypeError), match=message):
        EquationsOfMotion(**parameters).fit(X, t)


def test_bad_runs_are_refused():
    X, t, groups = make_motion("oscillator", 2, 20, random_state=0)
    model = EquationsOfMotion()
    with pytest.raises(ValueError, match=r"of the run 1 have the same time"):
        model.fit(X, np.where(groups == 1, np.minimum(t, 7.0), t), groups)
    with pytest.raises(ValueError, match="the run 2 has one row"):
        model.fit(X, t, np.append(groups[:-1], 2))
    with pytest.raises(ValueError, match="'x1' does not move"):
        model.fit(np.column_stack([X[:, 0], np.ones(len(X))]), t, groups)
    with pytest.raises(ValueError, match="t must be one number per row"):
        model.fit(X, t[:-1], groups)
    with pytest.raises(ValueError, match="dates"):
        model.fit(X, t.astype("datetime64[s]"), groups)
    with pytest.raises(ValueError, match="fewer than two values"):
        model.fit(np.column_stack([X[:, 0], np.where(groups == 1, np.nan, X[:, 1])]), t, groups)
    assert not hasattr(model, "equations_")


# -- What a fit promises --------------------------------------------------------------------------


def test_derivatives_of_blocks_and_dask_arrays():
    t = np.linspace(0.0, 6.0, 200)
    X = run_of(predator_prey, [1.2, 0.9], t)
    model = EquationsOfMotion(functions=()).fit(X, t)
    plain = model.predict(X)
    np.testing.assert_array_equal(np.vstack(list(model.predict(Blocks([X[:70], X[70:]])))), plain)
    lazy = model.predict(da.from_array(X, chunks=(60, -1)))
    assert lazy.shape == plain.shape
    np.testing.assert_array_equal(lazy.compute(), plain)


def test_blocks_files_and_dask_collections_change_nothing(tmp_path):
    X, t, run = make_motion("oscillator", 5, 60, noise=0.02, random_state=0)
    table = pd.DataFrame(X, columns=["x", "v"]).assign(t=t)
    expected = EquationsOfMotion(functions=()).fit(table[["x", "v"]], t, run)
    order = np.random.default_rng(0).permutation(300)
    rows, labels = table.iloc[order], run[order]
    blocks = Blocks([(rows[i : i + 70], labels[i : i + 70]) for i in range(0, 300, 70)])
    frame = dd.from_pandas(rows.assign(run=labels), npartitions=3, sort=False)
    rows.assign(run=labels).to_csv(tmp_path / "runs.csv", index=False)
    file = Blocks.from_csv(tmp_path / "runs.csv", target="run", rows=70)
    for model in (
        EquationsOfMotion(functions=()).fit(blocks, "t"),
        EquationsOfMotion(functions=()).fit(file, "t"),
        EquationsOfMotion(functions=()).fit(frame[["x", "v", "t"]], "t", groups=frame["run"]),
    ):
        assert model.feature_names_in_.tolist() == ["x", "v"]
        assert model.held_out_.tolist() == expected.held_out_.tolist()
        for one, other in zip(model.equations_, expected.equations_, strict=True):
            np.testing.assert_allclose(one.coef, other.coef, rtol=1e-9)


def test_sources_have_times_and_inputs_among_their_columns():
    t = np.linspace(0.0, 8.0, 160)
    x = np.exp(-t) + (np.sin(2.0 * t) - 2.0 * np.cos(2.0 * t)) / 5.0  # x' = u - x
    rows = np.column_stack(
        [t, x + 0.001 * np.random.default_rng(0).normal(size=160), np.sin(2 * t)]
    )
    model = EquationsOfMotion(functions=()).fit(Blocks([rows[:90], rows[90:]]), 0, inputs=[2])
    assert coefficients(model.equations_[0]) == pytest.approx({"x0": -1.0, "u0": 1.0}, rel=0.02)
    for bad in (7, "t", t):
        with pytest.raises(ValueError, match="t must name one of 0 to 2"):
            EquationsOfMotion().fit(Blocks([rows]), bad)
    with pytest.raises(ValueError, match="no columns besides"):
        EquationsOfMotion().fit(Blocks([rows]), 0, inputs=[1, 2])


def test_of_many_rows_whole_runs_are_read(monkeypatch):
    X, t, run = make_motion("decay", 12, 30, noise=0.01, random_state=0)
    rows = np.column_stack([X, t])
    source = Blocks([(rows[i : i + 100], run[i : i + 100]) for i in range(0, 360, 100)])
    monkeypatch.setattr(settings, "READ_ROWS", 200)
    model = EquationsOfMotion(functions=()).fit(source, 1)
    assert len(model.runs_) == 6 and set(model.runs_) <= set(range(12))
    monkeypatch.setattr(settings, "READ_ROWS", 20)
    with pytest.raises(ValueError, match="has 30 rows, more than the 20 that are read"):
        EquationsOfMotion(functions=()).fit(source, 1)


def test_saved_cloned_and_pickled(tmp_path):
    X, t, groups = make_motion("enzyme", 1, 80, noise=0.01, random_state=0)
    model = EquationsOfMotion(max_degree=2).fit(X, t, groups)
    model.save(tmp_path / "model.json")
    for other in (load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(other.predict(X[:5]), model.predict(X[:5]))
        assert other.verdict_ == model.verdict_
        one, two = (m.simulate([2.0], [0.0, 1.0], return_std=True) for m in (other, model))
        assert np.array_equal(one, two)
    assert clone(model).get_params() == model.get_params()
    equation = model.equations_[0]
    equation.save(tmp_path / "equation.json")
    assert str(load(tmp_path / "equation.json")) == str(equation)
    scope = {}
    exec(equation.to_python(), scope)
    assert scope["derivative"](X[:5, 0]) == pytest.approx(model.predict(X[:5])[:, 0], rel=1e-9)
    assert "mathrm{d}" in equation.to_latex()
    assert equation.to_sympy().rhs.free_symbols


def test_no_warnings_of_numpy():
    X, t, groups = make_motion("van der pol", 1, 60, noise=0.05, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        EquationsOfMotion().fit(X, t, groups)


def test_runs_that_were_put_one_after_the_other_are_named():
    X, t, groups = make_motion("predator prey", 2, 60, noise=0.02, random_state=0)
    t = t + 0.01 * (groups == 1)  # no two rows at the same time
    with pytest.warns(UserWarning, match=r"in the order of time, except for 1 steps back"):
        EquationsOfMotion(functions=()).fit(X, t)
    named = np.where(groups == 0, "a", "a")
    with pytest.warns(UserWarning, match=r"the run 'a' is .* the first at row 60"):
        EquationsOfMotion(functions=()).fit(X, t, named)
    order = np.random.default_rng(0).permutation(60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        EquationsOfMotion(functions=()).fit(X[:60][order], t[:60][order])
        EquationsOfMotion(functions=()).fit(X[:60][::-1], t[:60][::-1])
