"""Dask arrays and DataFrames: their blocks are asked where they are."""

from concurrent.futures import CancelledError
from functools import partial
from uuid import uuid4

import numpy as np

from vanishing.checks import weight_unit
from vanishing.rows import source

_FAN_IN = 8  # answers that one task of a tree reduction combines


class DaskSource(source.LazySource):
    """A Dask array or DataFrame: its blocks are asked where they are, and answers form a tree."""

    def __init__(self, X, y=None, sample_weight=None, gaps: bool = False):
        self.X = _one_column_block(X)
        self.layout = _dask_layout(self.X)._replace(gaps=gaps)
        parts = [_delayed_blocks(self.X)]
        for name, values in (("y", y), ("sample_weight", sample_weight)):
            parts.append(_aligned(name, values, self.X, len(parts[0])))
        self.parts = list(zip(*parts, strict=True))
        # All passes share the graph of the blocks, of which a collection has one for all blocks.
        blocks = [block for part in parts for block in part if block is not None]
        self.graphs = list({id(block.dask): block for block in blocks}.values())
        self.keys = [tuple(b if b is None else b.key for b in part) for part in self.parts]
        self.unit = 1.0
        if sample_weight is not None:
            self.unit = weight_unit(float(sample_weight.max().compute()))
        if not self.parts:
            raise ValueError("X has no partitions: no rows to fit.")

    def ask(self, question, combine):
        """Ask the blocks in parallel."""
        try:
            return self._answer(question, combine).compute()
        except Exception as error:
            if not _is_lost_connection(error):
                raise  # an error of the tasks themselves
            raise ConnectionError(
                "The Dask scheduler cannot be reached any more, so that the rows cannot be read "
                f"({type(error).__name__}: {error}). Start a cluster, connect a new "
                "distributed.Client, load X there, and fit again."
            ) from error

    def _answer(self, question, combine):
        """Return the answer of all blocks, to be computed: one task per block, combined in a tree.

        The tasks are written as one layer of a graph: calling `dask.delayed` for each would take
        longer than running it.
        """
        from dask.delayed import Delayed
        from dask.highlevelgraph import HighLevelGraph
        from dask.task_spec import List, Task, TaskRef

        name = f"pass-{uuid4().hex}"  # new each time, or Dask might reuse an answer
        ask = partial(source.answer, question, self.layout, self.unit)
        join = partial(source.joined, combine)
        answers = [
            Task((name, 0, i), ask, i, *(None if key is None else TaskRef(key) for key in keys))
            for i, keys in enumerate(self.keys)
        ]
        level, tasks = 0, {task.key: task for task in answers}
        while len(answers) > 1:
            level += 1
            groups = [answers[i : i + _FAN_IN] for i in range(0, len(answers), _FAN_IN)]
            answers = [
                Task((name, level, i), join, List(*(task.ref() for task in group)))
                for i, group in enumerate(groups)
            ]
            tasks |= {task.key: task for task in answers}
        graph = HighLevelGraph.from_collections(name, tasks, dependencies=self.graphs)
        return Delayed(answers[0].key, graph, layer=name)

    def map(self, method, n_columns, dtype):
        """Return a Dask array of the method of each block, with the same chunks.

        Where the method returns a DataFrame, by `set_output`, so does this: a Dask DataFrame.
        """
        import dask
        import dask.array as da

        columns = () if n_columns is None else (n_columns,)
        value = partial(source.value_of, source.frozen(method), n_columns, dtype)
        if method.__name__ == "transform" and not isinstance(
            container := self._of_one_row(method), np.ndarray
        ):
            return _frames(value, [part for part, *_ in self.parts], container)
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

    def _of_one_row(self, method):
        """Return a method's result for one row, which shows the container of its results."""
        row = np.ones((1, self.layout.n_features), dtype=self.layout.dtype)
        if self.layout.names is None:
            return method(row)
        from pandas import DataFrame

        return method(DataFrame(row, columns=list(self.layout.names)))


def _frames(value, parts, container):
    """Return a Dask DataFrame of the values of parts; ``container`` is that of one row."""
    import dask
    import dask.dataframe as dd

    if not hasattr(container, "iloc"):
        raise TypeError(
            f"Dask has no collections of {type(container).__module__.partition('.')[0]}: call "
            "set_output(transform='pandas') or set_output(transform='default')."
        )
    task = dask.delayed(value, pure=False)
    frames = [task(i, part) for i, part in enumerate(parts)]
    return dd.from_delayed(frames, meta=container.iloc[:0], verify_meta=False)


def _value_of_chunk(value, X, block_id=(0,)):
    return value(block_id[0], X)


def _is_lost_connection(error: Exception) -> bool:
    """Say whether an error comes from the connection to the scheduler, not from a task."""
    if isinstance(error, CancelledError) or type(error).__name__ == "CommClosedError":
        return True
    # Without its client Dask looks for persisted blocks in this process.
    return isinstance(error, ValueError) and str(error).startswith("Missing dependency")


def is_dask(X) -> bool:
    """Say whether X is a Dask collection, without importing Dask."""
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


def _dask_layout(X) -> source.RowLayout:
    """Return the layout that the collection declares; its blocks are checked against it."""
    if hasattr(X, "chunks"):
        if X.dtype.kind not in "fiub":
            raise ValueError(f"X has dtype {X.dtype}; give it real numbers.")
        return source.RowLayout(X.shape[1], None, "float32" if X.dtype == np.float32 else "float64")
    kinds = {name: dtype for name, dtype in X.dtypes.items() if dtype.kind not in "fiub"}
    if kinds:
        name, dtype = next(iter(kinds.items()))
        raise ValueError(f"Column {name!r} of X has dtype {dtype}; give it real numbers.")
    # As check_array finds it for a partition: columns of pandas' own dtypes become float64.
    plain = all(isinstance(dtype, np.dtype) for dtype in X.dtypes)
    single = plain and np.result_type(*X.dtypes) == np.float32
    return source.RowLayout(len(X.columns), source.names_of(X), "float32" if single else "float64")


def _aligned(name, values, X, n_blocks) -> list:
    """Return the blocks of labels or weights that belong to those of X."""
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
