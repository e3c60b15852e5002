"""What a search asks of rows: an order, sizes to compute with, and a name for the target."""

from collections.abc import Sequence

import numpy as np

from vanishing.fitting.sample import columns_of, row_keys
from vanishing.laws import settings
from vanishing.rows.blocks import Blocks
from vanishing.rows.source import RowPart

_ORDERED = 100_000  # rows: sorting more takes longer than a search


def by_content(rows: RowPart) -> np.ndarray | slice:
    """Return an order that depends on what rows hold: sums round alike then. Many stay as given."""
    if len(rows.X) > _ORDERED:
        return slice(None)
    return np.argsort(row_keys(columns_of(rows), 0), kind="stable")


def check_sizes(columns: np.ndarray, names: Sequence[str]) -> None:
    """Raise ValueError where powers of columns would overflow, or vanish."""
    size = np.abs(columns)
    largest = size.max(axis=1)
    wrong = np.flatnonzero((largest > 1e100) | ((largest > 0) & (largest < 1e-100)))
    if not len(wrong):
        return
    least = np.where(size[wrong] > 0, size[wrong], np.inf).min(axis=1)
    decades = np.log10(largest[wrong]) - np.log10(least)
    advice = "Change its unit."
    if decades[0] > settings.MANY_DECADES:
        advice = f"Its values range over {decades[0]:.0f} decades: take its logarithm."
    raise ValueError(
        f"columns must be of sizes between 1e-100 and 1e100, since powers of others overflow; that "
        f"of {names[wrong[0]]!r} is {largest[wrong[0]]:.2g}. {advice}"
    )


def target_name(y, names: Sequence[str]) -> str:
    """Return the name of a target, or of the labels in blocks: one that no column has."""
    # What Dask calls an array is no name.
    name = None if hasattr(y, "chunks") else getattr(y, "name", None)
    if isinstance(y, Blocks):
        name = y.target
    columns = list(getattr(y, "columns", []))
    if len(columns) == 1:
        name = columns[0]
    if name is None or name == "":
        free = ("y", "target", *(f"target{i}" for i in range(2, len(names) + 2)))
        return next(name for name in free if name not in names)
    name = str(name)
    if name in names:
        raise ValueError(
            f"the target is called {name!r}, as a column of X is: rename it, or leave the column "
            "out of X."
        )
    return name
