"""Seconds of a fit against the number of rows, on rows made for it, and how fast they grow."""

import math
import time
import warnings
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import numpy as np
from sklearn.base import clone

from vanishing._version import __version__
from vanishing.estimators.progress import Progress, listening
from vanishing.experiments import protocol
from vanishing.experiments.records import Key, Records
from vanishing.experiments.replay import kernel_svm
from vanishing.experiments.reproduce import chosen
from vanishing.experiments.settings import (
    SCALE_C,
    SCALE_DEGREE,
    SCALE_KERNEL_ROWS,
    SCALE_NOISE,
    SCALE_PSI,
    SCALE_ROWS,
)
from vanishing.experiments.tables import escaped, machine
from vanishing.learning.features import VanishingFeatures
from vanishing.persistence.files import write_atomically


def made_rows(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in [0, 1]^4 near two surfaces of degree 2, and which of the two, in turn."""
    random = np.random.default_rng(0)
    X = random.uniform(size=(n_rows, 4))
    y = np.arange(n_rows) % 2
    product, square = X[:, 0] * X[:, 1], X[:, 2] ** 2
    X[:, 3] = np.where(y == 0, product, square) + SCALE_NOISE * random.normal(size=n_rows)
    return np.clip(X, 0.0, 1.0), y


class Scaling:
    """Fits of algorithms to more and more rows.

    Parameters
    ----------
    out : path-like
        Folder of the results.
    algorithms : sequence of str or None
        Names of `protocol.ALGORITHMS` with generators, or "svm"; None means those of the
        experiment.
    n_runs : int
        Fits to the same rows, of which the fastest counts.
    n_jobs : int or None
        Threads inside a fit.
    command : str
        What the user typed, written below the table.
    rows : sequence of int
    """

    def __init__(
        self,
        out,
        *,
        algorithms: Sequence[str] | None = None,
        n_runs: int = 3,
        n_jobs: int | None = None,
        command: str = "",
        rows: Sequence[int] = SCALE_ROWS,
    ):
        known = [
            name
            for name, algorithm in protocol.ALGORITHMS.items()
            if algorithm.transformer is not None or name == "svm"
        ]
        names = chosen("algorithm", algorithms, protocol.EXPERIMENTS["scale"], known)
        self.algorithms = {name: protocol.ALGORITHMS[name] for name in names}
        self.rows = list(rows)
        self.n_runs, self.n_jobs, self.command = n_runs, n_jobs, command
        self.out = Path(out)
        self.records = Records(out)
        self.keys = [
            Key("scale", str(n_rows), name, 0)
            for n_rows in self.rows
            for name in names
            if name != "svm" or n_rows <= SCALE_KERNEL_ROWS
        ]
        loaded = {key: self.records.load(key) for key in self.keys}
        self.done = {key: record for key, record in loaded.items() if record is not None}

    def run(self) -> None:
        """Make the missing fits; write the record of each when it is done."""
        missing = [key for key in self.keys if key not in self.done]
        progress = Progress("reproduce", of=len(missing))
        about = {"version": __version__, "date": date.today().isoformat(), "machine": machine()}
        with listening(None):
            protocol.warm_up([self.algorithms[name] for name in {key.algorithm for key in missing}])
        for key in missing:
            with listening(None):
                seconds = self._seconds(key)
            figures = {"fit_s": seconds}
            self.done[key] = self.records.save(key, figures, n_jobs=self.n_jobs, **about)
            self.write()
            progress.step(f"{key.algorithm}, {key.dataset} rows: {seconds:.2g} s")

    def _seconds(self, key: Key) -> float:
        """Return the seconds of the fastest fit."""
        X, y = made_rows(int(key.dataset))
        if key.algorithm == "svm":
            model = kernel_svm(SCALE_DEGREE, SCALE_C)
        else:
            transformer = clone(self.algorithms[key.algorithm].transformer)
            model = VanishingFeatures(transformer.set_params(psi=SCALE_PSI), n_jobs=self.n_jobs)
        times = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(self.n_runs):
                start = time.perf_counter()
                model.fit(X, y)
                times.append(time.perf_counter() - start)
        return min(times)

    def seconds(self, name: str) -> dict[int, float]:
        """Return the seconds of an algorithm by rows, as far as they were measured."""
        return {
            int(key.dataset): record["figures"]["fit_s"]
            for key, record in self.done.items()
            if key.algorithm == name
        }

    def write(self) -> list[Path]:
        """Write the table of the fits made so far; return its files."""
        heads = [*map(str, self.rows), "growth"]
        table = {
            algorithm.label: _row(self.seconds(name), self.rows)
            for name, algorithm in self.algorithms.items()
        }
        machines = sorted({record["machine"] for record in self.done.values()})
        text = [
            "# Seconds against rows",
            "",
            f"Seconds of a fit to rows near two surfaces in [0, 1]^4, psi = {SCALE_PSI:g}, the "
            f"fastest of {self.n_runs}. Growth: the exponent of the number of rows from the last "
            "but one measurement to the last; 1 is proportional.",
            "",
            f"| rows | {' | '.join(heads)} |",
            f"| --- |{' --- |' * len(heads)}",
            *(f"| {escaped(label)} | {' | '.join(cells)} |" for label, cells in table.items()),
            "",
            f"Command: `{self.command}`",
            "",
            f"Machine: {'; '.join(machines)}.",
            "",
        ]
        lines = [f"algorithm,{','.join(heads)}"]
        lines += [
            f'"{label}",{",".join("" if cell == "-" else cell for cell in cells)}'
            for label, cells in table.items()
        ]
        contents = {"scale.csv": "\n".join(lines) + "\n", "scale.md": "\n".join(text)}
        for name, content in contents.items():
            write_atomically(self.out / name, content)
        return [self.out / name for name in contents]


def growth(seconds: dict[int, float]) -> float:
    """Return the exponent of the rows between the two largest measurements; NaN with one."""
    if len(seconds) < 2:
        return math.nan
    (few, short), (many, long) = sorted(seconds.items())[-2:]
    return math.log(long / short) / math.log(many / few)


def _row(seconds: dict[int, float], rows: Sequence[int]) -> list[str]:
    cells = [f"{seconds[n]:.2g}" if n in seconds else "-" for n in rows]
    exponent = growth(seconds)
    return [*cells, "-" if math.isnan(exponent) else f"{exponent:.2f}"]
