"""The command ``show``: the equations, laws or quantities of a model, to read or to use."""

from typing import Annotated

from typer import Option

from vanishing.algebra.writing import printable
from vanishing.cli.app import Model, command
from vanishing.cli.console import check_model, fail, print_json


@command("vanishing show m.json --top 3")
def show(
    model: Model,
    units: Annotated[
        str | None,
        Option(
            help="original, or scaled (columns as the model sees them).",
            show_default="original where the scaling allows it",
        ),
    ] = None,
    top: Annotated[
        int | None,
        Option(
            min=1,
            help="How many equations per class, laws or quantities to print.",
            show_default="10 per class; laws, quantities and formats: all",
        ),
    ] = None,
    everything: Annotated[
        bool, Option("--all", help="All equations, also those without weight.")
    ] = False,
    latex: Annotated[bool, Option("--latex", help="Print LaTeX.")] = False,
    sympy: Annotated[bool, Option("--sympy", help="Print expressions for sympy.sympify.")] = False,
    json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
):
    """Print the equations of each class, those with the largest weight first; or laws.

    Laws, conserved quantities and equations of motion are always in original units; so are the laws
    of a detector of outliers.
    """
    formats = [n for n, on in (("latex", latex), ("sympy", sympy), ("json", json)) if on]
    if units not in (None, "scaled", "original"):
        fail(f"--units must be scaled or original; got {units!r}.", 2)
    if len(formats) > 1:
        fail(f"Choose one of {' and '.join(f'--{name}' for name in formats)}.", 2)
    check_model(model)
    from vanishing import load

    fitted = load(model)
    print_model(
        fitted,
        formats[0] if formats else "text",
        original=None if units is None else units == "original",
        top=top,
        everything=everything,
    )


def print_model(
    fitted, form: str, *, original: bool | None = None, top: int | None = None, everything=False
):
    """Print what a model consists of.

    Parameters
    ----------
    fitted : estimator, Law or Rules
    form : {"text", "latex", "sympy", "json"}
    original : bool or None
        Whether equations are in original units; None: where the scaling allows it.
    top : int or None
    everything : bool
    """
    from vanishing.calibration.ellipsoid import EllipsoidCalibration
    from vanishing.cli import (
        calibration_text,
        equations,
        equations_of_motion_text,
        law_text,
        motion_text,
        outlier_text,
        repair_text,
    )
    from vanishing.inspection.laws import is_about_laws
    from vanishing.motion.conserved import ConservedQuantities
    from vanishing.motion.equations_of_motion import EquationsOfMotion
    from vanishing.outliers.detector import VanishingOutlierDetector
    from vanishing.repair.repair import VanishingRepair
    from vanishing.rules.rules import Rules

    if is_about_laws(fitted):
        _print(law_text, fitted, top, form)
    elif isinstance(fitted, ConservedQuantities):
        _print(motion_text, fitted, top, form)
    elif isinstance(fitted, EquationsOfMotion):
        _print(equations_of_motion_text, fitted, top, form)
    elif isinstance(fitted, VanishingOutlierDetector):
        _print(outlier_text, fitted, top, form)
    elif isinstance(fitted, Rules):
        _print_rules(fitted, top, form)
    elif isinstance(fitted, VanishingRepair):
        _print(repair_text, fitted, top, form)
    elif isinstance(fitted, EllipsoidCalibration):
        _print(calibration_text, fitted, top, form)
    else:
        if top is None and form == "text":
            top = 10
        shown = equations.shown_of(
            fitted,
            original=original,
            top=None if everything else top,
            everything=everything,
        )
        getattr(equations, f"write_{form}")(shown)


def _print_rules(rules, top, form):
    """Print rules in words, or as JSON has them."""
    if form not in ("text", "json"):
        fail(f"--{form} is for equations, and these are rules: leave it out.", 2)
    if form == "json":
        print_json(rules_document(rules[:top]))
    else:
        for rule in rules[:top]:
            print(printable(str(rule)))


def rules_document(rules) -> dict:
    """Return rules as JSON has them."""
    return {
        "columns": list(rules.columns),
        "rules": [
            {"kind": rule.kind, "columns": list(rule.columns), "rule": str(rule)} for rule in rules
        ],
    }


def _print(writer, model, top, form):
    """Print laws or quantities, by the module that knows their kind."""
    if form == "text":
        writer.write_text(model, top)
    elif form == "json":
        print_json(writer.document(model, top))
    else:
        verdict, formulas = writer.formulas(model, top)
        # All lines are made before the first is printed: SymPy may be missing.
        lines = [f"{'%' if form == 'latex' else '#'} {printable(verdict)}"] if verdict else []
        lines += [
            formula.to_latex() if form == "latex" else _sympy(formula) for formula in formulas
        ]
        for line in lines:
            print(line)


def _sympy(formula) -> str:
    """Write what ``sympy.sympify`` takes, whatever columns are called."""
    expression = formula.to_sympy()
    from sympy import srepr

    return srepr(expression)
