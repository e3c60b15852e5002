"""Parts of a law that have to fit one another."""

import numpy as np

from vanishing.algebra.expressions import Node, columns_of
from vanishing.algebra.quantities import Units

Group = str | int | float
GROUP = (str, int, float)


def check_parts(names, target, n_inputs, errors, branch, units: Units | None) -> None:
    """Raise ValueError unless the parts of a law fit one another."""
    n_columns = len(names)
    if target is not None and target not in names:
        raise ValueError(f"the target {target!r} is no column of the law.")
    if n_inputs not in (n_columns, n_columns - 1):
        raise ValueError(f"n_inputs must be {n_columns - 1} or {n_columns}; got {n_inputs!r}.")
    if errors is not None and errors.shape != (n_columns,):
        raise ValueError("errors of a law are one number per column.")
    if branch not in (1, -1):
        raise ValueError(f"branch must be 1 or -1; got {branch!r}.")
    if units is not None and len(units.columns) != n_columns:
        raise ValueError("units of a law are one per column.")


def check_equation(
    names,
    target,
    formula: Node | None,
    equation: Node | None,
    n_constants: int,
    covariance: np.ndarray | None,
) -> None:
    """Raise ValueError unless formula, equation and covariance of constants are a law's."""
    n_columns = len(names)
    places = set(range(n_columns)) - {names.index(target) if target else -1}
    if formula is not None and (target is None or not columns_of(formula) <= places):
        raise ValueError("the formula of a law is its target in terms of its other columns.")
    known = set(range(n_columns + n_constants))
    if equation is not None and not columns_of(equation) <= known:
        raise ValueError("the equation of a law is in its columns and constants.")
    if covariance is not None and covariance.shape != (n_constants, n_constants):
        raise ValueError("the covariance of constants has one row and one column per constant.")
