"""What a saved model says of the rows of another table: predictions, scores, repaired values."""

import csv
import io
import shlex
import warnings
from collections import Counter
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vanishing.estimators.progress import Progress
from vanishing.questions.answer import Answer, AnswerTable
from vanishing.questions.files import text_file
from vanishing.questions.models import LoadedModel, load_for
from vanishing.questions.outlier_rows import HEADER, scored_cells
from vanishing.questions.reading import QuestionTable, Reading, read
from vanishing.tables.errors import listed

_SHOWN = 10  # rows of an answer


def apply(
    model: str | PathLike[str],
    table: str | PathLike[str] | QuestionTable,
    reading: Reading | None = None,
    *,
    column: str | None = None,
    std: bool = False,
) -> Answer:
    """Return what a saved model says of each row of a table.

    Parameters
    ----------
    model : path-like
    table : path-like or QuestionTable
    reading : Reading, default=None
        How a table is read that is given by its path.
    column : str, default=None
        Of laws: the column to solve for; None for the target.
    std : bool, default=False
        Of laws: also the standard deviation of a new measurement about its prediction.

    Returns
    -------
    answer : Answer
        Its file has all rows, its table the first ones.

    Raises
    ------
    ValueError
        Where the model or the table cannot be used, or do not go together.
    """
    asked = table if isinstance(table, QuestionTable) else read(table, reading)
    loaded = load_for(model, asked)
    method = _method(loaded, column, std)
    identifier = loaded.role("id", asked.reading.id)
    text, first, n_rows, notes = _predictions(loaded, method, identifier)
    heads = tuple([*([identifier] if identifier else []), *method.header])
    heading = f"{n_rows} rows predicted"
    return Answer(
        found=True,
        verdict=f"{heading}.",
        heading=heading,
        tables=(AnswerTable("The first rows:", heads, tuple(map(tuple, first))),),
        notes=tuple(notes),
        model=loaded.model,
        details={"n_rows": n_rows, "columns": list(heads)},
        files=(text_file("predictions.csv", "Predictions of all rows", "text/csv", lambda: text),),
        question="apply",
        command=shlex.join(["vanishing", "predict", Path(model).name, asked.name]),
    )


class _Method(NamedTuple):
    """How rows are answered: from which columns, under which names, and warnings at the end."""

    columns: list[str]
    header: list[str]
    values: Callable[..., list[list]]
    group: str | None = None  # a column of text that ``values`` gets, too
    warn: Callable[[int], None] = lambda n_rows: None


def _predictions(
    loaded: LoadedModel, answer: _Method, id_column: str | None
) -> tuple[str, list[list], int, list[str]]:
    """Return the text of the CSV file, its first rows, the number of rows, and notes."""
    first: list[list] = []
    notes = [*loaded.table.notes]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    id_columns = [] if id_column is None else [id_column]
    writer.writerow([*id_columns, *answer.header])
    n_rows = n_unusable = 0
    filled: Counter[str] = Counter()
    steps = Progress("predict")
    with np.errstate(all="ignore"):
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
            first += rows[: _SHOWN - len(first)]
            n_rows += len(rows)
            n_unusable += len(rows) - len(part.X)
            filled.update(part.filled)
            steps.step(f"{n_rows} rows")
    answer.warn(n_rows)
    if n_unusable:
        notes.append(f"{n_unusable} of {n_rows} rows cannot be used: their predictions are empty.")
    if filled:
        notes.append(loaded.note_of_filled(filled))
    return text.getvalue(), first, n_rows, notes


def _method(loaded: LoadedModel, column: str | None, std: bool) -> _Method:
    """Return how a model answers, by its kind."""
    from vanishing import EquationsOfMotion, Rules, VanishingOutlierDetector
    from vanishing.inspection.laws import is_about_laws

    model = loaded.model
    if isinstance(model, Rules):
        raise ValueError("Rules predict nothing: vanishing check lists the rows that break them.")
    if is_about_laws(model):
        return _of_laws(loaded, column, std)
    for name, typed in (("column", column is not None), ("std", std)):
        if typed:
            raise ValueError(f"--{name} is for laws, and the model has none: leave it out.")
    if not (hasattr(model, "transform") or hasattr(model, "predict")):
        raise ValueError(f"A {type(model).__name__} predicts nothing for rows.")
    if isinstance(model, EquationsOfMotion):
        return _of_motion(loaded)
    columns = loaded.columns()
    if isinstance(model, VanishingOutlierDetector):
        return _of_outliers(loaded, columns)
    if hasattr(model, "decision_function"):
        return _of_classes(loaded, columns)
    header = [str(name) for name in model.get_feature_names_out()]
    if not header:
        raise ValueError(f"The {type(model).__name__} has no equations to evaluate.")
    return _Method(
        columns,
        header,
        lambda X: np.asarray(model.transform(loaded.rows(X, columns))).tolist(),
    )


def _of_outliers(loaded: LoadedModel, columns: list[str]) -> _Method:
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

    return _Method(columns, HEADER, answers)


def _of_classes(loaded: LoadedModel, columns: list[str]) -> _Method:
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
    return _Method(columns, header, answers, warn=warn)


def _of_motion(loaded: LoadedModel) -> _Method:
    """Return how equations of motion answer: by the derivative of each column."""
    import pandas as pd

    model = loaded.model
    if not model.equations_:
        raise ValueError(f"There are no equations of motion to predict with: {model.verdict_}")
    if model.differing_:
        raise ValueError(
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
            raise ValueError(
                "The equations need velocities or inputs, which the model knows by no name."
            )

    def values(X):
        rows = pd.DataFrame(X, columns=names)
        slopes = np.column_stack([equation.predict(rows) for equation in equations])
        return [[value if np.isfinite(value) else "" for value in row] for row in slopes.tolist()]

    return _Method(columns, [equation.left for equation in equations], values)


# -- Laws -----------------------------------------------------------------------------------------


def _of_laws(loaded: LoadedModel, column: str | None, std: bool) -> _Method:
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
            raise ValueError(
                f"{loaded.table.path} lacks the column of groups that the laws are about."
            )
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
    return _Method(columns, header, values, group, warn)


def _solved(model, column):
    """Return the first law that has a column, solved for it, or those of all groups."""
    from vanishing.inspection import law_anatomy

    answer = law_anatomy(model)
    if not answer.laws:
        raise ValueError(f"There is no law to predict with: {answer.verdict}")
    occurring = list(dict.fromkeys(name for law in answer.laws for name in law.columns))
    if column is None:
        column = answer.target
    if column is None:
        raise ValueError(
            f"The law has no target: choose a column with --column, of {listed(occurring, 20)}."
        )
    if column not in occurring:
        raise ValueError(
            f"{column!r} does not occur in the law; these columns do: {listed(occurring, 20)}."
        )
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
