"""An answer is a value: what was found, in words, equations, tables and files to take away."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

PICTURES = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Constant:
    """A number of an equation; ``std`` is NaN or 0 where it has no standard error."""

    name: str
    value: float
    std: float = math.nan
    unit: str = ""


@dataclass(frozen=True)
class Equation:
    """An equation as text, LaTeX and MathML.

    ``chosen`` says whether it is the answer, ``measures`` what is known of it, such as its error,
    and ``formula`` is the object that it was written from: a `Law`, or a generator. Equations with
    the same ``group`` stand together; a ``note`` stands behind the equation.
    """

    text: str
    latex: str
    mathml: str
    constants: tuple[Constant, ...] = ()
    chosen: bool = True
    measures: dict[str, Any] = field(default_factory=dict)
    formula: Any = None
    group: str = ""
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the equation as JSON has it."""
        constants = [
            {"name": c.name, "value": finite(c.value), "std": finite(c.std), "unit": c.unit or None}
            for c in self.constants
        ]
        return {
            "text": self.text,
            "latex": self.latex,
            "chosen": self.chosen,
            "constants": constants,
            **{name: finite(value) for name, value in self.measures.items()},
        }


@dataclass(frozen=True)
class AnswerTable:
    """A table to show. ``lines`` say the same where there is no room for columns: in a terminal."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    lines: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON has it."""
        rows = [[finite(cell) for cell in row] for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows}


@dataclass(frozen=True)
class File:
    """A file to take away: ``write(path)`` makes it; its name may end with one of ``endings``."""

    name: str
    label: str
    media_type: str
    write: Callable[[Path], object]
    endings: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """What was found in a table, or what a model says.

    Attributes
    ----------
    question : str
        Its name in `QUESTIONS`, or "model".
    found : bool
        Whether there is something: "nothing" is an answer, too.
    verdict : str
        Sentences.
    heading : str
        What the answer is about: the table and how many rows and columns were used.
    equations, front : tuple of Equation
        What was found; and the equations that were compared, to choose from.
    tables : tuple of AnswerTable
    notes : tuple of str
        What was odd about the table.
    next_steps : tuple of str
    model : object
        The fitted estimator.
    details : dict
        What else `to_dict` returns: the model in full.
    files : tuple of File
        The first one is meant where the name of a file says nothing else.
    printed : tuple of str and AnswerTable
        What a terminal shows, in its order, if not heading, equations, verdict and tables.
    command, python : str
        The same as a command line and as Python, to copy.
    chooser : callable or None
        Called by `choose`.
    pictures : callable
        Returns pictures as data, a tuple of `vanishing.questions.pictures.Picture`.
    """

    found: bool
    verdict: str
    heading: str = ""
    equations: tuple[Equation, ...] = ()
    front: tuple[Equation, ...] = ()
    tables: tuple[AnswerTable, ...] = ()
    notes: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    model: Any = None
    details: dict[str, Any] = field(default_factory=dict)
    files: tuple[File, ...] = ()
    printed: tuple[str | AnswerTable, ...] = ()
    question: str = "model"
    command: str = ""
    python: str = ""
    chooser: Callable[[int], "Answer"] | None = None
    pictures: Callable[[], tuple[Any, ...]] = tuple

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON has it; `details` come as they are."""
        return {
            "question": self.question,
            "found": self.found,
            "verdict": self.verdict,
            "heading": self.heading,
            "equations": [equation.to_dict() for equation in self.equations],
            "tables": [table.to_dict() for table in self.tables],
            "notes": list(self.notes),
            "next_steps": list(self.next_steps),
            "files": [file.name for file in self.files],
            "command": self.command,
            "python": self.python,
            **self.details,
        }

    def take_away(self) -> tuple[File, ...]:
        """Return the files that can be written."""
        return self.files

    def file_for(self, name: str) -> File | None:
        """Return the file that the ending of a name asks for, or None if there is none."""
        fitting = [(e, file) for file in self.files for e in file.endings if name.endswith(e)]
        return max(fitting, key=lambda pair: len(pair[0]), default=("", None))[1]

    def choose(self, place: int) -> "Answer":
        """Return the answer with another equation of ``front``, by its place there."""
        if self.chooser is None or not 0 <= place < len(self.front):
            raise ValueError(f"there is no equation {place}: there are {len(self.front)}.")
        chosen = self.chooser(place)
        asked = {name: getattr(self, name) for name in ("question", "notes", "command", "python")}
        return replace(chosen, **asked)


def finite(value):
    """Return a value as JSON has it: it knows neither infinity nor NaN, nor types of NumPy."""
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)


def rounded(value: float, std: float) -> tuple[str, str]:
    """Write a number to the digits that its standard error leaves, and that error."""
    if not (math.isfinite(std) and std > 0.0):
        return f"{value:.8g}", ""
    digits = 1 - math.floor(math.log10(float(f"{std:.1e}")))
    size = math.floor(math.log10(abs(value))) + digits + 1 if value else 1
    if not 0 < digits < 7:
        return f"{value:.{max(size, 1)}g}", f"{std:.2g}"
    return f"{value:.{digits}f}", f"{std:.2g}"


def numbers_table(title: str, name: str, constants: Iterable[Constant]) -> AnswerTable:
    """Return constants with their errors as a table; units get a column where there are some."""
    constants = tuple(constants)
    heads = (name, "value", "standard error")
    rows = [(c.name, *rounded(c.value, c.std), c.unit) for c in constants]
    if any(c.unit for c in constants):
        return AnswerTable(title, (*heads, "unit"), tuple(rows))
    return AnswerTable(title, heads, tuple(row[:-1] for row in rows))
