"""The pieces of the search for laws, against plain versions of them."""

import functools
from itertools import combinations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import least_squares

from vanishing.algebra.expressions import substituted
from vanishing.algebra.functions import FUNCTIONS
from vanishing.algebra.terms import Evaluator, Factor, Term, monomial
from vanishing.fitting.ratios import least_ratio, ratio_supports
from vanishing.fitting.sample import Draw, row_keys
from vanishing.fitting.smooth_terms import exponents_up_to, legendre_products
from vanishing.fitting.sparse import sparse_supports
from vanishing.fitting.surrogate import fit_surrogate
from vanishing.fitting.variety import VarietyEquation, projected, vanishes
from vanishing.laws.candidates import candidate
from vanishing.laws.choose import is_same
from vanishing.laws.links import IDENTITY, POWER_LINKS, regression, usable_links
from vanishing.laws.passes import Measure
from vanishing.laws.problem import LawTable, Reduced
from vanishing.laws.reductions import ReductionState, reduced_states
from vanishing.laws.refit import refit_implicit, refit_link
from vanishing.laws.results import held_out_error
from vanishing.laws.unequal import with_equal_noise
from vanishing.rows.source import RowPart


def nothing(*_):
    """Be interrupted by nobody."""


def table_of(columns, y, weight=None):
    """Rows as the search sees them, in the units they have."""
    columns, y = np.array(columns, dtype=float), np.array(y, dtype=float)
    weight = np.ones(len(y)) if weight is None else weight / np.mean(weight)
    n = len(columns)
    return LawTable(columns, y, weight, (columns > 0).all(axis=1), np.zeros(n), 1.0, np.arange(n))


def states_of(table):
    """The states of a table, from all its columns on."""
    n = len(table.columns)
    start = ReductionState(np.zeros(n), np.eye(n), table.positive)
    return reduced_states(table.columns, table.positive, table.y, table.weight, start, nothing)


def slope_of(function, x, step=1e-6):
    """A derivative by central differences."""
    return (function(x + step) - function(x - step)) / (2 * step)


# -- Terms ----------------------------------------------------------------------------------------

POWERS = (0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 8.0, -8.0, 9.0, -9.0, 0.5, -0.5, 1.5, -2.5, 1 / 3)


def some_terms(rng):
    """Terms of three columns: every power and every function, and products of several."""
    terms = [monomial([p, 0, 0]) for p in POWERS] + [monomial([p, 1, -2]) for p in POWERS]
    for function in FUNCTIONS.values():
        for power in (1, 2, -1, -3):
            inner = tuple(rng.choice([-1.0, 0.0, 0.5, 1.0, 2.0], 3))
            factor = Factor(function, 0.1, inner, power)
            cosine = Factor(FUNCTIONS["cos"], -1.3, (1.0, 0.0, 1.0))
            terms += [Term((0.0,) * 3, (factor,)), Term((1.0, -0.5, 0.0), (factor, cosine))]
    return terms


def plain_value(term, columns):
    """The value of a term, factor by factor."""
    value = np.prod([c**e for c, e in zip(columns, term.exponents, strict=True)], axis=0)
    for f in term.factors:
        inside = f.scale * np.prod(
            [c**e for c, e in zip(columns, f.exponents, strict=True)], axis=0
        )
        value = value * f.function.value(inside) ** float(f.power)
    return value


def test_values_of_terms_are_products_of_powers_and_functions():
    rng = np.random.default_rng(0)
    columns = rng.uniform(0.6, 1.7, (3, 40))
    terms = some_terms(rng)
    values = Evaluator(columns).values(terms)
    assert values.shape == (len(terms), 40)
    np.testing.assert_allclose(values, [plain_value(t, columns) for t in terms], rtol=1e-12)


def test_whole_powers_of_negative_columns():
    columns = np.array([[-2.0, -0.5, 3.0]])
    for power in (p for p in POWERS if p == int(p)):
        value = Evaluator(columns).value(monomial([power]))
        np.testing.assert_allclose(value, columns[0] ** power, rtol=1e-14)


def test_derivatives_of_terms_are_those_of_finite_differences():
    rng = np.random.default_rng(1)
    columns = rng.uniform(0.6, 1.7, (3, 40))
    terms = some_terms(rng)
    step = 1e-6
    for column in range(3):
        up, down = columns.copy(), columns.copy()
        up[column] += step
        down[column] -= step
        slope = (Evaluator(up).values(terms) - Evaluator(down).values(terms)) / (2 * step)
        found = Evaluator(columns).derivatives(terms, column)
        size = 1 + np.abs(slope) + np.abs(Evaluator(columns).values(terms))
        assert np.abs(found - slope).max(where=size < 1e6, initial=0) < 1e-2
        assert (np.abs(found - slope) / size).max() < 1e-7


def test_terms_in_new_variables_have_the_values_of_old_ones():
    rng = np.random.default_rng(2)
    columns = rng.uniform(0.6, 1.7, (4, 30))
    exponents = rng.choice([-2.0, -1.0, -0.5, 0.0, 1.0, 1.5], (3, 4))
    variables = np.exp(exponents @ np.log(columns))
    for term in some_terms(rng):
        inner = [f.scale * np.exp(np.array(f.exponents) @ np.log(variables)) for f in term.factors]
        if any((np.abs(x) > 0.9).any() for x in inner):  # beyond the range of arcsin
            continue
        new = substituted(term, exponents)
        np.testing.assert_allclose(
            Evaluator(columns).value(new), Evaluator(variables).value(term), rtol=1e-9
        )


# -- Sparse least squares -------------------------------------------------------------------------


def plain_residual(values, target, support):
    """The mean square that least squares on some terms leaves."""
    part = values[list(support)].T
    left = target - part @ np.linalg.lstsq(part, target, rcond=None)[0]
    return left @ left / len(target)


def planted_regression(seed, n_terms, size, noise, n_rows=200):
    """Correlated terms of different sizes, and a target of a few of them with noise."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_terms, n_rows)) + rng.normal(size=n_rows)
    support = tuple(sorted(rng.choice(n_terms, size, replace=False).tolist()))
    target = rng.choice([-1, 1], size) * rng.uniform(1, 2, size) @ values[list(support)]
    target = target + noise * rng.normal(size=n_rows)
    return values * 10.0 ** rng.integers(-3, 4, n_terms)[:, None], target, support


@pytest.mark.parametrize("n_terms", [8, 10, 12])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_sparse_supports_are_the_best_of_all(n_terms, size):
    for seed in range(4):
        values, target, support = planted_regression(seed, n_terms, size, noise=0.3)
        gram, cross = values @ values.T / len(target), values @ target / len(target)
        found = dict(sparse_supports(gram, cross, target @ target / len(target), n_terms))
        for terms, residual in found.items():
            np.testing.assert_allclose(residual, plain_residual(values, target, terms), rtol=1e-7)
        assert support in found
        for number in range(1, 4):
            best = min(
                combinations(range(n_terms), number),
                key=lambda s: plain_residual(values, target, s),
            )
            # Of one term it is the first of forward selection; of more, all are tried.
            assert best in found


def test_forward_and_backward_reach_every_size():
    values, target, _ = planted_regression(0, 12, 6, noise=0.3)
    gram, cross = values @ values.T, values @ target
    found = sparse_supports(gram, cross, target @ target, 9)
    assert {len(support) for support, _ in found} == set(range(1, 10))


def test_a_large_planted_support_is_found_among_many_terms():
    for seed in range(3):
        values, target, support = planted_regression(seed, 80, 8, noise=0.1, n_rows=1000)
        found = sparse_supports(values @ values.T, values @ target, target @ target, 10)
        assert support in dict(found)


def test_dependent_terms_are_not_both_taken():
    values, target, support = planted_regression(1, 8, 2, noise=0.1)
    values = np.vstack([values, 3 * values[support[0]]])
    for terms, residual in sparse_supports(values @ values.T, values @ target, target @ target, 4):
        if {support[0], 8} <= set(terms):
            # What rounding leaves of a dependent term explains nothing.
            assert residual >= 0.999 * len(target) * plain_residual(values, target, terms)


# -- Sparse ratios --------------------------------------------------------------------------------


def ratio_matrices(seed, n_terms, n_rows=500):
    """Gram matrices of terms, and of derivatives that half of them have."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_terms, n_rows))
    slopes = rng.normal(size=(n_terms, n_rows))
    slopes[n_terms // 2 :] = 0.0
    return values @ values.T / n_rows, slopes @ slopes.T / n_rows


def test_the_least_ratio_is_the_generalised_eigenvalue():
    support = (0, 2, 4, 6, 9)
    part = np.ix_(support, support)
    for seed in range(20):
        gram, slope = ratio_matrices(seed, 10)
        value, _ = least_ratio(gram, slope, support)
        largest = eigh(slope[part], gram[part], eigvals_only=True)[-1]
        # Power iteration is slow where eigenvalues are close to each other: nothing vanishes.
        assert 1 - 1e-9 < value * largest < 1.02
        v = np.zeros(10)
        v[list(support)] = [1, -2, 0.5, 1, 1]
        gram -= (1 - 1e-3) * np.outer(gram @ v, gram @ v) / (v @ gram @ v)  # v nearly vanishes
        value, vector = least_ratio(gram, slope, support)
        largest = eigh(slope[part], gram[part], eigvals_only=True)[-1]
        np.testing.assert_allclose(value, 1 / largest, rtol=1e-6)
        own = (vector @ gram[part] @ vector) / (vector @ slope[part] @ vector)
        np.testing.assert_allclose(own, value, rtol=1e-6)


def test_terms_without_derivative_have_no_ratio():
    gram, slope = ratio_matrices(0, 10)
    assert least_ratio(gram, slope, (6, 7, 8))[0] == np.inf


@pytest.mark.parametrize("size", [3, 4, 6])
def test_a_planted_law_is_found_among_twenty_terms(size):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        values, slopes = rng.normal(size=(20, 2000)), rng.normal(size=(20, 2000))
        support = tuple(sorted(rng.choice(20, size, replace=False).tolist()))
        coef = rng.choice([-1, 1], size) * rng.uniform(0.5, 2, size)
        steep = coef @ slopes[list(support)]
        # The law holds up to noise times its slope.
        left = 0.1 * steep * rng.normal(size=2000) - coef @ values[list(support)]
        values[support[-1]] += left / coef[-1]
        gram, slope = values @ values.T / 2000, slopes @ slopes.T / 2000
        found = ratio_supports(gram, slope, 0.02, 8, nothing)
        best, ratio = min(
            (item for item in found if len(item[0]) <= size), key=lambda item: item[1]
        )
        assert best == support
        assert 0.008 < ratio < 0.0115
        assert all(value < 0.02 for _, value in found)


# -- Surrogates -----------------------------------------------------------------------------------


def test_exponents_are_all_up_to_a_degree():
    for n, degree in [(1, 5), (2, 4), (3, 3), (5, 2)]:
        rows = exponents_up_to(n, 10_000, degree)
        grid = np.stack(np.meshgrid(*[np.arange(degree + 1)] * n), -1).reshape(-1, n)
        expected = {tuple(row) for row in grid.tolist() if sum(row) <= degree}
        assert {tuple(row) for row in rows.tolist()} == expected and len(rows) == len(expected)
        assert (np.diff(rows.sum(axis=1)) >= 0).all()
    assert exponents_up_to(3, 15, 9).sum(axis=1).max() == 2  # 10 of degree 2, 20 of degree 3


def test_products_of_legendre_polynomials():
    rng = np.random.default_rng(0)
    u, exponents = rng.uniform(-1, 1, (3, 20)), exponents_up_to(3, 10_000, 5)
    legendre = [[np.polynomial.legendre.Legendre.basis(d)(x) for d in range(6)] for x in u]
    plain = [np.prod([legendre[i][e] for i, e in enumerate(row)], axis=0) for row in exponents]
    np.testing.assert_allclose(legendre_products(u, exponents), plain, atol=1e-14)


@pytest.mark.parametrize("exponential", [False, True])
def test_gradients_of_a_surrogate_are_those_of_finite_differences(exponential):
    rng = np.random.default_rng(0)
    u = rng.uniform([[0.0], [2.0], [-1.0]], [[1.0], [5.0], [0.5]], (3, 800))
    polynomial = 0.3 * u[0] * u[1] + u[2]
    y = np.exp(polynomial) if exponential else polynomial - polynomial.mean()  # of both signs
    surrogate = fit_surrogate(u, np.ones(800), y + 0.1 * rng.normal(size=800), np.ones(800))
    assert surrogate.exponential == exponential and surrogate.exponents.sum(axis=1).max() >= 1
    gradients = surrogate.gradients(u)
    np.testing.assert_allclose(gradients[-1], surrogate.values(u), rtol=1e-12)
    for i in range(3):
        step = 1e-6 * np.eye(3)[i][:, None]
        slope = (surrogate.values(u + step) - surrogate.values(u - step)) / 2e-6
        np.testing.assert_allclose(gradients[i], slope, atol=1e-6)


@pytest.mark.parametrize("exponential", [False, True])
def test_a_surrogate_reproduces_polynomials_in_logarithms(exponential):
    rng = np.random.default_rng(1)
    u = np.log(rng.uniform(1, 5, (2, 1000)))
    factor = rng.uniform(1, 2, 1000)
    weight = rng.uniform(0.5, 2, 1000)
    Q = 1 + u[0] ** 3 - 2 * u[0] * u[1] + 0.5 * u[1] ** 2
    Y = np.exp(Q) if exponential else Q
    surrogate = fit_surrogate(u, factor, factor * Y, weight)
    assert surrogate.exponential == exponential
    np.testing.assert_allclose(surrogate.values(u), Y, atol=1e-5 * np.abs(Y).max())
    assert surrogate.mean_square < 1e-11 * np.mean((factor * Y) ** 2)


@pytest.mark.parametrize("noise", [0.01, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_surrogate_says_how_large_the_noise_is(noise, weighted):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        u = np.log(rng.uniform(1, 3, (3, 4000)))
        y = np.exp(u[0] - u[1]) * (1 + np.exp(u[2]))
        size = noise * y.std()
        weight = rng.integers(1, 4, 4000).astype(float) if weighted else np.ones(4000)
        y = y + size * rng.normal(size=4000)
        surrogate = fit_surrogate(u, np.ones(4000), y, weight)
        assert 0.9 < surrogate.mean_square / size**2 < 1.1


def test_noise_alone_needs_no_coefficients():
    rng = np.random.default_rng(0)
    surrogate = fit_surrogate(
        rng.normal(size=(3, 1000)), np.ones(1000), rng.normal(size=1000), np.ones(1000)
    )
    assert surrogate.n_terms <= 10 and 0.9 < surrogate.mean_square < 1.1


# -- Reductions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_reductions_find_the_factor_and_the_ratio_that_matters(noise):
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 4, (4, 3000))
    y = 3 * x[0] ** 2 / x[1] * (1 + np.sin(x[2] / x[3]))
    y = y + noise * y.std() * rng.normal(size=3000)
    states = states_of(table_of(x, y))
    assert [state.n_variables for state in (states[0], states[-1])] == [4, 1]
    last = states[-1]
    (w,) = last.variables
    np.testing.assert_array_equal(w[:2], 0)
    np.testing.assert_array_equal(w[2:] / w[2], [1, -1])
    # A power of w may be in the factor: f(w) and w^p f(w) are equally good.
    np.testing.assert_array_equal(last.factor[:2], [2, -1])
    assert last.factor[2] == -last.factor[3]
    if noise:
        assert 0.9 < last.surrogate.mean_square / (noise * y.std()) ** 2 < 1.1


def test_a_product_is_reduced_to_nothing():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 4, (3, 2000))
    y = 2 * np.sqrt(x[0]) / x[1] ** 2
    states = states_of(table_of(x, y + 0.02 * y.std() * rng.normal(size=2000)))
    assert states[-1].n_variables == 0
    np.testing.assert_array_equal(states[-1].factor, [0.5, -2, 0])


def test_columns_that_may_be_negative_are_left_or_dropped():
    rng = np.random.default_rng(0)
    x = np.vstack([rng.uniform(1, 4, 2000), rng.normal(size=(2, 2000))])
    y = x[0] * (3 + np.sin(x[1]))
    last = states_of(table_of(x, y + 0.02 * rng.normal(size=2000)))[-1]
    np.testing.assert_array_equal(last.variables, [[0, 1, 0]])
    np.testing.assert_array_equal(last.factor, [1, 0, 0])


# -- Links ----------------------------------------------------------------------------------------


def all_links():
    """Those that are always there, and those in the unit of a target: a logarithm and a sine."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0.1, 1, (1, 500))
    table = table_of(x, np.arcsin(0.9 * x[0]))._replace(unit=0.5)
    links = usable_links(Reduced.of(table, states_of(table)[0]))
    assert [link.name for link in links][-2:] == ["log Y", "sin Y"]
    return {link.name: link for link in links}


@pytest.mark.parametrize("link", all_links().values(), ids=lambda link: link.name)
def test_links_have_their_derivatives_and_inverse(link):
    Y = np.linspace(0.3, 2.5, 50)
    np.testing.assert_allclose(link.slope(Y), slope_of(link.value, Y), rtol=1e-7)
    np.testing.assert_allclose(link.curvature(Y), slope_of(link.slope, Y), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(link.inverse(link.value(Y)), Y, rtol=1e-12)
    term = link.term(2)
    rows = np.vstack([np.ones((2, 50)), Y])
    np.testing.assert_allclose(Evaluator(rows).value(term), link.value(Y), rtol=1e-12)
    np.testing.assert_allclose(Evaluator(rows).derivative(term, 2), link.slope(Y), rtol=1e-12)
    if not link.needs_positive and link.function is None:
        np.testing.assert_allclose(link.inverse(link.value(-Y)), -Y, rtol=1e-12)


def noisy_reduced(value, noise=0.02, n_rows=3000, seed=0, most=2):
    """Rows in the variables they have, with noise and weights, and their true noise."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(1, 3, (2, n_rows))
    y = value(*x)
    size = noise * np.sqrt(np.mean(y**2))
    weight = rng.integers(1, most + 1, n_rows).astype(float)
    table = table_of(x, y + size * rng.normal(size=n_rows), weight)
    return Reduced.of(table, states_of(table)[0]).learnt(y, size**2)


@functools.cache  # for all links
def noisy_product(noise, seed):
    return noisy_reduced(lambda u, v: 2 + u * v, noise, seed=seed)


@pytest.mark.parametrize("noise", [0.02, 0.1])
@pytest.mark.parametrize("link", [*POWER_LINKS, all_links()["log Y"]], ids=lambda link: link.name)
def test_a_link_regression_is_freed_from_bias_and_in_units_of_the_target(link, noise):
    left, errors = [], []
    for seed in range(20):
        reduced = noisy_product(noise, seed)
        rows = regression(reduced, link)
        residual = (rows.target - link.value(reduced.smooth)) * rows.pull
        left.append(residual @ np.ones(3000) / np.sqrt(3000 * reduced.noise))
        errors.append(np.mean(residual**2) / reduced.noise)
    assert abs(np.mean(left)) < 4 / np.sqrt(20)
    assert 0.9 < np.mean(errors) < 1.1


# -- Refits ---------------------------------------------------------------------------------------


def assert_is_least_squares(reduced, fitted, predict):
    """The free coefficients are the minimum, by a solver that knows nothing of the terms."""
    free = np.delete(np.arange(fitted.n_terms), fitted.fixed)
    root = np.sqrt(reduced.table.weight)

    def residual(some):
        coef = fitted.coef.copy()
        coef[free] = some
        return (predict(coef) - reduced.table.y) * root

    start = fitted.coef[free] * 1.01
    found = least_squares(residual, start, xtol=1e-15, ftol=1e-15, gtol=1e-15, x_scale="jac")
    covariance = np.linalg.inv(found.jac.T @ found.jac)
    std = np.sqrt(2 * found.cost / len(root) * covariance.diagonal())
    assert (np.abs(found.x - fitted.coef[free]) < 0.01 * std).all()
    own = fitted.covariance[np.ix_(free, free)]
    scale = np.sqrt(covariance.diagonal())
    np.testing.assert_allclose(
        own / scale / scale[:, None], covariance / scale / scale[:, None], atol=2e-3
    )
    assert not fitted.covariance[fitted.fixed].any()
    np.testing.assert_allclose(
        fitted.mean_square, np.mean(residual(fitted.coef[free]) ** 2), rtol=1e-9
    )
    np.testing.assert_allclose(fitted.mean_square, 2 * found.cost / len(root), rtol=1e-6)


@pytest.mark.parametrize(
    "name, value, terms",
    [
        ("Y", lambda u, v: 2 * u - 3 * u * v + 20, [(0, 0), (1, 0), (1, 1)]),
        ("Y^2", lambda u, v: np.sqrt(2 * u + v), [(1, 0), (0, 1)]),
        ("1/Y", lambda u, v: 1 / (2 / u + 1 / v), [(-1, 0), (0, -1)]),
        ("1/Y^2", lambda u, v: (2 * u + v) ** -0.5, [(1, 0), (0, 1)]),
        ("log Y", lambda u, v: np.exp(0.5 * u - v + 1), [(0, 0), (1, 0), (0, 1)]),
        ("sqrt Y", lambda u, v: (2 * u + v) ** 2, [(1, 0), (0, 1)]),
        ("1/sqrt Y", lambda u, v: (2 * u + v) ** -2.0, [(1, 0), (0, 1)]),
    ],
)
def test_coefficients_of_a_link_are_those_of_least_squares(name, value, terms):
    link = all_links()[name]
    reduced = noisy_reduced(value)
    terms = [monomial(e) for e in terms]
    found = refit_link(reduced, link, terms, regression(reduced, link), set())
    assert len(found) == 1 and found[0].terms[1:] == tuple(
        monomial((*t.exponents, 0)) for t in terms
    )
    fitted = found[0]
    assert not fitted.exact and fitted.fixed == 0 and fitted.coef[0] == 1
    values = Evaluator(reduced.w).values(terms)
    assert_is_least_squares(reduced, fitted, lambda c: link.inverse(-c[1:] @ values))
    assert 0.9 < fitted.mean_square / reduced.noise < 1.1


def test_coefficients_of_an_implicit_law_are_those_of_least_squares():
    # Y^2 + u Y - 3 v = 0
    reduced = noisy_reduced(lambda u, v: (np.sqrt(u**2 + 12 * v) - u) / 2)
    terms = [monomial(e) for e in [(0, 0, 2), (1, 0, 1), (0, 1, 0)]]
    (fitted,) = refit_implicit(reduced, terms, [1.1, 1.0, -3.1], set())
    assert fitted.coef[fitted.fixed] == 1 and fitted.terms[fitted.fixed].involves(2)
    u, v = reduced.w

    def predict(c):
        a, b, c = c[0], c[1] * u, c[2] * v
        return (-b + np.sqrt(b**2 - 4 * a * c)) / (2 * a)

    assert_is_least_squares(reduced, fitted, predict)
    coef = fitted.coef / fitted.coef[0]
    np.testing.assert_allclose(coef, [1, 1, -3], rtol=0.02)


def test_insignificant_terms_are_dropped_one_by_one():
    reduced = noisy_reduced(lambda u, v: 2 * u + v)
    link = IDENTITY
    terms = [monomial(e) for e in [(1, 0), (0, 1), (2, 0), (1, 1)]]
    known = set()
    found = refit_link(reduced, link, terms, regression(reduced, link), known)
    assert [f.n_terms for f in found] == [5, 4, 3]
    assert {t.exponents for t in found[-1].terms} == {(0, 0, 1), (1, 0, 0), (0, 1, 0)}
    assert not refit_link(reduced, link, terms, regression(reduced, link), known)  # seen before


# -- The choice -----------------------------------------------------------------------------------


def of_link(reduced, name, exponents):
    """A candidate: the last of a refit, which has the terms that are significant."""
    link = all_links()[name]
    terms = [monomial(e) for e in exponents]
    return candidate(
        refit_link(reduced, link, terms, regression(reduced, link), set())[-1], reduced
    )


def test_a_law_written_with_another_link_is_the_same():
    reduced = noisy_reduced(lambda u, v: 2 * u / v)
    law = of_link(reduced, "Y", [(1, -1)])
    assert is_same(law, of_link(reduced, "1/Y", [(-1, 1)]))
    assert is_same(law, of_link(reduced, "Y^2", [(2, -2)]))
    assert is_same(law, law)
    assert not is_same(law, of_link(reduced, "Y", [(1, 0), (0, 1)]))
    assert not is_same(law, of_link(reduced, "Y", [(1, -2)]))
    # An implicit law with a term more than it needs can express it, too.
    lens = noisy_reduced(lambda u, v: u * v / (u + v))
    explicit = of_link(lens, "1/Y", [(-1, 0), (0, -1)])
    terms = [monomial(e) for e in [(1, 0, 1), (0, 1, 1), (1, 1, 0)]]
    (implicit,) = refit_implicit(lens, terms, [1, 1, -1], set())
    assert is_same(explicit, candidate(implicit, lens))
    assert is_same(candidate(implicit, lens), explicit)


# -- Rows -----------------------------------------------------------------------------------------


def ask_of(parts):
    """A source of rows in parts."""

    def ask(question, combine):
        first, *others = map(question, parts)
        for other in others:
            first = combine(first, other)
        return first

    return ask


def assert_same_sample(first, second):
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("max_rows", [50, 200, 1000])
def test_a_draw_does_not_depend_on_the_order_or_the_parts_of_rows(max_rows):
    rng = np.random.default_rng(0)
    X, y = rng.integers(-3, 4, (200, 2)).astype(float), rng.integers(0, 2, 200).astype(float)
    X[0] = [0.0, -0.0]
    weight = rng.integers(1, 4, 200).astype(float)  # many rows are the same, but for the weight
    draw = Draw(7, max_rows)
    whole = draw(RowPart(X, y, weight))
    assert whole.n_samples == 200 and whole.total_weight == weight.sum()
    different = {}  # rows that are equal are one that counts for all
    for row, w in zip(np.column_stack([X, y]).tolist(), weight, strict=True):
        different[tuple(row)] = different.get(tuple(row), 0) + w
    assert 50 < len(different) < 200 and len(whole.keys) == min(len(different), max_rows)
    assert (whole.keys[1:] > whole.keys[:-1]).all()
    for column, w in zip(whole.columns.T.tolist(), whole.weight, strict=True):
        assert different[tuple(column)] == w
    for _ in range(5):
        order = rng.permutation(200)
        cuts = np.split(order, np.sort(rng.integers(0, 200, 3)))
        parts = [RowPart(X[cut], y[cut], weight[cut]) for cut in cuts if len(cut)]
        assert_same_sample(ask_of(parts)(draw, draw.combine), whole)
        assert_same_sample(ask_of(parts[::-1])(draw, draw.combine), whole)


def test_a_draw_keeps_rows_with_their_weights():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(300, 3)), rng.normal(size=300), rng.uniform(1, 2, 300)
    sample = Draw(0, 100)(RowPart(X, y, weight))
    rows = {(*a, b): w for a, b, w in zip(X.tolist(), y.tolist(), weight, strict=True)}
    for column, w in zip(sample.columns.T.tolist(), sample.weight, strict=True):
        assert rows[tuple(column)] == w
    assert len({tuple(column) for column in sample.columns.T.tolist()}) == 100
    assert not np.array_equal(sample.columns, Draw(1, 100)(RowPart(X, y, weight)).columns)


def test_a_draw_of_rows_that_are_repeated_has_as_many_different_ones():
    rng = np.random.default_rng(0)
    X = np.arange(40.0)[:, np.newaxis]
    often = X[rng.choice(40, 5000, p=np.r_[0.0, 0.9, np.full(38, 0.1 / 38)])]
    rows = np.vstack([X, often])  # nine in ten are equal
    for max_rows in (5, 20, 39, 100):
        sample = Draw(3, max_rows)(RowPart(rows, None, None))
        kept = np.argsort(row_keys(X.T, 3))[:max_rows]
        np.testing.assert_array_equal(sample.columns, X[kept].T)
        counts = [np.count_nonzero(rows == value) for value in X[kept]]
        np.testing.assert_array_equal(sample.weight, counts)


def test_keys_look_random_whatever_the_rows_are():
    grid = np.stack(np.meshgrid(np.arange(100.0), np.arange(100.0))).reshape(2, -1)
    keys = row_keys(grid, 0)
    assert len(np.unique(keys)) == len(keys)
    for bits in (2, 16):
        counts = np.bincount((keys % np.uint64(bits)).astype(int), minlength=bits)
        assert abs(counts - len(keys) / bits).max() < 5 * np.sqrt(len(keys) / bits)
    assert abs(np.corrcoef(grid[0], keys.astype(float))[0, 1]) < 0.05
    np.testing.assert_array_equal(row_keys(np.array([[0.0]]), 3), row_keys(np.array([[-0.0]]), 3))


def line_parts(n_rows=400):
    """Rows of y = 2 x0 + x1^2 with noise, in parts."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 3, (n_rows, 2))
    y = 2 * X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=n_rows)
    weight = rng.integers(1, 4, n_rows).astype(float)
    whole = RowPart(X, y, weight)
    cuts = np.split(np.arange(n_rows), [50, 51, 300])
    return whole, [RowPart(X[cut], y[cut], weight[cut]) for cut in cuts]


LINE = [monomial(e) for e in [(0, 0, 1), (1, 0, 0), (0, 2, 0)]]


def test_sums_over_parts_are_those_over_all_rows():
    whole, parts = line_parts()
    measure = Measure(LINE, np.array([1, -2.1, -0.9]), 2, 1, seed=3)
    for found, expected in zip(
        ask_of(parts)(measure, Measure.combine), measure(whole), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    keep = Measure(LINE, np.array([1, -2.1, -0.9]), 2, 1, seed=3, keep=0.2)(whole)
    left = whole.y - 2.1 * whole.X[:, 0] - 0.9 * whole.X[:, 1] ** 2
    assert keep.missing == whole.weight[np.abs(left) > 0.2].sum() > 0


def test_sums_are_those_of_plain_least_squares():
    whole, _ = line_parts()
    coef = np.array([1, -2.1, -0.9])
    sums = Measure(LINE, coef, 2, 1, seed=3)(whole)
    values = np.column_stack([whole.y, whole.X[:, 0], whole.X[:, 1] ** 2])
    left = values @ coef
    assert sums.missing == 0
    held = row_keys(np.column_stack([whole.X, whole.y]).T.copy(), 3) % np.uint64(4) == 0
    assert 60 < held.sum() < 140
    for i, fold in enumerate((~held, held)):
        w, v = whole.weight[fold], values[fold].copy()
        v[:, 0] -= left[fold]  # derivatives are taken where the law holds
        np.testing.assert_allclose(sums.gram[i], (v.T * w) @ v, rtol=1e-12)
        np.testing.assert_allclose(sums.cross[i], -(v.T * w) @ left[fold], rtol=1e-9)
        np.testing.assert_allclose(sums.square[i], w @ left[fold] ** 2, rtol=1e-12)
        np.testing.assert_allclose(sums.weight[i], w.sum())
    slope = np.stack([-2.1 * np.ones(400), -1.8 * whole.X[:, 1], np.ones(400)])
    errors = (whole.weight * (left / slope) ** 2).sum(axis=1)
    np.testing.assert_allclose(sums.errors, errors, rtol=1e-12)


def test_the_error_on_rows_held_out_is_that_of_a_fit_to_the_others():
    whole, _ = line_parts()
    sums = Measure(LINE, np.array([1, -2.0, -1.0]), 2, 1, seed=3)(whole)
    held = row_keys(np.column_stack([whole.X, whole.y]).T.copy(), 3) % np.uint64(4) == 0
    design = np.column_stack([whole.X[:, 0], whole.X[:, 1] ** 2])
    root = np.sqrt(whole.weight)[:, None]
    coef = np.linalg.lstsq((design * root)[~held], (whole.y * root[:, 0])[~held], rcond=None)[0]
    left = (whole.y - design @ coef)[held]
    expected = np.sqrt(np.average(left**2, weights=whole.weight[held]))
    np.testing.assert_allclose(held_out_error(sums, 0), expected, rtol=1e-9)


def test_the_error_on_rows_held_out_of_a_law_that_is_not_linear():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 3, (2000, 1))
    y = 1 / (2 * x[:, 0] + 1) + 0.01 * rng.normal(size=2000)
    terms = [monomial(e) for e in [(0, -1), (1, 0), (0, 0)]]

    def fitted(rows):
        def left(c):
            return 1 / (c[0] * x[rows, 0] + c[1]) - y[rows]

        return least_squares(left, [2.0, 1.0], xtol=1e-15, ftol=1e-15).x

    held = row_keys(np.column_stack([x, y]).T.copy(), 3) % np.uint64(4) == 0
    a, b = fitted(np.full(2000, True))
    sums = Measure(terms, np.array([1, -a, -b]), 1, 1, seed=3)(RowPart(x, y, None))
    np.testing.assert_allclose(sums.cross.sum(axis=0)[1:], 0, atol=1e-6)  # the best fit
    a, b = fitted(~held)
    expected = np.sqrt(np.mean((1 / (a * x[held, 0] + b) - y[held]) ** 2))
    np.testing.assert_allclose(held_out_error(sums, 0), expected, rtol=1e-4)


# -- Noise that grows with the target -------------------------------------------------------------


@pytest.mark.parametrize("law", [True, False])
def test_rows_count_by_the_inverse_of_their_variance(law):
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 4, 2000)
    table = table_of([x], x**2 * (1 + 0.05 * rng.normal(size=2000)))
    found = with_equal_noise(table, x**2 if law else None)
    np.testing.assert_array_equal(found.weight, table.weight * found.precision)
    assert found.weight.sum() == pytest.approx(table.weight.sum())
    scaled = found.precision * x**4
    np.testing.assert_allclose(scaled / np.median(scaled), 1, atol=0.1)


def test_the_law_tells_noise_where_no_surrogate_can():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, 200)
    truth = 3 + 2 * np.sin(40 * x)
    table = table_of([x], truth * (1 + 0.05 * rng.normal(size=200)))
    assert with_equal_noise(table, None) is table
    found = with_equal_noise(table, truth)
    assert found.precision[truth < 1.5].min() > 4 * found.precision[truth > 4].max()
    # Noise that is the same on all rows changes nothing.
    equal = table_of([x], truth + 0.05 * rng.normal(size=200))
    assert with_equal_noise(equal, truth) is equal


# -- Points of equations --------------------------------------------------------------------------

ROUND = np.array([[0, 0], [2, 0], [0, 2]])  # the terms of a circle around zero


@pytest.mark.parametrize("n_points", [20, 2000])
def test_terms_vanish_up_to_a_tolerance_however_many_points_there_are(n_points):
    rng = np.random.default_rng(0)
    angle, noise = rng.uniform(0, 2 * np.pi, n_points), rng.normal(size=n_points)
    points = np.array([np.cos(angle), np.sin(angle)])
    assert vanishes(points * (1 + 1e-3 * noise), ROUND, 0.01)
    assert not vanishes(points * (1 + 0.1 * noise), ROUND, 0.01)
    assert vanishes(points[:, :5] * (1 + 0.1 * noise[:5]), ROUND, 0.01)  # too few to tell


def test_points_are_moved_onto_equations_by_the_shortest_way():
    rng = np.random.default_rng(0)
    points = rng.uniform(0.5, 1.5, (2, 200))
    circle = VarietyEquation(ROUND, np.array([-1.0, 1.0, 1.0]), 0.0, np.inf, True)
    near = points / np.hypot(*points) * (1 + 0.01 * rng.normal(size=200))
    np.testing.assert_allclose(
        projected(near, [circle], np.ones(2)), near / np.hypot(*near), rtol=1e-3
    )
    diagonal = VarietyEquation(np.array([[1, 0], [0, 1]]), np.array([1.0, -1.0]), 0.0, np.inf, True)
    both = projected(points, [circle, diagonal], np.ones(2))
    np.testing.assert_allclose(both, np.sqrt(0.5), rtol=1e-9)


def test_a_factor_that_overflows_has_no_surrogate():
    # Powers of Unix times: such a reduction is passed over, and no error.
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        surrogate = fit_surrogate(
            rng.normal(size=(1, 60)), np.full(60, np.inf), rng.normal(size=60), np.ones(60)
        )
    assert np.isnan(surrogate.mean_square)
