"""One law per group: same form, constants that differ are told from those that are shared."""

import numpy as np
import pytest

from vanishing import LawFinder, LawsByGroup, check_law, load
from vanishing.export import to_python
from vanishing.laws.group_search import GroupedRows, _determined, _FormFit, law_of_groups
from vanishing.laws.groups import read_groups
from vanishing.laws.options import OutOfTime
from vanishing.laws.targets import LawAnswer

HILL = "y = bottom + (top - bottom)/(1 + (EC50/x0)**h)"


def doses(seed=0, *, n=24, ec50=(2.4, 5.0), noise=2.0):
    """Return doses, responses and batches that differ in EC50 alone."""
    rng = np.random.default_rng(seed)
    dose = np.tile(np.geomspace(0.03, 100, n), len(ec50))
    batch = np.repeat(np.arange(1, len(ec50) + 1), n)
    response = 5 + 95 / (1 + (np.array(ec50)[batch - 1] / dose) ** 1.3)
    return dose[:, None], response + rng.normal(scale=noise, size=len(dose)), batch


def lines(seed=0, n=90):
    """Return y = a x0 + 1 with a = 2, 3, 2.4 in groups A, B, C."""
    rng = np.random.default_rng(seed)
    X, group = rng.uniform(1, 5, (n, 1)), np.array(list("ABC"))[np.arange(n) % 3]
    slope = np.array([{"A": 2.0, "B": 3.0, "C": 2.4}[g] for g in group])
    return X, slope * X[:, 0] + 1 + rng.normal(scale=0.02, size=n), group


@pytest.fixture(scope="module")
def hill():
    return check_law(HILL, *doses()[:2], groups=doses()[2])


def test_the_constant_that_differs_is_told_from_those_that_are_shared(hill):
    assert hill.differing == ("EC50",)
    assert hill.shared == ("bottom", "top", "h")
    assert hill.verdict.startswith("holds")
    for law, true in zip(hill, (2.4, 5.0), strict=True):
        value, std = law.constants["EC50"]
        assert abs(value - true) < 3.5 * std
        assert 0.02 < std / true < 0.2
    assert hill[0].constants["h"] == hill[1].constants["h"]


def test_a_file_keeps_laws_by_group(hill, tmp_path):
    X, _, batch = doses()
    hill.save(tmp_path / "laws.json")
    loaded = load(tmp_path / "laws.json", LawsByGroup)
    assert str(loaded) == str(hill) and loaded.verdict == hill.verdict
    assert loaded.p_values == hill.p_values and loaded.differing == hill.differing
    for a, b in zip(loaded.predict(X, batch, True), hill.predict(X, batch, True), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_order_of_rows_does_not_matter():
    X, y, group = lines()
    order = np.random.default_rng(1).permutation(len(y))
    first = check_law("y = a*x0 + b", X, y, groups=group)
    second = check_law("y = a*x0 + b", X[order], y[order], groups=group[order])
    assert str(first) == str(second) and first.differing == second.differing == ("a",)


def test_groups_of_one_law_share_all():
    rng = np.random.default_rng(3)
    X = rng.uniform(1, 3, (120, 1))
    y = 2 * X[:, 0] + 1 + rng.normal(scale=0.1, size=120)
    laws = check_law("y = a*x0 + b", X, y, groups=np.arange(120) % 4)
    assert laws.differing == () and "do not differ between groups" in laws.verdict
    plain = check_law("y = a*x0 + b", X, y)
    assert laws[0].constants["a"][0] == pytest.approx(plain.constants["a"][0], rel=1e-6)


def test_constants_that_do_not_differ_are_rarely_said_to():
    # The level is 1 % for all constants together: 2 of 15 tables are one in 100.
    wrong = 0
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X, group = rng.uniform(1, 3, (30, 1)), np.arange(30) % 3
        y = 2 * X[:, 0] + 1 + rng.normal(scale=0.3, size=30)
        wrong += bool(check_law("y = a*x0 + b", X, y, groups=group).differing)
    assert wrong < 2


def test_an_equation_has_to_hold_in_each_group():
    X, y, group = lines()
    y = np.where(group == "C", np.random.default_rng(4).normal(size=len(y)), y)
    laws = check_law("y = a*x0 + b", X, y, groups=group)
    assert laws.verdict.startswith("does not hold") and not laws.holds
    finder = LawFinder(functions=()).fit(X, y, groups=group)
    assert finder.laws_ == [] and "group C" in finder.verdict_


def test_a_bad_row_of_a_group_is_named():
    X, y, batch = doses()
    y[40] = 5.0
    laws = check_law(HILL, X, y, groups=batch, robust=True)
    assert laws.wrong_rows == (40,) and laws.of(2).wrong_rows == (40,)
    assert laws.differing == ("EC50",)


def test_noise_may_differ_between_groups():
    rng = np.random.default_rng(5)
    X, group = rng.uniform(1, 3, (80, 1)), np.arange(80) % 2
    y = (2 + group) * X[:, 0] + rng.normal(size=80) * np.where(group, 1.0, 0.01)
    laws = check_law("y = a*x0", X, y, groups=group)
    quiet, loud = (law.constants["a"][1] for law in laws)
    assert 30 < loud / quiet < 300


@pytest.mark.parametrize("robust", [False, True])
def test_time_may_end_while_a_form_is_fitted_to_groups(robust):
    X, y, group = lines()
    (law,) = LawFinder(functions=()).fit(X[group == "A"], y[group == "A"]).laws_
    rows = GroupedRows(np.vstack([X.T, y]), np.ones(90), read_groups(group, 90), law.names)

    def steps(n_steps):
        """Return what raises after so many steps."""
        left = iter(range(n_steps))

        def progress():
            if next(left, None) is None:
                raise OutOfTime

        return progress

    def answer(n_steps):
        found = LawAnswer([law], str(law.verdict), law.error)
        return law_of_groups(rows, lambda *_: found, robust, steps(n_steps))

    for n_steps in range(5):  # three groups, and the first of two constants that may be shared
        assert answer(n_steps).laws == [] and "raise max_time" in answer(n_steps).verdict
    assert len(answer(10_000).laws) == 3


def test_the_only_coefficient_needs_no_term():
    rng = np.random.default_rng(0)
    X, group = rng.uniform(1, 3, (90, 2)), np.arange(90) % 2
    y = (2 + group) * X[:, 0] * X[:, 1] ** 2 * (1 + 0.01 * rng.normal(size=90))
    finder = LawFinder(functions=()).fit(X, y, groups=group)
    assert finder.laws_[0].terms == ("y/(x0*x1)", "x1")  # which the law does not show
    assert "%); coefficient (p < 1e-12) differs between groups" in finder.verdict_


def test_a_finder_finds_one_form_for_all_groups(tmp_path):
    X, y, group = lines(n=150)
    finder = LawFinder(functions=()).fit(X, y, groups=group)
    assert [law.group for law in finder.laws_] == ["A", "B", "C"]
    slopes = [law.predict([[2.0]])[0] - law.predict([[1.0]])[0] for law in finder.laws_]
    np.testing.assert_allclose(slopes, [2.0, 3.0, 2.4], atol=0.02)
    assert "coefficient of x0 (p < 1e-12) differs" in finder.verdict_
    predicted, std = finder.predict(X, return_std=True, groups=group)
    assert np.mean(np.abs(predicted - y) < 2 * std) > 0.9
    assert finder.score(X, y, groups=group) > 0.99
    with pytest.raises(ValueError, match="differ between groups"):
        finder.predict(X)
    with pytest.raises(ValueError, match="no law of group 'D'"):
        finder.predict(X[:1], groups=["D"])
    assert "A: <math" in finder._repr_html_()
    with pytest.raises(ValueError, match="one by one"):
        to_python(finder)
    finder.save(tmp_path / "finder.json")
    loaded = load(tmp_path / "finder.json", LawFinder)
    np.testing.assert_array_equal(loaded.predict(X, groups=group), predicted)


def test_a_curve_is_found_that_no_group_would_tell_alone():
    """30 rows of one group are too few for four constants; 60 rows that share three are not."""
    X, y, batch = doses(1, n=30, ec50=(2.4, 4.9))
    y[35] += 30  # a bad well
    finder = LawFinder(robust=True).fit(X, y, groups=batch)
    first, second = finder.laws_
    assert sorted(first.constants) == ["K", "V", "c", "n"]
    for law, true in ((first, 2.4), (second, 4.9)):
        value, std = law.constants["K"]
        assert abs(value - true) < 4 * std < 0.4 * true
    assert first.constants["n"] == second.constants["n"]
    assert "K (p < 1e-12) differs between groups" in finder.verdict_
    assert "1 of 60 rows are left out as wrong" in finder.verdict_
    assert "approximation" in finder.verdict_
    value, _ = first.constants["K"]
    assert f"/({value:.2f}" in str(first)


def test_one_curve_in_several_writings_is_no_rival_of_itself():
    """V x/(K + x) is 1/(a + b/x), and a saturation in 1/x: none of them is told from the others."""
    rng = np.random.default_rng(4)
    x, group = rng.uniform(0.2, 20, (60, 1)), np.arange(60) % 2
    y = 90 * x[:, 0] / (3.0 + 3.0 * group + x[:, 0]) + rng.normal(size=60)
    curve = check_law("y = V*x0/(K + x0)", x[group == 0], y[group == 0])
    inverse = check_law("y = c - A/(x0*(b + 1/x0))", x[group == 0], y[group == 0])
    of_sum = LawFinder(functions=()).fit(x[group == 0], 1 / (1 / 90 + (1 / 30) / x[group == 0, 0]))
    found = [of_sum.laws_[0], inverse, curve]
    rows = GroupedRows(np.vstack([x.T, y]), np.ones(60), read_groups(group, 60), curve.names)
    answers = iter([LawAnswer([law], "", 1.0) for law in found])
    answer = law_of_groups(rows, lambda *_: next(answers), False, lambda *_: None)
    assert [sorted(law.constants) for law in answer.laws] == [["K", "V"], ["K", "V"]]
    assert "would fit as well" not in answer.verdict


def test_weights_are_repeated_rows():
    X, y, group = lines(n=60)
    weight = np.where(np.arange(60) < 20, 2.0, 1.0)
    rows = np.repeat(np.arange(60), weight.astype(int))
    weighted = LawFinder(functions=()).fit(X, y, sample_weight=weight, groups=group)
    repeated = LawFinder(functions=()).fit(X[rows], y[rows], groups=group[rows])
    for one, other in zip(weighted.laws_, repeated.laws_, strict=True):
        np.testing.assert_allclose(one.coef, other.coef, rtol=1e-8)
        np.testing.assert_allclose(one.coef_std, other.coef_std, rtol=1e-6)


def test_bad_groups_get_a_clear_error():
    X, y, group = lines(n=30)
    with pytest.raises(ValueError, match="groups has 3 entries, and X has 30 rows"):
        check_law("y = a*x0 + b", X, y, groups=group[:3])
    with pytest.raises(ValueError, match="no group for row 2"):
        check_law("y = a*x0 + b", X, y, groups=[*group[:2], None, *group[3:]])
    few = np.where(np.arange(30) < 2, "few", group)
    with pytest.raises(ValueError, match="group 'few' has 2"):
        check_law("y = a*x0 + b", X, y, groups=few)
    with pytest.raises(ValueError, match="groups need a target"):
        LawFinder().fit(X, groups=group)
    with pytest.raises(ValueError, match="noise in the target alone"):
        LawFinder(noise=0.1).fit(X, y, groups=group)
    with pytest.raises(ValueError, match="without groups"):
        LawFinder().fit(X, 2 * X[:, 0] + 1).predict(X, groups=group)


def test_a_form_has_constants_that_some_group_determines():
    """A level of zero is known beside the spread of the target; a rate of zero is not known."""
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, (60, 1))
    laws = [check_law("y = a*x0 + b", x, 2 * x[:, 0] + 0.1 * random.normal(size=60))]
    fit = _FormFit(laws)
    assert _determined(fit, {"a": 2.0, "b": 1.2}).laws == laws
    refused = _determined(fit, {"a": 2.0, "b": 0.0})
    assert refused.laws == [] and "do not determine b" in refused.reason
