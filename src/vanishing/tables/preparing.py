"""A table as it comes: its rows as numbers, or all that is wrong with it and what helps."""

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vanishing.tables.cells import EXACT, ColumnCells
from vanishing.tables.columns import CategoryColumn, Column, DateColumn, FlagColumn
from vanishing.tables.errors import LISTED, TableError, listed
from vanishing.tables.files import FileTable
from vanishing.tables.header import is_row_of_numbers
from vanishing.tables.kinds import Choices, Recognition, recognised
from vanishing.tables.labels import classes_of
from vanishing.tables.problems import BadCells, Problem, TableProblemsError, remedies, remedy
from vanishing.tables.recipe import Recipe, readable_names, repeated, row_index
from vanishing.tables.settings import IDENTIFIER_ROWS


class PreparedTable(NamedTuple):
    """The usable rows of a table.

    ``X`` has the columns ``names``, a target of numbers last; ``rows`` are the places of its rows
    in the table, whose columns are ``known``; ``texts`` are the cells of labels, runs and
    identifiers, by role; ``notes`` say what was done and what looks odd.
    """

    X: np.ndarray
    names: list[str]
    known: list[str]
    texts: dict[str, np.ndarray]
    rows: np.ndarray
    recipe: Recipe
    notes: list[str]

    def frame(self):
        """Return X as a DataFrame, whose index has the number of each row and its identifier."""
        import pandas as pd

        index = row_index(self.rows, self.texts.get("id"))
        return pd.DataFrame(self.X, columns=self.names, index=index)


def prepare(
    table: FileTable,
    choices: Choices,
    roles: Mapping[str, str],
    *,
    target: str | None = None,
) -> PreparedTable:
    """Read a whole table, or say all that is wrong with it.

    Parameters
    ----------
    table : FileTable
    choices : Choices
    roles : mapping of str to str
        Columns that are not learned from, by role: "target" (labels), "run", "group", "id",
        "time".
    target : str, default=None
        A column of numbers to explain; it comes last.

    Returns
    -------
    prepared : PreparedTable

    Raises
    ------
    TableProblemsError
        With one line per problem, and the option that helps.
    """
    return _Preparation(table, choices, roles, target).result()


class _Preparation:
    """Collects problems and notes while a table is read."""

    def __init__(self, table, choices, roles, target):
        self.table, self.choices, self.target = table, choices, target
        self.roles = dict(roles)
        self.names = readable_names(table.names)
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.decimals: dict[str, str] = {}  # of columns that need another sign than given
        self.bad: list[BadCells] = []
        self.unlabelled: dict[str, list[int]] = {}  # rows, by column of labels or runs
        self.places = {name: place for place, name in enumerate(self.names)}

    def result(self) -> PreparedTable:
        """Return the rows that can be used, or raise what is wrong."""
        self._check_names()
        if self.problems:  # problems of the columns are looked for once the names are right
            raise TableProblemsError(self.table.path, self.problems)
        wanted = self._wanted()
        roles = self.roles
        with_text = {role: name for role, name in roles.items() if role != "time"}
        time_columns = [roles["time"]] if "time" in roles else []
        cells = self._read([*wanted, *time_columns, *with_text.values()], list(with_text.values()))
        n_rows = len(next(iter(cells.values()))) if cells else 0
        texts = {r: np.array(cells[name].texts(), dtype=object) for r, name in roles.items()}
        columns, values = self._values(self._columns(wanted, cells), cells)
        X = np.column_stack([np.empty((n_rows, 0)), *values])
        usable = np.isfinite(X).all(axis=1) | (self.choices.missing == "ignore")
        usable[list(self.table.too_long)] = False
        for role in {"target", "run", "group"} & set(texts):
            labelled = self._labelled(texts[role], roles[role])
            usable &= labelled
            if role == "target":
                counted = labelled if self.choices.missing == "error" else usable
                self._check_labels(texts[role][counted], roles[role])
        self._check_rows(usable)
        if self.problems:
            raise TableProblemsError(self.table.path, self.problems)
        if n_rows and not usable.any():
            raise TableError(f"{self.table.path} has no rows that can be used.")
        if not usable.all():
            n_lost = np.count_nonzero(~usable)
            verb = "is" if n_lost == 1 else "are"
            self.notes.append(f"{n_lost} of {n_rows} rows {verb} left out{self._why()}.")
        elif self.choices.missing == "ignore" and self.choices.ignores and self.bad:
            n_cells = sum(len(bad.rows) for bad in self.bad)
            self.notes.append(
                f"{n_cells} of {X.size} cells are missing: their rows count by the columns they "
                "have."
            )
        names = [name for column in columns for name in column.outputs]
        X, texts = X[usable], {role: column[usable] for role, column in texts.items()}
        self._point_out(X, names, texts.get("target"), columns)
        times = [self._recognised(name, cells, self.choices) for name in time_columns]
        if any(time.column is None or time.problem for time in times):
            roles = with_text  # times are no part of a fit, and need not be numbers
            times = []
        recipe = Recipe(
            columns=(*columns, *(time.column for time in times if time.column)),
            layout=self.choices.layout,
            decimal=self.choices.decimal,
            missing=self.choices.missing,
            roles=tuple(roles.items()),
        )
        return PreparedTable(
            X,
            names,
            self.names,
            texts,
            self.table.original(np.flatnonzero(usable)),
            recipe,
            self.notes,
        )

    # -- Names ------------------------------------------------------------------------------------

    def _check_names(self):
        """Look for options that name columns which do not exist, and for a header of numbers."""
        options = [(f"--{role}", name) for role, name in self.roles.items()]
        options += [("--target", self.target)] if self.target is not None else []
        options += [("--drop", name) for name in self.choices.drop]
        options += [("--only", name) for name in self.choices.only]
        shown = ", ".join(map(repr, self.names[:LISTED]))
        shown += ", ..." if len(self.names) > LISTED else ""
        for option, name in options:
            if name not in self.places:
                alone = len(self.names) == 1
                help = " Give the mark between fields with --separator." if alone else ""
                self.problems.append(
                    f"there is no column {name!r} ({option}); its columns are {shown}.{help}"
                )
        if self.table.doubt:
            self.problems.append(self.table.doubt)
        self.notes += self.table.notes
        layout = self.table.layout
        unsaid = layout.header is None and layout.header_row is None
        if unsaid and is_row_of_numbers(self.table.names):
            last = f"x{len(self.names) - 1}"
            self.problems.append(
                Problem(
                    "the first line looks like a row, not like names. --no-header calls the "
                    f"columns x0 to {last}, --header takes it for names.",
                    ("header", False),
                    ("header", True),
                )
            )
        for place, (old, new) in enumerate(zip(self.table.names, self.names, strict=True), 1):
            if old.strip() and old.strip() != new:
                self.notes.append(f"column {place}, another {old!r}, is called {new!r}.")

    def _wanted(self) -> list[str]:
        """Return the columns to learn from, the target last."""
        unused = {*self.roles.values(), *self.choices.drop, self.target}
        kept = [name for name in self.names if name not in unused]
        if self.choices.only:
            only = set(self.choices.only)
            kept = [name for name in kept if name in only]
        return kept if self.target is None else [*kept, self.target]

    # -- Cells ------------------------------------------------------------------------------------

    def _read(self, names: list[str], as_text: list[str]) -> dict[str, ColumnCells]:
        """Return the cells of columns, by name."""
        if not names:
            return {}
        table = self.table
        places = [self.places[name] for name in names]
        signs = self.choices.decimal == "," and not table.typed
        texts = places if signs else [self.places[name] for name in as_text]
        blocks = list(table.cells(places, texts, rows=table.block_rows))
        if not blocks:
            raise TableError(f"{table.path} has no rows.")
        return {
            name: ColumnCells(parts, typed=table.typed)
            for name, parts in zip(names, zip(*blocks, strict=True), strict=True)
        }

    def _recognised(self, name, cells, choices) -> Recognition:
        """Return what a column is; if not plain numbers, from its cells as they are written."""
        recognition = recognised(name, cells[name], choices)
        if cells[name].is_mixed and type(recognition.column) is not Column:
            cells |= self._read([name], [name])
            recognition = recognised(name, cells[name], choices)
        return recognition

    def _columns(self, wanted, cells) -> list[Column]:
        """Return what the columns are, without those that are left out."""
        columns = []
        commas: dict[tuple[str, ...], list[tuple[str, str]]] = {}
        for name in wanted:
            if not self.table.names[self.places[name]].strip() and self._is_index(cells[name]):
                continue
            kind = self._recognised(name, cells, self.choices)
            if kind.decimals:
                commas.setdefault(kind.decimals, []).append((name, kind.example))
                self.decimals[name] = kind.decimals[0]
                choices = replace(self.choices, decimal=kind.decimals[0])
                kind = recognised(name, cells[name], choices)
            is_text = kind.column is None or isinstance(kind.column, CategoryColumn)
            if name == self.target and is_text:
                kind = Recognition(Column(name))  # a target is numbers; other cells are problems
            self.problems += [kind.problem] if kind.problem else []
            self.notes += [kind.note] if kind.note else []
            columns += [kind.column] if kind.column is not None else []
        for signs, examples in commas.items():
            names = [name for name, _ in examples]
            takes = {",": "--decimal , takes the comma", ".": "--decimal . takes the point"}
            advice = ", ".join(takes[sign] for sign in signs)
            word = "column" if len(names) == 1 else "columns"
            self.problems.append(
                Problem(
                    f"{word} {listed(names)}: numbers such as {examples[0][1]!r}. {advice} for the "
                    "decimal sign, and other signs for marks between thousands.",
                    *(("decimal", sign) for sign in signs),
                )
            )
        twice = repeated(name for column in columns for name in column.outputs)
        if twice:
            self.problems.append(
                f"--categories one-hot would make a second column {twice[0]!r}: --drop one of them."
            )
        return columns

    def _is_index(self, cells) -> bool:
        """Say whether a column without a name counts the rows, or is empty; note the first."""
        numbers = cells.numbers(None)
        if np.isnan(numbers).all() and not any(text.strip() for text in cells.texts()):
            return True
        if np.array_equal(numbers - numbers[0], np.arange(len(numbers))):
            self.notes.append("a column without a name is left out: it counts the rows.")
            return True
        return False

    def _values(self, columns, cells) -> tuple[list[Column], list[np.ndarray]]:
        """Return the columns with their medians, and their numbers, NaN where there is none."""
        known, values = [], []
        for column in columns:
            own_cells = cells[column.name]
            numbers = column.values(own_cells, self.decimals.get(column.name, self.choices.decimal))
            column = replace(column, fill=_fill(column, numbers))
            wrong = np.flatnonzero(np.isnan(numbers).any(axis=1))
            # Rows that are too long have a message of their own.
            wrong = wrong[[row not in self.table.too_long for row in wrong.tolist()]]
            if wrong.size:
                self.bad.append(BadCells.of(column.name, own_cells, wrong))
                if self.choices.missing == "median" and column.name != self.target:
                    numbers[wrong] = column.filling()
            known.append(column)
            values.append(numbers)
        if self.choices.missing == "median" and self.bad:
            self.notes.append(
                f"cells are filled in with the median of the column{self._why()}. That breaks "
                "every balance of columns in these rows; --missing drop leaves them out."
            )
        return known, values

    def _why(self) -> str:
        """Return how many cells of which columns cannot be used, and how many rows are too long."""
        counts = [f"{bad.name!r}: {len(bad.rows)}" for bad in self.bad]
        more = ", ..." if len(counts) > LISTED else ""
        reasons = (
            [f"cells that cannot be used, {', '.join(counts[:LISTED])}{more}"] if counts else []
        )
        reasons += [f"too many fields: {n}"] if (n := len(self.table.too_long)) else []
        return f" ({'; '.join(reasons)})" if reasons else ""

    def _check_rows(self, usable):
        """Add a problem for rows that cannot be used, unless ``--missing`` says what to do."""
        too_long, n_rows = self.table.too_long, len(usable)
        is_error = self.choices.missing == "error"
        bad = self.bad if is_error else []
        # If most rows are too long for the names, the names are wrong, not the rows.
        misnamed = 2 * len(too_long) > n_rows
        leaves = self.choices.missing in ("drop", "ignore")
        odd = list(too_long)[:1] if misnamed or not leaves else []
        unlabelled = [(name, rows) for name, rows in self.unlabelled.items() if is_error]
        first = [*odd, *(cells.rows[0] for cells in bad), *(rows[0] for _, rows in unlabelled)]
        lines = self.table.lines(map(int, first)) if first else {}
        n_lost = int(np.count_nonzero(~usable))
        cost = (
            f"--missing drop would leave out {n_lost} of {n_rows} rows."
            if 2 * n_lost > n_rows
            else ""
        )
        for cells in bad:
            mostly = 2 * len(cells.rows) > n_rows and cells.name != self.target
            column = f"--drop {shlex.quote(cells.name)} leaves the column out. " if mostly else ""
            help = cost or remedy(self.choices.fills, self.choices.ignores)
            options = [("drop", cells.name)] if mostly else []
            options += remedies(self.choices.fills and not cost, self.choices.ignores and not cost)
            self.problems.append(Problem(f"{cells.sentence(lines)} {column}{help}", *options))
        for row in odd:
            more = "" if len(too_long) == 1 else f", and {len(too_long) - 1} more rows are too long"
            help = (
                "A name may be missing, or the names are in another line: --header-row says in "
                "which."
                if misnamed
                else cost or "--missing drop leaves such rows out."
            )
            sentence = f"{lines[row]} has {too_long[row]} fields, but there are {len(self.names)} "
            options = [] if misnamed else [("missing", "drop")]
            self.problems.append(Problem(f"{sentence}names{more}. {help}", *options))
        for name, rows in unlabelled:
            more = "" if len(rows) == 1 else f", and so are {len(rows) - 1} more"
            self.problems.append(
                Problem(
                    f"{lines[rows[0]]}, column {name!r}: the cell is empty{more}. "
                    f"{cost or '--missing drop leaves such rows out.'}",
                    ("missing", "drop"),
                )
            )

    def _labelled(self, texts, name) -> np.ndarray:
        """Return which rows have a label, or the name of a run."""
        labelled = np.array([text.strip() != "" for text in texts.tolist()], dtype=bool)
        wrong = np.flatnonzero(~labelled).tolist()
        wrong = [row for row in wrong if row not in self.table.too_long]
        if wrong:
            self.unlabelled[name] = wrong
        return labelled

    def _check_labels(self, labels, name):
        try:
            classes = classes_of(labels, name)
        except TableError as problem:
            self.problems.append(f"column{str(problem).removeprefix('Column')}")
            return
        if len(set(classes.tolist())) == 1:
            self.problems.append(
                f"column {name!r} has only the label {str(labels[0])!r}: two are needed."
            )

    # -- Odd columns ------------------------------------------------------------------------------

    def _point_out(self, X, names, labels, columns):
        """Note columns that are constant, and those that look like identifiers."""
        constant = [
            name
            for name, column in zip(names, X.T, strict=True)
            if np.ptp(column) == 0 and abs(column[0]) < EXACT
        ]
        if constant and len(X) > 1:
            self.notes.append(f"of no use, since the same on all rows: {listed(constant)}.")
        dates = {column.name for column in columns if isinstance(column, DateColumn)}
        for name, column in zip(names, X.T, strict=True):
            reason = _looks_like_identifier(name, column, labels, name in dates)
            if reason and name != self.target and name in self.places:
                option = shlex.quote(name)
                self.notes.append(
                    f"column {name!r} looks like an identifier: {reason}. --id {option} carries it "
                    f"through to predictions, --drop {option} leaves it out."
                )


def _fill(column: Column, values: np.ndarray) -> float:
    """Return what takes the place of missing values: the median, or the most frequent text."""
    known = values[np.isfinite(values).all(axis=1)]
    if not len(known):
        return 0.0
    if isinstance(column, CategoryColumn):
        return float(np.argmax(known.sum(axis=0)))
    middle = float(np.median(known))
    return float(middle >= 0.5) if isinstance(column, FlagColumn) else middle


def _looks_like_identifier(name: str, column: np.ndarray, labels, is_date: bool) -> str:
    """Return why a column looks like an identifier, or ""."""
    n_rows = len(column)
    if n_rows >= IDENTIFIER_ROWS and np.abs(column).min() > EXACT:
        return "whole numbers with more digits than can be computed with"
    if n_rows < IDENTIFIER_ROWS or len(np.unique(column)) < n_rows:
        return ""
    steps = np.diff(column)
    ordered = bool((steps > 0).all() or (steps < 0).all())
    whole = bool((column == np.round(column)).all())
    if ordered and labels is not None:
        changes = np.count_nonzero(labels[1:] != labels[:-1])
        if changes + 1 == len(set(labels.tolist())):
            return "it goes up or down from row to row, and the rows are ordered by class"
    if not whole or is_date:
        return ""
    counts = np.ptp(column) == n_rows - 1
    if ordered or counts or name.casefold().split("_")[-1] in ("id", "no", "nr", "index", "key"):
        return "a different whole number in each row" + (", in their order" if ordered else "")
    return ""
