"""Questions to blocks of rows: what a construction asks, and a survey of labelled rows."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vanishing.rows.arrays import column_ranges, is_device_array, namespace, sortable, to_numpy
from vanishing.rows.block import Block, combine
from vanishing.rows.source import RowPart, RowSource

_FEW_CLASSES = 1000  # up to which each class is compared with all labels of a device


class Survey(NamedTuple):
    """What must be known about all rows before the first class is fitted."""

    n_samples: int
    total_weight: float
    classes: np.ndarray
    totals: np.ndarray  # weight of each class
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, part: RowPart) -> "Survey":
        """Return the survey of a block."""
        if part.y is None:
            raise ValueError(
                "There are no labels: give y, or blocks that are tuples (rows, labels)."
            )
        X = part.X
        low, high = column_ranges(X)
        if is_device_array(part.y):
            classes, totals = _counted(part.y, part.weight)
            return cls(X.shape[0], float(totals.sum()), classes, totals, low, high)
        weight = None if part.weight is None else to_numpy(part.weight)
        total = float(X.shape[0] if weight is None else weight.sum())
        try:
            classes, places = np.unique(part.y, return_inverse=True)
        except TypeError:
            raise ValueError(
                "Some labels are text and others numbers. Convert them to one kind."
            ) from None
        totals = np.bincount(places, weight).astype(np.float64)
        return cls(X.shape[0], total, classes, totals, low, high)

    def joined(self, other: "Survey") -> "Survey":
        """Return the survey of the rows of both."""
        if len({part.classes.dtype.kind in "OUST" for part in (self, other)}) == 2:
            raise ValueError(
                "Labels are text in some blocks and numbers in others. Convert them to one kind."
            )
        classes = np.union1d(self.classes, other.classes)
        totals = np.zeros(len(classes))
        for part in (self, other):
            totals[np.searchsorted(classes, part.classes)] += part.totals
        return Survey(
            self.n_samples + other.n_samples,
            self.total_weight + other.total_weight,
            classes,
            totals,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


def _counted(y, weight) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of labels of a device, and the weight of each."""
    xp = namespace(y)
    is_bool, y = y.dtype == xp.bool, sortable(y)
    classes, totals = map(to_numpy, xp.unique_counts(y))
    order = np.argsort(classes)  # the standard promises none
    classes, totals = classes[order], totals[order].astype(np.float64)
    if weight is not None and len(classes) > _FEW_CLASSES:
        places = np.searchsorted(classes, to_numpy(y))
        totals = np.bincount(places, to_numpy(weight))
    elif weight is not None:
        owns = (xp.astype(y == label, xp.float64) for label in classes.tolist())
        totals = to_numpy(xp.stack([own @ weight for own in owns]))
    return classes.astype(bool) if is_bool else classes, totals


class Question(NamedTuple):
    """A question of a `Block`, to the rows of one class or of all, scaled or not."""

    name: str
    details: tuple
    label: int | None  # the class, as its place in the classes of a `coded` source
    scale: Callable | None
    chunk_size: int | None

    def __call__(self, part: RowPart):
        """Return the number and total weight of the rows asked, and their answer."""
        X, y, weight = part
        if self.label is not None:
            is_of_class = y == self.label
            X, weight = X[is_of_class], None if weight is None else weight[is_of_class]
        n_samples = X.shape[0]
        if not n_samples:
            return None
        if self.scale is not None:
            X = self.scale(X)
        total = float(n_samples if weight is None else namespace(weight).sum(weight))
        answer = getattr(Block(X, weight, self.chunk_size), self.name)(*self.details)
        return (n_samples, total), answer

    def combine(self, first, second):
        """Return the answer of two sets of rows together."""
        counts = tuple(a + b for a, b in zip(first[0], second[0], strict=True))
        return counts, combine(self.name, first[1], second[1])


def survey(source: RowSource) -> Survey:
    """Survey all rows: how many, which classes, and the range of each column."""
    answer = source.ask(Survey.of, Survey.joined)
    if answer is None:
        raise ValueError("The source has no rows (of positive weight): nothing to fit.")
    return answer
