"""Functions of columns that a parameter ``functions`` asks for, as (column, function) pairs."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from vanishing.algebra.functions import FUNCTIONS, IN_SOLUTIONS, Function
from vanishing.checks import check_choice
from vanishing.fitting import settings


def asked_functions(functions: object, names: Sequence[str]) -> list[tuple[int | None, Function]]:
    """Return the functions that are asked for, each with its column, None for any column.

    Parameters
    ----------
    functions : iterable of names or callables, or {column: names or callables}
    names : sequence of str
        Of the columns.
    """
    if isinstance(functions, Mapping):
        pairs = [
            (_column(key, names), function)
            for key, listed in functions.items()
            for function in _listed(listed)
        ]
        return [(column, _function(function)) for column, function in pairs]
    return [(None, _function(function)) for function in _listed(functions)]


def _listed(functions: object) -> tuple:
    if isinstance(functions, str):
        return (functions,)
    if not isinstance(functions, Iterable):
        raise TypeError(
            "functions must be 'auto', a tuple of names or callables, or a dict from columns to "
            f"such; got {functions!r}."
        )
    return tuple(functions)


def _column(key, names: Sequence[str]) -> int:
    if key in names:
        return list(names).index(key)
    if isinstance(key, (int, np.integer)) and 0 <= key < len(names):
        return int(key)
    raise ValueError(f"functions names the column {key!r}; the columns are {', '.join(names)}.")


def _function(asked) -> Function:
    """Return a function by its name, or of a callable with a name and a derivative."""
    if isinstance(asked, str):
        check_choice("functions", asked, FUNCTIONS)
        return FUNCTIONS[asked]
    if isinstance(asked, Function):
        return _distinct(asked)
    name = getattr(asked, "name", getattr(asked, "__name__", None))
    derivative = getattr(asked, "derivative", None)
    if not callable(asked) or not isinstance(name, str) or not callable(derivative):
        raise TypeError(
            f"functions must be names out of {', '.join(FUNCTIONS)}, or callables with a name "
            f"(name or __name__) and a derivative that can be called; got {asked!r}."
        )
    return _distinct(Function(name, asked, derivative))


def _distinct(function: Function) -> Function:
    """Return a function, the known one of that name where it is the same; refuse another one.

    Laws are written by names: in a program, ``log`` would be the logarithm.
    """
    known = {other.name: other for other in (*IN_SOLUTIONS, *tuple(FUNCTIONS.values()))}
    other = known.get(function.name, function)
    points = np.array([-0.7, 0.3, 0.6, 1.7])
    with np.errstate(all="ignore"):
        is_same = np.allclose(function.value(points), other.value(points), equal_nan=True)
    if not is_same:
        raise ValueError(
            f"your function {function.name!r} has the name of another one: choose another name."
        )
    return other if other.is_registered else function


def carries_more(values: np.ndarray, argument: np.ndarray, least: float | None = None) -> bool:
    """Say whether a function can be told from a polynomial of degree 2 of its argument, on rows.

    sin(x) is x, and cos(x) is 1, where x is 1e-24: a term with them would be another name for one
    without. What is not finite can be told.

    Parameters
    ----------
    values, argument : array of shape (n_rows,)
        The function's values, and what it is applied to.
    least : float, default=None
        Share of the function's range by which it has to differ; None for ``SAME_FUNCTION``.
    """
    if not (np.isfinite(values).all() and np.isfinite(argument).all()):
        return True
    size = float(np.abs(argument).max(initial=0.0))
    centre = float(np.mean(argument))
    width = float(np.abs(argument - centre).max(initial=0.0))
    if not width > 1e-12 * size:  # constant, up to rounding
        return False
    unit = (argument - centre) / width
    terms = np.array([np.ones_like(unit), unit, unit * unit])
    coef = np.linalg.lstsq(terms.T, values, rcond=None)[0]
    left = float(np.abs(values - coef @ terms).max())
    rounding = np.finfo(float).eps * float(np.abs(values).max())
    least = settings.SAME_FUNCTION if least is None else least
    return bool(left > max(least * float(np.ptp(values)), 8 * rounding))
