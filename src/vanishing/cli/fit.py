"""The command ``fit``: from a table to a classifier on disk."""

import inspect
import time
from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Option

import vanishing
from vanishing.cli.app import Data, command
from vanishing.cli.console import check_output, console, fail, progress, share
from vanishing.cli.tables import TableOptions, prepared, save_with_recipe, takes_table
from vanishing.constructions import CONSTRUCTIONS
from vanishing.tables.errors import listed
from vanishing.tables.labels import classes_of

_BORDERS = ("gb", "bb")
_FOLDS = 3  # of a search


def _known():
    from vanishing.oracles import ORACLES  # compiled by numba

    return {"ORACLES": ORACLES}


@command("vanishing fit bank.csv --target class --out m.json", _known)
@takes_table(fills=True)
def fit(
    data: Data,
    target: Annotated[str, Option(help="The column of the labels.", show_default=False)],
    out: Annotated[Path, Option(help="Where to save the model.", show_default=False)],
    algorithm: Annotated[
        str, Option(help=f"Finds the equations: {', '.join(CONSTRUCTIONS)}.")
    ] = "oavi",
    oracle: Annotated[str | None, Option(help="Of oavi: ORACLES.", show_default="pcg")] = None,
    psi: Annotated[
        float | None, Option(help="Largest mean square of an equation.", show_default="0.005")
    ] = None,
    C: Annotated[
        float | None,
        Option("--C", help="Weight of errors in the linear SVM.", show_default="1.0"),
    ] = None,
    border: Annotated[
        str | None,
        Option(
            help=f"Which terms are tried: {' or '.join(_BORDERS)}.",
            show_default="the algorithm's",
        ),
    ] = None,
    tune: Annotated[
        bool, Option("--tune", help="Choose equations, psi, C and scaling by cross-validation.")
    ] = False,
    test_size: Annotated[
        float, Option(min=0.0, max=0.9, help="Share of rows held out for the error; 0: none.")
    ] = 0.25,
    seed: Annotated[int, Option(min=0, max=2**32 - 1, help="Decides which rows are held out.")] = 0,
    *,
    options: TableOptions,
):
    """Find the equations of each class, and a classifier that uses them.

    All columns but the target are used. The error is measured on held-out rows; the model that is
    saved is then fitted to all rows.
    """
    typed = {"psi": psi, "oracle": oracle, "border": border}
    typed = {name: value for name, value in typed.items() if value is not None}
    _check(algorithm, typed, C, tune)
    check_output(out, data)
    start = time.perf_counter()
    X, y, recipe = _read(data, target, options)
    # Where no option of the construction is typed, a search chooses the oracle, too.
    is_default = not typed and CONSTRUCTIONS[algorithm] == "OAVI"
    transformer = None if is_default else getattr(vanishing, CONSTRUCTIONS[algorithm])(**typed)
    model = _model(transformer, C, tune)
    held_out = _held_out(y, target, test_size, seed, tune)
    printer = console(wrapped=False)
    printer.print(_description(data.name, X, y))
    if held_out is not None:
        printer.print(_held_out_error(model, X, y, *held_out))
    seconds = _fit(model, X, y, "Fitting to all rows")
    save_with_recipe(model, out, recipe)
    if tune:
        printer.print(_chosen(model))
    again = "Fitted" if held_out is None else "Fitted again,"
    printer.print(f"{again} to all {len(X)} rows, in {seconds:.2f} s")
    printer.print(
        f"{model.n_generators_} equations in {model.n_terms_} other terms; "
        f"{100 * model.sparsity_:.0f} % of their coefficients are zero"
    )
    printer.print(f"Saved as {out} ({time.perf_counter() - start:.1f} s in all)")


def _check(algorithm, typed, C, tune):
    """Exit with a sentence where options do not exist, or do not go together."""
    choices = {"algorithm": CONSTRUCTIONS, "border": _BORDERS}
    if "oracle" in typed:
        choices["oracle"] = _known()["ORACLES"]
    for name, known in choices.items():
        value = {"algorithm": algorithm, **typed}.get(name)
        if value is not None and value not in known:
            fail(f"--{name} must be one of {', '.join(known)}; got {value!r}.", 2)
    psi = typed.get("psi")
    if tune and not (psi is None and C is None):
        fail("--tune chooses psi and C: leave --psi and --C out.", 2)
    if psi is not None and not 0 <= psi < 1:
        fail(f"--psi must be in [0, 1); got {psi}.", 2)
    if C is not None and not 0 < C < np.inf:
        fail(f"--C must be positive; got {C}.", 2)
    for name in typed:
        if name not in inspect.signature(getattr(vanishing, CONSTRUCTIONS[algorithm])).parameters:
            fail(f"--{name} is no option of the algorithm {algorithm}: leave it out.", 2)


def _read(data, target, options):
    """Return the columns to learn from, the labels, and what was done to the table."""
    table = prepared(data, options, {"target": target}, fills=True)
    if not table.names:
        fail(f"{data} has no column besides {target!r} to learn from.")
    return table.frame(), classes_of(table.texts["target"], target), table.recipe


def _model(transformer, C, tune):
    if tune:
        return vanishing.VanishingClassifierCV(transformer, cv=_FOLDS)
    return vanishing.VanishingClassifier(transformer, **({} if C is None else {"C": C}))


def _held_out(y, target, test_size, seed, tune):
    """Return the places of held-out and of other rows, or None; fail where that cannot be."""
    from sklearn.model_selection import train_test_split

    classes, counts = np.unique(y, return_counts=True)
    fitted = _FOLDS if tune else 1  # a row of each class in each of the folds
    needed = fitted + bool(test_size)
    fewest = counts.min()
    if fewest < needed:
        rare = [str(label) for label in classes[counts < needed]]
        ways = ["leave these rows out"]
        ways += ["hold out none with --test-size 0"] if fewest >= fitted else []
        ways += ["do without --tune"] if tune and fewest > bool(test_size) else []
        fail(
            f"Column {target!r} has {len(classes)} different labels, and too few rows with "
            f"{listed(rare, 3)}: {needed} of each are needed here. You may {' or '.join(ways)}."
        )
    if not test_size:
        return None
    n_held_out = int(np.ceil(test_size * len(y)))
    if n_held_out < len(classes) or len(y) - n_held_out < len(classes):
        fail(
            f"{len(y)} rows are too few to hold out {n_held_out} with all {len(classes)} classes "
            "on both sides: change --test-size, or hold out none with --test-size 0."
        )
    others, rows = train_test_split(
        np.arange(len(y)), test_size=n_held_out, stratify=y, random_state=seed
    )
    counts = np.array([np.count_nonzero(y[others] == label) for label in classes])
    if counts.min() < fitted:
        fail(
            f"Of the rows with {str(classes[counts.argmin()])!r} in column {target!r}, "
            f"{counts.min()} would be left to fit to, fewer than {fitted}: lower --test-size."
        )
    return np.sort(rows), np.sort(others)


def _held_out_error(model, X, y, rows, others) -> str:
    _fit(model, X.iloc[others], y[others], "Fitting without the held-out rows")
    wrong = int(np.count_nonzero(model.predict(X.iloc[rows]) != y[rows]))
    return (
        f"Held-out error: {share(wrong, len(rows))} ({wrong} of {len(rows)} rows wrong, "
        f"fitted to the other {len(others)})"
    )


def _description(name, X, y) -> str:
    classes, counts = np.unique(y, return_counts=True)
    parts = [f"{label} ({count})" for label, count in zip(classes, counts, strict=True)]
    if len(parts) > 10:
        parts = [*parts[:10], f"and {len(parts) - 10} more"]
    return f"{name}: {len(X)} rows, {X.shape[1]} columns, classes (rows): {', '.join(parts)}"


def _chosen(model) -> str:
    chosen = ", ".join(
        f"{name} = {format(value, 'g') if isinstance(value, float) else value}"
        for name, value in model.best_params_.items()
    )
    return (
        f"Chosen by {model.n_splits_}-fold cross-validation: {chosen} "
        f"(error there {share(1 - model.best_score_, 1)})"
    )


def _fit(model, X, y, description) -> float:
    """Fit, and show how far it is; return seconds."""
    start = time.perf_counter()
    with progress(description):
        model.fit(X, y)
    return time.perf_counter() - start
