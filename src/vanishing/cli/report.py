"""The command ``report``: one HTML file about a model and rows, laws, outliers or motion."""

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
    run: Annotated[
        str | None,
        Option(help="Of motion: the column that says which run a row is of.", show_default=False),
    ] = None,
    time: Annotated[
        str | None, Option(help="Of motion: the column of times.", show_default=False)
    ] = None,
):
    """Write one HTML file about a model, and how it does on rows; or about laws.

    Rows need labels for a classifier, a column of runs for what is conserved (--run), and nothing
    for laws and outliers.
    """
    check_output(out, model, data)
    fitted = load_model(model, also=("VanishingOutlierDetector", "ConservedQuantities"))
    table = open_table(data)
    from vanishing import ConservedQuantities, VanishingOutlierDetector
    from vanishing.inspection.laws import is_about_laws

    y, motion = None, {}
    if isinstance(fitted, ConservedQuantities):
        _refuse(target=target)
        X, motion = _rows_of_runs(fitted, table, run, time)
    else:
        _refuse(run=run, time=time)
        if is_about_laws(fitted):
            X = _rows_of_laws(fitted, table, target)
        elif isinstance(fitted, VanishingOutlierDetector):
            _refuse(target=target)
            X = rows_of(fitted, table.read(columns_of(fitted, table))[0])
        else:
            X, y = _labelled_rows(fitted, table, target)
    from vanishing.report import write_report

    with console(error=True).status("Writing the report"):
        write_report(fitted, X, y, out, data_name=data.name, **motion)
    console().print(f"Report on {len(X)} rows: {out}")


def _refuse(**options):
    """Leave with a sentence where an option is given that the model has no use for."""
    for name, value in options.items():
        if value is not None:
            fail(f"--{name} must be left out here: the model has no use for it.", 2)


def _rows_of_runs(fitted, table, run, time):
    """Return the columns that quantities are made of, and the runs and times."""
    if run is None:
        fail("Name the column that says which run a row is of: --run.", 2)
    aside = [run] if time is None else [run, time]
    table.others(aside)  # which exist
    if hasattr(fitted, "feature_names_in_"):
        columns = columns_of(fitted, table)
    else:
        columns = table.others(aside)
    X, groups = table.read(columns, run)
    t = None if time is None else table.read([time])[0][time].to_numpy()
    return rows_of(fitted, X), {"groups": groups, "t": t}


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
    return table.read(found.names)[0]
