"""Closed forms: a law solved for one of its columns."""

from collections.abc import Sequence

import numpy as np

from vanishing.algebra.expressions import (
    ONE,
    Apply,
    Column,
    Node,
    Number,
    Power,
    Product,
    Raised,
    Sum,
    columns_of,
    of_term,
    power,
    product,
    split,
    total,
)
from vanishing.algebra.functions import BASES, POWERS, Elementwise, Function, registered
from vanishing.algebra.terms import Term

Weighted = tuple[Number, Term]

LARGEST_EXPONENT = 600.0  # of a number e^c: a double has it, with all digits


def normalised(coef, covariance, pivot: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return coefficients divided by one of them, and their covariance (the delta method)."""
    scaled = coef / coef[pivot]
    if covariance is None:
        return scaled, None
    jacobian = np.eye(len(coef))
    jacobian[:, pivot] -= scaled
    jacobian /= coef[pivot]
    covariance = jacobian @ covariance @ jacobian.T
    # The divisor is exactly 1 now, whatever rounding has made of it.
    covariance[pivot] = covariance[:, pivot] = 0.0
    return scaled, covariance


def pivot_of(terms: Sequence[Term], coef, column: int) -> int:
    """Return the place of the term that gets coefficient 1 when solved for a column."""
    involved = [j for j, term in enumerate(terms) if coef[j] and term.involves(column)]
    return min(involved, key=lambda j: (-abs(terms[j].exponents[column]), terms[j].degree, j))


def standard_errors(covariance, n_terms: int) -> np.ndarray:
    """Return standard errors of coefficients; NaN where they are not known."""
    if covariance is None:
        return np.full(n_terms, np.nan)
    return np.sqrt(np.maximum(np.diag(covariance), 0.0))


def solved(terms: Sequence[Term], coef, covariance, column: int, branch: int) -> Node | None:
    """Return a column as an expression in the others; None where there is no closed form.

    Parameters
    ----------
    terms : sequence of Term
    coef : ndarray of shape (n_terms,)
    covariance : ndarray of shape (n_terms, n_terms), or None
    column : int
        One that occurs.
    branch : {1, -1}
        Sign of a root.
    """
    coef, covariance = normalised(coef, covariance, pivot_of(terms, coef, column))
    std = standard_errors(covariance, len(coef))
    used = [(Number(float(c), float(s)), t) for c, s, t in zip(coef, std, terms, strict=True) if c]
    inside = [part for part in used if part[1].involves(column)]
    outside = [(_scaled(number, -1.0), t) for number, t in used if not t.involves(column)]
    if not outside:
        return None
    if any(factor.involves(column) for _, term in inside for factor in term.factors):
        return _function_undone(inside, outside, column, branch)
    degrees = sorted({term.exponents[column] for _, term in inside}, key=abs)
    without = [
        [(n, _without(t, column)) for n, t in inside if t.exponents[column] == degree]
        for degree in degrees
    ]
    if len(degrees) == 1:
        return _freed(outside, without[0], degrees[0], branch)
    if len(degrees) == 2 and degrees[1] == 2.0 * degrees[0]:
        return _root(_quadratic(without[1], without[0], outside, branch), degrees[0], 1)
    return None


def _freed(outside: list[Weighted], inside: list[Weighted], degree: float, branch: int) -> Node:
    """Solve ``y ** degree * sum(inside) = sum(outside)`` for y."""
    right = _factored(outside)
    if len(inside) > 1:
        return _root(product(right, power(_sum(inside), -1.0)), degree, branch)
    ((_, term),) = inside  # its coefficient is 1
    return _unmultiplied(right, term, degree, branch)


def _unmultiplied(right: Node, term: Term, degree: float, branch: int) -> Node:
    """Solve ``y ** degree * term = right`` for y."""
    # What makes (y/M)^degree with y is no part of a root: y/M has the sign of the branch.
    taken = [e if (e / degree).is_integer() else 0.0 for e in term.exponents]
    left = Term(tuple(e - t for e, t in zip(term.exponents, taken, strict=True)), term.factors)
    taken_out = [power(Column(i), -t / degree) for i, t in enumerate(taken) if t]
    return product(*taken_out, _root(product(right, power(of_term(left), -1.0)), degree, branch))


def _root(value: Node, degree: float, branch: int) -> Node:
    """Return the real solution y of ``y ** degree = value``; of two, that with a sign."""
    exponent = 1.0 / degree
    if exponent.is_integer():
        return power(value, exponent)
    number, factors = split(value)
    odd = degree % 2 == 1
    sign = float(branch) if degree % 2 == 0 else 1.0
    if odd and number.value < 0.0:
        sign, number = -1.0, _scaled(number, -1.0)
    outer: Node = ONE
    if number.value > 0.0 and factors:
        outer, number = power(number, exponent), ONE
    value = product(number, *factors)
    if odd and abs(degree) == 3:
        root = power(Apply("cbrt", np.cbrt, value), np.sign(degree))
    elif odd:
        size = power(Apply("abs", np.abs, value), exponent)
        root = product(Apply("sign", np.sign, value), size)
    else:
        root = power(value, exponent)
    return product(Number(sign), outer, root)


def _quadratic(a: list[Weighted], b: list[Weighted], c: list[Weighted], branch: int) -> Node:
    """Solve ``a z^2 + b z = c`` for z."""
    b_node = _sum(b)
    if len(a) == 1:  # with coefficient 1
        inverse = power(of_term(a[0][1]), -1.0)
        four_ac = [product(of_term(a[0][1]), of_term(t, _scaled(n, 4.0))) for n, t in c]
    else:
        inverse = power(_sum(a), -1.0)
        four_ac = [product(Number(4.0), _sum(a), _sum(c))]
    root = power(total([power(b_node, 2.0), *four_ac]), 0.5)
    minus_b = [of_term(t, _scaled(n, -1.0)) for n, t in b]
    above = total([*minus_b, product(Number(float(branch)), root)])
    return product(above, Number(0.5), inverse)


def _function_undone(inside, outside, column: int, branch: int) -> Node | None:
    """Solve for a column that occurs inside one function, which all terms have that do."""
    factors = {factor for _, term in inside for factor in term.factors if factor.involves(column)}
    if len(factors) > 1 or any(term.exponents[column] for _, term in inside):
        return None
    (factor,) = factors
    if abs(factor.power) != 1 or not factor.function.is_registered:
        return None
    rest = [
        (number, term._replace(factors=tuple(f for f in term.factors if f != factor)))
        for number, term in inside
    ]
    value = power(product(_sum(outside), power(_sum(rest), -1.0)), float(factor.power))
    if factor.inside is not None:
        alone = Term((0.0,) * len(factor.exponents), (factor._replace(power=1),))
        return _isolated(of_term(alone), value, column, branch)
    # Two angles have one cosine; a square hides which.
    argument = _undone(factor.function, value, branch if factor.exponents[column] % 2 else 1)
    if argument is None:
        return None
    argument = product(Number(1.0 / factor.scale), argument)
    inner = _without(Term(factor.exponents), column)
    return _unmultiplied(argument, inner, factor.exponents[column], branch)


def _undone(function: Function, value: Node, branch: int) -> Node | None:
    """Return the argument of which a function has a value; None where nothing undoes it."""
    name = function.name
    if name in POWERS:
        return power(value, 1.0 / POWERS[name])
    if name in BASES:
        return Raised(Number(BASES[name]), value)
    undone = function.undone
    if undone is None:
        return None
    if name == "log" and isinstance(value, Sum):
        return _exponential(undone, value)
    argument = Apply(*undone, value)
    is_even = name in ("cos", "cosh")
    return product(Number(float(branch)), argument) if is_even else argument


def _exponential(exp: tuple[str, Elementwise], value: Sum) -> Node:
    """Return exp of a sum, whose number is a factor: 2.00(1)*exp(-x) for exp(0.693(5) - x)."""
    numbers = [part for part in value.parts if isinstance(part, Number)]
    # An error of the number is a relative one of the factor, and has to be small as such.
    if len(numbers) != 1 or abs(numbers[0].value) > LARGEST_EXPONENT or not numbers[0].std < 0.3:
        return Apply(*exp, value)
    (number,) = numbers
    factor = float(np.exp(number.value))
    rest = Apply(*exp, total([part for part in value.parts if part is not number]))
    return product(Number(factor, factor * number.std), rest)


def _isolated(node: Node, value: Node, column: int, branch: int) -> Node | None:
    """Solve ``node = value`` for a column that occurs in the node once."""
    while not isinstance(node, Column):
        match node:
            case Apply(name=name, argument=inner):
                value = _undone(registered(name), value, branch)
            case Power(base=inner, exponent=exponent):
                value = _root(value, exponent, branch)
            case Raised(base=inner, exponent=exponent) if column not in columns_of(exponent):
                value = Raised(value, power(exponent, -1.0))
            case Raised(base=base, exponent=inner) if column not in columns_of(base):
                logarithms = (Apply("log", np.log, part) for part in (value, base))
                value = product(next(logarithms), power(next(logarithms), -1.0))
            case Product(parts=parts) | Sum(parts=parts):
                holding = [part for part in parts if column in columns_of(part)]
                if len(holding) > 1:
                    return None
                (inner,) = holding
                others = [part for part in parts if part is not inner]
                if isinstance(node, Product):
                    value = product(value, power(product(*others), -1.0))
                else:
                    shown = value.parts if isinstance(value, Sum) else (value,)
                    value = total([*shown, *(product(Number(-1.0), part) for part in others)])
            case _:
                return None
        if value is None:
            return None
        node = inner
    return value


def _sum(weighted: list[Weighted]) -> Node:
    return total([of_term(term, number) for number, term in weighted])


def _factored(weighted: list[Weighted]) -> Node:
    """Return a sum; what all terms share stands before it, if one of them is just that."""
    exponents = np.array([term.exponents for _, term in weighted])
    low, high = exponents.min(axis=0), exponents.max(axis=0)
    shared = np.where(low > 0.0, low, np.minimum(high, 0.0))
    left = [(number, term.times(-shared)) for number, term in weighted]
    if len(left) > 1 and any(term.is_constant for _, term in left):
        return product(of_term(Term(tuple(shared.tolist()))), _sum(left))
    return _sum(weighted)


def _without(term: Term, column: int) -> Term:
    exponents = [0.0 if i == column else e for i, e in enumerate(term.exponents)]
    return term._replace(exponents=tuple(exponents))


def _scaled(number: Number, factor: float) -> Number:
    return Number(factor * number.value, abs(factor) * number.std)


def implicit(terms: Sequence[Term], coef, std) -> tuple[Node, Node]:
    """Return the two sides of a law that is not solved for a column.

    A constant stands alone on the right; without one, negative terms do.
    """
    places = [j for j, c in enumerate(coef) if c]
    if not places:
        return Number(0.0), Number(0.0)
    constants = [j for j in places if terms[j].is_constant]
    others = [j for j in places if j not in constants]
    signs = np.sign(coef)
    sign = signs[(others or places)[0]]
    if len(constants) == 1 and others and any(signs[others] != signs[constants[0]]):
        sign = -signs[constants[0]]

    def side(chosen, factor):
        parts = [
            of_term(terms[j], Number(factor * sign * float(coef[j]), float(std[j]))) for j in chosen
        ]
        return total(parts) if parts else Number(0.0)

    if constants:
        return side(others, 1.0), side(constants, -1.0)
    left = [j for j in places if signs[j] == sign]
    return side(left, 1.0), side([j for j in places if signs[j] != sign], -1.0)


def occurring(name, names, terms, coef) -> int:
    """Return the place of a column that occurs in a law."""
    used = [term for term, c in zip(terms, coef, strict=True) if c]
    places = [i for i in range(len(names)) if any(term.involves(i) for term in used)]
    if name not in [names[i] for i in places]:
        listed = ", ".join(repr(names[i]) for i in places)
        raise ValueError(f"{name!r} does not occur in the law; these columns do: {listed}.")
    return names.index(name)


def no_closed_form(name) -> str:
    """Say that a law cannot be solved for a column."""
    return (
        f"there is no closed form for {name!r}: evaluate law.residual, or solve the law for "
        "another column."
    )
