"""Bounds of the error of a fitted classifier with two classes."""

import math

import numpy as np

from vanishing.bounds.generators import IN_ADVANCE, l1_norms, place_of_terms
from vanishing.bounds.guarantees import margin_bound, margin_loss
from vanishing.bounds.price import grid, samples_needed, share
from vanishing.bounds.results import Bound

_MARGINS = 40  # points of the grid of margins; the last is 2e-12 of the largest decision value


def of_margin(anatomy, scores, signs, delta, rho, conditions):
    """Return the margin bounds of a classifier with two classes.

    The decision function is a sum of weights times generators, and only the product of Lambda and
    tau counts in the bound: ``size = sum_j |w_j| ||g_j||_1 + |intercept|`` is such a product, and
    the smallest. Where the features are g(x) rather than |g(x)| the bound holds all the more.
    """
    transformers = [part.model for part in anatomy.parts]
    n, m = transformers[0].n_features_in_, len(scores)
    l1 = np.concatenate([l1_norms(t) for t in transformers])
    size = float(np.abs(anatomy.weights[0]) @ l1 + np.abs(anatomy.intercept[0])) or 1.0
    k, k_place = place_of_terms(transformers[0].max_terms, max(t.n_terms_ for t in transformers))
    degree = max(1, *(t.degree_ for t in transformers))
    if rho is None:
        # Divided by its size the decision function is at most 1: margins 1, 1/2, 1/4, ... of that.
        choices = [(size, size * 2.0 ** (1 - j), j) for j in range(1, _MARGINS + 1)]
    else:
        rounded, j = grid(size, 1.0)
        choices = [(rounded, rho, j)]

    bounds = []
    for name, place, count, chosen, *further in (
        ("margin", k_place, {"k": k}, f"k = {k}", IN_ADVANCE),
        ("margin, by degree", (degree,), {"k": None, "max_degree": degree}, f"degree {degree}"),
    ):
        candidates = []
        for total, margin, j in choices:
            loss, part = margin_loss(scores, signs, margin), share(delta, j, *place)
            # Any tau will do: it is Lambda tau that counts.
            slack = margin_bound(
                0.0, n, n_samples=1, tau=2.0, weight_bound=total / 2.0, rho=margin, delta=part,
                **count,
            )  # fmt: skip
            needed = samples_needed(loss, slack, 1.0)
            candidates.append((loss + slack / math.sqrt(m), loss, margin, total, part, needed))
        value, loss, margin, total, part, _ = min(candidates, key=lambda c: c[0])
        needed = [c[-1] for c in candidates if c[-1] is not None]
        bounds.append(
            Bound(
                name=name,
                value=value,
                statement=(
                    f"P(predicted label is wrong) <= {value:.3g} (margin loss {loss:.3g} at rho = "
                    f"{margin:.3g} on {m:,} rows; Lambda tau = {total:.3g}, {chosen}, delta = "
                    f"{part:.2g})"
                ),
                informative=value < 1.0,
                samples_needed=min(needed, default=None),
                conditions=(*conditions, *further),
            )
        )
    return bounds
