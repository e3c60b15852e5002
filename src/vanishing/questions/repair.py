"""What wrong or missing values of a table should be."""

import math
from dataclasses import replace

from vanishing.questions.answer import Answer, AnswerTable
from vanishing.questions.files import model_file, rows_file
from vanishing.questions.options import Option
from vanishing.questions.question import NOISE, SEED, Question
from vanishing.questions.reading import QuestionTable
from vanishing.questions.values import noise_of

_CELLS = ("row", "column", "kind", "was", "now", "std", "probability", "law")

OPTIONS = (
    Option(
        "law",
        "texts",
        "Laws that hold",
        "A law that holds, such as 'net = quantity*price'; may be repeated.",
        basic=True,
        absent="laws that are found",
    ),
    Option(
        "degree",
        "integer",
        "Largest degree",
        "Largest degree of laws to find.",
        default=2,
        low=1,
        high=6,
    ),
    NOISE,
    Option(
        "reconcile",
        "flag",
        "Move all values",
        "Move all values within their noise onto the laws.",
        default=False,
        basic=True,
    ),
    Option("top", "integer", "How many to list", "How many cells to list.", default=20, low=0),
    replace(SEED, help="Decides which rows are sampled."),
)


def _answer(table: QuestionTable, **given) -> Answer:
    prepared = table.prepared({}, gaps=True)
    if not prepared.names:
        raise ValueError(f"{table.path} has no column left to look at.")
    X = prepared.frame()
    noise = noise_of(given["noise"], prepared.names)
    from vanishing import VanishingRepair
    from vanishing.questions.row_answers import repair_answer

    model = VanishingRepair(
        given["degree"],
        laws=list(given["law"]) or None,
        noise=noise,
        reconcile=given["reconcile"],
        random_state=given["seed"],
    )
    cells = model.fit(X).report(X)
    kinds = [cell.kind for cell in cells]
    changes = (
        f"{kinds.count('gap')} gaps filled, {kinds.count('wrong')} values replaced, "
        f"{kinds.count('ambiguous')} in doubt"
    )
    heading = f"{table.name}: {len(X)} rows, {len(prepared.names)} columns; {changes}"
    by_cell = [_cell(prepared, cell) for cell in cells]
    shown = [cell for cell in cells if cell.kind != "reconciled"]
    lines = [
        f"  {cell._replace(row=int(prepared.rows[cell.row]) + 1)}" for cell in shown[: given["top"]]
    ]
    if len(shown) > given["top"]:
        lines.append(f"  and {len(shown) - given['top']} more")
    rows = [cell for cell in by_cell if cell["kind"] != "reconciled"][: given["top"]]
    listed = AnswerTable("", _CELLS, tuple(tuple(row.values()) for row in rows), tuple(lines))
    laws = [f"  {law}" for law in model.laws_]
    answer = repair_answer(model)
    details = {"n_rows": len(X), "columns": list(prepared.names), **answer.details}
    return replace(
        answer,
        found=bool(model.laws_ or shown),
        verdict=f"{changes}.",
        heading=heading,
        tables=(listed,) if rows else (),
        notes=tuple(prepared.notes),
        next_steps=("Look at values in doubt.", "Repair another table with the saved model."),
        details={**details, "cells": by_cell},
        files=(
            rows_file("repaired.csv", "The repaired table", lambda: _table(prepared, model, X)),
            model_file(model, prepared.recipe, "repair.json"),
            rows_file(
                "repaired.cells.csv",
                "What was changed, cell by cell",
                lambda: [_CELLS, *(tuple(cell.values()) for cell in by_cell)],
            ),
        ),
        printed=(heading, "Laws:" if laws else "Laws: none", *laws, *lines),
    )


def _cell(prepared, cell) -> dict:
    """Return a cell with the number that its row has in the file."""
    return {
        "row": int(prepared.rows[cell.row]) + 1,
        "column": cell.column,
        "kind": cell.kind,
        "was": None if math.isnan(cell.was) else cell.was,
        "now": cell.now,
        "std": cell.std,
        "probability": cell.probability,
        "law": None if cell.law is None else str(cell.law),
    }


def _table(prepared, model, X):
    """Yield the lines of the repaired table: the name of each row, if it has one, and values."""
    named = "id" in prepared.texts
    names = prepared.texts["id"].tolist() if named else []
    yield [*([prepared.recipe.role("id")] if named else []), *prepared.names]
    for i, row in enumerate(model.transform(X).tolist()):
        yield [*names[i : i + 1], *("" if math.isnan(v) else f"{v:.15g}" for v in row)]


QUESTION = Question(
    "repair",
    "What should the values be?",
    "Fill the gaps of a table, and replace values that break its laws.",
    OPTIONS,
    _answer,
    details="Cells that are empty or no numbers are gaps. Rows are counted from 1, without the "
    "line of the names. Cells that may be wrong, as others in their row may, are left and named.",
    example='vanishing repair table.csv --law "net = quantity*price" --out repaired.csv',
    writes=(
        ((".csv",), "the repaired table"),
        ((".cells.csv",), "one line per cell that was changed"),
        ((".json",), "the laws and the noise"),
    ),
    missing=(),
)
