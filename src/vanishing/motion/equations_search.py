"""The search for equations of motion: linear stages, shooting, reselection, and choice."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vanishing._threads import spread
from vanishing.algebra.expressions import Node
from vanishing.equations.forms import Form
from vanishing.estimators.progress import Progress
from vanishing.motion import settings
from vanishing.motion.candidates import Candidate, monomials
from vanishing.motion.evidence import evidence, lacking_one_term
from vanishing.motion.given_parts import SignedTerm
from vanishing.motion.integrals import Along, along
from vanishing.motion.linear_stage import (
    LinearProblem,
    Support,
    few_terms,
    misfit,
    price,
    soft,
    stages,
)
from vanishing.motion.measured import Noise, SmoothRun
from vanishing.motion.sensitivities import Sensitivities
from vanishing.motion.shooting import Rows, Shot, System, path_of, rows_of, shoot


class Tried(NamedTuple):
    """A system that was fitted to the rows, and its score."""

    score: float
    shot: Shot

    @property
    def n_pieces(self) -> int:
        """The most pieces of a run."""
        return len(self.shot.bounds)


class EquationSearch:
    """Equations of motion of some runs.

    Parameters
    ----------
    runs : sequence of SmoothRun
    noise : Noise
    order : {1, 2}
    max_degree, max_terms : int
    functions : sequence of str, or None
    forms : sequence of Form
        Whose terms have constants inside.
    known : sequence of Node or None
        What is known of each right-hand side.
    fixed : sequence of bool
        Of which columns nothing more than that is to be found.
    signs : sequence of SignedTerm
        Of coefficients.
    deadline : float
        Time of `time.monotonic` after which nothing new is begun.
    progress : Progress
    """

    def __init__(
        self,
        runs: Sequence[SmoothRun],
        noise: Noise,
        *,
        order: int,
        max_degree: int,
        max_terms: int,
        functions: Sequence[str] | None,
        forms: Sequence[Form],
        known: Sequence[Node | None],
        fixed: Sequence[bool],
        signs: Sequence[SignedTerm],
        deadline: float,
        progress: Progress,
    ):
        self.runs, self.noise, self.order = tuple(runs), noise, order
        self.max_degree, self.max_terms, self.forms = max_degree, max_terms, tuple(forms)
        self.known, self.fixed, self.signs = tuple(known), tuple(fixed), tuple(signs)
        self.deadline, self.progress = deadline, progress
        self.n_columns = len(noise.typical)
        self.n_inputs = runs[0].measured.U.shape[1]
        self.along: Along = along(runs, order)
        self.rows: Rows = rows_of(runs, noise)
        self.counts = (self.rows.told > 0).sum(axis=0).astype(np.float64)
        self.soft = soft(noise)
        self.tried: dict[tuple, Tried] = {}
        self.stages = stages(self.along, max_degree, functions)

    @property
    def is_late(self) -> bool:
        """Whether there is no time left."""
        return time.monotonic() > self.deadline

    # -- Scores -----------------------------------------------------------------------------------

    def score(self, shot: Shot) -> float:
        """Return the score of a system that has been fitted: the least is the best."""
        if not np.isfinite(shot.losses).all():
            return np.inf
        total = float(misfit(shot.losses, self.counts, self.soft).sum())
        for terms, count in zip(shot.system.equations, self.counts, strict=True):
            total += price(terms, count) if terms else 0.0
        return total + self.price_of_pieces(shot)

    def price_of_pieces(self, shot: Shot) -> float:
        """Return what starts of more pieces than runs have to earn."""
        more = len(shot.bounds) - len(self.rows.bounds)
        return more * shot.system.n_states * float(np.log(self.counts.mean()))

    def system(self, equations: Sequence[Sequence[Candidate]]) -> System:
        """Return the structure with some terms."""
        return System(equations, self.n_inputs, self.order, self.known)

    def shot(self, supports: Sequence[Support], to_beat: float = np.inf) -> Tried:
        """Fit a system to the rows, in fewer and fewer pieces while its score gets better.

        Not in fewer pieces where it cannot have a score below ``to_beat``.
        """
        system = self.system([support.terms for support in supports])
        if system.key in self.tried:
            return self.tried[system.key]
        parameters = system.parameters([support.coef for support in supports])
        first = self._in_pieces(system, parameters, settings.PIECES[0], None)
        if not (first.shot.losses / self.counts < settings.POOR).all():
            # Long pieces lead astray from poor parameters.
            short = self._in_pieces(system, parameters, settings.SHORT_PIECES, None)
            if np.isfinite(short.score):
                again = self._in_pieces(system, parameters, settings.PIECES[0], short)
                first = again if again.score < first.score else first
        best = last = first
        for count in settings.PIECES[1:]:
            hopeless = last.score - self.price_of_pieces(last.shot) > to_beat
            if hopeless or not np.isfinite(last.score) or self.is_late:
                break
            last = self._in_pieces(system, parameters, count, last)
            best = last if last.score < best.score else best
        self.tried[system.key] = best
        return best

    def _in_pieces(
        self, system: System, parameters: np.ndarray, count: int, before: Tried | None
    ) -> Tried:
        """Fit a system in so many pieces of a run, from a fit in more pieces if there is one."""
        bounds = self.rows.pieces(count)
        if before is None:
            starts = self.rows.smooth_states(bounds, self.order)
        else:
            if len(bounds) == len(before.shot.bounds):
                return before
            starts = path_of(before.shot, self.rows)[0][bounds[:, 0]]
            parameters = before.shot.parameters
        return self._shot_from(system, parameters, bounds, np.ascontiguousarray(starts))

    def _shot_from(self, system: System, parameters: np.ndarray, bounds, starts) -> Tried:
        """Fit a system in some pieces, with coefficients of the signs that are given."""
        lower, upper = system.bounds(self.signs)
        shot = shoot(
            system, self.rows, np.clip(parameters, lower, upper), bounds, starts,
            max_steps=settings.SHOT_STEPS, deadline=self.deadline, lower=lower, upper=upper,
        )  # fmt: skip
        return Tried(self.score(shot), shot)

    # -- Linear stages ----------------------------------------------------------------------------

    def problem(self, column: int) -> LinearProblem:
        """Return the linear problem of a column's equation."""
        return LinearProblem(self.along, column, self.noise, self.max_terms, self.known[column])

    def linear(self, column: int) -> list[Support]:
        """Return supports of one column's equation, the best first."""
        if self.fixed[column]:
            return [Support(0.0, (), np.empty(0), "known")]
        problem = self.problem(column)
        dictionaries = self.stages
        kept = [self.along.integrals(stage.candidates) for stage in dictionaries]
        count = problem.count
        plain = np.log(count) + settings.TERM_PRICE
        for _ in range(2):
            problem.supports.clear()
            for i, (stage, values) in enumerate(zip(dictionaries, kept, strict=True)):
                least = plain if i < 2 else plain + settings.KIND_PRICE
                if problem.could_gain(least) and not self.is_late:
                    problem.search(stage, values)
            if not problem.supports:
                return []
            walk = problem.walk
            problem.settle_walk(min(problem.supports, key=lambda s: s.score))
            if problem.walk == walk:
                break
        problem.search_row_to_row(dictionaries[0], kept[0])
        n = len(self.along.low)
        least = 2 * plain + settings.KIND_PRICE + np.log(count) + settings.CONSTANT_PRICE
        if self.forms and problem.could_gain(least) and not self.is_late:
            small = monomials(n, range(n), 2)
            problem.search_families(small, small, self.forms)
        unique: dict[frozenset, Support] = {}
        for support in sorted(problem.supports, key=lambda s: s.score):
            unique.setdefault(frozenset(term.node for term in support.terms), support)
        return self._allowed(list(unique.values()), column)

    def _allowed(self, supports: list[Support], column: int) -> list[Support]:
        """Return the supports whose coefficients have the signs that are given; all, if none."""
        own = [signed for signed in self.signs if signed.column == column]
        return [
            support
            for support in supports
            if all(
                sign * value >= 0.0
                for _, node, sign in own
                for term, value in zip(support.terms, support.coef, strict=True)
                if node is None or node == term.node
            )
        ] or supports

    # -- Reselection ------------------------------------------------------------------------------

    def reselected(self, tried: Tried, dictionary: Sequence[Candidate]) -> list[list[Support]]:
        """Return supports of each equation from sensitivities of the path, the best first."""
        shot = tried.shot
        system = shot.system.with_parameters(shot.parameters)
        own = [term for terms in system.equations for term in terms]
        nodes = {(term.node, term.constants): term for term in (*own, *dictionary)}
        candidates = list(nodes.values())
        found = Sensitivities(shot, self.rows, candidates)
        if not found.fine:
            return []
        weight = 1.0 / np.sqrt(shot.losses / self.counts + self.soft)
        cells = self.rows.told > 0
        size = np.broadcast_to(weight, cells.shape)
        order = np.concatenate([size[low:high][cells[low:high]] for low, high in shot.bounds])
        terms, residuals = found.terms * order, found.residuals * order
        parameters = found.parameters * order
        places = {(term.node, term.constants): i for i, term in enumerate(candidates)}
        result = []
        for j in range(self.n_columns):
            if self.fixed[j]:
                result.append([Support(0.0, (), np.empty(0), "known")])
                continue
            others = [
                k
                for e, of_equation in enumerate(system.places)
                for term in of_equation
                for k in (term if e != j else term[1:])
            ]
            mine = [places[term.node, term.constants] for term in system.equations[j]]
            coef = system.coefficients(shot.parameters)[j]
            target = residuals + coef @ terms[j][mine]
            result.append(self._selected(terms[j], target, parameters[others], candidates, j))
        return result

    def _selected(self, terms, target, nuisance, candidates, column) -> list[Support]:
        """Return the best supports of a linear problem, beside nuisance parameters."""
        if len(nuisance):
            scale = np.sqrt(np.einsum("ij,ij->i", nuisance, nuisance))
            basis = np.linalg.svd((nuisance / np.maximum(scale, 1e-300)[:, None]).T, False)
            basis = basis[0][:, basis[1] > 1e-9 * basis[1][0]]
            terms = terms - (terms @ basis) @ basis.T
            target = target - basis @ (basis.T @ target)
        size = np.sqrt(np.einsum("ij,ij->i", terms, terms))
        kept = np.flatnonzero(np.isfinite(size) & (size > 1e-12 * np.nanmax(size)))
        unit = terms[kept] / size[kept][:, None]
        gram, cross, norm = unit @ unit.T, unit @ target, float(target @ target)
        count = self.counts[column]
        found = []
        for support, rest in few_terms(gram, cross, norm, self.max_terms):
            chosen = tuple(candidates[kept[k]] for k in support)
            found.append((rest + price(chosen, count), support, chosen))
        found.sort(key=lambda one: one[0])
        supports = []
        for score, support, chosen in found:
            part = list(support)
            coef = np.linalg.lstsq(unit[part].T, target, rcond=1e-12)[0] / size[kept[part]]
            supports.append(Support(score, chosen, coef, "reselected"))
        return self._allowed(supports, column)

    # -- The whole search -------------------------------------------------------------------------

    def answer(self) -> "Answer":
        """Run all steps."""
        found = spread(self.linear, range(self.n_columns))
        for j, supports in enumerate(found):
            self.progress.step(f"column {j}: {len(supports)} candidate equations")
        missing = [j for j, supports in enumerate(found) if not supports]
        if missing:
            return Answer(None, found, [], [], np.full(self.n_columns, np.nan))
        best = self.shot([supports[0] for supports in found])
        mean = best.shot.losses / self.counts
        if self.n_columns > 1 or not (mean < settings.POOR).all():
            best = self._from_short_pieces([supports[0] for supports in found], found, best)
        best = self._improved(best, found)
        if self._sharpened(best):
            supports = self._supports_of(best)
            self.tried.clear()
            best = self._improved(self.shot(supports), found)
        self.progress.step(f"{len(self.tried)} systems were fitted to the rows")
        alternatives: list[list[Support]] = []
        if np.isfinite(best.score):
            best, alternatives = self._reselect(best, found)
        tried = list(self.tried.values())
        return Answer(best, found, alternatives, tried, self._evidence(best, alternatives, tried))

    def _evidence(self, best: Tried, alternatives, tried: list[Tried]) -> np.ndarray:
        """Return, for each column, half the distance to the best system that lacks a term of it."""
        if not np.isfinite(best.score):
            return np.full(self.n_columns, np.nan)
        chosen = self._supports_of(best)
        rivals: list[list[tuple[float, Support]]] = [[] for _ in chosen]
        for other in tried:
            for j, support in enumerate(self._supports_of(other)):
                rivals[j].append((other.score - best.score, support))
        for j, supports in enumerate(alternatives):
            nodes = {term.node for term in chosen[j].terms}
            own = [s.score for s in supports if {term.node for term in s.terms} == nodes]
            if own:
                rivals[j] += [(support.score - min(own), support) for support in supports]
        for j, support, distance in lacking_one_term(best.shot, chosen, self.counts, self.soft):
            rivals[j].append((distance, support))
        return evidence(chosen, rivals, self.along, self.noise)

    def _sharpened(self, best: Tried) -> bool:
        """Lower the noise to what the best equations leave, where the smoother left far more.

        That is so where rows are too few for a smooth path, and not for the equations. Noise that
        users gave stays as it is.
        """
        if self.noise.is_given or not np.isfinite(best.score):
            return False
        free = best.shot.system.n_parameters / self.n_columns + best.shot.starts.size
        mean = best.shot.losses / np.maximum(self.counts - free, 1.0)
        factor = np.where(mean < settings.OVERSTATED_NOISE, np.sqrt(mean), 1.0)
        least = self.noise.floor / np.hypot(self.noise.floor, self.noise.typical)
        factor = np.where(self.noise.is_below, 1.0, np.maximum(factor, least))
        if (factor == 1.0).all():
            return False
        runs = [run._replace(sigma=run.sigma * factor) for run in self.runs]
        self.noise = self.noise._replace(typical=self.noise.typical * factor)
        self.soft = soft(self.noise)
        self.runs, self.rows = tuple(runs), rows_of(runs, self.noise)
        return True

    def _from_short_pieces(self, supports: list[Support], found, best: Tried) -> Tried:
        """Return a better system than a poor one, by reselection along many short pieces."""
        for _ in range(settings.ROUNDS):
            system = self.system([support.terms for support in supports])
            parameters = system.parameters([support.coef for support in supports])
            short = self._in_pieces(system, parameters, settings.SHORT_PIECES, None)
            if not np.isfinite(short.score):
                return best
            selected = self.reselected(short, self._dictionary(found))
            if not selected or not all(selected):
                return best
            supports = [of_column[0] for of_column in selected]
            is_new = self.system([support.terms for support in supports]).key not in self.tried
            trial = self.shot(supports, best.score)
            if trial.score < best.score:
                best = trial
            if not is_new:
                break
        return best

    def _supports_of(self, tried: Tried) -> list[Support]:
        """Return the equations of a fitted system as supports."""
        system = tried.shot.system.with_parameters(tried.shot.parameters)
        coef = system.coefficients(tried.shot.parameters)
        return [
            Support(0.0, terms, values, "fitted")
            for terms, values in zip(system.equations, coef, strict=True)
        ]

    def _dictionary(self, found: Sequence[Sequence[Support]]) -> list[Candidate]:
        """Return the terms that reselection looks at: polynomials, and what stages have chosen."""
        n = len(self.along.low)
        degree = self.max_degree
        while degree > 1 and len(monomials(n, range(n), degree)) > settings.MOST_CANDIDATES // 2:
            degree -= 1
        nodes = {(term.node, term.constants): term for term in monomials(n, range(n), degree)}
        more = [t for supports in found for s in supports[: settings.REMEMBERED] for t in s.terms]
        chosen = {supports[0].stage for supports in found}
        for stage in self.stages:
            if stage.name in chosen or (stage.name == "circular" and "triple" in chosen):
                more += stage.candidates
        for term in more:
            nodes.setdefault((term.node, term.constants), term)
        return list(nodes.values())[: settings.MOST_RESELECTED]

    def _reselect(self, best: Tried, found) -> tuple[Tried, list[list[Support]]]:
        """Return a better system by reselection, and the supports that it was chosen among."""
        supports = self.reselected(best, self._dictionary(found))
        if not supports or not all(supports):
            return best, []
        trial = self.shot([of_column[0] for of_column in supports], best.score)
        if trial.score < best.score:
            return trial, supports
        for j, of_column in enumerate(supports):  # what is better alone need not be so together
            equations = self._supports_of(best)
            nodes = {term.node for term in equations[j].terms}
            own = [s.score for s in of_column if {term.node for term in s.terms} == nodes]
            if self.is_late or of_column[0].score > min(own, default=np.inf) - settings.HOPE:
                continue
            equations[j] = of_column[0]
            trial = self.shot(equations, best.score)
            best = trial if trial.score < best.score else best
        return best, supports

    def _improved(self, best: Tried, found: list[list[Support]]) -> Tried:
        """Return the best of systems near one: by reselection, and by other stages' equations."""
        for _ in range(settings.ROUNDS):
            if self.is_late:
                return best
            before = best
            if np.isfinite(best.score):
                best = self._reselect(best, found)[0]
            for j, supports in enumerate(found):
                for support in _by_stage(supports)[1 : settings.ALTERNATIVES + 1]:
                    if self.is_late or self.fixed[j]:
                        break
                    if support.score > supports[0].score + settings.ALTERNATIVE_GAP:
                        break
                    equations = self._supports_of(best)
                    equations[j] = support
                    trial = self.shot(equations, best.score)
                    best = trial if trial.score < best.score else best
            best = self._pruned(best)
            if best is before:
                break
        return best

    def _pruned(self, best: Tried) -> Tried:
        """Return a system without terms that are not needed, from where it is."""
        while not self.is_late:
            shot = best.shot
            if shot.covariance is None:
                break
            system = shot.system
            std = np.sqrt(np.maximum(np.diag(shot.covariance), 1e-300))
            size = np.abs(shot.parameters) / std
            outer = [
                (size[place[0]], j, k)
                for j, places in enumerate(system.places)
                for k, place in enumerate(places)
                if len(places) > 1  # an equation keeps one term
            ]
            weakest, j, k = min(outer, default=(np.inf, 0, 0))
            if weakest > settings.WEAK:
                break
            equations = [list(terms) for terms in system.equations]
            del equations[j][k]
            kept = np.delete(np.arange(len(shot.parameters)), system.places[j][k])
            smaller = self.system(equations)
            if smaller.key in self.tried and self.tried[smaller.key].score < best.score:
                return self.tried[smaller.key]
            trial = self._shot_from(smaller, shot.parameters[kept], shot.bounds, shot.starts)
            if not trial.score < best.score:
                trial = self.shot(self._supports_of(trial), best.score)
            if not trial.score < best.score:
                break
            best = self.tried[smaller.key] = trial
        return best


def _by_stage(supports: Sequence[Support]) -> list[Support]:
    """Return supports, the best of each stage before others."""
    first: dict[str, Support] = {}
    for support in supports:
        first.setdefault(support.stage, support)
    chosen = list(first.values())
    return chosen + [support for support in supports if not any(support is c for c in chosen)]


class Answer(NamedTuple):
    """What a search found.

    Attributes
    ----------
    best : Tried or None
    found : list of lists of Support
        Of each column, from integrals.
    alternatives : list of lists of Support
        Of each column, from sensitivities of the best path.
    tried : list of Tried
    evidence : array of shape (n_columns,)
        Of each column, half the distance to the best system that lacks a term of its equation.
    """

    best: Tried | None
    found: list[list[Support]]
    alternatives: list[list[Support]]
    tried: list[Tried]
    evidence: np.ndarray
