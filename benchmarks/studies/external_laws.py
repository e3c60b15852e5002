"""What suites of laws share: ranges that values are drawn from, fits, and their judge."""

import numpy as np
import pandas as pd
from external_records import Case
from honesty_judge import WORD, table_outcome
from honesty_tables import Table
from law_fits import fitted

from vanishing import check_law

TRIES = 100  # drawings, to have rows on which a formula is finite
SAME = 1e-4  # of the spread of what a claim predicts: the form is the same up to its constants
PAIRS = 200  # of rows, in whose middle claims are compared
TARGET = "target"


class Range:
    """Where the values of a column lie.

    Parameters
    ----------
    kind : {"uni", "log", "int"}
        Uniform, log-uniform, or uniform and rounded.
    low, high : float
    sign : {"pos", "neg", "pos_neg"}
        Whether values keep their sign, change it, or have either.
    """

    def __init__(self, kind, low, high, sign="pos"):
        if kind not in ("uni", "log", "int") or sign not in ("pos", "neg", "pos_neg"):
            raise ValueError(f"the kind of range {kind!r}, {sign!r} is unknown.")
        if not (np.isfinite(low) and np.isfinite(high) and low <= high):
            raise ValueError(f"the range from {low:g} to {high:g} is empty.")
        if kind == "log" and low <= 0.0:
            raise ValueError(f"the range from {low:g} to {high:g} has no logarithm.")
        self.kind, self.low, self.high, self.sign = kind, low, high, sign

    def draw(self, n, random, beyond=0.0):
        """Return values, from a range that is wider on both sides by a part of its width."""
        low, high = np.log([self.low, self.high]) if self.kind == "log" else (self.low, self.high)
        edge = 0.0 if self.kind == "int" else beyond * (high - low)
        values = random.uniform(low - edge, high + edge, n)
        values = np.exp(values) if self.kind == "log" else values
        if self.sign != "pos":
            values = values * (-1.0 if self.sign == "neg" else random.choice([-1.0, 1.0], n))
        return np.round(values) if self.kind == "int" else values


def rows_of(formula, ranges, n, random, beyond=0.0):
    """Return rows of columns, by name, and the values of a formula, drawn until all are finite."""
    kept, values = [], []
    for _ in range(TRIES):
        columns = {name: r.draw(n, random, beyond) for name, r in ranges.items()}
        y = np.asarray(formula(columns), dtype=float)
        good = np.isfinite(y)
        kept.append(np.column_stack(list(columns.values()))[good])
        values.append(y[good])
        if sum(map(len, values)) >= n:
            return np.vstack(kept)[:n], np.concatenate(values)[:n]
    raise ValueError(f"{formula.text!r} is finite on {sum(map(len, values))} rows of {TRIES * n}.")


def formula_table(name, formula, ranges, n, random) -> Table:
    """Return a table without noise of a formula over ranges."""
    X, y = rows_of(formula, ranges, n, random)

    def fresh(n, random, beyond):
        return rows_of(formula, ranges, n, random, beyond)

    return Table(name, formula.text, tuple(ranges), X, y, fresh, deviations=np.zeros(n))


def law_case(table: Table, form=None) -> Case:
    """Fit a table and judge what is claimed.

    By fresh rows, as the study of honesty does, where there are any; else by form. With a form the
    equations of the front are compared with it, too.
    """
    finder, seconds = fitted(table.X, table.y, table.names, TARGET)
    laws, note = finder.laws_, f"true: {form or table.truth}"
    values = {} if form is None else {"front": any(has_form(f, table, form) for f in finder.front_)}
    if not laws:
        return Case(table.name, "none", seconds, str(finder.verdict_), note, values)
    if table.fresh is not None:
        outcome, errors = table_outcome(laws, table)
        outcome = "wrong" if outcome == "unsaid" else outcome
        note += f"; off by {errors[0]:.2g} in the whole, {errors[1]:.2g} in the bulk"
    elif form is None:
        outcome = "unjudged"
    elif has_form(laws[0], table, form):
        outcome = "found"
    else:
        outcome = WORD if WORD in laws[0].verdict else "wrong"
    if values:
        values["front"] |= outcome == "found"
    return Case(table.name, outcome, seconds, str(laws[0]), note, values)


def has_form(law, table: Table, form: str) -> bool:
    """Say whether constants of a form make it what a law predicts, on rows and between them."""
    random = np.random.RandomState(0)
    first, second = random.randint(len(table.X), size=(2, PAIRS))
    X = np.vstack([table.X, (table.X[first] + table.X[second]) / 2])
    X = pd.DataFrame(X, columns=list(table.names))
    try:
        with np.errstate(all="ignore"):
            predicted = pd.Series(np.asarray(law.predict(X), dtype=float), name=TARGET)
            good = np.isfinite(predicted)
            best = check_law(f"{TARGET} = {form}", X[good], predicted[good])
            rest = np.asarray(best.predict(X[good])) - predicted[good]
    except (ValueError, AttributeError):
        return False
    return bool(np.sqrt(np.mean(rest**2)) <= SAME * np.std(predicted[good]))
