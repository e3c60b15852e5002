"""The command ``show``: the equations, laws or quantities of a model, to read or to use."""

from typing import Annotated

from typer import Option

from vanishing.cli.app import Model, command
from vanishing.cli.console import check_model, fail

_TOP = 10  # equations per class, to read


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
            help="How many equations per class, or laws.",
            show_default="10; all for the formats",
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

    Laws, those of a detector of outliers, and conserved quantities are always in original units.
    """
    formats = [n for n, on in (("latex", latex), ("sympy", sympy), ("json", json)) if on]
    if units not in (None, "scaled", "original"):
        fail(f"--units must be scaled or original; got {units!r}.", 2)
    if len(formats) > 1:
        fail(f"Choose one of {' and '.join(f'--{name}' for name in formats)}.", 2)
    check_model(model)
    from vanishing import load

    fitted = load(model)
    from vanishing.cli import equations, law_text, motion_text, outlier_text
    from vanishing.inspection.laws import is_about_laws
    from vanishing.motion.conserved import ConservedQuantities
    from vanishing.outliers.detector import VanishingOutlierDetector

    writer = f"write_{formats[0] if formats else 'text'}"
    if is_about_laws(fitted):
        getattr(law_text, writer)(fitted, top)
        return
    if isinstance(fitted, ConservedQuantities):
        getattr(motion_text, writer)(fitted, top)
        return
    if isinstance(fitted, VanishingOutlierDetector):
        getattr(outlier_text, writer)(fitted, top)
        return
    if top is None and not formats:
        top = _TOP
    shown = equations.shown_of(
        fitted,
        original=None if units is None else units == "original",
        top=None if everything else top,
        everything=everything,
    )
    getattr(equations, writer)(shown)
