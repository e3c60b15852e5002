"""What threads are good for: fits to a memory map, as it is, as blocks and through Dask."""

import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from joblib import cpu_count

from vanishing import OAVI, Blocks

from .measure import extra_memory, ratio

HIDDEN = 4
PIECE = 500_000  # rows that are generated, or read by Dask, at a time
MANY = 10_000_000  # rows that few cores are not asked for


def write_rows(path, n_samples, n_columns):
    """Write rows near a surface in the unit cube: four columns, and squares of mixtures of them."""
    mix = np.random.default_rng(0).dirichlet(np.ones(HIDDEN), size=n_columns - HIDDEN)
    with open(path, "wb") as file:
        for start in range(0, n_samples, PIECE):
            rng = np.random.default_rng(1 + start)
            X = np.empty((min(PIECE, n_samples - start), n_columns))
            X[:, :HIDDEN] = rng.random((len(X), HIDDEN))
            X[:, HIDDEN:] = (X[:, :HIDDEN] @ mix.T) ** 2
            X[:, HIDDEN:] += rng.normal(scale=0.01, size=(len(X), n_columns - HIDDEN))
            X.tofile(file)


class Threads:
    """Fits with so many threads, psi = 0.0005, degree up to 3; seconds are those of a clock."""

    params = (
        ("300000 x 4", "3000000 x 4", "3333333 x 10", "10000000 x 10", "30000000 x 10"),
        ("map", "blocks", "dask"),
        (1, 2, 4, 8, 16),
    )
    param_names = ("rows", "source", "threads")
    timer = time.perf_counter
    number, repeat, warmup_time, rounds = 1, 1, 0.0, 1
    timeout = 1200

    def setup_cache(self):
        """Let asv keep one folder for all cases, where `setup` finds the rows of an earlier one."""

    def setup(self, rows, source, n_threads):
        shape = tuple(map(int, rows.split(" x ")))
        cores = cpu_count()
        if n_threads > cores or (shape[0] >= MANY and cores < 8):
            raise NotImplementedError("there are not enough cores")
        if source == "dask" and not find_spec("dask"):
            raise NotImplementedError("Dask is not installed")
        path = Path(rows)
        if not path.exists():
            write_rows(path, *shape)
        X = np.memmap(path, dtype=np.float64, mode="r", shape=shape)
        self.rows, self.few = X, np.array(X[:20_000])
        if source == "blocks":
            self.rows = Blocks.from_array(X, rows=100_000)
        if source == "dask":
            import dask
            import dask.array

            dask.config.set(scheduler="threads", num_workers=n_threads)
            self.rows = dask.array.from_array(X, chunks=(PIECE, shape[1]))
        self.model = OAVI(psi=0.0005, max_degree=3, n_jobs=n_threads).fit(self.few)

    def time_fit(self, *_):
        self.model.fit(self.rows)

    def track_memory(self, *_):
        return extra_memory(self.time_fit)

    track_memory.unit = "MiB"

    def track_speedup(self, rows, source, n_threads):
        one = OAVI(psi=0.0005, max_degree=3, n_jobs=1)
        if source == "dask":
            raise NotImplementedError("the scheduler has its threads already")
        return ratio(lambda: one.fit(self.rows), self.time_fit, repeat=3, clock=time.perf_counter)

    track_speedup.unit = "ratio"
