"""Time derivatives of measured runs, from local polynomials or plain differences."""

from typing import Literal

import numpy as np
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import column_or_1d

from vanishing._types import FloatArray, Labels, Table, Vector
from vanishing.checks import check_choice, check_number

METHODS = ("smooth", "differences")


def derivatives(
    X: Table,
    t: Vector,
    groups: Labels | None = None,
    method: Literal["smooth", "difference"] = "smooth",
    *,
    window: int = 7,
) -> FloatArray:
    r"""Return the time derivatives of columns along each run.

    They are columns for `LawFinder`: equations of motion are laws among columns and derivatives.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows in any order.
    t : array-like of shape (n_samples,)
        Their times, different from one another within a run; steps need not be equal.
    groups : array-like of shape (n_samples,), default=None
        Which run each row belongs to; None means that all are one run.
    method : {"smooth", "differences"}, default="smooth"
        "smooth": the slope of the parabola that fits the nearest ``window`` rows best, by least
        squares. "differences": that of the parabola through a row and its two neighbours.
    window : int, default=7
        Rows of a local fit, an odd number of 3 or more. At the ends of a run they are the first or
        last ones. A shorter run is one window.

    Returns
    -------
    slopes : ndarray of shape (n_samples, n_features)
        In the order of the rows.

    See Also
    --------
    vanishing.LawFinder : Finds laws among columns and their derivatives.
    vanishing.ConservedQuantities : Needs no derivatives.

    Notes
    -----
    A derivative is a sum of values times coefficients. Independent noise of standard deviation s in
    the values becomes noise of s times the root of the sum of squared coefficients. With equal
    steps h that is, away from the ends,

    .. math::
       \frac{s}{h} \sqrt{\frac{3}{k (k + 1) (2 k + 1)}}, \qquad k = \frac{\text{window} - 1}{2},

    which is 0.71 s/h for plain differences (k = 1), 0.19 s/h for the default window of 7 (k = 3)
    and 0.095 s/h for 11. At the first and last row of a run it is larger: 3.6 times as large for
    the default window. The price is a systematic error of

    .. math:: \frac{3 k^2 + 3 k - 1}{30} h^2 x''',

    h^2 x'''/6 for plain differences and seven times that for the default window. Steps shorter than
    the motion needs are worth taking: noise falls with the window faster than it grows with 1/h.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing.motion import derivatives
    >>> t = np.linspace(0.0, 1.0, 101)
    >>> slopes = derivatives(np.column_stack([np.sin(t), t**2]), t)
    >>> bool(np.abs(slopes - np.column_stack([np.cos(t), 2 * t])).max() < 1e-3)
    True
    """
    check_choice("method", method, METHODS)
    check_number("window", window, low=3, integer=True)
    if window % 2 == 0:
        raise ValueError(f"window must be odd; got {window}.")
    X = check_array(X, dtype=np.float64, input_name="X")
    t = check_array(t, dtype=np.float64, ensure_2d=False, input_name="t")
    if t.ndim != 1:
        raise ValueError(f"t must be one number per row; its shape is {t.shape}.")
    groups = np.zeros(len(X)) if groups is None else column_or_1d(groups)
    check_consistent_length(X, t, groups)
    labels, run = np.unique(groups, return_inverse=True)
    order = np.lexsort((t, run))
    starts = np.searchsorted(run[order], np.arange(len(labels) + 1))
    slopes = np.empty_like(X)
    for label, start, stop in zip(labels, starts[:-1], starts[1:], strict=True):
        rows = order[start:stop]
        if len(rows) < 3:  # points of a parabola
            raise ValueError(f"the run {label!r} has {len(rows)} rows: 3 are needed.")
        if (np.diff(t[rows]) == 0).any():
            raise ValueError(f"the run {label!r} has two rows at the same time.")
        slopes[rows] = _slopes(X[rows], t[rows], 3 if method == "differences" else window)
    return slopes


def _slopes(X: np.ndarray, t: np.ndarray, window: int) -> np.ndarray:
    """Return slopes along one run, whose rows are in the order of time."""
    window = min(window, len(t))
    first = np.clip(np.arange(len(t)) - window // 2, 0, len(t) - window)
    window_rows = first[:, None] + np.arange(window)
    apart = t[window_rows] - t[:, None]
    unit = np.abs(apart).max(axis=1)
    powers = (apart / unit[:, None])[:, :, None] ** np.arange(3)
    coef = np.linalg.pinv(powers)[:, 1] / unit[:, None]
    return np.einsum("iw,iwc->ic", coef, X[window_rows])
