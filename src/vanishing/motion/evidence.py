"""Evidence for the terms of equations: how far away others are that lack one of them."""

from collections.abc import Iterator, Sequence

import numpy as np

from vanishing.motion import settings
from vanishing.motion.integrals import Along
from vanishing.motion.linear_stage import Support, misfit, price
from vanishing.motion.measured import Noise
from vanishing.motion.shooting import Shot


def evidence(
    chosen: Sequence[Support],
    rivals: Sequence[Sequence[tuple[float, Support]]],
    along: Along,
    noise: Noise,
) -> np.ndarray:
    """Return, for each column, half the distance to the best rival that lacks a term.

    Parameters
    ----------
    chosen : sequence of Support
        The equation of each column.
    rivals : sequence of sequences of (float, Support)
        Other equations of each column, and how much worse their scores are.
    along : Along
    noise : Noise
    """
    found = np.full(len(chosen), np.inf)
    for j, of_column in enumerate(rivals):
        nodes = {term.node for term in chosen[j].terms}
        for distance, support in sorted(of_column, key=lambda rival: rival[0]):
            if distance >= found[j]:
                break
            # What has all these terms and more is no rival, nor is sin(w*x) of sin(x).
            if nodes <= {node for t in support.terms for node in (t.node, t.plain_node)}:
                continue
            if not _is_same(chosen[j], support, along, bool(noise.is_below[j])):
                found[j] = distance
    return found / 2.0


def lacking_one_term(
    shot: Shot, chosen: Sequence[Support], counts: np.ndarray, soft: np.ndarray
) -> Iterator[tuple[int, Support, float]]:
    """Yield a column, its equation without one term, and how much worse the score would be.

    Squared residuals grow by the square of the coefficient over its standard error. That says
    nothing of terms with constants inside, whose coefficients go to zero in other ways.
    """
    if shot.covariance is None:
        return
    variance = np.maximum(np.diag(shot.covariance), 1e-300)
    for j, (places, (_, terms, coef, stage)) in enumerate(
        zip(shot.system.places, chosen, strict=True)
    ):
        for k, place in enumerate(places):
            if terms[k].constants:
                continue
            with np.errstate(over="ignore"):  # a coefficient that is all but exact
                added = shot.parameters[place[0]] ** 2 / variance[place[0]]
            rest = (*terms[:k], *terms[k + 1 :])
            worse = misfit(shot.losses[j] + added, counts[j], soft[j])
            worse -= misfit(shot.losses[j], counts[j], soft[j])
            saved = price(terms, counts[j]) - price(rest, counts[j])
            yield j, Support(np.inf, rest, np.delete(coef, k), stage), float(worse - saved)


def _is_same(first: Support, second: Support, along: Along, is_below: bool) -> bool:
    """Say whether two equations are one, as x/(K + x) and 1 - K/(K + x) are."""
    if sum(1 + len(t.constants) for t in first.terms) != sum(
        1 + len(t.constants) for t in second.terms
    ):
        return False
    differ, size = 0.0, 0.0
    with np.errstate(all="ignore"):
        for variables in along.variables:
            one, two = (
                sum(c * term.values(variables) for c, term in zip(s.coef, s.terms, strict=True))
                for s in (first, second)
            )
            differ += float(np.sum((one - two) ** 2))
            size += float(np.sum(np.square(one)))
    return differ <= (settings.SAME_BELOW if is_below else settings.SAME) ** 2 * size
