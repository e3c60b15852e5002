"""From a form that fits to a `Law` in the units of the table, with a name and its constants."""

from collections.abc import Sequence

import numpy as np

from vanishing.algebra.equations import read_equation
from vanishing.algebra.expressions import Column, Node, Number, power, product, total, with_numbers
from vanishing.algebra.writing import PlainText
from vanishing.equations.forms import Form
from vanishing.equations.law import Law
from vanishing.laws import settings
from vanishing.laws.candidates import LawCandidate
from vanishing.laws.check import law_of
from vanishing.laws.constants import fit_constants
from vanishing.laws.forms import FormFit
from vanishing.laws.given_problem import Problem
from vanishing.laws.robust import deviation
from vanishing.laws.table import Prepared, SearchRows

MINUS = Number(-1.0)


@np.errstate(all="ignore")
def form_law(
    candidate: LawCandidate, table: Prepared, rows: SearchRows, target: int, robust: bool = False
) -> Law | str:
    """Return a form as a law, fitted to the rows of the sample, or why it is none."""
    fit, values = candidate.fitted.form, candidate.fitted.coef
    assert fit is not None
    names = free_names(fit.form, rows.names)
    text, columns = _equation(fit, names, table, target, len(rows.names))
    equation = read_equation(text, columns)
    places = [list(names.values()).index(name) for name in equation.constants]
    problem = Problem(equation, rows.sample.columns, rows.weight, target)
    start = values[places]
    if robust:
        left = problem.residuals(start)
        far = deviation(np.where(np.isfinite(left), left, np.inf), problem.weight)
        problem = problem.rows(np.abs(left) <= settings.FAR * far)
    try:
        constants = fit_constants(problem, start)
    except ValueError as problem_of_rows:
        return str(problem_of_rows).removesuffix(".")
    n_wrong = rows.sample.columns.shape[1] - len(problem.weight)
    law = law_of(problem, constants, rows.names, rows.n_inputs, rows.units, n_wrong)
    law = law._replace(formula=_formula(fit, names, law, table))
    # Next to the end of a root, what solves the equation is not what the form says.
    left = problem.columns[target] - law.predict(problem.columns.T)
    size = rows.size(target)
    if not np.allclose(left, constants.residuals, rtol=1e-6, atol=settings.ROUNDED * size):
        return "the best equation has no solution on some rows"
    return law


def _formula(fit: FormFit, names: dict[str, str], law: Law, table: Prepared) -> Node:
    """Return what the target is, written as the form is."""
    numbers = [Number(*law.constants[name]) for name in names.values()]
    variables = []
    for exponents, summand in zip(fit.variables, fit.summands, strict=True):
        first = _powers(exponents, table)
        if summand is not None:
            sign, second = Number(float(np.sign(summand.number))), _powers(summand.exponents, table)
            first = total([first, product(sign, second)])
        variables.append(first)
    node = with_numbers(fit.form.node, 0, [*variables, *numbers], as_written=True)
    return product(_powers(fit.factor, table), node) if fit.factor.any() else node


def _powers(exponents: np.ndarray, table: Prepared) -> Node:
    """Return a product of powers of columns; those below zero have their sign changed."""
    factors = []
    for place, unit, exponent in zip(table.columns, table.units, exponents, strict=False):
        if exponent:
            column = Column(int(place))
            factors.append(power(column if unit > 0 else product(MINUS, column), exponent))
    return product(*factors)


def free_names(form: Form, taken: Sequence[str]) -> dict[str, str]:
    """Return names of a form's constants that no column has, by those of the form."""
    names: dict[str, str] = {}
    for name in form.constants:
        free = name
        while free in taken or free in names.values():
            free += "_"
        names[name] = free
    return names


def _equation(
    fit: FormFit, names: dict[str, str], table: Prepared, target: int, n_columns: int
) -> tuple[str, list[str]]:
    """Return the equation of a form as text, and what columns are called in it."""
    columns = [f"column {i}" for i in range(n_columns)]
    variables = []
    for exponents, summand in zip(fit.variables, fit.summands, strict=True):
        first = _product(exponents, table, columns)
        if summand is not None:
            sign = "-" if summand.number < 0.0 else "+"
            first = f"({first} {sign} {_product(summand.exponents, table, columns)})"
        variables.append(first)
    text = fit.form.written(variables, names)
    if fit.factor.any():
        text = f"{_product(fit.factor, table, columns)}*({text})"
    return f"[{columns[target]}] = {text}", columns


def _product(exponents: np.ndarray, table: Prepared, columns: Sequence[str]) -> str:
    """Write a product of powers of columns; those below zero have their sign changed."""
    factors = []
    for place, unit, exponent in zip(table.columns, table.units, exponents, strict=False):
        if exponent:
            column = f"[{columns[place]}]" if unit > 0 else f"(-[{columns[place]}])"
            factors.append(column if exponent == 1.0 else f"{column}^{float(exponent)!r}")
    return factors[0] if len(factors) == 1 else f"({'*'.join(factors)})"


def name_and_constants(form: Form, law: Law) -> str:
    """Say what a law is called, and what its constants are."""
    text = PlainText(law.names)
    names = free_names(form, law.names)
    parts = []
    for name in names.values():
        value, std = law.constants[name]
        sign = "-" if value < 0 else ""
        parts.append(f"{name} = {sign}{text.size(value, std)}")
    return f"{form.name[0].upper()}{form.name[1:]} with {', '.join(parts)}."
