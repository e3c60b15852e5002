"""Runs summed up in the paper's layout, next to the figures that the paper prints.

A cell is marked if the paper's figure is more than three standard errors of the difference from our
mean, beyond what the paper's rounding can explain. Its runs vary as ours do: ten of other splits.
"""

import csv
import io
import math
import os
import platform
from collections import defaultdict
from collections.abc import Iterable
from importlib import metadata, resources
from typing import NamedTuple

import numpy as np

from vanishing._version import __version__
from vanishing.experiments.published_runs import published_runs
from vanishing.experiments.settings import MARKED_ERRORS

METRICS = {
    "error": "Error on the test rows, %",
    "tuning_s": "Tuning time, s",
    "test_s": "Test time, s",
    "size": "\\|G\\| + \\|O\\|",
    "sparsity": "SPAR",
}
_TIMES = ("tuning_s", "test_s")
ABOVE, BELOW = "▲", "▼"


class Published(NamedTuple):
    """A figure that the paper prints, the largest error of its rounding, and its standard error."""

    value: float
    rounding: float
    standard_error: float = 0.0  # of times, which are not on record here


def published() -> dict[tuple[str, str, str], Published]:
    """Return the paper's figures by metric, algorithm and data set."""
    text = resources.files("vanishing.experiments").joinpath("paper.csv").read_text("utf-8")
    figures, errors = {}, _standard_errors()
    for line in csv.DictReader(io.StringIO(text)):
        metric, algorithm = line.pop("metric"), line.pop("algorithm")
        for dataset, printed in line.items():
            mantissa, _, exponent = printed.partition("e")
            digits = len(mantissa.partition(".")[2])
            rounding = 0.5 * 10.0 ** (int(exponent or 0) - digits)
            key = metric, algorithm, dataset
            figures[key] = Published(float(printed), rounding, errors.get(key, 0.0))
    return figures


def _standard_errors() -> dict[tuple[str, str, str], float]:
    """Return the standard errors of the paper's means, from the runs behind them."""
    values = defaultdict(list)
    for run in published_runs(papers=["oavi"]):
        name = f"{run.algorithm}-bb" if run.border == "bb" else run.algorithm
        values["error", name, run.dataset].append(100.0 * run.figures["error"])
        if run.psi is not None:
            size = run.figures["n_generators"] + run.figures["n_terms"]
            values["size", name, run.dataset].append(size)
            values["sparsity", name, run.dataset].append(run.figures["sparsity"])
    return {key: float(np.std(v, ddof=1) / math.sqrt(len(v))) for key, v in values.items()}


class Cell(NamedTuple):
    """A metric of an algorithm on a data set over its runs."""

    mean: float
    std: float  # NaN for a single run
    n_runs: int
    paper: Published | None

    @property
    def mark(self) -> str:
        """A sign that our mean is above or below the paper's figure; "" if neither is clear."""
        if self.paper is None or self.n_runs < 2:
            return ""
        difference = self.mean - self.paper.value
        error = math.hypot(self.std / math.sqrt(self.n_runs), self.paper.standard_error)
        allowed = MARKED_ERRORS * error + self.paper.rounding
        if abs(difference) <= allowed * (1.0 + 1e-9):
            return ""
        return ABOVE if difference > 0 else BELOW


class PaperTable:
    """The runs of an experiment in the paper's layout.

    Parameters
    ----------
    title : str
    datasets : sequence of str
        The columns.
    labels : dict from an algorithm's name to what the table calls it
        The rows of each metric.
    runs : dict from (data set, algorithm) to a list of figures of `protocol.pipeline_run`
    asked : int
        How many runs there should be.
    """

    def __init__(self, title, datasets, labels, runs, asked):
        self.title = title
        self.datasets = list(datasets)
        self.labels = labels
        self.asked = asked
        figures = published()
        self.cells = {}
        for (dataset, algorithm), results in runs.items():
            for metric in METRICS:
                values = [result[metric] for result in results if result[metric] is not None]
                if values:
                    self.cells[metric, algorithm, dataset] = Cell(
                        float(np.mean(values)),
                        float(np.std(values, ddof=1)) if len(values) > 1 else math.nan,
                        len(values),
                        figures.get((metric, algorithm, dataset)),
                    )

    def to_csv(self) -> str:
        """Return the table with the paper's columns and one line per statistic."""
        out = io.StringIO()
        write = csv.writer(out, lineterminator="\n").writerow
        write(["metric", "algorithm", "statistic", *self.datasets])
        statistics = {
            "mean": lambda cell: f"{cell.mean:.6g}",
            "std": lambda cell: "" if math.isnan(cell.std) else f"{cell.std:.6g}",
            "runs": lambda cell: cell.n_runs,
            "paper": lambda cell: "" if cell.paper is None else f"{cell.paper.value:g}",
            "differs": lambda cell: {ABOVE: "above", BELOW: "below", "": ""}[cell.mark],
        }
        for metric in METRICS:
            for algorithm, label in self._rows(metric):
                for statistic, show in statistics.items():
                    cells = [self.cells.get((metric, algorithm, name)) for name in self.datasets]
                    shown = ["" if cell is None else show(cell) for cell in cells]
                    write([metric, label, statistic, *shown])
        return out.getvalue()

    def to_markdown(self, *, command: str, machines: list[str]) -> str:
        """Return the table in Markdown, with how it was made."""
        lines = [f"# {self.title}", "", self._about(), ""]
        for metric, heading in METRICS.items():
            rows = self._rows(metric)
            if not rows:
                continue
            lines += [
                f"| {heading} | {' | '.join(self.datasets)} |",
                f"| --- |{' --- |' * len(self.datasets)}",
            ]
            for algorithm, label in rows:
                cells = [self._show(metric, algorithm, name) for name in self.datasets]
                lines.append(f"| {escaped(label)} | {' | '.join(cells)} |")
            lines.append("")
        lines += [f"Command: `{command}`", "", f"Machine: {'; '.join(machines)}.", ""]
        return "\n".join(lines)

    def _rows(self, metric):
        present = {algorithm for name, algorithm, _ in self.cells if name == metric}
        return [(name, label) for name, label in self.labels.items() if name in present]

    def _about(self) -> str:
        text = (
            f"Mean ± standard deviation over {self.asked} random 60/40 splits, with the number of "
            "runs in brackets if it differs."
        )
        if any(cell.paper for cell in self.cells.values()):
            text += (
                " In parentheses the paper's figure. "
                f"{ABOVE} and {BELOW}: our mean is above or below it by more than three standard "
                "errors of the difference and its rounding. Times are of different machines."
            )
        return text

    def _show(self, metric, algorithm, dataset) -> str:
        cell = self.cells.get((metric, algorithm, dataset))
        if cell is None:
            return "-"
        show = _seconds if metric in _TIMES else "{:.2f}".format
        text = show(cell.mean)
        if not math.isnan(cell.std):
            text += f" ± {show(cell.std)}"
        if cell.n_runs != self.asked:
            text += f" [{cell.n_runs} run{'s' if cell.n_runs > 1 else ''}]"
        if cell.paper is not None:
            text += f" ({show(cell.paper.value)}){cell.mark and ' ' + cell.mark}"
        return text


def _seconds(value: float) -> str:
    """Write seconds with two digits, like the paper."""
    return f"{value:.0f}" if value >= 99.5 else f"{value:.2g}"


def escaped(label: str) -> str:
    """Return a label as Markdown shows it in a table."""
    return label.replace("*", "\\*").replace("|", "\\|")


def runs_csv(runs: Iterable[tuple[str, str, int, dict]]) -> str:
    """Return one line per run: data set, algorithm, number of the run, its figures."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(["dataset", "algorithm", "run", *METRICS, "params"])
    for dataset, algorithm, run, figures in runs:
        shown = ["" if figures[name] is None else f"{figures[name]:.9g}" for name in METRICS]
        params = " ".join(f"{name}={value:g}" for name, value in figures.get("params", {}).items())
        write([dataset, algorithm, run, *shown, params])
    return out.getvalue()


def machine() -> str:
    """Describe the machine and the versions, in one line."""
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if "model name" in line]
        processor = names[0] if names else processor
    except OSError:
        pass  # not Linux
    try:
        n_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        memory = f", {n_bytes / 2**30:.0f} GiB"
    except (AttributeError, OSError, ValueError):
        memory = ""
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    versions = [f"vanishing {__version__}", *(f"{p} {metadata.version(p)}" for p in packages)]
    return (
        f"{processor}, {os.cpu_count()} cores{memory}, {platform.system()}, Python "
        f"{platform.python_version()}, {', '.join(versions)}"
    )
