"""Tables with gaps and wrong values, repaired by laws."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.impute import KNNImputer

from vanishing import LawFinder, VanishingOutlierDetector, VanishingRepair, check_law, load

LAWS = ["power = flow*speed", "loss = flow^2"]


def pump(n_rows=400, noise=0.005, seed=0):
    rng = np.random.default_rng(seed)
    q, w = rng.uniform(1, 3, (2, n_rows))
    true = np.column_stack([q, w, q * w, q**2])
    names = ["flow", "speed", "power", "loss"]
    return pd.DataFrame(true * (1 + noise * rng.normal(size=true.shape)), columns=names), true


def invoices(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    quantity, price = rng.integers(1, 40, n_rows), np.round(rng.uniform(1, 99, n_rows), 2)
    net = np.round(quantity * price, 2)
    table = pd.DataFrame({"quantity": quantity, "price": price, "net": net})
    table["vat"] = np.round(0.2 * net, 2)
    table["gross"] = net + table["vat"]
    return table.astype(float)


def one_gap_per_row(X, seed=1):
    gaps = np.zeros(X.shape, dtype=bool)
    gaps[np.arange(len(X)), np.random.default_rng(seed).integers(0, X.shape[1], len(X))] = True
    return X.mask(gaps), gaps


@pytest.fixture(scope="module")
def fitted():
    return VanishingRepair(laws=LAWS).fit(pump()[0])


def test_gaps_are_filled_by_laws_within_their_errors(fitted):
    X, _ = pump(1000, seed=5)
    with_gaps, gaps = one_gap_per_row(X)
    filled = fitted.transform(with_gaps)
    assert np.array_equal(filled[~gaps], X.to_numpy()[~gaps])
    error = ((filled - X) / X.std()).to_numpy()[gaps]
    by_neighbours = ((KNNImputer().fit_transform(with_gaps) - X) / X.std()).to_numpy()[gaps]
    rmse = np.sqrt(np.mean(error**2))
    assert 0.01 < rmse < 0.03 < np.sqrt(np.mean(by_neighbours**2))
    cells = fitted.report(with_gaps)
    assert [(c.row, c.column) for c in cells] == [
        (i, X.columns[j]) for i, j in np.argwhere(gaps).tolist()
    ]
    off = [abs(c.now - X.loc[c.row, c.column]) < 2 * c.std for c in cells]
    assert 0.92 < np.mean(off) < 0.98
    assert all(c.kind == "gap" and np.isnan(c.was) and c.law is not None for c in cells)
    laws = {c.column: {str(d.law.columns) for d in cells if d.column == c.column} for c in cells}
    assert laws["loss"] == {"('flow', 'loss')"}


def test_exact_laws_fill_exact_values():
    X = invoices()
    with_gaps, _ = one_gap_per_row(X)
    repair = VanishingRepair().fit(with_gaps)
    assert "net = quantity*price" in {str(law) for law in repair.laws_}
    error = (repair.transform(with_gaps) - X).to_numpy()
    assert np.abs(error[:, :3]).max() < 1e-3
    assert np.abs(error[:, 3:]).max() < 0.02  # rounded to cents


def test_several_gaps_in_a_row_and_one_that_laws_leave_open(fitted):
    X = pd.DataFrame(
        [[2.0, 1.5, np.nan, np.nan], [np.nan, np.nan, 3.0, 4.0]], columns=pump()[0].columns
    )
    assert np.allclose(fitted.transform(X), [[2, 1.5, 3, 4], [2, 1.5, 3, 4]], rtol=0.02)
    nothing = pd.DataFrame([[2.0, np.nan, np.nan, 4.0], [np.nan] * 4], columns=X.columns)
    cells = fitted.report(nothing)
    assert np.isfinite([c.now for c in cells]).all()
    speed = next(c for c in cells if c.column == "speed")
    # Any speed is possible: as much as speeds of other rows differ.
    assert 0.3 < speed.std < 1.5 and speed.law is None
    filled = fitted.transform(nothing)[0]
    assert filled[2] == pytest.approx(filled[0] * filled[1], rel=0.1)


def test_wrong_values_are_replaced_and_named(fitted):
    X, true = pump(seed=7)
    X.loc[3, "flow"] *= 3
    X.loc[4, "loss"] = -5.0
    X.loc[9, "power"] *= 10
    cells = {(c.row, c.column): c for c in fitted.report(X)}
    assert set(cells) == {(3, "flow"), (4, "loss"), (9, "power")}
    for (row, column), cell in cells.items():
        place = X.columns.get_loc(column)
        assert cell.kind == "wrong" and cell.probability > 0.95
        assert abs(cell.now - true[row, place]) < 4 * cell.std < 0.2
        assert cell.was == X.loc[row, column]
        assert f"row {row}, {column}: " in str(cell) and str(cell.law) in str(cell)
    assert fitted.transform(X)[9, 2] == cells[9, "power"].now


def test_two_wrong_values_of_a_row():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(1, 3, (2, 200))
    true = pd.DataFrame({"a": a, "b": b, "t": a + b, "u": a - b, "v": 2 * a, "w": 3 * b})
    X = true + 0.01 * rng.normal(size=true.shape)
    X.loc[5, ["a", "w"]] = 9.0, 1.0
    repair = VanishingRepair(laws=["t = a + b", "u = a - b", "v = 2*a", "w = 3*b"]).fit(X)
    wrong = {(c.row, c.column) for c in repair.report(X) if c.kind == "wrong"}
    assert wrong == {(5, "a"), (5, "w")}
    assert np.abs(repair.transform(X)[5] - true.loc[5]).max() < 0.1


def test_a_value_that_could_be_either_is_left_and_both_are_named(fitted):
    X, _ = pump(50, seed=8)
    X.loc[6, "power"] *= 1.2  # or the speed is wrong
    repaired = fitted.transform(X)
    assert np.array_equal(repaired, X.to_numpy())
    cells = fitted.report(X)
    assert {(c.row, c.column, c.kind) for c in cells} == {
        (6, "speed", "ambiguous"),
        (6, "power", "ambiguous"),
    }
    assert sum(c.probability for c in cells) == pytest.approx(1.0, abs=0.05)
    assert all(c.now == c.was for c in cells)


def test_good_rows_are_left_alone(fitted):
    X, _ = pump(3000, seed=9)
    assert np.mean(fitted.transform(X) != X.to_numpy()) <= 0.001
    assert len(fitted.report(X)) < 10


def test_reconciliation_takes_noise_out():
    X, true = pump(1000, seed=3)
    noise = 0.005 * np.abs(true).mean(axis=0)
    exact = pd.DataFrame(
        true + noise * np.random.default_rng(0).normal(size=true.shape), columns=X.columns
    )
    repair = VanishingRepair(laws=LAWS, noise=noise, reconcile=True).fit(exact)
    moved = repair.transform(exact)
    q, w, power, loss = moved.T
    assert np.abs(power - q * w).max() < 1e-3 and np.abs(loss - q**2).max() < 1e-3
    before, after = (np.sqrt(np.mean(np.square((x - true) / noise))) for x in (exact, moved))
    assert 0.4 < after / before < 0.75
    covariance = repair.covariance(exact)
    std = np.sqrt(np.einsum("mii->mi", covariance))
    assert 0.92 < np.mean(np.abs(moved - true) < 2 * std) < 0.98
    assert {c.kind for c in repair.report(exact.head(3))} == {"reconciled"}


def test_a_cubic_law_is_found_with_max_degree():
    rng = np.random.default_rng(0)
    perimeter, fill = rng.uniform(12, 17, 200), rng.uniform(0.8, 0.92, 200)
    area = fill * perimeter**2 / (4 * np.pi)
    X = pd.DataFrame({"area": area, "perimeter": perimeter, "compactness": fill})
    X *= 1 + 2e-4 * rng.normal(size=X.shape)
    repair = VanishingRepair(max_degree=3).fit(X)
    cubic = [law for law in repair.laws_ if set(law.columns) == set(X.columns) and law.degree == 3]
    assert cubic
    with_gaps, gaps = one_gap_per_row(X)
    error = ((repair.transform(with_gaps) - X) / X.std()).to_numpy()[gaps]
    assert np.sqrt(np.mean(error**2)) < 0.05


def test_laws_of_every_kind_give_the_same_repair():
    X, _ = pump()
    with_gaps = X.mask(np.random.default_rng(1).random(X.shape) < 0.1)
    detector = VanishingOutlierDetector().fit(X)
    sources = [
        LAWS,
        ["power = k*flow*speed", "loss = c*flow^2"],
        [check_law(text, X) for text in LAWS],
        detector,
        VanishingOutlierDetector(),
        [LawFinder(functions=()).fit(X[["flow", "speed"]], X["power"]), "loss = flow^2"],
    ]
    filled = VanishingRepair(laws=sources[0]).fit(with_gaps).transform(with_gaps)
    for laws in sources[1:]:
        other = VanishingRepair(laws=laws).fit(with_gaps)
        assert len(other.laws_) == 2
        assert np.allclose(other.transform(with_gaps), filled, rtol=0.01)
    assert np.allclose(detector.repair(with_gaps), filled, rtol=0.01)


def test_rows_of_any_order_and_number_give_the_same():
    X, _ = one_gap_per_row(pump()[0])
    first = VanishingRepair(laws=LAWS).fit(X)
    shuffled = X.sample(frac=1, random_state=0)
    second = VanishingRepair(laws=LAWS).fit(shuffled)
    whole = first.transform(X)
    assert np.allclose(second.transform(X), whole, rtol=1e-12)
    parts = np.vstack([first.transform(X[i : i + 130]) for i in range(0, len(X), 130)])
    assert np.allclose(parts, whole, rtol=1e-9)
    two = clone(first).set_params(n_jobs=2).fit(X)
    assert np.array_equal(two.transform(X), whole)


def test_saved_loaded_and_named(tmp_path, fitted):
    X, _ = one_gap_per_row(pump(60, seed=2)[0])
    fitted.save(tmp_path / "repair.json")
    again = load(tmp_path / "repair.json")
    assert np.array_equal(again.transform(X), fitted.transform(X))
    assert [str(law) for law in again.laws_] == [str(law) for law in fitted.laws_]
    assert again.report(X)[0].std == fitted.report(X)[0].std
    framed = clone(fitted).set_output(transform="pandas").fit(X).transform(X)
    assert list(framed.columns) == list(X.columns) and list(framed.index) == list(X.index)
    with pytest.warns(UserWarning, match="no law was found"):
        none = VanishingRepair().fit(X.head(20))
    none.save(tmp_path / "none.json")
    assert np.array_equal(load(tmp_path / "none.json").transform(X), none.transform(X))


@pytest.mark.filterwarnings("ignore:no law was found")
def test_without_laws_gaps_follow_the_covariance():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 1)) + 0.3 * rng.normal(size=(300, 3))
    X = pd.DataFrame(x, columns=list("abc"))
    with_gaps, _ = one_gap_per_row(X)
    repair = VanishingRepair(laws=[]).fit(with_gaps)
    cells = repair.report(with_gaps)
    error = np.array([c.now - X.loc[c.row, c.column] for c in cells])
    assert 0.27 < np.sqrt(np.mean(error**2)) < 0.41  # .37 on average
    assert 0.92 < np.mean(np.abs(error) < 2 * np.array([c.std for c in cells])) < 0.99
    X.iloc[4, 1] = 50.0  # odd, but no law says so
    assert repair.transform(X)[4, 1] == 50.0


@pytest.mark.parametrize(
    "options, problem",
    [
        ({"laws": [3]}, "laws must be equations"),
        ({"laws": "a = b*c"}, "about no column of the table"),
        ({"noise": -1.0}, "not negative"),
        ({"noise": [1.0, 2.0]}, "one per column, 4 of them"),
        ({"noise": "much"}, "must be a number"),
        ({"reconcile": "yes"}, "reconcile must be True or False"),
        ({"max_degree": 0}, "max_degree must be an integer"),
    ],
)
def test_bad_arguments_are_named(options, problem):
    with pytest.raises((TypeError, ValueError), match=problem):
        VanishingRepair(**options).fit(pump(50)[0])


def test_bad_tables_are_named(fitted):
    X, _ = pump(50)
    X["speed"] = np.nan
    with pytest.raises(ValueError, match="column 'speed' has no value at all"):
        VanishingRepair(laws=LAWS).fit(X)
    X["speed"] = np.inf
    with pytest.raises(ValueError, match="infinity: 50 of 50 rows in column 'speed'"):
        VanishingRepair(laws=LAWS).fit(X)
    other = check_law("b = 2*a", pd.DataFrame({"a": np.arange(50.0), "b": 2 * np.arange(50.0)}))
    with pytest.raises(ValueError, match="which the table does not have"):
        VanishingRepair(laws=other).fit(pump(50)[0])
