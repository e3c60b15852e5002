"""The equations of a model, in the formats of the command ``show``."""

from typing import NamedTuple

import numpy as np

from vanishing.algebra.polynomials import check_told_apart, printable
from vanishing.algebra.units import DIGITS, digits_in_original_units, equation, in_original_units
from vanishing.cli.console import console, fail
from vanishing.persistence import _layout


class Scaling(NamedTuple):
    """Column i of the model is ``x_i * scale[i] + offset[i]``."""

    names: list[str]
    scale: np.ndarray | None  # None where the columns are not scaled like this
    offset: np.ndarray | None
    description: str
    clip: bool


class Equation(NamedTuple):
    """A generator, in the units asked for, and its weights in the decision values."""

    polynomial: object
    digits: int
    weights: np.ndarray  # (n_decisions,), maybe none


class ClassEquations(NamedTuple):
    """The generators of a class, largest weight first."""

    label: object  # None where a model has no classes
    equations: list[Equation]
    n_generators: int
    n_decisive: int | None  # None where nothing is decided


class Shown:
    """What is shown of a model.

    Parameters
    ----------
    model : estimator
    original : bool
        In original units, or else in scaled ones.
    top : int or None
        How many equations of a class; None for all.
    everything : bool
        Also those without weight.
    """

    def __init__(self, model, original=False, top=None, everything=False):
        self.kind = type(model).__name__
        self.original = original
        self.parameters = {}
        model = getattr(model, "classifier_", model)
        self.decisions, self.intercept, weights = [], np.zeros(0), None
        if hasattr(model, "features_"):  # VanishingClassifier
            final = model.final_estimator_
            classes = model.classes_.tolist()
            self.decisions = classes[1:] if len(classes) == 2 else classes
            weights = final.coef_[:, : model.n_generators_].T
            self.intercept = final.intercept_
            self.parameters["C"] = float(final.C)
            parts = list(zip(classes, model.features_.transformers_, strict=True))
        elif hasattr(model, "transformers_"):  # VanishingFeatures
            parts = list(zip(model.classes_.tolist(), model.transformers_, strict=True))
        elif hasattr(model, "generators_") and hasattr(model, "psi"):
            parts = [(None, model)]
        else:
            fail(f"A {self.kind} has no equations that could be shown.")
        self.parameters = {"psi": float(parts[0][1].psi), **self.parameters}
        self.scaling = _scaling(model)
        if original and self.scaling.scale is None:
            fail(
                f"The columns were scaled by {self.scaling.description}, after which equations are "
                "no polynomials in original units."
            )
        self.classes = []
        start = 0
        for label, transformer in parts:
            here = slice(start, start + transformer.n_generators_)
            start = here.stop
            part = None if weights is None else weights[here]
            self.classes.append(self._class(label, transformer, part, top, everything))

    def _class(self, label, transformer, weights, top, everything):
        n = transformer.n_generators_
        if weights is None:
            order, n_decisive = np.arange(n), None
            weights = np.zeros((n, 0))
        else:
            size = np.abs(weights).max(axis=1, initial=0.0)
            order = np.argsort(-size, kind="stable")
            n_decisive = int(np.count_nonzero(size))
            order = order if everything else order[:n_decisive]
        equations = [self._equation(transformer, i, weights[i]) for i in order[:top].tolist()]
        return ClassEquations(label, equations, n, n_decisive)

    def _equation(self, transformer, i, weights):
        polynomial = transformer.generators_[i]
        polynomial = type(polynomial)(
            polynomial.terms,
            polynomial.coef,
            mse=polynomial.mse,
            feature_names=[printable(name) for name in self.scaling.names],
        )
        if not self.original:
            return Equation(polynomial, DIGITS, weights)
        parts = self.scaling.scale, self.scaling.offset
        original = in_original_units(polynomial, *parts)
        digits = digits_in_original_units(polynomial, original, *parts)
        return Equation(original, digits, weights)


def _scaling(model) -> Scaling:
    n = model.n_features_in_
    names = [str(name) for name in getattr(model, "feature_names_in_", [])]
    names = names or [f"x{i}" for i in range(n)]
    scaler = getattr(model, "scaler_", None)
    clip = bool(getattr(model, "clip", False))
    kind = type(scaler).__name__
    if scaler is None:
        return Scaling(names, np.ones(n), np.zeros(n), "nothing", clip)
    if kind == "MinMaxScaler":
        return Scaling(names, scaler.scale_, scaler.min_, kind, clip)
    if kind == "StandardScaler":
        scale = np.ones(n) if scaler.scale_ is None else 1.0 / scaler.scale_
        mean = np.zeros(n) if scaler.mean_ is None else scaler.mean_
        return Scaling(names, scale, -mean * scale, kind, clip)
    return Scaling(names, None, None, kind, clip)


# -- Formats --------------------------------------------------------------------------------------


def _heading(part) -> str:
    of = "" if part.label is None else f"Class {printable(part.label)}: "
    if part.n_decisive is None:
        counts = f"{len(part.equations)} of {part.n_generators} equations"
    else:
        counts = (
            f"{part.n_generators} equations, {part.n_decisive} with a weight, "
            f"{len(part.equations)} shown"
        )
    return of + counts


def _strongest(shown, equation_) -> tuple[str, str]:
    """Return the largest weight and the class whose decision value it is of."""
    if not equation_.weights.size:
        return "", ""
    i = int(np.abs(equation_.weights).argmax())
    weight = equation_.weights[i]
    return f"{weight:+.4g}" if weight else "0", printable(shown.decisions[i])


def write_text(shown):
    from rich import box
    from rich.table import Table
    from rich.text import Text

    printer = console(wrapped=False)
    said = ", ".join(f"{name} = {value:g}" for name, value in shown.parameters.items())
    printer.print(f"{shown.kind} with {said}")
    several = len(shown.decisions) > 1
    for part in shown.classes:
        printer.print()
        printer.print(Text(_heading(part), style="bold"))
        table = Table(box=box.SIMPLE, pad_edge=False)
        if shown.decisions:
            table.add_column("weight", justify="right", no_wrap=True)
        if several:
            table.add_column("for class", no_wrap=True)
        table.add_column("equation", overflow="fold")
        table.add_column("mean square", justify="right", no_wrap=True)
        for one in part.equations:
            weight, label = _strongest(shown, one)
            cells = [weight] if shown.decisions else []
            cells += [label] if several else []
            text = equation(one.polynomial, one.digits)
            table.add_row(*cells, text, f"{one.polynomial.mse:.2g}")
        if part.equations:
            printer.print(table)
    printer.print()
    if shown.decisions:
        printer.print(_meaning(shown))
    for line in _legend(shown):
        printer.print(line)


def _meaning(shown) -> str:
    if len(shown.decisions) == 1:
        label = printable(shown.decisions[0])
        return (
            f"A row is of class {label} where {shown.intercept[0]:+.4g} plus the sum of weight "
            "times |left side of the equation| is positive."
        )
    return (
        "A class's decision value is a constant plus the sum of weight times |left side of the "
        "equation|; the largest one wins. Shown is each equation's largest weight."
    )


def _legend(shown) -> list[str]:
    scaling = shown.scaling
    if shown.original:
        return ["Columns are in their original units."]
    if scaling.description == "nothing":
        return ["Columns are as they were given: nothing was scaled."]
    if scaling.scale is None:
        return [f"Columns are as {scaling.description} has scaled them."]
    clipped = ", then clipped to the range of the training rows" if scaling.clip else ""
    lines = [f"Columns are scaled{clipped}; a name stands for:"]
    for name, scale, offset in zip(scaling.names, scaling.scale, scaling.offset, strict=True):
        origin, width = (-offset / scale, 1.0 / scale) if scale else (0.0, np.inf)
        sign = "-" if origin >= 0 else "+"
        lines.append(f"  {printable(name)}: (value {sign} {abs(origin):.6g}) / {width:.6g}")
    return lines


def write_latex(shown):
    for part in shown.classes:
        print(f"% {_heading(part)}")
        for one in part.equations:
            weight, label = _strongest(shown, one)
            print(rf"{one.polynomial.to_latex()} = 0" + _note(weight, label))
    _print_comments(shown, "%")


def _note(weight, label) -> str:
    return f"  % weight {weight} for class {label}" if weight else ""


def write_sympy(shown):
    for part in shown.classes:
        print(f"# {_heading(part)}")
        for one in part.equations:
            print(sympy_text(one.polynomial, shown.scaling.names))
    _print_comments(shown, "#")


def _print_comments(shown, mark):
    for line in _legend(shown):
        print(f"{mark} {line}")


def sympy_text(polynomial, names) -> str:
    """Write a polynomial so that ``sympy.sympify`` takes it, whatever its columns are called.

    Parameters
    ----------
    polynomial : Polynomial
    names : sequence of str
        Of the columns.

    Examples
    --------
    >>> from vanishing.cli.equations import sympy_text
    >>> from vanishing.algebra.polynomials import Polynomial
    >>> sympy_text(Polynomial([[0, 0], [2, 1]], [-0.5, 1.0]), ["beta", "petal length"])
    "Symbol('beta')**2*Symbol('petal length') - 0.5"
    """
    check_told_apart(polynomial.terms, names)
    text = ""
    for term, value in zip(polynomial.terms[::-1].tolist(), polynomial.coef[::-1], strict=True):
        # A bare name may be a function or a constant of SymPy: beta, E, S.
        factors = [
            f"Symbol({name!r})" + (f"**{e}" if e > 1 else "")
            for name, e in zip(names, term, strict=True)
            if e
        ]
        number = [] if abs(value) == 1.0 and factors else [repr(abs(float(value)))]
        sign = " - " if value < 0 else " + "
        text += (sign if text else sign.strip(" +")) + "*".join(number + factors)
    return text


def write_json(shown):
    scaling = shown.scaling

    def generator(one):
        polynomial = one.polynomial
        return {
            "equation": equation(polynomial, one.digits),
            "degree": polynomial.degree,
            "mean_square": polynomial.mse,
            "weights": {
                str(label): float(weight)
                for label, weight in zip(shown.decisions, one.weights, strict=True)
            },
            "terms": polynomial.terms.tolist(),
            "coefficients": polynomial.coef.tolist(),
        }

    document = {
        "model": shown.kind,
        "parameters": shown.parameters,
        "units": "original" if shown.original else "scaled",
        "columns": scaling.names,
        "scaling": {
            "by": scaling.description,
            "scale": None if scaling.scale is None else np.asarray(scaling.scale).tolist(),
            "offset": None if scaling.offset is None else np.asarray(scaling.offset).tolist(),
            "clip": scaling.clip,
        },
        "intercepts": {
            str(label): float(value)
            for label, value in zip(shown.decisions, shown.intercept, strict=True)
        },
        "classes": [
            {
                "class": part.label,
                "n_generators": part.n_generators,
                "n_decisive": part.n_decisive,
                "generators": [generator(one) for one in part.equations],
            }
            for part in shown.classes
        ],
    }
    # Halves of surrogate pairs, which names may hold, are no text, but JSON writes them as \uXXXX.
    print(_layout(document).encode("utf-8", "backslashreplace").decode())
