"""Conserved quantities: right ones, none where there is none, and the same however rows come."""

import pickle

import numpy as np
import pytest
from moving import CONSERVED, NOT_CONSERVED, SYSTEMS, System, simulated

import vanishing
from vanishing import Blocks, ConservedQuantities, ConservedQuantity
from vanishing.algebra.terms import Evaluator
from vanishing.motion.runs import Measure, RowSubset
from vanishing.motion.variables import MotionMonomials, Variable
from vanishing.rows.source import RowPart

NOISY = ("oscillator", "Duffing", "pendulum", "Lotka-Volterra", "rigid body")


def fitted(name, noise=0.0, seed=0, **parameters):
    X, groups = simulated(name, noise, seed=seed)
    return ConservedQuantities(**SYSTEMS[name].parameters, **parameters).fit(X, groups=groups)


def within(values, groups):
    """Deviation of values within runs, relative to their spread."""
    _, run = np.unique(groups, return_inverse=True)
    means = np.bincount(run, values) / np.bincount(run)
    return np.std(values - means[run]) / np.std(values)


def coefficients(quantity: ConservedQuantity) -> dict[str, float]:
    return dict(zip(quantity.terms, quantity.coef, strict=True))


# -- What is conserved ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONSERVED)
def test_clean_runs_give_all_quantities(name):
    model = fitted(name)
    X, groups = simulated(name)
    assert model.n_independent_ == CONSERVED[name].n_independent
    assert len(model.quantities_) == (4 if name == "Kepler" else model.n_independent_)
    assert (model.ratio_ < 1e-15).all()
    for quantity in model.quantities_:
        assert within(quantity(X), groups) < 1e-7
        assert quantity.n_terms <= 6
        assert 1.0 in quantity.coef


def test_forms():
    (energy,) = fitted("pendulum").quantities_
    found = coefficients(energy)
    assert set(found) == {"omega^2", "cos(theta)"}
    assert found["cos(theta)"] == pytest.approx(-19.62, rel=1e-8)
    (energy,) = fitted("Duffing").quantities_
    assert coefficients(energy) == pytest.approx({"x^4": 1, "v^2": 2, "x^2": -2}, rel=1e-8)
    (energy,) = fitted("double pendulum").quantities_
    expected = {"u^2": 1, "v^2": 0.5, "cos(a)": -19.62, "cos(b)": -9.81}
    expected |= {"u*v*cos(a)*cos(b)": 1, "u*v*sin(a)*sin(b)": 1}
    assert coefficients(energy) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("name", CONSERVED)
def test_what_is_known_to_be_conserved_is_a_function_of_what_was_found(name):
    # On the values of the runs, the true quantity is a polynomial in those found.
    model = fitted(name)
    X, groups = simulated(name)
    values = (model.values_ - model.values_.mean(axis=0)) / model.values_.std(axis=0)
    columns = [np.ones(len(values)), *values.T]
    columns += [a * b for i, a in enumerate(columns[1:]) for b in columns[1 : i + 2]]
    for true in CONSERVED[name].quantities:
        truth = np.bincount(groups, true(*X.to_numpy().T)) / 80
        left = (
            truth
            - np.column_stack(columns)
            @ np.linalg.lstsq(np.column_stack(columns), truth, rcond=None)[0]
        )
        assert np.std(left) < 1e-6 * np.std(truth)


@pytest.mark.parametrize("name", NOISY)
def test_one_per_cent_of_noise(name):
    model = fitted(name, 0.01)
    X, groups = simulated(name)
    assert model.n_independent_ == len(model.quantities_) == CONSERVED[name].n_independent
    assert all(within(quantity(X), groups) < 0.01 for quantity in model.quantities_)
    assert ((model.ratio_ > 1e-5) & (model.ratio_ < 0.01)).all()
    assert model.noise_ == pytest.approx(0.01 * X.to_numpy().std(axis=0), rel=0.1)
    assert "%" in model.verdict_


@pytest.mark.parametrize("name", NOISY)
def test_noise_that_is_given(name):
    X, groups = simulated(name, 0.05)
    clean, _ = simulated(name)
    noise = 0.05 * clean.to_numpy().std(axis=0)
    model = ConservedQuantities(**SYSTEMS[name].parameters, noise=noise).fit(X, groups=groups)
    assert model.n_independent_ == CONSERVED[name].n_independent
    assert all(within(quantity(clean), groups) < 0.03 for quantity in model.quantities_)
    np.testing.assert_array_equal(model.noise_, noise)


def test_standard_errors_hold():
    # v^2 + 4 x^2: the error of the 4, over seeds, is that which is written beside it.
    wrong = []
    for seed in range(12):
        (quantity,) = fitted("oscillator", 0.02, seed=seed).quantities_
        place = quantity.terms.index("x^2")
        wrong.append((quantity.coef[place] - 4.0) / quantity.coef_std[place])
    assert 0.4 < np.sqrt(np.mean(np.square(wrong))) < 2.0


# -- What is not ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name, n_runs, n_rows", [("rigid body", 10, 10), ("pendulum", 20, 8)])
def test_a_hundred_rows_with_noise_are_enough(name, n_runs, n_rows):
    """Few rows say little: what is conserved may vary more than the noise does, by chance."""
    for seed in range(3):
        X, groups = simulated(name, 0.01, n_runs=n_runs, n_rows=n_rows, seed=seed)
        model = ConservedQuantities(**SYSTEMS[name].parameters).fit(X, groups=groups)
        assert len(model.quantities_) == SYSTEMS[name].n_independent, seed


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.05])
@pytest.mark.parametrize("name", NOT_CONSERVED)
def test_nothing_where_nothing_is_conserved(name, noise):
    model = fitted(name, noise)
    assert model.quantities_ == [] and model.n_independent_ == 0
    assert model.values_.shape == (40, 0) and model.ratio_.shape == (0,)
    assert "Nothing is conserved" in model.verdict_ and "ratio" in model.verdict_


@pytest.mark.parametrize("friction", [0.05, 0.01])
def test_little_friction_is_no_noise(friction, monkeypatch):
    # The energy varies within runs by little, but not as noise does.
    slow = System(
        ("x", "v"),
        lambda t, s: [s[1], -s[0] - friction * s[1]],
        lambda random: random.uniform(-2, 2, 2),
        10,
        0,
        (),
        {},
    )
    monkeypatch.setitem(SYSTEMS, f"friction {friction}", slow)
    assert fitted(f"friction {friction}").quantities_ == []


def test_trivial_laws_are_constraints():
    model = fitted("pendulum")
    assert list(map(str, model.constraints_)) == ["cos(theta)^2 + sin(theta)^2 = 1"]
    X, _ = simulated("pendulum")
    assert np.abs(model.constraints_[0].residual(X)).max() < 1e-12
    assert len(fitted("Kepler").constraints_) == 5
    assert fitted("oscillator").constraints_ == []


def test_energy_that_all_runs_share_is_a_law_of_the_state():
    # Ten phases of one orbit: x^2 + y^2 is the same everywhere, and tells runs not apart.
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, (10, 1)) + np.linspace(0, 3, 50)
    X = np.column_stack([np.cos(angle).ravel(), np.sin(angle).ravel()])
    model = ConservedQuantities().fit(X, groups=np.repeat(np.arange(10), 50))
    assert model.quantities_ == [] and len(model.constraints_) == 1
    assert str(model.constraints_[0]) == "x1^2 + x0^2 = 1"


def test_laws_that_hold_up_to_the_errors_of_an_integration(monkeypatch):
    # Turning bodies of one angular momentum: its square is the same everywhere, energy differs.
    moments = np.array([1.0, 2.0, 3.0])

    def start(random):
        spin = random.normal(size=3)
        return spin / np.linalg.norm(spin)

    names = ("a", "b", "c")
    sphere = System(names, lambda t, s: np.cross(s, s / moments), start, 15, 1, (), {})
    monkeypatch.setitem(SYSTEMS, "sphere", sphere)
    model = fitted("sphere")
    assert list(map(str, model.constraints_)) == ["c^2 + b^2 + a^2 = 1"]
    assert model.n_independent_ == len(model.quantities_) == 1


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_square_in_disguise_is_not_counted_again(noise):
    # omega^4 is nearly a combination of omega^2, cos(omega) and omega sin(omega).
    X, groups = simulated("pendulum", noise)
    X, chosen = X / [1.0, 3.0], np.abs(X["omega"]) < 9  # smaller speeds: a better approximation
    model = ConservedQuantities(functions=("sin", "cos")).fit(X[chosen], groups=groups[chosen])
    assert [set(q.terms) for q in model.quantities_] == [{"omega^2", "cos(theta)"}]


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_powers_and_products_are_not_counted_again(noise):
    for name in ("oscillator", "rigid body"):
        X, groups = simulated(name, noise)
        model = ConservedQuantities(4).fit(X, groups=groups)
        assert len(model.quantities_) == CONSERVED[name].n_independent
        assert all(quantity.degree == 2 for quantity in model.quantities_)


def test_columns_that_are_constant_along_runs_count_once():
    X, groups = simulated("oscillator")
    X["m"] = 1.0 + groups % 7
    model = ConservedQuantities().fit(X, groups=groups)
    assert {str(quantity) for quantity in model.quantities_} == {"m", "v^2 + 4*x^2"}
    assert model.n_independent_ == 2


def test_max_terms_bounds_quantities():
    X, groups = simulated("Duffing")
    model = ConservedQuantities(4, max_terms=2).fit(X, groups=groups)
    assert model.quantities_ == [] and "more than 2 terms there are 1 more" in model.verdict_


# -- Whatever way the rows come -------------------------------------------------------------------


def same(one, other, rel=1e-6):
    assert list(map(str, one.quantities_)) == list(map(str, other.quantities_))
    for a, b in zip(one.quantities_, other.quantities_, strict=True):
        np.testing.assert_allclose(a.coef, b.coef, rtol=rel)
    np.testing.assert_allclose(one.values_, other.values_, rtol=1e-6)
    assert list(map(str, one.constraints_)) == list(map(str, other.constraints_))


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_order_of_rows(noise):
    X, groups = simulated("rigid body", noise)
    model = ConservedQuantities().fit(X, groups=groups)
    order = np.random.default_rng(0).permutation(len(X))
    same(model, ConservedQuantities().fit(X.iloc[order], groups=groups[order]))


def test_weights_are_repetitions():
    X, groups = simulated("pendulum", 0.01)
    parameters = SYSTEMS["pendulum"].parameters
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    weighted = ConservedQuantities(**parameters).fit(X, groups=groups, sample_weight=weight)
    rows = np.repeat(np.arange(len(X)), weight)
    repeated = ConservedQuantities(**parameters).fit(X.iloc[rows], groups=groups[rows])
    np.testing.assert_allclose(weighted.values_, repeated.values_, rtol=1e-6)
    np.testing.assert_allclose(weighted.quantities_[0].coef, repeated.quantities_[0].coef)


def test_labels_may_be_text_and_do_not_matter():
    X, groups = simulated("rigid body")
    model = ConservedQuantities().fit(X, groups=groups)
    other = ConservedQuantities().fit(X, groups=np.array([f"run {g:02d}" for g in groups]))
    same(model, other)
    assert other.runs_[3] == "run 03"


def test_blocks_that_cut_runs():
    X, groups = simulated("Kepler")
    X = X.to_numpy()
    model = ConservedQuantities().fit(X, groups=groups)
    mixed = np.random.default_rng(0).permutation(len(X))

    def blocks():
        for start in range(0, len(X), 450):
            rows = mixed[start : start + 450]
            yield X[rows], groups[rows]

    other = ConservedQuantities().fit(Blocks(blocks))
    same(model, other)
    beside = ConservedQuantities().fit(Blocks.from_array(X, rows=333), groups=groups)
    same(model, beside)
    values = np.vstack(list(other.transform(Blocks.from_array(X, rows=1000))))
    np.testing.assert_allclose(values, model.transform(X), rtol=1e-7)


def test_dask():
    dask = pytest.importorskip("dask.array")
    X, groups = simulated("rigid body", 0.01)
    X = X.to_numpy()
    model = ConservedQuantities().fit(X, groups=groups)
    lazy = dask.from_array(X, chunks=(700, 3)), dask.from_array(groups, chunks=700)
    same(model, ConservedQuantities().fit(lazy[0], groups=lazy[1]))


def test_other_arrays():
    strict = pytest.importorskip("array_api_strict")
    X, groups = simulated("oscillator")
    X = X.to_numpy()
    model = ConservedQuantities().fit(X, groups=groups)
    same(model, ConservedQuantities().fit(strict.asarray(X), groups=strict.asarray(groups)))


def test_many_rows_are_searched_by_some_and_fitted_by_all():
    rng = np.random.default_rng(0)
    size, phase = rng.uniform(0.5, 2, (500, 1)), rng.uniform(0, 6, (500, 1))
    angle = phase + np.linspace(0, 10, 200)
    X = np.column_stack([(size * np.cos(angle)).ravel(), (size * np.sin(angle)).ravel()])
    X += 0.01 * rng.normal(size=X.shape)
    groups = np.repeat(np.arange(500), 200)
    model = ConservedQuantities(n_jobs=2).fit(X, groups=groups)
    assert [set(q.terms) for q in model.quantities_] == [{"x0^2", "x1^2"}]
    np.testing.assert_allclose(model.quantities_[0].coef, 1.0, atol=2e-3)
    assert model.values_.shape == (500, 1)
    np.testing.assert_allclose(model.values_, size**2, rtol=0.03)
    order = rng.permutation(len(X))
    same(model, ConservedQuantities().fit(X[order], groups=groups[order]))


def test_fit_twice_and_other_held_out_runs():
    X, groups = simulated("rigid body", 0.01)
    model = ConservedQuantities().fit(X, groups=groups)
    same(model, ConservedQuantities().fit(X, groups=groups), rel=0)
    other = ConservedQuantities(random_state=1).fit(X, groups=groups)
    assert (other.held_out_ != model.held_out_).any() and other.held_out_.sum() == 10
    assert len(other.quantities_) == 2


# -- Results --------------------------------------------------------------------------------------


def test_transform_and_score():
    X, groups = simulated("rigid body", 0.01)
    model = ConservedQuantities().fit(X, groups=groups)
    values = model.transform(X)
    assert values.shape == (len(X), 2)
    np.testing.assert_allclose(values[:, 0], model.quantities_[0](X))
    means = [values[groups == label].mean(axis=0) for label in model.runs_]
    np.testing.assert_allclose(model.values_, means, rtol=1e-8)
    score = model.score(X, groups=groups)
    assert 1 - 2 * model.ratio_.mean() < score < 1 - model.ratio_.mean() / 2
    assert list(model.get_feature_names_out()) == list(map(str, model.quantities_))
    assert list(model.get_feature_names_out(X.columns)) == list(map(str, model.quantities_))
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        model.get_feature_names_out(["a", "b"])
    model.fit(X.to_numpy(), groups=groups)
    named = model.get_feature_names_out(X.columns)
    assert all(X.columns[0] in name and "x0" not in name for name in named)
    with pytest.raises(ValueError, match="length equal to number of features"):
        model.get_feature_names_out(["angle"])
    none = fitted("Lorenz")
    with pytest.warns(UserWarning, match="nothing is conserved"):
        assert none.transform(simulated("Lorenz")[0]).shape == (3200, 0)
    assert none.score(*[simulated("Lorenz")[0], None, simulated("Lorenz")[1]]) == 0.0


def test_gradients_are_those_of_differences():
    X, _ = simulated("double pendulum")
    (energy,) = fitted("double pendulum").quantities_
    rows = X.to_numpy()[:20]
    for j in range(4):
        step = np.zeros(4)
        step[j] = 1e-6
        slope = (energy(rows + step) - energy(rows - step)) / 2e-6
        np.testing.assert_allclose(energy.gradient(rows)[:, j], slope, rtol=1e-5, atol=1e-5)


def test_quantities_are_written_and_fixed():
    sympy = pytest.importorskip("sympy")
    (energy,) = fitted("pendulum").quantities_
    assert str(energy) == "omega^2 - 19.62*cos(theta)"
    assert energy.to_latex().count("\\cos") == 1
    theta, omega = sympy.symbols("theta omega")
    difference = energy.to_sympy() - (omega**2 - 19.62 * sympy.cos(theta))
    assert abs(difference.subs({theta: 0.3, omega: 2})) < 1e-7
    assert energy.degree == 2 and energy.n_terms == 2
    with pytest.raises(AttributeError):
        energy.ratio = 0.0


def test_saving(tmp_path):
    X, _ = simulated("pendulum", 0.01)
    model = fitted("pendulum", 0.01)
    model.save(tmp_path / "m.json")
    again = vanishing.load(tmp_path / "m.json")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    for name in ("ratio_", "values_", "runs_", "held_out_", "noise_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.verdict_ == model.verdict_ and again.n_independent_ == 1
    assert list(map(str, again.constraints_)) == list(map(str, model.constraints_))
    assert str(again.quantities_[0]) == str(model.quantities_[0])
    model.quantities_[0].save(tmp_path / "q.json")
    quantity = vanishing.load(tmp_path / "q.json")
    np.testing.assert_array_equal(quantity(X), model.quantities_[0](X))
    none = fitted("Lorenz")
    none.save(tmp_path / "none.json")
    assert vanishing.load(tmp_path / "none.json").quantities_ == []


def test_independent_counts_gradients():
    # Four quantities of the plane's orbits are connected by |A|^2 = 1 + 2 E L^2: three are free.
    model = fitted("Kepler")
    X, _ = simulated("Kepler")
    rows = X.to_numpy()[:5]
    gradients = [q.gradient(rows) for q in model.quantities_]
    evaluator = Evaluator(rows.T)
    laws = [
        np.array([law.coef @ evaluator.derivatives(law._terms, j) for j in range(7)]).T
        for law in model.constraints_
    ]
    for i in range(5):
        own = np.array([law[i] for law in laws])
        both = np.vstack([own, *[g[i] for g in gradients]])
        ranks = [np.linalg.matrix_rank(m, tol=1e-6) for m in (both, own)]
        assert ranks[0] - ranks[1] == 3 == model.n_independent_


# -- Values ---------------------------------------------------------------------------------------


def test_answers_of_blocks_are_combined_into_a_new_one():
    """A scheduler may ask for a block's answer again: combining must not have changed it."""
    X, groups = map(np.asarray, simulated("oscillator"))
    monomials = MotionMonomials([Variable(j) for j in range(X.shape[1])], np.ones(X.shape[1]), 2)
    labels = np.unique(groups)
    held_out = np.arange(len(labels)) % 4 == 0
    subset = RowSubset(np.ones(len(labels), dtype=bool), 1.0, 0)
    question = Measure(monomials, labels, held_out, 0, subset)
    # A block ends within a run, of which both have rows.
    first, second = (question(RowPart(X[p], groups[p], None)) for p in (slice(95), slice(95, None)))
    before = pickle.dumps((first, second))
    once, twice = (question.combine(first, second) for _ in range(2))
    assert pickle.dumps((first, second)) == before
    assert pickle.dumps(once) == pickle.dumps(twice)
    np.testing.assert_allclose(once.weight.sum(), len(X))


@pytest.mark.parametrize(("runs", "rows", "columns"), [(2, 2, 3), (3, 2, 4), (2, 3, 5)])
def test_as_many_columns_as_rows_within_runs_tell_nothing(runs, rows, columns):
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(runs * rows, columns))
        model = ConservedQuantities().fit(X, groups=np.repeat(np.arange(runs), rows))
        assert not model.quantities_
        assert "too few rows" in model.verdict_


def test_a_column_that_varies_in_one_run_alone():
    # Whichever run is held out, the others do not tell its monomials from constants.
    run, time = np.repeat(np.arange(8), 50), np.tile(np.linspace(0, 3, 50), 8)
    for moving in range(8):
        rng = np.random.default_rng(moving)
        size = rng.normal(size=8)[run]
        extra = np.where(run == moving, rng.normal(size=400), 0.0)
        X = np.column_stack([size * np.cos(time), size * np.sin(time), extra])
        quantities = ConservedQuantities().fit(X, groups=run).quantities_
        assert [str(quantity) for quantity in quantities] == ["x1^2 + x0^2"]
