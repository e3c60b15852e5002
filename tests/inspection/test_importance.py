"""What decided: importances of columns and equations, and tables of explanations."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from vanishing import ABM, OAVI, VanishingClassifier, VanishingClassifierCV
from vanishing.inspection import anatomy, importances
from vanishing.inspection.importance import _lost
from vanishing.polynomials import parse_equation


def disc(seed=0, n_columns=8):
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (1000, n_columns))
    return X, (X[:, 0] ** 2 + X[:, 1] ** 2 < 2.0 / np.pi).astype(int)


def features(seed, size=400):
    """Return values of six features, of which the last two are nearly the same."""
    rng = np.random.default_rng(seed)
    H = np.abs(rng.normal(size=(size, 6)) @ rng.normal(size=(6, 6)))
    H[:, 5] = H[:, 4] + 0.01 * rng.normal(size=size)
    return H


def covariance(H):
    return np.cov(H, rowvar=False, bias=True)


# -- Columns --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        VanishingClassifier(),
        VanishingClassifier(OAVI(oracle="ls")),
        VanishingClassifier(ABM()),
        VanishingClassifier(scale="quantile"),
        VanishingClassifierCV(psis=(0.1, 0.01)),
        make_pipeline(MinMaxScaler((-1, 1)), VanishingClassifier(scale=False)),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_columns_of_a_disc_come_first(model, seed):
    X, y = disc(seed)
    found = importances(model.fit(X[:600], y[:600]), X[600:])
    assert set(found.order[:2]) == {0, 1}
    assert found.columns[[0, 1]].min() > 2.0 * found.columns[2:].max()
    np.testing.assert_array_equal(found.columns[found.order], np.sort(found.columns)[::-1])
    assert found.names == tuple(f"x{i}" for i in range(8))


def test_a_single_column_decides_as_often_as_two_rows_differ_in_class():
    X = np.random.default_rng(0).uniform(0.0, 1.0, (1500, 3))
    y = X[:, 1] > 0.3
    model = VanishingClassifier(OAVI(0.05, oracle="ls"), C=10.0).fit(X, y)
    share = model.predict(X).mean()
    found = importances(model, X)
    # In two of independent rows, one is beyond the threshold and the other is not.
    assert found.columns[1] == pytest.approx(2 * share * (1 - share), abs=0.04)
    assert found.columns[[0, 2]].max() < 0.05


def test_a_column_that_no_equation_with_a_weight_has_decides_nothing():
    X, y = disc(2, 4)
    model = VanishingClassifier().fit(X, y)
    weights = model.final_estimator_.coef_
    start = 0
    for transformer in model.features_.transformers_:
        terms = [g.terms for g in transformer.generators_]
        for i, part in enumerate(terms):
            if part[:, 3].any():
                weights[:, start + i] = 0.0
        start += len(terms)
    found = importances(model, X)
    assert found.columns[3] == 0.0 and found.order[-1] == 3
    assert found.columns[:3].min() > 0.0


def test_a_column_that_all_rows_share_decides_nothing_about_them():
    X, y = disc(0, 4)
    model = VanishingClassifier().fit(X, y)
    for place in (0, 1):
        rows = X.copy()
        rows[:, place] = 0.1
        found = importances(model, rows)
        assert found.columns[place] == 0.0 and found.order[0] == 1 - place


def test_units_of_the_columns_and_order_of_labels_change_nothing():
    X, y = disc(3, 4)
    expected = importances(VanishingClassifier().fit(X, y), X)
    scaled = X * [1e-3, 1.0, 50.0, 1e6] + [0.0, 7.0, -3.0, 1e5]
    found = importances(VanishingClassifier().fit(scaled, y), scaled)
    np.testing.assert_allclose(found.columns, expected.columns, atol=0.005)
    for part, other in zip(found.equations, expected.equations, strict=True):
        np.testing.assert_allclose(part, other, atol=1e-5)


def test_any_final_estimator_has_columns_that_decide():
    X, y = disc(0, 5)
    forest = RandomForestClassifier(20, random_state=0)
    model = VanishingClassifier(OAVI(0.01, max_degree=2), final_estimator=forest).fit(X, y)
    found = importances(model, X)
    assert set(found.order[:2]) == {0, 1} and found.equations is None


def test_single_rows_and_models_without_decisions():
    X, y = disc(0, 4)
    found = importances(VanishingClassifier().fit(X, y), X[:1])
    assert not found.columns.any()  # there is no other row to take a value from
    assert not np.hstack(found.equations).any()
    with pytest.raises(TypeError, match="ABM is no classifier"):
        importances(ABM(0.01).fit(X), X)


# -- Equations ------------------------------------------------------------------------------------


def by_least_squares(H, weights):
    """Take features away one by one, with new weights by least squares on the rows."""
    H = H - H.mean(axis=0)
    decision = H @ weights
    left, before, lost = list(range(H.shape[1])), 0.0, np.zeros(H.shape[1])
    while left:
        rest = []
        for i in left:
            others = H[:, [j for j in left if j != i]]
            fitted = others @ np.linalg.lstsq(others, decision, rcond=None)[0]
            rest.append(np.mean((decision - fitted) ** 2, axis=0).sum())
        worst = int(np.argmin(rest))
        lost[left.pop(worst)] = rest[worst] - before
        before = rest[worst]
    return lost


@pytest.mark.parametrize("n_decisions", [1, 3])
def test_many_features_are_eliminated_as_by_least_squares(n_decisions):
    rng = np.random.default_rng(0)
    H = np.abs(rng.normal(size=(300, 30)) @ rng.normal(size=(30, 30)))
    weights = rng.normal(size=(30, n_decisions))
    lost = _lost(covariance(H), weights)
    np.testing.assert_allclose(lost, by_least_squares(H, weights), rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_decisions", [1, 3])
def test_shares_are_those_of_elimination_by_least_squares(seed, n_decisions):
    H = features(seed)
    weights = np.random.default_rng(seed).normal(size=(6, n_decisions))
    lost = _lost(covariance(H), weights)
    np.testing.assert_allclose(lost, by_least_squares(H, weights), rtol=1e-4, atol=1e-7)
    # All of the decision is lost in the end.
    total = np.var(H @ weights, axis=0).sum()
    assert lost.sum() == pytest.approx(total, rel=1e-6)
    # Neither units of features nor their order matter.
    order, units = [3, 5, 0, 1, 4, 2], np.array([1e-4, 1.0, 3.0, 1e5, 0.2, 7.0])
    again = _lost(covariance(H * units)[np.ix_(order, order)], (weights / units[:, None])[order])
    np.testing.assert_allclose(again, lost[order], rtol=1e-3, atol=1e-6)


def test_independent_features_have_the_variance_of_what_they_contribute():
    spread, weights = np.array([1.0, 4.0, 0.25]), np.array([[3.0], [-1.0], [2.0]])
    np.testing.assert_allclose(_lost(np.diag(spread), weights), [9.0, 4.0, 1.0], rtol=1e-6)


def test_features_that_cancel_have_next_to_nothing_and_equal_ones_share_what_one_has():
    H = features(0)
    spread = H.std(axis=0)
    cancelling = np.array([[1.0, 0.0, 0.5, 0.0, 40.0, -40.0]]).T
    lost = _lost(covariance(H), cancelling)
    contributions = np.abs(cancelling[:, 0]) * spread
    assert contributions.argsort()[-2:].min() >= 4  # by size they would be first
    assert lost[:1].min() > 4.0 * lost[4:].max()
    # With one sign, the feature that they both are decides all, and one of them stands for it.
    adding = np.array([[0.1, 0.0, 0.1, 0.0, 4.0, 4.0]]).T
    lost = _lost(covariance(H), adding)
    assert lost[4:].max() > 0.95 * lost.sum() and lost[4:].min() < 0.01 * lost.sum()
    # A small weight beside a large one on the same feature decides nothing.
    lost = _lost(covariance(H), np.array([[0.1, 0.0, 0.1, 0.0, 1e-3, 4.0]]).T)
    assert lost[5] > 0.9 * lost.sum() and lost[4] < 0.01 * lost.sum()


def test_constant_and_overflowing_features_have_nothing():
    H = features(1)
    H[:, 2] = 5.0
    lost = _lost(covariance(H), np.ones((6, 1)))
    assert lost[2] == 0.0 and lost.sum() == pytest.approx(np.var(H.sum(axis=1)), rel=1e-6)
    assert not _lost(np.full((2, 2), np.inf), np.ones((2, 1))).any()


def test_an_equation_of_both_classes_that_cancels_is_not_on_top():
    X, y = disc(0, 4)
    X[:, 3] = X[:, 2] + 0.05 * np.random.default_rng(0).normal(size=len(X))  # in both classes
    model = VanishingClassifier(OAVI(0.01, refit=False, max_degree=2)).fit(X, y)
    found, measured = anatomy(model), importances(model, X)
    common = [
        [set(np.flatnonzero(g.terms.any(axis=0))) == {2, 3} for g in p.generators]
        for p in found.parts
    ]
    for part, share, of_both in zip(found.parts, measured.equations, common, strict=True):
        size = part.generators.evaluate(found.scaled(X), absolute=True).mean(axis=0)
        largest = (part.sizes * size).argmax()
        # It has the largest weight and the largest contribution: of opposite signs in both classes.
        assert of_both[part.ranking()[0]] and of_both[largest]
        assert not of_both[part.ranking(share)[0]]
        assert share[of_both].max() < 0.02
    signs = [np.sign(p.weights[p.ranking()[0]]) for p in found.parts]
    assert signs[0] == -signs[1]
    assert set(measured.order[:2]) == {0, 1}
    np.testing.assert_allclose(np.hstack(measured.equations).sum(), 1.0)


def test_several_classes_are_told_apart_by_differences_of_scores():
    X, y = load_iris(return_X_y=True)
    model = VanishingClassifier(OAVI(0.01), C=10.0).fit(X, y)
    shares = importances(model, X).equations
    assert [len(share) for share in shares] == [
        t.n_generators_ for t in model.features_.transformers_
    ]
    assert np.hstack(shares).sum() == pytest.approx(1.0)
    # A weight that an equation has for every class decides nothing.
    unused = int(np.flatnonzero(~model.final_estimator_.coef_[:, : len(shares[0])].any(axis=0))[0])
    model.final_estimator_.coef_[:, unused] = 100.0
    again = importances(model, X).equations
    assert again[0][unused] < 1e-9
    np.testing.assert_allclose(np.hstack(again), np.hstack(shares), atol=1e-6)


# -- Tables of explanations -----------------------------------------------------------------------


def test_a_table_has_the_equations_in_original_units():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = VanishingClassifier(C=10.0).fit(X[::2], y[::2])
    rows = X[1:120:30]
    lists, table = model.explain(rows), model.explain(rows, table=True)
    assert list(table["row"].unique()) == list(rows.index)
    table = table[table["units"] != ""]  # without the base values
    assert set(table["units"]) == {"original"}
    flat = [one for reasons in lists for one in reasons]
    assert len(flat) == len(table)
    for one, line in zip(flat, table.itertuples(), strict=True):
        # What is off in the equation as it is written counts as much as what is off in columns
        # that are scaled.
        assert one["contribution"] == line.contribution
        assert line.value * line.weight == pytest.approx(one["contribution"], rel=1e-12)
        polynomial = parse_equation(line.equation, list(X.columns))
        row = rows.loc[[line.row]].to_numpy()
        assert abs(polynomial(row)[0]) == pytest.approx(line.value, abs=0.02)
    predicted = dict(zip(rows.index, model.predict(rows), strict=True))
    assert all(
        predicted[row] == label for row, label in zip(table["row"], table["for"], strict=True)
    )


@pytest.mark.parametrize("n_generators", [0, 1, 3, 100])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_contributions_of_a_row_add_up_to_its_decision_value(n_generators, n_classes):
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = y % n_classes
    model = VanishingClassifier(C=10.0).fit(X, y)
    rows = X[::20]
    table = model.explain(rows, n_generators=n_generators, table=True)
    scores = model.decision_function(rows)
    decided = scores if n_classes == 2 else scores.max(axis=1)
    total = table.groupby("row", sort=False)["contribution"].sum()
    np.testing.assert_allclose(total.loc[rows.index], decided, rtol=1e-9, atol=1e-12)
    base = table[table["equation"] == "base value"]
    assert list(base["row"]) == list(rows.index)
    place = 0 if n_classes == 2 else scores.argmax(axis=1)
    np.testing.assert_array_equal(
        base["contribution"], np.broadcast_to(model.final_estimator_.intercept_[place], len(rows))
    )
    named = table[table["units"] != ""].groupby("row").size()
    assert named.max() <= n_generators if n_generators else not len(named)
    others = table[table["equation"].str.contains("other equation")]
    assert len(others) == (len(rows) if n_generators == 0 else len(others))
    assert not len(others) or n_generators < 100


def test_a_table_says_where_columns_stay_scaled():
    X, y = load_iris(return_X_y=True)
    model = VanishingClassifier(scale="quantile").fit(X, y == 1)
    table = model.explain(X[:3], n_generators=1, table=True)
    assert table.equals(model.explain(X[:3].tolist(), n_generators=1, table=True))
    table = table[table["units"] != ""]
    assert set(table["units"]) == {"scaled"} and list(table["row"]) == [0, 1, 2]
    assert set(table["for"]) == {True}  # a positive contribution speaks for the second class
    generator = model.explain(X[:1], n_generators=1)[0][0]["generator"]
    assert table["equation"][0] == generator.equation()
