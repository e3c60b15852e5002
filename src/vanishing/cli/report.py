"""The command ``report``: one HTML file about a model and labelled rows."""

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
            help="The column of the labels.",
            show_default="the only one that is no column of the model",
        ),
    ] = None,
):
    """Write one HTML file about a model, and how it does on labelled rows."""
    check_output(out, model, data)
    fitted = load_model(model)
    table = open_table(data)
    if hasattr(fitted, "feature_names_in_"):
        columns = columns_of(fitted, table)
        others = [name for name in table.names if name not in columns]
        if target is None and len(others) != 1:
            what = "no column" if not others else f"the columns {listed(others)}"
            fail(f"{data} has {what} beside the model's: name the labels' column with --target.")
        target = others[0] if target is None else target
    else:
        if target is None:
            fail("The model knows no names of columns: name the labels' column with --target.")
        columns = table.others([target])
    X, labels = table.read(columns, target)
    y = known_classes(labels, fitted.classes_, target)
    from vanishing.report import write_report

    with console(error=True).status("Writing the report"):
        write_report(fitted, rows_of(fitted, X), y, out, data_name=data.name)
    console().print(f"Report on {len(X)} rows: {out}")
