"""Many rows: arrays beside the bare products, and other places that rows may be in."""

import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from vanishing import OAVI, Blocks, VanishingClassifierCV

from .data import surface
from .floor import products
from .measure import extra_memory, ratio

PSI = 0.0005
BLOCK = 100_000


class Array:
    """Fits to rows x 3 in memory."""

    params = ((100_000, 1_000_000, 10_000_000),)
    param_names = ("rows",)
    timer = time.process_time

    def setup(self, n_samples):
        self.X = surface(n_samples)
        self.model = OAVI(psi=PSI).fit(self.X[:1000])

    def time_fit(self, *_):
        self.model.fit(self.X)

    def track_memory(self, *_):
        return extra_memory(self.time_fit)

    track_memory.unit = "MiB"

    def track_over_products(self, n_samples):
        self.time_fit()
        return ratio(self.time_fit, products(self.model, n_samples), repeat=5)

    track_over_products.unit = "ratio"


class Elsewhere:
    """Fits to rows x 3 of a memory map, of blocks and of files, beside those to an array."""

    params = ((100_000, 2_000_000), ("memory map", "blocks", "CSV", "Parquet"))
    param_names = ("rows", "source")
    timer = time.process_time

    def setup(self, n_samples, kind):
        if kind in ("CSV", "Parquet") and not find_spec("pandas"):
            raise NotImplementedError("files are written with pandas")
        if kind == "Parquet" and not find_spec("pyarrow"):
            raise NotImplementedError("Parquet files are written with pyarrow")
        self.X = surface(n_samples)
        self.source = elsewhere(self.X, kind)
        self.model = OAVI(psi=PSI).fit(self.X[:1000])

    def time_fit(self, *_):
        self.model.fit(self.source)

    def track_memory(self, *_):
        return extra_memory(self.time_fit)

    track_memory.unit = "MiB"

    def track_over_array(self, *_):
        return ratio(self.time_fit, lambda: self.model.fit(self.X), repeat=3)

    track_over_array.unit = "ratio"


def elsewhere(X, kind):
    """Return the rows as another source, through a file that is written where it is not there."""
    if kind == "blocks":
        return Blocks.from_array(X, rows=BLOCK)
    path = Path(f"{len(X)}-{kind}")
    if kind == "memory map":
        if not path.exists():
            X.tofile(path)
        return np.memmap(path, dtype=X.dtype, mode="r", shape=X.shape)
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    if kind == "CSV":
        if not path.exists():
            frame.to_csv(path, index=False)
        return Blocks.from_csv(path)
    if not path.exists():
        frame.to_parquet(path)
    return Blocks.from_parquet(path)


class Searched:
    """Searches on rows x 3 of two classes, in blocks that are made when they are read."""

    params = ((200_000, 2_000_000, 20_000_000, 100_000_000),)
    param_names = ("rows",)
    timeout = 3600
    repeat = 1
    timer = time.process_time

    def setup(self, n_samples):
        def read():
            for seed in range(n_samples // BLOCK):
                random = np.random.default_rng(seed)
                X = random.uniform(size=(BLOCK, 3))
                level = X[:, 0] ** 2 + X[:, 1] * X[:, 2] + random.normal(scale=0.05, size=BLOCK)
                yield X, level > 0.5

        self.blocks = Blocks(read)
        self.read = read
        VanishingClassifierCV().fit(*next(read()))  # compiles

    def time_fit(self, *_):
        self.model = VanishingClassifierCV().fit(self.blocks)

    def track_memory(self, *_):
        return extra_memory(self.time_fit)

    track_memory.unit = "MiB"

    def track_over_reading(self, *_):
        """How many times as long as one pass that only makes the rows."""
        return ratio(self.time_fit, lambda: [None for _ in self.read()], repeat=1)

    track_over_reading.unit = "ratio"
