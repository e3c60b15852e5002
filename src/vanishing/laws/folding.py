"""Terms of an equation with numbers in place of its constants."""

import numpy as np

from vanishing.algebra.equations import GivenEquation
from vanishing.algebra.expressions import Inside, Number, columns_of, evaluate, with_numbers
from vanishing.algebra.functions import FUNCTIONS
from vanishing.algebra.terms import Factor, Term


def folded(equation: GivenEquation, constants, stds) -> tuple[list[Term], np.ndarray, np.ndarray]:
    """Return terms in columns alone, their coefficients, and these by the constants."""
    with_numbers_only = [
        _fold(term, number, constants, stds, equation.n_columns)
        for term, number in zip(equation.terms, equation.numbers, strict=True)
    ]
    terms = list(dict.fromkeys(term for term, _ in with_numbers_only))
    place = [terms.index(term) for term, _ in with_numbers_only]

    def coefficients(values):
        coef = np.zeros(len(terms))
        for j, term, number in zip(place, equation.terms, equation.numbers, strict=True):
            coef[j] += _fold(term, number, values, stds, equation.n_columns)[1]
        return coef

    steps = np.diag(np.where(constants == 0.0, 1e-6, 1e-6 * np.abs(constants)))
    jacobian = np.zeros((len(terms), len(constants)))
    for k, h in enumerate(steps):
        jacobian[:, k] = coefficients(constants + h) - coefficients(constants - h)
        jacobian[:, k] /= 2 * h.sum()
    return terms, coefficients(constants), jacobian


def shifted(terms: list[Term], target: int) -> list[Term]:
    """Return terms such that m^2/y^2 = 1 - v^2 stands for m^2 = y^2 - y^2 v^2: m/y has a sign."""
    inside = [term for term in terms if term.involves(target)]
    outside = [term for term in terms if not term.involves(target)]
    exponents = {term.exponents[target] for term in inside}
    plain = not any(factor.involves(target) for term in inside for factor in term.factors)
    if len(inside) < 2 or len(outside) != 1 or exponents != {2.0} or not plain:
        return terms
    return [
        term.times([-2.0 * (i == target) for i in range(len(term.exponents))]) for term in terms
    ]


def _fold(term: Term, number: float, constants, stds, n_columns: int) -> tuple[Term, float]:
    """Return a term with numbers in place of constants, and its coefficient."""
    fitted = list(map(Number, constants.tolist(), stds.tolist()))
    coefficient = number * float(np.prod(constants ** np.array(term.exponents[n_columns:])))
    factors = []
    for factor in term.factors:
        scale = factor.scale * float(np.prod(constants ** np.array(factor.exponents[n_columns:])))
        inner, inside = factor.exponents[:n_columns], factor.inside
        if inside is not None:
            node = with_numbers(inside.node, n_columns, fitted)
            inside, scale = (
                (Inside(node), scale)
                if columns_of(node)
                else (None, scale * float(evaluate(node, ())))
            )
        if not (any(inner) or inside) or not scale:
            coefficient *= float(factor.function.value(np.asarray(scale))) ** factor.power
            continue
        if factor.function is FUNCTIONS["sqrt"]:
            coefficient *= abs(scale) ** (0.5 * factor.power)
            scale = float(np.sign(scale))
        factors.append(Factor(factor.function, scale, inner, factor.power, inside))
    return Term(term.exponents[:n_columns], tuple(factors)), coefficient
