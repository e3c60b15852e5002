"""The equations of a model, in the formats of the command ``show``."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from vanishing.algebra.units import Readable, mean_square, readable
from vanishing.algebra.writing import in_words, printable
from vanishing.cli.console import console, fail, print_json, table
from vanishing.inspection import Anatomy, ModelPart, anatomy
from vanishing.inspection.freedom import freedom_of


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
    """What is shown of a model: the chosen equations of each of its parts."""

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
        whole = anatomy(model)
    except TypeError:
        fail(f"A {type(model).__name__} has no equations that could be shown.")
    if original and whole.units is None:
        fail(
            f"The columns were scaled by {_scalers(whole)}, after which equations are no "
            "polynomials in original units: --units scaled shows them."
        )
    original = whole.units is not None if original is None else original
    parts = []
    for part in whole.parts:
        places = part.ranking()[: None if everything else len(part.used)][:top]
        parts.append((part, [_equation(whole, part, i, original) for i in places]))
    return Shown(whole, original, parts)


def _equation(whole: Anatomy, part: ModelPart, i: int, original: bool) -> Equation:
    polynomial = part.generators[i]
    rewritten = original and whole.scale is not None
    shown = readable(polynomial, whole.units if rewritten else None, limit=None)
    return Equation(shown, np.zeros(0) if part.weights is None else part.weights[i], part.absolute)


def _scalers(whole: Anatomy) -> str:
    """Name what has scaled the columns."""
    steps = [step for _, step in getattr(whole.model, "steps", [])[:-1]]
    steps.append(getattr(whole.core, "scaler_", None))
    return " and ".join(type(step).__name__ for step in steps if hasattr(step, "fit")) or "nothing"


def _parameters(whole: Anatomy) -> dict[str, float]:
    owners = {"psi": whole.parts[0].model, "C": getattr(whole.core, "final_estimator_", None)}
    return {
        name: float(getattr(owner, name)) for name, owner in owners.items() if hasattr(owner, name)
    }


def _clips(whole: Anatomy) -> bool:
    return hasattr(whole.core, "scaling_") and whole.core.scaling_.clip


def _heading(part, equations) -> str:
    of = "" if part.label is None else f"Class {printable(part.label)}: "
    n = len(part.generators)
    if part.weights is None:
        return f"{of}{len(equations)} of {n} equations"
    return f"{of}{n} equations, {len(part.used)} with a weight, {len(equations)} shown"


def _strongest(whole: Anatomy, equation: Equation) -> tuple[str, str]:
    """Return the largest weight and the class whose decision value it is of."""
    if not equation.weights.size:
        return "", ""
    i = int(np.abs(equation.weights).argmax())
    weight = equation.weights_of_difference[i]
    return f"{weight:+.4g}" if weight else "0", printable(whole.decisions[i])


def write_text(shown):
    """Print tables to read."""
    whole = shown.anatomy
    printer = console(wrapped=False)
    settings = ", ".join(f"{name} = {value:g}" for name, value in _parameters(whole).items())
    printer.print(type(whole.model).__name__ + (f" with {settings}" if settings else ""))
    for part, equations in shown.parts:
        printer.print()
        printer.print(_heading(part, equations), style="bold")
        if equations:
            printer.print(_table(whole, equations))
        for line in freedom_of(part.model) if part.label is None else ():
            printer.print(line)
    printer.print()
    for line in (*_meaning(whole), *_legend(shown)):
        printer.print(line)


def _table(whole: Anatomy, equations: list[Equation]):
    n_weights = min(len(whole.decisions), 2)  # with several decisions, the weight and whose it is
    rows = table(*["#weight", "for class"][:n_weights], "equation", "#rms error")
    for equation in equations:
        weight = _strongest(whole, equation)[:n_weights]
        rows.add_row(*weight, equation.shown.write(), in_words(equation.shown.error, 2))
    return rows


def _meaning(whole: Anatomy) -> list[str]:
    side = "|left - right side|" if whole.parts[0].absolute else "left minus right side"
    if not whole.decisions:
        return []
    if len(whole.decisions) == 1:
        label = printable(whole.decisions[0])
        return [
            f"A row is of class {label} where {whole.intercept[0]:+.4g} plus the sum of weight "
            f"times {side} is positive."
        ]
    return [
        f"A class's decision value is a constant plus the sum of weight times {side}; the largest "
        "one wins. Shown is each equation's largest weight."
    ]


def _legend(shown) -> list[str]:
    whole = shown.anatomy
    clipped = "clipped to the range of the training rows" if _clips(whole) else ""
    if whole.units is None:
        return [f"Columns are as {_scalers(whole)} has scaled them."]
    if _scalers(whole) == "nothing":
        return [f"Columns are as they were given: {clipped or 'nothing was scaled'}."]
    if shown.original:
        return ["Columns are in their original units."]
    lines = [f"Columns are scaled{clipped and f', then {clipped}'}; a name stands for:"]
    for name, scale, offset in zip(whole.names, *whole.units, strict=True):
        origin, width = (-offset / scale, 1.0 / scale) if scale else (0.0, np.inf)
        sign = "-" if origin >= 0 else "+"
        lines.append(f"  {printable(name)}: (value {sign} {abs(origin):.6g}) / {width:.6g}")
    return lines


def write_latex(shown):
    """Print one equation per line, in LaTeX."""
    for part, equations in shown.parts:
        print(f"% {_heading(part, equations)}")
        for equation in equations:
            weight, label = _strongest(shown.anatomy, equation)
            note = f"  % weight {weight} for class {label}" if weight else ""
            print(equation.shown.write("latex") + note)
    for line in _legend(shown):
        print(f"% {line}")


def write_sympy(shown):
    """Print one expression per line that ``sympy.sympify`` takes."""
    for part, equations in shown.parts:
        print(f"# {_heading(part, equations)}")
        for equation in equations:
            print(equation.polynomial.write("sympy"))
    for line in _legend(shown):
        print(f"# {line}")


def write_json(shown):
    """Print everything that a prediction needs."""
    whole = shown.anatomy
    scale, offset = (None, None) if whole.units is None else map(np.ndarray.tolist, whole.units)
    document = {
        "model": type(whole.model).__name__,
        "parameters": _parameters(whole),
        "units": "original" if shown.original else "scaled",
        "columns": list(whole.names),
        "scaling": {
            "by": _scalers(whole),
            "scale": scale,
            "offset": offset,
            "clip": _clips(whole),
        },
        "absolute": whole.parts[0].absolute,
        "intercepts": _by_label(whole, whole.intercept),
        "classes": [
            {
                "class": part.label,
                "n_generators": len(part.generators),
                "complete": getattr(part.model, "complete_", None),
                "dimension": part.model.dimension()._asdict()
                if hasattr(part.model, "dimension")
                else None,
                "n_decisive": None if part.weights is None else len(part.used),
                "generators": [_generator(whole, equation) for equation in equations],
            }
            for part, equations in shown.parts
        ],
    }
    print_json(document)


def _generator(whole: Anatomy, equation: Equation) -> dict:
    polynomial = equation.polynomial
    return {
        "equation": equation.shown.write(),
        "degree": polynomial.degree,
        "mean_square": mean_square(polynomial),
        "weights": _by_label(whole, equation.weights),
        "terms": polynomial.terms.tolist(),
        "coefficients": [
            str(value) if isinstance(value, Fraction) else value
            for value in polynomial.coef.tolist()
        ],
    }


def _by_label(whole: Anatomy, values) -> dict[str, float]:
    pairs = zip(whole.decisions, values, strict=True)
    return {str(label): float(value) for label, value in pairs}
