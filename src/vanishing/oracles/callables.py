"""Any callable as an oracle, with what it returns checked."""

from collections.abc import Callable
from typing import Any

import numpy as np

from vanishing.oracles.solution import Oracle, Solution, Status


def custom(function: Callable[..., tuple[Any, Any]]) -> Oracle:
    """Wrap ``function(gram, cross, norm, *, psi, radius) -> (coef, mse)`` into an oracle.

    The mse it claims is not relied upon: it is recomputed from the moments. Whether it keeps to the
    ball is not checked.

    See Also
    --------
    named : An oracle by its name.
    Solution : What an oracle returns.
    """

    def solve(gram, cross, norm, *, psi, radius, **_):
        k = cross.size
        result = function(gram[:k, :k].copy(), cross.copy(), norm, psi=psi, radius=radius)
        try:
            coef, _ = result
        except (TypeError, ValueError):
            raise TypeError(
                f"the oracle {function!r} must return a pair (coef, mse); got {result!r}."
            ) from None
        coef = np.asarray(coef)
        if coef.shape != (k,):
            raise ValueError(
                f"the oracle {function!r} must return coefficients of shape ({k},), one for each "
                f"row of gram; got shape {coef.shape}."
            )
        if coef.dtype.kind not in "fiu" or not np.isfinite(coef).all():
            raise ValueError(
                f"the oracle {function!r} must return finite real coefficients; got {coef!r}."
            )
        coef = coef.astype(np.float64)
        mse = float(norm + coef @ (gram[:k, :k] @ coef + 2.0 * cross))
        status = Status.FOUND if mse <= psi else Status.ACCURATE
        return Solution(coef, mse, np.nan, 1, status)

    return Oracle(solve, constrained=True, euclidean=True)
