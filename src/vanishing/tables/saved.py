"""What is done to a table as it is saved beside a model: see docs/model_format.md."""

from dataclasses import asdict

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
    """Return a recipe from what `node_of` made of it; raise `Refused` where it is none."""
    columns, layout, decimal, missing, roles = fields(
        node, "the table", ("columns", "layout", "decimal", "missing", "roles")
    )
    *values, row = fields(layout, "the layout of the table", tuple(_LAYOUT), ("header_row",))
    given = dict(zip(_LAYOUT, values, strict=True))
    for name, value in given.items():
        is_known = value is None or type(value) is _LAYOUT[name]
        require(is_known, f"{name} of the table is unknown.")
    known = row is None or (type(row) is int and row > 0)
    require(known, "the line of the names of the table is unknown.")
    require(decimal in (None, ".", ","), "the decimal sign of the table is unknown.")
    require(missing in MISSING, "what is done about missing values is unknown.")
    if not isinstance(roles, dict):
        raise Refused("the roles of columns are not an object.")
    return Recipe(
        columns=tuple(_column_of(one) for one in listed(columns, "the columns of the table")),
        layout=FileLayout(**given, header_row=row),
        decimal=decimal,
        missing=missing,
        roles=tuple((role, string(name, "a column")) for role, name in roles.items()),
    )


_KINDS = {cls.kind: cls for cls in (Column, FlagColumn, DateColumn, CategoryColumn)}


def _column_of(node) -> Column:
    """Return a column from what `node_of` made of it; raise `Refused` where it is none."""
    require(isinstance(node, dict), "a column of the table is not an object.")
    cls = _KINDS.get(str(node.get("kind")))
    if cls is None:
        raise Refused(f"a column of the table has the kind {node.get('kind')!r}.")
    names = ["name", "fill", "unit", *{"flag": ["words"], "category": ["texts"]}.get(cls.kind, [])]
    names += ["origin", "order"] if cls.kind == "date" else []
    _, *values = fields(node, "a column of the table", ("kind", *names))
    found = dict(zip(names, values, strict=True))
    string(found["name"], "the name of a column")
    string(found["unit"], "the unit of a column")
    for key in {"fill", "origin"} & set(found):
        found[key] = _finite(found[key], f"{key} of a column")
    if cls is DateColumn:
        known = found["unit"] in SECONDS and found["order"] in ("dmy", "mdy")
        require(known, "dates are of no known unit or order.")
    if cls is FlagColumn:
        require(isinstance(found["words"], dict), "the words of a column are not an object.")
        found["words"] = {word: _finite(value, "a word") for word, value in found["words"].items()}
    if cls is CategoryColumn:
        texts = listed(found["texts"], "the texts of a column")
        found["texts"] = tuple(string(text, "a text of a column") for text in texts)
    return cls(**found)


def _finite(value, what) -> float:
    number = type(value) in (int, float) and np.isfinite(value)
    require(number, f"{what} is not a finite number.")
    return float(value)
