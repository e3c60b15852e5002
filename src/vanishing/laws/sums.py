"""Step 1c: translation symmetries: the target depends on two variables through their sum alone.

sin(a - b), exp(-(x - y)^2) and log(x + z) are functions of one variable, which is a difference or a
sum of two, in the units in which they are given.
"""

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from vanishing.laws import settings
from vanishing.laws.problem import LawTable
from vanishing.laws.reductions import (
    Logarithms,
    ReductionState,
    Summand,
    is_as_good,
    reduced_states,
    with_surrogate,
)


def states_of_sums(
    table: LawTable, state: ReductionState, progress: Callable
) -> Iterator[list[ReductionState]]:
    """Yield, for the sums that explain the target best, the states that reductions lead to.

    A sum takes the place of two variables, and is as good as these.
    """
    rows = table.at(slice(0, settings.FIRST_ROWS))
    if not 2 <= state.n_variables <= settings.SUMMED_VARIABLES:
        return
    logarithms = Logarithms(rows.columns, rows.positive)
    sums = []
    for candidate in _candidates(state, logarithms, table):
        progress(f"sums of {state.n_variables} variables")
        new = with_surrogate(candidate, logarithms, rows.y, rows.weight)
        if is_as_good(new, state, rows.y, rows.weight):
            sums.append(new)
    sums.sort(key=lambda new: new.fit()[0].mean_square)
    for new in sums[: settings.SUMS_TRIED]:
        yield reduced_states(rows.columns, rows.positive, rows.y, rows.weight, new, progress)


def _candidates(
    state: ReductionState, logarithms: Logarithms, table: LawTable
) -> Iterator[ReductionState]:
    """Yield states in which two variables are one: their difference, or their sum.

    Variables of one dimension, where laws must be homogeneous.
    """
    whole = (state.variables % 1 == 0.0).all(axis=1)
    dimensions = None
    if table.dimensions is not None:
        dimensions = state.variables @ table.dimensions[:-1]
    for i, j in combinations(range(state.n_variables), 2):
        if i in state.summands or j in state.summands or not (whole[i] and whole[j]):
            continue
        if dimensions is not None and np.abs(dimensions[i] - dimensions[j]).max() > 1e-9:
            continue
        # In the units as given, those of the first variable.
        ratio = np.exp((state.variables[j] - state.variables[i]) @ table.log_units)
        for sign in (-1.0, 1.0):
            new = state.of(
                np.flatnonzero(np.arange(state.n_variables) != j), state.factor, state.variables
            )
            place = i  # i < j: its place is the same
            summands = {**new.summands, place: Summand(sign * float(ratio), state.variables[j])}
            new = new._replace(summands=summands)
            values = logarithms.variables(new)[place]
            if np.ptp(values) > 1e-9 * np.abs(values).max():
                positive = new.positive.copy()
                positive[place] = (values > 0.0).all()
                yield new._replace(positive=positive)
