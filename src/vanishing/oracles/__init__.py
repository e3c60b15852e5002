"""Oracles: solvers of COP and CCOP, the convex problems behind every generator.

Each minimises the mse of a polynomial with leading term u,

    f(v) = v'Gv + 2 c'v + d,     G = A'A/m,  c = A'b/m,  d = b'b/m,  A = O(X), b = u(X),

over all v (COP) or over the l1-ball ``||v||_1 <= radius`` (CCOP), and sees nothing of the data
but ``gram`` = G, ``cross`` = c and ``norm`` = d. The number of terms is ``k = len(cross)``; only
the leading k x k block of ``gram`` is read, so that one array serves while O grows. Conditional
gradients also solve CCOP over the l2-ball, with ``region="l2"``, at O(k^2) a step.

============  =====  ============================================================  =========
oracle        ball   method                                                        a step
============  =====  ============================================================  =========
``"pcg"``     yes    pairwise conditional gradients (the paper's Algorithm 3)      O(k)
``"bpcg"``    yes    blended pairwise conditional gradients                        O(k)
``"afw"``     yes    away-step Frank-Wolfe                                         O(k)
``"cg"``      yes    Frank-Wolfe with exact line search                            O(k)
``"agd"``     no     Nesterov's accelerated gradient descent                       O(k^2)
``"omp"``     yes    greedy sparse least squares                                   O(k s)
``"ls"``      no     closed form                                                   once
============  =====  ============================================================  =========
"""

from collections.abc import Callable
from typing import Any

from vanishing.oracles.accelerated_gradients import agd, agd_as_published
from vanishing.oracles.callables import custom
from vanishing.oracles.closed_form import ls
from vanishing.oracles.conditional_gradients import afw, bpcg, cg, pcg
from vanishing.oracles.matching_pursuit import omp
from vanishing.oracles.solution import Oracle, Solution, Status

ORACLES = {
    "pcg": Oracle(pcg, constrained=True, euclidean=True, refits=True),
    "bpcg": Oracle(bpcg, constrained=True, euclidean=True, refits=True),
    "cg": Oracle(cg, constrained=True, euclidean=True, refits=True),
    "afw": Oracle(afw, constrained=True, euclidean=True, refits=True),
    "agd": Oracle(agd, constrained=False, to_the_letter=agd_as_published),
    "ls": Oracle(ls, constrained=False, closed_form=True, refitted=True),
    "omp": Oracle(omp, constrained=True, refitted=True),
}


def named(oracle: str | Callable[..., tuple[Any, Any]]) -> Oracle:
    """Return the oracle that has this name, or that this callable makes.

    See Also
    --------
    custom : An oracle of your own.
    vanishing.OAVI : What asks oracles.
    """
    return custom(oracle) if callable(oracle) else ORACLES[oracle]


__all__ = ["ORACLES", "Oracle", "Solution", "Status", "custom", "named", *ORACLES]
