"""The command ``predict``: labels and decision values of the rows of a table."""

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
):
    """Write a CSV file with the label and the decision values of each row.

    Columns that the model does not know are ignored. With two classes there is one decision
    value: positive where the second class, which the column is named after, is predicted.
    """
    to_stdout = str(out) == "-"
    if not to_stdout:
        check_output(out, model, data)
    text, n_rows = _lines(load_model(model), open_table(data))
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

    columns = columns_of(model, table)
    # The decision value of two classes is the second one's.
    classes = model.classes_.tolist()
    decided = classes[1:] if len(classes) == 2 else classes
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["label", *(f"decision_{label}" for label in decided)])
    n_rows = n_lost = 0
    with progress("Predicting") as step, np.errstate(all="ignore"):
        for X, _ in table.blocks(columns):
            scores = model.decision_function(rows_of(model, X))
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
    return text.getvalue(), n_rows
