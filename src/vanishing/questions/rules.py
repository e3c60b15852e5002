"""Rules that a table keeps, and rows of another table that break them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from vanishing.algebra.writing import printable
from vanishing.estimators.progress import Progress
from vanishing.questions.answer import Answer, AnswerTable, File
from vanishing.questions.files import model_file, rows_file, text_file
from vanishing.questions.question import question_of
from vanishing.questions.reading import QuestionTable
from vanishing.tables.cells import is_missing
from vanishing.tables.columns import CategoryColumn
from vanishing.tables.preparing import PreparedTable


def _answer(table: QuestionTable, /, **given) -> Answer:
    source = table.prepared({}, codes=True)
    if not source.names:
        raise ValueError(f"{table.path} has no column left to look at.")
    columns, texts = _columns(source)
    if len(texts) == len(columns):
        raise ValueError(f"{table.path} has no column of numbers, which rules are about.")
    import pandas as pd

    from vanishing import VanishingOutlierDetector, rules_of
    from vanishing.questions.row_answers import rules_answer

    X, laws = pd.DataFrame(columns), list(given["law"])
    if not laws:
        numbers = X[[name for name in columns if name not in texts]]
        laws = VanishingOutlierDetector().fit(numbers)
    found = rules_of(laws, X, false_alarm_rate=given["false_alarm_rate"])
    answer = rules_answer(found)
    name = given["table"] or table.name.split(".")[0] or "data"
    heading = f"{table.name}: {len(X)} rows, {len(columns)} columns, {len(found)} rules"
    kept = source.recipe.only([c.name for c in source.recipe.columns if c.name not in texts])
    return replace(
        answer,
        heading=heading,
        notes=tuple(source.notes),
        next_steps=("Check another table with the rules.",),
        details={"table": name, **answer.details},
        files=_files(found, name, kept),
        printed=(heading, *(f"  {words}" for words in answer.printed)),
    )


def _files(found, name: str, recipe) -> tuple[File, ...]:
    def kept(name: str, label: str) -> File:
        return File(name, label, "text/plain", found.save, (name[name.index(".") :],))

    return (
        model_file(found, recipe, "rules.json"),
        text_file("rules.sql", "SQL", "application/sql", lambda: found.to_sql(name)),
        kept("rules.py", "pandera"),
        kept("rules.gx.json", "Great Expectations"),
        kept("rules.txt", "Words"),
    )


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


# -- Rows that break rules ------------------------------------------------------------------------


class _Broken(NamedTuple):
    """A row that breaks a rule: as the file counts it, from 1, and its identifier if it has one."""

    row: int
    identifier: str
    rule: str
    found: str

    def cells(self, named: bool) -> tuple:
        """Return the cells of a line, the identifier first where rows have one."""
        return (*([self.identifier] * named), self.row, self.rule, self.found)


def _checked(table: QuestionTable, **given) -> Answer:
    if given["rules"] is None:
        raise ValueError("--rules is needed: a file that the question rules has written.")
    counts = {"rows": 0, "unusable": 0}
    broken = list(_breaks(given["rules"], table, counts))
    identifier, n_rows = table.reading.id, counts["rows"]
    named = identifier is not None
    heads = (*([str(identifier)] * named), "row", "rule", "found")
    notes = ()
    if counts["unusable"]:
        unusable = f"{counts['unusable']} of {n_rows} rows cannot be used"
        notes = (f"{unusable}, and were not checked.",)
    heading = f"{table.name}: all {n_rows} rows keep all rules"
    lines: list[str] = []
    if broken:
        n_broken = len({entry.row for entry in broken})
        breaks = "breaks" if n_broken == 1 else "break"
        heading = f"{table.name}: {n_broken} of {n_rows} rows {breaks} a rule"
        lines = [_line(entry) for entry in broken[: given["top"]]]
        if len(broken) > given["top"]:
            lines.append(f"  and {len(broken) - given['top']} more; --out writes all of them")
    shown = tuple(entry.cells(named) for entry in broken[: given["top"]])
    documents = [entry._asdict() for entry in broken]
    for document in documents:
        if not named:
            del document["identifier"]
    return Answer(
        found=bool(broken),
        verdict=f"{heading.removeprefix(f'{table.name}: ')}.",
        heading=heading,
        tables=(AnswerTable("Rows that break rules:", heads, shown, tuple(lines)),)
        if broken
        else (),
        notes=notes,
        details={"table": table.name, "n_rows": n_rows, "broken": documents},
        files=(
            rows_file(
                "broken.csv",
                "Rows that break rules",
                lambda: [heads, *(entry.cells(named) for entry in broken)],
            ),
        ),
        printed=(heading, *lines),
    )


def _line(entry: _Broken) -> str:
    own = f" ({printable(entry.identifier)})" if entry.identifier else ""
    return f"  row {entry.row}{own}: {entry.found}; {entry.rule}"


def _breaks(rules, table: QuestionTable, counts: dict[str, int]) -> Iterator[_Broken]:
    """Yield what is broken, and count rows, and those that cannot be used."""
    from vanishing.questions.models import load_for
    from vanishing.rules.rules import Rules

    loaded = load_for(rules, table)
    model: Any = loaded.model
    if not isinstance(model, Rules):
        raise ValueError(
            f"{rules} holds {type(model).__name__}, no rules: vanishing rules writes some."
        )
    texts = list(model.texts)
    numbers = [name for name in model.columns if name not in texts]
    loaded.check_has(list(model.columns), "a rule")
    identifier = loaded.role("id", table.reading.id)
    recipe = loaded.recipe_for(numbers)
    if recipe.missing == "median":  # what is filled in keeps no rule
        recipe = replace(recipe, missing="drop")
    extra = list(dict.fromkeys([*texts, *([identifier] if identifier else [])]))
    steps = Progress("check")
    for part in recipe.parts(loaded.table, numbers, extra, fills=False):
        columns: dict[str, np.ndarray] = dict(zip(numbers, part.X.T, strict=True))
        columns |= {name: _texts(part.texts[name][part.usable]) for name in texts}
        places = np.flatnonzero(part.usable)
        rows = loaded.table.original(counts["rows"] + places)
        for i, j in np.argwhere(~model.held(columns)).tolist():
            name = "" if identifier is None else str(part.texts[identifier][places[i]])
            rule = model[j]
            yield _Broken(int(rows[i]) + 1, name, str(rule), rule.found(columns, i))
        counts["rows"] += len(part.usable)
        counts["unusable"] += len(part.usable) - len(places)
        steps.step(f"{counts['rows']} rows")


def _texts(cells: np.ndarray) -> np.ndarray:
    """Return cells of text as they are compared with codes."""
    texts = [str(cell).strip() for cell in cells.tolist()]
    return np.array([None if is_missing(text) else text for text in texts], dtype=object)


RULES = question_of(
    "rules",
    _answer,
    writes=(
        ((".json",), "the rules, for check"),
        ((".sql",), "CREATE TABLE"),
        ((".py",), "pandera"),
        ((".gx.json",), "Great Expectations"),
        ((".txt",), "words"),
    ),
)
CHECK = question_of(
    "check",
    _checked,
    writes=(((".csv",), "the rows that break rules"),),
    fitted=False,
)
