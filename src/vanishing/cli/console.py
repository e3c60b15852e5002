"""What the commands share: output, errors as one sentence, and files."""

import _thread
import os
import signal
import sys
import tempfile
import threading
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from vanishing.algebra.writing import printable
from vanishing.estimators.progress import listening
from vanishing.questions import Answer, AnswerTable, File
from vanishing.tables.errors import TableError

UNREADABLE = 2  # the exit status of wrong options, and of what cannot be read or written
BOTH_PRINT = "--json and --out - both print: choose one."
CLOSED = 141  # that of programs whose output nobody reads any more, as shells have it
_UNWRAPPED = 10_000  # columns of a pipe: its reader wants an equation on one line


def console(*, error=False, wrapped=True):
    """Return a console that prints text as it is: brackets in names of columns are no markup."""
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self):
            raise  # for `sentences`

    pipe = not (sys.stderr if error else sys.stdout).isatty() and "COLUMNS" not in os.environ
    return Output(
        stderr=error,
        markup=False,
        highlight=False,
        emoji=False,
        width=_UNWRAPPED if pipe and not wrapped else None,
    )


@contextmanager
def progress(description):
    """Show a progress bar on the error stream, in a terminal, while the block runs.

    The block tells how far it is by events: see `vanishing.estimators.progress`.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Column

    errors = console(error=True)
    with Progress(
        BarColumn(20),
        TimeElapsedColumn(),
        # The rest of the line; longer descriptions are cut.
        TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
        expand=True,
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
        redirect_stdout=False,  # which may be a file
    ) as bar:
        task = bar.add_task(description, total=None)

        def show(done, of, what):
            count = "" if of is None else f", {done} of {of}"
            bar.update(task, description=f"{description}{count}: {what}", completed=done, total=of)

        with listening(show):
            yield


def fail(message, code=UNREADABLE) -> NoReturn:
    """Print in one sentence, on the error stream, what went wrong, and exit."""
    print(printable(" ".join(str(message).split())), file=sys.stderr)
    raise SystemExit(code)


@contextmanager
def sentences():
    """Print errors and warnings of the block as one sentence each; also a decorator."""
    with warnings.catch_warnings(), _interruptible():
        warnings.showwarning = _print_warning
        try:
            yield
            sys.stdout.flush()  # while errors of it can still be told
        except KeyboardInterrupt:
            fail("Interrupted: nothing was written.", 130)
        except BrokenPipeError:
            # The reader of our output is gone; Python must not complain when it flushes the rest.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(CLOSED) from None
        except TableError as error:
            *lines, last = str(error).splitlines()
            for line in lines:
                print(printable(line), file=sys.stderr)
            # The lines below a heading are set off from it.
            print(printable(f"{last} {error.remedy}".rstrip()), file=sys.stderr)
            raise SystemExit(UNREADABLE) from None
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            fail(f"{where}{error.strerror or error}".removesuffix(".") + ".")
        except MemoryError as error:
            fail(f"There is not enough memory: {str(error) or 'try fewer rows'}.")
        except (ValueError, TypeError, ImportError) as error:
            fail(error)


@contextmanager
def _interruptible():
    """Have Ctrl-C wait while Numba compiles: in there it would be lost, or end in a crash."""
    own = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    own = own and threading.current_thread() is threading.main_thread()
    if own:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        if own:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt(number, frame):
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(("numba.core", "llvmlite")):
            again = threading.Timer(0.05, _thread.interrupt_main)
            again.daemon = True
            again.start()
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def _print_warning(message, category, filename, lineno, file=None, line=None):
    if not issubclass(category, (DeprecationWarning, PendingDeprecationWarning)):
        print(f"Warning: {' '.join(str(message).split())}", file=sys.stderr)


def check_output(path: Path, *inputs: Path):
    """Exit with a sentence, before any work, if a file cannot be written."""
    folder = path.parent
    if path.is_dir():
        fail(f"{path} is a folder: give the name of a file to write.")
    if path.exists() and not path.is_file():
        fail(f"{path} is not a file that could be replaced.")
    if not folder.is_dir():
        fail(f"{path} cannot be written: there is no folder {folder}.")
    if not os.access(folder, os.W_OK):
        fail(f"{path} cannot be written: the folder {folder} is not writable.")
    if any(path.exists() and other.exists() and path.samefile(other) for other in inputs):
        fail(f"{path} is an input and would be overwritten: give another name.")


def table(*heads: str):
    """Return an empty table to print; a head that starts with "#" is that of numbers."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE, pad_edge=False)
    for head in heads:
        is_number = head.startswith("#")
        made.add_column(
            head.removeprefix("#"),
            justify="right" if is_number else "left",
            no_wrap=is_number,
            overflow="ellipsis" if is_number else "fold",
        )
    return made


def print_json(document: dict):
    """Print a document as JSON."""
    from vanishing.persistence import layout

    # Halves of surrogate pairs, which names may hold, are no text, but JSON writes them as \uXXXX.
    print(layout(document).encode("utf-8", "backslashreplace").decode())


def print_answer(answer: Answer) -> None:
    """Print an answer to read: what it is about, equations, verdict and tables."""
    printer = console(wrapped=False)
    equations = {equation.text for equation in answer.equations}
    verdict = "" if answer.verdict == f"{answer.heading}." else answer.verdict
    blocks = ([answer.heading], [equation.text for equation in answer.equations], [verdict])
    lines = [line for block in blocks if any(block) for line in ("", *block)]
    for part in answer.printed or (*lines[1:], *answer.tables):
        if isinstance(part, str):
            printer.print(part, style="bold" if part.strip() in equations else "")
            continue
        if part.title:
            printer.print()
            printer.print(part.title)
        if part.lines or part.columns[1:] == ():
            for line in part.lines or [f"  {_cell(row[0])}" for row in part.rows]:
                printer.print(line)
        else:
            printer.print(_printed(part))


def _printed(answer: AnswerTable):
    """Return a table to print; columns of numbers stand to the right."""
    is_number = [
        all(_is_number(row[place]) for row in answer.rows) for place in range(len(answer.columns))
    ]
    made = table(*("#" * n + head for head, n in zip(answer.columns, is_number, strict=True)))
    for row in answer.rows:
        made.add_row(*map(_cell, row))
    return made


def _cell(value) -> str:
    """Write a cell; of numbers that were computed, the digits that can be read."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else printable(str(value))


def _is_number(cell) -> bool:
    try:
        return cell in ("", None) or bool(float(str(cell).removesuffix(" %")) + 1.0)
    except ValueError:
        return False


def say(note: str) -> None:
    """Print a note on the error stream."""
    print(printable(f"Note: {note}"), file=sys.stderr)


def write(out: Path, file: File) -> None:
    """Write a file, or print it where its name is "-"."""
    if not is_stdout(out):
        file.write(out)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, file.name)
        file.write(path)
        sys.stdout.flush()
        content = path.read_bytes()
        if file.media_type.startswith("image"):
            sys.stdout.buffer.write(content)
        else:
            sys.stdout.write(content.decode())
        sys.stdout.flush()


def is_stdout(out: Path | None) -> bool:
    """Say whether "-" was typed for the name of a file to write."""
    return str(out) == "-"


def is_stdin(file: Path) -> bool:
    """Say whether "-" was typed for the name of a file to read."""
    return str(file) == "-"


def share(part, whole) -> str:
    """Write a share in per cent."""
    return f"{100 * part / whole:.2f} %"
