"""Which points a search looks at.

A given grid is looked at in full. Otherwise psi goes down from 0.1 until smaller ones stop paying:
that is where the time goes, and where overfitting starts. Other scalings and oracles than the first
run against it, from large psi to small, on some of the rows if there are many; the best, if it is
better by half a standard error, is walked through in turn. Where the first makes next to no
mistakes the difference to another could be nothing but chance, and none is looked at.

What is skipped because of its size depends on counts, never on a clock: the answer is the same on
any machine and with any number of threads.
"""

from itertools import product

import numpy as np
from sklearn import get_config

from vanishing.learning.trials import Choice, Look, Point, Trials, skipped

_SMALLEST_PSI = 1e-8
_FEW_MISTAKES = 10  # on held-out rows: with fewer, no other choice can be told from chance
_SURE = 0.5  # standard errors by which another choice has to be better
_SCREENED = 10_000  # training rows on which scalings and oracles are compared
MOST_ROWS = 30_000  # training rows of a fold that looks for psi are fitted to
# The work of a look: entries that one pass of the linear SVMs over the features of a fold reads.
_MOST_WORK = 8e7  # of the next psi; with more, a search takes minutes
_MOST_VAIN_WORK = 3e6  # of the next psi after one that brought nothing
# Values of psi that may bring nothing before smaller ones are left alone. Many rows bear a small
# psi, and tell whether it pays.
_PATIENCE, _MANY_ROWS, _MORE_PATIENCE = 2, 5000, 3
_GROWTH = 2.0  # of the number of generators from one psi to the next, that is reckoned with
_MOST_SCREENED_WORK = 1e7  # the same, where scalings and oracles are compared


def descending() -> list[float]:
    """Return the values of psi that a search goes through, the paper's and on."""
    found = []
    for power in range(1, 9):
        found += [10.0**-power, 0.5 * 10.0**-power]
    return [float(f"{psi:g}") for psi in found if psi >= _SMALLEST_PSI]


class Tuning:
    """The looks that a search takes, in their order.

    Parameters
    ----------
    trials : Trials
    psis : list of float or None
        A given grid, or None to go down from 0.1.
    scales, oracles : sequence of str
        To choose among, simplest first; empty where the user has chosen.

    Attributes
    ----------
    looks : dict of Point: Look
    choices : list of Choice
        That were walked through.
    skipped : list of str
        What was not looked at, and why.
    """

    def __init__(self, trials: Trials, psis, scales, oracles):
        self.trials = trials
        self.psis = psis
        self.scales = scales or [None]
        self.oracles = oracles or [None]
        self.looks: dict[Point, Look] = {}
        self.screened: dict[Point, Look] = {}  # on some of the rows
        self.choices: list[Choice] = []
        self.skipped: list[str] = []

    def run(self) -> None:
        """Look at what is worth it."""
        first = Choice(self.scales[0], self.oracles[0])
        self.choices = [first]
        self._walk(first)
        if len(self.scales) * len(self.oracles) > 1 and self._mistakes() >= _FEW_MISTAKES:
            (other, psi), place = self._other(first)
            if other != first:
                look, _ = self.best()
                self.choices.append(other)
                # Larger C take longest, and were no better.
                self._walk(other, psi, look.best, self.trials.Cs[max(0, place - 1) : place + 1])

    def best(self) -> tuple[Look, int]:
        """Return the look with the best mean score, and the place of its C.

        Of equal ones the first psi and the smallest C. Scalings and oracles that were not walked
        through do not count.
        """
        looks = [
            look
            for look in self.looks.values()
            if look.values and look.point.choice in self.choices
        ]
        look = max(looks, key=lambda look: look.best)  # the first of equals
        return look, int(np.nanargmax(look.means))

    def _mistakes(self) -> int:
        look, place = self.best()
        return int(np.count_nonzero(~look.correct[place]))

    # -- From large psi to small ------------------------------------------------------------------

    def _walk(self, choice: Choice, largest=1.0, best=-np.inf, Cs: list[float] | None = None):
        """Look at a given grid; or go down from a psi, with some C, to beat the best until now."""
        if self.psis is not None:
            points = [Point(choice, psi) for psi in self.psis]
            self.trials.look(points, looks=self.looks)
            return
        n_vain = 0
        sizes: list[int] = []  # generators of the models until now
        for psi in descending():
            if psi > largest:
                continue
            point = Point(choice, psi)
            too_much = self._too_much(sizes)
            if too_much is not None:
                nothing = skipped(point, len(self.trials.folds), len(self.trials.Cs))
                self.looks.setdefault(point, nothing)
                self.skipped.append(f"{_named(point)} and smaller ones, {too_much}")
                return
            (look,) = self.trials.look([point], Cs, self.looks)
            if look.best > best:
                best, n_vain = look.best, 0
            elif not sizes or look.n_generators != sizes[-1]:  # else it may be the same
                n_vain += 1
            sizes.append(look.n_generators)
            if n_vain >= self._patience(sizes) or self._perfect(look):
                return
            Cs = self._promising(look)

    def _patience(self, sizes: list[int]) -> int:
        if self._work(sizes) > _MOST_VAIN_WORK:
            return 1
        return _MORE_PATIENCE if self.trials.n_rows >= _MANY_ROWS else _PATIENCE

    def _perfect(self, look: Look) -> bool:
        """Say whether nothing can be better: no mistakes, where these are what is scored."""
        return self.trials.model.scoring is None and look.best == 1.0

    def _promising(self, look: Look) -> list[float]:
        """Return the C that may be best with the next psi, too: those not clearly worse with this.

        A binomial standard error of the score is a wide margin: mistakes are mostly the same ones.
        """
        if self.trials.model.scoring is None:
            n_rows = sum(len(test.y) for _, test in self.trials.folds)
            error = np.sqrt(max(look.best * (1.0 - look.best), 1.0 / n_rows) / n_rows)
        else:
            error = np.nanmax(look.scores.std(axis=0)) / np.sqrt(max(len(look.scores) - 1, 1))
        promising = look.means >= look.best - error
        return [C for C, is_so in zip(self.trials.Cs, promising, strict=True) if is_so]

    def _work(self, sizes: list[int]) -> float:
        """Return the work that the next psi takes, from the numbers of generators until now."""
        growth = sizes[-1] / max(sizes[-2], 1) if len(sizes) > 1 else 1.0
        n_entries = self.trials.n_rows * sizes[-1] * min(max(growth, 1.0), _GROWTH)
        return n_entries * self.trials.n_problems

    def _too_much(self, sizes: list[int]) -> str | None:
        """Say why the next psi is not looked at."""
        if not sizes:
            return None
        work = self._work(sizes)
        # The features of a fold, and the columns that the SVM makes of these.
        if 16.0 * work / self.trials.n_problems > get_config()["working_memory"] * 2**20:
            return "whose features would not fit into scikit-learn's working_memory"
        return "which would take too long" if work > _MOST_WORK else None

    # -- Other scalings and oracles ---------------------------------------------------------------

    def _other(self, first: Choice) -> tuple[Point, int]:
        """Return where the best of the other choices is, or the first if none is clearly better.

        A point, and the place of its C.
        """
        look, place = self.best()
        trials = self.trials.thinned(_SCREENED)
        psis = [
            point.psi
            for point, at in self.looks.items()
            if point.psi >= look.point.psi and self._work([at.n_generators]) <= _MOST_SCREENED_WORK
        ]
        if not psis:
            return look.point, place
        best = self._known_or_new(trials, Point(first, min(psis)), place), place
        reference = best
        for choice in map(Choice._make, product(self.scales, self.oracles)):
            if choice != first:
                found = self._race(trials, choice, first, psis, place)
                if found and found[0].means[found[1]] > best[0].means[best[1]]:
                    best = found if self._better(reference, found) else best
        return best[0].point, best[1]

    def _race(self, trials: Trials, choice: Choice, first: Choice, psis, place: int):
        """Let a choice run against the first from large psi to small; return its best look and C.

        It ends where the choice falls behind, or stops gaining. With the next smaller C first: the
        more evenly a scaling spreads rows, the more features there are.
        """
        best = None
        for at in range(max(0, place - 1), place + 1):
            found = None
            for psi in psis:
                new = self._known_or_new(trials, Point(choice, psi), at)
                old = self._known_or_new(trials, Point(first, psi), place)
                ahead = new.means[at] - old.means[place]
                if ahead < 0.0 or (found and ahead > 0.0 and new.means[at] <= found.means[at]):
                    break
                if found is None or new.means[at] > found.means[at]:
                    found = new
            if found is not None and (best is None or found.means[at] > best[0].means[best[1]]):
                best = found, at
        return best

    def _known_or_new(self, trials: Trials, point: Point, place: int) -> Look:
        """Return a look at a point with one C; on all rows it may have been taken already."""
        C = trials.Cs[place]
        looks = self.looks if trials is self.trials else self.screened
        known = looks.get(point)
        if known is None or np.isnan(known.scores[0, place]):
            (new,) = trials.look([point], [C])
            looks[point] = new if known is None else known.joined(new)
        return looks[point]

    def _better(self, old: tuple[Look, int], new: tuple[Look, int]) -> bool:
        """Say whether the new look's score, at the place of a C, is better by some standard errors.

        By the rows on which one is right and the other wrong, where mistakes are what is scored.
        """
        if self.trials.model.scoring is None:
            right, wrong = (look.correct[place] for look, place in (new, old))
            gained, lost = np.count_nonzero(right & ~wrong), np.count_nonzero(wrong & ~right)
            return gained - lost > _SURE * np.sqrt(gained + lost)
        gain = new[0].scores[:, new[1]] - old[0].scores[:, old[1]]
        return gain.mean() > _SURE * gain.std() / np.sqrt(max(len(gain) - 1, 1))


def _named(point: Point) -> str:
    choice = "".join(f", {name} {value!r}" for name, value in point.choice.params().items())
    return f"psi {point.psi:g}{choice}"
