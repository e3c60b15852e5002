"""Rows, wherever they are: blocks, checked, that are asked where they are.

A `RowSource` asks every block of rows a question where the block is, and combines the answers:
sums, which are small. Nothing else is moved. An array is a source of one block.
"""

from collections.abc import Callable
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array

from vanishing._threads import fold, one_blas_thread
from vanishing.rows import arrays
from vanishing.rows.validation import are_missing, finiteness, naming_text


class RowLayout(NamedTuple):
    """What all blocks have in common."""

    n_features: int
    names: tuple[str, ...] | None
    dtype: str
    gaps: bool = False  # whether cells may be missing: NaN


class RowPart(NamedTuple):
    """Rows that can be computed with: checked, without those of weight zero."""

    X: Any  # a NumPy array or one of a device
    y: Any  # a NumPy array or None; in a source that is `coded`, an array where X is
    weight: Any  # likewise

    def pieces(self, rows: int) -> list["RowPart"]:
        """Return the rows in pieces of ``rows`` rows, always the same ones."""
        return [
            RowPart(self.X[cut, :], *(None if p is None else p[cut] for p in (self.y, self.weight)))
            for cut in arrays.slices(self.X.shape[0], rows)
        ]

    def ask(self, question: Callable[["RowPart"], Any], combine: Callable, rows: int) -> Any:
        """Return the answers of all pieces of ``rows`` rows, combined in their order."""
        pieces = self.pieces(rows)
        return fold(question, pieces, combine, len(pieces))

    def at(self, places) -> "RowPart":
        """Return the rows at these places, on the device of each of its arrays."""
        if isinstance(places, slice):
            return RowPart(*(None if v is None else v[places] for v in self))
        return RowPart(*(None if v is None else _at(v, places) for v in self))

    def with_weight(self) -> "RowPart":
        """Return the rows of positive weight; the weights are NumPy's."""
        if self.weight is None or self.weight.all():
            return self
        return self.at(self.weight > 0)


def _at(values, places: np.ndarray):
    """Return the entries or rows of an array at places, or where a mask is true."""
    if arrays.is_device_array(values) and places.dtype.kind == "i":
        return arrays.namespace(values).take(values, arrays.like(values, places), axis=0)
    return values[arrays.like(values, places)]


def names_of(X) -> tuple[str, ...] | None:
    """Return the names of columns, if all have one."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return tuple(columns)


def checked_part(
    X, y, weight, layout: RowLayout | None, unit: float = 1.0, gaps: bool = False
) -> RowPart:
    """Check a block's rows, labels and weights, and drop rows of weight zero."""
    finite = finiteness(gaps or (layout is not None and layout.gaps))
    names = names_of(X)
    empty = is_empty(X)
    if empty:
        X = np.zeros(X.shape) if layout is None else np.zeros(X.shape, dtype=layout.dtype)
    elif arrays.is_device_array(X):
        X = arrays.as_floats(arrays.checked(X))
    else:
        with naming_text(X, gap_remedy=None if finite is True else ""):
            X = check_array(
                X, dtype=[np.float64, np.float32], input_name="X", ensure_all_finite=finite
            )
    n_samples, n_features = X.shape
    if layout is not None:
        if n_features != layout.n_features:
            raise ValueError(
                f"it has {n_features} columns, but the first one has {layout.n_features}. All "
                "blocks must have the same columns."
            )
        if names != layout.names:
            raise ValueError(
                f"its columns are {names}, but those of the first one are {layout.names}. Give "
                "all blocks the same columns in the same order."
            )
        if str(X.dtype).rpartition(".")[2] != layout.dtype:
            raise ValueError(
                f"its dtype is {X.dtype}, but that of the first one is {layout.dtype}. Convert "
                "all blocks to the same dtype."
            )
    y, weight = checked_labels_and_weights(y, weight, n_samples, unit)
    return RowPart(X, y, weight).with_weight()


def checked_labels_and_weights(y, weight, n_samples: int, unit: float = 1.0):
    """Return labels and weights of ``n_samples`` rows as NumPy arrays, or raise ValueError."""
    if y is not None:
        y = arrays.to_numpy(y)
        if y.shape != (n_samples,):
            raise ValueError(f"it has {n_samples} rows, but labels or groups of shape {y.shape}.")
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError("its labels contain NaN or infinity. Drop these rows.")
        if are_missing(y).any():
            raise ValueError("some of its labels are missing. Drop these rows.")
    if weight is not None:
        weight = arrays.to_numpy(weight).astype(np.float64)
        if weight.shape != (n_samples,) or not np.isfinite(weight).all() or (weight < 0).any():
            raise ValueError(
                f"sample_weight must be {n_samples} finite numbers, none of them negative."
            )
        weight = weight if unit == 1.0 else weight / unit
    return y, weight


def given_weights(sample_weight) -> np.ndarray:
    """Return weights as an array of numbers, one per row, or raise ValueError."""
    weight = arrays.to_numpy(sample_weight)
    if weight.ndim != 1 or weight.dtype.kind not in "fiub":
        raise ValueError(
            f"sample_weight must be one number per row; got an array of shape {weight.shape} and "
            f"dtype {weight.dtype}."
        )
    return weight.astype(np.float64)


def is_empty(X) -> bool:
    """Say whether a block is a table without rows."""
    shape: tuple = getattr(X, "shape", ())
    return len(shape) == 2 and shape[0] == 0


# Dtypes of labels that all libraries can hold and sort.
_PLAIN = ("bool", "int8", "int16", "int32", "int64", "uint8", "float32", "float64")


def labels_on_device(part: RowPart, original) -> RowPart:
    """Return rows of a device with labels on that device, too, unless they are text.

    ``original`` are the labels that the user gave, which may be on that device.
    """
    y = part.y
    if y is not None and y.dtype.name in _PLAIN:
        y = arrays.like_or_original(part.X, original, y)
    return part._replace(y=y)


def coded(part: RowPart, classes: np.ndarray) -> RowPart:
    """Return rows with labels as places in ``classes``; labels and weights go where X is."""
    X, y, weight = part
    if arrays.is_device_array(y):
        xp = arrays.namespace(y)
        y = arrays.sortable(y)
        known = arrays.like(y, classes.astype(np.uint8) if classes.dtype == bool else classes)
        y = xp.astype(xp.searchsorted(known, y), xp.int32)
    else:
        y = np.searchsorted(classes, y)
        y = arrays.like(X, y, np.int32) if arrays.is_device_array(X) else y
    if weight is not None and not arrays.is_device_array(weight):
        weight = arrays.like(X, weight)
    return RowPart(X, y, weight)


def layout_of(X, gaps: bool = False) -> RowLayout:
    """Return the layout of a block, which all other blocks must have."""
    part = checked_part(X, None, None, None, gaps=gaps)
    return RowLayout(part.X.shape[1], names_of(X), str(part.X.dtype).rpartition(".")[2], gaps)


@contextmanager
def naming(i: int):
    """Name the block in errors."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise ValueError(f"Block {i}, counting from 0, cannot be used: {error}") from error


def answer(question, layout, unit, i, X, y=None, weight=None):
    """Check block i, whose weights are to be divided by ``unit``, and ask it."""
    with naming(i):
        part = checked_part(X, y, weight, layout, unit)
    if not part.X.shape[0]:
        return None
    with one_blas_thread():
        return at_block(question, i)(part)


def at_block(question, i: int):
    """Return the question as block i is asked: one with a method ``at_block`` has it told i."""
    told = getattr(question, "at_block", None)
    return question if told is None else told(i)


def frozen(method):
    """Return the method of a copy of its estimator: a later fit must not change lazy results."""
    return getattr(copy(method.__self__), method.__name__)


def value_of(function, n_columns, dtype, i, X):
    """Return the function of block i, which may have no rows."""
    with naming(i):
        if not is_empty(X):
            return function(X)
        if hasattr(X, "reindex"):  # a frame: an empty container of the kind that one row gets
            return function(X.reindex([0], fill_value=1.0))[:0]
        if function.__name__ == "transform" and isinstance(X, np.ndarray):
            return function(np.ones((1, X.shape[1]), dtype=X.dtype))[:0]
    nothing = np.zeros((0,) if n_columns is None else (0, n_columns), dtype=dtype)
    return arrays.like(X, nothing)


def joined(combine, answers):
    """Combine answers; None is the answer of a block without rows."""
    total = None
    for answer in answers:
        if answer is not None:
            total = answer if total is None else combine(total, answer)
    return total


class RowSource:
    """All blocks, and how to ask them.

    Attributes
    ----------
    layout : RowLayout
    part : RowPart or None
        All the rows, where they are in memory.
    """

    layout: RowLayout
    part: RowPart | None = None

    def ask(self, question: Callable[[RowPart], Any], combine: Callable) -> Any:
        """Return the combined answers of all blocks; None if there are no rows."""
        raise NotImplementedError

    def labelled(self) -> "RowSource":
        """Return the source with labels and weights on the device of its rows, if there is one."""
        return self

    def on_host(self) -> "RowSource":
        """Return the source for questions that take NumPy rows only: blocks go to the CPU."""
        return self.converted(part_on_host)

    def converted(self, convert: Callable[[RowPart], RowPart]) -> "RowSource":
        """Return the source of converted rows, which are so block by block when they are asked."""
        return _ConvertedSource(self, convert)

    def ordered(self, order: Callable[[RowPart], Any], piece_rows: int) -> "RowSource":
        """Return rows in memory as ``order(rows)`` places them, asked some at a time; or itself."""
        return self

    def coded(self, classes: np.ndarray) -> "RowSource":
        """Return the source with labels as places in ``classes``, on the device of the rows."""
        return _ConvertedSource(self, partial(coded, classes=classes))


class LazySource(RowSource):
    """Blocks that are read when they are asked; results for each row are lazy, too."""

    def map(self, method: Callable, n_columns: int | None, dtype):
        """Return, lazily, an estimator's method of each block: rows of n_columns or one value."""
        raise NotImplementedError


class _ConvertedSource(RowSource):
    """A source whose rows are converted, block by block, before they are asked."""

    def __init__(self, source: RowSource, convert: Callable[[RowPart], RowPart]):
        self.source = source
        self.convert = convert
        self.layout = source.layout

    def ask(self, question, combine):
        """Ask the blocks of the source."""
        return self.source.ask(_ConvertedQuestion(self.convert, question), combine)


class _ConvertedQuestion(NamedTuple):
    """A question to rows that are converted first."""

    convert: Callable[[RowPart], RowPart]
    question: Callable[[RowPart], Any]

    def __call__(self, part: RowPart):
        return self.question(self.convert(part))

    def at_block(self, i: int) -> "_ConvertedQuestion":
        return self._replace(question=at_block(self.question, i))


def part_on_host(part: RowPart) -> RowPart:
    """Return rows as NumPy arrays."""
    return RowPart(*(None if values is None else arrays.to_numpy(values) for values in part))
