"""The command ``reproduce``: the paper's experiments."""

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from vanishing.checks import install
from vanishing.cli.app import FOR_MACHINES, command
from vanishing.cli.console import console, fail, progress


def _known():
    from vanishing.experiments import protocol  # all of scikit-learn
    from vanishing.experiments.published_runs import published_runs

    runs = published_runs()
    return {
        "EXPERIMENTS": protocol.EXPERIMENTS,
        "ALGORITHMS": protocol.ALGORITHMS,
        "DATASETS": protocol.DATASETS,
        "PAPERS": dict.fromkeys(run.paper for run in runs),
        "PUBLISHED": dict.fromkeys(run.algorithm for run in runs),
    }


@command(
    "vanishing reproduce performance --datasets bank,seeds --runs 2 --out DIR",
    _known,
    panel=FOR_MACHINES,
)
def reproduce(
    experiment: Annotated[
        str | None, Argument(help="EXPERIMENTS; none with --exact.", show_default=False)
    ] = None,
    exact: Annotated[
        bool,
        Option("--exact", help="Replay the authors' published runs, and compare run by run."),
    ] = False,
    data_dir: Annotated[
        Path | None,
        Option(
            metavar="FOLDER",
            help="Folder with the data sets; by default VANISHING_DATA, or OpenML.",
        ),
    ] = None,
    datasets: Annotated[
        str | None,
        Option(metavar="TEXT", help="Names with commas between, of DATASETS; by default all."),
    ] = None,
    algorithms: Annotated[
        str | None,
        Option(
            metavar="TEXT",
            help="Likewise, of ALGORITHMS; by default those of the experiment. With --exact of "
            "PUBLISHED; by default all.",
        ),
    ] = None,
    runs: Annotated[
        int | None,
        Option(
            min=1,
            metavar="NUMBER",
            help="Number of 60/40 splits; by default 10, with --search 2 of large data sets.",
        ),
    ] = None,
    papers: Annotated[
        str | None,
        Option(metavar="TEXT", help="With --exact: the runs of PAPERS; by default both."),
    ] = None,
    borders: Annotated[
        str | None,
        Option(metavar="WORD", help="With --exact: runs with the border gb or bb; by default all."),
    ] = None,
    search: Annotated[
        bool,
        Option("--search", help="With --exact: choose psi and C as published, and compare them."),
    ] = False,
    n_jobs: Annotated[
        int | None,
        Option(
            "--n-jobs",
            "--jobs",
            metavar="NUMBER",
            help="Threads or processes inside a run; with --exact, runs at the same time.",
        ),
    ] = None,
    out: Annotated[
        Path, Option(metavar="FOLDER", help="Folder for runs, tables and pictures.")
    ] = Path("results"),
    as_published: Annotated[
        bool,
        Option("--as-published", help="C = 1 for PCGAVI* and ABM*, as in the published figures."),
    ] = False,
):
    """Run the paper's experiments, and compare its figures with ours.

    Each run is saved when it is done: after an interruption the same command continues where it
    stopped. The experiment "beyond" has oracles, psis and classifiers that the paper does not;
    "scale" measures seconds against rows, up to two million, on rows of its own.

    With --exact the authors' own runs are made again, with their splits, psi and C: each is
    identical to the record, identical up to ties that rounding decides, or different.
    """
    from vanishing.experiments.records import RecordError

    shared: dict[str, Any] = {
        "names": _names(datasets),
        "algorithms": _names(algorithms),
        "data_home": data_dir,
        "n_jobs": n_jobs,
        "command": shlex.join(["vanishing", *sys.argv[1:]]),
    }
    try:
        if exact:
            if experiment is not None or as_published:
                what = "--as-published" if experiment is None else repr(experiment)
                fail(f"--exact replays published runs as they are: leave out {what}.", 2)
            from vanishing.experiments.exact import ExactReplay

            chosen: dict[str, Any] = {"papers": _names(papers), "borders": _names(borders)}
            planned = ExactReplay(out, n_runs=runs, search=search, **chosen, **shared)
        elif search or papers is not None or borders is not None:
            fail("--papers, --borders and --search are for published runs: add --exact.", 2)
        else:
            options = {"n_runs": runs, "as_published": as_published, **shared}
            planned = _experiment(experiment, out, **options)
        _run(planned)
    except RecordError as error:
        fail(error)


def _experiment(name, out, **options):
    """Return the experiment of a name, or exit with a sentence."""
    from vanishing.experiments.protocol import EXPERIMENTS
    from vanishing.experiments.reproduce import Experiment
    from vanishing.experiments.scale import Scaling

    if name not in EXPERIMENTS:
        what = "Give an experiment" if name is None else f"Unknown experiment {name!r}; choose"
        fail(f"{what} from {', '.join(EXPERIMENTS)}, or --exact.", 2)
    if name == "figure" and find_spec("matplotlib") is None:
        fail(f"The figure needs matplotlib: install with {install('app')}")
    if name != "scale":
        return Experiment(name, out, **{**options, "n_runs": options["n_runs"] or 10})
    for option in ("names", "data_home", "as_published"):
        if options.pop(option):
            fail("The experiment scale makes its own rows: leave out options about data sets.", 2)
    return Scaling(out, **{**options, "n_runs": options["n_runs"] or 3})


def _names(text: str | None) -> list[str] | None:
    """Return the names in a text with commas between them."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _run(experiment):
    """Make the runs with a progress bar, and print the tables."""
    from rich.markdown import Markdown

    made, total = len(experiment.done), len(experiment.keys)
    try:
        with progress("Runs"):
            experiment.run()
        paths = experiment.write()
    except KeyboardInterrupt:
        fail("Interrupted. Finished runs are kept; the same command continues.", 130)
    for path in paths:
        if path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
            if sys.stdout.isatty():
                console().print(Markdown(text))
            else:
                print(text)
    runs = "1 run" if total == 1 else f"{total} runs"
    print(f"{runs}, {made} of them made earlier: {', '.join(map(str, paths))}")
