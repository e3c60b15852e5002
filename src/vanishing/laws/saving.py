"""Terms of laws as JSON values, written and read."""

from vanishing.laws.terms import FUNCTIONS, Factor, Term


def write_term(writer, term: Term) -> dict:
    """Write a term; functions by their names."""
    node: dict = {"exponents": [float(e) for e in term.exponents]}
    for factor in term.factors:
        name = factor.function.name
        if FUNCTIONS.get(name) is not factor.function:
            raise TypeError(
                f"a law with the function {name!r} of your own cannot be saved: a model file "
                f"holds no code, and knows {', '.join(FUNCTIONS)}. Use pickle where you trust the "
                "file."
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
    found = []
    for factor in reader.listed([] if factors is None else factors, "factors"):
        name, scale, inner, power = reader.fields(factor, "a factor", Factor._fields)
        reader.require(isinstance(name, str) and name in FUNCTIONS, f"{name!r} is no function.")
        (scale,) = reader.floats([scale], "scale").tolist()
        inner = tuple(reader.floats(inner, "exponents", n_columns).tolist())
        found.append(Factor(FUNCTIONS[name], scale, inner, reader.integer(power, "power", -99, 99)))
    return Term(tuple(reader.floats(exponents, "exponents", n_columns).tolist()), tuple(found))
