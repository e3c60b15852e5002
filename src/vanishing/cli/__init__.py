"""The command line ``vanishing``.

Its packages come with the extra ``app`` and are imported where they are used, so that `main` can
say which ones are missing. A command's options are here; what it does is in the file of its name.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from vanishing.cli.console import fail, sentences


def main():
    """Run the command line, or say in one sentence how to install what it needs."""
    missing = [name for name in ("pandas", "rich", "typer") if find_spec(name) is None]
    if missing:
        fail(
            f"The command line needs {', '.join(missing)}: install with "
            "python -m pip install 'vanishing[app]'"
        )
    with sentences():
        build_app()()


def build_app():
    """Return the typer application."""
    import typer

    from vanishing.cli.fit import ALGORITHMS, ORACLES

    app = typer.Typer(
        help="Polynomial equations that data satisfies, up to noise: find, use and read them.",
        epilog="Example: vanishing demo",
        no_args_is_help=True,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    Model = Annotated[Path, typer.Argument(help="A model that fit has written.")]
    Data = Annotated[
        Path,
        typer.Argument(help="CSV (also .gz, .bz2, .xz, .zip) or Parquet; names in the first line."),
    ]

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

    @app.command("demo", epilog="Example: vanishing demo")
    @sentences()
    def demo_command(
        out: Annotated[Path, typer.Option(help="Where to write the report.")] = Path(
            "vanishing_demo.html"
        ),
    ):
        """See in half a minute what this is: wines told apart by equations, and a report."""
        from vanishing.cli.demo import demo

        demo(out)

    @app.command("fit", epilog="Example: vanishing fit bank.csv --target class --out m.json")
    @sentences()
    def fit_command(
        data: Data,
        target: Annotated[str, typer.Option(help="The column of the labels.", show_default=False)],
        out: Annotated[Path, typer.Option(help="Where to save the model.", show_default=False)],
        algorithm: Annotated[
            str, typer.Option(help=f"Finds the equations: {', '.join(ALGORITHMS)}.")
        ] = "oavi",
        oracle: Annotated[
            str | None,
            typer.Option(help=f"Of oavi: {', '.join(ORACLES)}.", show_default="pcg"),
        ] = None,
        psi: Annotated[
            float | None,
            typer.Option(help="Largest mean square of an equation.", show_default="0.005"),
        ] = None,
        C: Annotated[
            float | None,
            typer.Option("--C", help="Weight of errors in the linear SVM.", show_default="1.0"),
        ] = None,
        border: Annotated[
            str | None,
            typer.Option(help="Which terms are tried: gb or bb.", show_default="the algorithm's"),
        ] = None,
        tune: Annotated[
            bool, typer.Option("--tune", help="Choose psi and C by cross-validation.")
        ] = False,
        drop: Annotated[
            list[str] | None,
            typer.Option(help="A column to leave out; may be given again.", show_default=False),
        ] = None,
        test_size: Annotated[
            float,
            typer.Option(min=0.0, max=0.9, help="Share of rows held out for the error; 0: none."),
        ] = 0.25,
        seed: Annotated[
            int, typer.Option(min=0, max=2**32 - 1, help="Decides which rows are held out.")
        ] = 0,
    ):
        """Find the equations of each class, and a classifier that uses them.

        All columns but the target are used, and must hold numbers. The error is measured on
        held-out rows; the model that is saved is then fitted to all rows.
        """
        from vanishing.cli.fit import fit

        fit(
            data,
            target,
            out,
            {"algorithm": algorithm, "oracle": oracle, "psi": psi, "C": C, "border": border},
            tune=tune,
            drop=drop or (),
            test_size=test_size,
            seed=seed,
        )

    @app.command("predict", epilog="Example: vanishing predict m.json new.csv --out labels.csv")
    @sentences()
    def predict_command(
        model: Model,
        data: Data,
        out: Annotated[Path, typer.Option(help="CSV to write; - prints it.", show_default=False)],
    ):
        """Write a CSV file with the label and the decision values of each row.

        Columns that the model does not know are ignored. With two classes there is one decision
        value: positive where the second class, which the column is named after, is predicted.
        """
        from vanishing.cli.predict import predict

        predict(model, data, out)

    @app.command("show", epilog="Example: vanishing show m.json --units original --top 3")
    @sentences()
    def show_command(
        model: Model,
        units: Annotated[
            str, typer.Option(help="scaled (columns as the model sees them) or original.")
        ] = "scaled",
        top: Annotated[
            int | None,
            typer.Option(
                min=1, help="How many equations a class.", show_default="10; all for the formats"
            ),
        ] = None,
        everything: Annotated[
            bool, typer.Option("--all", help="All equations, also those without weight.")
        ] = False,
        latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX.")] = False,
        sympy: Annotated[
            bool, typer.Option("--sympy", help="Print expressions for sympy.sympify.")
        ] = False,
        json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ):
        """Print the equations of each class, those with the largest weight first."""
        from vanishing.cli.show import show

        formats = [n for n, on in (("latex", latex), ("sympy", sympy), ("json", json)) if on]
        show(model, units, top, everything, formats)

    @app.command("report", epilog="Example: vanishing report m.json bank.csv --out report.html")
    @sentences()
    def report_command(
        model: Model,
        data: Data,
        out: Annotated[Path, typer.Option(help="HTML to write.", show_default=False)],
        target: Annotated[
            str | None,
            typer.Option(
                help="The column of the labels.",
                show_default="the only one that is no column of the model",
            ),
        ] = None,
    ):
        """Write one HTML file about a model, and how it does on labelled rows."""
        from vanishing.cli.report import report

        report(model, data, out, target)

    @app.command(
        "reproduce",
        epilog="Example: vanishing reproduce performance --datasets bank,seeds --runs 2 --out DIR",
    )
    @sentences()
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
        from vanishing.cli.reproduce import listed, reproduce

        options = {
            "names": listed(datasets),
            "algorithms": listed(algorithms),
            "n_runs": runs,
            "data_home": data_dir,
            "n_jobs": n_jobs,
            "as_published": as_published,
        }
        reproduce(experiment, out, options)

    return app
