"""Batches: runs with the same form of equations, some constants of which differ between them.

Terms are searched for in the largest batches and in all runs together. What is found is fitted to
each batch alone; the best over all batches is chosen. Constants that differ no more than chance
lets them are then shared.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag
from scipy.special import chdtrc

from vanishing.equations.parts import Group
from vanishing.motion import settings
from vanishing.motion.equations_fit import EquationsFit, FitResult, reason_against, sampled
from vanishing.motion.equations_search import Answer, EquationSearch
from vanishing.motion.measured import Noise, SmoothRun, cut_runs, smooth_runs
from vanishing.motion.shooting import Rows, Shot, System, of_batch, rows_of
from vanishing.motion.simulation import FittedMotion, followed_rows


class BatchedFit(EquationsFit):
    """A fit to the runs of several batches.

    Parameters
    ----------
    labels : sequence of str, int or float
        Of the batches, which runs know by their places.
    *arguments, **options :
        As `EquationsFit` takes them.
    """

    def __init__(self, labels: list[Group], *arguments, **options):
        super().__init__(*arguments, **options)
        self.labels = labels

    def result(self) -> FitResult:
        """Run all steps."""
        searches = [self._search(*self._smooth(b, learned_only=True)) for b in self._batches]
        together = self._search(
            [run for search in searches for run in search.runs], _whole_noise(searches)
        )
        answers = self._answers(searches, together)
        front = self._front(answers[0])
        fits = [self._apart(answer, searches) for answer in answers]
        best = min(fits, key=lambda fit: fit.score)
        if not np.isfinite(best.score):
            return self._nothing(
                together.noise, front, reason_against(answers[0], together.is_late)
            )
        noise, rows = _whole_noise(searches), _rows(searches)
        differs, p_values = self._differing(best.shot, rows)
        shot = self._shared(rows, best.shot, differs)
        count = best.n_pieces
        held_error = self._held_out_error(shot, count)
        if self.held_out.any() or len(rows.bounds) < len(cut_runs(self.runs)):
            smooth = [self._smooth(b, learned_only=False) for b in self._batches]
            rows = rows_of([run for runs, _ in smooth for run in runs], noise)
            motion = FittedMotion(shot.system, shot.parameters, None)
            shot = self._shared(rows, followed_rows(motion, rows, count), differs)
        evidence = self._evidence(best, fits, answers, differs)
        explained, lack = self._explained(rows, shot)
        reason = self._objection(rows, shot, noise, held_error, explained, lack, evidence)
        equations = [
            equation
            for b, label in enumerate(self.labels)
            for equation in self._equations(
                _of_batch(shot, b), noise, evidence, explained, lack, label
            )
        ]
        result = self._nothing(noise, front, reason or "")._replace(
            explained=explained, lack_of_fit=lack, evidence=evidence, n_pieces=count,
            held_out_error=held_error,
        )  # fmt: skip
        if reason is not None:
            return result._replace(front=[*equations, *front])
        covariance = shot.covariance if not noise.is_below.all() else None
        sentence, differing = self._sentence(shot.system, differs, p_values)
        verdict = self._verdict(shot.system, evidence, count, held_error, []).removesuffix(".")
        return result._replace(
            equations=equations, ambiguous=self._ambiguous(together, evidence),
            verdict=f"{verdict}; {sentence}.", differing=differing,
            motion=FittedMotion(shot.system, shot.parameters, covariance),
        )  # fmt: skip

    @property
    def _batches(self) -> range:
        return range(len(self.labels))

    def _smooth(self, batch: int, *, learned_only: bool) -> tuple[list[SmoothRun], Noise]:
        """Return the smooth runs of a batch, those held out or not, and their noise."""
        runs = [
            run
            for run, out in zip(self.runs, self.held_out, strict=True)
            if run.batch == batch and not (out and learned_only)
        ]
        most = settings.SEARCHED_RUN_ROWS if learned_only else settings.FITTED_ROWS
        parts = sampled(cut_runs(runs), max(most // len(self.labels), 1), self.seed)
        return smooth_runs(parts, self.noise)

    def _answers(self, searches: list[EquationSearch], together: EquationSearch) -> list[Answer]:
        """Return what is found in the largest batches, and in all runs together."""
        sizes = [len(search.rows.t) for search in searches]
        largest = np.argsort(sizes, kind="stable")[::-1][: settings.SEARCHED_BATCHES]
        return [search.answer() for search in (*(searches[b] for b in largest), together)]

    # -- One structure in all batches -------------------------------------------------------------

    def _apart(self, answer: Answer, searches: list[EquationSearch]) -> "ApartFit":
        """Fit the terms of an answer to each batch alone."""
        if answer.best is None or not np.isfinite(answer.best.score):
            return ApartFit(np.inf, (), 0, _NOTHING)
        system = answer.best.shot.system.with_parameters(answer.best.shot.parameters)
        tried, first = [], 0
        for search in searches:
            tried.append(
                search.shot(
                    [
                        search.problem(j).with_terms(terms, "given")
                        if terms
                        else search.linear(j)[0]
                        for j, terms in enumerate(system.equations)
                    ]
                )
            )
        score = float(sum(one.score for one in tried))
        if not np.isfinite(score):
            return ApartFit(np.inf, system.key, 0, _NOTHING)
        bounds, pieces = [], 1
        for one, search in zip(tried, searches, strict=True):
            bounds.append(one.shot.bounds + first)
            first += len(search.rows.t)
            pieces = max(pieces, -(-len(one.shot.bounds) // len(search.rows.bounds)))
        shot = Shot(
            system,
            np.concatenate([one.shot.parameters for one in tried]),
            np.concatenate([one.shot.starts for one in tried]),
            np.concatenate(bounds),
            np.sum([one.shot.losses for one in tried], axis=0),
            block_diag(*(one.shot.covariance for one in tried)),
        )
        return ApartFit(score, system.key, pieces, shot)

    def _evidence(self, best, fits: list["ApartFit"], answers, differs) -> np.ndarray:
        """Return the evidence for the terms: the most of a search that found them.

        All runs together count only if no constant differs. It is no more than half the distance to
        what was found elsewhere.
        """
        found = [
            answer.evidence
            for answer, fit in zip(answers[:-1], fits[:-1], strict=True)
            if fit.key == best.key
        ]
        if fits[-1].key == best.key and not differs.any():
            found.append(answers[-1].evidence)
        evidence = np.max(found, axis=0) if found else np.zeros(len(self.names))
        for fit in fits:
            for j, terms in enumerate(fit.key):
                if not best.key[j] <= terms:
                    evidence[j] = min(evidence[j], (fit.score - best.score) / 2.0)
        return evidence

    # -- Which constants differ -------------------------------------------------------------------

    def _differing(self, shot: Shot, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Say which parameters differ between batches, and how likely that is by chance.

        One after the other is shared, the one that differs least first, as long as the squares that
        this adds are no more than chance adds.
        """
        p = shot.system.n_parameters
        values = shot.parameters.reshape(-1, p)
        inflated = max(1.0, float(np.max(self._errors(rows, shot))) ** 2)
        information = _inverse(np.asarray(shot.covariance)) / inflated
        differs, p_values, before = np.ones(p, dtype=bool), np.ones(p), 0.0
        level = settings.DIFFERENT / max(p, 1)
        together = [places for places in self._places_shared(shot.system) if len(places) > 1]
        while differs.any():
            trials = []
            for k in np.flatnonzero(differs):
                trial = differs.copy()
                trial[k] = False
                for places in together:
                    trial[places] &= k not in places
                added = _added(values, information, trial) - before
                n_more = int(differs.sum() - trial.sum()) * (len(values) - 1)
                p_values[k] = float(chdtrc(n_more, max(added, 0.0)))
                trials.append((p_values[k], added, trial))
            most, added, trial = max(trials, key=lambda one: one[0])
            if most < level:
                break
            differs, before = trial, before + added
        return differs, p_values

    def _shared(self, rows: Rows, shot: Shot, differs: np.ndarray) -> Shot:
        """Return the system with one value of each parameter that does not differ."""
        values = shot.parameters.reshape(-1, len(differs)).copy()
        values[:, ~differs] = np.median(values[:, ~differs], axis=0)
        return self._constrained(rows, shot._replace(parameters=values.ravel()), differs)

    def _sentence(self, system: System, differs, p_values) -> tuple[str, tuple[str, ...]]:
        """Say which constants differ; return their names, too."""
        names, chances = [], []
        for j, (terms, places) in enumerate(zip(system.equations, system.places, strict=True)):
            written = self._equation(j, terms, np.ones(len(terms)))
            known = written.n_terms - len(terms)
            order = np.argsort([term.degree for term in terms], kind="stable")
            n_inner = 0
            for text, k in zip(written.terms[known:], order, strict=True):
                for i, place in enumerate(places[k]):
                    n_inner += i > 0
                    if differs[place]:
                        names.append(f"{f'k{n_inner}' if i else text} in {written.left}")
                        chance = p_values[place]
                        sign = f"= {chance:.1g}" if chance >= 1e-12 else "< 1e-12"
                        chances.append(f"{names[-1]} (p {sign})")
        if not names:
            return "no constant differs between batches", ()
        verb = "differs" if len(names) == 1 else "differ"
        return f"{', '.join(chances)} {verb} between batches", tuple(names)


class ApartFit(NamedTuple):
    """A structure that was fitted to each batch alone.

    Attributes
    ----------
    score : float
    key : tuple
        What tells structures apart.
    n_pieces : int
        Of a run, at most.
    shot : Shot
        Of all batches, one after the other.
    """

    score: float
    key: tuple
    n_pieces: int
    shot: Shot


_EMPTY = np.empty(0)
_NOTHING = Shot(System(()), _EMPTY, _EMPTY, _EMPTY, _EMPTY)


def _inverse(covariance: np.ndarray) -> np.ndarray:
    """Return the inverse of a covariance of parameters, whose units may differ by far."""
    size = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    unit = np.linalg.pinv(covariance / size / size[:, None], rcond=1e-13, hermitian=True)
    return unit / size / size[:, None]


def _added(values: np.ndarray, information: np.ndarray, differs: np.ndarray) -> float:
    """Return the squares that are added if some parameters are shared by all batches."""
    n_batches, p = values.shape
    columns = [np.tile(unit, n_batches) for unit in np.eye(p)[~differs]]
    own = np.kron(np.eye(n_batches), np.eye(p)[:, differs])
    ties = np.column_stack([*columns, own])
    weighted = ties.T @ information
    shared = np.linalg.lstsq(weighted @ ties, weighted @ values.ravel(), rcond=1e-13)[0]
    rest = values.ravel() - ties @ shared
    return float(rest @ information @ rest)


def _of_batch(shot: Shot, batch: int) -> Shot:
    """Return the parameters of a batch, and their covariance."""
    p = shot.system.n_parameters
    own = slice(batch * p, (batch + 1) * p)
    covariance = None if shot.covariance is None else shot.covariance[own, own]
    return shot._replace(
        parameters=of_batch(shot.system, shot.parameters, batch), covariance=covariance
    )


def _whole_noise(searches: list[EquationSearch]) -> Noise:
    """Return the noise of all batches."""
    typical = np.sqrt(np.mean([search.noise.typical**2 for search in searches], axis=0))
    floor = np.mean([search.noise.floor for search in searches], axis=0)
    return Noise(typical, floor, searches[0].noise.is_given)


def _rows(searches: list[EquationSearch]) -> Rows:
    """Return the rows of all batches, one after the other."""
    return rows_of([run for search in searches for run in search.runs], _whole_noise(searches))
