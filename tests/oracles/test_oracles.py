"""Oracles on random problems, against reference solvers that prove their own optimum."""

import warnings
from functools import cache

import numpy as np
import pytest
import reference
from helpers import BALL_ORACLES, ORACLES, as_tuples
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LinearRegression

from vanishing import OAVI, oracles
from vanishing.oracles import Status

CONDITIONAL_GRADIENTS = ("pcg", "bpcg", "afw", "cg")
FAST = ("pcg", "bpcg", "afw")  # linear convergence


def moments(A, b):
    """G, c and d of a least-squares problem."""
    return A.T @ A / len(b), A.T @ b / len(b), float(b @ b / len(b))


def value(gram, cross, norm, v):
    """f(v) = v'Gv + 2 c'v + d."""
    return v @ gram @ v + 2 * cross @ v + norm


def random_problem(seed, k, m=40):
    """Columns of different lengths that correlate, and a target they explain in part."""
    rng = np.random.default_rng(seed)
    A = (rng.normal(size=(m, k)) + rng.normal(size=(m, 1))) * rng.uniform(0.3, 2, size=k)
    b = A @ rng.normal(size=k) + rng.normal(scale=0.5, size=m)
    return A, b


def deficient_problem(seed):
    """Seven columns of rank three, one of them zero, one of them twice."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 7))
    A[:, 4], A[:, 5] = 0, A[:, 1]
    return A, rng.normal(size=40)


PROBLEMS = {
    **{f"k = {k}, seed {seed}": random_problem(seed, k) for k in (1, 2, 5, 9) for seed in (0, 1)},
    "deficient, seed 0": deficient_problem(0),
    "deficient, seed 1": deficient_problem(1),
    "more terms than rows": random_problem(2, 8, m=5),
}
# Radii as fractions of the l1-norm of the least-squares solution: balls that bind or do not.
PAIRS = [(name, share) for name in PROBLEMS for share in (0.3, 3.0)]
on_every_problem = pytest.mark.parametrize("name", PROBLEMS)
on_every_ball = pytest.mark.parametrize("name, share", PAIRS)
# Where the minimum is above zero.
with_a_positive_minimum = pytest.mark.parametrize(
    "name, share", [pair for pair in PAIRS if pair != ("more terms than rows", 3.0)]
)


def problem(name, share):
    A, b = PROBLEMS[name]
    radius = share * np.abs(reference.least_squares(A, b)[0]).sum()
    return *moments(A, b), radius


# -------------------------------------------------------------------------- the reference solver


def project(v, radius):
    """Project onto the l1-ball: soft thresholding by what makes the norm equal to the radius."""
    if np.abs(v).sum() <= radius:
        return v
    sizes = np.sort(np.abs(v))[::-1]
    thresholds = (np.cumsum(sizes) - radius) / np.arange(1, v.size + 1)
    threshold = thresholds[np.flatnonzero(sizes > thresholds)[-1]]
    return np.sign(v) * np.maximum(np.abs(v) - threshold, 0)


def gap_at(gram, cross, radius, v):
    """max <f'(v), v - s> over s in the ball: by convexity at least f(v) - min f."""
    half_gradient = gram @ v + cross
    return 2 * (half_gradient @ v + radius * np.abs(half_gradient).max())


def ball_minimum(gram, cross, norm, radius):
    """FISTA with restarts on the l1-ball, until the gap proves it good for ten digits."""
    step = 1 / np.linalg.eigvalsh(gram)[-1]
    v = y = np.zeros(cross.size)
    t = 1.0
    for i in range(100_000):
        if i % 100 == 0 and gap_at(gram, cross, radius, v) <= 1e-10 * norm:
            return value(gram, cross, norm, v)
        new = project(y - step * (gram @ y + cross), radius)
        if (y - new) @ (new - v) > 0:
            t, y = 1.0, v
            continue
        t_new = (1 + np.sqrt(1 + 4 * t * t)) / 2
        y = new + (t - 1) / t_new * (new - v)
        v, t = new, t_new
    raise AssertionError("the reference did not converge")


@cache
def minimum(name, share):
    """The minimum on the ball."""
    return ball_minimum(*problem(name, share))


def test_reference_by_hand():
    """min (v - 3)^2 on [-1, 1] is 4, and on [-5, 5] it is 0."""
    one = np.array([[1.0]]), np.array([-3.0]), 9.0
    assert ball_minimum(*one, 1.0) == pytest.approx(4, rel=1e-12)
    assert ball_minimum(*one, 5.0) == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(project(np.array([3.0, -1.0, 0.5]), 2.0), [2, 0, 0])
    np.testing.assert_allclose(project(np.array([3.0, -2.0, 0.5]), 2.0), [1.5, -0.5, 0])


# ------------------------------------------------------------------------------ on every problem


def check(solution, gram, cross, norm, radius, psi):
    """What holds whatever the status: inside the ball, mse and gap as they should be."""
    v = solution.coef
    scale = norm + np.abs(v) @ np.abs(gram) @ np.abs(v)
    assert v.shape == cross.shape
    assert np.abs(v).sum() <= radius * (1 + 1e-12)
    assert solution.mse == pytest.approx(value(gram, cross, norm, v), abs=1e-12 * scale)
    assert (solution.mse <= psi) == (solution.status == Status.FOUND)
    if not np.isnan(solution.gap):
        gap = gap_at(gram, cross, radius, v)
        assert solution.gap == pytest.approx(gap, rel=1e-6, abs=1e-10 * scale)


@on_every_ball
@pytest.mark.parametrize("oracle", BALL_ORACLES)
def test_feasible_at_every_step(oracle, name, share):
    gram, cross, norm, radius = problem(name, share)
    psi = 0.9 * minimum(name, share)
    last = np.inf
    for max_iter in [*range(1, 30), 100, 1000]:
        solution = oracles.ORACLES[oracle](
            gram, cross, norm, psi=psi, radius=radius, eps=0, tol=0, max_iter=max_iter
        )
        check(solution, gram, cross, norm, radius, psi)
        assert solution.n_iter <= max_iter
        assert solution.mse <= last + 1e-12 * norm
        last = solution.mse
    assert last >= minimum(name, share) - 1e-9 * norm


@with_a_positive_minimum
@pytest.mark.parametrize("oracle", FAST)
def test_optimum(oracle, name, share):
    """A hair below the minimum the proof that none exists needs the minimum itself, nearly."""
    gram, cross, norm, radius = problem(name, share)
    psi = minimum(name, share) - 1e-6 * norm
    solution = oracles.ORACLES[oracle](
        gram, cross, norm, psi=psi, radius=radius, eps=0, tol=0, max_iter=100_000
    )
    check(solution, gram, cross, norm, radius, psi)
    assert solution.status == Status.NONE_EXISTS
    assert solution.mse == pytest.approx(minimum(name, share), abs=1.01e-6 * norm)


@on_every_ball
@pytest.mark.parametrize("oracle", CONDITIONAL_GRADIENTS)
def test_psi_above_the_minimum_is_found(oracle, name, share):
    gram, cross, norm, radius = problem(name, share)
    psi = minimum(name, share) + 0.02 * norm
    solution = oracles.ORACLES[oracle](
        gram, cross, norm, psi=psi, radius=radius, eps=0, tol=0, max_iter=100_000
    )
    assert solution.status == Status.FOUND
    assert value(gram, cross, norm, solution.coef) <= psi
    check(solution, gram, cross, norm, radius, psi)


@with_a_positive_minimum
@pytest.mark.parametrize("oracle", CONDITIONAL_GRADIENTS)
def test_psi_below_the_minimum_is_proved_to_be(oracle, name, share):
    gram, cross, norm, radius = problem(name, share)
    psi = 0.7 * minimum(name, share)
    solution = oracles.ORACLES[oracle](
        gram, cross, norm, psi=psi, radius=radius, eps=0, tol=0, max_iter=100_000
    )
    assert solution.status == Status.NONE_EXISTS
    assert solution.mse - solution.gap > psi
    check(solution, gram, cross, norm, radius, psi)


@pytest.mark.parametrize("eps", [1.0, 0.1, 1e-2])
@with_a_positive_minimum
@pytest.mark.parametrize("oracle", CONDITIONAL_GRADIENTS)
def test_accuracy(oracle, name, share, eps):
    """ACCURATE: the gap is at most eps psi, and bounds the distance to the minimum."""
    gram, cross, norm, radius = problem(name, share)
    psi = minimum(name, share) - 1e-7 * norm  # never found, and proved hardly before that
    solution = oracles.ORACLES[oracle](
        gram, cross, norm, psi=psi, radius=radius, eps=eps, tol=0, max_iter=100_000
    )
    check(solution, gram, cross, norm, radius, psi)
    if solution.status == Status.NONE_EXISTS:  # the gap fell to zero at once
        assert minimum(name, share) > psi
        return
    assert solution.status == Status.ACCURATE
    assert solution.gap <= eps * psi
    assert -1e-9 * norm <= solution.mse - minimum(name, share) <= solution.gap + 1e-9 * norm


@pytest.mark.parametrize("oracle", CONDITIONAL_GRADIENTS)
def test_a_larger_eps_stops_earlier(oracle):
    gram, cross, norm, radius = problem("k = 9, seed 1", 3.0)
    limits = {"psi": (1 - 1e-7) * minimum("k = 9, seed 1", 3.0), "radius": radius, "tol": 0}
    limits["max_iter"] = 1_000_000
    loose, tight = (
        oracles.ORACLES[oracle](gram, cross, norm, **limits, eps=eps) for eps in (1.0, 1e-3)
    )
    assert loose.status == tight.status == Status.ACCURATE
    assert loose.n_iter < tight.n_iter
    assert loose.mse > tight.mse


@on_every_problem
@pytest.mark.parametrize("oracle", CONDITIONAL_GRADIENTS)
def test_little_progress_stops_it(oracle, name):
    gram, cross, norm, radius = problem(name, 0.3)
    psi = 0.999 * minimum(name, 0.3)
    limits = {"psi": psi, "radius": radius, "eps": 0, "tol": 1e-3}
    solution = oracles.ORACLES[oracle](gram, cross, norm, **limits)
    if solution.status == Status.NONE_EXISTS:
        return  # done before progress was small
    assert solution.status == Status.STALLED
    del limits["tol"]
    values = [
        oracles.ORACLES[oracle](gram, cross, norm, **limits, tol=0, max_iter=n).mse
        for n in range(max(1, solution.n_iter - 3), solution.n_iter + 1)
    ]
    progress = -np.diff(values)
    assert np.all(progress[:-1] >= 1e-3 * psi)
    assert progress[-1:] < 1e-3 * psi


@pytest.mark.parametrize("oracle", [*CONDITIONAL_GRADIENTS, "agd", "omp"])
def test_out_of_iterations(oracle):
    gram, cross, norm, radius = problem("k = 9, seed 0", 3.0)
    solution = oracles.ORACLES[oracle](
        gram, cross, norm, psi=1.001 * minimum("k = 9, seed 0", 3.0), radius=radius, max_iter=3
    )
    assert solution.status == Status.OUT_OF_ITERATIONS
    assert solution.n_iter == 3


@pytest.mark.parametrize("oracle", ORACLES)
def test_a_target_below_psi_is_found_at_once(oracle):
    """f(0) <= psi: nothing to do for those that start at zero, little for the others."""
    gram, cross, norm, radius = problem("k = 5, seed 0", 3.0)
    solution = oracles.ORACLES[oracle](gram, cross, norm, psi=norm, radius=radius)
    assert solution.status == Status.FOUND
    assert value(gram, cross, norm, solution.coef) <= norm * (1 + 1e-12)
    if oracle in ("agd", "omp"):
        np.testing.assert_array_equal(solution.coef, 0)
        assert solution.n_iter == 0


@pytest.mark.parametrize("oracle", ORACLES)
@on_every_problem
def test_only_the_leading_block_of_the_gram_matrix_is_read(oracle, name):
    gram, cross, norm, radius = problem(name, 3.0)
    k = cross.size
    larger = np.full((k + 3, k + 3), np.nan)
    larger[:k, :k] = gram
    limits = {"psi": minimum(name, 3.0) + 0.01 * norm, "radius": radius}
    exact = oracles.ORACLES[oracle](gram, cross, norm, **limits)
    within = oracles.ORACLES[oracle](larger, cross, norm, **limits)
    np.testing.assert_array_equal(within.coef, exact.coef)
    assert within[1:] == pytest.approx(exact[1:], nan_ok=True, abs=0, rel=0)


@pytest.mark.parametrize("oracle", ORACLES)
def test_arguments_are_left_alone(oracle):
    gram, cross, norm, radius = problem("k = 5, seed 0", 0.3)
    arguments = gram.copy(), cross.copy()
    oracles.ORACLES[oracle](*arguments, norm, psi=1e-3, radius=radius)
    np.testing.assert_array_equal(arguments[0], gram)
    np.testing.assert_array_equal(arguments[1], cross)


# ------------------------------------------------------------- pairwise conditional gradients

STATUS_OF_THE_REFERENCE = {
    "found": Status.FOUND,
    "none": Status.NONE_EXISTS,
    "accurate": Status.ACCURATE,
    "stalled": Status.STALLED,
    "exhausted": Status.OUT_OF_ITERATIONS,
}


def check_trajectory(name, share, psi, **limits):
    A, b = PROBLEMS[name]
    gram, cross, norm, radius = problem(name, share)
    solution = oracles.pcg(gram, cross, norm, psi=psi, radius=radius, **limits)
    v, mse, status, steps = reference.pcg(A, b, psi=psi, radius=radius, **limits)
    assert solution.n_iter == steps
    assert solution.status == STATUS_OF_THE_REFERENCE[status]
    np.testing.assert_allclose(solution.coef, v, rtol=0, atol=1e-9 * max(1, radius))
    assert solution.mse == pytest.approx(mse, rel=1e-9, abs=1e-12 * norm)
    return status, steps


@pytest.mark.parametrize("share", [0.3, 3.0, 100.0])
@on_every_problem
def test_pcg_takes_the_steps_of_the_paper(name, share):
    """Same statuses after the same number of steps at the same point."""
    norm, best = problem(name, share)[2], minimum(name, min(share, 3.0))
    for excess in (-0.1, -1e-2, -1e-3, 1e-3, 1e-2, 0.1):
        if best + excess * norm > 0:
            check_trajectory(name, share, best + excess * norm)


def test_pcg_takes_many_steps_of_the_paper():
    """The test above would be empty if it were done after a step or two."""
    best = minimum("k = 9, seed 0", 3.0)
    assert check_trajectory("k = 9, seed 0", 3.0, 1.0001 * best)[0] == "found"
    assert check_trajectory("k = 9, seed 0", 3.0, 1.0001 * best)[1] > 50
    assert check_trajectory("k = 9, seed 0", 3.0, 1.0001 * best, max_iter=40) == ("exhausted", 40)
    assert check_trajectory("k = 9, seed 0", 3.0, 0.99999 * best, tol=0)[0] == "accurate"
    assert check_trajectory("k = 9, seed 0", 3.0, 0.999 * best, tol=1e-2)[0] == "stalled"


def test_dropping_the_last_vertex_keeps_the_weights():
    """A known mistake: the active set is corrupted when the vertex dropped is the last one."""
    drops = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        A = rng.normal(size=(30, 3)) + 3 * rng.normal(size=(30, 1))
        b = rng.normal(size=30) + A @ rng.normal(size=3)
        gram, cross, norm = moments(A, b)
        radius = 0.2 * np.abs(reference.least_squares(A, b)[0]).sum()
        psi = (1 - 1e-6) * ball_minimum(gram, cross, norm, radius)
        limits = {"psi": psi, "radius": radius, "eps": 0, "tol": 0}
        before = np.zeros(3)
        for max_iter in range(1, 12):
            solution = oracles.pcg(gram, cross, norm, **limits, max_iter=max_iter)
            v, _, _, steps = reference.pcg(A, b, **limits, max_iter=max_iter)
            assert solution.n_iter == steps
            np.testing.assert_allclose(solution.coef, v, rtol=0, atol=1e-10)
            check(solution, gram, cross, norm, radius, psi)
            drops += np.any(solution.coef[np.flatnonzero(before)[-1:]] == 0)
            before = solution.coef
    assert drops >= 3  # else this shows nothing


# -------------------------------------------------------------------------- away and blended steps


def solve_closely(oracle, seed):
    """The minimum on a face of a ball that binds, to five digits."""
    A, b = random_problem(seed, 5)
    gram, cross, norm = moments(A, b)
    radius = 0.3 * np.abs(reference.least_squares(A, b)[0]).sum()
    psi = (1 - 1e-7) * ball_minimum(gram, cross, norm, radius)
    limits = {"eps": 1e-5, "tol": 0, "max_iter": 1_000_000}
    return oracles.ORACLES[oracle](gram, cross, norm, psi=psi, radius=radius, **limits)


@pytest.mark.parametrize("seed", [0, 12, 17, 24])
def test_away_steps_are_much_faster_than_vanilla_ones(seed):
    slow = solve_closely("cg", seed)
    assert slow.status == Status.ACCURATE
    for oracle in FAST:
        fast = solve_closely(oracle, seed)
        assert slow.n_iter > 100 * fast.n_iter
        assert fast.mse == pytest.approx(slow.mse, rel=1e-5)


@pytest.mark.parametrize("seed", [0, 12])
def test_away_steps_drop_the_start_vertex(seed):
    """Vanilla steps only shrink its weight; here it is not part of the solution."""
    assert 0 < solve_closely("cg", seed).coef[0] < 1e-3
    for oracle in FAST:
        assert solve_closely(oracle, seed).coef[0] == 0


# ------------------------------------------------------------------------------- without the ball


@on_every_problem
def test_closed_form(name):
    A, b = PROBLEMS[name]
    gram, cross, norm = moments(A, b)
    v, mse = reference.least_squares(A, b)
    solution = oracles.ls(gram, cross, norm, psi=mse + 1e-9 * norm)
    assert solution.status == Status.FOUND
    assert solution.mse == pytest.approx(mse, abs=1e-10 * norm)
    np.testing.assert_allclose(A @ solution.coef, A @ v, atol=1e-6)
    if mse > 1e-6 * norm:
        assert oracles.ls(gram, cross, norm, psi=0.999 * mse).status == Status.ACCURATE


@on_every_problem
def test_accelerated_gradients_reach_least_squares(name):
    A, b = PROBLEMS[name]
    gram, cross, norm = moments(A, b)
    v, mse = reference.least_squares(A, b)
    limits = {"psi": max(0.5 * mse, 1e-9 * norm), "tol": 1e-12, "max_iter": 100_000}
    solution = oracles.agd(gram, cross, norm, **limits)
    expected = Status.STALLED if mse > 1e-9 * norm else Status.FOUND
    assert solution.status == expected
    assert solution.mse == pytest.approx(value(gram, cross, norm, solution.coef), abs=1e-12 * norm)
    assert solution.mse == pytest.approx(mse, rel=1e-6, abs=1e-8 * norm)
    np.testing.assert_allclose(A @ solution.coef, A @ v, atol=1e-3)


def test_accelerated_gradients_are_accelerated():
    """Condition number 10^4: gradient descent would take some 10^5 steps."""
    gram = np.diag(np.geomspace(1e-4, 1, 20))
    cross = -gram.diagonal()
    norm = gram.sum() + 0.1
    solution = oracles.agd(gram, cross, norm, psi=0.1 + 1e-8, tol=0, max_iter=100_000)
    assert solution.status == Status.FOUND
    assert 100 < solution.n_iter < 3000
    np.testing.assert_allclose(solution.coef, 1, atol=0.02)


@on_every_problem
@pytest.mark.parametrize("share", [0.5, 1.01, 1.5])
def test_published_gradients_step_by_step(name, share):
    """The same steps as on the rows, whether they find a generator or not."""
    A, b = PROBLEMS[name]
    gram, cross, norm = moments(A, b)
    psi = max(share * reference.least_squares(A, b)[1], 1e-6 * norm)
    for limits in ({"max_iter": 1}, {"max_iter": 7}, {}, {"tol": 1e-3}):
        solution = oracles.agd_as_published(gram, cross, norm, psi=psi, **limits)
        coef, mse, n_iter = reference.agd(A, b, psi=psi, **limits)
        assert solution.n_iter == n_iter
        assert (solution.status == Status.FOUND) == (mse <= psi)
        assert solution.mse == pytest.approx(mse, rel=1e-9, abs=1e-12 * norm)
        np.testing.assert_allclose(solution.coef, coef, rtol=1e-7, atol=1e-9)


def test_published_gradients_take_a_step_where_nothing_is_to_be_done():
    """By hand: the largest eigenvalue of 2G is 2 and the gradient at zero 2c."""
    gram, cross = np.diag([1.0, 0.25]), np.array([0.0, 0.25])
    solution = oracles.agd_as_published(gram, cross, 0.3, psi=0.5)
    np.testing.assert_allclose(solution.coef, [0.0, -0.25])
    assert solution.n_iter == 1
    assert solution.status == Status.FOUND


# ---------------------------------------------------------------------------- greedy least squares


def greedy(A, b, psi, radius):
    """Orthogonal matching pursuit on the columns; the last iterate inside the ball."""
    support, coef, residual = [], np.zeros(A.shape[1]), b
    while np.mean(residual**2) > psi:
        lengths = np.linalg.norm(A, axis=0)
        correlation = np.abs(A.T @ residual) / np.where(lengths > 0, lengths, np.inf)
        correlation[support] = 0
        if correlation.max() <= 1e-9:
            break
        # Of columns that are equal but for rounding the first.
        support.append(int(np.flatnonzero(correlation >= (1 - 1e-9) * correlation.max())[0]))
        values = reference.least_squares(A[:, support], b)[0]
        if np.abs(values).sum() > radius:
            break
        coef = np.zeros(A.shape[1])
        coef[support] = values
        residual = A @ coef + b
    size = len(support)
    if np.mean(residual**2) <= psi:
        coef = without_the_least(A, b, psi, radius, sorted(support), coef)
    return coef, np.mean((A @ coef + b) ** 2), size


def without_the_least(A, b, psi, radius, support, coef):
    """Drop columns, the least important first, while the mse stays at most psi in the ball."""
    while True:
        shorter = []
        for i in reversed(support):
            rest = [j for j in support if j != i]
            values, mse = reference.least_squares(A[:, rest], b)
            if mse <= psi and np.abs(values).sum() <= radius:
                shorter.append((mse, rest, values))
        if not shorter:
            return coef
        # Of columns that are equal but for rounding the last.
        least = min(mse for mse, *_ in shorter)
        support, values = next(found[1:] for found in shorter if found[0] <= least + 1e-12)
        coef = np.zeros_like(coef)
        coef[support] = values


@pytest.mark.parametrize("share", [0.3, 0.8, 3.0])
@on_every_problem
def test_omp_selects_greedily(name, share):
    A, b = PROBLEMS[name]
    gram, cross, norm, radius = problem(name, share)
    for psi in np.geomspace(1e-6, 0.99, 12) * norm:
        v, mse, size = greedy(A, b, psi, radius)
        solution = oracles.omp(gram, cross, norm, psi=psi, radius=radius)
        np.testing.assert_allclose(solution.coef, v, rtol=0, atol=1e-8)
        assert solution.mse == pytest.approx(mse, abs=1e-10 * norm)
        assert solution.n_iter == size
        assert np.abs(solution.coef).sum() <= radius * (1 + 1e-12)
        assert (solution.status == Status.FOUND) == (mse <= psi)


def planted_law(seed=0, n_rows=300):
    """Rows of u v w + 1.111 w = 1.057 v + 1.055 u, with noise of 0.1 % on each column."""
    rng = np.random.default_rng(seed)
    u, v = rng.uniform(0, 5, size=(2, n_rows))
    X = np.column_stack([u, v, (1.057 * v + 1.055 * u) / (u * v + 1.111)])
    return X + 1e-3 * X.std(axis=0) * rng.normal(size=X.shape)


@pytest.mark.parametrize("seed", range(5))
def test_omp_drops_what_it_no_longer_needs(seed):
    """On its way to the law it takes up to eight terms that the law does not have."""
    X = planted_law(seed)
    model = OAVI(1e-4, oracle="omp", max_degree=3).fit(X)
    assert as_tuples(model.leading_terms_) == [(1, 1, 1)]
    found = dict(zip(as_tuples(model.terms_), model.coef_[0], strict=True))
    found = {term: value for term, value in found.items() if value}
    assert found.keys() == {(1, 0, 0), (0, 1, 0), (0, 0, 1)}
    expected = [-1.055, -1.057, 1.111]
    np.testing.assert_allclose(list(found.values()), expected, rtol=0.01)
    again = OAVI(1e-4, oracle="omp", max_degree=3).fit(X[np.random.default_rng(9).permutation(300)])
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=0, atol=1e-9)


def test_omp_drops_nothing_that_the_ball_needs():
    """Without the third column the others would have to be too large."""
    A = np.random.default_rng(1427).normal(size=(6, 4)).round(1) * [1.0, 0.1, 1.0, 1.0]
    gram, cross, norm = moments(A, -A.sum(axis=1).round(1))
    free = oracles.omp(gram, cross, norm, psi=0.05 * norm, radius=1000.0)
    assert free.n_iter == 3
    assert np.flatnonzero(free.coef).tolist() == [0, 3]
    radius = 0.95 * np.abs(free.coef).sum()
    solution = oracles.omp(gram, cross, norm, psi=0.05 * norm, radius=radius)
    assert np.flatnonzero(solution.coef).tolist() == [0, 2, 3]
    assert np.abs(solution.coef).sum() <= radius
    assert solution.mse <= 0.05 * norm


def nearly_dependent(seed):
    """Columns that nearly depend on each other, and a target made of three of them."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(60, 12)) @ np.diag(np.geomspace(1, 1e-2, 12)) @ rng.normal(size=(12, 12))
    return A, -A[:, [2, 5, 7]] @ [1.0, -2.0, 0.5]


@pytest.mark.parametrize("psi", [1e-3, 1e-8, 1e-14])
@pytest.mark.parametrize("seed", range(5))
def test_omp_leaves_nothing_of_the_size_of_rounding(seed, psi):
    gram, cross, norm = moments(*nearly_dependent(seed))
    solution = oracles.omp(gram, cross, norm, psi=psi * norm, radius=1e3)
    assert solution.status == Status.FOUND
    assert solution.mse <= psi * norm
    share = np.abs(solution.coef) * np.sqrt(gram.diagonal() / norm)
    assert share[share > 0].min() > 1e-3
    if psi <= 1e-8:
        np.testing.assert_array_equal(np.flatnonzero(solution.coef), [2, 5, 7])


def test_omp_leaves_no_rounding_where_psi_is_below_it():
    """Whether f <= psi is a matter of its last digit then: some of these runs find it so."""
    n_found = 0
    for seed in range(30):
        gram, cross, norm = moments(*nearly_dependent(seed))
        solution = oracles.omp(gram, cross, norm, psi=1e-40, radius=1e3)
        if solution.status == Status.FOUND:
            n_found += 1
            np.testing.assert_array_equal(np.flatnonzero(solution.coef), [2, 5, 7])
    assert n_found >= 10


@pytest.mark.parametrize("seed, share", [(10, 0.002), (36, 0.1), (84, 0.1), (300, 0.01)])
def test_omp_drops_the_last_of_terms_that_matter_equally(seed, share):
    """Rounding must not choose: half of the rows are the others with two columns exchanged."""
    half = np.random.default_rng(seed).normal(size=(4, 4))
    A = np.vstack([half, half[:, [1, 0, 2, 3]]])
    b = -A @ [0.3, 0.3, 1.0, 1.0]
    for rows in np.array([np.random.default_rng(i).permutation(8) for i in range(10)]):
        gram, cross, norm = moments(A[rows], b[rows])
        solution = oracles.omp(gram, cross, norm, psi=share * norm, radius=1000.0)
        assert solution.n_iter == 4
        assert np.flatnonzero(solution.coef).tolist() == [0, 2, 3]


def test_omp_says_why_it_stopped():
    gram, cross, norm = np.eye(2), np.array([-2.0, -1.0]), 6.0  # minimum 1 at (2, 1)
    statuses = {
        (6.0, 9.0): (Status.FOUND, [0, 0]),
        (2.5, 9.0): (Status.FOUND, [2, 0]),
        (1.5, 9.0): (Status.FOUND, [2, 1]),
        (0.5, 9.0): (Status.ACCURATE, [2, 1]),
        (1.5, 2.5): (Status.STALLED, [2, 0]),
        (1.5, 1.5): (Status.STALLED, [0, 0]),
    }
    for (psi, radius), (status, coef) in statuses.items():
        solution = oracles.omp(gram, cross, norm, psi=psi, radius=radius)
        assert solution.status == status
        np.testing.assert_allclose(solution.coef, coef, atol=1e-15)


# ----------------------------------------------------------------------------------- the registry


@pytest.mark.parametrize("oracle", ORACLES)
def test_the_registry_says_who_keeps_to_the_ball(oracle):
    gram, cross, norm, radius = problem("k = 9, seed 0", 0.3)
    psi = 1.001 * minimum("k = 9, seed 0", 3.0)
    solution = oracles.ORACLES[oracle](gram, cross, norm, psi=psi, radius=radius)
    inside = np.abs(solution.coef).sum() <= radius * (1 + 1e-12)
    assert inside == oracles.ORACLES[oracle].constrained
    assert (solution.status == Status.FOUND) != oracles.ORACLES[oracle].constrained


@pytest.mark.parametrize("oracle", ORACLES)
def test_a_named_oracle_is_its_public_function(oracle):
    assert oracles.named(oracle) is oracles.ORACLES[oracle]
    assert oracles.ORACLES[oracle].solve is getattr(oracles, oracle)
    assert oracles.ORACLES[oracle].closed_form == (oracle == "ls")


@pytest.mark.parametrize("closed_form", [True, False])
@pytest.mark.parametrize("constrained", [True, False])
def test_a_new_oracle_needs_an_entry_in_the_registry_alone(monkeypatch, constrained, closed_form):
    """OAVI asks it for coefficients, or steps in with its closed form, inside the ball or not."""
    asked = []

    def useless(gram, cross, norm, *, psi, radius, **options):
        asked.append(radius)
        return oracles.Solution(np.zeros_like(cross), norm, np.nan, 1, Status.STALLED)

    new = oracles.Oracle(useless, constrained=constrained, closed_form=closed_form)
    monkeypatch.setitem(oracles.ORACLES, "new", new)
    X = 0.5 + 10 * (noisy_circle() - 0.5)  # with coefficients that a small ball does not hold
    model = OAVI(0.9, oracle="new", tau=2.0, max_degree=2)
    exact = OAVI(0.9, oracle="ls", max_degree=2).fit(X)
    if constrained and not closed_form:
        with pytest.warns(ConvergenceWarning, match="tau"):
            model.fit(X)
    else:
        model.fit(X)
        np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-6, atol=1e-9)
    assert (not asked) == closed_form


# --------------------------------------------------------------------------------- any callable


def ask(result, k=3):
    """Let an oracle that returns ``result`` solve a problem with k terms."""
    gram, cross = np.eye(k + 2), np.full(k, -0.1)
    return oracles.custom(lambda *_, **__: result)(gram, cross, 1.0, psi=0.5, radius=2.0)


@pytest.mark.parametrize("result", [None, 1.0, np.zeros(3), (1, 2, 3), [np.zeros(3)]])
def test_custom_oracle_must_return_a_pair(result):
    with pytest.raises(TypeError, match="must return a pair"):
        ask(result)


@pytest.mark.parametrize(
    "coef", [0.0, np.zeros(2), np.zeros(4), np.zeros((3, 1)), np.zeros((1, 3))]
)
def test_custom_oracle_must_return_the_right_shape(coef):
    with pytest.raises(ValueError, match=r"shape \(3,\).*got shape"):
        ask((coef, 0.1))


@pytest.mark.parametrize(
    "coef",
    [
        [0, np.nan, 0],
        [0, np.inf, 0],
        np.zeros(3, dtype=complex),
        ["a", "b", "c"],
        [None, 0, 0],
        [True, False, True],
    ],
)
def test_custom_oracle_must_return_finite_real_numbers(coef):
    with pytest.raises(ValueError, match="finite real coefficients"):
        ask((coef, 0.1))


def test_custom_oracle_is_an_oracle():
    oracle = oracles.named(lambda *_, **__: (np.zeros(3), 0.0))
    assert isinstance(oracle, oracles.Oracle)
    assert oracle.constrained
    assert not oracle.closed_form


def test_custom_oracle_is_not_believed():
    """The mse it claims is recomputed, and decides."""
    solution = ask(([0.1, 0.1, 0.1], 0.0))
    assert solution.mse == pytest.approx(0.97, abs=1e-15)
    assert solution.status != Status.FOUND
    solution = ask(([2, -1, 0], np.nan))
    assert solution.mse == pytest.approx(1 + 5 - 0.2, abs=1e-15)
    assert solution.coef.dtype == np.float64


def test_custom_oracle_sees_exactly_its_problem():
    def oracle(gram, cross, norm, *, psi, radius):
        assert gram.shape == (3, 3)
        assert (psi, radius, norm) == (0.5, 2.0, 1.0)
        gram[:], cross[:] = np.nan, np.nan  # its own copies
        return np.full(3, 0.1), None

    gram, cross = np.eye(5), np.full(3, -0.1)
    solution = oracles.custom(oracle)(gram, cross, 1.0, psi=0.5, radius=2.0, eps=1e-3, tol=1e-6)
    np.testing.assert_array_equal(gram, np.eye(5))
    np.testing.assert_array_equal(cross, -0.1)
    assert solution.mse == pytest.approx(0.97, abs=1e-15)


def regression(regressor):
    """A scikit-learn regressor as an oracle: a square root of the moments stands for the rows."""

    def oracle(gram, cross, norm, *, psi, radius):
        both = np.block([[gram, cross[:, np.newaxis]], [cross, norm]])
        values, vectors = np.linalg.eigh(both)
        rows = np.sqrt(np.maximum(values, 0))[:, np.newaxis] * vectors.T
        coef = regressor.fit(rows[:, :-1], -rows[:, -1]).coef_
        return coef, None

    return oracle


def noisy_circle():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 100)
    X = 0.5 + 0.45 * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + rng.normal(scale=0.01, size=X.shape)


@pytest.mark.parametrize("certify", [True, False])
def test_linear_regression_is_the_closed_form(certify):
    X = noisy_circle()
    oracle = regression(LinearRegression(fit_intercept=False))
    model = OAVI(0.001, oracle=oracle, certify=certify).fit(X)
    exact = OAVI(0.001, oracle="ls").fit(X)
    assert model.n_generators_ > 0
    assert as_tuples(model.terms_) == as_tuples(exact.terms_)
    assert as_tuples(model.leading_terms_) == as_tuples(exact.leading_terms_)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-6)


@pytest.mark.parametrize("certify", [True, False])
def test_lasso_gives_sparse_generators(certify):
    X = noisy_circle()
    oracle = regression(Lasso(alpha=1e-4, fit_intercept=False, max_iter=100_000, tol=1e-10))
    model = OAVI(0.001, oracle=oracle, certify=certify).fit(X)
    assert model.n_generators_ > 0
    assert np.all(model.mse_ <= 0.001)
    np.testing.assert_allclose(np.mean(model.transform(X) ** 2, axis=0), model.mse_, rtol=1e-9)
    assert model.sparsity_ > OAVI(0.001, oracle="ls").fit(X).sparsity_


def test_an_oracle_that_never_finds_anything():
    """Certified, the closed form steps in; to the letter, nothing vanishes."""
    X = noisy_circle()

    def useless(gram, cross, norm, *, psi, radius):
        return np.zeros_like(cross), 0.0

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = OAVI(0.001, oracle=useless).fit(X)
    np.testing.assert_allclose(model.coef_, OAVI(0.001, oracle="ls").fit(X).coef_, atol=1e-9)
    with pytest.warns(UserWarning, match="nothing vanishes"):
        model = OAVI(0.001, oracle=useless, certify=False, max_degree=3).fit(X)
    assert model.n_generators_ == 0
    assert model.n_terms_ == 10


def test_omp_takes_the_first_of_terms_that_correlate_equally():
    """Rounding must not choose between two equal columns."""
    rng = np.random.default_rng(0)
    column = rng.uniform(size=50)
    A = np.column_stack([np.ones(50), column, column])
    gram, cross, norm = A.T @ A / 50, A.T @ column / 50, column @ column / 50
    for shift in (-1e-14, 0.0, 1e-14):
        nudged = cross + np.array([0.0, 0.0, shift])
        solution = oracles.omp(gram, nudged, norm, psi=1e-6, radius=999.0)
        assert np.flatnonzero(solution.coef).tolist() == [1]
