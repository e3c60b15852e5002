"""Tables that are too large for memory: rows become numbers on disk, block by block."""

import mmap
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from vanishing.estimators.progress import Progress
from vanishing.questions import settings
from vanishing.tables.files import COMPRESSED, FileTable, FirstRows
from vanishing.tables.kinds import Choices
from vanishing.tables.preparing import PreparedTable, prepare

_LABELLED = {"target", "run", "group", "batch"}  # roles in which no cell may be empty


def is_large(path: Path) -> bool:
    """Say whether a file is better not held in memory."""
    packed = path.suffix.lower() in (*COMPRESSED, ".parquet", ".pq", ".xlsx", ".xlsm")
    return path.stat().st_size * (settings.PACKED if packed else 1) > settings.LARGE


def prepare_large(
    table: FileTable, choices: Choices, roles: Mapping[str, str], *, target: str | None = None
) -> PreparedTable:
    """Read a table as `prepare` does, with its numbers in a temporary file.

    The first rows say what the columns are; rows that do not fit are treated as ``choices.missing``
    says.

    Returns
    -------
    prepared : PreparedTable
        ``X`` and ``rows`` are memory maps; the files behind them are gone when nobody uses them.
    """
    first = FirstRows(table, settings.FIRST_ROWS)
    known = prepare(first, choices, roles, target=target)
    if not first.is_cut:
        return known
    of_roles = {role: name for role, name in roles.items() if role in known.texts}
    n_rows, steps = 0, Progress("table")
    texts: dict[str, list[np.ndarray]] = {role: [] for role in of_roles}
    with tempfile.TemporaryFile() as file, tempfile.TemporaryFile() as places:
        names = list(dict.fromkeys(of_roles.values()))
        for part in known.recipe.parts(table, known.names, names, fills=choices.fills):
            usable = part.usable.copy()
            for role in _LABELLED & set(of_roles):
                cells = part.texts[of_roles[role]]
                usable &= np.array([str(cell).strip() != "" for cell in cells], dtype=bool)
            file.write(np.ascontiguousarray(part.X[usable[part.usable]]).tobytes())
            places.write((n_rows + np.flatnonzero(usable)).astype(np.int64).tobytes())
            for role, name in of_roles.items():
                texts[role].append(np.array([str(c) for c in part.texts[name]], object)[usable])
            n_rows += len(usable)
            steps.step(f"{n_rows} rows read")
        file.flush()
        places.flush()
        rows = np.memmap(places, np.int64, "r")
        X = np.memmap(file, np.float64, "r", shape=(len(rows), len(known.names)))
    notes = [note for note in known.notes if "left out" not in note]
    notes.append(f"a large table: its first {settings.FIRST_ROWS:,} rows decide what columns are.")
    if len(rows) < n_rows:
        notes.append(f"{n_rows - len(rows)} of {n_rows} rows are left out: cells cannot be used.")
    joined = {role: np.concatenate(parts) for role, parts in texts.items()}
    return known._replace(X=X, texts=joined, rows=table.original(rows), notes=notes)


def is_on_disk(prepared: PreparedTable) -> bool:
    """Say whether the numbers of a table are in a temporary file."""
    return isinstance(prepared.X, np.memmap)


def blocks_of(X: np.ndarray, columns: list[str], *, with_target: bool = False) -> Iterator:
    """Yield some rows at a time, as frames of the first columns, or with the last as the target."""
    import pandas as pd

    for block in _copies(X, slice(None)):
        frame = pd.DataFrame(block[:, : len(columns)], columns=columns)
        yield (frame, block[:, -1]) if with_target else frame


def rows_of(X: np.ndarray, rows: slice) -> np.ndarray:
    """Return some rows, or numbers of rows, in memory."""
    return np.concatenate([X[:0], *_copies(X, rows)])


def _copies(X: np.ndarray, rows: slice) -> Iterator[np.ndarray]:
    """Yield copies of rows of a memory map, whose pages are in memory for one block alone."""
    start, stop, step = rows.indices(len(X))
    size = step * max(1, settings.BLOCK // (step * X[:1].size))
    for place in range(start, stop, size):
        yield np.array(X[place : min(place + size, stop) : step])
        _forget_pages(X)


def _forget_pages(X: np.ndarray) -> None:
    """Give the pages of a memory map back: those that were read count as memory until then."""
    pages = X.base
    if isinstance(pages, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
        pages.madvise(mmap.MADV_DONTNEED)
