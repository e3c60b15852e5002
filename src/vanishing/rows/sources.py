"""Rows that are not one NumPy array: blocks read anew for each pass, Dask collections, GPU arrays.

A `Source` asks a question of every block of rows where the block is, and combines the answers:
sums, which are small. Nothing else about the rows travels. `SourceRows` makes a `moments.Reader`
of it, so that the constructions need not know where the rows live.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from copy import copy
from functools import partial, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array

from vanishing._threads import one_blas_thread
from vanishing.rows import device
from vanishing.rows.reader import Block, Reader, combine

_ROWS = 100_000  # of a block that an adapter makes
_FAN_IN = 8  # answers that one task of a tree reduction combines


class Layout(NamedTuple):
    """What all blocks have in common."""

    n_features: int
    names: tuple[str, ...] | None
    dtype: str


class Part(NamedTuple):
    """Rows at hand: checked, without those of weight zero."""

    X: Any  # a NumPy array or one of a device
    y: np.ndarray | None
    weight: np.ndarray | None


# -- Blocks ----------------------------------------------------------------------------------------


class Blocks:
    """Rows in blocks, read anew for each pass: for data that does not fit into memory.

    Estimators take it for X, and also whatever it is made of, without this wrapper.

    Parameters
    ----------
    source : callable or iterable
        A function of no arguments that returns an iterator over blocks, or an object that can be
        iterated over again and again, such as a list of blocks. A block is an array or a DataFrame
        of rows; or, where labels or sample weights are needed, a tuple (rows, labels) or (rows,
        labels, weights), in which labels may be None. All blocks have the same columns and dtype.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import OAVI, Blocks
    >>> def halves_of_a_circle():
    ...     for start in (0.0, np.pi):
    ...         angle = start + np.linspace(0.0, np.pi, 100, endpoint=False)
    ...         yield np.column_stack([np.cos(angle), np.sin(angle)])
    >>> print(OAVI(psi=1e-6, oracle="ls").fit(Blocks(halves_of_a_circle)).generators_[0])
    x1^2 + x0^2 - 1
    """

    def __init__(self, source):
        # A sequence is an array to an estimator, but blocks to whoever says so.
        is_sequence = hasattr(source, "__len__") and hasattr(source, "__iter__")
        if not is_blocks(source) and not (is_sequence and _may_be_blocks(source)):
            raise TypeError(
                "Blocks takes a function that returns an iterator over blocks of rows, or an "
                f"object that can be iterated over again and again; got {type(source).__name__}."
            )
        self.source = source

    def __iter__(self):
        return iter(self.source() if callable(self.source) else self.source)

    @classmethod
    def from_array(cls, X, y=None, sample_weight=None, *, rows=_ROWS) -> "Blocks":
        """Read an array in blocks of ``rows`` rows, one in memory at a time: for memory maps.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y, sample_weight : array of shape (n_samples,), default=None
        rows : int
        """
        n_samples = X.shape[0]

        def read():
            for start in range(0, n_samples, rows):
                here = slice(start, min(start + rows, n_samples))
                yield tuple(None if part is None else part[here] for part in (X, y, sample_weight))

        return cls(read)

    @classmethod
    def from_csv(cls, path, *, target=None, columns=None, rows=_ROWS) -> "Blocks":
        """Read a CSV file, compressed or not, in blocks of ``rows`` lines.

        Parameters
        ----------
        path : path-like
        target : str, default=None
            The column of the labels.
        columns : sequence of str, default=None
            The columns of the rows; None means all but the target.
        rows : int
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "reading CSV files in blocks needs pandas: install it with "
                "python -m pip install 'vanishing[app]'"
            ) from None

        def read():
            with pd.read_csv(path, chunksize=rows) as frames:
                for frame in frames:
                    yield _split_columns(frame, target, columns, path)

        return cls(_existing(path, read))

    @classmethod
    def from_parquet(cls, path, *, target=None, columns=None, rows=_ROWS) -> "Blocks":
        """Read a Parquet file in blocks of ``rows`` rows; parameters as of `from_csv`."""
        try:
            import pyarrow.parquet as pq
        except ImportError:
            raise ImportError(
                "reading Parquet files needs pyarrow: install it with "
                "python -m pip install 'vanishing[app]'"
            ) from None

        def read():
            read = None if columns is None else [*columns, *([] if target is None else [target])]
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=rows, columns=read):
                    yield _split_columns(batch.to_pandas(), target, columns, path)

        return cls(_existing(path, read))


def _existing(path, read):
    if not Path(path).is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    return read


def _split_columns(frame, target, columns, path):
    wanted = list(frame.columns.drop(target, errors="ignore") if columns is None else columns)
    missing = [name for name in [*wanted, target] if name is not None and name not in frame]
    if missing:
        raise ValueError(
            f"{path} has no column {missing[0]!r}; its columns are "
            f"{', '.join(map(repr, frame.columns[:20]))}."
        )
    return frame[wanted] if target is None else (frame[wanted], frame[target].to_numpy())


def is_blocks(X) -> bool:
    """Say whether X is a source of blocks rather than rows; refuse what can be read once only."""
    if isinstance(X, Iterator):
        raise TypeError(
            "X is an iterator, which can be read only once, but the rows are needed in several "
            "passes. Give a function that makes a new one each time: pass the generator function "
            "itself instead of calling it."
        )
    if isinstance(X, Blocks):
        return True
    if hasattr(X, "__len__") or not _may_be_blocks(X):
        return False
    return callable(X) or hasattr(X, "__iter__")


def _may_be_blocks(X) -> bool:
    """Say that X is neither an array or DataFrame nor something whose items are no blocks."""
    if isinstance(X, (type, str, bytes, dict, set, frozenset)):
        return False
    return not any(
        hasattr(X, name) for name in ("__array__", "__array_namespace__", "__dataframe__")
    )


def _names(X) -> tuple[str, ...] | None:
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return tuple(columns)


def _checked_part(X, y, weight, layout: Layout | None) -> Part:
    """Check a block's rows, labels and weights, and drop rows of weight zero."""
    names = _names(X)
    empty = _is_empty(X)
    if empty:
        X = np.zeros(X.shape) if layout is None else np.zeros(X.shape, dtype=layout.dtype)
    elif device.is_device_array(X):
        X = device.checked(X)
    else:
        X = check_array(X, dtype=[np.float64, np.float32], input_name="X")
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
    if y is not None:
        y = device.to_numpy(y)
        if y.shape != (n_samples,):
            raise ValueError(f"it has {n_samples} rows, but labels of shape {y.shape}.")
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError("its labels contain NaN or infinity. Drop these rows.")
        if y.dtype.kind == "O" and any(label is None or label != label for label in y):
            raise ValueError("some of its labels are missing. Drop these rows.")
    if weight is not None:
        weight = device.to_numpy(weight).astype(np.float64)
        if weight.shape != (n_samples,) or not np.isfinite(weight).all() or (weight < 0).any():
            raise ValueError(
                f"sample_weight must be {n_samples} finite numbers, none of them negative."
            )
        if not weight.all():
            X, y, weight = _selected(X, y, weight, weight > 0)
    return Part(X, y, weight)


def _unit_weights(sample_weight) -> np.ndarray:
    """Return weights in a unit in which their sums neither overflow nor vanish."""
    weight = device.to_numpy(sample_weight)
    if weight.ndim != 1 or weight.dtype.kind not in "fiub":
        raise ValueError(
            f"sample_weight must be one number a row; got an array of shape {weight.shape} and "
            f"dtype {weight.dtype}."
        )
    weight = weight.astype(np.float64)
    largest = weight.max(initial=0.0)
    return weight / largest if 0 < largest < 1e-100 or 1e100 < largest < np.inf else weight


def _is_empty(X) -> bool:
    """Say whether a block is a table without rows."""
    shape: tuple = getattr(X, "shape", ())
    return len(shape) == 2 and shape[0] == 0


def _n_rows(X) -> int:
    return X.shape[0] if hasattr(X, "shape") and len(X.shape) else len(X)


def _selected(X, y, weight, chosen):
    X = X[device.like(X, chosen)] if device.is_device_array(X) else X[chosen]
    return X, *(None if part is None else part[chosen] for part in (y, weight))


def layout_of(X) -> Layout:
    """Return what the other blocks must have in common with this one."""
    part = _checked_part(X, None, None, None)
    return Layout(part.X.shape[1], _names(X), str(part.X.dtype).rpartition(".")[2])


@contextmanager
def _naming(i: int):
    """Let an error name the block."""
    try:
        yield
    except (ValueError, TypeError) as error:
        remedy = " Drop or fill such rows before the block is given." if "NaN" in str(error) else ""
        raise ValueError(f"Block {i}, counting from 0, cannot be used: {error}{remedy}") from error


def _answer(question, layout, i, X, y=None, weight=None):
    """Check block i and ask it."""
    with _naming(i):
        part = _checked_part(X, y, weight, layout)
    if not part.X.shape[0]:
        return None
    with one_blas_thread():
        return question(part)


def _frozen(method):
    """Return the method of a copy of its estimator: a later fit must not change what is lazy."""
    return getattr(copy(method.__self__), method.__name__)


def _value(function, n_columns, dtype, i, X):
    """Return the function of block i, which may have no rows."""
    if _is_empty(X):
        nothing = np.zeros((0,) if n_columns is None else (0, n_columns), dtype=dtype)
        return device.like(X, nothing) if device.is_device_array(X) else nothing
    with _naming(i):
        return function(X)


def _joined(combine, answers):
    """Combine answers; None is the answer of a block without rows."""
    answers = [answer for answer in answers if answer is not None]
    return reduce(combine, answers) if answers else None


# -- Sources ---------------------------------------------------------------------------------------


class Source:
    """All blocks, and how to ask them.

    Attributes
    ----------
    layout : Layout
    """

    layout: Layout

    def ask(self, question: Callable[[Part], Any], combine: Callable) -> Any:
        """Return the combined answers of all blocks; None if there are no rows."""
        raise NotImplementedError

    def map(self, method: Callable, n_columns: int | None, dtype):
        """Return, lazily, an estimator's method of each block: rows of n_columns or one value."""
        raise NotImplementedError


class BlockSource(Source):
    """Blocks read one after the other, in this process."""

    def __init__(self, X, y=None, sample_weight=None):
        self.blocks = X if isinstance(X, Blocks) else Blocks(X)
        self.y = None if y is None else device.to_numpy(y)
        self.weight = None if sample_weight is None else _unit_weights(sample_weight)
        for name, given in (("y", self.y), ("sample_weight", self.weight)):
            if given is not None and given.ndim != 1:
                raise ValueError(f"{name} must be 1-dimensional; its shape is {given.shape}.")
        self.last = None  # iterator
        self.layout = None
        for i, (block, *_) in enumerate(self._items()):
            with _naming(i):
                self.layout = layout_of(block)
            if not _is_empty(block):
                break
        if self.layout is None:
            raise ValueError(
                "The source has no blocks: no rows to fit. It must yield some each time it is read."
            )

    def _iterator(self):
        iterator = iter(self.blocks)
        if iterator is self.last:
            raise TypeError(
                "The source returned the same iterator again, which can be read only once, but the "
                "rows are needed in several passes. Give a function that makes a new iterator each "
                "time it is called."
            )
        self.last = iterator
        return iterator

    def _items(self):
        """Yield (rows, labels, weights) of each block, with what was given beside the blocks."""
        start = 0
        for i, item in enumerate(self._iterator()):
            X, y, weight = item, None, None
            if isinstance(item, tuple):
                if not 1 <= len(item) <= 3:
                    raise ValueError(
                        f"Block {i} is a tuple of {len(item)}; give (rows, labels) or (rows, "
                        "labels, weights)."
                    )
                X, y, weight = (*item, None, None)[:3]
            with _naming(i):
                stop = start + _n_rows(X)
            if self.y is not None:
                y = self.y[start:stop]
            if self.weight is not None:
                weight = self.weight[start:stop]
            yield X, y, weight
            start = stop
        for name, given in (("y", self.y), ("sample_weight", self.weight)):
            if given is not None and len(given) != start:
                raise ValueError(f"the blocks have {start} rows, but {name} has {len(given)}.")

    def ask(self, question, combine):
        """Ask each block in turn: one is in memory at a time."""
        found = None
        for i, item in enumerate(self._items()):
            found = _joined(combine, [found, _answer(question, self.layout, i, *item)])
        return found

    def map(self, method, n_columns, dtype):
        """Return `Blocks` of the method of each block."""
        method = _frozen(method)

        def mapped():
            for i, block in enumerate(self._iterator()):
                block = block[0] if isinstance(block, tuple) else block
                yield _value(method, n_columns, dtype, i, block)

        return Blocks(mapped)


class DeviceSource(Source):
    """One array of another library: a single block."""

    def __init__(self, X, y=None, sample_weight=None):
        self.X = X
        self.part = _checked_part(X, y, sample_weight, None)  # once: nobody else changes it
        self.layout = Layout(X.shape[1], None, str(self.part.X.dtype).rpartition(".")[2])

    def ask(self, question, combine):
        """Ask the one block there is."""
        return question(self.part) if self.part.X.shape[0] else None

    def map(self, method, n_columns, dtype):
        """Return the method of the array."""
        return method(self.X)


class DaskSource(Source):
    """A Dask array or DataFrame: its blocks are asked where they are, and answers form a tree."""

    def __init__(self, X, y=None, sample_weight=None):
        self.X = _one_column_block(X)
        self.layout = _dask_layout(self.X)
        parts = [_delayed_blocks(self.X)]
        for name, values in (("y", y), ("sample_weight", sample_weight)):
            parts.append(_aligned(name, values, self.X, len(parts[0])))
        self.parts = list(zip(*parts, strict=True))
        if not self.parts:
            raise ValueError("X has no partitions: no rows to fit.")

    def ask(self, question, combine):
        """Ask the blocks in parallel."""
        import dask

        ask = dask.delayed(partial(_answer, question, self.layout), pure=False)
        join = dask.delayed(partial(_joined, combine), pure=False)
        answers = [ask(i, *part) for i, part in enumerate(self.parts)]
        while len(answers) > 1:
            answers = [join(answers[i : i + _FAN_IN]) for i in range(0, len(answers), _FAN_IN)]
        try:
            return answers[0].compute()
        except Exception as error:
            if not _is_lost_connection(error):
                raise  # of the tasks themselves
            raise ConnectionError(
                "The Dask scheduler cannot be reached any more, so that the rows cannot be read "
                f"({type(error).__name__}: {error}). Start a cluster, connect a new "
                "distributed.Client, load X there, and fit again."
            ) from error

    def map(self, method, n_columns, dtype):
        """Return a Dask array of the method of each block, with the same chunks."""
        import dask
        import dask.array as da

        columns = () if n_columns is None else (n_columns,)
        value = partial(_value, _frozen(method), n_columns, dtype)
        if hasattr(self.X, "chunks"):
            return da.map_blocks(
                partial(_value_of_chunk, value),
                self.X,
                name=f"{method.__name__}-{dask.base.tokenize(method, self.X)}",
                dtype=dtype,
                meta=np.empty((0,) * (1 + len(columns)), dtype=dtype),
                chunks=(self.X.chunks[0], *((n,) for n in columns)),
                drop_axis=None if columns else 1,
            )
        task = dask.delayed(value, pure=False)
        return da.concatenate(
            [
                da.from_delayed(task(i, part), shape=(np.nan, *columns), dtype=dtype)
                for i, (part, *_) in enumerate(self.parts)
            ]
        )


def _value_of_chunk(value, X, block_id=(0,)):
    return value(block_id[0], X)


def _is_lost_connection(error: Exception) -> bool:
    """Say whether an error is of the way to the rows: tasks raise errors of their own."""
    if isinstance(error, CancelledError) or type(error).__name__ == "CommClosedError":
        return True
    # Without its client Dask looks for persisted blocks in this process.
    return isinstance(error, ValueError) and str(error).startswith("Missing dependency")


def is_dask(X) -> bool:
    """Say whether X is a Dask collection; without importing Dask for it."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def _one_column_block(X):
    # A delayed object claims to have any attribute.
    known = not type(X).__name__.startswith("Delayed")
    if known and hasattr(X, "chunks"):
        if X.ndim != 2:
            raise ValueError(f"X must be 2-dimensional, rows and columns; its shape is {X.shape}.")
        if np.isnan(X.shape[1]):
            raise ValueError(
                "X does not know how many columns it has. Call X.compute_chunk_sizes() first."
            )
        return X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
    if not known or getattr(X, "ndim", 0) != 2 or not hasattr(X, "to_delayed"):
        raise TypeError(
            f"X must be a Dask array or DataFrame; got {type(X).__name__}. Convert it with "
            "to_dask_array or to_dataframe."
        )
    return X


def _delayed_blocks(X) -> list:
    return list(np.ravel(np.asarray(X.to_delayed(), dtype=object)))


def _dask_layout(X) -> Layout:
    """Return the layout that the collection declares; the blocks are checked against it."""
    if hasattr(X, "chunks"):
        if X.dtype.kind not in "fiub":
            raise ValueError(f"X has dtype {X.dtype}; give it real numbers.")
        return Layout(X.shape[1], None, "float32" if X.dtype == np.float32 else "float64")
    kinds = {name: dtype for name, dtype in X.dtypes.items() if dtype.kind not in "fiub"}
    if kinds:
        name, dtype = next(iter(kinds.items()))
        raise ValueError(f"Column {name!r} of X has dtype {dtype}; give it real numbers.")
    # As check_array finds it for a partition: columns of pandas' own dtypes become float64.
    plain = all(isinstance(dtype, np.dtype) for dtype in X.dtypes)
    single = plain and np.result_type(*X.dtypes) == np.float32
    return Layout(len(X.columns), _names(X), "float32" if single else "float64")


def _aligned(name, values, X, n_blocks) -> list:
    """Return the blocks of labels or weights beside those of X."""
    if values is None:
        return [None] * n_blocks
    if not is_dask(values):
        raise TypeError(f"{name} must be a Dask collection as X is; got {type(values).__name__}.")
    if getattr(values, "ndim", 1) != 1:
        raise ValueError(f"{name} must be 1-dimensional; its shape is {values.shape}.")
    if hasattr(values, "chunks") and hasattr(X, "chunks") and values.chunks[0] != X.chunks[0]:
        known = not np.isnan([*values.chunks[0], *X.chunks[0]]).any()
        if known and values.shape[0] == X.shape[0]:
            values = values.rechunk((X.chunks[0],))
    blocks = _delayed_blocks(values)
    if len(blocks) != n_blocks:
        raise ValueError(
            f"{name} has {len(blocks)} partitions, but X has {n_blocks}. Partition them alike."
        )
    return blocks


def source_of(X, y=None, sample_weight=None) -> Source | None:
    """Return the source that X is, or None if X is rows in memory."""
    if is_dask(X):
        return DaskSource(X, y, sample_weight)
    if device.is_device_array(X):
        return DeviceSource(X, y, sample_weight)
    if is_blocks(X):
        return BlockSource(X, y, sample_weight)
    return None


def refuse(estimator, X, method=None) -> None:
    """Raise TypeError if X is a source; for estimators and methods that need rows in memory."""
    name = type(estimator).__name__ + ("" if method is None else f".{method}")
    kind = None
    if is_dask(X):
        kind, remedy = "Dask collections", "X.compute()"
    elif device.is_device_array(X):
        kind, remedy = f"arrays of {type(X).__module__.partition('.')[0]}", "a NumPy array of it"
    elif is_blocks(X):
        kind, remedy = "blocks of rows", "one array of all rows"
    if kind is not None:
        raise TypeError(
            f"{name} does not take {kind}: it needs the rows in memory. Give it {remedy}; OAVI, "
            "ABM, AVI, VanishingFeatures and VanishingClassifier fit, transform and predict them."
        )


def adopt_layout(estimator, layout: Layout) -> None:
    """Set what scikit-learn's validation would have set."""
    estimator.n_features_in_ = layout.n_features
    if layout.names is not None:
        estimator.feature_names_in_ = np.array(layout.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_layout(estimator, layout: Layout) -> None:
    """Raise ValueError unless the columns are those seen in fit."""
    if layout.n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {layout.n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    seen = getattr(estimator, "feature_names_in_", None)
    if seen is not None and layout.names is not None and tuple(seen) != layout.names:
        raise ValueError(
            "The feature names should match those that were passed during fit: "
            f"{', '.join(seen)}; got {', '.join(layout.names)}."
        )


def checked_device_array(estimator, X):
    """Return a device array whose columns are those seen in fit, with a floating dtype."""
    X = device.checked(X)
    check_layout(estimator, Layout(X.shape[1], None, ""))
    return X


# -- Questions -------------------------------------------------------------------------------------


class Scale(NamedTuple):
    """x -> x * factor + offset for each column, then into [low, high]; None leaves either out."""

    factor: np.ndarray | None
    offset: np.ndarray | None
    low: np.ndarray | None = None
    high: np.ndarray | None = None

    def __call__(self, X):
        """Scale rows."""
        on_device = device.is_device_array(X)
        factor, offset, low, high = (
            device.like(X, part) if on_device and part is not None else part for part in self
        )
        if factor is not None:
            X = X * factor + offset
        if low is None:
            return X
        if not on_device:
            return np.clip(X, low, high)
        xp = device.namespace(X)
        return xp.minimum(xp.maximum(X, low), high)


class Survey(NamedTuple):
    """What has to be known of all rows before the first class is fitted."""

    n_samples: int
    total_weight: float
    classes: np.ndarray
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
        total = float(X.shape[0] if part.weight is None else part.weight.sum())
        return cls(X.shape[0], total, np.unique(part.y), low, high)

    def joined(self, other: "Survey") -> "Survey":
        """Return the survey of both."""
        if len({part.classes.dtype.kind in "OUST" for part in (self, other)}) == 2:
            raise ValueError(
                "Labels are text in some blocks and numbers in others. Convert them to one kind."
            )
        return Survey(
            self.n_samples + other.n_samples,
            self.total_weight + other.total_weight,
            np.union1d(self.classes, other.classes),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


class _Question(NamedTuple):
    """A question of a `moments.Block`, to the rows of one class or of all, scaled or not."""

    name: str
    details: tuple
    label: object
    scale: Scale | None
    chunk_size: int | None

    def __call__(self, part: Part):
        X, y, weight = part
        if self.label is not None:
            X, y, weight = _selected(X, y, weight, y == self.label)
        n_samples = X.shape[0]
        if not n_samples:
            return None
        if self.scale is not None:
            X = self.scale(X)
        block = device.DeviceBlock if device.is_device_array(X) else Block
        total = float(n_samples if weight is None else weight.sum())
        answer = getattr(block(X, weight, self.chunk_size), self.name)(*self.details)
        return (n_samples, total), answer

    def combine(self, first, second):
        counts = tuple(a + b for a, b in zip(first[0], second[0], strict=True))
        return counts, combine(self.name, first[1], second[1])


class SourceRows(Reader):
    """The rows of a source, or those of one class.

    Parameters
    ----------
    source : Source
    chunk_size : int or None
        Rows evaluated at a time.
    label : object or None
        The class; None means all rows.
    scale : Scale or None
        What to do with rows first.
    """

    def __init__(self, source: Source, chunk_size=None, *, label=None, scale=None):
        self.source = source
        self.n_features = source.layout.n_features
        self.chunk_size = chunk_size
        self.label = label
        self.scale = scale

    def _ask(self, question, *details):
        asked = _Question(question, details, self.label, self.scale, self.chunk_size)
        found = self.source.ask(asked, asked.combine)
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
