"""Commands about a saved model: what it says, what it predicts, a report, another language."""

import inspect
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option, echo

from vanishing.algebra.writing import printable
from vanishing.cli.app import command
from vanishing.cli.asking import (
    Data,
    check_ending,
    input_file,
    input_files,
    reading_parameters,
    table_of,
)
from vanishing.cli.console import (
    BOTH_PRINT,
    check_output,
    console,
    fail,
    is_stdout,
    print_answer,
    print_json,
    progress,
    say,
    write,
)
from vanishing.questions import answer_of, apply, report_on
from vanishing.questions.exporting import LANGUAGES, exported
from vanishing.questions.models import loaded_model

_PANEL = "With a saved model"
Model = Annotated[
    Path,
    Argument(help="A model that fit or another command saved; or -.", metavar="MODEL"),
]


def _with_table(function):
    """Give a command the options about a table of a model."""
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.name != "typed"]
    own = [p.replace(kind=p.KEYWORD_ONLY) for p in own]
    function.__signature__ = signature.replace(parameters=[*own, *reading_parameters()])
    return function


@command("vanishing predict m.json new.csv --out labels.csv", panel=_PANEL)
@_with_table
def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="CSV file to write; - prints it.",
            show_default="the first rows are shown",
        ),
    ] = None,
    column: Annotated[
        str | None,
        Option(
            metavar="COLUMN", help="For laws: the column to solve for.", show_default="the target"
        ),
    ] = None,
    std: Annotated[
        bool,
        Option(
            "--std",
            help="For laws: also the standard deviation of a new measurement about its prediction.",
        ),
    ] = False,
    json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
    **typed: Any,
):
    """Say what a model predicts for each row.

    A classifier gives the label and the decision values; with two classes there is one decision
    value, named after the second class and positive where that is predicted. A detector of outliers
    gives the score, 1 for outliers and 0 for others, and for outliers the reason, the columns to
    blame and their expected values. Laws give the target, or the column that --column names; the
    cell is empty if there is no solution. The column of groups of the fit decides which law a row
    takes. Equations of motion give the derivatives of their columns. Repair and
    calibration give the repaired and the calibrated values. Other models give the values of
    their equations or quantities.

    Columns that the model does not know are ignored; the others are treated as in the fit. A row
    that cannot be used gets empty cells.
    """
    _check_file(out, ".csv", json, model, data)
    with ExitStack() as stack, progress("Predicting"):
        file = input_files(model, data, stack)
        answer = apply(file, table_of(data, typed, stack), column=column, std=std)
    _finish(answer, out, json)


@command("vanishing report m.json bank.csv --out report.html", panel=_PANEL)
@_with_table
def report(
    model: Model,
    data: Data,
    out: Annotated[Path, Option(metavar="FILE", help="HTML file to write.")] = Path("report.html"),
    target: Annotated[
        str | None,
        Option(
            metavar="COLUMN",
            help="For classifiers: the column of the labels.",
            show_default="that of the fit, or the only column that the model does not use",
        ),
    ] = None,
    run: Annotated[
        str | None,
        Option(
            metavar="COLUMN",
            help="For motion: the column that says which run a row belongs to.",
            show_default="that of the fit",
        ),
    ] = None,
    time: Annotated[
        str | None,
        Option(
            metavar="COLUMN",
            help="For motion and outliers: the column of times.",
            show_default="that of the fit",
        ),
    ] = None,
    json: Annotated[
        bool, Option("--json", help="Print JSON, besides the file: what it is about.")
    ] = False,
    **typed: Any,
):
    """Write one HTML file about a model, and how it does on the rows of a table.

    The model may be a classifier, laws, a detector of outliers, conserved quantities, which need a
    column of runs, or equations of motion, which need one of times. Without labels, a report on a
    classifier has no errors.
    """
    _check_file(out, ".html", json, model, data)
    with ExitStack() as stack:
        file = input_files(model, data, stack)
        table = table_of(data, typed, stack)
        answer = report_on(file, table, target=target, run=run, time=time)
        with console(error=True).status("Writing the report"):
            _finish(answer, out, json)


def _check_file(out: Path | None, ending: str, json: bool, *inputs: Path) -> None:
    """Exit with a sentence, before any work, where a file cannot be written."""
    if out is None:
        return
    if not is_stdout(out):
        check_output(out, *inputs)
        check_ending(out, [ending])
    elif json:
        fail(BOTH_PRINT)


def _finish(answer, out: Path | None, json: bool) -> None:
    """Print notes and the answer, and write its file."""
    for note in answer.notes:
        say(note)
    if out is not None:
        write(out, answer.files[0])
    if json:
        print_json(answer.to_dict())
    elif out is None:
        print_answer(answer)
    elif not is_stdout(out):
        echo(f"{answer.heading}: {out}")


@command("vanishing show m.json --top 3", panel=_PANEL)
def show(
    model: Model,
    units: Annotated[
        str | None,
        Option(
            metavar="WORD",
            help="original, or scaled (columns as the model sees them).",
            show_default="original where the scaling allows it",
        ),
    ] = None,
    top: Annotated[
        int | None,
        Option(
            min=1,
            metavar="NUMBER",
            help="How many equations per class, laws or quantities to print.",
            show_default="10 per class; laws, quantities and formats: all",
        ),
    ] = None,
    everything: Annotated[
        bool, Option("--all", help="All equations, also those without weight.")
    ] = False,
    latex: Annotated[bool, Option("--latex", help="Print LaTeX.")] = False,
    sympy: Annotated[bool, Option("--sympy", help="Print expressions for sympy.sympify.")] = False,
    json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
):
    """Print the equations of a model; those of a classifier with the largest weights first.

    Laws, conserved quantities and equations of motion are always in original units; so are the laws
    of a detector of outliers.
    """
    formats = [n for n, on in (("latex", latex), ("sympy", sympy), ("json", json)) if on]
    if units not in (None, "scaled", "original"):
        fail(f"--units must be scaled or original; got {units!r}.")
    if len(formats) > 1:
        fail(f"Choose one of {' and '.join(f'--{name}' for name in formats)}.")
    with ExitStack() as stack:
        fitted, _ = loaded_model(input_file(model, stack))
    if top is None and not formats and not everything and hasattr(fitted, "classes_"):
        top = 10
    original = None if units is None else units == "original"
    answer = answer_of(fitted, top, original=original, everything=everything)
    if json:
        print_json(answer.to_dict())
    elif not formats:
        print_answer(answer)
    elif not answer.equations and answer.tables:
        fail(f"--{formats[0]} is for equations, and the model has none: leave it out.")
    else:
        # All lines are made before the first is printed: SymPy may be missing.
        for line in list(_formulas(answer, latex)):
            print(line)


def _formulas(answer, latex: bool):
    """Yield equations as LaTeX, or for SymPy, with what is known of them as comments."""
    mark, group = "%" if latex else "#", ""
    legend = [f"{mark} {printable(line)}" for line in answer.verdict.splitlines()]
    is_grouped = any(equation.group for equation in answer.equations)
    yield from [] if is_grouped else legend
    for equation in answer.equations:
        if equation.group != group:
            yield f"{mark} {equation.group}"
        group = equation.group
        note = f"  {mark} {equation.note}" if equation.note and is_grouped else ""
        yield equation.latex + note if latex else _sympy(equation.formula)
    yield from legend if is_grouped else []


def _sympy(formula) -> str:
    """Write what ``sympy.sympify`` takes, whatever columns are called."""
    if not isinstance(formula.terms, tuple):  # a generator
        return formula.write("sympy")
    expression = formula.to_sympy()
    from sympy import srepr

    return srepr(expression)


@command(
    "vanishing export m.json --to sql --out model.sql",
    lambda: {"LANGUAGES": LANGUAGES},
    panel=_PANEL,
)
def export(
    model: Model,
    to: Annotated[str, Option(metavar="WORD", help="One of LANGUAGES.", show_default=False)],
    out: Annotated[
        Path,
        Option(
            metavar="FILE", help="File to write; - prints it. onnx needs one.", show_default=False
        ),
    ] = Path("-"),
    json: Annotated[bool, Option("--json", help="Print JSON: the language, and its text.")] = False,
):
    """Write a model so that other systems can use it, without this library.

    SQL is an expression over the columns of a table; of rules, it is CREATE TABLE. C is one
    function, Python a module that needs NumPy, torch the source of a module of PyTorch.
    """
    if to not in LANGUAGES:
        fail(f"--to must be one of {' '.join(LANGUAGES)}; got {to!r}.")
    if not is_stdout(out):
        check_output(out, model)
        check_ending(out, [LANGUAGES[to].ending])
    elif not LANGUAGES[to].is_text:
        fail(f"--to {to} needs --out: a file such as model{LANGUAGES[to].ending}.")
    with ExitStack() as stack:
        fitted, _ = loaded_model(input_file(model, stack))
    from vanishing.persistence.files import write_atomically

    written = exported(fitted, to)
    if not is_stdout(out):
        write_atomically(out, written)
    if json:
        print_json({"language": to, "text": written if LANGUAGES[to].is_text else None})
    elif is_stdout(out):
        sys.stdout.write(str(written))
