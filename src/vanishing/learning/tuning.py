"""Which points a search tries.

A grid that is given is searched exactly. Otherwise families of classifiers are tried, the simplest
first, each from a large psi down until smaller ones stop paying: there the time goes, and there
overfitting starts. A more complex one must win by a standard error. Other scalings and oracles
run against the first of a family, from large psi to small; then the best of them is tried at every
psi. If hardly any mistakes are left, a difference could be chance, and the search ends.

What is skipped because of its size depends on counts, never on a clock: the answer is the same on
any machine and with any number of threads.
"""

from collections.abc import Callable, Sequence
from math import comb, sqrt

import numpy as np
from sklearn import get_config

from vanishing.learning import settings
from vanishing.learning.candidates import Bend
from vanishing.learning.trials import Choice, FoldScores, SearchPoint, Trials


class Tuning:
    """The looks that a search takes, in their order.

    Parameters
    ----------
    trials : Trials
    psis : list of float or None
        A given grid, or None to go down from a large one.
    families : sequence of sequence of Choice
        Families of classifiers to choose among, the simplest first; the choices of each are tried
        one after the other while they gain.
    others : callable
        ``others(choice)`` returns those that differ from a choice in scaling or oracle.
    bends : sequence of callables
        ``bend(choice)`` returns those with knots of one kind, for contrastive generators.
    simpler : callable
        ``simpler(point)`` returns paths from a point to simpler ones; None: the best is taken.

    Attributes
    ----------
    skipped : list of str
        What was not looked at, and why.
    """

    def __init__(
        self,
        trials: Trials,
        psis: Sequence[float] | None,
        families: Sequence[Sequence[Choice]],
        others: Callable[[Choice], Sequence[Choice]],
        bends: Sequence[Callable[[Choice], Sequence[Bend]]],
        simpler: Callable[[SearchPoint], Sequence[Sequence[SearchPoint]]] | None,
    ):
        self.trials = trials
        self.psis = psis
        self.families = families
        self.others = others
        self.bends = bends
        self.simpler = simpler
        self.skipped: list[str] = []
        self._taken: Choice | None = None
        self._simplest: tuple[FoldScores, int] | None = None

    def run(self) -> None:
        """Look at what is worth it."""
        self._search()
        if self.simpler is not None:
            self._simplify()

    def _search(self) -> None:
        firsts = []
        for family in self.families:
            firsts.append(self._climb(family))
            if family is self.families[0]:  # planes are simple, and cost next to nothing
                for following in self.families[1:2]:
                    self._walk(following[0])
            if self._mistakes() < settings.FEW_MISTAKES:
                return
            firsts[-1] = self._bend(firsts[-1])
            if self._mistakes() < settings.FEW_MISTAKES:
                return
        # A family that is clearly behind has no variant that catches up.
        for first in [first for first in firsts if not self._is_behind(first)]:
            self._sharpen(first)
            self._compare(first)

    def best(self) -> tuple[FoldScores, int]:
        """Return the look that is taken, and the place of its C.

        Of equal ones the first psi and the smallest C.
        """
        if self._simplest is not None:
            return self._simplest
        return self._best_of(self._taken or next(iter(self.trials.looks)).choice)

    def _best_of(self, choice: Choice) -> tuple[FoldScores, int]:
        of_choice = (look for look in self.trials.looks.values() if look.point.choice == choice)
        look = max((look for look in of_choice if look.by_C), key=lambda look: look.best)
        return look, int(np.nanargmax(look.means))

    def _mistakes(self) -> int:
        look, place = self.best()
        return int(np.count_nonzero(~look.correct(place)))

    def _is_behind(self, choice: Choice) -> bool:
        """Say whether a choice is clearly worse than what is taken."""
        return self._ahead(self.best(), self._best_of(choice)) > settings.BEHIND

    def _climb(self, family: Sequence[Choice]) -> Choice:
        """Walk through the choices of a family while they gain; return the best of them."""
        best, n_without_gain = family[0], 0
        for choice in family:
            largest, Cs = 1.0, None
            if choice != best and self._is_costly(choice):  # only from where the best is
                if self._is_behind(best):
                    break
                of_best, place = self._best_of(best)
                largest, Cs = of_best.point.psi, self._C_and_smaller(place)
            self._walk(choice, largest, Cs)
            look, _ = new = self._best_of(choice)
            if choice != best:
                n_without_gain += 1
                if self._ahead(new, self._best_of(best)) > settings.SURE:
                    best, n_without_gain = choice, 0
            if n_without_gain >= settings.PATIENCE or self._perfect(look):
                break
        return best

    def _is_costly(self, choice: Choice) -> bool:
        """Say whether a degree of contrastive generators takes long."""
        if not choice.is_contrastive or self.psis is not None:
            return False
        assert choice.max_degree is not None
        n_terms = comb(self.trials.n_columns + choice.max_degree, choice.max_degree)
        return self._work(choice, [n_terms]) > settings.MOST_WORK_WITHOUT_GAIN

    def _bend(self, straight: Choice) -> Choice:
        """Let the best choice of a family have knots of one kind after the other, while they gain.

        Return the best of it and those with some: with the psi that was best without, and the C
        that was, or the one below, as there are many more generators. Costly ones follow only where
        cheaper ones gained.
        """
        best = straight
        if not straight.is_contrastive or straight.absolute is False:
            return best
        for k, bend in enumerate(self.bends):
            nothing_gained = k > 0 and best == straight
            most = settings.MOST_BENT_WORK if nothing_gained else settings.MOST_SCREENED_WORK
            for base, choice, work in bend(best):
                if work > most:
                    continue
                look, place = self._best_of(base)
                self.trials.look_at(SearchPoint(choice, look.point.psi), self._C_and_smaller(place))
                if self._ahead(self._best_of(choice), self._best_of(best)) > settings.SURE:
                    best = choice
                    self._consider(choice)
        return best

    # -- The simplest of what is about as good ----------------------------------------------------

    def _simplify(self) -> None:
        """Take the simplest of what is worse by no measurable amount.

        With smaller C, greedy generators of OAVI or slack, and then with fewer equations again and
        again.
        """
        assert self.simpler is not None
        best = self.best()
        look, place = best
        if self._work(look.point.choice, [look.n_generators]) <= settings.MOST_SIMPLIFIED_WORK:
            Cs = self.trials.Cs[max(0, place - 2) : place + 1]
            self.trials.look_at(look.point, Cs)
            paths = self.simpler(look.point)
            for points in paths[:1] if self._takes_long(look) else paths:
                for point in points:
                    new = self.trials.look_at(point, Cs)
                    if not any(self._is_as_good((new, place), best) for place in new.by_C):
                        break
        run: tuple[FoldScores, int] | None = min(self._equal(best), key=_complexity)
        while run is not None:
            self._simplest = run
            run = self._with_fewer(*run, best)

    def _with_fewer(
        self, look: FoldScores, place: int, best: tuple[FoldScores, int]
    ) -> tuple[FoldScores, int] | None:
        """Return what is simpler with fewer equations, and about as good; None: nothing is."""
        (choice, psi), n_equations = look.point, look.n_equations(place)
        for share in settings.FEWER[:1] if self._takes_long(look) else settings.FEWER:
            most = max(1, int(share * n_equations))
            if most == n_equations:
                return None
            fewer = SearchPoint(choice._replace(max_equations=most), psi)
            self.trials.look_at(fewer, self.trials.Cs[place : place + 2])
            new, at = min(self._equal(best), key=_complexity)
            if (new.point, at) != (look.point, place):
                return new, at
        return None

    def _takes_long(self, look: FoldScores) -> bool:
        """Say whether looks at as many generators take so long that few are worth it."""
        return self._work(look.point.choice, [look.n_generators]) > settings.MOST_WORK_WITHOUT_GAIN

    def _equal(self, best: tuple[FoldScores, int]) -> list[tuple[FoldScores, int]]:
        """Return the looks that are worse than the best by no measurable amount."""
        runs = [(look, place) for look in self.trials.looks.values() for place in look.by_C]
        return [run for run in runs if self._is_as_good(run, best)]

    def _is_as_good(self, run: tuple[FoldScores, int], best: tuple[FoldScores, int]) -> bool:
        """Say whether a look is worse than the best by no measurable amount, at the places of C.

        As few rows show little by their labels, its log-loss is surely not larger by more than a
        small share. It makes no more mistakes; or few more, where its log-loss is surely smaller,
        by as many standard errors at least: the best of many scores is partly the luckiest.
        """
        lost = self._ahead(best, run)
        if lost > 0.0 and not self._few_more(run, best):
            return False
        losses = self.trials.losses(*best)
        change = self.trials.losses(*run) - losses
        error = change.std() / np.sqrt(len(change))
        if lost > 0.0 and change.mean() > -max(lost, 1.0) * error:
            return False
        return change.mean() + error <= settings.MORE_LOSS * losses.mean()

    def _few_more(self, run: tuple[FoldScores, int], best: tuple[FoldScores, int]) -> bool:
        """Say whether a look makes few more mistakes, where these are what is scored."""
        more, mistakes = _mean(best) - _mean(run), 1.0 - _mean(best)
        return self.trials.model.scoring is None and more <= settings.MORE_MISTAKES * mistakes

    def _best_at(self, look: FoldScores) -> tuple[FoldScores, int]:
        return look, int(np.nanargmax(look.means))

    # -- From large psi to small ------------------------------------------------------------------

    def _walk(self, choice: Choice, largest=1.0, Cs: Sequence[float] | None = None) -> None:
        """Look at a given grid, or go down from a psi with some C; take the choice if it is best.

        Where a grid of C is not given, they are the first ones.
        """
        if self.psis is None:
            self._descend(choice, largest, self.trials.first_Cs if Cs is None else Cs)
        else:
            points = [SearchPoint(choice, psi) for psi in self.psis]
            self.trials.look(points, self.trials.first_Cs)
        self._consider(choice)

    def _consider(self, choice: Choice) -> None:
        """Take a choice if it is better by some standard errors."""
        if self._taken is None or self._ahead(self._best_of(choice), self.best()) > settings.SURE:
            self._taken = choice

    def _descend(self, choice: Choice, largest: float, Cs: Sequence[float]) -> None:
        n_without_gain = 0
        best: tuple[FoldScores, int] | None = None
        before: FoldScores | None = None
        sizes: list[int] = []  # generators of the models until now
        for psi in settings.CONTRASTIVE_PSIS if choice.is_contrastive else settings.PSIS:
            if psi > largest:
                continue
            point = SearchPoint(choice, psi)
            too_much = self._too_much(choice, sizes)
            if too_much is not None:
                self.trials.skip(point)
                self.skipped.append(f"{_named(point)} and smaller ones, {too_much}")
                return
            look = self.trials.look_at(point, Cs)
            new = self._best_at(look)
            if best is None or self._ahead(new, best) > settings.SURE:
                best, n_without_gain = new, 0
            elif choice.is_contrastive or look.n_generators != sizes[-1]:  # else it may be the same
                n_without_gain += 1
            sizes.append(look.n_generators)
            if n_without_gain >= self._patience(choice, sizes) or self._perfect(look):
                return
            # Of contrastive generators psi no longer matters once it changes nothing.
            if before is not None and choice.is_contrastive and _same(before, look):
                return
            costly = self._work(choice, sizes) > settings.MOST_WORK_WITHOUT_GAIN
            # A further degree that is no better with the psi of the one before.
            late = choice.is_contrastive and psi <= self.best()[0].point.psi
            if (costly or late) and self._taken is not None and self._is_behind(choice):
                return
            before, Cs = look, self._promising(look)

    def _patience(self, choice: Choice, sizes: list[int]) -> int:
        costly = self._work(choice, sizes) > settings.MOST_WORK_WITHOUT_GAIN
        return 1 if costly else settings.PATIENCE

    def _perfect(self, look: FoldScores) -> bool:
        """Say whether nothing can be better: no mistakes, where these are what is scored."""
        return self.trials.model.scoring is None and look.best == 1.0

    def _promising(self, look: FoldScores) -> list[float]:
        """Return the C that may be best with the next psi, too: those not clearly worse with this.

        A binomial standard error of the score is a wide margin: mistakes are mostly the same ones.
        """
        if self.trials.model.scoring is None:
            n_rows = look.counts.sum() ** 2 / np.sum(look.counts**2)  # of equal counts
            error = np.sqrt(max(look.best * (1.0 - look.best), 1.0 / n_rows) / n_rows)
        else:
            scores = look.table("score")
            error = np.nanmax(scores.std(axis=0)) / np.sqrt(max(len(scores) - 1, 1))
        return [self.trials.Cs[i] for i in np.flatnonzero(look.means >= look.best - error)]

    def _work(self, choice: Choice, sizes: list[int]) -> float:
        """Return the work that the next psi takes, from the numbers of generators until now."""
        growth = 1.0  # of contrastive ones there are no more than terms
        if len(sizes) > 1 and not choice.is_contrastive:
            growth = min(max(sizes[-1] / max(sizes[-2], 1), 1.0), settings.LARGEST_GROWTH)
        return self.trials.n_rows * sizes[-1] * growth * self.trials.n_problems

    def _too_much(self, choice: Choice, sizes: list[int]) -> str | None:
        """Say why the next psi is not looked at."""
        if not sizes:
            return None
        work = self._work(choice, sizes)
        # The features of a fold, and the columns that the SVM makes of these.
        if 16.0 * work / self.trials.n_problems > get_config()["working_memory"] * 2**20:
            return "whose features would not fit into scikit-learn's working_memory"
        return "which would take too long" if work > settings.MOST_WORK else None

    def _sharpen(self, choice: Choice) -> None:
        """Look at the C next to the best one of a choice, where these are not given."""
        self._sharpened(*self._best_of(choice))
        self._consider(choice)

    def _sharpened(self, look: FoldScores, place: int) -> tuple[FoldScores, int]:
        """Return a look with the C next to one, too, and the place of the best of them."""
        look = self.trials.look_at(look.point, self.trials.Cs[max(0, place - 1) : place + 2])
        return look, int(np.nanargmax(look.means))

    # -- Other scalings and oracles ---------------------------------------------------------------

    def _compare(self, first: Choice) -> None:
        """Let other scalings and oracles run against a choice; walk through the best of them."""
        winner = self._winner(first, self.others(first))
        if winner is not None:
            look, place = winner
            # Larger C take longest, and were no better.
            choice = look.point.choice
            self._walk(choice, look.point.psi, self._C_and_smaller(place))
            self._sharpen(choice)

    def _winner(self, first: Choice, others: Sequence[Choice]) -> tuple[FoldScores, int] | None:
        """Return the best look at other choices and the place of its C, if it is clearly better."""
        look, place = self._best_of(first)
        psis = [
            point.psi
            for point, other in self.trials.looks.items()
            if point.choice == first
            and point.psi >= look.point.psi
            and self._work(first, [other.n_generators]) <= settings.MOST_SCREENED_WORK
        ]
        if not psis:
            return None
        C = self.trials.Cs[place]
        reference = self.trials.look_at(SearchPoint(first, min(psis)), [C]), place
        raced = [self._race(choice, first, psis, place) for choice in others]
        better = [run for run in raced if run and self._ahead(run, reference) > settings.SURE]
        if not better:
            return None
        best = max(better, key=_mean)
        tied = [run for run in better if self._ahead(best, run) <= settings.SURE]
        if len(tied) > 1:  # the C next to theirs may tell them apart
            tied = [self._sharpened(*run) for run in tied]
        return max(tied, key=_mean)

    def _race(self, choice: Choice, first: Choice, psis: Sequence[float], place: int):
        """Let a choice run against the first from large psi to small; return its best look and C.

        It ends where the choice falls behind, or stops gaining. With the next smaller C first: the
        more evenly a scaling spreads rows, the more features there are.
        """
        best, trials = None, self.trials
        for C in self._C_and_smaller(place):
            at = trials.Cs.index(C)
            leader = None
            for psi in psis:
                new = trials.look_at(SearchPoint(choice, psi), [C])
                old = trials.look_at(SearchPoint(first, psi), [trials.Cs[place]])
                ahead = new.means[at] - old.means[place]
                if ahead < 0.0 or (leader and ahead > 0.0 and new.means[at] <= leader.means[at]):
                    break
                if leader is None or new.means[at] > leader.means[at]:
                    leader = new
            if leader is not None and (best is None or leader.means[at] > _mean(best)):
                best = leader, at
        return best

    def _C_and_smaller(self, place: int) -> list[float]:
        """Return those of the first C that are next to one from below."""
        first, most = self.trials.first_Cs, self.trials.Cs[place]
        return [value for value in first if value <= most][-2:] or first[:1]

    def _ahead(self, new: tuple[FoldScores, int], old: tuple[FoldScores, int]) -> float:
        """Return by how many standard errors a look's score, at the place of a C, is better.

        By the rows on which one is right and the other wrong, where mistakes are what is scored.
        """
        if self.trials.model.scoring is None:
            right, before = (look.correct(place) for look, place in (new, old))
            counts, differ = new[0].counts, right != before
            gain = np.where(right, counts, -counts)[differ]
            return float(gain.sum() / sqrt(max(np.sum(gain**2), 1.0)))
        scores, before = (look.table("score")[:, place] for look, place in (new, old))
        gain = scores - before
        error = gain.std() / np.sqrt(max(len(gain) - 1, 1))
        return float(gain.mean() / max(error, 1e-12))


def _same(before: FoldScores, look: FoldScores) -> bool:
    """Say whether two looks have the same labels right, with all C that the second was tried at."""
    return all(
        place in before.by_C and np.array_equal(before.correct(place), look.correct(place))
        for place in look.by_C
    )


def _complexity(run: tuple[FoldScores, int]) -> float:
    look, place = run
    return look.complexity(place)


def _mean(run: tuple[FoldScores, int]) -> float:
    look, place = run
    return look.means[place]


def _named(point: SearchPoint) -> str:
    choice = "".join(f", {name} {value!r}" for name, value in point.choice.words().items())
    return f"psi {point.psi:g}{choice}"
