"""The command ``predict``: what a saved model says of the rows of a table."""

import csv
import io
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from typer import Option

from vanishing.cli.app import Data, Model, command
from vanishing.cli.console import (
    check_output,
    console,
    fail,
    is_stdout,
    progress,
    write_or_print,
)
from vanishing.cli.models import LoadedModel, load_for
from vanishing.cli.outlier_rows import HEADER, scored_cells
from vanishing.cli.tables import TableOptions, say, takes_table
from vanishing.estimators.progress import Progress
from vanishing.tables.errors import listed


@command("vanishing predict m.json new.csv --out labels.csv")
@takes_table(fitted=False)
def predict(
    model: Model,
    data: Data,
    out: Annotated[Path, Option(help="CSV file to write; - prints it.", show_default=False)],
    column: Annotated[
        str | None,
        Option(help="For laws: the column to solve for.", show_default="the target"),
    ] = None,
    std: Annotated[
        bool,
        Option(
            "--std",
            help="For laws: also the standard deviation of a new measurement about its prediction.",
        ),
    ] = False,
    *,
    options: TableOptions,
):
    """Write a CSV file with what a model predicts for each row.

    A classifier gives the label and the decision values; with two classes there is one decision
    value, named after the second class and positive where that is predicted. A detector of outliers
    gives the score, 1 for outliers and 0 for others, and of outliers the reason, the columns to
    blame and what was expected of them. Of laws, the first that has the column is
    solved for it; where there is no solution the cell is empty. Laws by group are chosen by the
    column of groups of the fit. Equations of motion give the derivatives of their columns. Other
    models give the values of their equations or quantities.

    Columns that the model does not know are ignored; the others are treated as in the fit. A row
    that cannot be used gets empty cells.
    """
    if not is_stdout(out):
        check_output(out, model, data)
    loaded = load_for(model, data, options)
    answer = _answer(loaded, column, std)
    text, n_rows = _csv(loaded, answer, loaded.role("id", options.id))
    write_or_print(out, text)
    if not is_stdout(out):
        console().print(f"{n_rows} rows predicted: {out}")


class _Answer(NamedTuple):
    """How rows are answered: from which columns, under which names, and warnings at the end."""

    columns: list[str]
    header: list[str]
    values: Callable[..., list[list]]
    group: str | None = None  # a column of text that ``values`` gets, too
    warn: Callable[[int], None] = lambda n_rows: None


def _csv(loaded: LoadedModel, answer: _Answer, id_column: str | None) -> tuple[str, int]:
    """Return the text of the CSV file, and its number of rows."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    id_columns = [] if id_column is None else [id_column]
    writer.writerow([*id_columns, *answer.header])
    n_rows = n_unusable = 0
    filled: Counter[str] = Counter()
    steps = Progress("predict")
    with progress("Predicting"), np.errstate(all="ignore"):
        groups = [] if answer.group is None else [answer.group]
        for part in loaded.parts(answer.columns, list(dict.fromkeys([*id_columns, *groups]))):
            rows: list[list] = [[""] * len(answer.header) for _ in part.usable]
            if len(part.X):
                predicted = answer.values(part.X, *(part.texts[g][part.usable] for g in groups))
                for place, values in zip(np.flatnonzero(part.usable), predicted, strict=True):
                    rows[place] = values
            if id_column is not None:
                names = part.texts[id_column].tolist()
                rows = [[name, *row] for name, row in zip(names, rows, strict=True)]
            writer.writerows(rows)
            n_rows += len(rows)
            n_unusable += len(rows) - len(part.X)
            filled.update(part.filled)
            steps.step(f"{n_rows} rows")
    answer.warn(n_rows)
    if n_unusable:
        say(f"{n_unusable} of {n_rows} rows cannot be used: their predictions are empty.")
    if filled:
        say(loaded.note_of_filled(filled))
    return text.getvalue(), n_rows


def _answer(loaded: LoadedModel, column: str | None, std: bool) -> _Answer:
    """Return how a model answers, by its kind."""
    from vanishing import EquationsOfMotion, VanishingOutlierDetector
    from vanishing.inspection.laws import is_about_laws

    model = loaded.model
    if is_about_laws(model):
        return _of_laws(loaded, column, std)
    for name, typed in (("column", column is not None), ("std", std)):
        if typed:
            fail(f"--{name} is for laws, and the model has none: leave it out.", 2)
    if not (hasattr(model, "transform") or hasattr(model, "predict")):
        fail(f"A {type(model).__name__} predicts nothing for rows.")
    if isinstance(model, EquationsOfMotion):
        return _of_motion(loaded)
    columns = loaded.columns()
    if isinstance(model, VanishingOutlierDetector):
        return _of_outliers(loaded, columns)
    if hasattr(model, "decision_function"):
        return _of_classes(loaded, columns)
    header = [str(name) for name in model.get_feature_names_out()]
    if not header:
        fail(f"The {type(model).__name__} has no equations to evaluate.")
    return _Answer(
        columns,
        header,
        lambda X: np.asarray(model.transform(loaded.rows(X, columns))).tolist(),
    )


def _of_outliers(loaded: LoadedModel, columns: list[str]) -> _Answer:
    """Return how a detector answers; rows before a part are those of the part before."""
    model = loaded.model
    if loaded.recipe.missing == "ignore":
        model.set_params(missing="ignore")
    before = np.empty((0, len(columns)))

    def answers(X):
        nonlocal before
        rows, first = np.vstack([before, X]), len(before)
        before = rows[len(rows) - min(model.lags, len(rows)) :]
        named = loaded.rows(rows, columns)
        return scored_cells(model, named, model.score_samples(named), first)

    return _Answer(columns, HEADER, answers)


def _of_classes(loaded: LoadedModel, columns: list[str]) -> _Answer:
    from vanishing.learning.labels import labels
    from vanishing.learning.prediction import PipelineClassifier, warn_of, watched
    from vanishing.learning.scaling import FarRows

    model, far, n_lost = loaded.model, FarRows(), []
    counting = watched(model, far) if isinstance(model, PipelineClassifier) else model
    # The decision value of two classes is the second one's.
    classes = model.classes_.tolist()
    decided = classes[1:] if len(classes) == 2 else classes

    def answers(X):
        scores = counting.decision_function(loaded.rows(X, columns))
        values = scores.reshape(len(X), -1)
        n_lost.append(int(np.count_nonzero(~np.isfinite(values).all(axis=1))))
        predicted = labels(model.classes_, scores).tolist()
        return [[a, *b] for a, b in zip(predicted, values.tolist(), strict=True)]

    def warn(n_rows):
        if sum(n_lost):
            warnings.warn(
                f"the decision values of {sum(n_lost)} of {n_rows} rows are too large to be "
                "numbers: these rows are far outside of those that the model was fitted to.",
                stacklevel=2,
            )
        elif counting is not model:
            warn_of(model, far)

    header = ["label", *(f"decision_{label}" for label in decided)]
    return _Answer(columns, header, answers, warn=warn)


def _of_motion(loaded: LoadedModel) -> _Answer:
    """Return how equations of motion answer: by the derivative of each column."""
    import pandas as pd

    model = loaded.model
    if not model.equations_:
        fail(f"There are no equations of motion to predict with: {model.verdict_}")
    if model.differing_:
        fail(
            "The equations differ between batches: model.of_batch(...).save(...) has those of one."
        )
    equations = model.equations_[: model.n_features_in_]
    names = list(dict.fromkeys(name for e in equations for name in e.columns))
    if hasattr(model, "feature_names_in_"):
        columns = names = names or [model.equations_[0].target]  # all may be constants
        loaded.check_has(columns, "the model")
    else:
        columns, names = loaded.columns(), list(model.equations_[0].names)
        if len(columns) < len(names):
            fail("The equations need velocities or inputs, which the model knows by no name.")

    def values(X):
        rows = pd.DataFrame(X, columns=names)
        slopes = np.column_stack([equation.predict(rows) for equation in equations])
        return [[value if np.isfinite(value) else "" for value in row] for row in slopes.tolist()]

    return _Answer(columns, [equation.left for equation in equations], values)


# -- Laws -----------------------------------------------------------------------------------------


def _of_laws(loaded: LoadedModel, column: str | None, std: bool) -> _Answer:
    """Return how the first law that has a column answers, solved for it; or those of groups."""
    import pandas as pd

    from vanishing.equations.by_group import LawsByGroup

    laws = _solved(loaded.model, column)
    law = laws[0]
    columns, names = _columns_of_law(loaded, law)
    group = None
    if law.group is not None:
        group = loaded.role("group")
        if group is None:
            fail(f"{loaded.table.path} lacks the column of groups that the laws are about.")
    n_lost = []

    def values(X, groups=None):
        rows = pd.DataFrame(X, columns=names)
        if groups is None:
            predicted, errors = law.predict(rows, return_std=True)
        else:
            labels = np.array([text.strip() for text in groups])
            predicted, errors = LawsByGroup(laws).predict(rows, labels, return_std=True)
        n_lost.append(int(np.count_nonzero(~np.isfinite(predicted))))
        both = np.column_stack([predicted, errors] if std else [predicted]).tolist()
        return [[value if np.isfinite(value) else "" for value in row] for row in both]

    def warn(n_rows):
        if sum(n_lost):
            warnings.warn(
                f"the law has no solution on {sum(n_lost)} of {n_rows} rows: their cells are "
                "empty.",
                stacklevel=2,
            )

    header = [law.target, f"{law.target}_std"] if std else [law.target]
    return _Answer(columns, header, values, group, warn)


def _solved(model, column):
    """Return the first law that has a column, solved for it, or those of all groups."""
    from vanishing.inspection import law_anatomy

    answer = law_anatomy(model)
    if not answer.laws:
        fail(f"There is no law to predict with: {answer.verdict}")
    occurring = list(dict.fromkeys(name for law in answer.laws for name in law.columns))
    if column is None:
        column = answer.target
    if column is None:
        fail(f"The law has no target: choose a column with --column, of {listed(occurring, 20)}.")
    if column not in occurring:
        fail(f"{column!r} does not occur in the law; these columns do: {listed(occurring, 20)}.")
    having = [law for law in answer.laws if column in law.columns]
    return [law.solve(column) for law in (having if answer.by_group is not None else having[:1])]


def _columns_of_law(loaded: LoadedModel, law) -> tuple[list[str], list[str]]:
    """Return the columns of a table that a law needs, and what it calls them."""
    model = loaded.model
    if hasattr(model, "n_features_in_") and not hasattr(model, "feature_names_in_"):
        return loaded.columns(), list(law.names[: law.n_inputs])
    needed = [name for name in law.columns if name != law.target]
    loaded.check_has(needed, "the law")
    return needed, needed
