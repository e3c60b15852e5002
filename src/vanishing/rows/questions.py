"""Questions to blocks of rows, and a reader of the rows of a source."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vanishing.rows import device
from vanishing.rows.reader import Block, Reader, combine
from vanishing.rows.source import Part, Source

_FEW = 1000  # classes, each of which is looked for among all labels of a device


class Survey(NamedTuple):
    """What has to be known of all rows before the first class is fitted."""

    n_samples: int
    total_weight: float
    classes: np.ndarray
    totals: np.ndarray  # weight of each class
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, part: Part) -> "Survey":
        """Look at a block."""
        if part.y is None:
            raise ValueError(
                "There are no labels: give y, or blocks that are tuples (rows, labels)."
            )
        X = part.X
        if device.is_device_array(X):
            xp = device.namespace(X)
            low, high = (device.to_numpy(f(X, axis=0)) for f in (xp.min, xp.max))
        else:
            low, high = X.min(axis=0), X.max(axis=0)
        if device.is_device_array(part.y):
            classes, totals = _counted(part.y, part.weight)
            return cls(X.shape[0], float(totals.sum()), classes, totals, low, high)
        weight = None if part.weight is None else device.to_numpy(part.weight)
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
        """Return the survey of both."""
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
    xp = device.namespace(y)
    is_bool, y = y.dtype == xp.bool, device.plain(y)
    classes, totals = map(device.to_numpy, xp.unique_counts(y))
    order = np.argsort(classes)  # the standard promises none
    classes, totals = classes[order], totals[order].astype(np.float64)
    if weight is not None and len(classes) > _FEW:
        places = np.searchsorted(classes, device.to_numpy(y))
        totals = np.bincount(places, device.to_numpy(weight))
    elif weight is not None:
        owns = (xp.astype(y == label, xp.float64) for label in classes.tolist())
        totals = device.to_numpy(xp.stack([own @ weight for own in owns]))
    return classes.astype(bool) if is_bool else classes, totals


class Question(NamedTuple):
    """A question of a `reader.Block`, to the rows of one class or of all, scaled or not."""

    name: str
    details: tuple
    label: int | None  # the place of the class, of a source that is `coded`
    scale: Callable | None
    chunk_size: int | None

    def __call__(self, part: Part):
        """Return how many rows of what weight answer, and their answer."""
        X, y, weight = part
        if self.label is not None:
            chosen = y == self.label
            X, weight = X[chosen], None if weight is None else weight[chosen]
        n_samples = X.shape[0]
        if not n_samples:
            return None
        if self.scale is not None:
            X = self.scale(X)
        block = device.DeviceBlock if device.is_device_array(X) else Block
        total = float(n_samples if weight is None else device.library_of(weight).sum(weight))
        answer = getattr(block(X, weight, self.chunk_size), self.name)(*self.details)
        return (n_samples, total), answer

    def combine(self, first, second):
        """Return the answer of two sets of rows together."""
        counts = tuple(a + b for a, b in zip(first[0], second[0], strict=True))
        return counts, combine(self.name, first[1], second[1])


class SourceRows(Reader):
    """The rows of a source, or those of one class.

    Parameters
    ----------
    source : Source
    chunk_size : int or None
        Rows evaluated at a time.
    label : int or None
        The place of the class, of a source that is `coded`; None means all rows.
    scale : callable or None
        What to do with rows first.
    """

    def __init__(self, source: Source, chunk_size=None, *, label=None, scale=None):
        self.source = source
        self.n_features = source.layout.n_features
        self.chunk_size = chunk_size
        self.label = label
        self.scale = scale

    def _ask_source(self, question):
        return self.source.ask(question, question.combine)

    def _ask(self, question, *details):
        asked = Question(question, details, self.label, self.scale, self.chunk_size)
        found = self._ask_source(asked)
        (n_samples, total), answer = ((0, 0.0), ()) if found is None else found
        if np.isfinite(self.n_samples) and n_samples != self.n_samples:
            raise ValueError(
                f"A pass over the rows found {n_samples} of them, the first one {self.n_samples}. "
                "The source must yield the same blocks anew each time it is read: give a function "
                "that makes a new iterator, not one that returns the same one."
            )
        if not n_samples:
            raise ValueError("The source has no rows (of positive weight): nothing to fit.")
        self.n_samples, self.total_weight = n_samples, total
        return answer


def survey(source: Source) -> Survey:
    """Look at all rows: how many, which classes, and the range of each column."""
    found = source.ask(Survey.of, Survey.joined)
    if found is None:
        raise ValueError("The source has no rows (of positive weight): nothing to fit.")
    return found
