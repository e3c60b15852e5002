"""A whole fit of equations of motion: search, runs held out, the last fit, and the verdict."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vanishing.algebra.expressions import Inside
from vanishing.algebra.functions import IDENTITY
from vanishing.algebra.terms import Factor, Term
from vanishing.equations.forms import Form
from vanishing.equations.parts import Group
from vanishing.estimators.progress import Progress
from vanishing.motion import settings
from vanishing.motion.candidates import Candidate
from vanishing.motion.conserved_check import broken_quantities
from vanishing.motion.equation import EquationOfMotion
from vanishing.motion.equations_search import Answer, EquationSearch
from vanishing.motion.given_parts import Given
from vanishing.motion.linear_stage import Support
from vanishing.motion.measured import MeasuredRun, Noise, SmoothRun, cut_runs, smooth_runs
from vanishing.motion.shooting import Rows, Shot, System, path_of, rows_of, shoot
from vanishing.motion.simulation import FittedMotion, followed_rows, followed_runs
from vanishing.motion.stepping import STIFF


class FitResult(NamedTuple):
    """What a fit found, as `EquationsOfMotion` has it."""

    equations: list[EquationOfMotion]
    front: list[EquationOfMotion]
    noise: np.ndarray
    evidence: np.ndarray
    lack_of_fit: np.ndarray
    explained: np.ndarray
    n_pieces: int
    ambiguous: list[str]
    held_out_error: float
    verdict: str
    motion: FittedMotion | None
    differing: tuple[str, ...] = ()


class EquationsFit:
    """A fit to some runs.

    Parameters
    ----------
    runs : sequence of MeasuredRun
    held_out : array of bool of shape (n_runs,)
    names, variables : tuples of str
        Of the columns, and of all variables.
    given : Given
    order, max_degree, max_terms, functions, forms, noise : as `EquationSearch` takes them
    deadline : float
    seed : int
    progress : Progress
    """

    def __init__(
        self,
        runs: Sequence[MeasuredRun],
        held_out: np.ndarray,
        names: tuple[str, ...],
        variables: tuple[str, ...],
        given: Given,
        *,
        order: int,
        max_degree: int,
        max_terms: int,
        functions: tuple[str, ...] | None,
        forms: tuple[Form, ...],
        noise: np.ndarray | None,
        deadline: float,
        seed: int,
        progress: Progress,
    ):
        self.runs, self.held_out = list(runs), held_out
        self.names, self.variables, self.given = names, variables, given
        self.order, self.max_degree, self.max_terms = order, max_degree, max_terms
        self.functions, self.forms, self.noise = functions, forms, noise
        self.deadline = deadline
        self.seed, self.progress = seed, progress

    def result(self) -> FitResult:
        """Run all steps."""
        learned = [run for run, out in zip(self.runs, self.held_out, strict=True) if not out]
        parts = sampled(cut_runs(learned), settings.SEARCHED_RUN_ROWS, self.seed)
        smooth, noise = smooth_runs(parts, self.noise)
        self.progress.step("the runs are smoothed")
        search = self._search(smooth, noise)
        answer = search.answer()
        front = self._front(answer)
        if answer.best is None or not np.isfinite(answer.best.score):
            return self._nothing(noise, front, reason_against(answer, search.is_late))
        evidence, noise = answer.evidence, search.noise
        count = -(-len(answer.best.shot.bounds) // len(search.rows.bounds))
        everything = sampled(cut_runs(self.runs), settings.FITTED_ROWS, self.seed)
        if len(everything) == len(parts):
            rows, shot = search.rows, answer.best.shot
        else:
            smooth, noise = smooth_runs(everything, self.noise)
            rows = rows_of(smooth, noise)
            shot = self._refitted(rows, answer.best.shot, count)
        shot = self._constrained(rows, shot)
        held_error = self._held_out_error(answer.best.shot, count)
        explained, lack = self._explained(rows, shot)
        reason = self._objection(rows, shot, noise, held_error, explained, lack, evidence)
        ambiguous = self._ambiguous(search, evidence)
        if reason is not None:
            found = self._equations(shot, noise, evidence, explained, lack)
            result = self._nothing(noise, [*found, *front], reason)
            return result._replace(
                explained=explained, lack_of_fit=lack, evidence=evidence, n_pieces=count,
                held_out_error=held_error,
            )  # fmt: skip
        equations = self._equations(shot, noise, evidence, explained, lack)
        covariance = shot.covariance if not noise.is_below.all() else None
        motion = FittedMotion(
            shot.system.with_parameters(shot.parameters), shot.parameters, covariance
        )
        broken = broken_quantities(motion, self.runs, self.names) if self.order == 1 else []
        return FitResult(
            equations, front, noise.typical, evidence, lack, explained, count, ambiguous,
            held_error, self._verdict(shot.system, evidence, count, held_error, broken), motion,
        )  # fmt: skip

    def _search(self, runs: Sequence[SmoothRun], noise: Noise) -> EquationSearch:
        """Return the search along some runs."""
        return EquationSearch(
            runs,
            noise,
            order=self.order,
            max_degree=self.max_degree,
            max_terms=self.max_terms,
            functions=self.functions,
            forms=self.forms,
            known=self.given.known,
            fixed=self.given.fixed,
            signs=self.given.signs,
            deadline=self.deadline,
            progress=self.progress,
        )

    # -- The last fit -----------------------------------------------------------------------------

    def _refitted(self, rows: Rows, shot: Shot, count: int) -> Shot:
        """Return the system fitted to all runs.

        First starts alone are fitted, then all: along a chaotic path, parameters would be led
        astray by poor starts.
        """
        motion = FittedMotion(shot.system, shot.parameters, None)
        first = followed_rows(motion, rows, count)
        return shoot(
            shot.system, rows, shot.parameters, first.bounds, first.starts,
            max_steps=settings.SHOT_STEPS,
        )  # fmt: skip

    def _places_shared(self, system: System) -> list[list[int]]:
        """Return places of coefficients that were asked to be the same but for their signs."""
        return [
            [
                place[0]
                for column, node, _ in group
                for term, place in zip(system.equations[column], system.places[column], strict=True)
                if term.node == node
            ]
            for group in self.given.shared
        ]

    def _constrained(self, rows: Rows, shot: Shot, differs: np.ndarray | None = None) -> Shot:
        """Return the system with signs and shared coefficients as they were asked for.

        ``differs`` says which parameters differ between batches.
        """
        system = shot.system
        lower, upper = system.bounds(self.given.signs)
        n_batches = 1 if differs is None else len(shot.parameters) // len(differs)
        owner = np.arange(len(shot.parameters)).reshape(n_batches, -1)
        if differs is not None:
            owner[:, ~differs] = owner[0, ~differs]
        signs = np.ones(system.n_parameters)
        for places in self._places_shared(system):
            for place in places[1:]:
                owner[:, place] = owner[:, places[0]]
                signs[place] = np.sign(shot.parameters[place] * shot.parameters[places[0]])
        owner, signs = owner.ravel(), np.tile(signs, n_batches)
        lower, upper = np.tile(lower, n_batches), np.tile(upper, n_batches)
        is_free = owner == np.arange(len(owner))
        bounded = np.isfinite(lower).any() or np.isfinite(upper).any()
        if differs is None and is_free.all() and not bounded:
            return shot
        ties = np.zeros((len(owner), is_free.sum()))
        ties[np.arange(len(owner)), np.cumsum(is_free)[owner] - 1] = signs
        parameters = np.clip(shot.parameters, lower, upper)
        parameters = ties @ parameters[is_free]
        return shoot(
            system, rows, parameters, shot.bounds, shot.starts, max_steps=settings.SHOT_STEPS,
            lower=lower, upper=upper, ties=ties,
        )  # fmt: skip

    # -- Measures ---------------------------------------------------------------------------------

    def _spare(self, rows: Rows, shot: Shot) -> np.ndarray:
        """Return how many more values each column has than constants were fitted to it."""
        counts = (rows.told > 0).sum(axis=0)
        return counts - (len(shot.parameters) + shot.starts.size) / len(counts)

    def _errors(self, rows: Rows, shot: Shot) -> np.ndarray:
        """Return the error of each column in units of its noise."""
        return np.sqrt(shot.losses / np.maximum(self._spare(rows, shot), 1.0))

    def _held_out_error(self, shot: Shot, count: int) -> float:
        """Return the error on runs that were held out, whose starts alone are fitted."""
        runs = [run for run, out in zip(self.runs, self.held_out, strict=True) if out]
        if not runs:
            return np.nan
        sample = sampled(cut_runs(runs), settings.FITTED_ROWS, self.seed)
        motion = FittedMotion(shot.system, shot.parameters, None)
        tried, rows = followed_runs(motion, sample, count, self.noise)
        free = (rows.told > 0).sum() - tried.starts.size
        return float(np.sqrt(tried.losses.sum() / max(free, 1)))

    def _explained(self, rows: Rows, shot: Shot) -> tuple[np.ndarray, np.ndarray]:
        """Return the share of each column's motion that is explained, and its lack of fit."""
        path = path_of(shot, rows)[0][:, : len(self.names)]
        explained, lack = np.empty((2, len(self.names)))
        for j in range(len(self.names)):
            cells = rows.told[:, j] > 0
            run = np.searchsorted(rows.bounds[:, 0], np.flatnonzero(cells), side="right") - 1
            x, rest = rows.X[cells, j], rows.X[cells, j] - path[cells, j]
            means = np.bincount(run, x) / np.bincount(run)
            total = float(np.sum((x - means[run]) ** 2))
            explained[j] = 1.0 - float(rest @ rest) / max(total, 1e-300)
            unit = rest * rows.told[cells, j]
            same = run[1:] == run[:-1]
            square = float(unit @ unit)
            product = float(np.sum(unit[1:][same] * unit[:-1][same]))
            lack[j] = product / max(square, 1e-300) * np.sqrt(max(same.sum(), 1))
        return explained, lack

    def _objection(
        self, rows: Rows, shot: Shot, noise: Noise, held_error, explained, lack, evidence
    ) -> str | None:
        """Return why nothing is claimed; None if nothing speaks against it."""
        if not (self._spare(rows, shot) >= settings.SPARE_VALUES).all():
            return "the rows are too few to tell equations from any others: measure more"
        error = self._errors(rows, shot)
        n_rows = sum(len(run.t) for run in self.runs)
        most = 1.0 + max(settings.MOST_ERROR - 1.0, 3.0 / np.sqrt(2.0 * n_rows))
        bad = [name for name, e in zip(self.names, error, strict=True) if not e <= most]
        if bad:
            worst = float(np.max(error))
            if not np.isfinite(worst):
                return "the best equations cannot be integrated along all runs"
            return (
                f"the best equations leave {worst:.2g} times the noise in {', '.join(bad)}: the "
                "motion has terms that were not tried, depends on a column that was not measured, "
                "or is driven by chance"
            )
        few = [name for name, e in zip(self.names, explained, strict=True) if not e >= 0.5]
        if few:
            return f"less than half of what {', '.join(few)} does is explained: the rest is noise"
        is_smooth = ~noise.is_below & (lack > settings.MOST_LACK) & (not noise.is_given)
        if is_smooth.any():
            names = [name for name, s in zip(self.names, is_smooth, strict=True) if s]
            return (
                f"what is left in {', '.join(names)} is alike in neighbouring rows, as noise is "
                "not: the motion has terms that were not tried, or is too fast for these rows"
            )
        if not np.isnan(held_error) and not held_error <= most + settings.HELD_OUT_SPARE:
            return f"runs that were held out are {held_error:.2g} times the noise away"
        is_guessed = ~noise.is_below & (not noise.is_given)
        if (
            n_rows < settings.FEW_ROWS
            and (is_guessed & ~(evidence >= settings.SURE_EVIDENCE)).any()
        ):
            return (
                f"{n_rows} rows of unknown noise are too few to tell these equations from others: "
                "measure more, or say how large the noise is"
            )
        return None

    def _ambiguous(self, search: EquationSearch, evidence: np.ndarray) -> list[str]:
        """Return columns and directions that the runs do not determine."""
        found = [
            name for name, e in zip(self.names, evidence, strict=True) if e < settings.SURE_EVIDENCE
        ]
        n = len(self.names) * self.order
        if n < 2:
            return found
        moving = [v[:n] - v[:n].mean(axis=1, keepdims=True) for v in search.along.variables]
        scatter = np.sum([m @ m.T / m.shape[1] for m in moving], axis=0) / len(moving)
        scale = np.sqrt(np.diag(scatter))
        values, vectors = np.linalg.eigh(scatter / scale / scale[:, None])
        # A combination that noise alone moves.
        columns = len(self.names)
        noise = np.max(np.maximum(search.noise.typical, search.noise.floor) / scale[:columns])
        for value, vector in zip(values, vectors.T, strict=True):
            if np.sqrt(max(value, 0.0)) < settings.CONSTANT_DIRECTION * noise:
                coef = vector / scale
                coef = coef / coef[np.argmax(np.abs(coef))]
                found.append(
                    " + ".join(
                        f"{c:.3g}*{name}"
                        for c, name in zip(coef, self.variables, strict=False)
                        if abs(c) > 1e-3
                    ).replace("+ -", "- ")
                )
        return found

    def _verdict(
        self, system: System, evidence, count: int, held_error: float, broken: list[str]
    ) -> str:
        sure = bool((evidence >= settings.SURE_EVIDENCE).all()) and not broken
        level = "obeys" if sure else "follows the runs; other equations do so too"
        pieces = "" if count == 1 else f", each run cut into {count} pieces"
        text = f"{level}: the equations follow all runs within the noise{pieces}"
        if not np.isnan(held_error):
            text += ", and those held out"
        if not sure:
            unsure = [
                name
                for name, e in zip(self.names, evidence, strict=True)
                if e < settings.SURE_EVIDENCE
            ]
            text += f"; the terms of {', '.join(unsure)} are not certain" if unsure else ""
        if broken:
            text += f"; {broken[0]} is constant along the runs, but not by the equations"
        for group in self.given.shared:
            for column, node, written in group:
                if node not in {term.node for term in system.equations[column]}:
                    text += f"; {written!r} is not among the terms, and shares no coefficient"
        return text + "."

    def _nothing(self, noise: Noise, front, reason: str) -> FitResult:
        nan = np.full(len(self.names), np.nan)
        return FitResult(
            [], front, noise.typical, nan, nan, nan, 0, [], np.nan, f"none: {reason}.", None
        )

    # -- Equations as results ---------------------------------------------------------------------

    def _equations(
        self, shot: Shot, noise: Noise, evidence, explained, lack, batch: Group | None = None
    ) -> list[EquationOfMotion]:
        """Return the fitted equations as results."""
        system = shot.system.with_parameters(shot.parameters)
        found = []
        for j in range(len(self.names)):
            covariance = None
            if shot.covariance is not None and not noise.is_below[j]:
                covariance = shot.covariance
            found.append(
                self._equation(
                    j,
                    system.equations[j],
                    [shot.parameters[place[0]] for place in system.places[j]],
                    covariance,
                    system.places[j],
                    evidence=float(evidence[j]),
                    explained=float(explained[j]),
                    lack_of_fit=float(lack[j]),
                    batch=batch,
                )
            )
        return found

    def _equation(
        self, column: int, terms: Sequence[Candidate], coef, covariance=None, places=(), **measured
    ) -> EquationOfMotion:
        order = np.argsort([term.degree for term in terms], kind="stable").tolist()
        written: list[Term] = []
        constants: dict[str, tuple[float, float]] = {}
        for k in order:
            inner = list(places[k][1:]) if covariance is not None else []
            std = np.sqrt(np.diag(covariance)[inner]) if inner else ()
            written.append(terms[k].term(std))
            for value, error in zip(
                terms[k].constants,
                std if inner else [np.nan] * len(terms[k].constants),
                strict=True,
            ):
                constants[f"k{len(constants) + 1}"] = (value, float(error))
        values = [float(coef[k]) for k in order]
        matrix = None
        if covariance is not None:
            outer = [places[k][0] for k in order]
            matrix = covariance[np.ix_(outer, outer)]
        known = self.given.known[column]
        if known is not None:  # its coefficient is exact
            zeros = (0.0,) * len(self.variables)
            written.insert(0, Term(zeros, (Factor(IDENTITY, 1.0, zeros, 1, Inside(known)),)))
            values.insert(0, 1.0)
            if matrix is not None:
                matrix = np.pad(matrix, ((1, 0), (1, 0)))
        units = self.given.units
        if units is not None:
            n = len(self.variables)
            units = units._replace(columns=(*units.columns[:n], units.columns[n + column]))
        return EquationOfMotion(
            written, values, names=self.variables, target=self.names[column], order=self.order,
            covariance=matrix, constants=constants, units=units, **measured,
        )  # fmt: skip

    def _front(self, answer: Answer) -> list[EquationOfMotion]:
        """Return the best equation of each column and number of terms."""
        found = []
        for j, supports in enumerate(answer.found):
            best: dict[int, Support] = {}
            for support in supports:
                best.setdefault(len(support.terms), support)
            found += [
                self._equation(j, best[size].terms, best[size].coef)
                for size in sorted(best)
                if size or self.given.known[j] is not None
            ]
        return found


def reason_against(answer: Answer, is_late: bool) -> str:
    """Return why a search has no equations."""
    if is_late:
        return "max_time was over before any equation was fitted to the rows"
    if answer.best is not None and answer.best.shot.ended == STIFF:
        return "the equations that were tried are too stiff to be integrated between rows"
    return "no equation could be integrated along the runs"


# -- Many runs ------------------------------------------------------------------------------------


def sampled(runs: list[MeasuredRun], most: int, seed: int) -> list[MeasuredRun]:
    """Return all runs, or some of them, with not many more rows than asked for."""
    sizes = np.array([len(run.t) for run in runs])
    if sizes.sum() <= most:
        return runs
    order = np.random.default_rng(seed).permutation(len(runs))
    n = max(1, int(np.searchsorted(np.cumsum(sizes[order]), most)))
    return [runs[i] for i in sorted(order[:n])]
