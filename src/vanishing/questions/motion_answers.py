"""Motion as answers: what stays the same along every run, and how runs move."""

import math
from typing import Any

from vanishing.algebra.writing import printable
from vanishing.questions.answer import (
    Answer,
    AnswerTable,
    Constant,
    Equation,
    finite,
    rounded,
)


def _constants(formula) -> tuple[Constant, ...]:
    numbers = zip(formula.terms, formula.coef.tolist(), formula.coef_std.tolist(), strict=True)
    inside = [(name, *pair) for name, pair in getattr(formula, "constants", {}).items()]
    return tuple(
        Constant(printable(name), float(value), float(std))
        for name, value, std in [*numbers, *inside]
    )


def conserved_answer(model, top: int | None = None) -> Answer:
    """Return what `ConservedQuantities` found."""
    quantities = model.quantities_[:top]
    where = "runs held out" if model.held_out_.any() else "the same runs"
    equations = tuple(
        Equation(
            str(quantity),
            quantity.to_latex(),
            quantity.to_mathml(),
            _constants(quantity),
            measures={"ratio": quantity.ratio},
            formula=quantity,
            note=f"variance within runs over that of all rows: {quantity.ratio:.2g}, on {where}",
        )
        for quantity in quantities
    )
    verdict = printable(model.verdict_)
    laws = [str(law) for law in model.constraints_]
    tables = ()
    if laws:
        title = "Laws that hold on all rows, and so say nothing about the motion:"
        tables = (AnswerTable(title, ("law",), tuple((law,) for law in laws)),)
    lines = [line for e in equations for line in (e.text, f"  {e.note}")]
    return Answer(
        found=bool(equations),
        verdict=verdict,
        equations=equations,
        tables=tables,
        model=model,
        details=_document_of_quantities(model, top),
        printed=("", *lines, verdict, *tables),
    )


def motion_answer(model, top: int | None = None) -> Answer:
    """Return what `EquationsOfMotion` found."""
    equations = tuple(_equation(equation) for equation in model.equations_)
    verdict = printable(model.verdict_[:1].upper() + model.verdict_[1:])
    verdict = "\n".join([verdict, *_measures(model)])
    tables: tuple[AnswerTable, ...] = ()
    if equations:
        tables = (_columns(model), _numbers(model.equations_))
    elif model.front_:
        title = "Equations that were compared; none of them is claimed:"
        compared = tuple((str(equation),) for equation in model.front_[:top])
        tables = (AnswerTable(title, ("equation",), compared),)
    return Answer(
        found=bool(equations),
        verdict=verdict,
        equations=equations,
        tables=tables,
        model=model,
        details=_document(model, top),
    )


def _equation(equation) -> Equation:
    return Equation(
        str(equation),
        equation.to_latex(),
        equation.to_mathml(),
        _constants(equation),
        measures={"explained": equation.explained, "evidence": equation.evidence},
        formula=equation,
        group="" if equation.batch is None else printable(str(equation.batch)),
    )


def _measures(model):
    """Yield sentences about runs held out, pieces, and what the runs do not determine."""
    if not math.isnan(model.held_out_error_):
        held_out = ", ".join(map(str, model.runs_[model.held_out_].tolist()))
        yield (
            f"Error on runs held out ({printable(held_out)}): {model.held_out_error_:.2f} times "
            "the noise."
        )
    elif model.equations_:
        yield "No run was held out: four are needed for that."
    if model.n_pieces_ > 1:
        yield f"Each run was followed in {model.n_pieces_} pieces."
    if model.ambiguous_:
        yield f"Not determined by the runs: {printable(', '.join(model.ambiguous_))}."


def _columns(model) -> AnswerTable:
    """Return a table of what is known of each column."""
    rows = tuple(
        (
            printable(equation.target),
            f"{noise:.3g}",
            f"{100 * equation.explained:.4g} %",
            f"{equation.evidence:.3g}",
            f"{equation.lack_of_fit:.2g}",
        )
        for equation, noise in zip(model.equations_, model.noise_, strict=False)  # batches have one
    )
    heads = ("column", "noise", "explained", "evidence", "lack of fit")
    return AnswerTable("How well each column is followed:", heads, rows)


def _numbers(equations) -> AnswerTable:
    """Return a table of the coefficients and of the constants inside terms."""
    rows = tuple(
        (printable(equation.heading), constant.name, *rounded(constant.value, constant.std))
        for equation in equations
        for constant in _constants(equation)
    )
    return AnswerTable("Constants:", ("equation", "term", "value", "standard error"), rows)


# -- As JSON has it -------------------------------------------------------------------------------


def _document_of_quantities(model, top) -> dict[str, Any]:
    """Return everything that is known of the quantities, as JSON has it."""
    return {
        "model": type(model).__name__,
        "verdict": model.verdict_,
        "n_independent": int(model.n_independent_),
        "runs": model.runs_.tolist(),
        "quantities": [
            {
                "quantity": str(quantity),
                "latex": quantity.to_latex(),
                "terms": list(quantity.terms),
                "coefficients": quantity.coef.tolist(),
                "standard_errors": [finite(std) for std in quantity.coef_std.tolist()],
                "ratio": quantity.ratio,
                "values": model.values_[:, i].tolist(),
            }
            for i, quantity in enumerate(model.quantities_[:top])
        ],
        "constraints": [str(law) for law in model.constraints_],
    }


def _document(model, top) -> dict[str, Any]:
    """Return everything that is known of the equations, as JSON has it."""
    return {
        "model": type(model).__name__,
        "verdict": model.verdict_,
        "equations": [_document_of(equation) for equation in model.equations_[:top]],
        "front": [str(equation) for equation in model.front_],
        "noise": [finite(value) for value in model.noise_.tolist()],
        "held_out_error": finite(model.held_out_error_),
        "n_pieces": int(model.n_pieces_),
        "ambiguous": list(model.ambiguous_),
        "runs": model.runs_.tolist(),
        "held_out": model.runs_[model.held_out_].tolist(),
        "differing": list(model.differing_),
    }


def _document_of(equation) -> dict:
    measured = ("evidence", "explained", "lack_of_fit")
    return {
        "equation": str(equation),
        "latex": equation.to_latex(),
        "target": equation.target,
        "order": equation.order,
        **({} if equation.batch is None else {"batch": equation.batch}),
        "terms": list(equation.terms),
        "coefficients": equation.coef.tolist(),
        "standard_errors": [finite(value) for value in equation.coef_std.tolist()],
        "constants": {
            name: {"value": finite(value), "standard_error": finite(std)}
            for name, (value, std) in equation.constants.items()
        },
        **{name: finite(getattr(equation, name)) for name in measured},
    }
