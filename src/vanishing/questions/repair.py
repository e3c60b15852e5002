"""What wrong or missing values of a table should be."""

import math
from dataclasses import replace
from functools import partial

from vanishing.questions.answer import Answer, AnswerTable
from vanishing.questions.files import model_file, report_file, rows_file
from vanishing.questions.pictures import repair_pictures
from vanishing.questions.question import question_of
from vanishing.questions.reading import QuestionTable
from vanishing.questions.values import noise_of
from vanishing.tables.recipe import row_index

_CELLS = ("row", "column", "kind", "was", "now", "std", "probability", "law")


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
    gaps, wrong = (kinds.count(kind) for kind in ("gap", "wrong"))
    changes = (
        f"{gaps} gap{'s' * (gaps != 1)} filled, {wrong} value{'s' * (wrong != 1)} replaced, "
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
    listed = AnswerTable("Cells", _CELLS, tuple(tuple(row.values()) for row in rows), tuple(lines))
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
            report_file(
                model,
                X,
                data_name=table.name,
                index=row_index(prepared.rows, prepared.texts.get("id")),
                notes=tuple(prepared.notes),
            ),
            model_file(model, prepared.recipe, "repair.json"),
            rows_file(
                "repaired.cells.csv",
                "What was changed, cell by cell",
                lambda: [_CELLS, *(tuple(cell.values()) for cell in by_cell)],
            ),
        ),
        pictures=partial(repair_pictures, model.laws_, X, cells, prepared.rows),
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


QUESTION = question_of(
    "repair",
    _answer,
    writes=(
        ((".csv",), "the repaired table"),
        ((".cells.csv",), "one line per cell that was changed"),
        ((".html",), "a report"),
        ((".json",), "the laws and the noise"),
    ),
    missing=(),
)
