"""One page about a saved model, and how it does on the rows of a table."""

from collections import Counter
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from vanishing.questions.answer import Answer
from vanishing.questions.files import report_file
from vanishing.questions.models import LoadedModel, load_for
from vanishing.questions.outlier_rows import times_from
from vanishing.questions.reading import QuestionTable
from vanishing.tables.cells import is_date
from vanishing.tables.errors import listed
from vanishing.tables.labels import known_classes
from vanishing.tables.recipe import readable_names, row_index


def report_on(
    model: str | PathLike[str],
    table: QuestionTable,
    *,
    target: str | None = None,
    run: str | None = None,
    time: str | None = None,
) -> Answer:
    """Return an answer whose file is a report on a saved model and a table.

    Parameters
    ----------
    model : path-like
    table : QuestionTable
    target : str, default=None
        Of classifiers: the column of the labels; None for that of the fit, or the only column that
        the model does not use.
    run, time : str, default=None
        Of motion: the columns of runs and times; ``time`` of outliers, too. None for those of the
        fit.
    """
    loaded = load_for(model, table)
    fitted, identifier = loaded.model, table.reading.id
    from vanishing import ConservedQuantities, EquationsOfMotion, VanishingOutlierDetector
    from vanishing.inspection.laws import is_about_laws

    _refuse_without_report(fitted)
    if isinstance(fitted, (ConservedQuantities, EquationsOfMotion)):
        _refuse(target=target)
        of_rows = _timed_rows if isinstance(fitted, EquationsOfMotion) else _rows_of_runs
        rows = of_rows(loaded, run, time)
    else:
        _refuse(run=run)
        if isinstance(fitted, VanishingOutlierDetector):
            _refuse(target=target)
            rows = _scored_rows(loaded, identifier, time)
        elif is_about_laws(fitted):
            _refuse(time=time)
            rows = _rows_of_laws(loaded, target)
        elif hasattr(fitted, "classes_"):
            _refuse(time=time)
            rows = _labelled_rows(loaded, target)
        else:
            _refuse(target=target, time=time)
            rows = _named_rows(loaded, identifier)
    unlabelled = hasattr(fitted, "classes_") and "y" not in rows.arguments
    labels = " without labels" if unlabelled else ""
    heading = f"Report on {len(rows.X)} rows{labels}"
    of_report = {"data_name": table.name, "notes": rows.notes, **rows.arguments}
    return Answer(
        found=True,
        verdict=f"{heading}.",
        heading=heading,
        notes=(*loaded.table.notes, *rows.notes),
        model=fitted,
        files=(report_file(fitted, rows.X, **of_report),),
        question="report",
    )


def _refuse_without_report(fitted):
    """Raise ValueError where there is no report on what was saved."""
    from vanishing import EllipsoidCalibration, Rules

    if isinstance(fitted, Rules):
        raise ValueError(
            "There is no report on rules: vanishing check lists the rows that break them."
        )
    if isinstance(fitted, EllipsoidCalibration):
        raise ValueError(
            "There is no report on a calibration: vanishing show prints it, and vanishing predict "
            "applies it."
        )


def _refuse(**options):
    """Raise ValueError where an option is given that the model has no use for."""
    for name, value in options.items():
        if value is not None:
            raise ValueError(f"--{name} must be left out here: the model does not use it.")


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
        raise ValueError(f"{loaded.table.path} has no rows that can be used.")
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
        raise ValueError("Name the column that says which run a row belongs to with --run.")
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
        raise ValueError("Name the column of times with --time.")
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
            raise ValueError(
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
        raise ValueError(
            f"--target must be left out here: the laws have their own, {answer.target!r}."
        )
    names = list(answer.names)
    loaded.check_has(names, "a report of the laws")
    import pandas as pd

    group = loaded.role("group") if answer.by_group is not None else None
    if answer.by_group is not None and group is None:
        raise ValueError(f"{loaded.table.path} lacks the column of groups that the laws are about.")
    rows = _read(loaded, names, [] if group is None else [group])
    arguments = {}
    if group is not None:
        arguments["groups"] = pd.Series([t.strip() for t in rows.texts[group]], name=group)
    return rows._replace(X=pd.DataFrame(np.asarray(rows.X), columns=names), arguments=arguments)
