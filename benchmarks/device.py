"""A library's arrays on a GPU, its clock and its memory."""

import time
from importlib.util import find_spec


class Device:
    """A library's arrays and its clock."""

    def __init__(self, library, n_samples):
        if not find_spec(library):
            raise NotImplementedError(f"{library} is not installed")
        self.library = library
        self.options = {}
        if library == "torch":
            import torch as xp

            there = xp.cuda.is_available()
            self.options["device"] = "cuda" if there else "cpu"
            self.synchronise = xp.cuda.synchronize if there else lambda: None
            self.peak, self.held = xp.cuda.max_memory_allocated, xp.cuda.memory_allocated
            self.forget = xp.cuda.reset_peak_memory_stats
            xp.manual_seed(0)
        else:
            import cupy as xp

            there = xp.cuda.is_available()
            self.synchronise = lambda: xp.cuda.Device().synchronize()
            pool = xp.get_default_memory_pool()
            self.peak, self.held = pool.total_bytes, pool.used_bytes
            self.forget = pool.free_all_blocks
            xp.random.seed(0)
        if not there and (library == "cupy" or n_samples > 1_000_000):
            raise NotImplementedError("there is no GPU")
        self.xp, self.there = xp, there
        self.options["dtype"] = xp.float64

    def uniform(self, *shape):
        if self.library == "torch":
            return self.xp.rand(*shape, **self.options)
        return self.xp.random.random(shape)

    def normal(self, *shape):
        if self.library == "torch":
            return self.xp.randn(*shape, **self.options)
        return self.xp.random.standard_normal(shape)

    def memory(self, function):
        """Return the GiB that a function needs at most beside what is held already."""
        if not self.there:
            raise NotImplementedError("there is no GPU")
        self.forget()
        held = self.held()
        function()
        self.synchronise()
        return (self.peak() - held) / 2**30

    def on_cpu(self, array):
        return array.get() if self.library == "cupy" else array.cpu().numpy()

    def seconds(self, function, repeat=3):
        """Return the least seconds of a call, from idle to idle; the first call is not counted."""
        function()
        best = float("inf")
        for _ in range(repeat):
            self.synchronise()
            start = time.perf_counter()
            function()
            self.synchronise()
            best = min(best, time.perf_counter() - start)
        return best
