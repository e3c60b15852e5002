"""Laws of columns that all have noise or none: symmetric ones, and each column in turn."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vanishing._threads import spread
from vanishing.algebra.solving import normalised, pivot_of, solved
from vanishing.algebra.terms import monomial
from vanishing.equations.law import Law
from vanishing.fitting import settings as of_fitting
from vanishing.fitting.debiased import fitted_equation
from vanishing.fitting.origins import Expansion, far_offsets, short_number, shortest_origin
from vanishing.fitting.sample import spreads_of
from vanishing.fitting.smooth_terms import is_logarithmic
from vanishing.fitting.variety import VarietyEquation, evaluated, thickness
from vanishing.laws import settings
from vanishing.laws.options import Options, OutOfTime
from vanishing.laws.passes import Distances, Measure
from vanishing.laws.problem import surrogate_of
from vanishing.laws.results import held_out_error
from vanishing.laws.robust import rows_near_an_equation
from vanishing.laws.symmetric import Symmetric, SymmetricAnswer
from vanishing.laws.table import (
    SearchRows,
    listed,
    most_related,
    prepared,
    signed_units,
    varying,
)
from vanishing.laws.targets import LawAnswer, law_of_target


def laws_of_columns(rows: SearchRows, options: Options, noise, n_laws: int, progress) -> LawAnswer:
    """Return laws among the columns of X, none of which is singled out."""
    among = _among(rows, options, noise, progress, n_laws)
    if among is not None:
        every = [_law(*_shortest_form(among, equation)) for equation in among.answer.equations]
        short = (law for law in every if law.n_terms <= options.max_terms)
        laws = [law for law in short if np.isfinite(law.coef).all() and _holds_for_most(law, rows)]
        if laws:
            return LawAnswer(laws, _verdict(laws), among.deviations, _shortest(laws))
    varies = np.flatnonzero(varying(rows.sample.columns))
    places = varies[most_related(rows.sample.columns[varies], rows.weight)].tolist()
    answers = spread(lambda target: _law_in_turn(rows, options, progress, target), places)
    spreads = rows.sample.spreads
    close = [
        law
        for answer in answers
        for law in answer.laws
        # Columns that merely depend on one another have no law.
        if law.error < settings.LARGEST_NOISE * spreads[rows.names.index(law.target)]
        and _holds_for_most(law, rows)
    ]
    close.sort(key=lambda law: (law.n_terms, law.relative_error))
    laws = _different(close, rows)[:n_laws]
    fronts = (answer.front for answer in answers if answer.front)
    front = min(fronts, key=lambda laws: min(law.relative_error for law in laws), default=())
    reductions = next((a.reductions for a in answers if a.laws), ())
    deviations = np.zeros(len(rows.names))
    deviations[places] = [answer.noise for answer in answers]
    verdict = _verdict(laws) if laws else _why_none(answers)
    passed_over = [rows.names[i] for i in np.setdiff1d(varies, places)]
    verdict += _passed_over_text(passed_over, progress)
    return LawAnswer(laws, verdict, deviations, front, reductions)


@np.errstate(all="ignore")
def _holds_for_most(law: Law, rows: SearchRows) -> bool:
    """Say whether half of the rows are close to a law, in units of how far most rows spread.

    In a heavy tail mean squares are those of a few rows, which an equation of few terms follows.
    """
    X = rows.sample.columns.T[: settings.COMPARED_ROWS]
    spread = np.median(np.abs(X - np.median(X, axis=0)), axis=0)
    spread = np.where(spread > 0.0, spread, rows.sample.spreads)  # of rows that are mostly equal
    squares = np.zeros(len(X))
    for step in np.diag(1e-3 * spread):
        squares += ((law.residual(X + step) - law.residual(X - step)) / 2e-3) ** 2
    distance = np.abs(law.residual(X)) / np.sqrt(squares)
    return bool(np.nanmedian(distance) < settings.LARGEST_NOISE)


def _passed_over_text(names: list[str], progress: Callable) -> str:
    """Say which columns were not taken as the target, since there are many, or no time is left."""
    text = ""
    if names:
        text = f" Columns least related to others were not tried as the target: {listed(names)}."
    try:
        progress()
    except OutOfTime:
        text += " Time ended before all columns were tried: raise max_time."
    return text


def _law_in_turn(rows: SearchRows, options: Options, progress, target: int) -> LawAnswer:
    """Return the law of one column; none where the other columns explain too little of it."""
    try:
        progress()
        ready = prepared(rows.sample.columns, target, rows.weight, progress=progress)
        progress()
    except OutOfTime:
        return LawAnswer([], "", np.nan)
    table = ready.table
    if not ready.is_sum:
        surrogate, _ = surrogate_of(table)
        if surrogate.mean_square > settings.UNRELATED * table.variance:
            return LawAnswer([], "", float(np.sqrt(surrogate.mean_square)) * abs(table.unit))
    # Forms are for a column that is known to be the target: others would be their inverses.
    return law_of_target(rows, options._replace(forms=()), progress, target)


def noise_of_target(rows: SearchRows, noise: np.ndarray) -> float:
    """Return the standard deviation of the target's own noise, given that of the other columns.

    It is what a surrogate leaves, without what noise in the columns makes of it by their slopes.
    """
    table, columns, units, *_ = prepared(rows.sample.columns, len(rows.names) - 1, rows.weight)
    surrogate, coordinates = surrogate_of(table)
    first = slice(0, settings.FIRST_ROWS)
    logarithmic = is_logarithmic(table.columns, table.positive)
    slopes = surrogate.gradients(coordinates[:, first])[:-1]
    slopes[logarithmic] /= table.columns[logarithmic, first]
    scaled = noise[columns] / np.abs(units[:-1])
    others = float(np.average(scaled**2 @ slopes**2, weights=table.weight[first]))
    left = max(surrogate.mean_square - others, 0.01 * surrogate.mean_square)
    return float(np.sqrt(left)) * abs(table.unit)


def law_with_noise_in_all(rows: SearchRows, options: Options, noise, progress) -> LawAnswer | None:
    """Return a polynomial law of the target where all columns have noise; None if there is none."""
    target = len(rows.names) - 1
    among = _among(rows, options, noise, progress, 1, must=target)
    # The target is the last of the columns; a factor of all terms says nothing of it.
    if among is None or among.answer.equations[0].exponents[:, -1].min() > 0:
        return None
    law = _law(*_shortest_form(among, among.answer.equations[0]), target)
    if not np.isfinite(law.coef).all():
        return None
    return LawAnswer([law], f"{law}: {law.verdict}", among.deviations, [law])


class _Among(NamedTuple):
    """Equations among the columns that vary, in units near their size.

    Attributes
    ----------
    answer : SymmetricAnswer
    given, rows : SearchRows
        As they are given, and those whose columns are less offsets where they were far.
    places : array of int
        The columns that vary.
    units : array of shape (n_columns,)
        Of all columns; 1 for those that do not vary.
    robust : bool
    """

    answer: SymmetricAnswer
    given: SearchRows
    rows: SearchRows
    places: np.ndarray
    units: np.ndarray
    robust: bool

    @property
    def noise(self) -> np.ndarray:
        """Standard deviations of the noise of all columns, divided by their units."""
        noise = np.zeros(len(self.units))
        noise[self.places] = self.answer.noise
        return noise

    @property
    def deviations(self) -> np.ndarray:
        """Standard deviations of the noise of all columns."""
        return self.noise * self.units


def _among(
    rows: SearchRows, options: Options, noise, progress, n_laws: int, must=None
) -> _Among | None:
    """Search for equations in which no column is singled out; None if there are none."""
    offsets = far_offsets(rows.sample.columns, rows.weight)
    # Offsets are numbers with units, which a homogeneous law has not.
    if not offsets.any() or options.dimensions is not None:
        return _among_columns(rows, rows, options, noise, progress, n_laws, must)[0]
    shifted = rows.shifted(offsets)
    among, origins = _among_columns(rows, shifted, options, noise, progress, n_laws, must)
    if (origins == offsets).all() or (among is not None and among.answer.equations[0].exact):
        return among
    moved = rows.shifted(origins)
    other, _ = _among_columns(rows, moved, options, noise, progress, n_laws, must)
    if other is None or among is None:
        return among if other is None else other
    sizes = [len(each.answer.equations[0].coef) for each in (other, among)]
    return other if sizes[0] <= sizes[1] else among


def _among_columns(
    given: SearchRows, rows: SearchRows, options: Options, noise, progress, n_laws: int, must
) -> tuple[_Among | None, np.ndarray]:
    """Search in some columns; return equations, and offsets with which they would be shorter.

    ``given`` are the rows whose columns are as they are.
    """
    sample = rows.sample
    origins = np.zeros(len(rows.names)) if rows.offsets is None else rows.offsets.copy()
    places = np.flatnonzero(varying(sample.columns))
    if len(places) < 2 or (must is not None and must not in places):
        return None, origins
    units = np.abs(signed_units(sample.columns[places], sample.weight))
    scaled = sample.columns[places] / units[:, None]
    if noise is not None:
        noise = np.asarray(noise)[places] / units
    must = None if must is None else int(np.flatnonzero(places == must)[0])
    weight = rows.weight
    if options.dimensions is not None:
        options = options._replace(dimensions=options.dimensions[places])
    if options.robust:
        good = rows_near_an_equation(scaled, weight)
        scaled, weight = np.ascontiguousarray(scaled[:, good]), weight[good]
    search = Symmetric(scaled, weight, noise, options, progress, must, rows.rounding)
    answer = search.answer(n_laws)
    if origins.any() and not any(equation.exact for equation in answer.equations):
        steps, errors = search.origins(np.flatnonzero(origins[places]).tolist())
        for i, step, error in zip(places, steps * units, errors * units, strict=True):
            if step:
                width = of_fitting.STEP_WIDTH * float(error)
                origins[i] = short_number(float(origins[i] + step), width)
    every = np.ones(len(rows.names))
    every[places] = units
    among = _Among(answer, given, rows, places, every, options.robust)
    return among if answer.equations else None, origins


def _shortest_form(among: _Among, equation: VarietyEquation) -> tuple[_Among, VarietyEquation]:
    """Return an exact equation with columns measured from where it has the fewest terms.

    Columns that were far from the origin are: an equation that has no more terms in them as they
    are is about these.
    """
    rows, places, units = among.rows, among.places, among.units
    if rows.offsets is None or not equation.exact:
        return among, equation
    offsets = rows.offsets[places]
    expansion = Expansion.of(equation.exponents, equation.coef, max(1e-7, 1e3 * rows.rounding))
    steps, _, shorter = shortest_origin(
        expansion, np.flatnonzero(offsets).tolist(), -offsets / units[places]
    )
    exponents = shorter.exponents[shorter.needed]
    if len(exponents) == len(equation.exponents):
        return among, equation
    origins, every = rows.offsets.copy(), units.copy()
    for i, step in zip(places, steps, strict=True):
        if step:
            width = rows.rounding * float(units[i])
            origins[i] = short_number(origins[i] + step * units[i], width)
    moved = among.given.shifted(origins)
    columns = moved.sample.columns[places]
    every[places] = np.abs(signed_units(columns, rows.weight))
    columns = columns / every[places][:, None]
    values = evaluated(columns, exponents)
    scale = np.sqrt(np.mean(values**2, axis=1))
    coef = np.linalg.svd((values / scale[:, None]).T, full_matrices=False)[2][-1] / scale
    short = equation._replace(exponents=exponents, coef=coef)
    thin = thickness(columns, short, spreads_of(columns, rows.weight), rows.weight)
    if not thin < 1e2 * rows.rounding:
        return among, equation
    return among._replace(rows=moved, units=every), short


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _law(among: _Among, equation: VarietyEquation, target: int | None = None) -> Law:
    """Return an equation as a law, fitted to all rows.

    Powers of units may overflow: coefficients are not finite then.
    """
    rows, every, noise = among.rows, among.units, among.noise
    exponents = np.zeros((len(equation.coef), len(rows.names)), dtype=np.int64)
    exponents[:, among.places] = equation.exponents
    whole = equation._replace(exponents=exponents)
    far = settings.FAR if among.robust and noise.any() else None
    if equation.exact:
        coef, covariance = whole.coef, np.zeros((len(whole.coef),) * 2)
    else:
        coef, covariance, fixed = fitted_equation(whole, noise, every, rows.ask, far)
    scale = np.prod(every ** -exponents.astype(float), axis=1)
    if equation.exact:
        fixed = int(np.argmin(np.abs(coef * scale)))
    terms = [monomial(row) for row in exponents]
    if target is not None:
        fixed = pivot_of(terms, coef, target)
    coef, relative = normalised(coef * scale, covariance * np.outer(scale, scale), fixed)
    if equation.exact:
        coef = _whole(coef, max(1e-10, rows.rounding))
    held_out = coef
    if not equation.exact:
        others, _, _ = fitted_equation(whole, noise, every, rows.ask, far, rows.seed)
        held_out = others * scale
    measured = _measured(rows, terms, coef, held_out, target, fixed)
    verdict = _certainty(equation, among.answer)
    if equation.exact and measured["error"] > max(settings.ROUNDED, rows.rounding):
        verdict = "It holds up to rounding on most rows, and not on all."
    errors = None if relative is None else relative * rows.sample.repetition
    return Law(
        **rows.in_given_columns(terms, coef, errors),
        names=rows.names,
        n_inputs=rows.n_inputs,
        evidence=equation.evidence / 2,
        lack_of_fit=equation.lack_of_fit,
        n_samples=rows.sample.n_samples,
        verdict=verdict,
        units=rows.units,
        **measured,
    )


def _whole(coef: np.ndarray, rounding: float) -> np.ndarray:
    """Round coefficients that are whole numbers up to rounding errors."""
    nearest = np.round(coef)
    return np.where(np.abs(coef - nearest) < rounding * np.abs(coef).max(), nearest, coef)


def _measured(rows, terms, coef, held_out, target, fixed) -> dict:
    """Return the errors of a law, from passes over all rows.

    ``held_out`` are coefficients that were fitted without the rows held out.

    In units of a column they are the law's residual over its derivative. Without a target the
    error is relative to the spread of all columns.
    """
    square, *slopes, _ = rows.ask(Distances(terms, coef), Distances.combine)
    sample = rows.sample
    with np.errstate(all="ignore"):
        errors = np.sqrt(square / np.array(slopes))
    errors[~np.isfinite(errors)] = np.nan
    spreads = sample.spreads
    error = _together(errors, spreads)
    measured: dict = {"errors": errors, "error": error, "relative_error": error}
    square, *slopes, _ = rows.ask(Distances(terms, held_out, rows.seed), Distances.combine)
    with np.errstate(all="ignore"):
        measured["held_out_error"] = _together(np.sqrt(square / np.array(slopes)), spreads)
    if target is None or solved(terms, coef, None, target, 1) is None:
        return measured
    trials = []
    for branch in (1, -1):
        question = Measure(terms, coef, target, branch, rows.seed, mean=rows.mean(target))
        sums = rows.ask(question, Measure.combine)
        trials.append((float(sums.square.sum()), -branch, sums))
    square, branch, sums = min(trials, key=lambda trial: trial[:2])
    error = float(np.sqrt(square / max(float(sums.weight.sum()), 1e-300)))
    return measured | {
        "error": error,
        "relative_error": error / rows.size(target),
        "held_out_error": held_out_error(sums, fixed),
        "target": rows.names[target],
        "branch": -branch,
    }


def _together(errors: np.ndarray, spreads: np.ndarray) -> float:
    """Return the error relative to the spread of all columns, from those in units of each."""
    with np.errstate(all="ignore"):
        shares = spreads / errors  # infinite where the law is exact, NaN in columns it has not
        return float(1.0 / np.sqrt(np.nansum(shares**2)))


def _certainty(equation: VarietyEquation, answer: SymmetricAnswer) -> str:
    if equation.exact:
        return "It holds up to rounding."
    text = f"Its error is {np.sqrt(equation.ratio):.2f} times the noise"
    if answer.was_estimated:
        share = np.median(answer.noise / answer.spread)
        text = f"It holds up to noise of {100 * share:.2g} % of the columns' spread"
    text += f"; another explanation is less likely by a factor of exp({equation.evidence / 2:.0f})."
    if equation.evidence < settings.ENOUGH:
        text += " Within this noise it may be an approximation of another law."
    return text


def _verdict(laws: list[Law]) -> str:
    count = "A law holds" if len(laws) == 1 else f"{len(laws)} laws hold"
    return f"{count}: " + "; ".join(map(str, laws)) + f". {laws[0].verdict}"


def _why_none(answers: list[LawAnswer]) -> str:
    reason = "all of them are constant."
    if answers:
        reason = (
            "none is a function of the others up to small noise, and no polynomial equation stands "
            "out. If you know the noise of the columns, give it (noise=)."
        )
    return f"No law among the columns was found: {reason}"


def _shortest(laws: list[Law]) -> list[Law]:
    """Return the best law of each number of terms; better ones come first."""
    best: dict[int, Law] = {}
    for law in laws:
        best.setdefault(law.n_terms, law)
    return [best[n_terms] for n_terms in sorted(best)]


def _different(laws: list[Law], rows) -> list[Law]:
    """Return laws whose terms do not vanish on what those before predict."""
    kept: list[Law] = []
    columns = rows.sample.columns[:, :1000]
    for law in laws:
        if not any(_is_implied(law, other, columns) for other in kept):
            kept.append(law)
    return kept


def _is_implied(law: Law, other: Law, columns) -> bool:
    """Say whether the terms of a law vanish on what another predicts."""
    rows = columns.T.copy()
    place = other.names.index(other.target)
    rows[:, place] = other.predict(rows)
    values = law.term_values(rows)
    values = values[np.isfinite(values).all(axis=1)]
    if len(values) < 2 * law.n_terms:
        return True
    values = values / np.sqrt(np.mean(values**2, axis=0))
    singular = np.linalg.svd(values, compute_uv=False)
    return bool(singular[-1] < settings.FOLLOWS_IN_TURN * singular[0])
