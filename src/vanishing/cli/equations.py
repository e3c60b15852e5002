"""The equations of a model, in the formats of the command ``show``."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from vanishing.algebra.units import Readable, mean_square, readable
from vanishing.algebra.writing import in_words, printable
from vanishing.cli.console import console, fail
from vanishing.inspection import Anatomy, ModelPart, anatomy
from vanishing.persistence import layout


class Equation(NamedTuple):
    """A generator, in the units asked for, and its weights in the decision values."""

    shown: Readable
    weights: np.ndarray  # (n_decisions,), maybe none
    absolute: bool  # whether a weight multiplies |g|, not g

    @property
    def polynomial(self) -> Any:
        """The generator as it is written."""
        return self.shown.polynomial

    @property
    def weights_of_difference(self) -> np.ndarray:
        """The weights of left minus right side, which is the generator over a number."""
        size = float(self.polynomial.coef[-1])
        return self.weights * (abs(size) if self.absolute else size)


class Shown(NamedTuple):
    """What is shown of a model: some equations of each of its parts."""

    anatomy: Anatomy
    original: bool  # in original units, or else in scaled ones
    parts: list[tuple[ModelPart, list[Equation]]]


def shown_of(model, *, original=None, top=None, everything=False) -> Shown:
    """Choose the equations of a model, the most important first.

    Parameters
    ----------
    model : estimator
    original : bool or None
        In original units, or else in scaled ones; None for the former where that can be.
    top : int or None
        How many equations per class; None for all.
    everything : bool
        Also those without weight.
    """
    try:
        found = anatomy(model)
    except TypeError:
        fail(f"A {type(model).__name__} has no equations that could be shown.")
    if original and found.units is None:
        fail(
            f"The columns were scaled by {_scalers(found)}, after which equations are no "
            "polynomials in original units."
        )
    original = found.units is not None if original is None else original
    parts = []
    for part in found.parts:
        places = part.ranking()[: None if everything else len(part.used)][:top]
        parts.append((part, [_equation(found, part, i, original) for i in places]))
    return Shown(found, original, parts)


def _equation(found, part, i, original) -> Equation:
    polynomial = part.generators[i]
    known = original and found.scale is not None
    shown = readable(polynomial, found.units if known else None, limit=None)
    return Equation(shown, np.zeros(0) if part.weights is None else part.weights[i], part.absolute)


def _scalers(found) -> str:
    """Name what has scaled the columns."""
    steps = [step for _, step in getattr(found.model, "steps", [])[:-1]]
    steps.append(getattr(found.core, "scaler_", None))
    return " and ".join(type(step).__name__ for step in steps if hasattr(step, "fit")) or "nothing"


def _parameters(found) -> dict[str, float]:
    owners = {"psi": found.parts[0].model, "C": getattr(found.core, "final_estimator_", None)}
    return {
        name: float(getattr(owner, name)) for name, owner in owners.items() if hasattr(owner, name)
    }


def _clips(found) -> bool:
    return hasattr(found.core, "scaling_") and found.core.scaling_.clip


def _heading(part, equations) -> str:
    of = "" if part.label is None else f"Class {printable(part.label)}: "
    n = len(part.generators)
    if part.weights is None:
        return f"{of}{len(equations)} of {n} equations"
    return f"{of}{n} equations, {len(part.used)} with a weight, {len(equations)} shown"


def _strongest(found, one) -> tuple[str, str]:
    """Return the largest weight and the class whose decision value it is of."""
    if not one.weights.size:
        return "", ""
    i = int(np.abs(one.weights).argmax())
    weight = one.weights_of_difference[i]
    return f"{weight:+.4g}" if weight else "0", printable(found.decisions[i])


def write_text(shown):
    """Print tables to read."""
    from rich.text import Text

    found = shown.anatomy
    printer = console(wrapped=False)
    said = ", ".join(f"{name} = {value:g}" for name, value in _parameters(found).items())
    printer.print(type(found.model).__name__ + (f" with {said}" if said else ""))
    for part, equations in shown.parts:
        printer.print()
        printer.print(Text(_heading(part, equations), style="bold"))
        if equations:
            printer.print(_table(found, equations))
    printer.print()
    for line in (*_meaning(found), *_legend(shown)):
        printer.print(line)


def _table(found, equations):
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, pad_edge=False)
    n_weights = min(len(found.decisions), 2)  # with several decisions, the weight and whose it is
    for name, justify in [("weight", "right"), ("for class", "left")][:n_weights]:
        table.add_column(name, justify=justify, no_wrap=True)
    table.add_column("equation", overflow="fold")
    table.add_column("rms error", justify="right", no_wrap=True)
    for one in equations:
        weight = _strongest(found, one)[:n_weights]
        table.add_row(*weight, one.shown.write(), in_words(one.shown.error, 2))
    return table


def _meaning(found) -> list[str]:
    side = "|left - right side|" if found.parts[0].absolute else "left minus right side"
    if not found.decisions:
        return []
    if len(found.decisions) == 1:
        label = printable(found.decisions[0])
        return [
            f"A row is of class {label} where {found.intercept[0]:+.4g} plus the sum of weight "
            f"times {side} is positive."
        ]
    return [
        f"A class's decision value is a constant plus the sum of weight times {side}; the largest "
        "one wins. Shown is each equation's largest weight."
    ]


def _legend(shown) -> list[str]:
    found = shown.anatomy
    clipped = "clipped to the range of the training rows" if _clips(found) else ""
    if found.units is None:
        return [f"Columns are as {_scalers(found)} has scaled them."]
    if _scalers(found) == "nothing":
        return [f"Columns are as they were given: {clipped or 'nothing was scaled'}."]
    if shown.original:
        return ["Columns are in their original units."]
    lines = [f"Columns are scaled{clipped and f', then {clipped}'}; a name stands for:"]
    for name, scale, offset in zip(found.names, *found.units, strict=True):
        origin, width = (-offset / scale, 1.0 / scale) if scale else (0.0, np.inf)
        sign = "-" if origin >= 0 else "+"
        lines.append(f"  {printable(name)}: (value {sign} {abs(origin):.6g}) / {width:.6g}")
    return lines


def write_latex(shown):
    """Print one equation per line, in LaTeX."""
    for part, equations in shown.parts:
        print(f"% {_heading(part, equations)}")
        for one in equations:
            weight, label = _strongest(shown.anatomy, one)
            note = f"  % weight {weight} for class {label}" if weight else ""
            print(one.shown.write("latex") + note)
    for line in _legend(shown):
        print(f"% {line}")


def write_sympy(shown):
    """Print one expression per line that ``sympy.sympify`` takes."""
    for part, equations in shown.parts:
        print(f"# {_heading(part, equations)}")
        for one in equations:
            print(one.polynomial.write("sympy"))
    for line in _legend(shown):
        print(f"# {line}")


def write_json(shown):
    """Print everything that a prediction needs."""
    found = shown.anatomy
    scale, offset = (None, None) if found.units is None else map(np.ndarray.tolist, found.units)
    document = {
        "model": type(found.model).__name__,
        "parameters": _parameters(found),
        "units": "original" if shown.original else "scaled",
        "columns": list(found.names),
        "scaling": {
            "by": _scalers(found),
            "scale": scale,
            "offset": offset,
            "clip": _clips(found),
        },
        "absolute": found.parts[0].absolute,
        "intercepts": _by_label(found, found.intercept),
        "classes": [
            {
                "class": part.label,
                "n_generators": len(part.generators),
                "n_decisive": None if part.weights is None else len(part.used),
                "generators": [_generator(found, one) for one in equations],
            }
            for part, equations in shown.parts
        ],
    }
    # Halves of surrogate pairs, which names may hold, are no text, but JSON writes them as \uXXXX.
    print(layout(document).encode("utf-8", "backslashreplace").decode())


def _generator(found, one) -> dict:
    polynomial = one.polynomial
    return {
        "equation": one.shown.write(),
        "degree": polynomial.degree,
        "mean_square": mean_square(polynomial),
        "weights": _by_label(found, one.weights),
        "terms": polynomial.terms.tolist(),
        "coefficients": [
            str(value) if isinstance(value, Fraction) else value
            for value in polynomial.coef.tolist()
        ],
    }


def _by_label(found, values) -> dict[str, float]:
    pairs = zip(found.decisions, values, strict=True)
    return {str(label): float(value) for label, value in pairs}
