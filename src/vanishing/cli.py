"""The command line ``vanishing``.

Its packages come with the extra ``app`` and are imported where they are used, so that `main` can
say which ones are missing.
"""

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import numpy as np


def main():
    """Run the command line, or say in one sentence how to install what it needs."""
    missing = [name for name in ("pandas", "rich", "typer") if find_spec(name) is None]
    if missing:
        raise SystemExit(
            f"The command line needs {', '.join(missing)}: install with "
            "python -m pip install 'vanishing[app]'"
        )
    build_app()()


def build_app():
    """Return the typer application."""
    import typer

    app = typer.Typer(
        help="Polynomial equations that data satisfies, up to noise.",
        epilog="Example: vanishing demo",
        no_args_is_help=True,
        add_completion=False,
    )

    def print_version(wanted: bool):
        if wanted:
            from vanishing import __version__

            typer.echo(f"vanishing {__version__}")
            raise typer.Exit

    @app.callback()
    def options(
        version: bool = typer.Option(
            False,
            "--version",
            callback=print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ):
        pass

    app.command(epilog="Example: vanishing demo")(demo)

    @app.command(
        "reproduce",
        epilog="Example: vanishing reproduce performance --datasets bank,seeds --runs 2 --out DIR",
    )
    def reproduce_command(
        experiment: Annotated[
            str, typer.Argument(help="performance, borders, figure or beyond.", show_default=False)
        ],
        data_dir: Annotated[
            Path | None,
            typer.Option(help="Folder with the data sets; else VANISHING_DATA, else OpenML."),
        ] = None,
        datasets: Annotated[
            str | None, typer.Option(help="Data sets, with commas between; else all.")
        ] = None,
        algorithms: Annotated[
            str | None, typer.Option(help="Algorithms likewise; else those of the experiment.")
        ] = None,
        runs: Annotated[int, typer.Option(min=1, help="Random 60/40 splits.")] = 10,
        n_jobs: Annotated[
            int | None, typer.Option(help="Threads or processes inside a run.")
        ] = None,
        out: Annotated[Path, typer.Option(help="Folder for runs, tables and pictures.")] = Path(
            "results"
        ),
        as_published: Annotated[
            bool,
            typer.Option(
                "--as-published", help="C = 1 for PCGAVI* and ABM*, as the published figures."
            ),
        ] = False,
    ):
        """Run the paper's experiments and set its figures beside ours.

        Each run is kept when it is done: after an interruption the same command goes on where it
        stopped. "beyond" are oracles, psis and classifiers that the paper does not have.
        """
        options = {
            "names": _listed(datasets),
            "algorithms": _listed(algorithms),
            "n_runs": runs,
            "data_home": data_dir,
            "n_jobs": n_jobs,
            "as_published": as_published,
        }
        _reproduce(experiment, out, options)

    return app


def _fail(message, code=1):
    """Say on the error stream, in one sentence, what went wrong, and leave."""
    print(message, file=sys.stderr)
    raise SystemExit(code)


def _listed(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def _reproduce(name, out, options):
    """Run an experiment with a progress bar, and print its table."""
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from vanishing.experiments.protocol import EXPERIMENTS
    from vanishing.experiments.records import RecordError
    from vanishing.experiments.reproduce import Experiment

    if name not in EXPERIMENTS:
        _fail(f"Unknown experiment {name!r}; choose from {', '.join(EXPERIMENTS)}.", 2)
    if name == "figure" and find_spec("matplotlib") is None:
        _fail("The figure needs matplotlib: install with python -m pip install 'vanishing[app]'")
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
    except KeyboardInterrupt:
        _fail("Interrupted. The runs that are done are kept; the same command goes on.", 130)
    except (RecordError, ValueError, OSError) as error:
        _fail(str(error))
    paths = experiment.write()
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


def demo():
    """Find the equations of a noisy circle and of the iris flowers, and use them."""
    from rich.console import Console

    console = Console(highlight=False)
    _demo_circle(console)
    _demo_iris(console)
    console.rule("What next", align="left")
    console.print("from vanishing import OAVI, VanishingClassifierCV")
    console.print("print(*OAVI(psi=0.005).fit(X).generators_, sep='\\n')  # X: rows scaled to 0..1")
    console.print("VanishingClassifierCV().fit(X, y)  # scales by itself, and chooses psi and C")
    console.print("README.md explains psi and the oracles, and says what else there is.")


def _demo_circle(console):
    """Recover the equation of a circle from noisy points, with three oracles."""
    import pandas as pd
    from rich import box
    from rich.table import Table
    from sklearn.linear_model import LogisticRegression

    from vanishing import OAVI

    rng = np.random.default_rng(0)

    def circle(radius):
        angle = rng.uniform(0, 2 * np.pi, 400)
        points = radius * np.column_stack([np.cos(angle), np.sin(angle)])
        return pd.DataFrame(points + rng.normal(scale=0.02, size=points.shape), columns=["x", "y"])

    console.rule("A noisy circle: 400 points, radius 1, noise 0.02", align="left")
    console.print(
        "OAVI looks for polynomials g with leading coefficient 1 whose mean square on the points "
        "is at most psi, here 0.002. An oracle chooses the other coefficients:"
    )
    points = circle(1.0)
    table = Table("oracle", "equation", "mean of g^2", box=box.SIMPLE, pad_edge=False)
    for oracle in ("ls", "pcg", "omp"):
        model = OAVI(psi=0.002, oracle=oracle, max_degree=2).fit(points)
        for generator in model.generators_:
            table.add_row(oracle, f"{generator} = 0", f"{generator.mse:.5f}")
    console.print(table)
    console.print(
        "ls, least squares, comes closest and uses every term. pcg, the default and the paper's "
        "choice, stops once it is below psi, with few terms. omp fits as few terms as it can by "
        "least squares: the easiest to read."
    )

    rows, labels = pd.concat([points, circle(0.7)]), np.repeat([0, 1], 400)
    new_rows = pd.concat([circle(1.0), circle(0.7)])
    on_coordinates = LogisticRegression().fit(rows, labels).score(new_rows, labels)
    features, new_features = model.transform(rows), model.transform(new_rows)
    on_generator = LogisticRegression().fit(features, labels).score(new_features, labels)
    console.print(
        "\nWhat it is good for: a linear classifier tells new points of this circle from points of "
        f"one with radius 0.7 in {on_coordinates:.1%} of the cases when it is given x and y, and "
        f"in {on_generator:.1%} when it is given |g| of omp's equation alone.\n"
    )


def _demo_iris(console):
    """Describe each species of iris by equations and classify with them."""
    from rich import box
    from rich.table import Table
    from sklearn.datasets import load_iris
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import MinMaxScaler

    from vanishing import L1SquaredHingeSVC, VanishingFeatures

    iris = load_iris(as_frame=True)
    rows, labels = iris.data, iris.target.to_numpy()
    rows.columns = [name.removesuffix(" (cm)").replace(" ", "_") for name in rows.columns]

    def split(seed):
        train, test, train_labels, test_labels = train_test_split(
            rows, labels, test_size=0.4, stratify=labels, random_state=seed
        )
        scaler = MinMaxScaler().set_output(transform="pandas").fit(train)
        return scaler.transform(train), train_labels, scaler.transform(test), test_labels

    def mean_values(features, rows, own):
        values = features.transform(rows)
        return values[own].mean(axis=0), values[~own].mean(axis=0)

    console.rule("Iris: each species has its own equations", align="left")
    train, train_labels, test, test_labels = split(seed=0)
    features = VanishingFeatures().fit(train, train_labels)
    console.print(
        "One OAVI a species, with psi = 0.005 and the measurements scaled to 0..1, finds "
        f"{features.n_generators_} generators. The two most telling of each species, with the mean "
        "of |g| on flowers that were not used to find them:"
    )
    table = Table("species", "equation", "its own", "others", box=box.SIMPLE, pad_edge=False)
    start = 0
    for k, model in enumerate(features.transformers_):
        own, others = mean_values(features, train, train_labels == k)
        new_own, new_others = mean_values(features, test, test_labels == k)
        here = np.arange(start, start + model.n_generators_)
        for i in here[np.argsort((own / others)[here])][:2]:
            table.add_row(
                iris.target_names[k],
                f"{model.generators_[i - start]} = 0",
                f"{new_own[i]:.3f}",
                f"{new_others[i]:.3f}",
            )
        start += model.n_generators_
    console.print(table)

    classifier = L1SquaredHingeSVC(C=10.0)
    accuracies = []
    for seed in range(10):
        train, train_labels, test, test_labels = split(seed)
        features = VanishingFeatures().fit(train, train_labels)
        on_measurements = classifier.fit(train, train_labels).score(test, test_labels)
        classifier.fit(features.transform(train), train_labels)
        on_generators = classifier.score(features.transform(test), test_labels)
        accuracies.append((on_measurements, on_generators))
    on_measurements, on_generators = np.mean(accuracies, axis=0)
    console.print(
        "What they are good for: a linear support vector machine names the species of held-out "
        f"flowers correctly in {on_measurements:.1%} of the cases from the measurements, and in "
        f"{on_generators:.1%} from |g| of all generators (mean of {len(accuracies)} random "
        "splits). An illustration, no benchmark: with other data, or other classifiers, the "
        "measurements alone may do as well or better.\n"
    )
