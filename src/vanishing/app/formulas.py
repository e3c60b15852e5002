"""Equations while they are typed: as they will be read, or what is wrong and where."""

from collections.abc import Sequence

from vanishing.algebra.equations import read_sides
from vanishing.algebra.expressions import Number
from vanishing.algebra.languages import writer
from vanishing.algebra.syntax import FormulaError, tokens


def read_formula(text: str, names: Sequence[str]) -> dict:
    """Read an equation that may be incomplete.

    Parameters
    ----------
    text : str
    names : sequence of str
        Of the columns; other names are constants.

    Returns
    -------
    read : dict
        Either ``mathml`` and ``constants``, or ``problem`` with ``start`` and ``end``, the
        characters of the text it is about.

    Examples
    --------
    >>> from vanishing.app.formulas import read_formula
    >>> read_formula("p*V = R*n*T", ["p", "V", "n", "T"])["constants"]
    ['R']
    >>> read_formula("p = 2*(V", ["p", "V"])
    {'problem': 'a bracket is not closed', 'start': 6, 'end': 7}
    """
    try:
        sides, constants = read_sides(text, names)
        write = writer("mathml", [*map(str, names), *constants])
        left, right = [*sides, Number(0.0)][:2]
        return {"mathml": write.equation(left, right), "constants": constants}
    except FormulaError as error:
        problem = error.problem.rpartition("do not fit together: ")[2]
        return {"problem": problem, **_place(text, error.start)}
    except ValueError as error:
        return {"problem": str(error).removesuffix("."), **_place(text, None)}
    except RecursionError:
        return {"problem": "it is nested too deeply", **_place(text, None)}


def _place(text: str, start: int | None) -> dict:
    """Return where a token begins and ends; the end of the text where none is to blame."""
    if start is None:
        return {"start": len(text), "end": len(text)}
    token = next((t for t in tokens(text) if t.start == start), None)
    length = 1 if token is None else len(token.text) + len(token.measure)
    return {"start": start, "end": start + length}
