"""Many columns: rows that depend on five hidden variables, and rows where nothing vanishes."""

import time

import numpy as np

from vanishing import ABM, OAVI

from .data import wide
from .measure import extra_memory

ALGORITHMS = {"oavi": OAVI, "abm": ABM}


class Columns:
    """Fits to 20,000 rows, psi = 0.0005, degree up to 3."""

    params = ((3, 10, 30, 57, 100), tuple(ALGORITHMS), ("gb", "bb"))
    param_names = ("columns", "algorithm", "border")
    timer = time.process_time

    def setup(self, n_features, algorithm, border):
        self.X = wide(20_000, n_features)
        self.model = ALGORITHMS[algorithm](psi=0.0005, border=border, max_degree=3)
        self.model.fit(self.X[:200, :3])

    def time_fit(self, *_):
        self.model.fit(self.X)

    def peakmem_fit(self, *_):
        self.model.fit(self.X)


class NothingVanishes:
    """The memory of a fit to random entries: a border that would not fit is refused."""

    params = ((10, 30, 100),)
    param_names = ("columns",)

    def setup(self, n_features):
        self.X = np.random.default_rng(0).random((20_000, n_features))
        self.model = OAVI(psi=1e-6, max_degree=3 if n_features > 30 else 2)

    def track_memory(self, *_):
        return extra_memory(lambda: self.model.fit(self.X))

    track_memory.unit = "MiB"
