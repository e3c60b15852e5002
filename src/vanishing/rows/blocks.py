"""Rows in blocks, read anew for each pass."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from vanishing._threads import fold
from vanishing._types import Path
from vanishing.checks import weight_unit
from vanishing.rows import source
from vanishing.rows.arrays import piece_rows, sender, slices, to_numpy
from vanishing.tables.files import ROWS
from vanishing.tables.formats import open_table
from vanishing.tables.numbers import number_blocks


class Blocks:
    """Rows in blocks, read anew for each pass: for data that does not fit into memory.

    Estimators take it for X; they also take its ``source`` without this wrapper.

    Parameters
    ----------
    source : callable or iterable
        A function of no arguments that returns an iterator over blocks, or an object that can be
        iterated over again and again, such as a list of blocks. A block is an array or a DataFrame
        of rows. If labels or sample weights are needed, it is a tuple (rows, labels) or (rows,
        labels, weights), in which labels may be None. All blocks have the same columns and dtype.
        With ``n_jobs`` the threads take blocks in turns, never two at a time.
    target : str, default=None
        The name of the labels, for equations to use.

    Attributes
    ----------
    source : callable or iterable
    target : str or None
        As given.

    See Also
    --------
    Moments : Sums of rows that arrive in batches, for fits without the rows.

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

    def __init__(
        self,
        source: Callable[[], Iterable[Any]] | Iterable[Any],
        *,
        target: str | None = None,
    ):
        # An estimator takes a sequence for an array; wrapped explicitly, it is blocks.
        is_sequence = hasattr(source, "__len__") and hasattr(source, "__iter__")
        if not is_blocks(source) and not (is_sequence and _may_be_blocks(source)):
            raise TypeError(
                "Blocks takes a function that returns an iterator over blocks of rows, or an "
                f"object that can be iterated over again and again; got {type(source).__name__}."
            )
        self.source = source
        self.target = target

    def __iter__(self) -> Iterator[Any]:
        return iter(self.source() if callable(self.source) else self.source)

    @classmethod
    def from_array(
        cls,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        rows: int | None = None,
        device: Any = None,
    ) -> "Blocks":
        """Read an array in blocks of ``rows`` rows, one in memory at a time: for memory maps.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y, sample_weight : array of shape (n_samples,), default=None
        rows : int, default=None
            None means 100,000; with ``device``, as many as keep an accelerator busy.
        device : str, torch.device or callable, default=None
            Where the rows of a block are sent when it is read: a device of PyTorch, such as "cuda",
            or a function that copies a NumPy array to a device, such as ``cupy.asarray``. This is
            for more rows than an accelerator has memory for. No more than two blocks are on the
            device at a time, and one more for each further thread.
        """
        n_samples, n_features = X.shape
        if rows is None:
            rows = ROWS if device is None else piece_rows(n_features)

        def read():
            send = sender(device)
            for cut in slices(n_samples, rows):
                companions = (None if v is None else v[cut] for v in (y, sample_weight))
                yield send(X[cut]), *companions

        return cls(read)

    @classmethod
    def from_csv(
        cls,
        path: Path,
        *,
        target: str | None = None,
        columns: Sequence[str] | None = None,
        rows: int = ROWS,
    ) -> "Blocks":
        """Read a CSV file, compressed or not, in blocks of ``rows`` lines.

        A value that is not a finite number is an error that names its line and column. Labels are
        numbers if all labels of the first block are numbers as Python writes them; if not, all
        labels are text: 01 and 1 are two labels.

        Parameters
        ----------
        path : path-like
        target : str, default=None
            The column of the labels.
        columns : sequence of str, default=None
            The columns of the rows; None means all but the target.
        rows : int
        """
        return cls(_blocks_of(open_table(path, "csv"), target, columns, rows), target=target)

    @classmethod
    def from_parquet(
        cls,
        path: Path,
        *,
        target: str | None = None,
        columns: Sequence[str] | None = None,
        rows: int = ROWS,
    ) -> "Blocks":
        """Read a Parquet file in blocks of ``rows`` rows; parameters as of `from_csv`."""
        return cls(_blocks_of(open_table(path, "parquet"), target, columns, rows), target=target)


def _blocks_of(table, target, columns, rows):
    columns = table.others([] if target is None else [target]) if columns is None else columns

    def read():
        for X, labels in number_blocks(table, columns, target, rows=rows):
            yield X if target is None else (X, labels)

    return read


def is_blocks(X) -> bool:
    """Say whether X is a source of blocks rather than rows; refuse iterators, read only once."""
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
    """Say whether X may hold blocks: no array, no DataFrame, no text, no mapping or set."""
    if isinstance(X, (type, str, bytes, dict, set, frozenset)):
        return False
    return not any(
        hasattr(X, name) for name in ("__array__", "__array_namespace__", "__dataframe__")
    )


def _n_rows(X) -> int:
    return X.shape[0] if hasattr(X, "shape") and len(X.shape) else len(X)


class BlockSource(source.LazySource):
    """Blocks read one after the other, in this process, and asked in several threads."""

    def __init__(self, X, y=None, sample_weight=None, gaps: bool = False):
        self.gaps = gaps
        self.blocks = X if isinstance(X, Blocks) else Blocks(X)
        self.y = None if y is None else to_numpy(y)
        self.weight = None if sample_weight is None else source.given_weights(sample_weight)
        if self.y is not None and self.y.ndim != 1:
            raise ValueError(f"y must be 1-dimensional; its shape is {self.y.shape}.")
        self.last = None  # iterator
        self.n_blocks: int | None = None  # known after a pass
        self.layout, self.unit = self._first_look()

    def _first_look(self):
        """Return the layout of the blocks, and a unit for the weights of all blocks."""
        layout, seen = None, False
        largest = 0.0 if self.weight is None else self.weight.max(initial=0.0)
        for i, (block, _, weight) in enumerate(self._items()):
            with source.naming(i):
                if not seen:
                    layout, seen = source.layout_of(block, self.gaps), not source.is_empty(block)
                if self.weight is None and weight is not None:
                    largest = max(largest, source.given_weights(weight).max(initial=0.0))
            if seen and (weight is None or self.weight is not None):
                break
        if layout is None:
            raise ValueError(
                "The source has no blocks: no rows to fit. It must yield some each time it is read."
            )
        return layout, weight_unit(largest)

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
        """Yield (rows, labels, weights) of each block; y and weights of all rows are cut up."""
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
            with source.naming(i):
                stop = start + _n_rows(X)
            if self.y is not None:
                y = self.y[start:stop]
            if self.weight is not None:
                weight = self.weight[start:stop]
            yield X, y, weight
            start = stop
        for name, values in (("y", self.y), ("sample_weight", self.weight)):
            if values is not None and len(values) != start:
                raise ValueError(f"the blocks have {start} rows, but {name} has {len(values)}.")

    def ask(self, question, combine):
        """Ask each block in turn: as many are in memory at a time as there are threads."""

        def answer(numbered):
            i, item = numbered
            return source.answer(question, self.layout, self.unit, i, *item)

        return fold(answer, self._numbered(), combine, self.n_blocks)

    def _numbered(self):
        n_blocks = 0
        for item in self._items():
            yield n_blocks, item
            n_blocks += 1
        self.n_blocks = n_blocks

    def map(self, method, n_columns, dtype):
        """Return `Blocks` of the method of each block."""
        method = source.frozen(method)

        def mapped():
            for i, block in enumerate(self._iterator()):
                block = block[0] if isinstance(block, tuple) else block
                yield source.value_of(method, n_columns, dtype, i, block)

        return Blocks(mapped)
