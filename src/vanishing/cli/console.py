"""What the commands share: output, errors as one sentence, and files."""

import functools
import os
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from vanishing.algebra.writing import printable

_UNWRAPPED = 10_000  # columns of a pipe: its reader wants an equation on one line


def console(*, error=False, wrapped=True):
    """Return a console that prints text as it is: brackets in names of columns are no markup."""
    from rich.console import Console

    pipe = not (sys.stderr if error else sys.stdout).isatty() and "COLUMNS" not in os.environ
    return Console(
        stderr=error,
        markup=False,
        highlight=False,
        emoji=False,
        width=_UNWRAPPED if pipe and not wrapped else None,
    )


@contextmanager
def progress(description, total=None):
    """Show on the error stream, while it lasts and in a terminal, how far things are.

    Yields a function ``step(**changes)``, of a description, a number to advance by, what is
    completed, or the total.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    errors = console(error=True)
    with Progress(
        *columns,
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
        redirect_stdout=False,  # which may be a file
    ) as bar:
        task = bar.add_task(description, total=total)

        yield functools.partial(bar.update, task)


def fail(message, code=1) -> NoReturn:
    """Say on the error stream, in one sentence, what went wrong, and leave."""
    print(printable(" ".join(str(message).split())), file=sys.stderr)
    raise SystemExit(code)


@contextmanager
def sentences():
    """Say errors and warnings of what is inside in one sentence each; also a decorator."""
    with warnings.catch_warnings():
        warnings.showwarning = _print_warning
        try:
            yield
        except KeyboardInterrupt:
            fail("Interrupted: nothing was written.", 130)
        except BrokenPipeError:
            # Whoever read our output has left; nor must Python complain when it flushes the rest.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(1) from None
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            fail(f"{where}{error.strerror or error}".removesuffix(".") + ".")
        except MemoryError as error:
            fail(f"There is not enough memory: {str(error) or 'try fewer rows'}.")
        except (ValueError, TypeError, ImportError) as error:
            fail(error)


def _print_warning(message, category, filename, lineno, file=None, line=None):
    if not issubclass(category, (DeprecationWarning, PendingDeprecationWarning)):
        print(f"Warning: {' '.join(str(message).split())}", file=sys.stderr)


def check_output(path: Path, *inputs: Path):
    """Leave with a sentence, before any work, where a file cannot be written."""
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
        fail(f"{path} would be overwritten, and it is what is read: give another name.")


def load_model(path: Path, *, predicts=True, also=()):
    """Load a model; leave with a sentence where it is none, or neither classifier nor law.

    With ``also``, models of further classes, by their names, will do.
    """
    if path.is_dir():
        fail(f"{path} is a folder, not a model.")
    if not path.exists():
        fail(f"There is no model {path}.")
    from vanishing import load

    model = load(path)
    kinds = ("VanishingClassifier", "VanishingClassifierCV", "LawFinder", "Law", *also)
    if predicts and type(model).__name__ not in kinds:
        *some, last = kinds
        fail(
            f"{path} holds a {type(model).__name__}: this command needs a {', '.join(some)} or "
            f"{last}."
        )
    return model


def columns_of(model, table) -> list[str]:
    """Return the columns of a table that a model wants, in its order."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:  # fitted to an array
        if len(table.names) != model.n_features_in_:
            fail(
                f"The model knows its {model.n_features_in_} columns by their order only, and "
                f"{table.path} has {len(table.names)}: give a table of these columns alone."
            )
        return table.names
    known = set(table.names)
    missing = [name for name in names if name not in known]
    if missing:
        columns = "the column" if len(missing) == 1 else "the columns"
        fail(f"{table.path} lacks {columns} {listed(missing)}, which the model needs.")
    return list(names)


def rows_of(model, X):
    """Return rows with names if the model knows names."""
    return X if hasattr(model, "feature_names_in_") else X.to_numpy()


def noise_of(texts: list[str], names: list[str]) -> float | dict[str, float]:
    """Return what --noise says: a number for all columns, or one for each that it names."""
    if len(texts) == 1 and "=" not in texts[0]:
        return _size_of_noise(texts[0])
    found = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        if not equals:
            fail(f"--noise {text!r} names no column: write COLUMN=NUMBER.", 2)
        if name not in names:
            fail(f"--noise is given for {name!r}, which is no column that is used.")
        found[name] = _size_of_noise(number)
    return found


def _size_of_noise(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        fail(f"--noise must be numbers that are not negative; got {text!r}.", 2)
    return number


def listed(values, limit=5) -> str:
    """Write some values as a list in a sentence."""
    shown = [repr(value) for value in values[:limit]]
    if len(values) > limit:
        return ", ".join(shown) + f" and {len(values) - limit} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def share(part, whole) -> str:
    """Write a share in per cent."""
    return f"{100 * part / whole:.2f} %"
