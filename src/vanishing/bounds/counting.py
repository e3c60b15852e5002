"""How many order ideals and terms there are (section 4 of the paper)."""

import math

from scipy.special import betaln

from vanishing.bounds.arguments import whole
from vanishing.checks import check_number
from vanishing.constructions.oavi import stopping_degree


def log_order_ideals(n_features: int, k: int) -> float:
    """Bound the logarithm of the number of order ideals of k terms (Lemma 4.11).

    ``log(n^k k!)``. The paper's induction gives ``n^(k-1) (k-1)!`` as well. It uses only that each
    term is a variable times another term, not that all divisors are there. So the bound also holds
    for the sets O that the border basis border ("bb") builds, which need not be order ideals.

    Parameters
    ----------
    n_features : int
        Number of variables n.
    k : int
        Number of terms.

    Returns
    -------
    log_count : float

    See Also
    --------
    log_terms : How many terms there are.

    Examples
    --------
    >>> from vanishing import bounds
    >>> round(bounds.log_order_ideals(n_features=2, k=3), 4)  # 2^3 3! = 48; there are 3
    3.8712
    """
    n, k = whole("n_features", n_features, 1), whole("k", k, 0)
    return k * math.log(n) + math.lgamma(k + 1)


def log_terms(n_features: int, max_degree: int) -> float:
    """Return the logarithm of the number of terms of degree at most d, ``log C(n + d, d)``.

    Parameters
    ----------
    n_features : int
        Number of variables n.
    max_degree : int
        The degree d.

    Returns
    -------
    log_count : float

    See Also
    --------
    log_order_ideals : How many order ideals there are.

    Examples
    --------
    >>> from vanishing import bounds
    >>> round(bounds.log_terms(n_features=2, max_degree=2), 4)  # 1, t1, t2, t1^2, t1 t2, t2^2
    1.7918
    """
    n, d = whole("n_features", n_features, 1), whole("max_degree", max_degree, 0)
    return float(-math.log(n + d + 1) - betaln(n + 1, d + 1))


def max_size(psi: float, n_features: int) -> int:
    """Bound |G| + |O| whatever the number of rows: ``C(D + n, D)``, D = ceil(-log psi / log 4).

    For rows in [0, 1]^n, not [-1, 1]^n, the border "gb", no bound on the degree below D, and an
    exact oracle that is unbounded or has ``tau >= (3/2)^D`` (``tau="auto"``). Then a border term of
    degree D leads a generator, because the product of t_i - 1/2 over its factors t_i is small: at
    most 2^-D in absolute value. Its coefficients have the l1-norm (3/2)^D, and its other terms are
    in O. On [-1, 1]^n it fails: no combination of lower terms comes near t_1 ... t_n on the
    corners.

    Parameters
    ----------
    psi : float in (0, 1)
        Largest mean square of a generator.
    n_features : int
        Number of variables n.

    Returns
    -------
    size : int

    See Also
    --------
    of : All bounds that hold for a fitted model.

    References
    ----------
    E. Wirth, H. Kera and S. Pokutta, "Approximate Vanishing Ideal Computations at Scale", ICLR
    2023.

    Examples
    --------
    >>> from vanishing import bounds
    >>> bounds.max_size(psi=0.005, n_features=3)  # D = 4
    35
    """
    check_number("psi", psi, low=0, high=1, low_open=True, high_open=True)
    n, degree = whole("n_features", n_features, 1), stopping_degree(psi)
    return math.comb(degree + n, degree)
