"""Terms and units of laws as JSON values, written and read."""

from vanishing.algebra.functions import registered
from vanishing.algebra.quantities import Unit, Units, Value
from vanishing.algebra.terms import Factor, Term


def write_term(writer, term: Term) -> dict:
    """Write a term; functions by their names."""
    node: dict = {"exponents": [float(e) for e in term.exponents]}
    for factor in term.factors:
        name = factor.function.name
        if not factor.function.is_registered:
            raise TypeError(
                f"a law with the function {name!r} of your own cannot be saved: a model file "
                f"holds no code, and {name!r} is not registered, or is another function. Make it "
                "known by its name (vanishing.register_function), or use pickle where you trust "
                "the file."
            )
        node.setdefault("factors", []).append(
            {
                "function": name,
                "scale": float(factor.scale),
                "exponents": [float(e) for e in factor.exponents],
                "power": int(factor.power),
            }
        )
    return node


def read_term(reader, node, n_columns: int) -> Term:
    """Return a term that `write_term` has written."""
    exponents, factors = reader.fields(node, "a term", ("exponents",), ("factors",))
    read = []
    for factor in reader.listed([] if factors is None else factors, "factors"):
        name, scale, inner, power = reader.fields(factor, "a factor", Factor._fields)
        function = registered(reader.string(name, "function"))
        (scale,) = reader.floats([scale], "scale").tolist()
        inner = tuple(reader.floats(inner, "exponents", n_columns).tolist())
        read.append(Factor(function, scale, inner, reader.integer(power, "power", -99, 99)))
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
