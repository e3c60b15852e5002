"""Threads over rows: the same bits for any number of them, and never more than were allowed."""

import threading
import time
from functools import partial

import numpy as np
import pytest
from joblib import parallel_config

from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    Blocks,
    ConservedQuantities,
    ContrastiveVanishing,
    LawFinder,
    Moments,
    VanishingClassifier,
    VanishingFeatures,
    VanishingOutlierDetector,
)
from vanishing._threads import fold, n_threads, spread, threads
from vanishing.algebra.evaluation import stretches
from vanishing.outliers import detector
from vanishing.outliers.model import Model
from vanishing.rows.intake import take_rows

JOBS = (1, 2, 3)
CHUNK = 64  # so that few rows are many stretches


def surface(n_samples, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, 3))
    X[:, 2] = 0.5 * X[:, 0] * (1.0 + X[:, 1]) + rng.normal(scale=0.01, size=n_samples)
    return X


@pytest.fixture(scope="module")
def rows():
    X = surface(60_000)
    rng = np.random.default_rng(1)
    return X, rng.uniform(0.5, 2.0, len(X)), (X[:, 0] > 0.4).astype(int)


def arrays(model):
    """Return all numbers that a fit has found."""
    found = []
    for name, value in sorted(vars(model).items()):
        if name.endswith("_") and isinstance(value, (np.ndarray, int, float)):
            found.append((name, np.asarray(value).tobytes()))
    generators = getattr(model, "generators_", None)
    if hasattr(generators, "stages"):
        found += [(i, p.tobytes()) for i, s in enumerate(generators.stages) for p in s[2:4]]
    return found


def in_blocks(X, weight=None, size=7_000):
    cuts = [slice(start, start + size) for start in range(0, len(X), size)]
    return Blocks([(X[cut], None, None if weight is None else weight[cut]) for cut in cuts])


# -- The same bits --------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        partial(OAVI, psi=5e-4),
        partial(OAVI, psi=1e-9, max_degree=2, feature_order="pearson"),  # decided on the rows
        partial(ABM, psi=5e-4),
        partial(AVI, psi=5e-4, max_degree=3),
        partial(VCA, psi=5e-4, max_degree=3),
        partial(VCA, psi=0.0, max_degree=1),
        partial(VCA, psi=0.005, max_degree=3, normalization="l2"),
        partial(ContrastiveVanishing, max_degree=2),
    ],
)
def test_arrays_and_maps(make, weighted, rows, tmp_path):
    X, weight, _ = rows
    weight = weight if weighted else None
    mapped = np.memmap(tmp_path / "rows", dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    fits = [
        make(chunk_size=CHUNK, n_jobs=n_jobs).fit(given, sample_weight=weight)
        for n_jobs in JOBS
        for given in (X, mapped)
    ]
    assert {tuple(arrays(fit)) for fit in fits} == {tuple(arrays(fits[0]))}
    found = [fit.transform(given) for fit in fits for given in (X, mapped)]
    assert all(np.array_equal(values, found[0]) for values in found)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [partial(OAVI, psi=5e-4), partial(ABM, psi=5e-4)])
def test_blocks(make, weighted, rows):
    X, weight, _ = rows
    blocks = in_blocks(X, weight if weighted else None)
    fits = [make(chunk_size=CHUNK, n_jobs=n_jobs).fit(blocks) for n_jobs in JOBS]
    assert {tuple(arrays(fit)) for fit in fits} == {tuple(arrays(fits[0]))}
    values = [np.vstack(list(fit.transform(blocks))) for fit in fits]
    assert all(np.array_equal(each, values[0]) for each in values)


def test_few_rows_and_the_default_chunks(rows):
    X, weight, _ = rows
    fits = [OAVI(psi=5e-4, n_jobs=n).fit(X, sample_weight=weight) for n in JOBS]
    assert {tuple(arrays(fit)) for fit in fits} == {tuple(arrays(fits[0]))}
    few = [OAVI(psi=5e-4, n_jobs=n).fit(X[:50]) for n in JOBS]
    assert {tuple(arrays(fit)) for fit in few} == {tuple(arrays(few[0]))}


@pytest.mark.parametrize("transformer", [OAVI(chunk_size=CHUNK), ContrastiveVanishing()])
def test_classes(transformer, rows):
    X, weight, y = rows
    fits = [VanishingFeatures(transformer, n_jobs=n).fit(X, y, sample_weight=weight) for n in JOBS]
    values = [fit.transform(X) for fit in fits]
    assert all(np.array_equal(each, values[0]) for each in values)


@pytest.mark.parametrize("as_blocks", [False, True])
def test_classifiers(as_blocks, rows):
    X, weight, y = (part[:20_000] for part in rows)
    given, beside = (X, y), {"sample_weight": weight}
    if as_blocks:
        cuts = [slice(start, start + 3000) for start in range(0, len(X), 3000)]
        given, beside = (Blocks([(X[cut], y[cut], weight[cut]) for cut in cuts]),), {}
    fits = [VanishingClassifier(n_jobs=n).fit(*given, **beside) for n in JOBS]
    scores = [fit.decision_function(surface(140_000, 2)) for fit in fits]
    assert all(np.array_equal(each, scores[0]) for each in scores)
    assert len({fit.temperature_ for fit in fits}) == 1


def test_moments(rows):
    X, weight, _ = rows
    found = [Moments(3, 3).update(X, weight, n_jobs=n) for n in JOBS]
    assert all(each == found[0] for each in found)


def test_outliers(rows):
    X = rows[0]
    fits = [VanishingOutlierDetector(random_state=0, n_jobs=n).fit(X) for n in JOBS[:2]]
    assert fits[0].offset_ == fits[1].offset_
    assert np.array_equal(*(fit.score_samples(X) for fit in fits))


def test_laws():
    X = surface(110_000)[:, :2]
    y = 2.0 * X[:, 0] + X[:, 1] + np.random.default_rng(2).normal(scale=0.01, size=len(X))
    fits = [LawFinder(1, functions=(), max_terms=3, n_jobs=n).fit(X, y) for n in JOBS[:2]]
    assert len(fits[0].laws_) > 0
    assert fits[0].laws_[0].coef.tolist() == fits[1].laws_[0].coef.tolist()


def test_motion():
    turn = np.linspace(0, 60, 120_000)
    run = np.arange(120_000) // 20_000
    X = (1.0 + run)[:, np.newaxis] * np.column_stack([np.cos(turn), np.sin(turn)])
    fits = [ConservedQuantities(2, n_jobs=n).fit(X, groups=run) for n in JOBS[:2]]
    assert fits[0].ratio_.tolist() == fits[1].ratio_.tolist()
    assert np.array_equal(*(fit.transform(X) for fit in fits))


@pytest.mark.parametrize("n_jobs", JOBS)
def test_rows_that_are_not_finite_are_refused(n_jobs):
    X = surface(400_000)
    X[123_456, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        OAVI(n_jobs=n_jobs).fit(X)
    X[123_456, 1] = 1e200  # whose sums may overflow, though it is finite
    X[7, 1] = 1e308
    X[8, 1] = 1e308
    with threads(n_jobs):
        assert take_rows(OAVI(), X).part.X is X


def test_cuts_do_not_depend_on_threads():
    for n_rows, rows, work in [(0, 10, 1), (1, 10, 1), (10**6, 264, 10), (10**6, 264, 10**7)]:
        cuts = stretches(n_rows, rows, work)
        assert [cut.stop for cut in cuts[:-1]] == [cut.start for cut in cuts[1:]]
        assert sum(cut.stop - cut.start for cut in cuts) == n_rows
        assert all((cut.stop - cut.start) % rows == 0 for cut in cuts[:-1])  # whole chunks


# -- Not more threads than allowed ----------------------------------------------------------------


class Counter:
    """Counts how many are inside at a time; who is inside waits until so many have been."""

    def __init__(self, expected):
        self.changed, self.inside, self.most = threading.Condition(), 0, 0
        self.expected = expected

    def __call__(self, item):
        with self.changed:
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.most >= self.expected, timeout=60)
        time.sleep(0.005)  # one more would be let in
        with self.changed:
            self.inside -= 1
        return item


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 5])
@pytest.mark.parametrize("n_outer", [1, 2, 3])
def test_nested_work_shares_the_threads(n_jobs, n_outer):
    expected = n_jobs if n_outer == 1 else min(n_jobs, n_outer)
    counter = Counter(expected)

    def outer(_):
        with threads(8):  # says more than it may use
            return fold(counter, range(12), max, 12)

    assert spread(outer, range(n_outer), n_jobs) == [11] * n_outer
    assert expected <= counter.most <= n_jobs


def test_joblib_says_what_none_means():
    assert n_threads() == 1
    with parallel_config(n_jobs=3):
        assert n_threads() == 3
        with threads(2):
            assert n_threads() == 2
    with threads(2), threads(None):
        assert n_threads() == 2
    with threads(-1):
        assert n_threads() >= 1
    with pytest.raises(TypeError, match="n_jobs must be an integer"), threads("two"):
        pass


def test_one_stretch_starts_no_thread(monkeypatch, rows):
    def fail(*_, **__):
        raise AssertionError("a thread was started")

    monkeypatch.setattr(threading.Thread, "start", fail)
    X = rows[0]
    model = OAVI(psi=5e-4, n_jobs=4).fit(X[:100])
    model.transform(X[:100])
    OAVI(psi=5e-4, n_jobs=1).fit(X).transform(X)


def test_moments_are_fitted_with_the_threads_allowed(monkeypatch, rows):
    seen = []

    def watching(gram, cross, norm, *, psi, radius):
        seen.append(n_threads())
        return np.zeros(len(cross)), norm

    moments = Moments(3, 2).update(rows[0])
    OAVI(5e-4, oracle=watching, n_jobs=2).fit_moments(moments)
    assert seen and set(seen) == {2}
    seen.clear()
    state_from = detector.state_from
    monkeypatch.setattr(
        detector, "state_from", lambda *of: [seen.append(n_threads()), state_from(*of)][1]
    )
    with pytest.warns(UserWarning, match="not robust"):
        VanishingOutlierDetector(n_jobs=3).fit_moments(moments)
    assert seen == [3]
    with pytest.raises(TypeError, match="n_jobs"):
        VanishingOutlierDetector(n_jobs="all").fit_moments(moments)


def test_every_batch_is_learned_with_the_threads_allowed(monkeypatch, rows):
    X = np.vstack([rows[0], rows[0] + 1e-3])
    models = [VanishingOutlierDetector(n_jobs=n, random_state=0).fit(X[:2000]) for n in JOBS]
    parts, seen = Model.parts, []

    def watched(self, some):
        seen.append(threading.get_ident())
        time.sleep(0.05)
        return parts(self, some)

    for n_jobs, model in zip(JOBS, models, strict=True):
        seen.clear()
        with monkeypatch.context() as patched:
            patched.setattr(Model, "parts", watched)
            model.partial_fit(X)
        assert len(set(seen)) == n_jobs
    found = [model.score_samples(X[:1000]) for model in models]
    assert all(np.array_equal(each, found[0]) for each in found)
    assert len({model.offset_ for model in models}) == 1


# -- Order, errors and memory ---------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", JOBS)
def test_fold_keeps_the_order_and_leaves_out_none(n_jobs):
    def late_if_even(i):
        time.sleep(0.002 * (i % 2 == 0))
        return None if i % 5 == 0 else [i]

    with threads(n_jobs):
        found = fold(late_if_even, iter(range(40)), lambda a, b: a + b)
    assert found == [i for i in range(40) if i % 5]


def test_the_first_error_counts_and_ends_the_work():
    begun = []

    def fails_from_three_on(i):
        begun.append(i)
        time.sleep(0.01 if i == 3 else 0.0)
        if i >= 3:
            raise ValueError(f"item {i}")
        return i

    for call in (spread, lambda f, items: fold(f, items, max)):
        begun.clear()
        with threads(3), pytest.raises(ValueError, match="item 3"):
            call(fails_from_three_on, range(1000))
        assert len(begun) < 20


def test_an_error_of_the_source_counts_in_its_place():
    def items():
        yield from range(5)
        raise OSError("no more")

    with threads(3), pytest.raises(OSError, match="no more"):
        fold(lambda i: i, items(), max)


def test_few_answers_and_blocks_are_held_at_a_time():
    held, most = set(), 0
    lock = threading.Lock()

    def items():
        nonlocal most
        for i in range(200):
            with lock:
                held.add(i)
                most = max(most, len(held))
            yield i

    def slow_at_first(i):
        time.sleep(0.2 if i == 0 else 0.0)
        return {i}

    def combine(first, second):
        with lock:
            held.difference_update(first | second)
        return first | second

    with threads(3):
        assert fold(slow_at_first, items(), combine) == set(range(200))
    assert most <= 12
