"""Laws, conserved quantities and equations of motion as computations."""

import math

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vanishing.algebra.expressions import (
    Apply,
    Column,
    Node,
    Number,
    Power,
    Raised,
    Sum,
    Symbol,
    is_negative,
    product,
    quotient,
)
from vanishing.algebra.functions import BASES
from vanishing.export.computation import Computation, Value, columns, constant, in_order, join
from vanishing.inspection import law_anatomy
from vanishing.inspection.formulas import law_formula
from vanishing.motion.conserved import ConservedQuantities
from vanishing.motion.equation import EquationOfMotion
from vanishing.motion.equations_of_motion import EquationsOfMotion
from vanishing.motion.quantity import ConservedQuantity


def law_computation(model) -> Computation:
    """Return what a law, or the best one of a finder, says of a row."""
    facts = law_anatomy(model)
    if facts.by_group is not None:
        raise ValueError(
            "laws by group are written one by one: give one of them, such as laws_[0]."
        )
    law = model if not facts.laws and facts.best is model else next(iter(facts.laws), None)
    if law is None:
        raise ValueError(
            f"no law was found, so that there is nothing to export: {facts.verdict} An equation of "
            "front_ can be exported."
        )
    formula = law_formula(law)
    x = columns(len(formula.columns))
    places = {column: i for i, column in enumerate(formula.columns)}
    value = _for_each_row(_value(formula.node, x, places), x)
    value = value.noted([str(law) if formula.is_solved else f"0 where {law}"])
    names = tuple(law.names[i] for i in formula.columns)
    output = "prediction" if formula.is_solved else "residual"
    entry = str(law.target) if formula.is_solved else output
    return Computation(type(model).__name__, "law", names, {output: value}, (entry,))


def quantities_computation(model: ConservedQuantities | ConservedQuantity) -> Computation:
    """Return the values of what is conserved."""
    if isinstance(model, ConservedQuantity):
        quantities = [model]
    else:
        check_is_fitted(model, "quantities_")
        quantities = list(model.quantities_)
        if not quantities:
            raise ValueError(f"there is no conserved quantity to export: {model.verdict_}")
    names = quantities[0].names
    x = columns(len(names))
    places = {i: i for i in range(len(names))}
    values = [_value(q.total, x, places).noted([str(q)]) for q in quantities]
    out = tuple(f"quantity{i}" for i in range(len(values)))
    return Computation(type(model).__name__, "transformer", names, {"features": join(values)}, out)


def motion_computation(model: EquationsOfMotion | EquationOfMotion) -> Computation:
    """Return the derivatives of all columns, or that of one, from all variables."""
    if isinstance(model, EquationOfMotion):
        equations = [model]
    else:
        check_is_fitted(model, "equations_")
        equations = list(model.equations_)
        if not equations:
            raise ValueError(
                f"there are no equations of motion to export: {model.verdict_} An equation of "
                "front_ can be exported."
            )
        if model.differing_:
            raise ValueError(
                "the equations differ between batches, and are written one batch at a time: give "
                "model.of_batch(...)."
            )
        equations = equations[: model.n_features_in_]
    names = equations[0].names
    x = columns(len(names))
    places = {i: i for i in range(len(names))}
    values = [
        _for_each_row(_value(equation.total, x, places), x).noted([str(equation)])
        for equation in equations
    ]
    out = tuple(equation.left for equation in equations)
    return Computation(type(model).__name__, "motion", names, {"derivatives": join(values)}, out)


def _for_each_row(value: Value, x: Value) -> Value:
    """Return a value that depends on the row, if only in form: a law may say that x is 3."""
    if any(part.operation == "columns" for part in in_order([value])[0]):
        return value
    return x.linear(np.zeros((1, x.width))) + value


def _applied(name: str, argument: Value) -> Value:
    """Return a function of a value, by those that all exports have."""
    if name in BASES:
        return argument.apply("log") / constant(math.log(BASES[name]))
    if name in ("sinh", "cosh"):
        growth, decay = argument.apply("exp"), (constant(0.0) - argument).apply("exp")
        return (growth - decay if name == "sinh" else growth + decay) * constant(0.5)
    if name == "arccosh":
        return (argument + (argument * argument - constant(1.0)).apply("sqrt")).apply("log")
    return argument.apply(name)


def _value(node: Node, x: Value, places: dict[int, int]) -> Value:
    """Return an expression as a vector of one entry."""
    if isinstance(node, (Number, Symbol)):
        return constant(node.value)
    if isinstance(node, Column):
        return x.take([places[node.place]])
    if isinstance(node, Raised):
        base = _value(node.base, x, places)
        if isinstance(node.exponent, Number):
            return base.power(node.exponent.value)
        return (base.apply("log") * _value(node.exponent, x, places)).apply("exp")
    if isinstance(node, Apply):
        return _applied(node.name, _value(node.argument, x, places))
    if isinstance(node, Power) and node.exponent > 0.0:
        base = _value(node.base, x, places)
        return base.apply("sqrt") if node.exponent == 0.5 else base.power(node.exponent)
    if isinstance(node, Sum):
        total = _value(node.parts[0], x, places)
        for part in node.parts[1:]:
            if is_negative(part):
                total = total - _value(product(Number(-1.0), part), x, places)
            else:
                total = total + _value(part, x, places)
        return total
    number, above, below = quotient(node)
    factors = [_value(factor, x, places) for factor in above]
    if number.value != 1.0 or not factors:
        factors.insert(0, constant(number.value))
    result = factors[0]
    for factor in factors[1:]:
        result = result * factor
    for divisor in below:
        result = result / _value(divisor, x, places)
    return result
