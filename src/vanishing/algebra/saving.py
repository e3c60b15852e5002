"""Terms and units of laws as JSON values, written and read."""

from vanishing.algebra.expressions import (
    Apply,
    Column,
    Inside,
    Node,
    Number,
    Power,
    Product,
    Raised,
    Sum,
    apply,
)
from vanishing.algebra.functions import known, registered
from vanishing.algebra.quantities import Unit, Units, Value
from vanishing.algebra.terms import Factor, Term

_MAX_DEPTH = 250  # of an expression: reading is recursive


def write_term(writer, term: Term) -> dict:
    """Write a term; functions by their names."""
    node: dict = {"exponents": [float(e) for e in term.exponents]}
    for factor in term.factors:
        if not factor.function.is_registered:
            raise _unsaved(factor.function.name)
        node.setdefault("factors", []).append(
            {
                "function": factor.function.name,
                "scale": float(factor.scale),
                "exponents": [float(e) for e in factor.exponents],
                "power": int(factor.power),
            }
        )
        if factor.inside is not None:
            node["factors"][-1]["inside"] = write_tree(writer, factor.inside.node)
    return node


def _unsaved(name: str) -> TypeError:
    return TypeError(
        f"a law with the function {name!r} of your own cannot be saved: a model file "
        f"holds no code, and {name!r} is not registered, or is another function. Make it "
        "known by its name (vanishing.register_function), or use pickle where you trust "
        "the file."
    )


def write_tree(writer, node: Node) -> list:
    """Write an expression as a list: what it is, and its parts."""
    match node:
        case Number(value=value, std=std):
            return ["number", writer.float(value), writer.float(std)]
        case Column(place=place):
            return ["column", place]
        case Power(base=base, exponent=exponent):
            return ["power", write_tree(writer, base), writer.float(exponent)]
        case Raised(base=base, exponent=exponent):
            return ["raised", write_tree(writer, base), write_tree(writer, exponent)]
        case Apply(name=name, argument=argument):
            function = known(name)
            if function is None or function.value is not node.function:
                raise _unsaved(name)
            return ["function", name, write_tree(writer, argument)]
    assert isinstance(node, Product | Sum)
    kind = "product" if isinstance(node, Product) else "sum"
    return [kind, *(write_tree(writer, part) for part in node.parts)]


def read_tree(reader, node, n_columns: int, depth: int = 0) -> Node:
    """Return an expression that `write_tree` has written."""
    reader.require(depth <= _MAX_DEPTH, "an expression is nested too deeply.")
    reader.require(node, "an expression is empty.")
    kind, *parts = reader.listed(node, "an expression")

    def tree(part) -> Node:
        return read_tree(reader, part, n_columns, depth + 1)

    match kind, parts:
        case "number", [value, std]:
            return Number(*(reader.measured(number, "number") for number in (value, std)))
        case "column", [place]:
            return Column(reader.integer(place, "column", 0, n_columns - 1))
        case "power", [base, exponent]:
            return Power(tree(base), *reader.floats([exponent], "exponent").tolist())
        case "raised", [base, exponent]:
            return Raised(tree(base), tree(exponent))
        case "function", [name, argument]:
            return apply(reader.string(name, "function"), tree(argument))
        case "product" | "sum", [_, _, *_]:
            return (Product if kind == "product" else Sum)(tuple(map(tree, parts)))
    reader.require(False, f"an expression has the part {kind!r}, which cannot be read.")
    raise AssertionError


def read_term(reader, node, n_columns: int) -> Term:
    """Return a term that `write_term` has written."""
    exponents, factors = reader.fields(node, "a term", ("exponents",), ("factors",))
    read = []
    for factor in reader.listed([] if factors is None else factors, "factors"):
        name, scale, inner, power, inside = reader.fields(
            factor, "a factor", Factor._fields[:-1], Factor._fields[-1:]
        )
        function = registered(reader.string(name, "function"))
        (scale,) = reader.floats([scale], "scale").tolist()
        inner = tuple(reader.floats(inner, "exponents", n_columns).tolist())
        if inside is not None:
            inside = Inside(read_tree(reader, inside, n_columns))
        read.append(Factor(function, scale, inner, reader.integer(power, "power", -99, 99), inside))
    return Term(tuple(reader.floats(exponents, "exponents", n_columns).tolist()), tuple(read))


def write_constants(writer, constants: dict[str, tuple[float, float]]) -> dict:
    """Write values and standard errors of constants."""
    return {name: [writer.float(number) for number in pair] for name, pair in constants.items()}


def read_constants(reader, constants, units) -> tuple[dict, dict[str, str]]:
    """Return constants of an equation and their units, either of which may be absent."""
    constants, units = ({} if node is None else node for node in (constants, units))
    for node in (constants, units):
        reader.require(isinstance(node, dict), "constants of a law are not an object.")
    values = {
        name: [reader.measured(v, name) for v in reader.listed(pair, name, 2)]
        for name, pair in constants.items()
    }
    return values, {name: reader.string(unit, name) for name, unit in units.items()}


def write_units(writer, units: Units) -> dict:
    """Write the units of columns, and values with a name."""
    return {
        "columns": [_write_unit(writer, unit) for unit in units.columns],
        "values": [
            {"name": name, "value": writer.float(value), "unit": _write_unit(writer, unit)}
            for name, value, unit in units.values
        ],
    }


def _write_unit(writer, unit: Unit) -> dict:
    return {
        "unit": str(unit),
        "factor": writer.float(unit.factor),
        "parts": dict(unit.parts),
        "dimension": dict(unit.dimension),
    }


def read_saved_units(reader, node, n_columns: int) -> Units:
    """Return the units that `write_units` has written."""
    columns, values = reader.fields(node, "units", ("columns", "values"))
    values_read = []
    for value in reader.listed(values, "values"):
        name, number, unit = reader.fields(value, "a value", Value._fields)
        (number,) = reader.floats([number], "value").tolist()
        values_read.append(Value(reader.string(name, "name"), number, _read_unit(reader, unit)))
    read = [_read_unit(reader, unit) for unit in reader.listed(columns, "columns", n_columns)]
    return Units(tuple(read), tuple(values_read))


def _read_unit(reader, node) -> Unit:
    factor, parts, dimension, _ = reader.fields(
        node, "a unit", ("factor", "parts", "dimension"), ("unit",)
    )
    (factor,) = reader.floats([factor], "factor").tolist()
    reader.require(factor > 0.0, "the factor of a unit is not positive.")
    parts, dimension = (_read_exponents(reader, pairs) for pairs in (parts, dimension))
    return Unit(parts, factor, tuple(sorted(dimension)))


def _read_exponents(reader, node) -> tuple[tuple[str, float], ...]:
    reader.require(isinstance(node, dict), "the parts of a unit are not an object.")
    return tuple(zip(node, reader.floats(list(node.values()), "exponents").tolist(), strict=True))
