"""The runs that the authors published, one by one: psi and C as chosen there, errors and sizes.

They are in ``published_runs.csv`` beside this file, which says where they come from.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources


@dataclass(frozen=True)
class PublishedRun:
    """One run as it was published.

    Parameters
    ----------
    paper : str
        "oavi" or "at-scale".
    dataset, algorithm, border : str
        The border is "" for algorithms that have none.
    run : int
        Number of the split, from 1.
    C : float
    psi : float or None
        None for the kernel SVM.
    kernel_degree : int or None
        None for all but the kernel SVM.
    figures : dict
        "error" (a share), "n_generators", "n_terms", "sparsity" and "degree"; the last four are
        None for the kernel SVM.
    """

    paper: str
    dataset: str
    algorithm: str
    border: str
    run: int
    C: float
    psi: float | None
    kernel_degree: int | None
    figures: dict = field(hash=False)

    @property
    def recorded(self) -> dict:
        """Figures and parameters."""
        chosen = {"psi": self.psi, "C": self.C, "kernel_degree": self.kernel_degree}
        return {**self.figures, **chosen}

    @property
    def name(self) -> str:
        """Paper, algorithm and border in one word."""
        return "-".join(filter(None, (self.paper, self.algorithm, self.border)))

    @property
    def label(self) -> str:
        """What tables call the algorithm."""
        names = {"svm": "kernel SVM"}
        text = names.get(self.algorithm, self.algorithm.upper())
        return f"{text}-{self.border.upper()}" if self.border == "bb" else text


def published_runs(
    papers: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    algorithms: Sequence[str] | None = None,
    borders: Sequence[str] | None = None,
    n_runs: int = 10,
) -> list[PublishedRun]:
    """Return the published runs of these papers, data sets, algorithms and borders (None: all)."""
    runs = _read()
    wanted = {"paper": papers, "dataset": datasets, "algorithm": algorithms, "border": borders}
    for what, names in wanted.items():
        known = list(dict.fromkeys(filter(None, (getattr(run, what) for run in runs))))
        for name in names or ():
            if name not in known:
                raise ValueError(f"Unknown {what} {name!r}; choose from {', '.join(known)}.")
        if names is not None and not names:
            raise ValueError(f"No {what} was given; choose from {', '.join(known)}.")
    return [
        run
        for run in runs
        if run.run <= n_runs
        and all(names is None or getattr(run, what) in names for what, names in wanted.items())
    ]


def _read() -> list[PublishedRun]:
    file = resources.files("vanishing.experiments").joinpath("published_runs.csv")
    lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [_run_of(line) for line in csv.DictReader(lines)]


def _run_of(line: dict) -> PublishedRun:
    def number(name, of=float):
        return of(line[name]) if line[name] else None

    return PublishedRun(
        line["paper"],
        line["dataset"],
        line["algorithm"],
        line["border"],
        int(line["run"]),
        float(line["C"]),
        number("psi"),
        number("kernel_degree", int),
        {
            "error": float(line["error"]),
            "n_generators": number("n_generators", int),
            "n_terms": number("n_terms", int),
            "sparsity": number("sparsity"),
            "degree": number("degree"),
        },
    )
