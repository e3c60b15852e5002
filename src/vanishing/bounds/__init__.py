"""The paper's learning guarantees as functions, and those that hold for a fitted model.

Notation: n columns, k terms, m rows in [-1, 1]^n, tau a bound on the l1-norm of a generator's
coefficients (the leading one included), delta the probability with which a bound may fail. On such
rows a generator is at most tau in absolute value, so that a bound above tau^2 on its mean square
says nothing; nor does one above 1 on a probability.

The theorems fix tau, k, the weights' norm and the margin before the data is seen. What is chosen
afterwards costs a share of delta: round it up on a dyadic grid, and let the j-th point of the grid
have delta / (j (j + 1)); these shares sum to delta. `of` does so.

References
----------
E. Wirth and S. Pokutta, "Conditional Gradients for the Approximate Vanishing Ideal", sections 4
and 6.
E. Wirth, H. Kera and S. Pokutta, "Approximate Vanishing Ideal Computations at Scale", ICLR 2023:
the bound on |G| + |O|.
M. Mohri, A. Rostamizadeh and A. Talwalkar, "Foundations of Machine Learning", 2nd edition:
Theorems 5.8 and 11.3 are what the paper's bounds are made of.
"""

from vanishing.bounds.counting import log_order_ideals, log_terms, max_size
from vanishing.bounds.fitted import of
from vanishing.bounds.guarantees import (
    lipschitz_bound,
    margin_bound,
    margin_loss,
    moment_bound,
    rademacher_generators,
    rademacher_pipeline,
    vanishing_bound,
)
from vanishing.bounds.results import Bound, Report

__all__ = [
    "Bound",
    "Report",
    "lipschitz_bound",
    "log_order_ideals",
    "log_terms",
    "margin_bound",
    "margin_loss",
    "max_size",
    "moment_bound",
    "of",
    "rademacher_generators",
    "rademacher_pipeline",
    "vanishing_bound",
]
