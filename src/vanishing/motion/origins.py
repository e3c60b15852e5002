"""Columns of runs far from the origin: offsets, and polynomials in columns as they are."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from vanishing.algebra.terms import Evaluator, Term, monomial
from vanishing.equations.fitted import with_plain_columns
from vanishing.fitting import settings as of_fitting
from vanishing.fitting.origins import Expansion, short_number, shortest_origin
from vanishing.motion import settings
from vanishing.motion.runs import Survey
from vanishing.motion.state import cleaned
from vanishing.motion.variables import Variable


def offsets_of_runs(survey: Survey, variables: Sequence[Variable]) -> np.ndarray:
    """Return a short number near each column that is far from the origin, and 0 for others.

    Functions of columns are of these as they are: a column that has some stays where it is.
    """
    centre, spread = (survey.low + survey.high) / 2, (survey.high - survey.low) / 4
    offsets = np.zeros(len(centre))
    has_functions = {v.column for v in variables if v.function is not None}
    varies = survey.high - survey.low > 1e-12 * np.maximum(-survey.low, survey.high)
    for i in np.flatnonzero(varies & (np.abs(centre) > of_fitting.FAR * spread)).tolist():
        if i not in has_functions:
            width = of_fitting.OFFSET_WIDTH * float(spread[i])
            offsets[i] = short_number(float(centre[i]), width)
    return offsets


class Origins(NamedTuple):
    """Where the columns of runs are measured from.

    Attributes
    ----------
    offsets : array of shape (n_columns,)
    spread : array of shape (n_columns,)
        Of the columns.
    """

    offsets: np.ndarray
    spread: np.ndarray

    def quantity(
        self, terms: Sequence[Term], coef: np.ndarray, exact: bool
    ) -> tuple[dict[str, Any], float]:
        """Return a polynomial in columns less these offsets as one that has as few as it needs.

        Returns
        -------
        parts : dict
            ``terms``, ``coef`` and ``offsets`` of a quantity.
        constant : float
            What it is more than the polynomial.
        """
        short, coef_of_short, offsets = self._shortest(terms, coef, exact)
        # Both are the same up to what the polynomial is where the new one starts, and is 0.
        start = Evaluator((offsets - self.offsets)[:, np.newaxis])
        constant = -float((coef @ start.values(terms))[0]) if len(short) < len(terms) else 0.0
        for column in np.flatnonzero(offsets).tolist():
            places = [j for j, term in enumerate(short) if term.involves(column)]
            # An offset of a column that stands for itself adds a constant, which does not matter.
            if all(short[j] == monomial(np.eye(len(offsets))[column]) for j in places):
                constant += float(offsets[column] * coef_of_short[places].sum())
                offsets[column] = 0.0
        return {"terms": short, "coef": coef_of_short, "offsets": offsets}, constant

    def law(self, terms: Sequence[Term], coef: np.ndarray) -> dict[str, Any]:
        """Return the terms, coefficients and offsets of a law of the state."""
        short, coef, offsets = self._shortest(terms, coef, True)
        return with_plain_columns(short, coef, None, offsets)

    def _shortest(
        self, terms: Sequence[Term], coef: np.ndarray, exact: bool
    ) -> tuple[list[Term], np.ndarray, np.ndarray]:
        """Return terms, coefficients and offsets of fewest terms.

        Exact polynomials without functions alone are moved. A constant counts where there is one:
        quantities have none.
        """
        same = list(terms), coef, self.offsets.copy()
        if not (exact and self.offsets.any()) or any(term.factors for term in terms):
            return same
        exponents = np.array([term.exponents for term in terms]).astype(np.int64)
        unit = np.prod(self.spread**exponents, axis=1)
        expansion = Expansion.of(exponents, coef * unit, settings.ORIGIN)
        if exponents.any(axis=1).all():
            expansion = expansion.without_constant()
        columns = np.flatnonzero(self.offsets).tolist()
        steps, _, moved = shortest_origin(expansion, columns, -self.offsets / self.spread)
        needed = moved.exponents[moved.needed]
        if len(needed) >= len(terms):
            return same
        new = moved.coef[moved.needed] / np.prod(self.spread**needed, axis=1)
        offsets = self.offsets.copy()
        for i in np.flatnonzero(steps).tolist():
            origin = float(offsets[i] + steps[i] * self.spread[i])
            offsets[i] = short_number(origin, settings.ORIGIN * float(self.spread[i]))
        order = np.lexsort([*needed.T, needed.sum(axis=1)])[::-1]  # the leading term first
        return [monomial(row) for row in needed[order]], cleaned(new[order]), offsets
