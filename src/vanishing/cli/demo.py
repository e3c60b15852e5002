"""The command ``demo``: what this library is about, for someone who has never heard of it."""

import os
import tempfile
import time
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from typer import Option

from vanishing.algebra.writing import in_words
from vanishing.cli.app import command
from vanishing.cli.console import check_output, console, progress, share, table
from vanishing.estimators.progress import Progress, listening

_ROWS = 500  # of the tables with laws
_WRONG = 57  # the place of the row that breaks them
_SPLITS = 5
_NAMES = {"od280/od315_of_diluted_wines": "dilution"}


@command("vanishing demo")
def demo(
    out: Annotated[
        Path,
        Option(metavar="FILE", help="Where to write the report; two others go to the same folder."),
    ] = Path("vanishing_demo.html"),
):
    """See in seconds what this is for: which law holds, which rows break it, which class is it."""
    out = _place(out)
    check_output(out)
    from vanishing.report import write_report

    printer = console()
    _law(printer)
    detector, pump = _rows(printer)
    _circle(printer)
    (X, y), results = _compare()
    model = results["vanishing"][0].model
    _print_comparison(printer, results)
    _print_equations(printer, model, X, y)
    rows, motion = (out.with_stem(f"{out.stem}_{name}") for name in ("outliers", "motion"))
    with console(error=True).status("Writing the reports"):
        write_report(model, X, y, out, title="Wines of three growers", data_name="held-out wines")
        write_report(detector, pump, path=rows, title="Readings of a pump", data_name="a pump")
        _write_motion(motion)
    printer.rule("What next", align="left")
    for words, path in (
        ("A report shows the classifier, its equations and its errors on one page:", out),
        ("Another one has the oddest readings of the pump, and why they are odd:", rows),
        ("A third one has equations of motion, of prey and predators:", motion),
    ):
        printer.print(words)
        printer.print(f"  {path.resolve()}", soft_wrap=True)
    printer.print("Now try a table of yours. To explain its column E:")
    printer.print("  vanishing laws table.csv --target E --out laws.json")
    printer.print("To find its wrong rows:")
    printer.print("  vanishing outliers table.csv --explain --out scored.csv")
    printer.print("To find how its columns move over the time t:")
    printer.print("  vanishing motion table.csv --time t --equations --out motion.json")
    printer.print("To tell apart the classes in its column label:")
    printer.print("  vanishing fit table.csv --target label --tune --out model.json")
    printer.print("  vanishing show model.json")
    printer.print("  vanishing report model.json table.csv --out report.html")


def _place(out: Path) -> Path:
    """Return a place for the report that can be written to."""
    if out.parent == Path() and not os.access(".", os.W_OK):
        return Path(tempfile.gettempdir()) / out.name
    return out


def _law(printer):
    with progress("Compiling, the first time only"):
        import pandas as pd

        from vanishing import LawFinder

        rng = np.random.default_rng(0)
        stones = pd.DataFrame(
            rng.uniform([0.5, 1.0, 0.0], [3.0, 10.0, 5.0], (_ROWS, 3)), columns=["m", "h", "v"]
        )
        energy = stones["m"] * (9.81 * stones["h"] + stones["v"] ** 2 / 2)
        energy = (energy + rng.normal(scale=0.5, size=_ROWS)).rename("E")
        finder = LawFinder().fit(stones, energy)
    law = finder.laws_[0]
    printer.rule("1. Which law holds?", align="left")
    printer.print(
        f"{_ROWS} stones in flight: mass m in kg, height h in m, speed v in m/s, and the energy "
        "E in J, measured with an error of 0.5 J:"
    )
    rows = stones.assign(E=energy)
    shown = table(*(f"#{name}" for name in rows))
    for row in rows.head(4).to_numpy():
        shown.add_row(*(f"{value:.2f}" for value in row))
    shown.add_row(*["..."] * rows.shape[1])
    printer.print(shown)
    printer.print("From nothing but this table, the law finder gets")
    printer.print(f"\n  {law}\n")
    printer.print(
        "It has the acceleration of free fall, 9.81, and the 1/2 of m v^2 / 2, each with the "
        f"standard error of its last digit. {law.verdict}\n"
    )
    shuffled = LawFinder().fit(stones, pd.Series(rng.permutation(energy), name="E"))
    printer.print(f"With the energies shuffled it says: {shuffled.verdict_}\n")


def _rows(printer):
    import pandas as pd

    from vanishing import VanishingOutlierDetector

    rng = np.random.default_rng(0)
    flow, head = rng.uniform([[20], [10]], [[60], [40]], (2, _ROWS))
    pump = pd.DataFrame({"flow": flow, "head": head, "power": 0.0034 * flow * head})
    pump["loss"] = 0.0004 * flow**2
    pump *= 1 + 0.005 * rng.normal(size=pump.shape)
    pump.loc[_WRONG, "flow"] *= 1.08
    with progress("Compiling, the first time only"):
        detector = VanishingOutlierDetector(random_state=0).fit(pump)
    printer.rule("2. Which rows break it?", align="left")
    printer.print(
        f"{_ROWS} readings of a pump: flow, head, power and loss, good to half a percent. In row "
        f"{_WRONG + 1} the flow was misread by 8 %, which nobody would notice: other rows have "
        "such a flow. The detector finds the laws of the table,\n"
    )
    for law in detector.laws_:
        printer.print(f"  {law}")
    row = int(detector.score_samples(pump).argmin())
    reason = detector.explain(pump.iloc[[row]])[0][0]
    column = reason["columns"][0]
    printer.print(
        f"\nand that row {row + 1} is the oddest of all: its {column} is "
        f"{reason['found'][column]:.1f}, where the other columns say "
        f"{reason['expected'][column]:.1f}.\n"
    )
    return detector, pump


def _write_motion(path: Path):
    """Write the report on how prey and predators move."""
    import pandas as pd

    from vanishing import EquationsOfMotion
    from vanishing.datasets import make_motion
    from vanishing.report import write_report

    X, t, groups = make_motion("predator prey", 4, 100, noise=0.02, random_state=0)
    X = pd.DataFrame(X, columns=["prey", "predators"])
    model = EquationsOfMotion(functions=()).fit(X, t, groups)
    title = "Prey and predators"
    write_report(model, X, path=path, t=t, groups=groups, title=title, data_name="four runs")


def _circle(printer):
    import pandas as pd

    from vanishing import OAVI

    rng = np.random.default_rng(0)
    angle = rng.uniform(0.0, 2.0 * np.pi, 400)
    points = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(scale=0.02, size=(400, 2))
    points = pd.DataFrame(points, columns=["x", "y"])
    printer.rule("3. Which class is it?", align="left")
    with progress("Compiling, the first time only"):
        model = OAVI(psi=0.002, oracle="omp", max_degree=2).fit(points)
    printer.print(
        "Points of a circle of radius 1 obey y^2 = 1 - x^2. Vanishing goes the other way, from "
        "points to equations: from 400 points near such a circle, and nothing else, it gets"
    )
    for generator in model.generators_:
        printer.print(f"\n  {generator.equation()}\n")
    printer.print(
        "which holds on the circle and not elsewhere. In the same way each class of a data set has "
        "equations of its own, and a row belongs to the class whose equations it obeys.\n"
    )


class _Result(NamedTuple):
    model: object
    wrong: int
    seconds: float
    size: int


def _compare():
    """Return the held-out rows of the first split, and the results of both classifiers on all."""
    from sklearn.datasets import load_iris, load_wine
    from sklearn.model_selection import GridSearchCV, train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler
    from sklearn.svm import SVC

    from vanishing import OAVI, VanishingClassifierCV

    wine = load_wine(as_frame=True)
    rows = wine.data.rename(columns=_NAMES)
    labels = np.array(["A", "B", "C"], dtype=object)[wine.target]
    grid = {"svc__degree": [1, 2, 3, 4], "svc__C": [0.1, 1.0, 10.0, 100.0]}
    results: dict[str, list[_Result]] = {"vanishing": [], "polynomial SVM": []}
    # Compilation is no part of what is compared.
    with progress("Compiling, the first time only"):
        VanishingClassifierCV(psis=(0.01,), Cs=(1.0,)).fit(*load_iris(return_X_y=True))
    splits = Progress("demo", of=2 * _SPLITS)
    with progress("Tuning"):
        for seed in range(_SPLITS):
            X, X_test, y, y_test = train_test_split(
                rows, labels, test_size=0.4, stratify=labels, random_state=seed
            )
            if not seed:
                first = X_test, y_test
            svm = make_pipeline(MinMaxScaler(), SVC(kernel="poly", coef0=1.0))
            for name, model, size in (
                # "omp": few terms per equation
                ("vanishing", VanishingClassifierCV(OAVI(oracle="omp")), _size),
                ("polynomial SVM", GridSearchCV(svm, grid, cv=3), _svm_size),
            ):
                start = time.perf_counter()
                with listening(None):  # to splits, not to the steps of one
                    model.fit(X, y)
                seconds = time.perf_counter() - start
                wrong = int(np.count_nonzero(model.predict(X_test) != y_test))
                results[name].append(_Result(model, wrong, seconds, size(model)))
                splits.step(name)
    return first, results


def _size(model):
    """Count the numbers that a prediction needs: coefficients, weights, constants."""
    from vanishing.inspection import anatomy

    whole = anatomy(model)
    coef = sum(len(part.generators[i].coef) for part in whole.parts for i in part.used)
    n_weights = int(np.count_nonzero(model.classifier_.final_estimator_.coef_))
    return coef + n_weights + len(whole.intercept)


def _svm_size(search) -> int:
    svm = search.best_estimator_[-1]
    return svm.support_vectors_.size + svm.dual_coef_.size + svm.intercept_.size


def _print_comparison(printer, results):
    n_test = 72 * _SPLITS
    printer.print(
        "178 Italian wines, 13 chemical measurements each; who grew them, A, B or C? Vanishing "
        "finds the equations of each grower's wines and weighs them; the rival is a support vector "
        "machine with a polynomial kernel of degree 1 to 4. Both are tuned by cross-validation on "
        f"60 % of the wines and asked about the rest, {_SPLITS} times with other wines held out:"
    )
    rows = table("classifier", "#error", "#wrong answers", "#seconds to tune", "#numbers kept")
    for name, of_splits in results.items():
        wrong = sum(result.wrong for result in of_splits)
        rows.add_row(
            name,
            share(wrong, n_test),
            f"{wrong} of {n_test}",
            f"{np.mean([result.seconds for result in of_splits]):.2f}",
            f"{np.mean([result.size for result in of_splits]):.0f}",
        )
    printer.print(rows)
    printer.print(
        "A few wrong answers more or less are luck, and wines were chosen for this tour: of "
        "scikit-learn's iris, wine and breast cancer data, the SVM is ahead on the last. The SVM "
        "stores wines and compares new ones with them. Vanishing stores equations, to be read:\n"
    )


def _print_equations(printer, model, X, y):
    from vanishing.questions.class_answers import shown_of

    printer.print(
        "Short ones with much weight in the decision, in the units of the measurements, and how "
        "far held-out wines are from them on average: wines of the grower, and of the others."
    )
    rows = table("grower", "equation", "#own", "#others")
    sentence = None
    for part, equations in shown_of(model, original=True).parts:
        # The two most important of those that are short enough for the table.
        short = [equation for equation in equations if len(equation.polynomial.coef) <= 4]
        for equation in short[:2]:
            polynomial, written = equation.polynomial, equation.shown.write()
            leading, _, rest = written.partition(" = ")
            off = np.abs(polynomial(X) / polynomial.leading_coef)
            own = y == part.label
            means = in_words(off[own].mean()), in_words(off[~own].mean())
            rows.add_row(str(part.label), written, *means)
            if sentence is None:
                sentence = (
                    f"In words: in wines of grower {part.label}, {leading} is about {rest}. "
                    f"Held-out wines of {part.label} are {means[0]} away from that on average, "
                    f"those of the others {means[1]}.\n"
                )
    printer.print(rows)
    if sentence is not None:
        printer.print(sentence)
