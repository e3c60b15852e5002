"""Run an experiment: find the runs that are missing, make them, and write tables or a figure."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path

import numpy as np

import vanishing.datasets as datasets
from vanishing._version import __version__
from vanishing.estimators.progress import Progress, listening
from vanishing.experiments import protocol
from vanishing.experiments.figure import draw
from vanishing.experiments.records import Key, Records
from vanishing.experiments.tables import PaperTable, machine, runs_csv
from vanishing.persistence.files import write_atomically

TITLES = {
    "performance": "Performance",
    "borders": "Borders: GB against BB",
    "beyond": "What the paper does not have",
    "figure": "|G| and |O| over psi",
}


class Experiment:
    """One of the paper's experiments, over chosen data sets and algorithms.

    Parameters
    ----------
    name : {"performance", "borders", "beyond", "figure"}
    out : path-like
        Folder of the results. Experiments that share a folder share their runs.
    names : sequence of str or None
        Data sets; None means those of the experiment.
    algorithms : sequence of str or None
        Names of `protocol.ALGORITHMS`; None means those of the experiment.
    n_runs : int
        Random splits; fewer where an algorithm would take hours (`Algorithm.max_runs`).
    data_home : path-like or None
        Where to look for the data sets first.
    n_jobs : int or None
        Threads or processes inside a run.
    as_published : bool
        Take C = 1 for PCGAVI* and ABM*, as the published figures did.
    command : str
        What the user typed, written below the tables.
    """

    def __init__(
        self,
        name: str,
        out,
        *,
        names: Sequence[str] | None = None,
        algorithms: Sequence[str] | None = None,
        n_runs: int = 10,
        data_home=None,
        n_jobs: int | None = None,
        as_published: bool = False,
        command: str = "",
    ):
        self.name = name
        is_figure = name == "figure"
        self.kind = "sizes" if is_figure else "pipeline"
        self.datasets = chosen(
            "data set",
            names,
            protocol.FIGURE_DATASETS if is_figure else protocol.DATASETS,
            protocol.DATASETS,
        )
        known = [
            key
            for key, algorithm in protocol.ALGORITHMS.items()
            if algorithm.transformer is not None or not is_figure
        ]
        names = chosen("algorithm", algorithms, protocol.EXPERIMENTS[name], known)
        # C plays no part in the figure.
        self.as_published = as_published and not is_figure
        self.algorithms = {
            key: protocol.algorithm(key, as_published=self.as_published) for key in names
        }
        self.n_runs = n_runs
        self.n_jobs = n_jobs
        self.data_home = data_home
        self.command = command
        self.records = Records(out)
        self.out = Path(out)
        # Rounds over everything rather than one data set after the other: after the first there
        # is an estimate for all, and a run of each if it is interrupted.
        self.keys = [
            self._key(dataset, algorithm, run)
            for run in range(n_runs)
            for dataset in self.datasets
            for algorithm, details in self.algorithms.items()
            if run < details.max_runs.get(dataset, n_runs)
        ]
        loaded = {key: self.records.load(key) for key in self.keys}
        self.done = {key: record for key, record in loaded.items() if record is not None}

    def _key(self, dataset, algorithm, run):
        published = protocol.is_altered(algorithm, self.as_published)
        return Key(self.kind, dataset, algorithm, run, published)

    @property
    def missing(self) -> list[Key]:
        """The runs that have not been made."""
        return [key for key in self.keys if key not in self.done]

    def run(self) -> None:
        """Make the missing runs; write the record of each, and the tables, when it is done.

        Each run is an event for `vanishing.listening`.
        """
        missing = self.missing
        progress = Progress("reproduce", of=len(missing))
        if missing:
            needed = {key.dataset for key in missing}
            data = {
                name: datasets.load(name, data_home=self.data_home, return_X_y=True)
                for name in self.datasets
                if name in needed
            }
            with listening(None):
                protocol.warm_up(
                    [self.algorithms[name] for name in {key.algorithm for key in missing}]
                )
            measure: Callable[..., dict]
            measure = protocol.sizes_run if self.kind == "sizes" else protocol.pipeline_run
            about = {
                "n_jobs": self.n_jobs,
                "version": __version__,
                "date": date.today().isoformat(),
                "machine": machine(),
            }
        seconds = defaultdict(list)
        for i, key in enumerate(missing):
            start = time.perf_counter()
            with listening(None):  # events are runs, not the steps inside one
                figures = measure(
                    self.algorithms[key.algorithm], *data[key.dataset], key.run, self.n_jobs
                )
            elapsed = time.perf_counter() - start
            seconds[key.dataset, key.algorithm].append(elapsed)
            self.done[key] = self.records.save(key, figures, seconds=elapsed, **about)
            self.write()
            left = _duration(_estimate(missing[i + 1 :], seconds))
            progress.step(f"{key.dataset}, {key.algorithm}, split {key.run}; about {left} left")
        self.write()

    def write(self) -> list[Path]:
        """Write tables or figure of the runs made so far; return their files."""
        if self.kind == "sizes":
            # The picture is drawn once, at the end: it takes longer than most runs.
            contents: dict[str, str | bytes] = {"csv": self._sizes_csv()}
            if not self.missing:
                contents["png"] = draw(self)
        else:
            table = self._table()
            contents = {
                "csv": table.to_csv(),
                "md": table.to_markdown(command=self.command, machines=self._machines()),
                "runs.csv": runs_csv(
                    (key.dataset, self.algorithms[key.algorithm].label, key.run, figures)
                    for key, figures in self._figures()
                ),
            }
        suffix = "-as-published" if self.as_published else ""
        paths = []
        for extension, content in contents.items():
            paths.append(self.out / f"{self.name}{suffix}.{extension}")
            write_atomically(paths[-1], content)
        return paths

    def _figures(self) -> Iterator[tuple[Key, dict]]:
        """Yield the runs made so far, in the order of the experiment."""
        for key in self.keys:
            if key in self.done:
                yield key, self.done[key]["figures"]

    def _machines(self) -> list[str]:
        machines = {(record["machine"], record.get("n_jobs")) for record in self.done.values()}
        return sorted(
            f"{name}{'' if n_jobs is None else f', n_jobs={n_jobs}'}" for name, n_jobs in machines
        )

    def _table(self) -> PaperTable:
        runs = defaultdict(list)
        for key, figures in self._figures():
            runs[key.dataset, key.algorithm].append(figures)
        labels = {name: algorithm.label for name, algorithm in self.algorithms.items()}
        return PaperTable(TITLES[self.name], self.datasets, labels, runs, self.n_runs)

    def sizes(self, count: str = "n_generators") -> dict[tuple[str, str], np.ndarray]:
        """Return |G|, or |O|, by data set and algorithm: one row per run, one column per psi."""
        counts = defaultdict(list)
        for key, figures in self._figures():
            counts[key.dataset, key.algorithm].append(figures[count])
        return {key: np.array(rows) for key, rows in counts.items()}

    def _sizes_csv(self) -> str:
        lines = ["dataset,algorithm,psi,runs,mean_generators,std_generators,mean_terms,std_terms"]
        n_terms = self.sizes("n_terms")
        for key, n_generators in self.sizes().items():
            for psi, *columns in zip(
                protocol.FIGURE_PSIS, n_generators.T, n_terms[key].T, strict=True
            ):
                cells = [*key, f"{psi:.6g}", str(len(columns[0]))]
                for column in columns:
                    std = f"{column.std(ddof=1):.6g}" if len(column) > 1 else ""
                    cells += [f"{column.mean():.6g}", std]
                lines.append(",".join(cells))
        return "\n".join(lines) + "\n"


def chosen(what, wanted, default, known) -> list[str]:
    """Return the names that are wanted, or the default; raise an error for those not known."""
    if wanted is None:
        return list(default)
    for name in wanted:
        if name not in known:
            raise ValueError(f"Unknown {what} {name!r}; choose from {', '.join(known)}.")
    if not wanted:
        raise ValueError(f"No {what} was given; choose from {', '.join(known)}.")
    return list(dict.fromkeys(wanted))


def _estimate(missing: list[Key], seconds: dict) -> float:
    """Estimate how long the missing runs take, from runs of the same kind, or of all kinds."""
    mean = np.mean([second for times in seconds.values() for second in times])
    return float(sum(np.mean(seconds.get((key.dataset, key.algorithm), mean)) for key in missing))


def _duration(seconds: float) -> str:
    """Write how long something takes, roughly."""
    minutes, hours = seconds / 60, seconds / 3600
    if minutes < 1.5:
        return f"{seconds:.0f} s"
    return f"{minutes:.0f} min" if hours < 1.5 else f"{hours:.1f} h"
