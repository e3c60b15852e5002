"""The command ``report``: one HTML file about a model and rows, laws, outliers or motion."""

from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Option

from vanishing.cli.app import Data, Model, command
from vanishing.cli.console import check_output, console, fail
from vanishing.cli.models import Given, given
from vanishing.cli.tables import TableOptions, say, takes_table
from vanishing.tables.errors import listed
from vanishing.tables.labels import known_classes
from vanishing.tables.recipe import readable_names, row_index


@command("vanishing report m.json bank.csv --out report.html")
@takes_table(fitted=False)
def report(
    model: Model,
    data: Data,
    out: Annotated[Path, Option(help="HTML to write.", show_default=False)],
    target: Annotated[
        str | None,
        Option(
            help="The column of the labels; laws know theirs.",
            show_default="that of the fit, or the only one that is no column of the model",
        ),
    ] = None,
    run: Annotated[
        str | None,
        Option(
            help="Of motion: the column that says which run a row is of.",
            show_default="that of the fit",
        ),
    ] = None,
    time: Annotated[
        str | None, Option(help="Of motion: the column of times.", show_default="that of the fit")
    ] = None,
    *,
    options: TableOptions,
):
    """Write one HTML file about a model, and how it does on rows; or about laws.

    Rows of a classifier may have labels, without which nothing is said of errors. What is conserved
    needs a column of runs.
    """
    check_output(out, model, data)
    loaded = given(model, data, options)
    from vanishing import ConservedQuantities
    from vanishing.inspection.laws import is_about_laws

    fitted = loaded.model
    y, beside = None, {}
    if isinstance(fitted, ConservedQuantities):
        _refuse(target=target)
        X, beside = _rows_of_runs(loaded, run, time)
    else:
        _refuse(run=run, time=time)
        if is_about_laws(fitted):
            X = _rows_of_laws(loaded, target)
        elif hasattr(fitted, "classes_"):
            X, y = _labelled_rows(loaded, target)
        else:
            _refuse(target=target)
            X, beside = _named_rows(loaded, options.id)
    from vanishing.report import write_report

    with console(error=True).status("Writing the report"):
        write_report(fitted, X, y, out, data_name=data.name, **beside)
    labels = " without labels" if y is None and hasattr(fitted, "classes_") else ""
    console().print(f"Report on {len(X)} rows{labels}: {out}")


def _refuse(**options):
    """Leave with a sentence where an option is given that the model has no use for."""
    for name, value in options.items():
        if value is not None:
            fail(f"--{name} must be left out here: the model has no use for it.", 2)


def _rows(loaded: Given, columns: list[str], texts: list[str]) -> tuple:
    """Return the rows that can be used, text beside them, and their places in the table."""
    parts = list(loaded.parts(columns, texts))
    n_rows = sum(len(part.usable) for part in parts)
    X = np.concatenate([part.X for part in parts])
    if len(X) < n_rows:
        say(f"{n_rows - len(X)} of {n_rows} rows cannot be used, and are left out.")
    if not len(X):
        fail(f"{loaded.table.path} has no rows that can be used.")
    found = {
        name: np.concatenate([part.texts[name][part.usable] for part in parts]) for name in texts
    }
    places = np.flatnonzero(np.concatenate([part.usable for part in parts]))
    return loaded.rows(X, columns), found, places


def _named_rows(loaded: Given, typed: str | None) -> tuple:
    """Return the rows that can be used, and what they are called in the table."""
    name = loaded.role("id", typed)
    X, texts, places = _rows(loaded, loaded.columns(), [] if name is None else [name])
    return X, {"index": row_index(places, texts.get(name))}


def _rows_of_runs(loaded: Given, run, time):
    """Return the columns that quantities are made of, and the runs and times."""
    run, time = loaded.role("run", run), loaded.role("time", time)
    if run is None:
        fail("Name the column that says which run a row is of: --run.", 2)
    aside = [run] if time is None else [run, time]
    if hasattr(loaded.model, "feature_names_in_"):
        columns = loaded.columns()
    else:
        columns = [name for name in readable_names(loaded.table.names) if name not in aside]
    n_columns = len(columns)
    wanted = columns if time is None else [*columns, time]
    parts = list(loaded.parts(wanted, [run]))
    values = np.concatenate([part.X for part in parts])
    groups = np.concatenate([part.texts[run][part.usable] for part in parts])
    t = None if time is None else values[:, -1]
    return loaded.rows(values[:, :n_columns], columns), {"groups": groups, "t": t}


def _labelled_rows(loaded: Given, target):
    """Return the columns that a classifier wants, and the labels if there are any."""
    fitted, table = loaded.model, loaded.table
    target = loaded.role("target", target)
    names = readable_names(table.names)
    if hasattr(fitted, "feature_names_in_"):
        columns = loaded.columns()
        used = {column.name for column in loaded.recipe_for(columns).columns}
        others = [name for name in names if name not in used]
        if target is None and len(others) > 1 and loaded.recipe.role("target") is None:
            fail(
                f"{table.path} has the columns {listed(others)} beside the model's: name the "
                "labels' column with --target."
            )
        if target is None and loaded.recipe.role("target") is None:
            target = next(iter(others), None)
    elif target is None:
        columns = loaded.columns()
    else:
        columns = [name for name in names if name != target]
    if target is None:
        return _rows(loaded, columns, [])[0], None
    X, texts, _ = _rows(loaded, columns, [target])
    return X, known_classes(texts[target], fitted.classes_, target)


def _rows_of_laws(loaded: Given, target):
    """Return the columns that laws are about, the target among them."""
    from vanishing.inspection import law_anatomy

    found = law_anatomy(loaded.model)
    if target is not None and target != found.target:
        fail(f"--target must be left out here: the laws know theirs, {found.target!r}.", 2)
    names = list(found.names)
    loaded.check_has(names, "a report of the laws")
    import pandas as pd

    parts = list(loaded.parts(names, []))
    return pd.DataFrame(np.concatenate([part.X for part in parts]), columns=names)
