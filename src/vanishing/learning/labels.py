"""Rows with class labels, their classes one by one, and labels from decision values."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from vanishing._threads import spread
from vanishing.checks import check_number
from vanishing.rows.array_source import ArraySource
from vanishing.rows.arrays import like, namespace, to_numpy
from vanishing.rows.intake import take_rows, take_rows_in_memory
from vanishing.rows.questions import Survey, survey
from vanishing.rows.reader import ArrayReader, RowReader
from vanishing.rows.source import RowPart, RowSource
from vanishing.rows.together import read_together


class LabelledRows(NamedTuple):
    """Rows of several classes, wherever they are.

    Attributes
    ----------
    source : RowSource
        Rows whose labels are places in ``classes``.
    classes : ndarray of shape (n_classes,)
    survey : Survey or None
        Of rows that are not in memory: the weight of each class, and the range of each column.
    scale : callable or None
        What is done with rows that are not in memory when they are read; others are scaled already.
    """

    source: RowSource
    classes: np.ndarray
    survey: Survey | None = None
    scale: Callable | None = None

    @classmethod
    def of_part(cls, part: RowPart, classes: np.ndarray) -> "LabelledRows":
        """Return rows in memory, whose labels are places in ``classes``."""
        return cls(ArraySource(part), classes)

    @property
    def in_memory(self) -> bool:
        """Whether `part`, `at` and `present` can be asked for."""
        return self.source.part is not None

    @property
    def part(self) -> RowPart:
        """All rows, places of their classes, and weights or None, where they are in memory."""
        assert self.source.part is not None
        return self.source.part

    def at(self, places) -> "LabelledRows":
        """Return the rows in memory at some places."""
        return self.of_part(self.part.at(places), self.classes)

    def present(self) -> "LabelledRows":
        """Return the rows in memory whose weight is not zero."""
        return self.of_part(self.part.with_weight(), self.classes)

    @property
    def totals(self) -> np.ndarray:
        """The weight of each class."""
        if self.survey is not None:
            return self.survey.totals
        return np.bincount(self.part.y, self.part.weight, len(self.classes)).astype(np.float64)

    @property
    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest value of each column, of rows that are not in memory."""
        assert self.survey is not None
        return self.survey.low, self.survey.high

    def of_class(self, label: int) -> RowPart:
        """Return the rows in memory of one class."""
        return self.part.at(self.part.y == label)

    def reader(self, label: int, chunk_size: int | None) -> RowReader:
        """Return a reader of the rows in memory of one class."""
        rows = self.of_class(label)
        return ArrayReader(rows.X, rows.weight, chunk_size)

    def read_classes(
        self,
        work: Callable[[RowReader], object],
        chunk_size: int | None,
        readers: list[RowReader] | None = None,
    ) -> list:
        """Return ``work(reader)`` for a reader of the rows of each class, in several threads.

        There may be ``readers`` already, for several fits to the same rows.
        """
        if readers is not None:
            return spread(work, readers)
        classes = range(len(self.classes))
        if self.in_memory:
            return spread(lambda label: work(self.reader(label, chunk_size)), classes)
        return read_together(work, self.source, classes, chunk_size=chunk_size, scale=self.scale)


def labelled_rows(estimator, X, y, sample_weight, *, keep_all=False) -> LabelledRows:
    """Validate rows with class labels, wherever they are, and set ``classes_``.

    With ``keep_all`` rows in memory of weight zero stay, but their labels are no classes.
    """
    source = take_rows(estimator, X, y, sample_weight, y_is="labels", keep_all=keep_all)
    if source.part is not None:
        return _of_part(estimator, source.part)
    source = source.labelled()
    facts = survey(source)
    # Twice: scikit-learn takes labels none of which stands there again for numbers.
    check_classification_targets(np.repeat(facts.classes, 2))
    estimator.classes_ = facts.classes
    return LabelledRows(source.coded(facts.classes), facts.classes, facts)


def labelled_rows_in_memory(estimator, X, y, sample_weight) -> LabelledRows:
    """Validate rows with class labels that must be in memory, and set ``classes_``."""
    rows = take_rows_in_memory(estimator, X, y, sample_weight, y_is="labels")
    return _of_part(estimator, rows)


def _of_part(estimator, rows: RowPart) -> LabelledRows:
    estimator.classes_ = np.unique(rows.with_weight().y)
    rows = rows._replace(y=np.searchsorted(estimator.classes_, rows.y))
    return LabelledRows.of_part(rows, estimator.classes_)


def check_two_classes(classes) -> None:
    """Raise ValueError unless there are two classes to tell apart."""
    if len(classes) < 2:
        raise ValueError(
            "a classifier needs samples of at least 2 classes; the data has only one class: "
            f"{classes.tolist()[0]!r}."
        )


def check_class_weight(class_weight) -> None:
    """Raise TypeError or ValueError unless this can be the weights of classes."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, dict):
        raise TypeError(f"class_weight must be a dict, 'balanced' or None; got {class_weight!r}.")
    for label, weight in class_weight.items():
        check_number(f"class_weight of {label!r}", weight, low=0)


def class_weights(class_weight, classes: np.ndarray, totals: np.ndarray) -> np.ndarray | None:
    """Return the weight of each class, of which ``totals`` are the weights of its rows."""
    if class_weight is None:
        return None
    if not isinstance(class_weight, dict):
        # Of the rows that a search holds out, a class may have none.
        weights = np.zeros(len(classes))
        return np.divide(totals.sum(), len(classes) * totals, out=weights, where=totals > 0.0)
    return compute_class_weight(class_weight, classes=classes, y=classes)


def weighted(y, weight, by_class: np.ndarray | None):
    """Return the weights of rows times those of their classes; None where all count alike."""
    if by_class is None:
        return weight
    of_rows = namespace(y).take(like(y, by_class), y, axis=0)
    return of_rows if weight is None else weight * of_rows


def labels(classes: np.ndarray, scores) -> np.ndarray:
    """Return the labels that decision values stand for, as a NumPy array."""
    scores = to_numpy(scores)
    return classes[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]
