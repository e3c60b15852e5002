"""The published PCG with its wrong slice: the model of it, and whether it explains the records."""

import os

import numpy as np
import published
import pytest
import reference

from vanishing import OAVI, datasets
from vanishing.experiments import replay
from vanishing.experiments.published_runs import published_runs

NEEDS_DATA = pytest.mark.skipif(
    "VANISHING_DATA" not in os.environ, reason="needs the paper's data sets in VANISHING_DATA"
)


def problem(seed, k=6):
    """Columns that correlate, a target, and a psi that only points near least squares reach."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(40, k)) + 2 * rng.normal(size=(40, 1))
    b = A @ rng.normal(size=k) + rng.normal(scale=0.5, size=40)
    coef, mse = reference.least_squares(A, b)
    return A, b, 1.2 * np.abs(coef).sum(), 1.02 * mse


def solved(A, b, radius, psi, **options):
    """Coefficients of the model, and their mean square."""
    m = len(b)
    return published.oracle(**options)(A.T @ A / m, A.T @ b / m, b @ b / m, psi=psi, radius=radius)


@pytest.mark.parametrize("slice_is_wrong", [True, False])
def test_what_is_left_after_a_drop(slice_is_wrong):
    weights, vertices = np.array([0.5, 0.3, 0.0]), np.array([1, -2, 3])
    for away in (0, 1):
        rest = published.without(weights, vertices, away, slice_is_wrong)
        np.testing.assert_array_equal(rest[0], np.delete(weights, away))
        np.testing.assert_array_equal(rest[1], np.delete(vertices, away))
    rest = published.without(weights, vertices, 2, slice_is_wrong)
    np.testing.assert_array_equal(rest[0], [0.5, 0.3])
    np.testing.assert_array_equal(rest[1], [3] if slice_is_wrong else [1, -2])


@pytest.mark.parametrize("blended", [False, True])
def test_without_the_slice_it_is_the_paper_s_algorithm(blended):
    """It reaches psi inside the ball, and its first step, before there are ties, is the same."""
    for seed in range(20):
        A, b, radius, psi = problem(seed)
        coef, mse = solved(A, b, radius, psi, blended=blended, slice_is_wrong=False)
        assert np.abs(coef).sum() <= radius * (1 + 1e-12)
        assert mse <= psi
        assert mse == pytest.approx(np.mean((A @ coef + b) ** 2), rel=1e-9)
        if not blended:
            coef, _ = solved(A, b, radius, psi, slice_is_wrong=False, max_iter=1)
            expected = reference.pcg(A, b, psi=psi, radius=radius, max_iter=1)[0]
            np.testing.assert_allclose(coef, expected, atol=1e-9)


def test_with_the_slice_it_stops_short():
    problems = [problem(seed) for seed in range(100)]
    short = [solved(*given, slice_is_wrong=True)[1] > given[-1] for given in problems]
    assert 2 <= sum(short) <= 20


def test_without_ties_and_slice_the_library_finds_the_same_generators():
    X = np.random.default_rng(0).uniform(size=(60, 3))
    model = OAVI(0.01, oracle=published.oracle(slice_is_wrong=False), certify=False, refit=False)
    ours = OAVI(0.01, certify=False, refit=False).fit(X)
    np.testing.assert_array_equal(model.fit(X).terms_, ours.terms_)
    np.testing.assert_array_equal(model.leading_terms_, ours.leading_terms_)


@NEEDS_DATA
@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "border", "run", "n_roundings"),
    [("bank", "gb", 1, 10), ("seeds", "bb", 8, 10), ("htru", "gb", 6, 3)],
)
def test_only_the_slice_gives_the_recorded_sizes(dataset, border, run, n_roundings):
    """Rounded anew, the right algorithm gives the same sizes, and these are not on record."""
    X, y = datasets.load(dataset, return_X_y=True)
    (record,) = [
        r for r in published_runs(["oavi"], [dataset], ["pcgavi"], [border]) if r.run == run
    ]
    right, wrong = (
        published.sizes(record, np.asarray(X), np.asarray(y), slice_is_wrong, n_roundings)
        for slice_is_wrong in (False, True)
    )
    assert len(right) == 1
    assert published.recorded(record) not in right
    assert wrong[published.recorded(record)] >= 2


@NEEDS_DATA
def test_bpcg_has_the_tolerances_of_the_sequel(monkeypatch):
    """Where it stops short of psi the dense closed form stays, and fewer coefficients are zero."""
    X, y = datasets.load("bank", return_X_y=True)
    run = published_runs(["at-scale"], ["bank"], ["bpcgavi-wihb"])[5]
    counts = []
    for tolerances in (published.SEQUEL, {"eps": 1e-3, "tol": 1e-6}):
        model = published.model_of(run, **tolerances)
        monkeypatch.setitem(replay.TRANSFORMERS, run.algorithm, model)
        random = np.random.default_rng(0)
        figures = [replay.figures_of(run, X, y, random) for _ in range(10)]
        counts.append(sum(not replay.differences(run, one) for one in figures))
    assert counts[0] >= 3 and counts[1] == 0
