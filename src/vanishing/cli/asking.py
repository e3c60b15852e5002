"""Commands that ask a question: its options are those of the command line."""

import inspect
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from vanishing.cli.app import command
from vanishing.cli.console import (
    BOTH_PRINT,
    check_output,
    fail,
    is_stdin,
    is_stdout,
    print_answer,
    print_json,
    progress,
    say,
    write,
)
from vanishing.questions import QUESTIONS, READING, Answer, Option, Question, Reading
from vanishing.questions.classes import names as names_of_classes
from vanishing.questions.motion import refuse_options_of_equations
from vanishing.questions.reading import OF_MODELS, QuestionTable
from vanishing.tables.formats import known_endings

REQUIRED = inspect.Parameter.empty
_WORDS = {"column": "COLUMN", "columns": "COLUMN", "number": "NUMBER", "integer": "NUMBER"}
_WORDS |= {"file": "FILE", "text": "TEXT", "texts": "TEXT", "choice": "WORD"}
_TYPES = {"columns": list[str], "texts": list[str], "number": float, "integer": int, "file": Path}
_OLD = {  # options of before, by the ending that --out has instead
    "save": (".json", "--save is --out with a name that ends in .json"),
    "report": (".cells.csv", "--report is --out with a name that ends in .cells.csv"),
}


# -- Options --------------------------------------------------------------------------------------


def parameter(option: Option, panel: str | None = None) -> inspect.Parameter:
    """Return an option as a parameter of a command."""
    details: dict[str, Any] = {}
    if option.kind == "integer":
        details = {"min": option.low, "max": option.high}
    details |= {"metavar": _WORDS.get(option.kind)}
    names, default, kind = (option.flag,), option.default, _TYPES.get(option.kind, str)
    if option.kind == "flag":
        kind = bool
        if default is not False:
            names = (f"{option.flag}/--no-{option.flag[2:]}",)
    shown = option.absent or ("" if default in (None, False, True) else str(default)) or False
    text = escape(option.help)  # rich takes the brackets of flow[t-1] for markup
    declared = typer.Option(*names, help=text, show_default=shown, rich_help_panel=panel, **details)
    return _parameter(option.name, Annotated[kind | None, declared], default)


def _parameter(name: str, annotation, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )


def reading_parameters(question: Question | None = None) -> list[inspect.Parameter]:
    """Return the options about a table: of a question, or of a model that knows its columns."""
    fitted = question is not None and question.fitted
    offered = [option for option in READING if fitted or option.name in OF_MODELS]
    if question is not None and not question.missing:
        offered = [option for option in offered if option.name != "missing"]
    return [parameter(option, "The table") for option in offered]


def out_parameter(question: Question) -> inspect.Parameter:
    """Return ``--out``, whose help says what the endings of names mean."""
    first, *others = question.writes
    words = [f"{', '.join(endings)} for {what}" for endings, what in [first, *others]]
    kinds = f"{'; '.join(words)}; with another ending: the first of these"
    help = f"File to write, may be repeated: {kinds}."
    declared = typer.Option(
        "--out", help=f"{help} - prints it.", show_default="the screen alone", metavar="FILE"
    )
    return _parameter("out", Annotated[list[Path] | None, declared])


Data = Annotated[
    Path,
    typer.Argument(help=f"A table: {known_endings()}; or - for standard input.", metavar="DATA"),
]
DATA = _parameter("data", Data, REQUIRED)
JSON = _parameter(
    "json",
    Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")],
    False,
)
_FAIL = _parameter(
    "fail",
    Annotated[bool, typer.Option("--fail", help="Exit with 1 if nothing is found.")],
    False,
)
_SAVE, _CELLS = (
    _parameter(name, Annotated[Path | None, typer.Option(f"--{name}", help=help, hidden=True)])
    for name, (_, help) in _OLD.items()
)
_EQUATIONS = _parameter(
    "equations",
    Annotated[
        bool,
        typer.Option(
            "--equations",
            help="Find how runs move, dx/dt = f(x), instead of what stays the same.",
        ),
    ],
    False,
)


# -- Tables and files -----------------------------------------------------------------------------


def table_of(data: Path, typed: dict[str, Any], stack: ExitStack) -> QuestionTable:
    """Return a table and take its options out of those that were typed; - is standard input."""
    chosen = {o.name: typed.pop(o.name) for o in READING if o.name in typed}
    reading = Reading(**chosen)
    # Options are checked before the file is looked for.
    return QuestionTable(input_file(data, stack), reading, "-" if is_stdin(data) else "")


def input_file(path: Path, stack: ExitStack) -> Path:
    """Return a file to read; "-" is what comes on standard input, kept while the stack is open."""
    if not is_stdin(path):
        return path
    start = sys.stdin.buffer.read(4)
    kind = {b"PAR1": ".parquet", b"PK\x03\x04": ".xlsx"}.get(start, ".csv")
    kept = Path(stack.enter_context(tempfile.TemporaryDirectory()), f"stdin{kind}")

    def name_as_typed(_kind, error, _traceback):
        if error is not None and error.args:
            error.args = (str(error.args[0]).replace(str(kept), "-"), *error.args[1:])

    stack.push(name_as_typed)
    with kept.open("wb") as file:
        file.write(start)
        shutil.copyfileobj(sys.stdin.buffer, file)
    return kept


def input_files(model: Path, data: Path, stack: ExitStack) -> Path:
    """Return the file of a model, or of rules, for a table; one of both may be "-"."""
    if is_stdin(model) and is_stdin(data):
        fail("Standard input has one file: give the model or the table by its name.")
    return input_file(model, stack)


def check_files(outs: Iterable[Path], question: Question, json: bool, *inputs: Path) -> None:
    """Exit with a sentence, before any work, where files cannot be written."""
    outs = list(outs)
    written = [path for path in outs if not is_stdout(path)]
    for path in written:
        check_output(path, *(other for other in inputs if not is_stdout(other)))
        check_ending(path, question.endings(), others=question.name != "rules")
    if len(set(written)) < len(written):
        fail("Two files to write have the same name: give two names.")
    if len(outs) - len(written) + json > 1:
        fail(BOTH_PRINT)


def check_ending(path: Path, own: Iterable[str], *, others: bool = True) -> None:
    """Exit with a sentence if the ending of a name means another kind of file.

    ``others`` are endings without a meaning, as in ``laws.txt``: they are allowed, or not.
    """
    known = {ending for question in QUESTIONS.values() for ending in question.endings()}
    name, own = path.name.lower(), tuple(own)
    if not name.endswith(own) and (not others or name.endswith(tuple(known))):
        fail(f"{path} must end with {'one of ' * (len(own) > 1)}{' '.join(own)}.")


def deliver(answer: Answer, wanted: Mapping[Path, str]) -> list[Path]:
    """Write files of an answer by what their names stand for; return which, and note the others."""
    done = []
    for path, name in wanted.items():
        file = answer.file_for(name)
        if file is None:
            say(f"{path} is not written: there is nothing to draw or to write.")
        else:
            write(path, file)
            done.append(path)
    return done


# -- Commands -------------------------------------------------------------------------------------


def _asked(question: Question, data: Path, typed: dict[str, Any]) -> None:
    """Ask a question, print the answer, and write files."""
    start = time.perf_counter()
    outs, json, fails = list(typed.pop("out") or ()), typed.pop("json"), typed.pop("fail", True)
    wanted = {path: _meant(path, question) for path in outs}
    old = {name: path for name in _OLD if (path := typed.pop(name, None)) is not None}
    check_files([*outs, *old.values()], question, json, data)
    for name, path in old.items():
        ending, note = _OLD[name]
        wanted[path] = ending
        say(f"{note}.")
    with ExitStack() as stack:
        table = table_of(data, typed, stack)
        with progress(question.title):
            answer = question.ask(table, **typed)
        for note in answer.notes:
            say(note)
        prints = [path for path in wanted if is_stdout(path)]
        done = deliver(answer, wanted)  # before anything is printed: the reader may go away
    if not prints and not json:
        print_answer(answer)
    if json:
        print_json(answer.to_dict())
    elif done and not prints:
        seconds = time.perf_counter() - start
        typer.echo(f"\nSaved as {', '.join(map(str, done))} ({seconds:.1f} s in all)")
    if fails and answer.found == (question.name == "check"):
        raise SystemExit(1)


def _meant(path: Path, question: Question) -> str:
    """Return what the name of a file stands for: its ending, if a question knows that."""
    name = path.name.lower()
    return name if name.endswith(tuple(question.endings())) else question.endings()[0]


def _join(question: Question, panel: str, extra=(), names=dict) -> None:
    """Make a command of a question."""
    options = [parameter(option) for option in question.options]
    of_table = reading_parameters(question)
    own = [out_parameter(question), *extra, JSON, _FAIL]

    def ask(data: Path, **typed):
        _asked(question, data, typed)

    _command(question, panel, ask, [DATA, *options, *own, *of_table], names)


def _command(question: Question, panel: str, function, parameters, names=dict) -> None:
    function.__name__ = (question.command or question.name).split()[0]
    function.__doc__ = f"{question.summary}\n\n{question.details}".strip()
    function.__signature__ = inspect.Signature(parameters)
    command(question.example, names, panel)(function)


def _motion(data: Path, **typed):
    if not typed.pop("equations"):
        refuse_options_of_equations(typed)
        question = QUESTIONS["conserved"]
        known = {option.name for option in (*question.options, *READING)}
        ours = ("out", "json", "fail")
        typed = {name: value for name, value in typed.items() if name in known or name in ours}
    else:
        question = QUESTIONS["motion"]
    _asked(question, data, typed)


def _check(rules: Path, data: Path, **typed):
    with ExitStack() as stack:
        _asked(QUESTIONS["check"], data, typed | {"rules": input_files(rules, data, stack)})


_join(QUESTIONS["laws"], "Which law holds?")
motion, conserved = QUESTIONS["motion"], QUESTIONS["conserved"]
_command(
    Question(
        "motion",
        motion.title,
        "Find what stays the same along every run of a table, or, with --equations, how runs move.",
        motion.options,
        motion.answer,
        details="Quantities that stay the same differ between runs. Equations of motion are "
        "derivatives of the columns by time. If nothing is found, the command says so.",
        example=conserved.example,
        writes=motion.writes,
    ),
    "What stays the same, and how does it move?",
    _motion,
    [
        DATA,
        *map(parameter, motion.options),
        _EQUATIONS,
        out_parameter(motion),
        JSON,
        _FAIL,
        *reading_parameters(motion),
    ],
)
_join(QUESTIONS["outliers"], "Which rows break the laws?", [_SAVE])
_join(QUESTIONS["rules"], "Which rows break the laws?")
check = QUESTIONS["check"]
rules, *others = check.options
Rules = Annotated[Path, typer.Argument(help=rules.help, metavar="RULES")]
_command(
    check,
    "Which rows break the laws?",
    _check,
    [
        _parameter("rules", Rules, REQUIRED),
        DATA,
        *map(parameter, others),
        out_parameter(check),
        JSON,
        *reading_parameters(check),
    ],
)
_join(QUESTIONS["repair"], "What should the values be?", [_CELLS, _SAVE])
_join(QUESTIONS["calibrate"], "What should the values be?", [_SAVE])
_join(QUESTIONS["classes"], "Which class is it?", names=names_of_classes)
