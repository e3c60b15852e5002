"""Files to take away from an answer: the model, its report, a picture, rows, other languages."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from vanishing.questions.answer import PICTURES, File
from vanishing.tables.recipe import Recipe

_FORMULAS = tuple("=+-@\t\r")  # what they begin with


def model_file(model, recipe: Recipe, name: str = "model.json") -> File:
    """Return the model, with what was done to its table, for other commands and `load`."""

    def write(path: Path):
        from vanishing.persistence import save
        from vanishing.tables.saved import node_of

        save(model, path, table=node_of(recipe))

    return File(name, "The model", "application/json", write, (".json",))


def report_file(model, X, **arguments: Any) -> File:
    """Return the report as one page; arguments are those of `write_report`."""

    def write(path: Path):
        from vanishing.report import write_report

        write_report(model, X, path=path, **arguments)

    return File("report.html", "The report", "text/html", write, (".html", ".htm"))


def picture_file(drawn: Callable[[], Any]) -> File:
    """Return a picture; ``drawn()`` returns a display of `vanishing.plot`."""

    def write(path: Path):
        import matplotlib

        matplotlib.use("Agg")
        drawn().figure_.savefig(path, dpi=150)

    return File("picture.png", "A picture", "image/png", write, PICTURES)


def text_file(name: str, label: str, media_type: str, made: Callable[[], str]) -> File:
    """Return a file of text; ``made()`` returns the text."""
    ending = "." + name.split(".", 1)[1]

    def write(path: Path):
        from vanishing.persistence.files import write_atomically

        write_atomically(path, made())

    return File(name, label, media_type, write, (ending,))


def rows_file(name: str, label: str, rows: Callable[[], Iterable[Sequence]]) -> File:
    """Return a CSV file; ``rows()`` returns its lines, the names first."""
    return text_file(name, label, "text/csv", lambda: csv_text(rows()))


def csv_text(rows: Iterable[Sequence]) -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def guarded(text: str) -> str:
    """Return CSV in which a spreadsheet takes no text for a formula: such cells begin with '."""
    return csv_text(
        [f"'{cell}" if cell[:1] in _FORMULAS and not _is_number(cell) else cell for cell in row]
        for row in csv.reader(io.StringIO(text))
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def language_files(model, name: str) -> tuple[File, ...]:
    """Return what computes the same as a model in C, SQL and Python, and its formulas in LaTeX."""
    from vanishing.questions.exporting import LANGUAGES

    def file(language):
        label, media_type = language.label, language.media_type
        made = partial(language.write, model)
        return text_file(f"{name}{language.ending}", label, media_type, made)

    return tuple(file(language) for language in LANGUAGES.values() if language.is_text)
