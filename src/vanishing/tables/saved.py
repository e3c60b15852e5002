"""The recipe of a table as it is saved with a model: see docs/model_format.md."""

from dataclasses import asdict
from dataclasses import fields as fields_of

import numpy as np

from vanishing.persistence.values import Refused, fields, listed, require, string
from vanishing.tables.cells import SECONDS
from vanishing.tables.columns import CategoryColumn, Column, DateColumn, FlagColumn
from vanishing.tables.files import FileLayout
from vanishing.tables.recipe import MISSING, Recipe

_LAYOUT = {"separator": str, "encoding": str, "header": bool, "sheet": str}


def node_of(recipe: Recipe) -> dict:
    """Return a recipe as JSON values."""
    layout = asdict(recipe.layout)
    if layout["header_row"] is None:  # files of earlier versions do not have it
        del layout["header_row"]
    return {
        "columns": [{"kind": column.kind, **_plain(asdict(column))} for column in recipe.columns],
        "layout": layout,
        "decimal": recipe.decimal,
        "missing": recipe.missing,
        "roles": dict(recipe.roles),
    }


def _plain(values: dict) -> dict:
    return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


def recipe_of(node) -> Recipe:
    """Return the recipe that `node_of` wrote; raise `Refused` if the node is no recipe."""
    columns, layout, decimal, missing, roles = fields(
        node, "the table", ("columns", "layout", "decimal", "missing", "roles")
    )
    *values, row = fields(layout, "the layout of the table", tuple(_LAYOUT), ("header_row",))
    options = dict(zip(_LAYOUT, values, strict=True))
    for name, value in options.items():
        is_valid = value is None or type(value) is _LAYOUT[name]
        require(is_valid, f"{name} of the table is unknown.")
    is_valid = row is None or (type(row) is int and row > 0)
    require(is_valid, "the line of the names of the table is unknown.")
    require(decimal in (None, ".", ","), "the decimal sign of the table is unknown.")
    require(missing in MISSING, "the treatment of missing values is unknown.")
    if not isinstance(roles, dict):
        raise Refused("the roles of columns are not an object.")
    return Recipe(
        columns=tuple(map(_column_of, listed(columns, "the columns of the table"))),
        layout=FileLayout(**options, header_row=row),
        decimal=decimal,
        missing=missing,
        roles=tuple((role, string(name, "a column")) for role, name in roles.items()),
    )


_KINDS = {cls.kind: cls for cls in (Column, FlagColumn, DateColumn, CategoryColumn)}


def _column_of(node) -> Column:
    """Return a column that `node_of` wrote; raise `Refused` if the node is no column."""
    require(isinstance(node, dict), "a column of the table is not an object.")
    cls = _KINDS.get(str(node.get("kind")))
    if cls is None:
        raise Refused(f"a column of the table has the kind {node.get('kind')!r}.")
    names = [field.name for field in fields_of(cls)]
    _, *values = fields(node, "a column of the table", ("kind", *names))
    parts = dict(zip(names, values, strict=True))
    string(parts["name"], "the name of a column")
    string(parts["unit"], "the unit of a column")
    for key in {"fill", "origin"} & set(parts):
        parts[key] = _finite(parts[key], f"{key} of a column")
    if cls is DateColumn:
        known = parts["unit"] in SECONDS and parts["order"] in ("dmy", "mdy")
        require(known, "dates are of no known unit or order.")
    if cls is FlagColumn:
        require(isinstance(parts["words"], dict), "the words of a column are not an object.")
        parts["words"] = {word: _finite(value, "a word") for word, value in parts["words"].items()}
    if cls is CategoryColumn:
        texts = listed(parts["texts"], "the texts of a column")
        parts["texts"] = tuple(string(text, "a text of a column") for text in texts)
    return cls(**parts)


def _finite(value, what) -> float:
    number = type(value) in (int, float) and np.isfinite(value)
    require(number, f"{what} is not a finite number.")
    return float(value)
