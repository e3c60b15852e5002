"""How sure a law is, in words, and why there is none."""

from typing import NamedTuple

import numpy as np

from vanishing.algebra.expressions import of_term
from vanishing.algebra.quantities import ONE, Unit
from vanishing.algebra.terms import Term
from vanishing.algebra.writing import PlainText, in_words
from vanishing.fitting.lack_of_fit import unseen_share
from vanishing.laws import settings
from vanishing.laws.candidates import LawCandidate, product_exponents
from vanishing.laws.choose import Choice
from vanishing.laws.results import Draft
from vanishing.laws.search import SearchOutcome
from vanishing.laws.table import Prepared, SearchRows

NO_TIME = "No law of {} was found in the time allowed: raise max_time."


class Certainty(NamedTuple):
    """What words on how sure a law is need to know of its fit."""

    mean_square: float
    exact: bool


def why_none(outcome: SearchOutcome, name: str, homogeneous: bool) -> str:
    """Say why there is no law."""
    if outcome.out_of_time:
        return NO_TIME.format(name)
    law = "law" if not homogeneous else "dimensionally homogeneous law"
    reason = "no combination of terms leaves only noise"
    if outcome.choice is not None:
        reason = outcome.choice.reason
    return f"No {law} of {name} was found: {reason}."


def _product_text(exponents: np.ndarray, table: Prepared, names) -> str:
    """Write a product of powers of the columns of a table."""
    text = PlainText([names[i] for i in table.columns])
    return text.write(of_term(Term(tuple(map(float, exponents)))))


def certainty(
    choice: Choice,
    fit: Draft | Certainty,
    missing: float,
    robust: bool,
    table: Prepared,
    rows: SearchRows,
    target: int,
) -> str:
    """Say in words how sure a law is."""
    if fit.exact:
        text = "It holds up to rounding."
        if np.isfinite(choice.evidence):
            text = "It holds up to rounding, as other equations do that differ beyond these rows."
    else:
        unit = ONE if rows.units is None else rows.units.columns[target]
        error = np.sqrt(fit.mean_square)
        share = f"{100 * error / rows.size(target):.2g} %"
        text = f"The rms error is {unit.behind(in_words(error))} ({share})"
        if np.isfinite(choice.evidence):
            text += (
                f"; the best different equation is less likely by a factor of "
                f"exp({choice.evidence / 2:.0f})"
            )
        text += _noise_text(choice.best, unit)
        if choice.best.reduced.table.n_rows < settings.FEW_ROWS:
            text += "; too few rows to tell whether a column explains what is left."
        else:
            text += "; no column explains what is left."
        n_rows = choice.best.reduced.table.n_observations
        unseen = float(error) / rows.size(target) * unseen_share(n_rows)
        shows = unseen * rows.size(target) <= settings.UNSEEN * rows.size_from_origin(target)
        is_rounding = float(error) <= settings.COMPUTED * rows.size(target)
        if not is_rounding and (choice.variants or not shows or not _is_sure(choice)):
            text += f" {approximation_text(unseen)}"
        text += _alternatives(choice, table, rows)
    if missing:
        where = "Left out as wrong were" if robust else "It has no solution on"
        text += f" {where} {missing:g} rows."
    return text


def approximation_text(unseen: float) -> str:
    """Say what would not show, a share of the target's size."""
    return (
        "Within this noise it may be an approximation of another law: smooth deviations of up to "
        f"{100 * unseen:.2g} % would not show."
    )


def _alternatives(choice: Choice, table: Prepared, rows: SearchRows) -> str:
    """Name what would fit as well; "" if nothing would."""
    forms = [c.fitted.form.form.name for c in choice.variants if c.fitted.form is not None]
    sums = [c for c in choice.variants if c.fitted.form is None]
    text = ""
    if choice.best.is_product():
        exponents = [product_exponents(c.fitted, c.reduced) for c in sums]
        sums = [c for c, e in zip(sums, exponents, strict=True) if e is None]
        products = [_product_text(e, table, rows.names) for e in exponents if e is not None]
        if products:
            listed = ", ".join(dict.fromkeys(products))
            text = f" The ranges do not settle its exponents: {listed} would fit as well."
    if sums:
        sizes = sorted({c.fitted.n_terms for c in sums})
        forms.append(f"a sum of {' or '.join(map(str, sizes))} terms")
    if forms:
        text += f" Other forms would fit as well: {', '.join(dict.fromkeys(forms))}."
    return text


def _noise_text(law: LawCandidate, unit: Unit) -> str:
    """Say how noise grows with the target; nothing where it is equal on all rows."""
    table = law.reduced.table
    is_rounding = law.fitted.mean_square <= settings.COMPUTED**2 * table.norm
    if table.precision is None or is_rounding:
        return ""
    deviations = np.sqrt(law.fitted.mean_square / table.precision)
    size = np.maximum(np.abs(law.fitted.predicted), 1e-300)
    # The smaller half of the rows says little of noise that grows.
    low, high = np.quantile((deviations / size)[size >= np.median(size)], [0.1, 0.9])
    text = "; the noise grows with the target"
    if high < settings.RELATIVE * low:
        return f"{text}: it is relative, {100 * low:.2g} % of each value"
    low, high = np.quantile(deviations, [0.1, 0.9]) * abs(table.unit)
    return f"{text}, from {unit.behind(in_words(low))} to {unit.behind(in_words(high))}"


def _is_sure(choice: Choice) -> bool:
    """Say whether a law has so few terms that an approximation would be a coincidence."""
    if choice.best.fitted.form is not None:
        return choice.evidence > 5 * settings.EVIDENCE
    r, n_terms = choice.best.n_used(), choice.best.fitted.n_terms
    if n_terms <= max(2, r + 1):
        return choice.evidence > 5 * settings.EVIDENCE
    # Combinations of functions approximate more than powers do.
    functions = any(term.factors for term in choice.best.fitted.terms)
    return r > 1 and not functions and n_terms <= r + 2 and choice.evidence > 50 * settings.EVIDENCE
