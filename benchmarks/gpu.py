"""Rows on a GPU, through PyTorch or CuPy, beside the library's own matrix products.

PyTorch without a GPU has its rows on the CPU, and few of them.
"""

import time
from importlib.util import find_spec

from vanishing import OAVI, VanishingClassifier

PSI = 0.0005
LIBRARIES = ("torch", "cupy")


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
            self.peak = xp.cuda.max_memory_allocated if there else lambda: 0
            xp.manual_seed(0)
        else:
            import cupy as xp

            there = xp.cuda.is_available()
            self.synchronise = lambda: xp.cuda.Device().synchronize()
            self.peak = xp.get_default_memory_pool().total_bytes
            xp.random.seed(0)
        if not there and (library == "cupy" or n_samples > 1_000_000):
            raise NotImplementedError("there is no GPU")
        self.xp = xp
        self.options["dtype"] = xp.float64

    def uniform(self, *shape):
        if self.library == "torch":
            return self.xp.rand(*shape, **self.options)
        return self.xp.random.random(shape)

    def normal(self, *shape):
        if self.library == "torch":
            return self.xp.randn(*shape, **self.options)
        return self.xp.random.standard_normal(shape)

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


class Fit:
    """OAVI on rows x 3 near a surface."""

    params = (LIBRARIES, (100_000, 100_000_000))
    param_names = ("library", "rows")

    def setup(self, library, n_samples):
        self.device = device = Device(library, n_samples)
        self.X = X = device.uniform(n_samples, 3)
        X[:, 2] = 0.5 * X[:, 0] * (1.0 + X[:, 1]) + 0.01 * device.normal(n_samples)
        self.model = OAVI(psi=PSI).fit(X)

    def track_fit(self, *_):
        return self.device.seconds(lambda: self.model.fit(self.X))

    track_fit.unit = "s"

    def track_transform(self, *_):
        return self.device.seconds(lambda: self.model.transform(self.X))

    track_transform.unit = "s"

    def track_over_products(self, library, n_samples):
        """Track the ratio to E'E, E'F and E W of values that are there, in pieces that fit."""
        device = self.device
        fit = device.seconds(lambda: self.model.fit(self.X))
        piece = min(n_samples, 20_000_000)
        E = device.uniform(self.model.n_terms_, piece)
        F = device.uniform(self.model.n_generators_, piece)
        W = device.xp.asarray(self.model.coef_, **device.options)

        def products():
            E @ E.T
            E @ F.T
            W @ E

        return fit / (device.seconds(products) * n_samples / piece)

    track_over_products.unit = "ratio"


class Classifier:
    """The classifier on rows x 3 of two classes, with labels on the device or on the CPU."""

    params = (LIBRARIES, (100_000, 20_000_000), ("there", "here"))
    param_names = ("library", "rows", "labels")

    def setup(self, library, n_samples, labels):
        self.device = device = Device(library, n_samples)
        self.X = X = device.uniform(n_samples, 3)
        label = device.uniform(n_samples) < 0.5
        bend = 0.25 * device.xp.where(label, X[:, 0], X[:, 1])
        X[:, 2] = 0.5 * X[:, 0] * (1.0 + X[:, 1]) + bend + 0.05 * device.normal(n_samples)
        here = label.get() if library == "cupy" else label.cpu().numpy()
        self.y = here if labels == "here" else label
        self.model = VanishingClassifier(psi=PSI).fit(X, self.y)

    def track_fit(self, *_):
        return self.device.seconds(lambda: self.model.fit(self.X, self.y))

    track_fit.unit = "s"

    def track_memory(self, *_):
        if not self.device.peak():
            raise NotImplementedError("there is no GPU")
        return self.device.peak() / 2**30

    track_memory.unit = "GiB"

    def track_over_pass(self, library, n_samples, labels):
        """Track the ratio to the bare products of one pass of the SVM: F = E W, F w and F'F."""
        device = self.device
        fit = device.seconds(lambda: self.model.fit(self.X, self.y))
        piece = min(n_samples, 5_000_000)
        k, g = self.model.n_terms_, self.model.n_generators_
        E, W, w = device.uniform(piece, k), device.uniform(k, g), device.uniform(g, 2)

        def products():
            F = E @ W
            F @ w
            F.T @ F

        return fit / (device.seconds(products) * n_samples / piece)

    track_over_pass.unit = "passes"
