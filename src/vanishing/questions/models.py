"""A saved model and a table for it, whose columns become numbers as they did in the fit."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vanishing.questions.answer import Answer
from vanishing.questions.reading import QuestionTable
from vanishing.tables.columns import CategoryColumn, Column
from vanishing.tables.errors import LISTED, listed
from vanishing.tables.files import FileTable
from vanishing.tables.recipe import Recipe, TablePart, readable_names


class LoadedModel(NamedTuple):
    """A model that was loaded, a table for it, and how its columns become numbers."""

    model: Any
    table: FileTable
    recipe: Recipe

    def columns(self) -> list[str]:
        """Return the columns that the model wants, in its order."""
        model, table = self.model, self.table
        names = getattr(model, "feature_names_in_", None)
        if names is None:  # fitted to an array
            in_table = readable_names(table.names)
            if len(in_table) != model.n_features_in_:
                raise ValueError(
                    f"The model knows its {model.n_features_in_} columns by their order only, and "
                    f"{table.path} has {len(in_table)}: give a table of these columns alone."
                )
            return in_table
        self.check_has([str(name) for name in names], "the model")
        return [str(name) for name in names]

    def check_has(self, outputs: list[str], what: str):
        """Raise ValueError where the table lacks what columns are made of."""
        missing = self.recipe_for(outputs).lacking(readable_names(self.table.names))
        if missing:
            columns = "the column" if len(missing) == 1 else "the columns"
            raise ValueError(
                f"{self.table.path} lacks {columns} {listed(missing)}, which {what} needs."
            )

    def recipe_for(self, outputs: list[str]) -> Recipe:
        """Return how columns become numbers: as in the fit, or as they are."""
        made = {name for column in self.recipe.columns for name in column.outputs}
        plain = tuple(Column(name) for name in outputs if name not in made)
        return replace(self.recipe, columns=(*self.recipe.columns, *plain)).only(outputs)

    def parts(self, outputs: list[str], texts: list[str]) -> Iterator[TablePart]:
        """Read some rows of the table at a time; see `Recipe.parts`."""
        fills = hasattr(self.model, "classes_")
        return self.recipe_for(outputs).parts(self.table, outputs, texts, fills=fills)

    def rows(self, X: np.ndarray, names: list[str]):
        """Return rows with names if the model knows names."""
        if not hasattr(self.model, "feature_names_in_"):
            return X
        import pandas as pd

        return pd.DataFrame(X, columns=names)

    def role(self, name: str, typed: str | None = None) -> str | None:
        """Return the column of a role: as it was typed, or as in the fit if the table has it."""
        in_table = readable_names(self.table.names)
        if typed is not None and typed not in in_table:
            shown = listed(in_table, LISTED)
            raise ValueError(f"{self.table.path} has no column {typed!r}; its columns are {shown}.")
        saved = self.recipe.role(name)
        return typed or (saved if saved in in_table else None)

    def note_of_filled(self, filled: Counter[str]) -> str:
        """Say how many cells of which columns were filled in, and with what."""
        columns = {column.name: column for column in self.recipe.columns}
        counts = [
            f"{name!r} with {_filling(columns.get(name, Column(name)))} ({n} cell{'s' * (n > 1)})"
            for name, n in filled.items()
        ]
        more = ", ..." if len(counts) > LISTED else ""
        return (
            f"cells that cannot be used are filled in as in the fit: {', '.join(counts[:LISTED])}"
            f"{more}. That breaks every balance of columns in these rows; --missing drop leaves "
            "them out."
        )


def _filling(column: Column) -> str:
    """Write what takes the place of missing cells of a column."""
    if isinstance(column, CategoryColumn):
        return f"its most frequent text {column.texts[int(column.fill)]!r}"
    return f"its median {column.fill:.6g}"


def loaded_model(path: PathLike | str):
    """Return a model from a file, and how its table was read."""
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a model.")
    if not path.exists():
        raise ValueError(f"There is no model {path}.")
    from vanishing.persistence import load_with_table

    return load_with_table(path)


def load_for(path: PathLike | str, table: QuestionTable) -> LoadedModel:
    """Load a model and look at the columns of a table for it."""
    fitted, node = loaded_model(path)
    from vanishing import VanishingOutlierDetector
    from vanishing.persistence.values import Refused
    from vanishing.tables.saved import recipe_of

    reading = table.reading
    try:
        recipe = Recipe(()) if node is None else recipe_of(node)
    except Refused as problem:
        raise ValueError(f"{path} is no model that can be loaded: {problem}") from None
    if node is None and reading.missing == "median":
        raise ValueError(f"--missing median needs medians of the fit, and {path} has none.")
    is_detector = isinstance(fitted, VanishingOutlierDetector)
    if reading.missing == "ignore" and not (is_detector or fitted_with_gaps(fitted)):
        raise ValueError(
            "--missing ignore is for detectors of outliers, and for classifiers that were fitted "
            "with it: drop or error."
        )
    chosen = {name: getattr(reading, name) for name in ("missing", "decimal")}
    recipe = recipe.changed(**chosen, **asdict(reading.layout))
    opened = reading.opened(table.path, recipe.decimal, recipe.layout)
    opened.refuse_doubt()
    return LoadedModel(fitted, opened, recipe)


def fitted_with_gaps(model) -> bool:
    """Say whether a classifier takes rows with gaps."""
    return hasattr(model, "classes_") and getattr(model, "missing", None) == "ignore"


def answer_of(
    model, top: int | None = None, *, original: bool | None = None, everything: bool = False
) -> Answer:
    """Return what a fitted model says by itself.

    Parameters
    ----------
    model : estimator, Law or Rules
    top : int, default=None
        How many equations, of each class; None for all.
    original : bool, default=None
        Whether equations of classes are in original units; None: where the scaling allows it.
    everything : bool, default=False
        Also equations of classes that have no weight.
    """
    from vanishing.calibration.ellipsoid import EllipsoidCalibration
    from vanishing.inspection.laws import is_about_laws
    from vanishing.motion.conserved import ConservedQuantities
    from vanishing.motion.equations_of_motion import EquationsOfMotion
    from vanishing.outliers.detector import VanishingOutlierDetector
    from vanishing.questions import class_answers, law_answers, motion_answers, row_answers
    from vanishing.repair.repair import VanishingRepair
    from vanishing.rules.rules import Rules

    if is_about_laws(model):
        return law_answers.law_answer(model, top)
    answers: dict[type, Callable[..., Answer]] = {
        ConservedQuantities: motion_answers.conserved_answer,
        EquationsOfMotion: motion_answers.motion_answer,
        VanishingOutlierDetector: row_answers.detector_answer,
        VanishingRepair: row_answers.repair_answer,
        EllipsoidCalibration: row_answers.calibration_answer,
        Rules: row_answers.rules_answer,
    }
    for kind, answer in answers.items():
        if isinstance(model, kind):
            return answer(model, top)
    return class_answers.class_answer(model, top, original, everything)
