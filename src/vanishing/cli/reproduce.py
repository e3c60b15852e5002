"""The command ``reproduce``: the paper's experiments."""

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from vanishing.cli.app import command
from vanishing.cli.console import console, fail, progress


def _known():
    from vanishing.experiments import protocol  # all of scikit-learn

    return {
        "EXPERIMENTS": protocol.EXPERIMENTS,
        "ALGORITHMS": protocol.ALGORITHMS,
        "DATASETS": protocol.DATASETS,
    }


@command("vanishing reproduce performance --datasets bank,seeds --runs 2 --out DIR", _known)
def reproduce(
    experiment: Annotated[str, Argument(help="EXPERIMENTS.", show_default=False)],
    data_dir: Annotated[
        Path | None, Option(help="Folder with the data sets; by default VANISHING_DATA, or OpenML.")
    ] = None,
    datasets: Annotated[
        str | None, Option(help="Names with commas between, of DATASETS; by default all.")
    ] = None,
    algorithms: Annotated[
        str | None,
        Option(help="Likewise, of ALGORITHMS; by default those of the experiment."),
    ] = None,
    runs: Annotated[int, Option(min=1, help="Number of random 60/40 splits.")] = 10,
    n_jobs: Annotated[int | None, Option(help="Threads or processes inside a run.")] = None,
    out: Annotated[Path, Option(help="Folder for runs, tables and pictures.")] = Path("results"),
    as_published: Annotated[
        bool,
        Option("--as-published", help="C = 1 for PCGAVI* and ABM*, as in the published figures."),
    ] = False,
):
    """Run the paper's experiments, and compare its figures with ours.

    Each run is saved when it is done: after an interruption the same command continues where it
    stopped. The experiment "beyond" has oracles, psis and classifiers that the paper does not.
    """
    from vanishing.experiments.protocol import EXPERIMENTS
    from vanishing.experiments.records import RecordError
    from vanishing.experiments.reproduce import Experiment

    if experiment not in EXPERIMENTS:
        fail(f"Unknown experiment {experiment!r}; choose from {', '.join(EXPERIMENTS)}.", 2)
    if experiment == "figure" and find_spec("matplotlib") is None:
        fail("The figure needs matplotlib: install with python -m pip install 'vanishing[app]'")
    try:
        _run(
            Experiment(
                experiment,
                out,
                names=_names(datasets),
                algorithms=_names(algorithms),
                n_runs=runs,
                data_home=data_dir,
                n_jobs=n_jobs,
                as_published=as_published,
                command=shlex.join(["vanishing", *sys.argv[1:]]),
            )
        )
    except KeyboardInterrupt:
        fail("Interrupted. Finished runs are kept; the same command continues.", 130)
    except RecordError as error:
        fail(error)


def _names(text: str | None) -> list[str] | None:
    """Return the names in a text with commas between them."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _run(experiment):
    """Make the runs with a progress bar, and print the tables."""
    from rich.markdown import Markdown

    made, total = len(experiment.done), len(experiment.keys)
    with progress("Runs"):
        experiment.run()
    paths = experiment.write()
    for path in paths:
        if path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
            if sys.stdout.isatty():
                console().print(Markdown(text))
            else:
                print(text)
    print(f"{total} runs, {made} of them made earlier: {', '.join(map(str, paths))}")
