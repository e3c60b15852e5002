"""Batches of runs: one form of equations, some constants of which differ."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp

from vanishing import EquationsOfMotion, load
from vanishing.export import to_python
from vanishing.inspection import followed

RATES = {"A": 1.84, "B": 1.2, "C": 2.5}
STARTS = ([3.0, 1.0], [1.5, 0.7])


def valleys(rates, noise=0.02, seed=0):
    """Return predators and prey in valleys of several kinds: prey grows faster in some."""
    random = np.random.default_rng(seed)
    t = np.linspace(0, 6, 60)
    parts = []
    for batch, rate in rates.items():
        for i, start in enumerate(STARTS):

            def slopes(_, x, rate=rate):
                return [x[0] * (rate - 1.45 * x[1]), -x[1] * (3.0 - 1.62 * x[0])]

            X = solve_ivp(slopes, (0, 6), start, t_eval=t, rtol=1e-9, atol=1e-11).y.T
            X += noise * X.std(axis=0) * random.normal(size=X.shape)
            parts.append(
                pd.DataFrame({"prey": X[:, 0], "hunter": X[:, 1], "t": t}).assign(
                    run=f"{batch}{i}", kind=batch
                )
            )
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def table():
    return valleys(RATES)


@pytest.fixture(scope="module")
def model(table):
    return EquationsOfMotion(functions=()).fit(
        table[["prey", "hunter"]], table["t"], table["run"], batches=table["kind"]
    )


def test_one_constant_differs_and_the_others_are_shared(model):
    assert model.differing_ == ["prey in dprey/dt"]
    assert model.verdict_.startswith("obeys")
    assert "prey in dprey/dt (p < 1e-12) differs between batches" in model.verdict_
    assert [equation.batch for equation in model.equations_] == [*"AABBCC"]
    for prey, rate in zip(model.equations_[::2], RATES.values(), strict=True):
        assert prey.terms == ("prey", "prey*hunter")
        assert abs(prey.coef[0] - rate) < 4 * prey.coef_std[0]
        assert prey.coef[1] == model.equations_[0].coef[1]
    hunters = model.equations_[1::2]
    assert all((hunter.coef == hunters[0].coef).all() for hunter in hunters)
    assert str(model.equations_[0]).startswith("A: dprey/dt = 1.8")


def test_shared_constants_have_the_errors_of_all_runs(model, table):
    alone = table[table["kind"] == "A"]
    apart = EquationsOfMotion(functions=()).fit(alone[["prey", "hunter"]], alone["t"], alone["run"])
    ratio = apart.equations_[1].coef_std / model.equations_[1].coef_std
    assert (ratio > 1.3).all()


def test_nothing_differs_where_all_are_alike():
    table = valleys(dict.fromkeys("AB", 1.84))
    X = table[["prey", "hunter"]]
    model = EquationsOfMotion(functions=()).fit(X, table["t"], table["run"], batches=table["kind"])
    assert model.differing_ == []
    assert "no constant differs between batches" in model.verdict_
    assert model.predict(X[:3]).shape == (3, 2)


def test_answers_are_those_of_the_batch(model, table):
    X = table[["prey", "hunter"]]
    slopes = model.predict(X, batches=table["kind"])
    of_b = model.of_batch("B")
    own = (table["kind"] == "B").to_numpy()
    np.testing.assert_array_equal(slopes[own], of_b.predict(X[own]))
    path = model.simulate([2.0, 1.0], [0.0, 1.0], batch="C")
    np.testing.assert_array_equal(path, model.of_batch("C").simulate([2.0, 1.0], [0.0, 1.0]))
    assert not np.allclose(path, of_b.simulate([2.0, 1.0], [0.0, 1.0]))
    assert model.score(X, table["t"], table["run"], batches=table["kind"]) > 0.99
    assert "1.2" in to_python(of_b)


def test_whose_equations_are_meant_has_to_be_said(model, table):
    X = table[["prey", "hunter"]]
    with pytest.raises(ValueError, match="differ between batches"):
        model.predict(X)
    with pytest.raises(ValueError, match="differ between batches"):
        model.score(X, table["t"], table["run"])
    with pytest.raises(ValueError, match=r"no batch 'D'; the batches are 'A', 'B', 'C'"):
        model.simulate([1.0, 1.0], [0.0, 1.0], batch="D")
    with pytest.raises(ValueError, match="one batch at a time"):
        to_python(model)


@pytest.mark.parametrize(
    ("batches", "message"),
    [(["A"] * 10 + ["B"] * 350, "several batches"), (["A"], "1 entries")],
)
def test_batches_that_make_no_sense_are_refused(table, batches, message):
    with pytest.raises(ValueError, match=message):
        EquationsOfMotion(functions=()).fit(
            table[["prey", "hunter"]], table["t"], table["run"], batches=batches
        )


def test_batches_are_saved_and_followed(model, table, tmp_path):
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert list(map(str, again.equations_)) == list(map(str, model.equations_))
    assert again.differing_ == model.differing_
    np.testing.assert_array_equal(
        again.simulate([2.0, 1.0], [0.0, 1.0], batch="B"),
        model.simulate([2.0, 1.0], [0.0, 1.0], batch="B"),
    )
    runs = followed(again, table[["prey", "hunter"]], table["t"], table["run"])
    errors = np.hypot(runs.errors(False), runs.errors(True))
    assert (errors < 3 * model.noise_).all()
    assert not runs.has_field


def test_known_parts_and_shared_coefficients_hold_in_all_batches():
    table = valleys({"A": 1.84, "B": 1.2})
    model = EquationsOfMotion(
        functions=(),
        known={"prey": "-1.45*prey*hunter + ..."},
        constraints=["prey in dprey/dt >= 0"],
    ).fit(table[["prey", "hunter"]], table["t"], table["run"], batches=table["kind"])
    assert model.differing_ == ["prey in dprey/dt"]
    assert [e.coef[-1] for e in model.equations_[::2]] == pytest.approx([1.84, 1.2], rel=0.02)
