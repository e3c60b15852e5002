"""How far one machine goes: rows, columns, memory maps, Dask workers, a GPU.

Times stand beside those of the bare products on the same machine in the same run: E'E, E'F and E W
over as many rows (E: the terms of O, F: the leading terms, W: the coefficients), from values that
are already evaluated and in the cache. Memory is what a process of its own needs beyond what it
has before the fit, without the pages of mapped files.

    python benchmarks/scale.py [rows columns large memmap blocks dask gpu classifier few memory]
        [--library torch]
"""

import argparse
import multiprocessing
import os
import tempfile
import threading
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from vanishing import ABM, OAVI, Blocks, VanishingClassifier, VanishingFeatures
from vanishing._threads import one_blas_thread
from vanishing.algebra import monomials
from vanishing.algebra.evaluation import chunk_rows, evaluate
from vanishing.learning import classifier as classifier_file
from vanishing.learning import pipeline
from vanishing.rows import device as device_file
from vanishing.rows.sources import DeviceSource

PSI = 0.0005


def surface(n_samples, seed=0):
    """Return rows near a surface in the unit cube: x2 = (x0 + x0 x1) / 2, noise 0.01."""
    rng = np.random.default_rng(seed)
    X = np.empty((n_samples, 3))
    for start in range(0, n_samples, 1 << 20):
        part = X[start : start + (1 << 20)]
        part[:, :2] = rng.random((len(part), 2))
        part[:, 2] = 0.5 * part[:, 0] * (1.0 + part[:, 1])
        part[:, 2] += rng.normal(scale=0.01, size=len(part))
    return X


def wide(n_samples, n_features, seed=0):
    """Return rows in the unit cube whose columns depend on five hidden ones, noise 0.02."""
    rng = np.random.default_rng(seed)
    hidden = rng.random((n_samples, 5))
    mix = rng.dirichlet(np.ones(5), size=n_features)
    X = (hidden @ mix.T) ** 2 + rng.normal(scale=0.02, size=(n_samples, n_features))
    return (X - X.min(axis=0)) / np.ptp(X, axis=0)


def bare_products(model, n_samples):
    """Return the seconds of the bare products for a fitted model, over so many rows."""
    terms = np.vstack([model.terms_, model.leading_terms_])
    plan, position = monomials.plan(terms)
    k, rows = model.n_terms_, chunk_rows(plan.parent.size, None)
    values = next(evaluate(np.random.default_rng(0).random((rows, 3)), plan, rows=rows))[1]
    E, F = values[position[:k]], values[position[k:]]
    gram, cross = np.zeros((k, k)), np.zeros((k, len(terms) - k))
    with one_blas_thread():
        start = time.perf_counter()
        for _ in range(-(-n_samples // rows)):
            gram += E @ E.T
            cross += E @ F.T
            model.coef_ @ E
        return time.perf_counter() - start


def best(function, repeat=3):
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


class PeakMemory:
    """The most memory of this process's own (not of mapped files) while something runs, in MiB."""

    def __enter__(self):
        self.before = self.peak = self._now()
        self.done = threading.Event()
        self.watcher = threading.Thread(target=self._watch)
        self.watcher.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.watcher.join()

    @property
    def extra(self):
        return self.peak - self.before

    def _watch(self):
        while not self.done.wait(0.002):
            self.peak = max(self.peak, self._now())

    @staticmethod
    def _now():
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                return int(line.split()[1]) / 1024
        return float("nan")


def alone(function, *arguments):
    """Call a function in a process of its own, warmed up; memory of earlier calls is not in it."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def warm_up():
    warnings.simplefilter("ignore")
    OAVI(psi=PSI).fit(surface(1000))


def fit_of(n_samples):
    warm_up()
    X = surface(n_samples)
    with PeakMemory() as memory:
        model = OAVI(psi=PSI).fit(X)
    seconds = best(lambda: model.fit(X))
    return seconds, bare_products(model, n_samples), memory.extra, model.n_terms_, len(model.coef_)


def rows():
    print("rows x 3, psi = 0.0005, oracle pcg, one core")
    print(f"{'rows':>10}{'|O|':>5}{'|G|':>5}{'fit s':>9}{'/bare':>7}{'growth':>8}{'MiB':>7}")
    last = None
    for n_samples in (100_000, 500_000, 1_000_000, 2_000_000, 4_000_000, 10_000_000):
        seconds, bare, memory, k, g = alone(fit_of, n_samples)
        growth = "" if last is None else f"{seconds / last[1] / (n_samples / last[0]):.2f}"
        print(
            f"{n_samples:>10}{k:>5}{g:>5}{seconds:>9.3f}{seconds / bare:>7.2f}{growth:>8}"
            f"{memory:>7.0f}",
            flush=True,
        )
        last = n_samples, seconds
    print("growth: the time over that of the line before, over the same ratio of the rows")


def wide_fit_of(n_features, border, algorithm):
    warm_up()
    X = wide(20_000, n_features)
    estimator = {"oavi": OAVI, "abm": ABM}[algorithm](psi=PSI, border=border, max_degree=3)
    with PeakMemory() as memory, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        estimator.fit(X)
        seconds = time.perf_counter() - start
    stopped = any("stopped early" in str(w.message) for w in caught)
    return seconds, memory.extra, estimator.n_terms_, estimator.n_generators_, stopped


def columns():
    print("20,000 rows x columns, psi = 0.0005, degree up to 3")
    print(f"{'columns':>8}{'algorithm':>11}{'border':>8}{'|O|':>6}{'|G|':>8}{'fit s':>8}{'MiB':>7}")
    for n_features in (3, 10, 30, 57, 100):
        for algorithm in ("oavi", "abm"):
            for border in ("gb", "bb"):
                seconds, memory, k, g, stopped = alone(wide_fit_of, n_features, border, algorithm)
                note = "  stopped early, with a warning" if stopped else ""
                print(
                    f"{n_features:>8}{algorithm:>11}{border:>8}{k:>6}{g:>8}{seconds:>8.2f}"
                    f"{memory:>7.0f}{note}",
                    flush=True,
                )


def memmap_fit_of(path, n_samples):
    warm_up()
    X = np.memmap(path, dtype=np.float64, mode="r", shape=(n_samples, 3))
    with PeakMemory() as memory:
        start = time.perf_counter()
        OAVI(psi=PSI).fit(X)
        seconds = time.perf_counter() - start
    return seconds, memory.extra


def array_fit_of(path, n_samples):
    warm_up()
    X = np.fromfile(path).reshape(n_samples, 3)
    return best(lambda: OAVI(psi=PSI).fit(X), 1)


def memmap(n_samples=12_000_000):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.bin")
        surface(n_samples).tofile(path)
        mapped, memory = alone(memmap_fit_of, path, n_samples)
        array = alone(array_fit_of, path, n_samples)
    print(
        f"{n_samples} rows: memory map {mapped:.2f} s, array {array:.2f} s; the map needs "
        f"{memory:.0f} MiB beyond its own pages"
    )


def blocks():
    import pandas as pd

    n_samples = 2_000_000
    X = surface(n_samples)
    passes = []

    def from_memory():
        passes.append(0)
        return (X[start : start + 100_000] for start in range(0, n_samples, 100_000))

    model = OAVI(psi=PSI).fit(from_memory)
    bound = f"at most 2 x degree {model.degree_} + 1, and a look at the first block"
    print(f"{n_samples} rows in blocks of 100,000; passes over the source: {len(passes)} ({bound})")
    with tempfile.TemporaryDirectory() as folder:
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        parquet, text = os.path.join(folder, "rows.parquet"), os.path.join(folder, "rows.csv")
        frame.to_parquet(parquet)
        frame.to_csv(text, index=False)
        for name, source in (
            ("array", X),
            ("blocks of an array", from_memory),
            ("Parquet file", Blocks.from_parquet(parquet)),
            ("CSV file", Blocks.from_csv(text)),
        ):
            with PeakMemory() as memory:
                seconds = best(partial(OAVI(psi=PSI).fit, source), 1)
            print(f"{name:<20}{seconds:>8.2f} s{memory.extra:>7.0f} MiB", flush=True)


def large():
    import sklearn.preprocessing

    from vanishing import datasets

    warm_up()
    X, y = datasets.load("spam", return_X_y=True)
    X = sklearn.preprocessing.minmax_scale(X)
    models = [OAVI(psi=0.0001, border="bb") for _ in range(2)]
    with PeakMemory() as memory:
        seconds = best(lambda: [model.fit(X[y == i]) for i, model in enumerate(models)], 1)
    found = sum(model.n_generators_ for model in models)
    print(f"spam, bb, psi = 0.0001: {found} generators, {seconds:.1f} s, {memory.extra:.0f} MiB")
    X = np.random.default_rng(0).random((20_000, 100))
    with PeakMemory() as memory, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = OAVI(psi=1e-6, max_degree=3)
        seconds = best(partial(model.fit, X), 1)
    print(f"random, 100 columns: |O| {model.n_terms_}, {seconds:.0f} s, {memory.extra:.0f} MiB")
    print(*(warning.message for warning in caught), sep="\n")


def dask(n_blocks, block_rows, workers):
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    size = (block_rows, 10)
    X = np.concatenate([wide(*size, seed=i) for i in range(n_blocks)])
    model = OAVI(psi=PSI, max_degree=3)
    local = best(partial(model.fit, X), 2)
    print(f"{len(X)} rows x {size[1]} in {n_blocks} blocks; array in this process: {local:.2f} s")
    for n_workers in workers:
        cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None)
        with cluster, Client(cluster):
            make = dask.delayed(wide, pure=True)
            blocks = [da.from_delayed(make(*size, seed=i), size, float) for i in range(n_blocks)]
            on_workers = da.concatenate(blocks).persist()
            model.fit(on_workers)  # compiles on the workers
            seconds = best(partial(model.fit, on_workers), 2)
        print(f"{n_workers} worker processes: {seconds:.2f} s", flush=True)


class Device:
    """A GPU through PyTorch or CuPy; the CPU through PyTorch where there is none."""

    def __init__(self, library):
        self.library = library
        self.options = {}
        if library == "torch":
            import torch as xp

            there = xp.cuda.is_available()
            self.options["device"] = "cuda" if there else "cpu"
            self.name = xp.cuda.get_device_name(0) if there else "the CPU: no GPU is there"
            self.synchronise = xp.cuda.synchronize if there else lambda: None
            self.free = xp.cuda.empty_cache
            self.peak = xp.cuda.max_memory_allocated if there else lambda: 0
            self.held = xp.cuda.memory_allocated if there else lambda: 0
            self.forget = xp.cuda.reset_peak_memory_stats if there else lambda: None
            xp.manual_seed(0)
        else:
            import cupy as xp

            self.name = xp.cuda.runtime.getDeviceProperties(0)["name"].decode()
            self.synchronise = xp.cuda.Device().synchronize
            self.free = xp.get_default_memory_pool().free_all_blocks
            self.peak = xp.get_default_memory_pool().total_bytes
            self.held = xp.get_default_memory_pool().used_bytes
            self.forget = xp.get_default_memory_pool().free_all_blocks
            xp.random.seed(0)
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

    def beside(self, function):
        """Return the GiB that a function needs at most beside what is held already, and seconds."""
        self.forget()
        held = self.held()
        seconds = self.timed(function)
        return (self.peak() - held) / 2**30, seconds

    def timed(self, function):
        self.synchronise()
        start = time.perf_counter()
        function()
        self.synchronise()
        return time.perf_counter() - start


def gpu(library, n_samples):
    """Time a fit of resident rows beside the products through the library's own matrix product."""
    device = Device(library)
    xp, name, options, timed = device.xp, device.name, device.options, device.timed
    X = device.uniform(n_samples, 3)
    X[:, 2] = 0.5 * X[:, 0] * (1.0 + X[:, 1]) + 0.01 * device.normal(n_samples)
    model = OAVI(psi=PSI).fit(X)
    fit = min(timed(lambda: model.fit(X)) for _ in range(3))
    transform = min(timed(lambda: model.transform(X)) for _ in range(2))
    device.free()
    # The same products of values that are already there, in pieces that fit beside the rows.
    k, g = model.n_terms_, model.n_generators_
    piece = min(n_samples, 20_000_000)
    E, F = xp.ones((k, piece), **options), xp.ones((g, piece), **options)
    W = xp.asarray(model.coef_, **options)

    def products():
        E @ E.T
        E @ F.T
        W @ E

    products()
    bare = min(timed(products) for _ in range(3)) * n_samples / piece
    print(
        f"{library} on {name}, {n_samples:.0e} x 3 float64: |O| {k}, |G| {g}; fit {fit:.3f} s, "
        f"bare products {bare:.3f} s, ratio {fit / bare:.2f}; transform {transform:.3f} s"
    )


def two_classes(device, n_samples):
    """Return rows and labels of two classes on a device."""
    X = device.uniform(n_samples, 3)
    label = device.uniform(n_samples) < 0.5
    bend = 0.25 * device.xp.where(label, X[:, 0], X[:, 1])
    X[:, 2] = 0.5 * X[:, 0] * (1.0 + X[:, 1]) + bend + 0.05 * device.normal(n_samples)
    return X, label


def few(library):
    """Time fits and answers of few rows where they are, and by the CPU."""
    device = Device(library)
    limits = {name: getattr(device_file, name) for name in ("_FEW_TO_FIT", "_FEW_TO_EVALUATE")}
    print(f"milliseconds on {device.name} / by the CPU, x 3 columns")
    print(f"{'rows':>9}{'fit':>16}{'transform':>16}{'classifier':>16}{'predict':>16}")
    for n_samples in (1000, 3000, 10_000, 30_000, 100_000):
        X, y = two_classes(device, n_samples)
        model, both = OAVI(psi=PSI), VanishingClassifier(psi=PSI)
        found = []
        for limit in (0, 1 << 62):
            for name in limits:
                setattr(device_file, name, limit)
            parts = (
                partial(model.fit, X),
                partial(model.transform, X),
                partial(both.fit, X, y),
                partial(both.predict, X),
            )
            found.append([_warm(device, part) for part in parts])
        times = (
            f"{1e3 * there:.2f} / {1e3 * here:.2f}" for there, here in zip(*found, strict=True)
        )
        print(f"{n_samples:>9}", *(f"{text:>16}" for text in times), sep="", flush=True)
    for name, limit in limits.items():
        setattr(device_file, name, limit)


def _warm(device, part):
    part()
    return min(device.timed(part) for _ in range(5))


def memory(library):
    """Measure the memory that is needed beside the rows, and rows that are sent in blocks."""
    device = Device(library)
    for n_samples in (20_000_000, 100_000_000, 400_000_000):
        X, y = two_classes(device, n_samples)
        device.free()
        both = VanishingClassifier(psi=PSI)
        for name, part in (
            ("OAVI", partial(OAVI(psi=PSI).fit, X)),
            ("classifier", partial(both.fit, X, y)),
            ("predict", partial(both.predict, X)),
        ):
            extra, seconds = device.beside(part)
            print(f"{n_samples:.0e} {name:<11}{extra:>6.2f} GiB{seconds:>9.3f} s", flush=True)
        if n_samples == 100_000_000:
            rows = X.get() if library == "cupy" else X.cpu().numpy()
        del X, y, part
        device.free()
    send = "cuda" if library == "torch" else device.xp.asarray
    extra, seconds = device.beside(partial(OAVI(psi=PSI).fit, Blocks.from_array(rows, device=send)))
    copied = device.timed(lambda: device.xp.asarray(rows, **device.options))
    print(
        f"{len(rows):.0e} rows sent in blocks: {extra:.2f} GiB, {seconds:.3f} s; copied once: "
        f"{copied:.3f} s"
    )


def classifier(library, n_samples):
    """Time a fit of the classifier to resident rows of two classes, by its parts.

    Beside the products that it cannot do without through the library's own: per pass of the SVM
    the values of the generators, F = E W, the scores F w, and the Hessian F'F.
    """
    device = Device(library)
    X, label = two_classes(device, n_samples)
    places = {"there": label, "here": (label.get() if library == "cupy" else label.cpu().numpy())}
    seconds, passes = {}, {}

    def watched(owner, name, part):
        """Let a function add its seconds, and the passes that it makes, to those of a part."""
        function = getattr(owner, name)

        def watching(*arguments, **options):
            found = []
            before = asked[0]
            taken = device.timed(lambda: found.append(function(*arguments, **options)))
            seconds[part] = seconds.get(part, 0.0) + taken
            passes[part] = passes.get(part, 0) + asked[0] - before
            return found[0]

        setattr(owner, name, watching)

    def counted(source, question, combine, ask=DeviceSource.ask):
        asked[0] += 1
        return ask(source, question, combine)

    asked = [0]
    DeviceSource.ask = counted
    watched(classifier_file, "source_of", "checks and labels")
    watched(classifier_file, "labelled_source", "checks and labels")
    watched(VanishingFeatures, "fit_labelled", "generators")
    watched(pipeline, "fit_in_passes", "SVM")
    watched(classifier_file, "temperature_of", "temperature")
    for where, y in places.items():
        model = VanishingClassifier(psi=PSI).fit(X, y)  # compiles, and fills the library's pools
        fits = []
        for _ in range(3):
            seconds.clear()
            passes.clear()
            fits.append((device.timed(lambda: model.fit(X, y)), dict(seconds)))  # noqa: B023
        fit, by_part = min(fits, key=lambda found: found[0])
        print(
            f"{library} on {device.name}, {n_samples:.0e} x 3 float64, labels {where}: |O| "
            f"{model.n_terms_}, |G| {model.n_generators_}; fit {fit:.3f} s, "
            f"{device.peak() / 2**30:.1f} GiB at most"
        )
        for part, taken in by_part.items():
            print(f"  {part:<20}{taken:>8.3f} s{passes[part]:>5} passes")
    score = float((model.predict(X) == label).sum()) / n_samples
    device.free()
    k, g = model.n_terms_, model.n_generators_
    piece = min(n_samples, 5_000_000)
    E = device.uniform(piece, k)
    W, w = device.uniform(k, g), device.uniform(g, 2)

    def products():
        F = E @ W
        F @ w
        F.T @ F

    products()
    bare = min(device.timed(products) for _ in range(3)) * n_samples / piece
    print(
        f"bare products of a pass {bare:.4f} s, of the SVM's {passes['SVM']} passes "
        f"{bare * passes['SVM']:.3f} s: ratio {by_part['SVM'] / bare / passes['SVM']:.1f}; "
        f"accuracy {score:.4f}"
    )


def main():
    parts = {"rows": rows, "columns": columns, "large": large, "memmap": memmap, "blocks": blocks}
    on_device = {"few": few, "memory": memory}
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "parts",
        nargs="*",
        default=list(parts),
        help=f"{', '.join(parts)}, dask, gpu, {', '.join(on_device)}, classifier",
    )
    parser.add_argument("--blocks", type=int, default=16, help="of the Dask part")
    parser.add_argument("--block-rows", type=int, default=100_000)
    parser.add_argument("--workers", default="1,2", help="numbers of processes to try")
    parser.add_argument("--library", default="torch", choices=("torch", "cupy"))
    parser.add_argument(
        "--rows", type=float, help="of the GPU parts: by default 1e8, of the classifier 2e7"
    )
    options = parser.parse_args()
    for part in options.parts:
        if part == "gpu":
            gpu(options.library, int(options.rows or 1e8))
        elif part == "classifier":
            classifier(options.library, int(options.rows or 2e7))
        elif part in on_device:
            on_device[part](options.library)
        elif part == "dask":
            workers = [int(number) for number in options.workers.split(",")]
            dask(options.blocks, options.block_rows, workers)
        else:
            parts[part]()
        print()


if __name__ == "__main__":
    main()
