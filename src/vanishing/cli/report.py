"""The command ``report``: one HTML file about a model and rows, laws, outliers or motion."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from typer import Option

from vanishing.cli.app import Data, Model, command
from vanishing.cli.console import check_output, console, fail
from vanishing.cli.models import LoadedModel, load_for
from vanishing.cli.outlier_rows import times_from
from vanishing.cli.tables import TableOptions, say, takes_table
from vanishing.tables.cells import is_date
from vanishing.tables.errors import listed
from vanishing.tables.labels import known_classes
from vanishing.tables.recipe import readable_names, row_index


@command("vanishing report m.json bank.csv --out report.html")
@takes_table(fitted=False)
def report(
    model: Model,
    data: Data,
    out: Annotated[Path, Option(help="HTML file to write.", show_default=False)],
    target: Annotated[
        str | None,
        Option(
            help="For classifiers: the column of the labels.",
            show_default="that of the fit, or the only column that the model does not use",
        ),
    ] = None,
    run: Annotated[
        str | None,
        Option(
            help="For motion: the column that says which run a row belongs to.",
            show_default="that of the fit",
        ),
    ] = None,
    time: Annotated[
        str | None,
        Option(
            help="For motion and outliers: the column of times.", show_default="that of the fit"
        ),
    ] = None,
    *,
    options: TableOptions,
):
    """Write one HTML file about a model, and how it does on the rows of a table.

    The model may be a classifier, laws, a detector of outliers, conserved quantities, which need a
    column of runs, or equations of motion, which need one of times. Without labels, a report on a
    classifier says nothing of errors.
    """
    check_output(out, model, data)
    loaded = load_for(model, data, options)
    from vanishing import ConservedQuantities, EquationsOfMotion, VanishingOutlierDetector
    from vanishing.inspection.laws import is_about_laws

    fitted = loaded.model
    if isinstance(fitted, (ConservedQuantities, EquationsOfMotion)):
        _refuse(target=target)
        of_rows = _timed_rows if isinstance(fitted, EquationsOfMotion) else _rows_of_runs
        rows = of_rows(loaded, run, time)
    else:
        _refuse(run=run)
        if isinstance(fitted, VanishingOutlierDetector):
            _refuse(target=target)
            rows = _scored_rows(loaded, options.id, time)
        elif is_about_laws(fitted):
            _refuse(time=time)
            rows = _rows_of_laws(loaded, target)
        elif hasattr(fitted, "classes_"):
            _refuse(time=time)
            rows = _labelled_rows(loaded, target)
        else:
            _refuse(target=target, time=time)
            rows = _named_rows(loaded, options.id)
    for note in rows.notes:
        say(note)
    from vanishing.report import write_report

    with console(error=True).status("Writing the report"):
        write_report(
            fitted, rows.X, path=out, data_name=data.name, notes=rows.notes, **rows.arguments
        )
    unlabelled = hasattr(fitted, "classes_") and "y" not in rows.arguments
    labels = " without labels" if unlabelled else ""
    console().print(f"Report on {len(rows.X)} rows{labels}: {out}")


def _refuse(**options):
    """Exit with a sentence where an option is given that the model has no use for."""
    for name, value in options.items():
        if value is not None:
            fail(f"--{name} must be left out here: the model has no use for it.", 2)


class ReportedRows(NamedTuple):
    """The rows of a table that can be used, as a report takes them."""

    X: Any
    texts: dict[str, np.ndarray]  # columns of text
    places: np.ndarray  # in the table
    notes: list[str]
    arguments: dict[str, Any]  # what else `write_report` needs


def _read(loaded: LoadedModel, columns: list[str], texts: list[str]) -> ReportedRows:
    parts = list(loaded.parts(columns, texts))
    usable = np.concatenate([part.usable for part in parts])
    X = np.concatenate([part.X for part in parts])
    if not len(X):
        fail(f"{loaded.table.path} has no rows that can be used.")
    notes = []
    if len(X) < len(usable):
        n_lost = len(usable) - len(X)
        notes.append(f"{n_lost} of {len(usable)} rows cannot be used, and are left out.")
    filled = sum((Counter(part.filled) for part in parts), Counter[str]())
    if filled:
        notes.append(loaded.note_of_filled(filled))
    named = {
        name: np.concatenate([part.texts[name][part.usable] for part in parts]) for name in texts
    }
    places = loaded.table.original(np.flatnonzero(usable))
    return ReportedRows(loaded.rows(X, columns), named, places, notes, {})


def _named_rows(loaded: LoadedModel, typed: str | None) -> ReportedRows:
    """Return rows, and what they are called in the table."""
    name = loaded.role("id", typed)
    rows = _read(loaded, loaded.columns(), [] if name is None else [name])
    identifiers = None if name is None else rows.texts[name]
    return rows._replace(arguments={"index": row_index(rows.places, identifiers)})


def _scored_rows(loaded: LoadedModel, typed: str | None, time: str | None) -> ReportedRows:
    """Return rows for a detector in the order of time, if times are known, and their names."""
    model, time, name = loaded.model, loaded.role("time", time), loaded.role("id", typed)
    if loaded.recipe.missing == "ignore":
        model.set_params(missing="ignore")
    columns = loaded.columns()
    rows = _read(loaded, columns, [text for text in dict.fromkeys((time, name)) if text])
    identifiers = None if name is None else rows.texts[name]
    index = row_index(rows.places, identifiers)
    if time is None:
        return rows._replace(arguments={"index": index})
    texts = rows.texts[time].tolist()
    times = times_from(texts, time)
    order = np.argsort(times, kind="stable")
    t = times[order].astype("datetime64[s]") if is_date(texts[0]) else times[order]
    X = loaded.rows(np.asarray(rows.X)[order], columns)
    return rows._replace(X=X, arguments={"index": index[order], "t": t})


def _rows_of_runs(loaded: LoadedModel, run, time) -> ReportedRows:
    """Return the columns that quantities are made of, and the runs and times."""
    run, time = loaded.role("run", run), loaded.role("time", time)
    if run is None:
        fail("Name the column that says which run a row belongs to with --run.", 2)
    if hasattr(loaded.model, "feature_names_in_"):
        columns = loaded.columns()
    else:
        columns = [name for name in readable_names(loaded.table.names) if name not in (run, time)]
    rows = _read(loaded, columns if time is None else [*columns, time], [run])
    values = np.asarray(rows.X)
    t = None if time is None else values[:, -1]
    X = loaded.rows(values[:, : len(columns)], columns)
    return rows._replace(X=X, arguments={"groups": rows.texts[run], "t": t})


def _timed_rows(loaded: LoadedModel, run, time) -> ReportedRows:
    """Return the columns that equations of motion are about, times, inputs and runs."""
    model = loaded.model
    run, time = loaded.role("run", run), loaded.role("time", time)
    if time is None:
        fail("Name the column of times with --time.", 2)
    n_columns = model.n_features_in_
    written = next(iter([*model.equations_, *model.front_]), None)
    inputs = [] if written is None else list(written.names[n_columns * written.order :])
    if hasattr(model, "feature_names_in_"):
        columns = loaded.columns()
    else:
        others = (run, time, *inputs)
        columns = [name for name in readable_names(loaded.table.names) if name not in others]
    loaded.check_has([*columns, time, *inputs], "a report of the equations of motion")
    rows = _read(loaded, [*columns, time, *inputs], [] if run is None else [run])
    values = np.asarray(rows.X)
    arguments = {
        "t": values[:, len(columns)],
        "groups": None if run is None else rows.texts[run],
        "inputs": values[:, len(columns) + 1 :] if inputs else None,
    }
    X = loaded.rows(values[:, : len(columns)], columns)
    return rows._replace(X=X, arguments=arguments)


def _labelled_rows(loaded: LoadedModel, target) -> ReportedRows:
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
                f"{table.path} has the columns {listed(others)} besides the model's: name the "
                "labels' column with --target."
            )
        if target is None and loaded.recipe.role("target") is None:
            target = next(iter(others), None)
    elif target is None:
        columns = loaded.columns()
    else:
        columns = [name for name in names if name != target]
    if target is None:
        return _read(loaded, columns, [])
    rows = _read(loaded, columns, [target])
    labels = known_classes(rows.texts[target], fitted.classes_, target)
    return rows._replace(arguments={"y": labels})


def _rows_of_laws(loaded: LoadedModel, target) -> ReportedRows:
    """Return the columns that laws are about, the target among them."""
    from vanishing.inspection import law_anatomy

    answer = law_anatomy(loaded.model)
    if target is not None and target != answer.target:
        fail(f"--target must be left out here: the laws know theirs, {answer.target!r}.", 2)
    names = list(answer.names)
    loaded.check_has(names, "a report of the laws")
    import pandas as pd

    group = loaded.role("group") if answer.by_group is not None else None
    if answer.by_group is not None and group is None:
        fail(f"{loaded.table.path} lacks the column of groups that the laws are about.")
    rows = _read(loaded, names, [] if group is None else [group])
    arguments = {}
    if group is not None:
        arguments["groups"] = pd.Series([t.strip() for t in rows.texts[group]], name=group)
    return rows._replace(X=pd.DataFrame(np.asarray(rows.X), columns=names), arguments=arguments)
