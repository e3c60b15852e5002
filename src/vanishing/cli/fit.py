"""The command ``fit``: from a table to a classifier on disk."""

import time

import numpy as np

from vanishing.cli.console import check_output, console, fail, listed, progress, share
from vanishing.rows.tables import classes_of, open_table

ALGORITHMS = ("oavi", "abm", "avi", "vca")
ORACLES = ("pcg", "bpcg", "cg", "afw", "agd", "ls", "omp")


def fit(data, target, out, parameters, *, tune, drop, test_size, seed):
    """Fit to some rows, tell the error on the others, fit to all rows, and save."""
    model = _model(**parameters, tune=tune)
    check_output(out, data)
    start = time.perf_counter()
    with progress(f"Reading {data.name}"):
        table = open_table(data)
        columns = table.others([target, *drop])
        if not columns:
            fail(f"{data} has no column beside {target!r} to learn from.")
        X, labels = table.read(columns, target)
    y = classes_of(labels, target)
    held_out = _held_out(y, target, test_size, seed, tune)
    printer = console(wrapped=False)
    printer.print(_description(data.name, X, y))
    if held_out is not None:
        rows, others = held_out
        _fit(model, X.iloc[others], y[others], "Fitting without the held-out rows")
        wrong = int(np.count_nonzero(model.predict(X.iloc[rows]) != y[rows]))
        printer.print(
            f"Held-out error: {share(wrong, len(rows))} ({wrong} of {len(rows)} rows wrong, "
            f"fitted to the other {len(others)})"
        )
    seconds = _fit(model, X, y, "Fitting to all rows")
    model.save(out)
    if tune:
        best = model.best_params_
        printer.print(
            f"Chosen by {model.n_splits_}-fold cross-validation: psi = {best['psi']:g}, "
            f"C = {best['C']:g} (error there {1 - model.best_score_:.2%})".replace("%", " %")
        )
    fitted = model.classifier_ if tune else model
    again = "Fitted" if held_out is None else "Fitted again,"
    printer.print(f"{again} to all {len(X)} rows, in {seconds:.2f} s")
    printer.print(
        f"|G| = {fitted.n_generators_} equations, |O| = {fitted.n_terms_} other terms, SPAR = "
        f"{fitted.sparsity_:.2f} (share of zero coefficients)"
    )
    printer.print(f"Saved as {out} ({time.perf_counter() - start:.1f} s in all)")


def _model(algorithm, oracle, psi, C, border, tune):
    from vanishing import ABM, AVI, OAVI, VCA, VanishingClassifier, VanishingClassifierCV

    for name, value, choices in (
        ("--algorithm", algorithm, ALGORITHMS),
        ("--oracle", oracle, ORACLES),
        ("--border", border, ("gb", "bb")),
    ):
        if value is not None and value not in choices:
            fail(f"{name} must be one of {', '.join(choices)}; got {value!r}.", 2)
    if oracle is not None and algorithm != "oavi":
        fail(f"--oracle is an option of oavi; {algorithm} has no oracle.", 2)
    if border is not None and algorithm == "vca":
        fail("--border is no option of vca, which has no border.", 2)
    if tune and not (psi is None and C is None):
        fail("--tune chooses psi and C: leave --psi and --C out.", 2)
    if psi is not None and not 0 <= psi < 1:
        fail(f"--psi must be in [0, 1); got {psi}.", 2)
    if C is not None and not 0 < C < np.inf:
        fail(f"--C must be positive; got {C}.", 2)
    given = {"psi": psi, "oracle": oracle, "border": border}
    given = {name: value for name, value in given.items() if value is not None}
    transformer = {"oavi": OAVI, "abm": ABM, "avi": AVI, "vca": VCA}[algorithm](**given)
    if tune:
        return VanishingClassifierCV(transformer)
    return VanishingClassifier(transformer, C=1.0 if C is None else C)


def _held_out(y, target, test_size, seed, tune):
    """Return the places of held-out and of other rows, or None; fail where that cannot be."""
    from sklearn.model_selection import train_test_split

    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        fail(f"Column {target!r} has only the label {str(classes[0])!r}: two are needed.")
    # Cross-validation needs a row of each class in each of its three folds.
    needed = (3 if tune else 1) if not test_size else (4 if tune else 2)
    rare = classes[counts < needed]
    if rare.size:
        fail(
            f"Column {target!r} has {len(classes)} different labels, and too few rows with "
            f"{listed([str(label) for label in rare], 3)}: {needed} of each are needed here."
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
    return np.sort(rows), np.sort(others)


def _description(name, X, y) -> str:
    classes, counts = np.unique(y, return_counts=True)
    parts = [f"{label} ({count})" for label, count in zip(classes, counts, strict=True)]
    if len(parts) > 10:
        parts = [*parts[:10], f"and {len(parts) - 10} more"]
    return f"{name}: {len(X)} rows, {X.shape[1]} columns, classes (rows): {', '.join(parts)}"


def _fit(model, X, y, description) -> float:
    """Fit, with a step of the progress bar for each fold and psi of a search; return seconds."""
    start = time.perf_counter()
    tuned = hasattr(model, "psis")
    total = model.cv * len(model.psis) if tuned else None
    with progress(description, total) as step:
        if tuned:
            model._scores = _counting(model._scores, step)
        try:
            model.fit(X, y)
        finally:
            if tuned:
                del model._scores
    return time.perf_counter() - start


def _counting(function, step):
    def counted(*arguments):
        result = function(*arguments)
        step(advance=1)
        return result

    return counted
