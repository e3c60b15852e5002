"""Some rows of many, of each class a like share: the same rows in whatever blocks they come.

The rows of a class are counted in their order, wherever they are. Of n of them that are cut into q
pieces of equal length, one of each piece is taken, by a number that looks random: spread evenly
over all rows, as those of one day lie together, and without a rhythm of its own.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from vanishing.fitting.sample import row_keys
from vanishing.learning import settings
from vanishing.learning.labels import LabelledRows
from vanishing.rows.arrays import to_numpy
from vanishing.rows.source import RowPart, RowSource, part_on_host


class SampledRows(NamedTuple):
    """Rows in memory that stand for all rows.

    Attributes
    ----------
    rows : LabelledRows
    places : list of ndarray
        Of each block, which of its rows of positive weight they are.
    blocks : list of int
        Which blocks those are.
    n_samples : int
        How many rows there are in all.
    """

    rows: LabelledRows
    places: list[np.ndarray]
    blocks: list[int]
    n_samples: int


def sampled(rows: LabelledRows, most: int) -> SampledRows:
    """Return all rows of positive weight if they are no more than ``most``, or about so many.

    Rows of rare classes are more than their share, and weigh less for that.
    """
    if rows.in_memory:
        rows = rows.present()
        n_rows = len(rows.part.y)
        if n_rows <= most:
            return SampledRows(rows, [np.arange(n_rows)], [0], n_rows)
    source, n_classes = rows.source, len(rows.classes)
    of_blocks = source.ask(_Count(n_classes), lambda a, b: a | b)
    counts, before = np.zeros(n_classes, dtype=np.int64), {}
    for block in sorted(of_blocks):
        before[block] = counts
        counts = counts + of_blocks[block]
    taken = _quotas(counts, most)
    answers = source.ask(_Pick(counts, taken, before), lambda a, b: a + b)
    blocks, places, parts = (list(each) for each in zip(*answers, strict=True))
    X, y, weight = (
        None if values[0] is None else np.concatenate(values) for values in zip(*parts, strict=True)
    )
    assert y is not None  # the labels have been surveyed
    share = counts / np.maximum(taken, 1)
    if share.max() > 1.01 * share[taken > 0].min():  # not rounding: rare classes
        factors = share[y] * (len(y) / share[y].sum())
        weight = factors if weight is None else weight * factors
    part = RowPart(X, y, weight)
    return SampledRows(LabelledRows.of_part(part, rows.classes), places, blocks, int(counts.sum()))


def at_same_places(source: RowSource, sample: SampledRows) -> np.ndarray:
    """Return what stands in place of labels in another source of the same rows."""
    answers = source.ask(
        _At(dict(zip(sample.blocks, sample.places, strict=True))), lambda a, b: a + b
    )
    return np.concatenate(answers)


def _quotas(counts: np.ndarray, most: int) -> np.ndarray:
    """Return how many rows of each class are taken."""
    total = int(counts.sum())
    if total <= most:
        return counts
    share = np.array([int(count) * most // total for count in counts])
    return np.maximum(share, np.minimum(counts, settings.RARE_ROWS))


def _drawn(count: int, quota: int, start: int, stop: int) -> np.ndarray:
    """Return which of the places from start to stop are drawn, of ``quota`` out of ``count``."""
    if quota == count:
        return np.arange(start, stop)
    first, last = start * quota // count, min(-(-stop * quota // count) + 1, quota)
    pieces = np.arange(first, last, dtype=np.int64)
    begin, end = pieces * count // quota, (pieces + 1) * count // quota
    keys = row_keys(pieces[np.newaxis].astype(np.float64), seed=0)
    drawn = begin + (keys % (end - begin).astype(np.uint64)).astype(np.int64)
    return drawn[(drawn >= start) & (drawn < stop)]


@dataclass(frozen=True)
class _Count:
    """The question for the numbers of rows of each class, block by block."""

    n_classes: int
    block: int = 0

    def at_block(self, i: int) -> "_Count":
        return replace(self, block=i)

    def __call__(self, part: RowPart) -> dict[int, np.ndarray]:
        return {self.block: np.bincount(to_numpy(part.y), minlength=self.n_classes)}


@dataclass(frozen=True)
class _Pick:
    """The question for the rows that are drawn; a list of (block, places in it, rows)."""

    counts: np.ndarray  # rows of each class, in all
    quotas: np.ndarray
    before: dict[int, np.ndarray]  # rows of each class in the blocks before one
    block: int = 0

    def at_block(self, i: int) -> "_Pick":
        return replace(self, block=i, before={i: self.before[i]})

    def __call__(self, part: RowPart) -> list[tuple[int, np.ndarray, RowPart]]:
        y = to_numpy(part.y)
        order = np.argsort(y, kind="stable")
        ends = np.cumsum(np.bincount(y, minlength=len(self.counts)))
        drawn = []
        for label, own in enumerate(np.split(order, ends[:-1])):
            count, quota, start = (
                int(each[label]) for each in (self.counts, self.quotas, self.before[self.block])
            )
            if len(own):
                drawn.append(own[_drawn(count, quota, start, start + len(own)) - start])
        places = np.sort(np.concatenate(drawn))
        return [(self.block, places, part_on_host(part.at(places)))]


@dataclass(frozen=True)
class _At:
    """The question for the labels at some places of a block."""

    places: dict[int, np.ndarray]
    block: int = 0

    def at_block(self, i: int) -> "_At":
        return replace(self, block=i)

    def __call__(self, part: RowPart) -> list[np.ndarray]:
        return [to_numpy(part.y)[self.places[self.block]]]
