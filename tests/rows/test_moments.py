"""The reader of rows: moments against plain NumPy, bounded memory, BLAS threads."""

import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from reference import evaluate
from threadpoolctl import threadpool_info, threadpool_limits

from vanishing import OAVI
from vanishing._threads import one_blas_thread
from vanishing.algebra import evaluation, monomials
from vanishing.rows.reader import ArrayReader

M = 50
X = np.random.default_rng(0).uniform(-1, 1, size=(M, 3))
TERMS = np.array(
    [t for t in np.ndindex(4, 4, 4) if sum(t) <= 3], dtype=monomials.EXPONENT
)  # 20 terms, the constant first
PLAN, POSITION = monomials.plan(TERMS)
WEIGHTS = np.random.default_rng(1).integers(0, 4, size=M).astype(float)

chunk_sizes = pytest.mark.parametrize("chunk_size", [1, 7, M, None])
weightings = pytest.mark.parametrize("weights", [None, WEIGHTS, 0.3 * WEIGHTS])


def columns(weights=None, rows=X):
    """Values of the terms, and the factor that turns sums of their products into means."""
    values = evaluate(TERMS, rows.astype(np.float64))
    if weights is None:
        return values, 1 / len(rows)
    return np.sqrt(weights)[:, np.newaxis] * values, 1 / weights.sum()


# ---------------------------------------------------------------------------------- moments


@weightings
@chunk_sizes
def test_products(chunk_size, weights):
    values, factor = columns(weights)
    rows = ArrayReader(X, weights, chunk_size)
    left, right = np.array([0, 3, 4, 19]), np.array([7, 3, 11])
    products, squares = rows.products(PLAN, POSITION[left], POSITION[right])
    np.testing.assert_allclose(
        products, factor * values[:, left].T @ values[:, right], rtol=1e-12, atol=1e-15
    )
    np.testing.assert_allclose(squares, factor * np.sum(values[:, right] ** 2, axis=0), rtol=1e-12)


@chunk_sizes
def test_products_of_slices(chunk_size):
    values, factor = columns()
    planned = np.empty_like(values)
    planned[:, POSITION] = values
    products, squares = ArrayReader(X, None, chunk_size).products(PLAN, slice(0, 12), slice(8, 20))
    expected = factor * planned[:, :12].T @ planned[:, 8:]
    np.testing.assert_allclose(products, expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(squares, factor * np.sum(planned[:, 8:] ** 2, axis=0), rtol=1e-12)


@weightings
@chunk_sizes
def test_mse(chunk_size, weights):
    values, factor = columns(weights)
    terms, leading = np.array([0, 1, 5, 6]), np.array([10, 12])
    coef = np.random.default_rng(2).normal(size=(2, 4))
    mse = ArrayReader(X, weights, chunk_size).mse(PLAN, POSITION[terms], coef, POSITION[leading])
    polynomials = values[:, terms] @ coef.T + values[:, leading]
    np.testing.assert_allclose(mse, factor * np.sum(polynomials**2, axis=0), rtol=1e-12)


def test_mse_measures_where_moments_cannot():
    """x^2 - 2 a x + a^2 at points 1e-6 from a = 1000: from moments that is all rounding."""
    near = 1000 + 1e-6 * np.array([[-1.0], [1.0]])
    plan, position = monomials.plan(np.array([[0], [1], [2]]))
    mse = ArrayReader(near).mse(plan, position[:2], np.array([[-1000.0, 0.0]]), position[1:2])
    assert mse[0] == pytest.approx(1e-12, rel=1e-3)


@weightings
@chunk_sizes
def test_triangular(chunk_size, weights):
    values, factor = columns(weights)
    chosen = np.array([0, 2, 19, 7, 4])
    triangle = ArrayReader(X, weights, chunk_size).triangular(PLAN, POSITION[chosen])
    np.testing.assert_array_equal(triangle, np.triu(triangle))
    assert np.all(triangle.diagonal() > 0)
    expected = factor * values[:, chosen].T @ values[:, chosen]
    np.testing.assert_allclose(triangle.T @ triangle, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("n_rows", [1, 3, 19])
@pytest.mark.parametrize("chunk_size", [1, 7, None])
def test_triangular_with_more_terms_than_rows(n_rows, chunk_size):
    few = X[:n_rows]
    values, factor = columns(rows=few)
    triangle = ArrayReader(few, None, chunk_size).triangular(PLAN, POSITION)
    assert triangle.shape == (20, 20)
    np.testing.assert_array_equal(triangle, np.triu(triangle))
    np.testing.assert_array_equal(triangle[n_rows:], 0)
    np.testing.assert_allclose(triangle.T @ triangle, factor * values.T @ values, atol=1e-14)


def test_triangular_keeps_the_digits_that_products_lose():
    """Two columns 1e-9 apart: their difference is lost in the moments, not in the factor."""
    rng = np.random.default_rng(3)
    first = rng.uniform(1, 2, size=200)
    pair = np.column_stack([first, first + 1e-9 * rng.choice([-1, 1], size=200)])
    plan, position = monomials.plan(np.array([[1, 0], [0, 1]]))
    for chunk_size in (1, 7, None):
        triangle = ArrayReader(pair, None, chunk_size).triangular(plan, position)
        assert triangle[1, 1] == pytest.approx(1e-9, rel=0.05)


@weightings
@chunk_sizes
def test_correlations(chunk_size, weights):
    data = np.column_stack([X, X[:, 0] - X[:, 1], np.full(M, 0.1), 1e-9 * X[:, 2]])
    correlations = ArrayReader(data, weights, chunk_size).correlations()
    repeated = data if weights is None else np.repeat(data, WEIGHTS.astype(int), axis=0)
    varying = [0, 1, 2, 3, 5]
    expected = np.corrcoef(repeated[:, varying], rowvar=False)
    np.testing.assert_allclose(correlations[np.ix_(varying, varying)], expected, atol=1e-12)
    np.testing.assert_array_equal(correlations[4], 0)
    np.testing.assert_array_equal(correlations[:, 4], 0)


@chunk_sizes
def test_correlations_of_columns_far_from_zero(chunk_size):
    far = X + np.array([1e6, -1e6, 0])
    correlations = ArrayReader(far, None, chunk_size).correlations()
    np.testing.assert_allclose(correlations, np.corrcoef(far, rowvar=False), atol=1e-9)


@pytest.mark.parametrize("n_samples", [1, 6, 7, 8, 50])
@pytest.mark.parametrize("rows", [1, 7, 50, 1000])
def test_evaluate_reads_every_row_once(n_samples, rows):
    data, weights = X[:n_samples], WEIGHTS[:n_samples]
    read, found = [], np.full((n_samples, 20), np.nan)
    for here, values in evaluation.evaluate(data, PLAN, rows=rows, sample_weight=weights):
        assert values.dtype == np.float64
        assert values.shape == (20, here.stop - here.start)
        read.extend(range(here.start, here.stop))
        found[here] = values[POSITION].T
    assert read == list(range(n_samples))
    np.testing.assert_allclose(found, columns(weights, data)[0], rtol=1e-14)


# ----------------------------------------------------------------------------- kinds of arrays


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


LAYOUTS = {
    "Fortran": np.asfortranarray(X),
    "every second row": np.repeat(X, 2, axis=0)[::2],
    "every second column": np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "transposed": np.ascontiguousarray(X.T).T,
    "read-only": read_only(X),
}


@pytest.mark.parametrize("chunk_size", [7, None])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_memory_layout_does_not_matter(layout, chunk_size):
    rows, other = ArrayReader(LAYOUTS[layout], None, chunk_size), ArrayReader(X, None, chunk_size)
    for found, expected in zip(
        rows.products(PLAN, POSITION, POSITION), other.products(PLAN, POSITION, POSITION),
        strict=True,
    ):  # fmt: skip
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(rows.correlations(), other.correlations())
    np.testing.assert_array_equal(rows.triangular(PLAN, POSITION), other.triangular(PLAN, POSITION))


@pytest.mark.parametrize("chunk_size", [7, None])
def test_single_precision_rows_are_multiplied_in_double(chunk_size):
    single = X.astype(np.float32)
    rows, exact = (
        ArrayReader(single, None, chunk_size),
        ArrayReader(single.astype(float), None, chunk_size),
    )
    products, squares = rows.products(PLAN, POSITION, POSITION)
    assert products.dtype == squares.dtype == np.float64
    np.testing.assert_array_equal(products, exact.products(PLAN, POSITION, POSITION)[0])
    np.testing.assert_array_equal(rows.triangular(PLAN, POSITION), exact.triangular(PLAN, POSITION))
    # The same products in single precision differ: the test above would notice.
    values = evaluate(TERMS, single).astype(np.float32)
    assert np.abs(products - values.T @ values / np.float32(M)).max() > 1e-9


@pytest.mark.parametrize("unit", [1.0, 0.1])
@chunk_sizes
def test_integer_weights_are_repetitions(chunk_size, unit):
    """Rows of weight zero are absent."""
    weighted = ArrayReader(X, unit * WEIGHTS, chunk_size)
    repeated = ArrayReader(np.repeat(X, WEIGHTS.astype(int), axis=0), None, chunk_size)
    for found, expected in zip(
        weighted.products(PLAN, POSITION, POSITION), repeated.products(PLAN, POSITION, POSITION),
        strict=True,
    ):  # fmt: skip
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(weighted.correlations(), repeated.correlations(), atol=1e-12)
    np.testing.assert_allclose(
        weighted.triangular(PLAN, POSITION), repeated.triangular(PLAN, POSITION), atol=1e-12
    )


# ----------------------------------------------------------------------------------- memory

SMALL, LARGE = 20_000, 200_000
SLACK = 100_000  # bytes; one byte a row more would be 180,000


def peak_bytes(function):
    """Most memory that was allocated at a time while the function ran, what it returns included."""
    function()  # compiled, imported, cached
    tracemalloc.start()
    try:
        result = function()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return peak, result


@pytest.fixture(scope="module")
def many_rows():
    return np.random.default_rng(0).uniform(size=(LARGE, 4))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_memory_of_fit_does_not_grow_with_the_rows(many_rows, weighted, dtype):
    many_rows = many_rows.astype(dtype)
    weights = np.linspace(0, 2, LARGE) if weighted else None
    peaks = {}
    for m in (SMALL, LARGE):
        here = None if weights is None else weights[:m]
        fit = partial(OAVI(0.005, max_degree=4).fit, many_rows[:m], sample_weight=here)
        peaks[m], model = peak_bytes(fit)
        assert model.n_generators_ > 0
    assert peaks[LARGE] - peaks[SMALL] < SLACK
    assert peaks[LARGE] < many_rows.nbytes


def test_memory_of_an_orthogonal_factorisation_does_not_grow_with_the_rows(many_rows):
    """psi = 0 decides on the rows."""
    peaks = {}
    for m in (SMALL, LARGE):
        data = np.column_stack([many_rows[:m, :3], many_rows[:m, 0] * many_rows[:m, 1]])
        peaks[m], model = peak_bytes(partial(OAVI(0, max_degree=2).fit, data))
        assert model.n_generators_ > 0
    assert peaks[LARGE] - peaks[SMALL] < SLACK


def test_memory_of_transform_does_not_grow_with_the_rows(many_rows):
    model = OAVI(0.005, max_degree=4).fit(many_rows[:SMALL])
    extra = {}
    for m in (SMALL, LARGE):
        peak, out = peak_bytes(partial(model.transform, many_rows[:m]))
        assert out.shape == (m, model.n_generators_)
        extra[m] = peak - out.nbytes
    assert extra[LARGE] - extra[SMALL] < SLACK


# ------------------------------------------------------------------------------ BLAS threads


def blas_threads():
    """Numbers of threads of the BLAS libraries there are."""
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


def set_blas_threads(n):
    """Set it for the whole process: a thread that sets a limit alone may change it while alive."""
    setter = threading.Thread(target=threadpool_limits, args=(n,), kwargs={"user_api": "blas"})
    setter.start()
    setter.join()


@pytest.fixture
def two_threads():
    before = blas_threads()
    set_blas_threads(2)
    if blas_threads() != {2}:
        pytest.skip("this BLAS cannot be told to use two threads")
    yield
    set_blas_threads(max(before))


def spying_oracle(seen):
    """An oracle that notes how many threads BLAS has while a fit runs."""

    def oracle(gram, cross, norm, *, psi, radius):
        seen.append(blas_threads())
        return -np.linalg.lstsq(gram, cross, rcond=None)[0], 0.0

    return oracle


def test_fit_holds_blas_to_one_thread_and_gives_them_back(two_threads):
    seen = []
    OAVI(0.01, oracle=spying_oracle(seen)).fit(X)
    assert seen
    assert all(threads == {1} for threads in seen)
    assert blas_threads() == {2}


def test_threads_come_back_after_an_exception(two_threads):
    seen = []

    def failing(gram, cross, norm, *, psi, radius):
        seen.append(blas_threads())
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        OAVI(0.01, oracle=failing).fit(X)
    assert seen == [{1}]
    assert blas_threads() == {2}


def test_threads_come_back_after_transform(two_threads):
    model = OAVI(0.01).fit(X)
    model.transform(X)
    model.generators_[0](X)
    model.generators_[0].gradient(X)
    assert blas_threads() == {2}


@pytest.mark.parametrize("first_out", ["main", "worker"])
@pytest.mark.parametrize("first_in", ["main", "worker"])
def test_overlapping_users_give_the_threads_back(two_threads, first_in, first_out):
    """Whoever comes first or leaves first: in the end BLAS has the threads it had."""
    inside, leave = threading.Event(), threading.Event()

    def use():
        with one_blas_thread():
            inside.set()
            leave.wait(10)

    worker = threading.Thread(target=use)
    main = one_blas_thread()
    if first_in == "main":
        main.__enter__()
    worker.start()
    assert inside.wait(10)
    if first_in == "worker":
        main.__enter__()
    assert blas_threads() == {1}
    if first_out == "main":
        main.__exit__(None, None, None)
    leave.set()
    worker.join()
    if first_out == "worker":
        main.__exit__(None, None, None)
    assert blas_threads() == {2}


def test_nested_users_give_the_threads_back_at_the_end(two_threads):
    with one_blas_thread():
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_concurrent_fits_agree_and_give_the_threads_back(two_threads):
    alone = OAVI(0.01).fit(X)
    barrier = threading.Barrier(4)

    def work(_):
        barrier.wait(10)
        return [OAVI(0.01).fit(X) for _ in range(10)]

    with ThreadPoolExecutor(4) as workers:  # all alive while they fit
        models = [model for part in workers.map(work, range(4)) for model in part]
        assert blas_threads() == {2}
    for model in models:
        np.testing.assert_array_equal(model.terms_, alone.terms_)
        np.testing.assert_array_equal(model.coef_, alone.coef_)


def test_a_fit_in_a_thread_leaves_the_setting_to_others(two_threads):
    """A thread that has fitted and lives on must not keep hold of BLAS."""
    with ThreadPoolExecutor(1) as worker:
        worker.submit(OAVI(0.01).fit, X).result()
        with threadpool_limits(1, user_api="blas"):
            assert blas_threads() == {1}
        assert blas_threads() == {2}
        seen = []
        OAVI(0.01, oracle=spying_oracle(seen)).fit(X)
        assert all(threads == {1} for threads in seen)
