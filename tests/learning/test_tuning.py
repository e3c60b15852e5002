"""Which points a search looks at: told from scores that are made up."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from vanishing import VanishingClassifierCV
from vanishing.learning import search, settings
from vanishing.learning.candidates import Bend
from vanishing.learning.trials import Choice, FoldScore, FoldScores, SearchPoint
from vanishing.learning.tuning import Tuning

N_ROWS = 1000


class MadeUp:
    """Trials whose numbers of right rows are those of a function of point and C."""

    def __init__(self, right, Cs=(1.0,)):
        self.right = right
        self.n_rows, self.n_columns, self.n_problems, self.Cs = N_ROWS, 1, 1, list(Cs)
        self.first_Cs = self.Cs
        self.model = SimpleNamespace(scoring=None)
        self.looks = {}

    def thinned(self, n_rows):
        return self

    def look_at(self, point, Cs):
        by_C = {self.Cs.index(C): [self._fold(point, C)] for C in Cs}
        look = FoldScores(point, (1, len(self.Cs)), by_C, 10, [])
        known = self.looks.get(point)
        self.looks[point] = look if known is None else known.joined(look)
        return self.looks[point]

    def _fold(self, point, C):
        correct = np.arange(N_ROWS) < self.right(point, C)
        counts = np.ones(N_ROWS)
        return FoldScore(correct.mean(), 0.0, 0.0, correct, counts, counts, 1, 1)


def contrastive(degree):
    return Choice("minmax", "contrastive", max_degree=degree)


def tuned(trials, families, bends=()):
    tuning = Tuning(trials, None, families, lambda choice: [], bends, None)
    tuning.run()
    return tuning


def bend(work=1.0, **knots):
    """Return what adds knots to a choice."""
    return lambda choice: [Bend(choice, choice._replace(**knots), work)]


def looked_at(trials):
    return {point.choice for point in trials.looks}


@pytest.mark.parametrize("start, n_psis", [(600, 4), (895, len(settings.CONTRASTIVE_PSIS))])
def test_a_degree_that_is_clearly_behind_ends_at_the_psi_of_the_one_before(start, n_psis):
    """The fourth psi is the best of the first degree; the next degree gains with every psi."""

    def right(point, C):
        step = settings.CONTRASTIVE_PSIS.index(point.psi)
        return min(step, 3) * 10 + 870 if point.choice.max_degree == 1 else start + step

    trials = MadeUp(right)
    tuned(trials, [[contrastive(1), contrastive(2)]])
    psis = [point.psi for point in trials.looks if point.choice.max_degree == 2]
    assert psis == list(settings.CONTRASTIVE_PSIS[:n_psis])


def test_a_degree_that_takes_long_starts_at_the_psi_of_the_one_before():
    """Twice the columns of a degree that does not."""

    def right(point, C):
        step = settings.CONTRASTIVE_PSIS.index(point.psi)
        return 870 + 10 * (step == 3) + 40 * (point.choice.max_degree == 2) + step

    for n_columns, first in ((20, 0), (40, 3)):
        trials = MadeUp(right)
        trials.n_columns = n_columns
        tuned(trials, [[contrastive(1), contrastive(2)]])
        psis = [point.psi for point in trials.looks if point.choice.max_degree == 2]
        assert psis[0] == settings.CONTRASTIVE_PSIS[first]


def test_psi_ends_where_it_changes_nothing_any_more():
    trials = MadeUp(
        lambda point, C: 900 + min(settings.CONTRASTIVE_PSIS.index(point.psi), 2),
    )
    tuned(trials, [[contrastive(1)]])
    assert [point.psi for point in trials.looks] == list(settings.CONTRASTIVE_PSIS[:4])


@pytest.mark.parametrize("best, tried", [(0.1, {0.1, 1.0}), (10.0, {1.0, 10.0})])
def test_knots_come_with_the_best_C_and_the_one_below(best, tried):
    knots = contrastive(1)._replace(n_knots=16)
    trials = MadeUp(lambda point, C: 900 + 10 * (best == C), settings.CS)
    tuned(trials, [[contrastive(1)]], [bend(n_knots=16)])
    (look,) = [look for point, look in trials.looks.items() if point.choice == knots]
    # Those next to the best were looked at only where knots were taken.
    assert {trials.Cs[place] for place in look.by_C} <= tried


def test_knots_of_one_kind_are_added_to_those_of_another_where_they_gained():
    def right(point, C):
        return 800 + 50 * bool(point.choice.n_knots) + 50 * bool(point.choice.n_pair_knots)

    first = contrastive(1)
    trials = MadeUp(right)
    kinds = [{"n_knots": 16}, {"n_levels": 6}, {"n_pair_knots": 8}]
    tuned(trials, [[first]], [bend(**kind) for kind in kinds])
    curves = first._replace(n_knots=16)
    wanted = {first, curves, curves._replace(n_levels=6), curves._replace(n_pair_knots=8)}
    assert looked_at(trials) == wanted


@pytest.mark.parametrize("gain, tried", [(0, False), (50, True)])
def test_knots_that_take_long_follow_only_those_that_gained(gain, tried):
    trials = MadeUp(lambda point, C: 800 + gain * bool(point.choice.n_knots))
    long = 2 * settings.MOST_BENT_WORK
    tuned(trials, [[contrastive(1)]], [bend(n_knots=16), bend(long, n_pair_knots=8)])
    assert any(choice.n_pair_knots for choice in looked_at(trials)) == tried


def test_many_features_have_to_gain_more_than_few():
    """One row more of a thousand is one standard error, and two are 1.4."""
    for n_more, taken in ((1, False), (2, True)):
        trials = MadeUp(lambda point, C, n=n_more: 800 + n * bool(point.choice.n_levels))
        tuning = tuned(trials, [[contrastive(1)]], [lambda choice: [], bend(n_levels=6)])
        assert bool(tuning.best()[0].point.choice.n_levels) == taken


def test_a_family_that_is_clearly_behind_tries_no_degree_that_takes_long():
    def right(point, C):
        return 900 if point.choice.absolute is None else 850

    families = [[contrastive(1)], [contrastive(d)._replace(absolute=False) for d in (1, 2)]]
    for n_columns, tried in ((1, True), (40, False)):
        trials = MadeUp(right)
        trials.n_columns = n_columns
        tuned(trials, families)
        assert (families[1][1] in looked_at(trials)) == tried


def test_planes_are_looked_at_though_few_mistakes_are_left():
    planes = contrastive(1)._replace(absolute=False)
    trials = MadeUp(lambda point, C: N_ROWS - settings.FEW_MISTAKES + 1)
    families = [[contrastive(1)], [planes, planes._replace(max_degree=2)], [Choice("minmax")]]
    tuned(trials, families)
    assert looked_at(trials) == {contrastive(1), planes}


@pytest.mark.parametrize("split", [2, 8])
def test_where_mistakes_are_few_a_simpler_choice_makes_no_more(split, monkeypatch):
    """With few mistakes scores say next to nothing; losses do."""
    seen = []

    class Watched(Tuning):
        def _simplify(self):
            before = self.best()
            super()._simplify()
            seen.append((self.trials, before, self.best()))

    monkeypatch.setattr(search, "Tuning", Watched)
    X, y = load_wine(return_X_y=True)
    X, _, y, _ = train_test_split(X, y, train_size=0.6, stratify=y, random_state=split)
    VanishingClassifierCV().fit(X, y)
    ((trials, before, after),) = seen
    losses = trials.losses(*before)
    change = trials.losses(*after) - losses
    error = change.std() / np.sqrt(len(change))
    assert change.mean() + error <= settings.MORE_LOSS * losses.mean()
    assert after[0].means[after[1]] >= before[0].means[before[1]]
    assert after[0].complexity(after[1]) <= before[0].complexity(before[1])


@pytest.mark.parametrize(
    "mistakes, worse, better, change, as_good",
    [
        (100, 0, 0, 0.01, True),
        (100, 0, 0, 0.03, False),
        (100, 6, 4, -0.05, True),  # by 0.6 standard errors, and the loss by 1.6
        (100, 6, 4, -0.025, False),  # by 0.8: not surely
        (100, 2, 0, -0.04, False),  # by 1.4, and the loss by 1.3
        (100, 14, 10, -0.1, False),  # too large a share
        (20, 5, 4, -0.1, False),
    ],
)
def test_a_simpler_choice_makes_few_more_mistakes_if_its_loss_is_as_surely_smaller(
    mistakes, worse, better, change, as_good
):
    """The last rows are wrong; of the simpler choice, some others. Its losses change by turns."""
    best, simpler = (SearchPoint(contrastive(degree), 0.1) for degree in (2, 1))
    trials = MadeUp(lambda point, C: N_ROWS - mistakes)
    changes = np.where(np.arange(N_ROWS) % 2, 1.0, -1.0) * (change < 0.0) + change
    trials.losses = lambda look, place: 1.0 + changes * (look.point == simpler)
    looks = [trials.look_at(point, [1.0]) for point in (best, simpler)]
    (fold,) = looks[1].by_C[0]
    fold.correct[:worse] = False
    fold.correct[N_ROWS - better :] = True
    fold = fold._replace(score=fold.correct.mean())
    looks[1] = looks[1]._replace(by_C={0: [fold]})
    tuning = Tuning(trials, None, [], None, None, None)
    assert tuning._is_as_good((looks[1], 0), (looks[0], 0)) == as_good
