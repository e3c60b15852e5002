"""The closed form: least squares from the moments.

`OAVI` does not call this term by term: the factor it keeps for its certificates
(`vanishing.constructions.certificate`) has the same answer at hand.
"""

import numpy as np
from scipy.linalg import lstsq

from vanishing.oracles.solution import Solution, Status


def ls(gram, cross, norm, *, psi, radius=np.inf, eps=0.0, tol=0.0, max_iter=1):
    """Solve COP in closed form; all but ``psi`` of the options play no part."""
    k = cross.size
    coef = lstsq(gram[:k, :k], -cross, lapack_driver="gelsy", check_finite=False)[0]
    mse = float(max(0.0, norm + coef @ cross))
    return Solution(coef, mse, 0.0, 1, Status.FOUND if mse <= psi else Status.ACCURATE)
