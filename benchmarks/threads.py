"""What threads are good for: a fit to a memory map, with 1, 2, 4, ... of them, beside Dask.

Each line is a process of its own, warmed up. Memory is what the process needs beyond what it has
before the fit, without the pages of the mapped file. "same" says that the coefficients and the
measured mean squares have the same bits as with one thread. Dask, where it is installed, has the
same map in blocks and as many threads. A second table has other numbers of rows, for the memory.

    python benchmarks/threads.py [--rows 30000000] [--columns 10] [--threads 1 2 4 8 16]
        [--repeat 1] [--folder DIR]
"""

import argparse
import hashlib
import importlib.util
import multiprocessing
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

from vanishing import OAVI, Blocks

PSI, DEGREE, HIDDEN = 0.0005, 3, 4
BLOCK = 500_000  # rows that are generated, and read by Dask or as blocks, at a time
TRANSFORMED = 2_000_000  # rows


def write_rows(path, n_samples, n_columns):
    """Write rows near a surface in the unit cube: four columns, and squares of mixtures of them."""
    mix = np.random.default_rng(0).dirichlet(np.ones(HIDDEN), size=n_columns - HIDDEN)
    with open(path, "wb") as file:
        for start in range(0, n_samples, BLOCK):
            rng = np.random.default_rng(1 + start)
            X = np.empty((min(BLOCK, n_samples - start), n_columns))
            X[:, :HIDDEN] = rng.random((len(X), HIDDEN))
            X[:, HIDDEN:] = (X[:, :HIDDEN] @ mix.T) ** 2
            X[:, HIDDEN:] += rng.normal(scale=0.01, size=(len(X), n_columns - HIDDEN))
            X.tofile(file)


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
        while not self.done.wait(0.01):
            self.peak = max(self.peak, self._now())

    @staticmethod
    def _now():
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                return int(line.split()[1]) / 1024
        return float("nan")


def estimator(n_jobs=None):
    return OAVI(psi=PSI, max_degree=DEGREE, n_jobs=n_jobs)


def bits(model):
    return hashlib.sha256(model.coef_.tobytes() + model.mse_.tobytes()).hexdigest()


def measured(function, repeat):
    """Return the result, the least seconds of some calls, and the memory of the first."""
    with PeakMemory() as memory:
        start = time.perf_counter()
        result = function()
        seconds = [time.perf_counter() - start]
    for _ in range(repeat - 1):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return result, min(seconds), memory.extra


def run(kind, path, shape, n_threads, repeat):
    """Fit in this process; return seconds, MiB, the bits, |O|, |G|, and seconds of transform."""
    warnings.simplefilter("ignore")
    X = np.memmap(path, dtype=np.float64, mode="r", shape=shape)
    few = np.array(X[:20_000])
    estimator(n_threads).fit(few).transform(few)
    if kind == "dask":
        import dask
        import dask.array as da

        dask.config.set(scheduler="threads", num_workers=n_threads)
        blocks = da.from_array(X, chunks=(BLOCK, shape[1]))
        model, seconds, memory = measured(lambda: estimator().fit(blocks), repeat)
    elif kind == "blocks":
        blocks = Blocks.from_array(X, rows=100_000)
        model, seconds, memory = measured(lambda: estimator(n_threads).fit(blocks), repeat)
    else:
        model, seconds, memory = measured(lambda: estimator(n_threads).fit(X), repeat)
    _, transform, _ = measured(lambda: model.transform(X[:TRANSFORMED]), 2)
    return seconds, memory, bits(model), model.n_terms_, model.n_generators_, transform


def alone(*arguments):
    """Call `run` in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(run, arguments)


def over_threads(path, shape, numbers, repeat):
    """Print the table over threads."""
    kinds = ["map", "blocks"] + (["dask"] if importlib.util.find_spec("dask") else [])
    print(f"{shape[0]} rows x {shape[1]}, psi = {PSI}, degree up to {DEGREE}")
    print(f"{'rows':>8}{'threads':>9}{'fit s':>9}{'speed-up':>10}{'MiB':>7}{'same':>6}", end="")
    print(f"{'transform s':>13}{'|O|':>5}{'|G|':>6}")
    for kind in kinds:
        first = None
        for n_threads in numbers:
            found = alone(kind, path, shape, n_threads, repeat)
            seconds, memory, digest, n_terms, n_generators, transform = found
            first = first or (seconds, digest)
            print(
                f"{kind:>8}{n_threads:>9}{seconds:>9.2f}{first[0] / seconds:>10.2f}{memory:>7.0f}"
                f"{'yes' if digest == first[1] else 'no':>6}{transform:>13.2f}{n_terms:>5}"
                f"{n_generators:>6}",
                flush=True,
            )


def over_rows(path, shape, n_threads):
    """Print the memory of fits to fewer rows."""
    print(f"memory of a fit with {n_threads} threads")
    print(f"{'rows':>10}{'fit s':>9}{'MiB':>7}")
    for n_samples in (shape[0] // 9, shape[0] // 3, shape[0]):
        seconds, memory, *_ = alone("map", path, (n_samples, shape[1]), n_threads, 1)
        print(f"{n_samples:>10}{seconds:>9.2f}{memory:>7.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=30_000_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--folder", help="where there is room for the rows; default: temporary")
    options = parser.parse_args()
    shape = (options.rows, options.columns)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "rows.bin"
        write_rows(path, *shape)
        over_threads(path, shape, options.threads, options.repeat)
        over_rows(path, shape, max(options.threads))


if __name__ == "__main__":
    main()
