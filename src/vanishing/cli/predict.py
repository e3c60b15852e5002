"""The command ``predict``: labels and decision values, or what laws say, of the rows of a table."""

import csv
import io
import sys
import warnings
from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Option

from vanishing.cli.app import Data, Model, command
from vanishing.cli.console import (
    check_output,
    columns_of,
    console,
    fail,
    listed,
    load_model,
    progress,
    rows_of,
)
from vanishing.rows.tables import open_table


@command("vanishing predict m.json new.csv --out labels.csv")
def predict(
    model: Model,
    data: Data,
    out: Annotated[Path, Option(help="CSV to write; - prints it.", show_default=False)],
    column: Annotated[
        str | None,
        Option(help="Of laws: the column to solve for.", show_default="the target"),
    ] = None,
):
    """Write a CSV file with the label and the decision values of each row; or what a law says.

    Columns that the model does not know are ignored. With two classes there is one decision
    value: positive where the second class, which the column is named after, is predicted. Of
    laws, the first that has the column is solved for it; a cell is empty where there is no
    solution.
    """
    to_stdout = str(out) == "-"
    if not to_stdout:
        check_output(out, model, data)
    fitted, table = load_model(model), open_table(data)
    from vanishing.inspection.laws import is_about_laws

    if is_about_laws(fitted):
        text, n_rows = _law_lines(fitted, table, column)
    else:
        if column is not None:
            fail("--column is for laws, and the model is a classifier: leave it out.", 2)
        text, n_rows = _lines(fitted, table)
    if to_stdout:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        from vanishing.persistence.files import write_atomically

        write_atomically(out, text)
        console().print(f"{n_rows} rows predicted: {out}")


def _lines(model, table) -> tuple[str, int]:
    """Return the lines of the CSV file, and of how many rows they are."""
    from vanishing.learning.labels import labels
    from vanishing.learning.prediction import warn_of, watched
    from vanishing.learning.scaling import FarRows

    columns, far = columns_of(model, table), FarRows()
    counting = watched(model, far)
    # The decision value of two classes is the second one's.
    classes = model.classes_.tolist()
    decided = classes[1:] if len(classes) == 2 else classes
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["label", *(f"decision_{label}" for label in decided)])
    n_rows = n_lost = 0
    with progress("Predicting") as step, np.errstate(all="ignore"):
        for X, _ in table.blocks(columns):
            scores = counting.decision_function(rows_of(model, X))
            values = scores.reshape(len(X), -1)
            predicted = labels(model.classes_, scores).tolist()
            writer.writerows([a, *b] for a, b in zip(predicted, values.tolist(), strict=True))
            n_rows += len(X)
            n_lost += int(np.count_nonzero(~np.isfinite(values).all(axis=1)))
            step(description=f"Predicting: {n_rows} rows")
    if n_lost:
        warnings.warn(
            f"the decision values of {n_lost} of {n_rows} rows are too large to be numbers: these "
            "rows are far outside of those that the model was fitted to.",
            stacklevel=2,
        )
    else:
        warn_of(model, far)
    return text.getvalue(), n_rows


# -- Laws -----------------------------------------------------------------------------------------


def _law_lines(model, table, column) -> tuple[str, int]:
    """Return the lines of the CSV file of a law, and of how many rows they are."""
    law = _solved(model, column)
    columns, names = _columns_of_law(model, law, table)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([law.target])
    n_rows = n_lost = 0
    with progress("Predicting") as step:
        for X, _ in table.blocks(columns):
            predicted = law.predict(X.set_axis(names, axis=1))
            writer.writerows([value if np.isfinite(value) else ""] for value in predicted.tolist())
            n_rows += len(X)
            n_lost += int(np.count_nonzero(~np.isfinite(predicted)))
            step(description=f"Predicting: {n_rows} rows")
    if n_lost:
        warnings.warn(
            f"the law has no solution on {n_lost} of {n_rows} rows, whose cells are empty.",
            stacklevel=2,
        )
    return text.getvalue(), n_rows


def _solved(model, column):
    """Return the first law that has a column, solved for it."""
    from vanishing.inspection import law_anatomy

    found = law_anatomy(model)
    if not found.laws:
        fail(f"No law holds that could predict: {found.verdict}")
    occurring = list(dict.fromkeys(name for law in found.laws for name in law.columns))
    if column is None:
        column = found.target
    if column is None:
        fail(f"The law is solved for no column: say --column, one of {listed(occurring, 20)}.")
    if column not in occurring:
        fail(f"{column!r} does not occur in the law; these columns do: {listed(occurring, 20)}.")
    return next(law for law in found.laws if column in law.columns).solve(column)


def _columns_of_law(model, law, table) -> tuple[list[str], list[str]]:
    """Return the columns of a table that a law needs, and what it calls them."""
    if hasattr(model, "n_features_in_") and not hasattr(model, "feature_names_in_"):
        return columns_of(model, table), list(law.names[: law.n_inputs])
    needed = [name for name in law.columns if name != law.target]
    missing = [name for name in needed if name not in table.names]
    if missing:
        fail(f"{table.path} lacks {listed(missing)}, which the law needs.")
    return needed, needed
