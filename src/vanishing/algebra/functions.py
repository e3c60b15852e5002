"""Functions of one variable that formulas may have: the library's own and those of users."""

from collections.abc import Callable
from keyword import iskeyword
from typing import NamedTuple

import numpy as np
from numpy import arccos, arcsin, arctan, arctanh, cos, cosh, exp, log, sin, sqrt, tan, tanh

Elementwise = Callable[[np.ndarray], np.ndarray]


class Function(NamedTuple):
    """A function of one variable, with its derivatives and what undoes it.

    Parameters
    ----------
    name : str
    value, derivative : callable
        Of an array, element by element.
    second_derivative : callable, default=None
    inverse : callable, default=None
        ``value(inverse(v)) == v`` for values v of the function.
    """

    name: str
    value: Elementwise
    derivative: Elementwise
    second_derivative: Elementwise | None = None
    inverse: Elementwise | None = None

    def __reduce__(self):
        # Derivatives are lambdas, which cannot be pickled: those registered go by their names.
        if self.is_registered:
            return registered, (self.name,)
        return Function, tuple(self)

    @property
    def is_registered(self) -> bool:
        """Whether the function is known by its name."""
        return known(self.name) == self

    @property
    def is_numpy(self) -> bool:
        """Whether the function is the one of that name in NumPy."""
        return getattr(np, self.name, None) is self.value

    @property
    def undone(self) -> tuple[str, Elementwise] | None:
        """The name and the values of the function that undoes this one, if there is one."""
        inverse = self.inverse
        if inverse is None:
            return None
        others = (*_LIBRARY, *IN_SOLUTIONS, *IN_TEXTS, *tuple(FUNCTIONS.values()))
        names = [function.name for function in others if function.value is inverse]
        own_name = getattr(inverse, "__name__", "")
        if getattr(np, own_name, None) == inverse:
            names.append(own_name)
        return (names[0] if names else f"inverse_{self.name}"), inverse

    @property
    def derived(self) -> "Function":
        """The derivative as a function."""
        others = (f for f in tuple(FUNCTIONS.values()) if f.value is self.derivative)
        slope = self.second_derivative or (lambda x: np.full_like(x, np.nan))
        return next(others, Function(f"{self.name}'", self.derivative, slope))


_LIBRARY = (
    Function("sin", sin, cos, lambda x: -sin(x), arcsin),
    Function("cos", cos, lambda x: -sin(x), lambda x: -cos(x), arccos),
    Function("tan", tan, lambda x: 1 + tan(x) ** 2, lambda x: 2 * tan(x) / cos(x) ** 2, arctan),
    Function("log", log, lambda x: 1 / x, lambda x: -1 / x**2, exp),
    Function("exp", exp, exp, exp, log),
    Function("sqrt", sqrt, lambda x: 0.5 / sqrt(x), lambda x: -0.25 / x**1.5, np.square),
    Function("arcsin", arcsin, lambda x: 1 / sqrt(1 - x**2), lambda x: x / (1 - x**2) ** 1.5, sin),
    Function(
        "arccos", arccos, lambda x: -1 / sqrt(1 - x**2), lambda x: -x / (1 - x**2) ** 1.5, cos
    ),
    Function("arctan", arctan, lambda x: 1 / (1 + x**2), lambda x: -2 * x / (1 + x**2) ** 2, tan),
    Function(
        "tanh", tanh, lambda x: 1 - tanh(x) ** 2, lambda x: -2 * tanh(x) / cosh(x) ** 2, arctanh
    ),
    Function(
        "reciprocal", lambda x: 1 / x, lambda x: -1 / x**2, lambda x: 2 / x**3, lambda x: 1 / x
    ),
)
# Functions that terms may have, by their names: the one registry.
FUNCTIONS = {function.name: function for function in _LIBRARY}
# Functions that no search tries, but solutions of equations and texts may have.
IN_SOLUTIONS = (
    Function("arctanh", arctanh, lambda x: 1 / (1 - x**2), None, tanh),
    Function("cbrt", np.cbrt, lambda x: 1.0 / (3.0 * np.cbrt(x) ** 2)),
    Function("abs", np.abs, np.sign),
    Function("sign", np.sign, np.zeros_like),
)
# Functions that texts may have, unless users have registered others by these names.
IN_TEXTS = (
    Function("log10", np.log10, lambda x: 1 / (log(10.0) * x), None, lambda x: 10.0**x),
    Function("log2", np.log2, lambda x: 1 / (log(2.0) * x), None, np.exp2),
    Function("sinh", np.sinh, cosh, np.sinh, np.arcsinh),
    Function("cosh", cosh, np.sinh, cosh, np.arccosh),
    Function("arcsinh", np.arcsinh, lambda x: 1 / sqrt(x**2 + 1), None, np.sinh),
    Function("arccosh", np.arccosh, lambda x: 1 / sqrt(x**2 - 1), None, cosh),
)
IDENTITY = Function("identity", np.positive, np.ones_like, np.zeros_like, np.positive)
POWERS = {"sqrt": 0.5, "reciprocal": -1.0, "cbrt": 1.0 / 3.0}  # functions that are powers
BASES = {"log10": 10.0, "log2": 2.0}  # of logarithms
ALIASES = {"ln": "log"}  # other names of functions, in what people write
# What uses a function of a user's, by its name: to be unregistered before the function is.
IN_USE: dict[str, list[str]] = {}
_UNSEARCHED = {function.name: function for function in (*IN_SOLUTIONS, *IN_TEXTS, IDENTITY)}
_OWN = frozenset([*FUNCTIONS, *(f.name for f in (*IN_SOLUTIONS, IDENTITY)), *ALIASES, "pi"])

# Where a function and what belongs to it are compared: no point is a likely kink or pole.
_POINTS = np.array([0.0137, 0.12, 0.31, 0.57, 0.83, 1.19, 1.73, 2.41, 3.67, 7.3])
_POINTS = np.concatenate([-_POINTS[::-1], _POINTS])
_TOLERANCE = 1e-4  # relative, of differences: a wrong derivative is far outside


def register_function(
    name: str | Function,
    value: Elementwise | None = None,
    derivative: Elementwise | None = None,
    *,
    second_derivative: Elementwise | None = None,
    inverse: Elementwise | None = None,
) -> Function:
    """Make a function of your own known, by its name, wherever formulas have functions.

    `check_law` reads it, `LawFinder` and `ConservedQuantities` take its name in ``functions``, and
    laws that have it can be solved, written, saved, and loaded where it is registered again.

    Parameters
    ----------
    name : str, or Function
        A word that is no function yet. Or a `Function`, which is all of this in one.
    value : callable
        The function of a NumPy array, element by element; NaN where it is not defined.
    derivative : callable
        Its derivative, likewise. It is compared with differences of `value`.
    second_derivative : callable, default=None
        The derivative of `derivative`.
    inverse : callable, default=None
        What undoes the function: ``value(inverse(v)) == v``. Laws can be solved with it. It is
        written by its own name where it is registered as well.

    Returns
    -------
    function : Function

    Raises
    ------
    ValueError
        If the name is taken or no word, or the parts contradict one another.
    TypeError
        If a part cannot be called.

    See Also
    --------
    unregister_function : Forget a function.
    check_law : Fit an equation given as text.

    Examples
    --------
    >>> import numpy as np
    >>> import vanishing
    >>> vanishing.register_function("sinh", np.sinh, np.cosh, inverse=np.arcsinh).name
    'sinh'
    >>> x = np.linspace(0.5, 2.0, 20)
    >>> print(vanishing.check_law("y = a*sinh(x0)", x[:, np.newaxis], 3.0 * np.sinh(x)))
    y = 3*sinh(x0)
    >>> vanishing.unregister_function("sinh")
    """
    if isinstance(name, Function):
        if (value, derivative, second_derivative, inverse) != (None,) * 4:
            raise TypeError("a Function has a value, derivatives and an inverse: give it alone.")
        function = name
    elif value is None or derivative is None:
        raise TypeError("a function needs a value and a derivative, which can be called.")
    else:
        function = Function(name, value, derivative, second_derivative, inverse)
    _check_name(function)
    with np.errstate(all="ignore"):
        _check_values(function)
    return FUNCTIONS.setdefault(function.name, function)


def unregister_function(name: str) -> None:
    """Forget a function that `register_function` has made known.

    Parameters
    ----------
    name : str

    Raises
    ------
    ValueError
        If no function of yours has the name, or the law search tries it.

    See Also
    --------
    register_function : Make a function known.
    """
    if not isinstance(name, str) or name in _OWN or name not in FUNCTIONS:
        own = ", ".join(repr(known) for known in FUNCTIONS if known not in _OWN) or "none"
        raise ValueError(f"{name!r} is no function that was registered; these are: {own}.")
    if IN_USE.get(name):
        raise ValueError(f"{name!r} is in use: call {' and '.join(IN_USE[name])} first.")
    del FUNCTIONS[name]


def registered(name: str) -> Function:
    """Return a function by its name, or say that it must be registered first."""
    if not isinstance(name, str):
        raise TypeError(f"a function goes by its name, a text; got {name!r}.")
    function = known(name)
    if function is None:
        raise ValueError(
            f"{name!r} is no function that is known here: it has to be registered first, by "
            f"vanishing.register_function({name!r}, value, derivative)."
        )
    return function


def known(name: str) -> Function | None:
    """Return a function by its name; None where there is none."""
    return FUNCTIONS.get(name) or _UNSEARCHED.get(name)


def readable() -> dict[str, str]:
    """Return the functions that texts may have, by the names they may have there."""
    names = dict.fromkeys([*FUNCTIONS, *_UNSEARCHED])
    return {n: n for n in names if n not in ("reciprocal", "identity")} | ALIASES


def _check_name(function: Function) -> None:
    name = function.name
    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
        raise ValueError(f"the name of a function must be a word such as 'softplus'; got {name!r}.")
    if name in _OWN:
        raise ValueError(f"{name!r} is a name of the library's own; choose another.")
    if FUNCTIONS.get(name, function) != function:
        raise ValueError(
            f"a function {name!r} is registered already, and differs: choose another name, or call "
            f"vanishing.unregister_function({name!r}) first."
        )


def _check_values(function: Function) -> None:
    """Raise an error unless the parts of a function fit one another on some points."""
    for part in function._fields[1:]:
        called = getattr(function, part)
        if called is None and part in ("second_derivative", "inverse"):
            continue
        if not callable(called):
            raise TypeError(f"the {part} of {function.name!r} must be callable; got {called!r}.")
        _values(function, part, _POINTS)
    values = _values(function, "value", _POINTS)
    if not np.isfinite(values).any():
        raise ValueError(f"{function.name!r} is defined nowhere between {_POINTS[0]} and 7.3.")
    _check_derivative(function, "value", "derivative")
    if function.second_derivative is not None:
        _check_derivative(function, "derivative", "second_derivative")
    if function.inverse is not None:
        again = _values(function, "value", _values(function, "inverse", values))
        wrong = np.isfinite(values) & ~np.isclose(again, values, rtol=_TOLERANCE, atol=_TOLERANCE)
        if wrong.any():
            v = values[wrong][0]
            raise ValueError(
                f"the inverse of {function.name!r} does not undo it: value(inverse({v:.6g})) is "
                f"{again[wrong][0]:.6g}."
            )


def _check_derivative(function: Function, part: str, derivative: str) -> None:
    step = 1e-5 * np.abs(_POINTS)
    above, below = (_values(function, part, _POINTS + sign * step) for sign in (1.0, -1.0))
    difference, claimed = (above - below) / (2 * step), _values(function, derivative, _POINTS)
    # What rounding makes of the difference of two large numbers counts for nothing.
    allowed = _TOLERANCE * (1e-3 + np.abs(difference)) + 1e-15 * np.abs(above) / step
    wrong = np.isfinite(difference) & ~(np.abs(claimed - difference) <= allowed)
    if wrong.any():
        x = _POINTS[wrong][0]
        raise ValueError(
            f"the {derivative} of {function.name!r} is {claimed[wrong][0]:.6g} at {x:g}, where "
            f"differences of its {part} say {difference[wrong][0]:.6g}."
        )


def _values(function: Function, part: str, points: np.ndarray) -> np.ndarray:
    values = np.asarray(getattr(function, part)(points.copy()))
    if values.shape != points.shape or not np.issubdtype(values.dtype, np.floating):
        raise ValueError(
            f"the {part} of {function.name!r} must make one real number of each of an array; of "
            f"{points.shape} it made {values.shape} of type {values.dtype}."
        )
    return values
