"""Laws that hold: a search among the columns of a table, or a check of an equation."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vanishing.questions import settings
from vanishing.questions.answer import PICTURES, Answer, AnswerTable, File
from vanishing.questions.files import language_files, model_file, picture_file, report_file
from vanishing.questions.large_tables import blocks_of, is_on_disk, rows_of
from vanishing.questions.pictures import law_pictures
from vanishing.questions.question import question_of
from vanishing.questions.reading import QuestionTable
from vanishing.questions.values import function_names, noise_of
from vanishing.tables.preparing import PreparedTable

_SHOWN = 20  # wrong rows that are named


class _Rows(NamedTuple):
    """The rows that laws are about: columns, target and groups."""

    table: QuestionTable
    prepared: PreparedTable
    X: Any
    y: Any
    groups: Any

    @property
    def shown(self) -> slice:
        """Which rows reports and pictures take: all, or, of a large table, some."""
        step = -(-len(self.prepared.rows) // settings.SHOWN_ROWS)
        return slice(None, None, step if is_on_disk(self.prepared) else None)

    def part(self, rows: slice):
        """Return columns with the target, of some rows."""
        prepared = self.prepared
        texts = {role: cells[rows] for role, cells in prepared.texts.items()}
        X, places = prepared.X, prepared.rows
        if is_on_disk(prepared):
            X, places = rows_of(X, rows), rows_of(places, rows)
        else:
            X, places = X[rows], places[rows]
        return prepared._replace(X=X, rows=places, texts=texts).frame()


def _answer(table: QuestionTable, **given) -> Answer:
    target, check = given["target"], given["check"]
    _check_options(given)
    prepared = table.prepared({"group": given["group"]}, target)
    names = prepared.names
    if len(names) < 2:
        raise ValueError(f"{table.path} has too few columns for a law: two are needed.")
    rows = _rows(table, prepared, target, given["group"], in_blocks=check is None)
    parameters: dict[str, Any] = {"robust": given["robust"]}
    if given["units"] is not None:
        parameters["units"] = _units(given["units"], names, prepared.known)
    if check is None:
        from vanishing import LawFinder

        functions, noise = given["functions"], given["noise"]
        parameters |= {"max_time": given["max_time"], "homogeneous": given["homogeneous"]}
        parameters |= {} if functions is None else {"functions": _functions(functions)}
        parameters |= {"forms": list(given["form"])} if given["form"] else {}
        parameters |= {"noise": _noise(noise, names, target)} if noise else {}
        model = LawFinder(**parameters).fit(rows.X, rows.y, groups=rows.groups)
    else:
        from vanishing import check_law

        model = check_law(check, rows.X, rows.y, groups=rows.groups, **parameters)
    return _answered(model, rows, given["robust"], target)


def _rows(
    table, prepared: PreparedTable, target: str | None, group: str | None, *, in_blocks: bool
) -> _Rows:
    groups = None
    if in_blocks and is_on_disk(prepared) and group is None:
        from vanishing import Blocks

        with_target = target is not None
        columns = prepared.names[:-1] if with_target else prepared.names
        blocks = partial(blocks_of, prepared.X, columns, with_target=with_target)
        return _Rows(table, prepared, Blocks(blocks, target=target), None, None)
    frame = prepared.frame()
    if group is not None:
        import pandas as pd

        groups = pd.Series([text.strip() for text in prepared.texts["group"]], name=group)
    X, y = (frame, None) if target is None else (frame[prepared.names[:-1]], frame[target])
    return _Rows(table, prepared, X, y, groups)


def _answered(model, rows: _Rows, robust: bool, target: str | None) -> Answer:
    from vanishing.questions.law_answers import law_answer

    answer = law_answer(model)
    frame, prepared = rows.part(rows.shown), rows.prepared
    of = "" if target is None else f", of which {target!r} is the target"
    heading = f"{rows.table.name}: {len(prepared.rows)} rows, {len(prepared.names)} columns{of}"
    wrong = _wrong_rows(model, rows, robust)
    left_out = []
    if len(wrong):
        left_out = [f"Left out as wrong: {_lines(rows.table, prepared.rows[wrong])}."]
    return replace(
        answer,
        heading=heading,
        tables=(*answer.tables, *(AnswerTable(line, ("row",), ()) for line in left_out)),
        notes=tuple(prepared.notes),
        next_steps=_next_steps(answer, target),
        files=_files(model, rows, frame, left_out),
        chooser=partial(_chosen, model, rows, target) if answer.front else None,
        pictures=partial(law_pictures, model, frame, prepared.rows[rows.shown], rows.groups),
    )


def _chosen(model, rows: _Rows, target: str | None, place: int) -> Answer:
    """Return the answer with another equation of the front."""
    from vanishing.inspection import law_anatomy

    law = law_anatomy(model).front[place]
    answer = _answered(law, rows, False, target)
    front = _answered(model, rows, False, target).front
    front = tuple(replace(other, chosen=i == place) for i, other in enumerate(front))
    return replace(answer, front=front, chooser=partial(_chosen, model, rows, target))


def _files(model, rows: _Rows, frame, notes: list[str]) -> tuple[File, ...]:
    from vanishing.plot import LawCurveDisplay

    report = {"groups": rows.groups, "data_name": rows.table.name, "notes": notes}
    return (
        model_file(model, rows.prepared.recipe, "laws.json"),
        report_file(model, frame, **report),
        picture_file(lambda: LawCurveDisplay.from_estimator(model, frame, groups=rows.groups)),
        *language_files(model, "law"),
    )


def _next_steps(answer: Answer, target: str | None) -> tuple[str, ...]:
    if not answer.found:
        return (
            "Leave out columns or rows that have nothing to do with it.",
            "Allow for wrong rows, or say how large the noise is.",
        )
    solved = "a column of the law" if target is None else target
    return (
        f"Predict {solved} for another table with the saved model.",
        "Look at what the law leaves unexplained, in the report.",
    )


# -- Options --------------------------------------------------------------------------------------


def _check_options(given: Mapping[str, Any]) -> None:
    """Raise ValueError where options do not go together."""
    target, check = given["target"], given["check"]
    if check is not None:
        of_search = ("functions", "form", "noise", "homogeneous", "max_time")
        typed = [f"--{name.replace('_', '-')}" for name in of_search if given[name]]
        if typed:
            raise ValueError(
                "--check tests one equation and searches for none: leave "
                f"{' and '.join(typed)} out."
            )
    if given["homogeneous"] and given["units"] is None:
        raise ValueError("--homogeneous needs --units, a file with the unit of each column.")
    if given["max_time"] is not None and not given["max_time"] > 0:
        raise ValueError(f"--max-time must be positive; got {given['max_time']}.")
    if given["group"] is not None and target is None and check is None:
        raise ValueError("--group needs --target, the column that laws are about.")
    if given["form"]:
        if target is None:
            raise ValueError("--form needs --target: a form is a formula of the target.")
        from vanishing.equations.forms import given_forms

        try:
            given_forms(list(given["form"]), "auto")
        except ValueError as problem:
            raise ValueError(f"--form: {problem}") from None


def _functions(text: str):
    """Return what `LawFinder` takes for functions."""
    if text in ("auto", "none"):
        return "auto" if text == "auto" else ()
    return function_names(text, "auto, none, or ")


def _noise(texts, names: list[str], target: str | None):
    """Return what `LawFinder` takes for noise."""
    return "estimate" if tuple(texts) == ("estimate",) else noise_of(texts, names, target)


def _units(units, names: list[str], known: list[str]) -> dict[str, str]:
    """Return units without those of columns that are left out.

    Parameters
    ----------
    units : mapping of str to str, or path-like
        By column; or the name of a TOML file that has them.
    names, known : list of str
        The columns that are used, and all columns of the table.
    """
    from vanishing.algebra.quantities import read_units

    path = None if isinstance(units, Mapping) else Path(units)
    left_out = set(known) - set(names)
    pairs = (units if path is None else _toml(path)).items()
    units = {name: unit for name, unit in pairs if name not in left_out}
    try:
        read_units(units, names)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{'--units' if path is None else path}: {problem}") from None
    return units


def _toml(path: Path) -> dict[str, str]:
    import tomllib

    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a file of units.")
    if not path.exists():
        raise ValueError(f"There is no file {path}.")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ValueError(
            f'{path} is no TOML ({problem}): write a line such as F = "N" per column.'
        ) from None


# -- Rows that were left out ----------------------------------------------------------------------


def _wrong_rows(model, rows: _Rows, robust: bool) -> np.ndarray | list:
    """Return the rows that a robust fit left out, or would."""
    from vanishing.inspection import law_anatomy, law_rows

    answer = law_anatomy(model)
    if not robust or answer.best is None or not answer.holds:
        return []
    if not hasattr(model, "laws_"):
        return np.array(model.wrong_rows, dtype=np.intp)
    law, size = answer.by_group or answer.best, settings.SHOWN_ROWS
    if not is_on_disk(rows.prepared):
        size = len(rows.prepared.rows)
    starts = range(0, len(rows.prepared.rows), size)
    parts = [
        law_rows(law, rows.part(slice(start, start + size)), groups=rows.groups).far
        for start in starts
    ]
    return np.flatnonzero(np.concatenate(parts))


def _lines(table: QuestionTable, places) -> str:
    """Return where rows are in a file, the first ones."""
    shown = places[:_SHOWN].tolist()
    lines = replace(table.reading, where=()).opened(table.path).lines(shown)
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return ", ".join(lines[place] for place in shown) + more


QUESTION = question_of(
    "laws",
    _answer,
    writes=(
        ((".json",), "the laws"),
        ((".html",), "a report"),
        (PICTURES, "a picture of the curve"),
        ((".sql", ".c", ".py", ".tex"), "the law in SQL, C, Python or LaTeX"),
    ),
)
