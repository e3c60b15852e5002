"""A saved model and a table for it, whose columns become numbers as they did in the fit."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vanishing.cli.console import check_model, fail
from vanishing.cli.tables import TableOptions, say
from vanishing.tables.columns import CategoryColumn, Column
from vanishing.tables.errors import LISTED, listed
from vanishing.tables.files import FileTable
from vanishing.tables.formats import open_table
from vanishing.tables.recipe import Recipe, TablePart, readable_names


class LoadedModel(NamedTuple):
    """A model that was loaded, a table for it, and how its columns become numbers."""

    model: Any
    table: FileTable
    recipe: Recipe

    def columns(self) -> list[str]:
        """Return the columns that the model wants, in its order, or exit with a sentence."""
        model, table = self.model, self.table
        names = getattr(model, "feature_names_in_", None)
        if names is None:  # fitted to an array
            in_table = readable_names(table.names)
            if len(in_table) != model.n_features_in_:
                fail(
                    f"The model knows its {model.n_features_in_} columns by their order only, and "
                    f"{table.path} has {len(in_table)}: give a table of these columns alone."
                )
            return in_table
        self.check_has([str(name) for name in names], "the model")
        return [str(name) for name in names]

    def check_has(self, outputs: list[str], what: str):
        """Exit with a sentence where the table lacks what columns are made of."""
        missing = self.recipe_for(outputs).lacking(readable_names(self.table.names))
        if missing:
            columns = "the column" if len(missing) == 1 else "the columns"
            fail(f"{self.table.path} lacks {columns} {listed(missing)}, which {what} needs.")

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
            fail(f"{self.table.path} has no column {typed!r}; its columns are {shown}.")
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


def load_for(model: Path, data: Path, options: TableOptions) -> LoadedModel:
    """Load a model and look at the columns of a table for it."""
    check_model(model)
    from vanishing import VanishingOutlierDetector
    from vanishing.persistence import load_with_table
    from vanishing.persistence.values import Refused
    from vanishing.tables.saved import recipe_of

    fitted, node = load_with_table(model)
    try:
        recipe = Recipe(()) if node is None else recipe_of(node)
    except Refused as problem:
        fail(f"{model} is no model that can be loaded: {problem}")
    if node is None and options.missing == "median":
        fail(f"--missing median needs medians of the fit, and {model} has none.", 2)
    if options.missing == "ignore" and not isinstance(fitted, VanishingOutlierDetector):
        fail("--missing ignore is for detectors of outliers: drop or error.", 2)
    typed = {name: getattr(options, name) for name in ("missing", "decimal")}
    recipe = recipe.changed(**typed, **asdict(options.layout))
    table = options.chosen(open_table(data, layout=recipe.layout), recipe.decimal)
    table.refuse_doubt()
    for note in table.notes:
        say(note)
    return LoadedModel(fitted, table, recipe)
