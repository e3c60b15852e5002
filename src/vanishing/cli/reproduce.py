"""The command ``reproduce``: the paper's experiments."""

import shlex
import sys
from importlib.util import find_spec

from vanishing.cli.console import fail


def listed(names: str | None) -> list[str] | None:
    """Return the names in a text with commas between them."""
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def reproduce(name, out, options):
    """Run an experiment with a progress bar, and print its table."""
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from vanishing.experiments.protocol import EXPERIMENTS
    from vanishing.experiments.records import RecordError
    from vanishing.experiments.reproduce import Experiment

    if name not in EXPERIMENTS:
        fail(f"Unknown experiment {name!r}; choose from {', '.join(EXPERIMENTS)}.", 2)
    if name == "figure" and find_spec("matplotlib") is None:
        fail("The figure needs matplotlib: install with python -m pip install 'vanishing[app]'")
    command = shlex.join(["vanishing", *sys.argv[1:]])
    console = Console(stderr=True)
    try:
        experiment = Experiment(name, out, command=command, **options)
        made = len(experiment.done)
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
        ) as progress:
            task = progress.add_task(
                "starting", total=len(experiment.keys), completed=made, left=""
            )

            def report(key, seconds_left):
                progress.update(
                    task,
                    advance=1,
                    description=f"{key.dataset}, {key.algorithm}, split {key.run}",
                    left=f"about {_duration(seconds_left)} left",
                )

            experiment.run(report)
        paths = experiment.write()
    except KeyboardInterrupt:
        fail("Interrupted. The runs that are done are kept; the same command goes on.", 130)
    except (RecordError, ValueError, OSError) as error:
        fail(str(error))
    for path in paths:
        if path.suffix == ".md" and sys.stdout.isatty():
            Console().print(Markdown(path.read_text(encoding="utf-8")))
        elif path.suffix == ".md":
            print(path.read_text(encoding="utf-8"))
    print(f"{len(experiment.keys)} runs, {made} of them made earlier: {', '.join(map(str, paths))}")


def _duration(seconds: float) -> str:
    minutes, hours = seconds / 60, seconds / 3600
    if minutes < 1.5:
        return f"{seconds:.0f} s"
    return f"{minutes:.0f} min" if hours < 1.5 else f"{hours:.1f} h"
