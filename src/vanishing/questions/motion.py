"""Runs of a table: what stays the same along each of them, and how they move."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from vanishing.questions.answer import PICTURES, Answer
from vanishing.questions.files import language_files, model_file, picture_file, report_file
from vanishing.questions.options import options_of
from vanishing.questions.pictures import motion_pictures, quantity_pictures
from vanishing.questions.question import question_of
from vanishing.questions.reading import QuestionTable
from vanishing.questions.values import function_names, functions_of_columns, noise_of
from vanishing.tables.errors import listed
from vanishing.tables.preparing import PreparedTable
from vanishing.tables.recipe import Recipe

OF_EQUATIONS = options_of("motion")


class _Runs(NamedTuple):
    """A table of runs."""

    rows: Any  # a frame of the columns
    groups: np.ndarray | None
    recipe: Recipe
    notes: list[str]
    places: Any = None  # in the table, from 0
    t: Any = None  # one per row
    inputs: Any = None
    batches: np.ndarray | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """Return what a report and a picture need beside the rows."""
        return {
            name: value
            for name, value in (("groups", self.groups), ("t", self.t), ("inputs", self.inputs))
            if value is not None
        }


def _labels(prepared: PreparedTable, role: str) -> np.ndarray:
    """Return the labels of runs: in the order of numbers, where they are, and not of text."""
    texts = prepared.texts[role]
    return texts.astype(np.int64) if all(text.isdecimal() for text in set(texts)) else texts


# -- What stays the same --------------------------------------------------------------------------


def _conserved(table: QuestionTable, **given) -> Answer:
    run = given["run"]
    if run is None:
        raise ValueError(
            "--run is needed: the column that says which run a row belongs to. With --equations "
            "it may be left out, and all rows are one run."
        )
    prepared = table.prepared({"run": run, "time": given["time"]})
    if not prepared.names:
        raise ValueError(f"{table.path} has no columns besides those of runs and times.")
    groups = _labels(prepared, "run")
    runs = _Runs(prepared.frame(), groups, prepared.recipe, prepared.notes, places=prepared.rows)
    functions = functions_of_columns(given["functions"], prepared.names)
    noise = noise_of(given["noise"], prepared.names)
    from vanishing import ConservedQuantities
    from vanishing.questions.motion_answers import conserved_answer

    shared = {name: given[name] for name in ("max_degree", "max_terms")}
    model = ConservedQuantities(functions=functions, noise=noise, **shared)
    model.fit(runs.rows, groups=runs.groups)
    steps = ("Look at the quantities over time, in the report.",)
    drawn = partial(quantity_pictures, model, runs.rows, groups, runs.places)
    answer = replace(conserved_answer(model), pictures=drawn)
    return _answered(table, answer, runs, steps)


# -- How runs move --------------------------------------------------------------------------------


def _moving(table: QuestionTable, **given) -> Answer:
    runs = _timed_runs(table, given["run"], given["time"], given["inputs"], given["batch"])
    columns = list(runs.rows.columns)
    noise = noise_of(given["noise"], columns)
    named = [text for text in given["noise"] if "=" in text]
    if named and len(named) < len(columns):
        raise ValueError("--noise is given for some columns: give it for all of them, or for none.")
    if given["max_time"] is not None and not given["max_time"] > 0:
        raise ValueError(f"--max-time must be positive; got {given['max_time']}.")
    if runs.groups is None:
        cells = np.column_stack([np.asarray(runs.t), runs.rows])
        if len(np.unique(cells, axis=0)) > len(np.unique(cells[:, 0])):
            raise ValueError(
                "Rows of the same time have different values: name the column that says which run "
                "a row belongs to with --run."
            )
    parameters = {name: given[name] for name in ("max_degree", "max_terms", "order", "max_time")}
    parameters |= {"forms": list(given["form"])} if given["form"] else {}
    functions = _functions(given["functions"])
    from vanishing import EquationsOfMotion
    from vanishing.questions.motion_answers import motion_answer

    model = EquationsOfMotion(functions=functions, noise=noise, **parameters)
    model.fit(runs.rows, runs.t, groups=runs.groups, inputs=runs.inputs, batches=runs.batches)
    steps = ("Compare the runs with what the equations say, in the report.",)
    drawn = partial(
        motion_pictures,
        model,
        runs.rows,
        runs.t,
        runs.groups,
        runs.inputs,
        runs.places,
        given["time"],
    )
    return _answered(table, replace(motion_answer(model), pictures=drawn), runs, steps)


def _timed_runs(table: QuestionTable, run, time, inputs: Sequence[str], batch: str | None) -> _Runs:
    """Return runs with their times and inputs, which have to be numbers as columns have."""
    if time is None:
        raise ValueError("--equations needs --time, the column of times.")
    others = [time, *inputs]
    for name in [*others, *([] if batch is None else [batch])]:
        plays = [*others, run, batch, *table.reading.drop]
        if plays.count(name) > 1:
            raise ValueError(
                f"{name!r} is given by more than one option: a column has one part to play."
            )
    if table.reading.only:
        only = (*table.reading.only, *others)
        table = replace(table, reading=replace(table.reading, only=only))
    run = batch if run is None else run
    prepared = table.prepared({"run": run, "batch": batch})
    for option, name in [("time", time), *(("inputs", name) for name in inputs)]:
        if name not in prepared.known:
            known = listed(prepared.known, 20)
            raise ValueError(f"{table.path} has no column {name!r} (--{option}); it has {known}.")
        if name not in prepared.names:
            raise ValueError(f"The column {name!r} (--{option}) is no column of numbers.")
    rows = prepared.frame()
    columns = [name for name in prepared.names if name not in others]
    if not columns:
        raise ValueError(f"{table.path} has no columns besides those of runs, times and inputs.")
    return _Runs(
        rows[columns],
        None if run is None else _labels(prepared, "run"),
        replace(prepared.recipe, roles=(*prepared.recipe.roles, ("time", time))),
        prepared.notes,
        prepared.rows,
        rows[time].to_numpy(),
        rows[list(inputs)] if inputs else None,
        None if batch is None else _labels(prepared, "batch"),
    )


def _functions(texts: Sequence[str]):
    """Return what `EquationsOfMotion` takes for functions."""
    if tuple(texts) in ((), ("auto",)):
        return "auto"
    if tuple(texts) == ("none",):
        return ()
    for text in texts:
        if "=" in text:
            raise ValueError(
                f"--functions {text!r}: equations of motion take functions of all columns."
            )
    from vanishing.motion.settings import NAMED_FUNCTIONS as known

    return tuple(name for text in texts for name in function_names(text, "auto, none, or ", known))


# -- Answers --------------------------------------------------------------------------------------


def _answered(table: QuestionTable, answer: Answer, runs: _Runs, steps) -> Answer:
    """Return an answer with what it is about, and files."""
    model, inputs = answer.model, runs.inputs
    counts = [(len(model.runs_), "run"), (len(runs.rows), "row"), (runs.rows.shape[1], "column")]
    counts += [] if inputs is None else [(inputs.shape[1], "input")]
    counted = ", ".join(f"{n} {what}{'s' * (n != 1)}" for n, what in counts)
    heading = f"{table.name}: {counted}"
    printed = (heading, *answer.printed) if answer.printed else ()
    files = [
        model_file(model, runs.recipe, "motion.json"),
        report_file(model, runs.rows, data_name=table.name, **runs.arguments),
    ]
    if answer.found:
        files.append(picture_file(lambda: _picture(model, runs)))
        files += language_files(model, "motion")
    steps = steps if answer.found else ("Say how large the noise is.",)
    return replace(
        answer,
        heading=heading,
        notes=tuple(runs.notes),
        next_steps=steps,
        files=tuple(files),
        printed=printed,
    )


def _picture(model, runs: _Runs):
    from vanishing.plot import ConservedQuantitiesDisplay, EquationsOfMotionDisplay

    is_moving = hasattr(model, "equations_")
    kind = EquationsOfMotionDisplay if is_moving else ConservedQuantitiesDisplay
    return kind.from_estimator(model, runs.rows, **runs.arguments)


_WRITES = (
    ((".json",), "the quantities or equations"),
    ((".html",), "a report"),
    (PICTURES, "a picture"),
    ((".sql", ".c", ".py", ".tex"), "the same in SQL, C, Python or LaTeX"),
)
CONSERVED = question_of(
    "conserved",
    _conserved,
    writes=_WRITES,
    command="motion",
)
MOTION = question_of(
    "motion",
    _moving,
    options=(
        *(replace(one, needed=one.name == "time") for one in options_of("conserved")),
        *OF_EQUATIONS,
    ),
    writes=_WRITES,
    command="motion --equations",
)


def refuse_options_of_equations(given: Mapping[str, Any]) -> None:
    """Raise ValueError where options belong to equations, and quantities are asked for."""
    for option in OF_EQUATIONS:
        if given.get(option.name) not in (None, (), option.default):
            raise ValueError(f"{option.flag} is for --equations: leave it out.")
