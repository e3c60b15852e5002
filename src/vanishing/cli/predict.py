"""The command ``predict``: labels and decision values of the rows of a table."""

import csv
import io
import sys

from vanishing.cli.console import check_output, columns_of, console, load_model, progress
from vanishing.persistence.files import write_atomically
from vanishing.rows.tables import open_table


def predict(model, data, out):
    """Write a line a row: label and decision values."""
    to_stdout = str(out) == "-"
    if not to_stdout:
        check_output(out, model, data)
    model = load_model(model)
    table = open_table(data)
    columns = columns_of(model, table)
    # The decision value of two classes is the second one's.
    classes = model.classes_.tolist()
    decided = classes[1:] if len(classes) == 2 else classes
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["label", *(f"decision_{label}" for label in decided)])
    n_rows = 0
    with progress("Predicting") as step:
        for X, _ in table.blocks(columns):
            scores = model.decision_function(X).reshape(len(X), len(decided))
            labels = model.predict(X).tolist()
            writer.writerows(
                [label, *row] for label, row in zip(labels, scores.tolist(), strict=True)
            )
            n_rows += len(X)
            step(f"Predicting: {n_rows} rows")
    if to_stdout:
        sys.stdout.write(text.getvalue())
        sys.stdout.flush()
    else:
        write_atomically(out, text.getvalue())
        console().print(f"{n_rows} rows predicted: {out}")
