"""Rows of a file that must be finite numbers, with labels: for fits in Python."""

from collections.abc import Iterator, Sequence

import numpy as np

from vanishing.tables.cells import numbers_of, problem_of
from vanishing.tables.columns import Column, FlagColumn
from vanishing.tables.errors import TableError
from vanishing.tables.files import ROWS, FileTable
from vanishing.tables.labels import label_values
from vanishing.tables.recipe import Recipe

_WORDS = {"true": 1.0, "false": 0.0}


def number_blocks(
    table: FileTable, columns: Sequence[str], target: str | None = None, *, rows: int = ROWS
) -> Iterator[tuple]:
    """Read a file in blocks of rows.

    Parameters
    ----------
    table : FileTable
    columns : sequence of str
        Columns of numbers, or of true and false; another cell raises TableError.
    target : str, default=None
        The column of the labels.
    rows : int
        Rows of a block.

    Yields
    ------
    X : DataFrame of float64
    labels : ndarray or None
        Numbers if those of the first block are numbers.
    """
    import pandas as pd

    table.refuse_doubt()
    places = [table.place(name) for name in columns]
    texts = [] if target is None else [table.place(target)]
    recipe, labels, start = None, None, 0
    for blocks in table.cells([*places, *texts], texts, rows=rows):
        cells = blocks[: len(places)]
        table.refuse_long_rows()
        if recipe is None:
            kinds = (_column(name, block) for name, block in zip(columns, cells, strict=True))
            recipe = Recipe(tuple(kinds))
        made, bad = recipe.made(cells, start)
        if bad:
            raise _at(table, bad[0].rows[0], bad[0].name, problem_of(bad[0].texts[0]))
        if target is not None:
            labels = _labels(table, target, blocks[-1], labels, start)
        X = np.column_stack([np.empty((len(blocks[0]), 0)), *(made[name] for name in columns)])
        yield pd.DataFrame(X, columns=list(columns)), labels
        start += len(blocks[0])
    if not start:
        raise TableError(f"{table.path} has no rows.")


def _column(name: str, block: np.ndarray) -> Column:
    is_text = block.dtype == object
    if is_text and all(str(cell).strip().casefold() in _WORDS for cell in block):
        return FlagColumn(name, words=_WORDS)
    return Column(name)


def _labels(table: FileTable, name: str, texts: np.ndarray, before, start: int) -> np.ndarray:
    """Return labels of the same kind as those before them; none may be missing."""
    empty = np.flatnonzero(texts == "")
    if empty.size:
        raise _at(table, start + empty[0], name, "the cell is empty")
    if before is None:
        return texts if table.is_text(table.place(name)) else label_values(texts)
    if before.dtype == object:
        return texts
    labels = label_values(texts)
    if labels.dtype != object and (labels.dtype == bool) == (before.dtype == bool):
        return labels
    wrong = {text for text in set(texts.tolist()) if not _goes_with(before.dtype, text)}
    if not wrong:  # numbers in different spellings
        return numbers_of(texts.tolist(), None)
    place = next(i for i, text in enumerate(texts) if text in wrong)
    kind = "True and False" if before.dtype == bool else "numbers"
    problem = f"the label {texts[place]!r} is of another kind than those before it, {kind}"
    raise _at(table, start + place, name, f"{problem}; write all labels alike")


def _goes_with(dtype: np.dtype, text: str) -> bool:
    """Say whether a label is of the kind of those before it; measurements in any spelling."""
    if dtype.kind == "f":
        return bool(np.isfinite(numbers_of([text], None)[0]))
    kind = label_values([text]).dtype.kind
    return kind == "b" if dtype.kind == "b" else kind in "if"


def _at(table: FileTable, row: int, name: str, problem: str) -> TableError:
    line = table.lines([int(row)])[int(row)]
    return TableError(f"{table.path}, {line}, column {name!r}: {problem}.")
