"""The command ``rules``: what every row of a table keeps, as rules that others can check."""

from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Option

from vanishing.cli.app import Data, command
from vanishing.cli.console import check_output, console, fail, print_json, progress, write_or_print
from vanishing.cli.show import rules_document
from vanishing.cli.tables import TableOptions, prepared, save_with_recipe, takes_table
from vanishing.tables.columns import CategoryColumn
from vanishing.tables.preparing import PreparedTable


@command("vanishing rules table.csv --out rules.sql --out rules.json")
@takes_table()
def rules(
    data: Data,
    out: Annotated[
        list[Path] | None,
        Option(
            help="File to write, may be repeated: .sql for CREATE TABLE, .json for check, .py for "
            "pandera, .gx.json for Great Expectations, .txt for words.",
            show_default="the screen alone",
        ),
    ] = None,
    law: Annotated[
        list[str] | None,
        Option(
            help='An equation that rows keep, such as "net = quantity*price", instead of a search '
            "for laws; may be repeated.",
            show_default=False,
        ),
    ] = None,
    table: Annotated[
        str | None,
        Option(help="Name of the table in SQL.", show_default="as the file is called"),
    ] = None,
    false_alarm_rate: Annotated[
        float, Option(help="Share of right rows that all rules together may refuse.")
    ] = 0.001,
    json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
    *,
    options: TableOptions,
):
    """Write down the rules that the rows of a table keep: laws, ranges, signs, codes and more.

    Columns of text become lists of codes. A rule needs support: enough rows that it would not have
    held in all of them by accident.
    """
    for path in out or ():
        check_output(path, data)
        _check_ending(path)
    source = prepared(data, options, {}, codes=True)
    if not source.names:
        fail(f"{data} has no column left to look at.")
    columns, texts = _columns(source)
    if len(texts) == len(columns):
        fail(f"{data} has no column of numbers, which rules are about.")
    from vanishing import VanishingOutlierDetector, rules_of

    with progress("Looking for rules"):
        X = _frame(columns)
        laws: object = law
        if not law:
            numbers = X[[name for name in columns if name not in texts]]
            laws = VanishingOutlierDetector().fit(numbers)
        found = rules_of(laws, X, false_alarm_rate=false_alarm_rate)
    name = table or data.name.split(".")[0] or "data"
    for path in out or ():
        if path.name.endswith(".json") and not path.name.endswith(".gx.json"):
            kept = [c.name for c in source.recipe.columns if c.name not in texts]
            save_with_recipe(found, path, source.recipe.only(kept))
        elif path.suffix == ".sql":
            write_or_print(path, found.to_sql(name))
        else:
            found.save(path)
    if json:
        print_json({"table": name, **rules_document(found)})
        return
    printer = console(wrapped=False)
    n_rows = len(source.X)
    printer.print(f"{data.name}: {n_rows} rows, {len(columns)} columns, {len(found)} rules")
    for rule in found:
        printer.print(f"  {rule}")
    for path in out or ():
        printer.print(f"Written: {path}")


def _check_ending(path: Path) -> None:
    from vanishing.rules.rules import FORMATS

    if not any(path.name.lower().endswith(ending) for ending in FORMATS):
        fail(f"{path} must end with one of {' '.join(FORMATS)}.", 2)


def _columns(source: PreparedTable) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return columns of numbers and of text, and the names of the latter."""
    places = {name: place for place, name in enumerate(source.names)}
    columns: dict[str, np.ndarray] = {}
    texts = []
    for column in source.recipe.columns:
        values = source.X[:, [places[name] for name in column.outputs]]
        if isinstance(column, CategoryColumn):
            texts.append(column.name)
            columns[column.name] = np.array(column.texts, dtype=object)[values.argmax(axis=1)]
        else:
            columns[column.name] = values[:, 0]
    return columns, texts


def _frame(columns: dict[str, np.ndarray]):
    import pandas as pd

    return pd.DataFrame(columns)
