"""Replay published runs: find those that are missing, make them, and write what is identical."""

import csv
import io
import multiprocessing
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing, contextmanager
from datetime import date
from functools import lru_cache
from pathlib import Path

from joblib import effective_n_jobs

import vanishing.datasets as datasets
from vanishing._threads import check_jobs
from vanishing._version import __version__
from vanishing.estimators.progress import Progress, listening
from vanishing.experiments.published_runs import PublishedRun, published_runs
from vanishing.experiments.published_search import search
from vanishing.experiments.records import DIFFERENT, IDENTICAL, TIES, Key, Records
from vanishing.experiments.replay import differences
from vanishing.experiments.settings import SEARCHED_RUNS
from vanishing.experiments.tables import machine
from vanishing.experiments.ties import replay
from vanishing.persistence.files import write_atomically

# What is compared, and what tables call it.
FIGURES = {
    "exact": {
        "error": "error",
        "n_generators": "|G|",
        "n_terms": "|O|",
        "sparsity": "SPAR",
        "degree": "degree",
    },
    "search": {"psi": "psi", "kernel_degree": "degree of the kernel", "C": "C"},
}
ABOUT = {
    "exact": "The table counts identical runs (in error, |G|, |O|, degree and, except for VCA, "
    "SPAR), of all that were made. Runs behind a + become identical when they are rounded anew: "
    "with training rows in another order and off by a rounding error. For VCA the basis of what "
    "vanishes on all rows changes, too.",
    "search": "The table counts runs for which the published search chooses the recorded psi and C "
    "(or degree of the kernel and C), of all that were made. For runs behind a + the recorded "
    "values are as accurate as the chosen ones.",
}


# Why runs with iterative solvers differ, as experiments in the repository show: a model of the
# published PCG and BPCG, with and without its slice and rounded anew (tests/published.py), and AGD
# with either sign of an eigenvalue of zero (tests/experiments/test_replay.py); more in
# docs/results.md.
REASONS = {
    "vertices": "two or more vertices are equally good, and rounding chooses one",
    "slice": "if a step drops the last vertex, the published PCG keeps the wrong ones",
    "sign": "terms of O are dependent, so the smallest eigenvalue of G is zero; rounding decides "
    "its sign, and the sign decides which of two rules the published AGD takes",
    "limit": "SVC ends at its limit of 10,000 steps, at a point that rounding decides",
    "fits": "the search compares fits that differ for one of the other reasons",
    "not known": "",
}


class ExactReplay:
    """Published runs made again with the published splits, and compared with what is on record.

    Parameters
    ----------
    out : path-like
        Folder of the results.
    papers, names, algorithms, borders : sequence of str or None
        Which runs; None means all. The names are those of data sets.
    n_runs : int or None
        The first so many of the ten splits. None means all; in a search two on the larger data
        sets.
    search : bool
        Choose psi and C by the published search, and compare these; by default figures of fits with
        the recorded ones are compared.
    data_home : path-like or None
        Where to look for the data sets first.
    n_jobs : int or None
        Runs at the same time, each in a process of its own; -1 means one per core.
    command : str
        What the user typed, written below the tables.
    """

    def __init__(
        self,
        out,
        *,
        papers: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        algorithms: Sequence[str] | None = None,
        borders: Sequence[str] | None = None,
        n_runs: int | None = None,
        search: bool = False,
        data_home=None,
        n_jobs: int | None = None,
        command: str = "",
    ):
        self.kind = "search" if search else "exact"
        runs = published_runs(papers, names, algorithms, borders, n_runs or 10)
        if search and n_runs is None:
            runs = [run for run in runs if run.run <= SEARCHED_RUNS[run.dataset]]
        self.runs = {Key(self.kind, run.dataset, run.name, run.run): run for run in runs}
        if not self.runs:
            raise ValueError("There is no published run of this choice: leave out an option.")
        self.keys = list(self.runs)
        self.data_home = data_home
        check_jobs(n_jobs)
        self.n_jobs = 1 if n_jobs is None else effective_n_jobs(n_jobs)
        self.command = command
        self.out = Path(out)
        self.records = Records(out)
        loaded = {key: self.records.load(key) for key in self.keys}
        self.done = {key: record for key, record in loaded.items() if record is not None}

    def run(self) -> None:
        """Make the missing runs; write the record of each, and the tables, when it is done.

        Each run is an event for `vanishing.listening`.
        """
        missing = [key for key in self.keys if key not in self.done]
        progress = Progress("reproduce", of=len(missing))
        about = {
            "version": __version__,
            "date": date.today().isoformat(),
            "machine": machine(),
            "n_jobs": self.n_jobs,
        }
        with closing(self._outcomes(missing)) as outcomes:
            for key, outcome, seconds in outcomes:
                self.done[key] = self.records.save(key, outcome, seconds=seconds, **about)
                self.write()
                what = f"{key.dataset}, {key.algorithm}, run {key.run}"
                progress.step(f"{what}: {outcome['verdict']}")

    def _outcomes(self, missing) -> Generator[tuple[Key, dict, float], None, None]:
        """Yield runs as they are done."""
        if self.n_jobs == 1:
            for key in missing:
                yield key, *_timed(self.kind, self.runs[key], self.data_home)
            return
        # New processes: those that are forked would share compiled kernels and threads half set up.
        context = multiprocessing.get_context("spawn")
        others = multiprocessing.active_children()
        with ProcessPoolExecutor(self.n_jobs, mp_context=context) as pool:
            with _interrupts_ignored():
                futures = {
                    pool.submit(_timed, self.kind, self.runs[key], self.data_home): key
                    for key in missing
                }
            try:
                for future in as_completed(futures):
                    yield futures[future], *future.result()
            except BaseException:  # when it is interrupted nobody waits for runs under way
                pool.shutdown(wait=False, cancel_futures=True)
                for process in multiprocessing.active_children():
                    if process not in others:
                        process.terminate()
                raise

    def write(self) -> list[Path]:
        """Write the tables of the runs made so far; return their files."""
        name = "exact" if self.kind == "exact" else "exact-search"
        contents = {f"{name}.csv": self.to_csv(), f"{name}.md": self.to_markdown()}
        for name, content in contents.items():
            write_atomically(self.out / name, content)
        return [self.out / name for name in contents]

    def _outcomes_so_far(self) -> Iterator[tuple[PublishedRun, dict]]:
        for key, run in self.runs.items():
            if key in self.done:
                yield run, self.done[key]["figures"]

    def to_csv(self) -> str:
        """Return one line per run: recorded figures, ours, the verdict and what differs."""
        out = io.StringIO()
        write = csv.writer(out, lineterminator="\n").writerow
        names = FIGURES[self.kind]
        parameters = [] if self.kind == "search" else ["psi", "kernel_degree", "C"]
        about = ["paper", "dataset", "algorithm", "border", "run"]
        recorded = [f"recorded_{name}" for name in names]
        write([*about, *parameters, *recorded, *names, "verdict", "differs"])
        for run, outcome in self._outcomes_so_far():
            write(
                [getattr(run, name) for name in [*about, *parameters]]
                + [run.recorded[name] for name in names]
                + [outcome.get(name) for name in names]
                + [outcome["verdict"], " ".join(differences(run, _figures(outcome)))]
            )
        return out.getvalue()

    def to_markdown(self) -> str:
        """Return counts by algorithm and data set, and each kind of difference, in Markdown."""
        cells = defaultdict(list)
        for run, outcome in self._outcomes_so_far():
            cells[run.paper, run.label, run.dataset].append((run, outcome))
        columns = list(dict.fromkeys(dataset for _, _, dataset in cells))
        lines = [
            "# Published runs, replayed",
            "",
            ABOUT[self.kind],
            "",
            f"| paper | algorithm | {' | '.join(columns)} |",
            f"| --- | --- |{' --- |' * len(columns)}",
        ]
        for paper, label in dict.fromkeys((paper, label) for paper, label, _ in cells):
            shown = [_count(cells.get((paper, label, column), [])) for column in columns]
            lines.append(f"| {paper} | {label} | {' | '.join(shown)} |")
        lines += ["", *self._differences(cells)]
        seconds = sum(record["seconds"] for record in self.done.values())
        machines = sorted({record["machine"] for record in self.done.values()})
        lines += [
            f"{len(self.done)} of {len(self.keys)} runs in {seconds:.0f} s of one process.",
            "",
            f"Command: `{self.command}`",
            "",
            f"Machine: {'; '.join(machines)}.",
            "",
        ]
        return "\n".join(lines).replace("|G|", "\\|G\\|").replace("|O|", "\\|O\\|")

    def _differences(self, cells) -> list[str]:
        """Return the lines of a table of what differs, runs with the same reason together."""
        groups: dict[tuple[str, str, str], dict[str, list]]
        groups = defaultdict(lambda: defaultdict(list))
        for (paper, label, dataset), results in cells.items():
            for run, outcome in results:
                if outcome["verdict"] == DIFFERENT:
                    reason = _reason(run, differences(run, _figures(outcome)))
                    groups[paper, label, reason][dataset].append((run, outcome))
        if not groups:
            return []
        lines = []
        for about, members in groups.items():
            numbers = [
                f"{dataset} {', '.join(str(run.run) for run, _ in results)}"
                for dataset, results in members.items()
            ]
            run, outcome = next(iter(members.values()))[0]
            example = "; ".join(
                f"{FIGURES[self.kind][name]} {outcome[name]:.4g} ({run.recorded[name]:.4g})"
                for name in differences(run, _figures(outcome))
            )
            lines.append(f"| {' | '.join([*about, '; '.join(numbers), example])} |")
        found = {reason for _, _, reason in groups}
        return [
            "Differences, and their sizes in the first of these runs (in parentheses the record):",
            "",
            "| paper | algorithm | reason | runs | differs |",
            "| --- | --- | --- | --- | --- |",
            *lines,
            "",
            *(f"- {name}: {text}." for name, text in REASONS.items() if text and name in found),
            "",
        ]


def _figures(outcome: dict) -> dict:
    return {name: value for name, value in outcome.items() if name != "verdict"}


def _reason(run: PublishedRun, different: Sequence[str]) -> str:
    """Return the name of the reason of a difference."""
    if "psi" in different or "C" in different:
        return "fits"
    if run.algorithm == "pcgavi" and {"n_generators", "n_terms"} & set(different):
        return "slice"
    others = {"pcgavi": "vertices", "bpcgavi-wihb": "vertices", "agdavi": "sign", "svm": "limit"}
    return others.get(run.algorithm, "not known")


def _count(results) -> str:
    """Write how many runs are identical."""
    if not results:
        return "-"
    verdicts = [outcome["verdict"] for _, outcome in results]
    ties = f" + {verdicts.count(TIES)}" if TIES in verdicts else ""
    return f"{verdicts.count(IDENTICAL)}{ties} of {len(verdicts)}"


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Ignore interrupts in the block and in processes that it starts.

    A terminal sends Ctrl-C to all of them: each would print where it was.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # interrupts are the business of the main thread
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


@lru_cache(maxsize=1)
def _rows(name, data_home):
    return datasets.load(name, data_home=data_home, return_X_y=True)


def _timed(kind: str, run: PublishedRun, data_home) -> tuple[dict, float]:
    """Make a run in this process; return the outcome and how long it took."""
    X, y = _rows(run.dataset, data_home)
    start = time.perf_counter()
    with listening(None):  # events are runs, not the steps inside one
        outcome = search(run, X, y) if kind == "search" else replay(run, X, y)
    return outcome, time.perf_counter() - start
