"""Columns that vary less than psi: said once, by whoever a user has called."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    Blocks,
    ContrastiveVanishing,
    L1SquaredHingeSVC,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingFeatures,
)

MODELS = [OAVI(), OAVI(oracle="ls"), OAVI(oracle="omp"), ABM(), AVI(), VCA()]
WORDS = "at least the variance of"


def rows(unit=0.01):
    """Three columns of which the second has another unit."""
    return np.random.default_rng(0).uniform(size=(200, 3)) * [1.0, unit, 1.0]


def said(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in caught if WORDS in str(one.message)]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_column_in_another_unit_is_named_with_what_helps(model):
    (message,) = said(lambda: model.fit(rows()))
    assert "psi=0.005" in message and "the column x1," in message
    assert "MaxAbsScaler" in message and "smaller psi" in message
    # What it says is true, on both sides.
    assert not said(lambda: model.fit(MaxAbsScaler().fit_transform(rows())))
    variance = rows()[:, 1].var()
    psi = model.psi
    assert not said(lambda: model.set_params(psi=0.99 * variance).fit(rows()))
    assert said(lambda: model.set_params(psi=1.01 * variance).fit(rows()))
    model.set_params(psi=psi)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("value", [0.0, 0.3, 1e6])
def test_a_constant_column_is_no_news(model, value):
    X = rows(1.0)
    X[:, 1] = value
    assert not said(lambda: model.fit(X[:, :2]))


def test_weights_and_blocks_count():
    X, weight = rows(1.0), np.r_[np.ones(10), np.zeros(190)]
    X[:10, 1] = 0.5 + 0.01 * np.arange(10) / 10
    assert said(lambda: OAVI().fit(X, sample_weight=weight))
    assert not said(lambda: OAVI().fit(X))
    assert said(lambda: OAVI().fit(Blocks.from_array(rows(), rows=50)))


def test_names_are_those_of_the_table():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(rows(), columns=["height", "width", "depth"])
    (message,) = said(lambda: OAVI().fit(X))
    assert "the column width," in message


def test_who_scales_or_fits_many_says_nothing():
    X, y = rows(), np.arange(200) % 2
    for model in (
        VanishingClassifier(),
        VanishingClassifierCV(psis=(0.1, 0.01), Cs=(1.0,), scale=True),
        VanishingFeatures(),
        VanishingFeatures(ContrastiveVanishing()),
    ):
        assert not said(lambda: model.fit(X, y)), model  # noqa: B023
    assert not said(lambda: OAVI().path(X, [0.1, 0.01]))


def test_the_same_words_in_all_folds():
    X = rows()
    y = X[:, 0] > 0.5
    model = make_pipeline(OAVI(), L1SquaredHingeSVC())
    messages = said(lambda: cross_val_score(model, X, y, cv=4))
    assert len(messages) == 4 and len(set(messages)) == 1  # which Python shows once
