"""A saved model and a table for it, whose columns become numbers as they did in the fit."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vanishing.cli.console import check_model, fail
from vanishing.cli.tables import TableOptions, say
from vanishing.tables.columns import Column
from vanishing.tables.errors import LISTED, listed
from vanishing.tables.files import FileTable
from vanishing.tables.formats import open_table
from vanishing.tables.recipe import Recipe, TablePart, readable_names


class Given(NamedTuple):
    """A model that was loaded, a table for it, and how its columns become numbers."""

    model: Any
    table: FileTable
    recipe: Recipe

    def columns(self) -> list[str]:
        """Return the columns that the model wants, in its order, or leave with a sentence."""
        model, table = self.model, self.table
        names = getattr(model, "feature_names_in_", None)
        if names is None:  # fitted to an array
            known = readable_names(table.names)
            if len(known) != model.n_features_in_:
                fail(
                    f"The model knows its {model.n_features_in_} columns by their order only, and "
                    f"{table.path} has {len(known)}: give a table of these columns alone."
                )
            return known
        self.check_has([str(name) for name in names], "the model")
        return [str(name) for name in names]

    def check_has(self, outputs: list[str], what: str):
        """Leave with a sentence where the table lacks what columns are made of."""
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
        known = readable_names(self.table.names)
        if typed is not None and typed not in known:
            shown = listed(known, LISTED)
            fail(f"{self.table.path} has no column {typed!r}; its columns are {shown}.")
        saved = self.recipe.role(name)
        return typed or (saved if saved in known else None)


def given(model: Path, data: Path, options: TableOptions) -> Given:
    """Load a model and look at the columns of a table for it."""
    check_model(model)
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
    typed = {name: getattr(options, name) for name in ("missing", "decimal")}
    recipe = recipe.changed(**typed, **asdict(options.layout))
    table = open_table(data, layout=recipe.layout)
    table.refuse_doubt()
    for note in table.notes:
        say(note)
    return Given(fitted, table, recipe)
