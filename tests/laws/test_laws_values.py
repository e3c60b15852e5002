"""Steps of the search take values and return values: in whatever order, and changing nothing."""

from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from vanishing import LawFinder
from vanishing.laws.dictionary import STAGES
from vanishing.laws.links import link_supports, usable_links
from vanishing.laws.options import Options
from vanishing.laws.problem import LawTable, Reduced
from vanishing.laws.reductions import ReductionState, reduced_states
from vanishing.laws.search import Search
from vanishing.laws.stages import implicit_fits, link_fits
from vanishing.laws.symmetric import Symmetric


def nothing(*_):
    """Be interrupted by nobody."""


def frozen(values):
    """An array that cannot be written to."""
    values = np.array(values)
    values.setflags(write=False)
    return values


def a_table(noise=1e-4, seed=0):
    """A law that the surrogate misses by more than the noise: a dictionary says more."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.5, 6, (2, 400))
    y = np.sin(x[0]) * x[1] + 0.3 * x[0] ** 2 + noise * rng.normal(size=400) + 4
    return LawTable(
        *map(frozen, (x, y, np.ones(400), [True, True], np.zeros(2))), 1.0, frozen([0, 1])
    )


def reduced_of(table):
    n = len(table.columns)
    start = ReductionState(np.zeros(n), np.eye(n), table.positive)
    states = reduced_states(table.columns, table.positive, table.y, table.weight, start, nothing)
    return Reduced.of(table, states[0])


def text_of(fits):
    return [(fit.terms, fit.coef.tolist(), fit.mean_square) for fit in fits]


def copy_of(value):
    return {field.name: np.copy(getattr(value, field.name)) for field in fields(value)[2:]}


def assert_unchanged(value, before):
    for name, values in before.items():
        np.testing.assert_array_equal(getattr(value, name), values)


def test_what_is_known_of_the_noise_cannot_be_rewritten():
    reduced = reduced_of(a_table())
    with pytest.raises(FrozenInstanceError):
        reduced.noise = 1.0
    before = copy_of(reduced)
    learnt = reduced.learnt(np.full(400, 2.0), 0.5)
    assert learnt.noise == 0.5 and (learnt.smooth == 2.0).all() and learnt.w is reduced.w
    # Where nothing finite is learnt, it is what was known.
    np.testing.assert_array_equal(reduced.learnt(np.full(400, np.nan), 0.5).smooth, reduced.smooth)
    assert_unchanged(reduced, before)


def test_a_dictionary_tells_the_noise_by_what_it_returns():
    reduced = reduced_of(a_table())
    before, links = copy_of(reduced), usable_links(reduced)
    stage = STAGES["sin and cos"]
    _, learnt = link_fits(reduced, stage, links, Options(), nothing, set())
    assert learnt.noise < 0.5 * reduced.noise
    assert_unchanged(reduced, before)
    assert link_supports(reduced, [], links, nothing) == ([], reduced)


def test_stages_say_the_same_in_any_order():
    reduced = reduced_of(a_table())
    links, options = usable_links(reduced), Options(max_degree=4)
    stages = [STAGES[name] for name in ("powers", "sin and cos", "exp(-w)")]
    results = []
    for order in (stages, stages[::-1]):
        fits = {s.name: link_fits(reduced, s, links, options, nothing, set()) for s in order}
        implicit = [text_of(batch) for batch in implicit_fits(reduced, options, nothing, set())]
        results.append(
            {name: (text_of(f), learnt.noise) for name, (f, learnt) in sorted(fits.items())}
            | {"implicit": implicit}
        )
    assert results[0]["sin and cos"][0]
    assert all(result == results[0] for result in results[1:])


def test_a_search_compares_the_same_candidates_in_any_order_of_stages():
    rng = np.random.default_rng(0)
    x = rng.uniform(0.5, 6, (1, 400))
    # Each stage comes close, with much less than the surrogate leaves; none has a law.
    y = 1 / (1 + np.exp(-x[0]) * np.sin(1.3 * x[0] ** 1.2)) + 1e-5 * rng.normal(size=400)
    table = LawTable(*map(frozen, (x, y, np.ones(400), [True], np.zeros(1))), 1.0, frozen([0]))
    functions = [STAGES[name] for name in ("sin and cos", "log", "exp(-w)")]
    results = []
    for order in (functions, functions[::-1]):
        options = Options(max_degree=4, stages=(STAGES["powers"], *order))
        outcome = Search(table, options, nothing).finish()
        assert outcome.choice.reason  # none is settled before all stages were searched
        results.append(sorted(map(repr, text_of(c.fitted for c in outcome.candidates))))
    for name in ("sin", "log", "exp"):
        assert any(f"name='{name}'" in text for text in results[0])
    assert all(result == results[0] for result in results[1:])


def test_a_search_changes_nothing_and_is_repeated():
    table, options = a_table(), Options(stages=tuple(STAGES.values())[:2])
    first, second = (Search(table, options, nothing).finish() for _ in range(2))
    assert not first.choice.reason
    assert text_of([first.choice.best.fitted]) == text_of([second.choice.best.fitted])
    assert text_of(c.fitted for c in first.candidates) == text_of(
        c.fitted for c in second.candidates
    )


def a_circle(seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 1000)
    columns = np.vstack([np.cos(angle), np.sin(angle)]) + 0.02 * rng.normal(size=(2, 1000))
    return frozen(columns), frozen(np.ones(1000))


@pytest.mark.parametrize("noise", [None, frozen([0.02, 0.02])])
def test_equations_among_columns_are_the_same_when_they_are_asked_for_again(noise):
    columns, weight = a_circle()
    symmetric = Symmetric(columns, weight, noise, Options(max_degree=3), nothing)
    kept = dict(vars(symmetric))
    first, second = symmetric.answer(3), symmetric.answer(3)
    assert len(first.equations) == 1 and first.was_estimated == (noise is None)
    np.testing.assert_allclose(first.noise, 0.02, rtol=0.1)
    for one, other in zip(first, second, strict=True):
        assert repr(one) == repr(other)
    assert all(vars(symmetric)[name] is value for name, value in kept.items())


@pytest.mark.parametrize("asked", [{}, {"noise": 0.01}, {"noise": "estimate", "robust": True}])
@pytest.mark.parametrize("has_target", [True, False])
def test_a_fit_changes_no_input_and_attributes_can_be_read_in_any_order(asked, has_target):
    columns, _ = a_circle()
    X, y = frozen(columns.T[:, :1] ** 2), frozen(columns[1] ** 2)
    if not has_target:
        X, y = frozen(np.column_stack([X, y])), None
    weight = frozen(np.ones(len(X)))
    names = ("laws_", "verdict_", "front_", "noise_", "reductions_", "mean_", "target_name_")
    texts = []
    for order in (names, names[::-1]):
        finder = LawFinder(max_degree=2, functions=(), **asked).fit(X, y, weight)
        texts.append({name: repr(getattr(finder, name)) for name in order})
    assert texts[0] == texts[1]
