"""Dask's worker processes, each with one thread, beside the array in this process."""

import time
from importlib.util import find_spec

import numpy as np
from joblib import cpu_count

from vanishing import OAVI

from .data import wide
from .measure import in_turns


class Workers:
    """Fits to rows x 10 that are in the memory of the workers, degree up to 3."""

    params = (("4 x 25000", "16 x 100000", "64 x 250000"), (1, 2, 4, 8))
    param_names = ("blocks", "workers")
    timeout = 1200

    def setup(self, blocks, n_workers):
        if not find_spec("distributed"):
            raise NotImplementedError("Dask's workers come with the package distributed")
        n_blocks, self.size = map(int, blocks.split(" x "))
        cores = cpu_count()
        if n_workers > cores or (n_blocks > 16 and cores < 8):
            raise NotImplementedError("there are not enough cores")
        self.X = np.concatenate([wide(self.size, 10, seed) for seed in range(n_blocks)])
        self.model = OAVI(psi=0.0005, max_degree=3)

    def track_over_array(self, blocks, n_workers):
        import dask.array
        from distributed import Client, LocalCluster

        fit, clock = self.model.fit, time.perf_counter
        (alone,) = in_turns(lambda: fit(self.X), repeat=2, clock=clock)
        cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None)
        with cluster, Client(cluster):
            there = dask.array.from_array(self.X, chunks=(self.size, 10)).persist()
            fit(there)  # compiles on the workers
            (together,) = in_turns(lambda: fit(there), repeat=2, clock=clock)
        return together / alone

    track_over_array.unit = "ratio"
