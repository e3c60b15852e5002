"""Terms to choose from: products of powers of the variables, and, in stages, of functions."""

from itertools import product
from typing import NamedTuple

import numpy as np

from vanishing.laws.terms import FUNCTIONS, Factor, Function, Term, monomial

MAX_TERMS = 250
_HIGHEST = 4  # exponent of a variable among several; of a single one it is max_degree


class Stage(NamedTuple):
    """Functions that terms of a stage may have one of, and of which variables.

    Attributes
    ----------
    name : str
    functions : tuple of (Function, sign, inner power)
        f(sign * w^power): (exp, -1, 1) stands for exp(-w).
    products : bool
        Whether functions are of products of two variables, rather than of one.
    halves : bool
        Whether square roots of positive variables join.
    scale : float
        What the insides of functions are multiplied by: turns are not radians.
    """

    name: str
    functions: tuple[tuple[Function, float, float], ...] = ()
    products: bool = False
    halves: bool = False
    scale: float = 1.0


_SIN, _COS, _LOG, _EXP = (FUNCTIONS[name] for name in ("sin", "cos", "log", "exp"))
PLAIN = Stage("powers")
STAGES = (
    PLAIN,
    Stage("sin and cos", ((_SIN, 1.0, 1.0), (_COS, 1.0, 1.0))),
    Stage("log", ((_LOG, 1.0, 1.0),)),
    Stage("exp(-w)", ((_EXP, -1.0, 1.0), (_EXP, 1.0, 1.0))),
    Stage("exp(-1/w)", ((_EXP, -1.0, -1.0), (_EXP, 1.0, -1.0))),
    Stage("sqrt and cos", ((_COS, 1.0, 1.0),), halves=True),
    Stage("cos of products", ((_SIN, 1.0, 1.0), (_COS, 1.0, 1.0)), products=True),
    Stage(
        "exp(-w/(2 pi))",
        ((_EXP, -1.0, 1.0), (_EXP, 1.0, 1.0), (_EXP, -1.0, -1.0), (_EXP, 1.0, -1.0)),
        scale=0.5 / np.pi,
    ),
)


def signed_exponents(n_variables, positive, max_degree, max_terms) -> list[tuple[float, ...]]:
    """Return exponents of both signs, of positive variables, by the sum of their sizes.

    Variables that may be zero or negative have non-negative exponents. The list ends with the last
    complete level within ``max_terms``.
    """
    highest = max_degree if n_variables == 1 else min(_HIGHEST, max_degree)
    found: list[tuple[float, ...]] = [(0.0,) * n_variables]
    for level in range(1, max_degree + 1 if n_variables else 1):
        rows = [row for row in _of_level(n_variables, level, highest, tuple(positive))]
        if len(found) + len(rows) > max_terms and level > 1:
            break
        found += rows
    return found


def _of_level(n_variables, level, highest, positive):
    if n_variables == 0:
        if level == 0:
            yield ()
        return
    low = -min(level, highest) if positive[0] else 0
    for first in range(low, min(level, highest) + 1):
        for rest in _of_level(n_variables - 1, level - abs(first), highest, positive[1:]):
            yield (float(first), *rest)


def _inside(stage: Stage, n_variables: int) -> list[tuple[float, ...]]:
    """Return the exponents of what functions are of."""
    unit = np.eye(n_variables)
    if not stage.products:
        return [tuple(row) for row in unit]
    return [tuple(unit[i] + unit[j]) for i in range(n_variables) for j in range(i)]


def function_factors(stage: Stage, n_variables: int, positive, units) -> list[tuple[Factor, ...]]:
    """Return products of the functions of a stage that a term may have, none first.

    ``units`` has the logarithm of each variable's unit: functions are of variables as given.
    """
    single = []
    for exponents in _inside(stage, n_variables):
        scale = float(np.exp(np.dot(exponents, units)))
        needs = [p for e, p in zip(exponents, positive, strict=True) if e]
        for function, sign, power in stage.functions:
            if (function is _LOG or power < 0) and not all(needs):
                continue
            inner = tuple(power * e for e in exponents)
            single.append(Factor(function, sign * stage.scale * scale**power, inner))
    found: list[tuple[Factor, ...]] = [()]
    found += [(factor,) for factor in single]
    if _SIN in [f for f, _, _ in stage.functions] or _COS in [f for f, _, _ in stage.functions]:
        for i, first in enumerate(single):
            for second in single[i + 1 :]:
                if not stage.products or first.exponents == second.exponents:
                    found.append((first, second))
            if first.function is not _SIN:  # cos^2 and 1 are there
                found.append((first._replace(power=2),))
    elif _EXP in [f for f, _, _ in stage.functions]:
        found += [(factor._replace(power=2),) for factor in single]
    return found


def dictionary(stage, n_variables, positive, units, max_degree, max_terms=MAX_TERMS) -> list[Term]:
    """Return the terms of a stage, the simplest first."""
    if not stage.functions:
        rows = signed_exponents(n_variables, positive, max_degree, max_terms)
        return [monomial(row) for row in rows]
    factors = function_factors(stage, n_variables, positive, units)
    if len(factors) == 1:
        return []
    # Some terms without functions, and the others around each product of functions.
    plain = signed_exponents(n_variables, positive, max_degree, max_terms // 3)
    if stage.halves:
        plain = _with_halves(n_variables, positive, plain)
    each = max(1, (max_terms - len(plain)) // (len(factors) - 1)) * (3 if stage.products else 1)
    around = signed_exponents(n_variables, positive, max_degree, each)
    if stage.halves:
        around = _with_halves(n_variables, positive, around)
    terms = [Term(row) for row in plain]
    terms += [
        Term(row, chosen)
        for row, chosen in product(around, factors[1:])
        # Around a function of a product stand the other variables.
        if not (stage.products and np.any(np.multiply(row, chosen[0].exponents)))
    ]
    return sorted(terms, key=lambda term: term.degree)[:max_terms]


def _with_halves(n_variables, positive, rows):
    halves = {
        tuple(e / 2 for e in row) for row in _of_level(n_variables, 2, 2, tuple(positive))
    } | {tuple(e / 2 for e in row) for row in _of_level(n_variables, 1, 1, tuple(positive))}
    halves = {
        row for row in halves if all(p or e == int(e) for e, p in zip(row, positive, strict=True))
    }
    return sorted(set(rows) | halves, key=lambda row: (sum(map(abs, row)), row))
