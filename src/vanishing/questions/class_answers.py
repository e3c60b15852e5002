"""Classes as answers: the equations of each, and their weights in the decision."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from vanishing.algebra.units import Readable, mean_square, readable
from vanishing.algebra.writing import in_words, printable
from vanishing.inspection import Anatomy, ModelPart, anatomy
from vanishing.inspection.freedom import freedom_of
from vanishing.questions.answer import Answer, AnswerTable, Equation


class WeighedEquation(NamedTuple):
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
    parts: list[tuple[ModelPart, list[WeighedEquation]]]


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
        raise ValueError(
            f"A {type(model).__name__} has no equations that could be shown."
        ) from None
    if original and whole.units is None:
        raise ValueError(
            f"The columns were scaled by {_scalers(whole)}, after which equations are no "
            "polynomials in original units: --units scaled shows them."
        )
    original = whole.units is not None if original is None else original
    parts = []
    for part in whole.parts:
        places = part.ranking()[: None if everything else len(part.used)][:top]
        parts.append((part, [_equation(whole, part, i, original) for i in places]))
    return Shown(whole, original, parts)


def _equation(whole: Anatomy, part: ModelPart, i: int, original: bool) -> WeighedEquation:
    polynomial = part.generators[i]
    rewritten = original and whole.scale is not None
    shown = readable(polynomial, whole.units if rewritten else None, limit=None)
    return WeighedEquation(
        shown, np.zeros(0) if part.weights is None else part.weights[i], part.absolute
    )


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


def _strongest(whole: Anatomy, equation: WeighedEquation) -> tuple[str, str]:
    """Return the largest weight and the class whose decision value it is of."""
    if not equation.weights.size:
        return "", ""
    i = int(np.abs(equation.weights).argmax())
    weight = equation.weights_of_difference[i]
    return f"{weight:+.4g}" if weight else "0", printable(whole.decisions[i])


def class_answer(
    model, top: int | None = None, original: bool | None = None, everything: bool = False
) -> Answer:
    """Return the equations of each class of a model; the arguments are those of `shown_of`."""
    shown = shown_of(model, original=original, top=top, everything=everything)
    whole = shown.anatomy
    settings = ", ".join(f"{name} = {value:g}" for name, value in _parameters(whole).items())
    heading = type(whole.model).__name__ + (f" with {settings}" if settings else "")
    tables, freedom = [], []
    for part, equations in shown.parts:
        tables.append(_table(whole, _heading(part, equations), equations))
        freedom += list(freedom_of(part.model)) if part.label is None else []
    legend = (*_meaning(whole), *_legend(shown))
    written = tuple(
        _written(whole, _heading(part, equations), equation)
        for part, equations in shown.parts
        for equation in equations
    )
    return Answer(
        found=bool(written),
        verdict="\n".join(legend),
        heading=heading,
        equations=written,
        tables=tuple(tables),
        model=model,
        details=_document(shown),
        printed=(heading, *tables, *freedom, "", *legend),
    )


def _written(whole: Anatomy, heading: str, equation: WeighedEquation) -> Equation:
    weight, label = _strongest(whole, equation)
    shown, polynomial = equation.shown, equation.polynomial
    return Equation(
        shown.write(),
        shown.write("latex"),
        shown.write("mathml"),
        measures={"error": shown.error},
        formula=polynomial,
        group=heading,
        note=f"weight {weight} for class {label}" if weight else "",
    )


def _table(whole: Anatomy, heading: str, equations: list[WeighedEquation]) -> AnswerTable:
    n_weights = min(len(whole.decisions), 2)  # with several decisions, the weight and whose it is
    rows = tuple(
        (*_strongest(whole, e)[:n_weights], e.shown.write(), in_words(e.shown.error, 2))
        for e in equations
    )
    return AnswerTable(
        heading, (*("weight", "for class")[:n_weights], "equation", "rms error"), rows
    )


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


def _document(shown: Shown) -> dict[str, Any]:
    """Return everything that a prediction needs, as JSON has it."""
    whole = shown.anatomy
    scale, offset = (None, None) if whole.units is None else map(np.ndarray.tolist, whole.units)
    return {
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


def _generator(whole: Anatomy, equation: WeighedEquation) -> dict:
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
