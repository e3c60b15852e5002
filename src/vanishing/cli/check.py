"""The command ``check``: which rows of a table break rules; its exit status is for pipelines."""

import csv
import io
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from typer import Argument, Option

from vanishing.algebra.writing import printable
from vanishing.cli.app import Data, command
from vanishing.cli.console import (
    check_output,
    console,
    fail,
    is_stdout,
    print_json,
    progress,
    sentences,
    write_or_print,
)
from vanishing.cli.models import load_for
from vanishing.cli.tables import TableOptions, say, takes_table
from vanishing.tables.cells import is_missing

_UNREADABLE = 2


class _Broken(NamedTuple):
    """A row that breaks a rule: as the file counts it, from 1, and its identifier if it has one."""

    row: int
    identifier: str
    rule: str
    found: str


@command("vanishing check rules.json new.csv")
@takes_table(fitted=False)
def check(
    rules: Annotated[Path, Argument(help="Rules that the command rules has written, as .json.")],
    data: Data,
    out: Annotated[
        Path | None,
        Option(help="CSV file of the rows that break rules; - prints it.", show_default=False),
    ] = None,
    top: Annotated[int, Option(min=0, help="How many of them to list.")] = 20,
    json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
    *,
    options: TableOptions,
):
    """List the rows of a table that break rules.

    Exit status: 0 if none does, 1 if one does, 2 if the rules or the table cannot be read. Rows are
    counted from 1, without the line of the names.
    """
    with _unreadable():
        if out is not None and not is_stdout(out):
            check_output(out, rules, data)
        broken, n_rows, n_unusable = _rows(rules, data, options)
    if n_unusable:
        say(f"{n_unusable} of {n_rows} rows cannot be used, and were not checked.")
    if out is not None:
        write_or_print(out, _csv(broken, options.id))
    if json:
        rows = [entry._asdict() for entry in broken]
        if options.id is None:
            rows = [{k: v for k, v in row.items() if k != "identifier"} for row in rows]
        print_json({"table": data.name, "n_rows": n_rows, "broken": rows})
    elif not is_stdout(out):
        _print(data.name, broken, n_rows, top)
    if broken:
        raise SystemExit(1)


@contextmanager
def _unreadable():
    """Exit with the status of a table that cannot be read, whatever is wrong with it."""
    try:
        with sentences():
            yield
    except SystemExit as left:
        raise SystemExit(_UNREADABLE if left.code == 1 else left.code) from None


def _rows(rules: Path, data: Path, options: TableOptions) -> tuple[list[_Broken], int, int]:
    """Return what is broken, the number of rows, and of those that cannot be used."""
    from vanishing.rules.rules import Rules

    loaded = load_for(rules, data, options)
    model: Any = loaded.model
    if not isinstance(model, Rules):
        fail(f"{rules} holds {type(model).__name__}, no rules: vanishing rules writes some.")
    texts = list(model.texts)
    numbers = [name for name in model.columns if name not in texts]
    loaded.check_has(list(model.columns), "a rule")
    identifier = loaded.role("id", options.id)
    recipe = loaded.recipe_for(numbers)
    if recipe.missing == "median":  # what is filled in keeps no rule
        recipe = replace(recipe, missing="drop")
    extra = list(dict.fromkeys([*texts, *([identifier] if identifier else [])]))
    broken: list[_Broken] = []
    n_rows = n_unusable = 0
    with progress("Checking"):
        for part in recipe.parts(loaded.table, numbers, extra, fills=False):
            columns: dict[str, np.ndarray] = dict(zip(numbers, part.X.T, strict=True))
            columns |= {name: _texts(part.texts[name][part.usable]) for name in texts}
            places = np.flatnonzero(part.usable)
            rows = loaded.table.original(n_rows + places)
            held = model.held(columns)
            for i, j in np.argwhere(~held).tolist():
                name = "" if identifier is None else str(part.texts[identifier][places[i]])
                rule = model[j]
                broken.append(_Broken(int(rows[i]) + 1, name, str(rule), rule.found(columns, i)))
            n_rows += len(part.usable)
            n_unusable += len(part.usable) - len(places)
    return broken, n_rows, n_unusable


def _texts(cells: np.ndarray) -> np.ndarray:
    """Return cells of text as they are compared with codes."""
    texts = [str(cell).strip() for cell in cells.tolist()]
    return np.array([None if is_missing(text) else text for text in texts], dtype=object)


def _csv(broken: list[_Broken], identifier: str | None) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [] if identifier is None else [identifier]
    writer.writerow([*names, "row", "rule", "found"])
    for entry in broken:
        own = [] if identifier is None else [entry.identifier]
        writer.writerow([*own, entry.row, entry.rule, entry.found])
    return text.getvalue()


def _print(name: str, broken: list[_Broken], n_rows: int, top: int) -> None:
    printer = console(wrapped=False)
    n_broken = len({entry.row for entry in broken})
    if not broken:
        printer.print(f"{name}: all {n_rows} rows keep all rules")
        return
    breaks = "row breaks" if n_broken == 1 else "rows break"
    printer.print(f"{name}: {n_broken} of {n_rows} {breaks} a rule")
    for entry in broken[:top]:
        own = f" ({printable(entry.identifier)})" if entry.identifier else ""
        printer.print(f"  row {entry.row}{own}: {entry.found}; {entry.rule}")
    if len(broken) > top:
        printer.print(f"  and {len(broken) - top} more; --out writes all of them")
