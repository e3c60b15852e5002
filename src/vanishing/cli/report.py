"""The command ``report``: one HTML file about a model and labelled rows, or about laws."""

from pathlib import Path
from typing import Annotated

from typer import Option

from vanishing.cli.app import Data, Model, command
from vanishing.cli.console import (
    check_output,
    columns_of,
    console,
    fail,
    listed,
    load_model,
    rows_of,
)
from vanishing.rows.tables import known_classes, open_table


@command("vanishing report m.json bank.csv --out report.html")
def report(
    model: Model,
    data: Data,
    out: Annotated[Path, Option(help="HTML to write.", show_default=False)],
    target: Annotated[
        str | None,
        Option(
            help="The column of the labels; laws know theirs.",
            show_default="the only one that is no column of the model",
        ),
    ] = None,
):
    """Write one HTML file about a model, and how it does on labelled rows; or about laws."""
    check_output(out, model, data)
    fitted = load_model(model)
    table = open_table(data)
    from vanishing.inspection.laws import is_about_laws

    if is_about_laws(fitted):
        X, y = _rows_of_laws(fitted, table, target)
    else:
        X, y = _labelled_rows(fitted, table, target)
    from vanishing.report import write_report

    with console(error=True).status("Writing the report"):
        write_report(fitted, X, y, out, data_name=data.name)
    console().print(f"Report on {len(X)} rows: {out}")


def _labelled_rows(fitted, table, target):
    """Return the columns that a classifier wants, and the labels."""
    if hasattr(fitted, "feature_names_in_"):
        columns = columns_of(fitted, table)
        others = [name for name in table.names if name not in columns]
        if target is None and len(others) != 1:
            what = "no column" if not others else f"the columns {listed(others)}"
            fail(
                f"{table.path} has {what} beside the model's: name the labels' column with "
                "--target."
            )
        target = others[0] if target is None else target
    else:
        if target is None:
            fail("The model knows no names of columns: name the labels' column with --target.")
        columns = table.others([target])
    X, labels = table.read(columns, target)
    y = known_classes(labels, fitted.classes_, target)
    return rows_of(fitted, X), y


def _rows_of_laws(model, table, target):
    """Return the columns that laws are about, the target among them."""
    from vanishing.inspection import law_anatomy

    found = law_anatomy(model)
    if target is not None and target != found.target:
        fail(f"--target must be left out here: the laws know theirs, {found.target!r}.", 2)
    missing = [name for name in found.names if name not in table.names]
    if missing:
        fail(f"{table.path} lacks {listed(missing)}, which the laws are about.")
    return table.read(found.names)[0], None
