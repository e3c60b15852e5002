"""Rows with gaps in the classifiers: by equations of the columns they have, and less certain."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import vanishing
from vanishing import OAVI, VanishingClassifier, VanishingClassifierCV
from vanishing.report import write_report

X, Y = load_wine(return_X_y=True)
RNG = np.random.default_rng(0)
TRAIN = RNG.uniform(size=len(Y)) < 0.6
GAPS = X.copy()
GAPS[RNG.uniform(size=X.shape) < 0.06] = np.nan
OPTIONS = {"psis": (0.1,), "Cs": (1.0,), "scale": True, "transformer": OAVI(max_degree=2)}


@pytest.fixture(scope="module", params=["classifier", "search"])
def fitted(request):
    model = VanishingClassifier(OAVI(max_degree=2), psi=0.1, missing="ignore")
    if request.param == "search":
        model = VanishingClassifierCV(**OPTIONS, missing="ignore")
    return model.fit(GAPS[TRAIN], Y[TRAIN])


def test_rows_with_gaps_are_classified_with_a_lower_confidence(fitted):
    has = np.isnan(GAPS[~TRAIN]).any(axis=1)
    assert 20 < has.sum() < (~TRAIN).sum()
    chances = fitted.predict_proba(GAPS[~TRAIN])
    whole = fitted.predict_proba(X[~TRAIN])
    right = fitted.predict(GAPS[~TRAIN]) == Y[~TRAIN]
    assert right[has].mean() > 0.75
    assert chances[has].max(axis=1).mean() < whole[has].max(axis=1).mean() - 0.01
    assert abs(chances[has].max(axis=1).mean() - right[has].mean()) < 0.15
    np.testing.assert_array_equal(chances[~has], whole[~has])
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(
        chances.argmax(axis=1), np.searchsorted(fitted.classes_, fitted.predict(GAPS[~TRAIN]))
    )


def test_the_equations_do_not_need_the_missing_column(fitted):
    """By hand: a classifier fitted to the other columns of all rows that have them."""
    pipeline = getattr(fitted, "classifier_", fitted)
    for column in (0, 7):
        kept = np.delete(np.arange(X.shape[1]), column)
        known = TRAIN & ~np.isnan(GAPS[:, kept]).any(axis=1)
        alone = VanishingClassifier(OAVI(max_degree=2), psi=0.1).fit(X[known][:, kept], Y[known])
        rows = X[~TRAIN][:20].copy()
        rows[:, column] = np.nan
        np.testing.assert_allclose(
            fitted.predict_proba(rows), alone.predict_proba(rows[:, kept]), atol=1e-9
        )
        scores = fitted.decision_function(rows) / pipeline.temperature_
        expected = alone.decision_function(rows[:, kept]) / alone.temperature_
        np.testing.assert_allclose(scores, expected, atol=1e-9)


def test_rows_that_lack_nearly_all_have_the_shares_of_the_classes(fitted):
    shares = np.bincount(Y[TRAIN]) / TRAIN.sum()
    rows = np.full((2, X.shape[1]), np.nan)
    rows[1, 3] = 20.0  # which no training row has alone
    np.testing.assert_allclose(fitted.predict_proba(rows), [shares, shares])


def test_it_is_saved(fitted, tmp_path):
    fitted.save(tmp_path / "m.json")
    again = vanishing.load(tmp_path / "m.json")
    np.testing.assert_array_equal(again.predict_proba(GAPS), fitted.predict_proba(GAPS))


def test_tables_and_blocks_have_gaps_too(fitted):
    expected = fitted.predict(GAPS)
    found = fitted.predict(lambda: iter(np.array_split(GAPS, 3)))
    np.testing.assert_array_equal(np.concatenate(list(found)), expected)
    table = pd.DataFrame(GAPS, columns=[f"c{j}" for j in range(X.shape[1])])
    named = VanishingClassifier(OAVI(max_degree=2), psi=0.1, missing="ignore")
    named.fit(table[TRAIN], Y[TRAIN])
    assert (named.predict(table) == Y).mean() > 0.8


def test_a_report_leaves_rows_with_gaps_out(tmp_path):
    model = VanishingClassifier(missing="ignore").fit(GAPS[:, :3], Y)
    table = pd.DataFrame(GAPS[:, :3], columns=["a", "b", "c"])
    has = np.isnan(GAPS[:, :3]).any(axis=1)
    page = write_report(model, GAPS[:, :3], Y, tmp_path / "report.html").read_text()
    assert f"{has.sum()} rows with gaps left out." in page
    assert f"{(~has).sum()} rows" in page
    pipeline = make_pipeline(StandardScaler(), model).fit(table, Y)
    assert "gaps left out" in write_report(pipeline, table, Y, tmp_path / "p.html").read_text()
    with pytest.raises(ValueError, match="all rows have gaps"):
        write_report(model, GAPS[has, :3], Y[has], tmp_path / "none.html")
    assert not (tmp_path / "none.html").exists()


def test_without_gaps_nothing_changes():
    plain = VanishingClassifier().fit(X[TRAIN], Y[TRAIN])
    same = VanishingClassifier(missing="ignore").fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(plain.decision_function(X), same.decision_function(X))


def test_a_search_with_gaps_is_that_of_the_rows_without():
    complete = TRAIN & ~np.isnan(GAPS).any(axis=1)
    search = VanishingClassifierCV(**OPTIONS, missing="ignore").fit(GAPS[TRAIN], Y[TRAIN])
    alone = VanishingClassifierCV(**OPTIONS).fit(X[complete], Y[complete])
    assert search.best_score_ == alone.best_score_
    np.testing.assert_allclose(search.decision_function(X), alone.decision_function(X), atol=1e-6)
    again = VanishingClassifier().set_params(**search.best_params_).fit(GAPS[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


def test_a_column_that_alone_decides_leaves_little_without_it():
    rows, y = make_blobs(400, centers=[[0, 0], [6, 0]], random_state=0)
    model = VanishingClassifier(missing="ignore").fit(rows, y)
    assert model.predict_proba(rows).max(axis=1).mean() > 0.95
    rows[:, 0] = np.nan
    assert model.predict_proba(rows).max(axis=1).mean() < 0.65


def test_what_cannot_be_with_gaps_is_refused():
    model = VanishingClassifier(missing="ignore")
    with pytest.raises(ValueError, match="NaN"):
        VanishingClassifier().fit(GAPS, Y)
    with pytest.raises(TypeError, match="missing='ignore' needs the rows in memory"):
        model.fit(lambda: iter([(GAPS, Y)]))
    holes = np.where((Y == 1)[:, np.newaxis] & (np.arange(13) == 2), np.nan, X)
    for each in (model, VanishingClassifierCV(**OPTIONS, missing="ignore")):
        with pytest.raises(ValueError, match="all rows of class 1 have gaps"):
            each.fit(holes, Y)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.where(X > 1000, np.inf, X), Y)
    with pytest.raises(ValueError, match="explain needs rows without gaps"):
        model.fit(GAPS, Y).explain(np.full((1, 13), np.nan))
    with pytest.raises(ValueError, match="final_estimator replaces"):
        VanishingClassifier(missing="ignore", final_estimator=LogisticRegression()).fit(X, Y)
    with pytest.raises(ValueError, match="missing must be"):
        VanishingClassifier(missing="drop").fit(X, Y)
