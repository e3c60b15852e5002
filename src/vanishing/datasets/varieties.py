"""Points on varieties: circles, spheres, and the zero sets of any polynomial equations."""

from collections.abc import Sequence

import numpy as np
from sklearn.utils import check_random_state

from vanishing._types import FloatArray, IntArray, RandomState
from vanishing.algebra.parsing import default_variables, parse_equation
from vanishing.algebra.polynomials import Polynomial
from vanishing.checks import check_number

_BATCH = (1000, 10_000)  # fewest and most starting points at a time
_RARE = 100  # stop if fewer than one of so many starting points ends on the variety
_STEPS = 60  # enough to halve an error down to rounding, as Newton's method does at singular points
_ACCURACY = 1e-14  # of an equation, relative to the size of its terms
_FAR = 10  # widths of the box; a point farther away is dropped


def _perturbed(X, noise, random_state) -> np.ndarray:
    return X + random_state.normal(scale=noise, size=X.shape) if noise else X


def make_circle(
    n_samples: int = 400,
    *,
    radius: float = 1.0,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> FloatArray:
    """Draw points on a circle around the origin.

    Parameters
    ----------
    n_samples : int, default=400
        Number of points.
    radius : float, default=1.0
        Radius of the circle.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to every coordinate.
    random_state : int, RandomState instance or None, default=None
        Determines the points; pass an int for the same points in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Uniform on the circle, before the noise.

    See Also
    --------
    make_sphere : Points on a sphere of any dimension.
    make_variety : Points that satisfy equations.

    Examples
    --------
    >>> from vanishing import OAVI
    >>> from vanishing.datasets import make_circle
    >>> X = make_circle(radius=0.5, random_state=0)
    >>> print(OAVI(psi=1e-8, oracle="ls", max_degree=2).fit(X).generators_[0])
    x1^2 + x0^2 - 0.25
    """
    return make_sphere(
        n_samples, n_features=2, radius=radius, noise=noise, random_state=random_state
    )


def make_sphere(
    n_samples: int = 1000,
    *,
    n_features: int = 3,
    radius: float = 1.0,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> FloatArray:
    """Draw points on a sphere around the origin.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    n_features : int, default=3
        Number of coordinates.
    radius : float, default=1.0
        Radius of the sphere.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to every coordinate.
    random_state : int, RandomState instance or None, default=None
        Determines the points; pass an int for the same points in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Uniform on the sphere, before the noise.

    See Also
    --------
    make_circle : Points on a circle.
    make_variety : Points that satisfy equations.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing.datasets import make_sphere
    >>> X = make_sphere(5, n_features=4, radius=2.0, random_state=0)
    >>> np.linalg.norm(X, axis=1).round(6)
    array([2., 2., 2., 2., 2.])
    """
    check_number("n_samples", n_samples, low=1, integer=True)
    check_number("n_features", n_features, low=1, integer=True)
    check_number("radius", radius, low=0, low_open=True)
    check_number("noise", noise, low=0)
    random_state = check_random_state(random_state)
    X = random_state.normal(size=(n_samples, n_features))
    X *= radius / np.linalg.norm(X, axis=1, keepdims=True)
    return _perturbed(X, noise, random_state)


def make_two_surfaces(
    n_samples: int = 1000, *, noise: float = 0.05, random_state: RandomState = None
) -> tuple[FloatArray, IntArray]:
    """Draw two classes of points, each close to a quadric surface in three dimensions.

    Class 0 lies on x0^2 + 0.01*x1 + x2^2 = 1, class 1 on x0^2 + x2^2 = 1.3. The two classes are
    not linearly separable; a polynomial of degree 2 tells them apart.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points, half of them of each class (class 0 has one more if the number is odd).
    noise : float, default=0.05
        Standard deviation of Gaussian noise added to every coordinate.
    random_state : int, RandomState instance or None, default=None
        Determines the points; pass an int for the same points in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
        Before the noise, x1 is uniform in [-1, 1] and the angle around its axis is uniform.
    y : ndarray of int of shape (n_samples,)
        The classes, in random order.

    See Also
    --------
    make_variety : Points that satisfy equations.
    VanishingClassifier : Tells such classes apart.

    Examples
    --------
    >>> from vanishing.datasets import make_two_surfaces
    >>> X, y = make_two_surfaces(6, noise=0.0, random_state=0)
    >>> y.tolist()
    [1, 0, 1, 1, 0, 0]
    >>> (X[y == 1, 0] ** 2 + X[y == 1, 2] ** 2).round(6)
    array([1.3, 1.3, 1.3])
    """
    check_number("n_samples", n_samples, low=2, integer=True)
    check_number("noise", noise, low=0)
    random_state = check_random_state(random_state)
    y = random_state.permutation(np.arange(n_samples) % 2)
    height = random_state.uniform(-1, 1, size=n_samples)
    angle = random_state.uniform(0, 2 * np.pi, size=n_samples)
    radius = np.sqrt(np.where(y == 0, 1 - 0.01 * height, 1.3))
    X = np.column_stack([radius * np.cos(angle), height, radius * np.sin(angle)])
    return _perturbed(X, noise, random_state), y


def make_variety(
    equations: str | Polynomial | Sequence[str | Polynomial],
    n_samples: int = 400,
    *,
    noise: float = 0.0,
    box: tuple[float, float] | Sequence[tuple[float, float]] = (-1, 1),
    names: Sequence[str] | None = None,
    random_state: RandomState = None,
) -> FloatArray:
    """Draw points on the common zero set of polynomial equations.

    Points that are uniform in a box are moved onto the zero set by Newton's method with steps of
    minimum norm, and those that end inside the box are kept. They satisfy the equations up to
    rounding, but are **not** uniform on the zero set. Parts that are close to more of the box get
    more points, and each point of a finite zero set is drawn many times.

    Parameters
    ----------
    equations : str, Polynomial, sequence of these, or Generators
        The equations. A string is a polynomial in ``+``, ``-``, ``*``, ``^`` or ``**`` with a
        non-negative integer, brackets and numbers, or two of them with ``=`` between them. A
        polynomial stands for the equation that it is zero.
    n_samples : int, default=400
        Number of points.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to every coordinate. It may lead out of the box.
    box : pair of float or array-like of shape (n_features, 2), default=(-1, 1)
        Smallest and largest value of all variables, or of each of them.
    names : sequence of str, default=None
        Names of the variables in the strings, in the order of the columns; also of those that no
        equation contains. By default those of the polynomials given, or x0, x1, ... up to the last
        one that occurs.
    random_state : int, RandomState instance or None, default=None
        Determines the points; pass an int for the same points in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)

    Raises
    ------
    ValueError
        If an equation cannot be read, or hardly any starting point ends on the zero set.

    See Also
    --------
    make_circle, make_sphere : Points that are uniform on their variety.

    Examples
    --------
    >>> from vanishing.datasets import make_variety
    >>> X = make_variety(["x0^2 + x1^2 = 0.5", "x2 = x0*x1"], 5, random_state=0)
    >>> X.shape
    (5, 3)
    >>> (X[:, 0] ** 2 + X[:, 1] ** 2).round(6)
    array([0.5, 0.5, 0.5, 0.5, 0.5])
    >>> bool(abs(X[:, 2] - X[:, 0] * X[:, 1]).max() < 1e-12)
    True
    """
    check_number("n_samples", n_samples, low=1, integer=True)
    check_number("noise", noise, low=0)
    polynomials = as_polynomials(equations, names)
    low, high = _corners(box, polynomials[0].terms.shape[1])
    random_state = check_random_state(random_state)
    kept, n_kept, n_starts = [], 0, 0
    while n_kept < n_samples:
        if n_kept * _RARE < n_starts:
            raise ValueError(
                f"found only {n_kept} points of {n_samples} after {n_starts} starting points; is "
                "the zero set empty in the box?"
            )
        batch = int(np.clip(2 * (n_samples - n_kept), *_BATCH))
        X = random_state.uniform(low, high, size=(batch, low.size))
        kept.append(_project(polynomials, X, low, high))
        n_kept += len(kept[-1])
        n_starts += batch
    return _perturbed(np.vstack(kept)[:n_samples], noise, random_state)


def _corners(box, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest values of the variables."""
    problem = (
        "box must be a pair of finite numbers, the smaller one first, or one such pair for each "
        f"of the {n_features} variables; got {box!r}."
    )
    try:
        box = np.asarray(box, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(problem) from None
    if box.shape not in ((2,), (n_features, 2)):
        raise ValueError(problem)
    low, high = np.broadcast_to(box, (n_features, 2)).T
    if not ((low < high).all() and np.abs(box).max() <= 1e300):  # the width must be finite too
        raise ValueError(problem)
    return low, high


def _project(polynomials: list[Polynomial], X, low, high) -> np.ndarray:
    """Move rows onto the zero set of polynomials; return those that end inside the box."""
    width = high - low
    # Sizes of terms are taken as if no variable were smaller than this: a term like x0^2 alone
    # would never be small compared with itself.
    floor = np.minimum(1.0, np.maximum(np.abs(low), np.abs(high)))
    sizes = [Polynomial(g.terms, np.abs(g.coef)) for g in polynomials]
    arrived = np.zeros(len(X), dtype=bool)
    active = np.arange(len(X))
    with np.errstate(all="ignore"):  # rows whose values overflow are dropped
        for _ in range(_STEPS):
            points = X[active]
            magnitude = np.maximum(np.abs(points), floor)
            values = np.column_stack([g(points) for g in polynomials])
            size = np.column_stack([g(magnitude) for g in sizes])
            zero = (np.abs(values) <= _ACCURACY * size).all(axis=1)
            arrived[active[zero]] = np.isfinite(size[zero]).all(axis=1)
            jacobian = np.stack([g.gradient(points) for g in polynomials], axis=1)
            finite = np.isfinite(values).all(axis=1) & np.isfinite(jacobian).all(axis=(1, 2))
            move = ~zero & finite
            # The minimum-norm solution of: values + jacobian step = 0.
            inverse = np.linalg.pinv(jacobian[move], rcond=1e-10)
            moved = points[move] - np.einsum("rij,rj->ri", inverse, values[move])
            stays = (np.abs(moved - low) <= _FAR * width).all(axis=1)
            active = active[move][stays]
            X[active] = moved[stays]
            if not active.size:
                break
    # With some slack, since a face of the box may be part of the zero set.
    inside = (np.abs(X - (low + width / 2)) <= (0.5 + 1e-9) * width).all(axis=1)
    return X[arrived & inside]


def as_polynomials(equations, names) -> list[Polynomial]:
    """Return equations as polynomials in the same variables, their largest coefficient 1."""
    single = isinstance(equations, (str, Polynomial))
    try:
        equations = [equations] if single else list(equations)
    except TypeError:
        equations = [equations]
    if not equations:
        raise ValueError("equations must contain at least one equation.")
    for equation in equations:
        if not isinstance(equation, (str, Polynomial)):
            raise TypeError(
                f"an equation must be a string or a Polynomial; got {type(equation).__name__}."
            )
    names = _variables(equations, names)
    polynomials = []
    for equation in equations:
        if isinstance(equation, str):
            equation = parse_equation(equation, names)
        elif equation.terms.shape[1] != len(names):
            raise ValueError(
                f"the polynomial {equation} has {equation.terms.shape[1]} variables, but there "
                f"are {len(names)} names."
            )
        largest = np.abs(equation.coef).max(initial=0.0)
        if not np.isfinite(largest):
            raise ValueError(f"the coefficients of {equation} must be finite.")
        polynomials.append(Polynomial(equation.terms, equation.coef / (largest or 1.0)))
    return polynomials


def _variables(equations, names) -> list[str]:
    """Return the names given, or those of the first polynomial, or x0, x1, ... as they occur."""
    if names is None:
        for equation in equations:
            if isinstance(equation, Polynomial):
                return list(equation.feature_names)
        return default_variables(equations)
    names = [names] if isinstance(names, str) else list(names)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"names must be strings; got {names!r}.")
    if not names or len(set(names)) < len(names):
        raise ValueError(f"names must be different from each other; got {names!r}.")
    return names
