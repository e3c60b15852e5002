"""Rows on a GPU, through PyTorch or CuPy, beside the library's own matrix products.

PyTorch without a GPU has its rows on the CPU, and few of them.
"""

import time
from unittest.mock import patch

import numpy as np

from vanishing import OAVI, Blocks, LawFinder, VanishingClassifier, VanishingClassifierCV
from vanishing.rows import arrays

from .device import Device

PSI = 0.0005
LIBRARIES = ("torch", "cupy")
BLOCK = 100_000


def two_classes(device, n_samples):
    """Return rows and labels of two classes on a device."""
    X = device.uniform(n_samples, 3)
    label = device.uniform(n_samples) < 0.5
    bend = 0.25 * device.xp.where(label, X[:, 0], X[:, 1])
    X[:, 2] = 0.5 * X[:, 0] * (1.0 + X[:, 1]) + bend + 0.05 * device.normal(n_samples)
    return X, label


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

    def track_memory(self, *_):
        return self.device.memory(lambda: self.model.fit(self.X))

    track_memory.unit = "GiB"

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

    params = (LIBRARIES, (100_000, 20_000_000, 100_000_000, 400_000_000), ("there", "here"))
    param_names = ("library", "rows", "labels")

    def setup(self, library, n_samples, labels):
        self.device = device = Device(library, n_samples)
        self.X, label = two_classes(device, n_samples)
        self.y = device.on_cpu(label) if labels == "here" else label
        self.model = VanishingClassifier(psi=PSI).fit(self.X, self.y)

    def track_fit(self, *_):
        return self.device.seconds(lambda: self.model.fit(self.X, self.y))

    track_fit.unit = "s"

    def track_memory(self, *_):
        return self.device.memory(lambda: self.model.fit(self.X, self.y))

    track_memory.unit = "GiB"

    def track_predict_memory(self, *_):
        return self.device.memory(lambda: self.model.predict(self.X))

    track_predict_memory.unit = "GiB"

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


class Searched:
    """Searches on rows x 3 of two classes, beside the same rows in blocks on the CPU."""

    params = (LIBRARIES, (200_000, 20_000_000))
    param_names = ("library", "rows")
    timeout = 3600

    def setup(self, library, n_samples):
        self.device = device = Device(library, n_samples)
        self.X, self.y = two_classes(device, n_samples)
        self.model = VanishingClassifierCV()

    def fit(self):
        self.model.fit(self.X, self.y)

    def track_fit(self, *_):
        return self.device.seconds(self.fit, repeat=1)

    track_fit.unit = "s"

    def track_memory(self, *_):
        return self.device.memory(self.fit)

    track_memory.unit = "GiB"

    def track_difference(self, library, n_samples):
        """Track how far decision values are from those of blocks, relative to the largest.

        Infinite where the searches chose other parameters.
        """
        self.fit()
        X, y = (self.device.on_cpu(array) for array in (self.X, self.y))
        in_blocks = VanishingClassifierCV().fit(Blocks.from_array(X, y, rows=BLOCK))
        if str(self.model.best_params_) != str(in_blocks.best_params_):
            return float("inf")
        some = X[:: max(1, n_samples // 100_000)]
        values = in_blocks.decision_function(some)
        apart = np.abs(self.model.decision_function(some) - values).max()
        return float(apart / np.abs(values).max())

    track_difference.unit = "relative"


class Law:
    """The law of rows x 4 with weights, on the device and of the same rows on the CPU."""

    params = (LIBRARIES, (100_000, 10_000_000))
    param_names = ("library", "rows")
    timeout = 1800

    def setup(self, library, n_samples):
        self.device = device = Device(library, n_samples)
        self.X = device.uniform(n_samples, 4)
        law = 2 * self.X[:, 0] * self.X[:, 1] - 3 * self.X[:, 2]
        self.y = law + 0.01 * device.normal(n_samples)
        self.weights = 0.5 + device.uniform(n_samples)

    def fit(self):
        return LawFinder().fit(self.X, self.y, sample_weight=self.weights)

    def fit_on_cpu(self):
        X, y, weights = (self.device.on_cpu(array) for array in (self.X, self.y, self.weights))
        start = time.perf_counter()
        finder = LawFinder().fit(X, y, sample_weight=weights)
        return finder, time.perf_counter() - start

    def track_fit(self, *_):
        return self.device.seconds(self.fit, repeat=1)

    track_fit.unit = "s"

    def track_over_cpu(self, *_):
        """Track the seconds there as a ratio to those of the same rows on the CPU."""
        self.fit_on_cpu()
        return self.device.seconds(self.fit, repeat=1) / self.fit_on_cpu()[1]

    track_over_cpu.unit = "ratio"

    def track_memory(self, *_):
        return self.device.memory(self.fit)

    track_memory.unit = "GiB"

    def track_difference(self, *_):
        """Track how far the laws' values are apart, relative to the largest."""
        here = self.device.on_cpu(self.X[:10_000])
        there, on_cpu = self.fit().predict(here), self.fit_on_cpu()[0].predict(here)
        return float(np.abs(there - on_cpu).max() / np.abs(on_cpu).max())

    track_difference.unit = "relative"


class Few:
    """Fits and answers of few rows x 3, where they are and by the CPU."""

    params = (LIBRARIES, (1000, 3000, 10_000, 30_000, 100_000), ("there", "by the CPU"))
    param_names = ("library", "rows", "place")

    def setup(self, library, n_samples, place):
        self.device = Device(library, n_samples)
        self.X, self.y = two_classes(self.device, n_samples)
        self.model, self.both = OAVI(psi=PSI).fit(self.X), VanishingClassifier(psi=PSI)
        self.both.fit(self.X, self.y)
        limit = 0 if place == "there" else 1 << 62
        self.limits = {"_FEW_TO_FIT": limit, "_FEW_TO_EVALUATE": limit}

    def milliseconds(self, function):
        with patch.multiple(arrays, **self.limits):
            return 1e3 * self.device.seconds(function, repeat=5)

    def track_fit(self, *_):
        return self.milliseconds(lambda: self.model.fit(self.X))

    def track_transform(self, *_):
        return self.milliseconds(lambda: self.model.transform(self.X))

    def track_classifier(self, *_):
        return self.milliseconds(lambda: self.both.fit(self.X, self.y))

    def track_predict(self, *_):
        return self.milliseconds(lambda: self.both.predict(self.X))

    for method in (track_fit, track_transform, track_classifier, track_predict):
        method.unit = "ms"
    del method


class Sent:
    """OAVI on rows x 3 that stay in NumPy and are sent in blocks, anew in each pass."""

    params = (LIBRARIES, (100_000, 100_000_000))
    param_names = ("library", "rows")

    def setup(self, library, n_samples):
        self.device = device = Device(library, n_samples)
        self.X = device.on_cpu(two_classes(device, n_samples)[0])
        send = device.options["device"] if library == "torch" else device.xp.asarray
        self.blocks = Blocks.from_array(self.X, device=send)

    def fit(self):
        OAVI(psi=PSI).fit(self.blocks)

    def track_over_copy(self, *_):
        device = self.device
        copy = device.seconds(lambda: device.xp.asarray(self.X, **device.options))
        return device.seconds(self.fit) / copy

    track_over_copy.unit = "ratio"

    def track_memory(self, *_):
        return self.device.memory(self.fit)

    track_memory.unit = "GiB"
