"""The command line ``vanishing``.

Its packages come with the extra ``app`` and are imported where they are used, so that `main` can
say which ones are missing.
"""

from importlib.util import find_spec

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
    return app


def demo():
    """Find the equations of a noisy circle and of the iris flowers, and use them."""
    from rich.console import Console

    console = Console(highlight=False)
    _demo_circle(console)
    _demo_iris(console)
    console.rule("What next", align="left")
    console.print("from vanishing import OAVI; model = OAVI(psi=0.005).fit(X)  # your rows, scaled")
    console.print("print(*model.generators_, sep='\\n'); features = model.transform(X_new)  # |g|")
    console.print("The README says what psi and the oracles are, and what else there is.")


def _demo_circle(console):
    """Recover the equation of a circle from noisy points, by three oracles."""
    from rich.table import Table
    from sklearn.linear_model import LogisticRegression

    from vanishing import OAVI

    rng = np.random.default_rng(0)

    def circle(radius):
        angle = rng.uniform(0, 2 * np.pi, 400)
        points = radius * np.column_stack([np.cos(angle), np.sin(angle)])
        return points + rng.normal(scale=0.02, size=points.shape)

    points = circle(1.0)
    console.rule("A noisy circle: 400 points, radius 1, noise 0.02", align="left")
    console.print(
        "OAVI looks for polynomials g with mean g(x)^2 at most psi = 0.005 on the points.\n"
        "An oracle chooses the coefficients:"
    )
    table = Table("oracle", "equation", "mean g^2")
    for oracle in ("ls", "pcg", "omp"):
        model = OAVI(psi=0.005, oracle=oracle, max_degree=2).fit(points)
        for generator in model.generators_:
            table.add_row(oracle, f"{generator} = 0", f"{generator.mse:.4f}")
    console.print(table)
    console.print(
        "ls has the smallest error and uses every term; pcg (the default, the paper's) stops at\n"
        "psi and is sparse; omp is sparse with refitted coefficients, the easiest to read."
    )

    rows, labels = np.vstack([points, circle(0.7)]), np.repeat([0, 1], 400)
    new_rows = np.vstack([circle(1.0), circle(0.7)])
    on_coordinates = LogisticRegression().fit(rows, labels).score(new_rows, labels)
    features, new_features = model.transform(rows), model.transform(new_rows)
    on_generators = LogisticRegression().fit(features, labels).score(new_features, labels)
    console.print(
        "\nGood for telling points on the circle from others. New points of this circle and of\n"
        "one with radius 0.7, correctly told apart by a linear classifier:\n"
        f"on the coordinates {on_coordinates:.1%}, on |g| alone {on_generators:.1%}.\n"
    )


def _demo_iris(console):
    """Describe each species of iris by its equations and classify with them."""
    from rich.table import Table
    from sklearn.datasets import load_iris
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler
    from sklearn.svm import LinearSVC

    from vanishing import OAVI

    iris = load_iris(as_frame=True)
    rows, labels = iris.data, iris.target
    rows.columns = [name.removesuffix(" (cm)").replace(" ", "_") for name in rows.columns]
    species = range(len(iris.target_names))

    def split(seed):
        train, test, train_labels, test_labels = train_test_split(
            rows, labels, test_size=0.4, stratify=labels, random_state=seed
        )
        scaler = MinMaxScaler().set_output(transform="pandas").fit(train)
        models = [OAVI(psi=0.005).fit(scaler.transform(train[train_labels == k])) for k in species]
        return models, scaler.transform(train), train_labels, scaler.transform(test), test_labels

    console.rule("Iris: the equations of each species, measurements scaled to 0..1", align="left")
    table = Table("species", "equation", "|g| own", "|g| others")
    models, train, train_labels, test, test_labels = split(seed=0)
    for k, model in enumerate(models):

        def own_and_others(rows, labels, model=model, k=k):
            values = model.transform(rows)
            return values[labels == k].mean(axis=0), values[labels != k].mean(axis=0)

        # The two most telling generators: chosen on the training rows, shown on the others.
        own, others = own_and_others(train, train_labels)
        new_own, new_others = own_and_others(test, test_labels)
        for i in np.argsort(own / others)[:2]:
            equation = f"{model.generators_[i]} = 0"
            numbers = f"{new_own[i]:.3f}", f"{new_others[i]:.3f}"
            table.add_row(iris.target_names[k], equation, *numbers)
    console.print(table)
    console.print(
        "The two most telling of each species' generators, with their mean |g| on flowers that\n"
        "were not used to find them: small on the own species, larger on the others."
    )

    accuracies = []
    for seed in range(10):
        models, train, train_labels, test, test_labels = split(seed)
        features, new_features = (
            np.hstack([model.transform(part) for model in models]) for part in (train, test)
        )
        classifier = make_pipeline(MinMaxScaler(), LinearSVC(penalty="l1", dual=False))
        accuracies.append(
            (
                classifier.fit(train, train_labels).score(test, test_labels),
                classifier.fit(features, train_labels).score(new_features, test_labels),
            )
        )
    on_measurements, on_generators = np.mean(accuracies, axis=0)
    console.print(
        "\nGood for classification. Accuracy of a linear SVM on held-out flowers, mean of 10 splits:\n"
        f"on the measurements {on_measurements:.1%}, on |g| of all species {on_generators:.1%}.\n"
    )
