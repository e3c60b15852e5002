"""Classes of rows: equations of each class, and a classifier that uses them."""

import inspect
import time
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from vanishing.constructions import CONSTRUCTIONS
from vanishing.questions import settings
from vanishing.questions.answer import Answer
from vanishing.questions.files import language_files, model_file, report_file
from vanishing.questions.large_tables import blocks_of, is_on_disk
from vanishing.questions.options import options_of
from vanishing.questions.pictures import Picture, class_pictures
from vanishing.questions.question import question_of
from vanishing.questions.reading import QuestionTable
from vanishing.tables.errors import listed
from vanishing.tables.labels import classes_of
from vanishing.tables.preparing import PreparedTable

_FOLDS = 3  # of a search
_TOP = 10  # equations of each class that an answer shows


def names() -> dict[str, Any]:
    """Return the names that a word of the help stands for: importing them takes long."""
    from vanishing.oracles import ORACLES  # compiled by numba

    return {"ORACLES": ORACLES}


def _answer(table: QuestionTable, **given) -> Answer:
    target = given["target"]
    if target is None:
        raise ValueError("--target is needed: the column of the labels.")
    chosen = {name: given[name] for name in ("psi", "oracle", "border") if given[name] is not None}
    _check(given["algorithm"], chosen, given["C"], given["tune"])
    group = given["group"]
    prepared = table.prepared({"target": target, "group": group}, fills=True, ignores=True)
    if not prepared.names:
        raise ValueError(f"{table.path} has no column besides {target!r} to learn from.")
    y = classes_of(prepared.texts["target"], target)
    groups = None if group is None else _groups(prepared.texts["group"])
    rows = _Rows(prepared, y, groups)
    gaps = table.reading.missing == "ignore"
    if gaps and is_on_disk(prepared):
        raise ValueError(
            "--missing ignore needs the rows in memory, and these are too many: use drop or median."
        )
    model = _model(given["algorithm"], chosen, given["C"], given["tune"], gaps)
    held_out = _held_out(y, target, given["test_size"], given["seed"], given["tune"], groups, group)
    heading = _description(table.name, len(prepared.names), y)
    sentences, drawn = [], ()
    if held_out is not None:
        sentences = [_held_out_error(model, rows, *held_out)]
        drawn = rows.pictures(model, held_out[0])
    start = time.perf_counter()
    rows.fit(model)
    seconds = time.perf_counter() - start
    again = "Fitted" if held_out is None else "Fitted again,"
    sentences += [_chosen(model)] if given["tune"] else []
    sentences += [
        f"{again} to all {len(y)} rows, in {seconds:.2f} s",
        f"{model.n_generators_} equations in {model.n_terms_} other terms; "
        f"{100 * model.sparsity_:.0f} % of their coefficients are zero",
    ]
    from vanishing.questions.class_answers import class_answer

    answer = class_answer(model, _TOP)
    return replace(
        answer,
        heading=heading,
        verdict="\n".join(sentences),
        notes=tuple(prepared.notes),
        next_steps=("Predict another table with the saved model.", "Look at the report."),
        files=(
            model_file(model, prepared.recipe),
            report_file(model, **rows.shown(), data_name=table.name),
            *language_files(model, "model"),
        ),
        printed=(heading, *sentences),
        pictures=lambda: drawn,
    )


class _Rows:
    """Rows with labels: in memory, or of a table on disk in blocks."""

    def __init__(self, prepared: PreparedTable, y: np.ndarray, groups: np.ndarray | None):
        self.prepared, self.y, self.groups = prepared, y, groups
        self.frame = None if is_on_disk(prepared) else prepared.frame()

    def at(self, places: np.ndarray | None = None) -> tuple:
        """Return what a fit takes of the rows at some places, which grow; None: of all."""
        from vanishing import Blocks

        if self.frame is None:
            return (Blocks(lambda: self.blocks(places)),)
        if places is None:
            return self.frame, self.y
        return self.frame.iloc[places], self.y[places]

    def fit(self, model, places: np.ndarray | None = None) -> None:
        """Fit to the rows at some places, or to all; a search holds out whole groups."""
        grouped = {}
        if self.groups is not None and hasattr(model, "cv"):
            grouped["groups"] = self.groups if places is None else self.groups[places]
        model.fit(*self.at(places), **grouped)

    def blocks(self, places: np.ndarray | None):
        """Yield tables and labels, some rows at a time."""
        start = 0
        for block in blocks_of(self.prepared.X, self.prepared.names):
            stop = start + len(block)
            if places is None:
                yield block, self.y[start:stop]
            else:
                first, last = np.searchsorted(places, [start, stop])
                kept = places[first:last]
                yield block.iloc[kept - start], self.y[kept]
            start = stop

    def n_wrong(self, model, places: np.ndarray) -> int:
        """Return how many of the rows at some places a model names wrong."""
        parts = self.blocks(places) if self.frame is None else [self.at(places)]
        return sum(int(np.count_nonzero(model.predict(X) != y)) for X, y in parts if len(y))

    def pictures(self, model, places: np.ndarray) -> tuple[Picture, ...]:
        """Return how sure a model is of rows at some places; none of a table on disk."""
        if self.frame is None:
            return ()
        X, y = self.at(places)
        return class_pictures(model, X, y, self.prepared.rows[places])

    def shown(self) -> dict[str, Any]:
        """Return the rows of a report: of a table on disk some, evenly spread."""
        if self.frame is not None:
            return {"X": self.frame, "y": self.y}
        places = np.unique(np.linspace(0, len(self.y) - 1, settings.SHOWN_ROWS).astype(np.int64))
        parts = list(self.blocks(places))
        import pandas as pd

        return {"X": pd.concat([X for X, _ in parts]), "y": self.y[places]}


def _check(algorithm: str, chosen: dict[str, Any], C, tune: bool) -> None:
    """Raise ValueError where options do not exist, or do not go together."""
    import vanishing

    if "oracle" in chosen and chosen["oracle"] not in names()["ORACLES"]:
        known = ", ".join(names()["ORACLES"])
        raise ValueError(f"--oracle must be one of {known}; got {chosen['oracle']!r}.")
    psi = chosen.get("psi")
    if tune and not (psi is None and C is None):
        raise ValueError("--tune chooses psi and C: leave --psi and --C out.")
    if psi is not None and not 0 <= psi < 1:
        raise ValueError(f"--psi must be in [0, 1); got {psi}.")
    if C is not None and not 0 < C < np.inf:
        raise ValueError(f"--C must be positive; got {C}.")
    for name in chosen:
        if name not in inspect.signature(getattr(vanishing, CONSTRUCTIONS[algorithm])).parameters:
            raise ValueError(f"--{name} is no option of the algorithm {algorithm}: leave it out.")


def _model(algorithm: str, chosen: dict[str, Any], C, tune: bool, gaps: bool):
    import vanishing

    # Where no option of the construction is chosen, a search chooses the oracle, too.
    is_default = not chosen and CONSTRUCTIONS[algorithm] == "OAVI"
    transformer = None if is_default else getattr(vanishing, CONSTRUCTIONS[algorithm])(**chosen)
    missing: Literal["error", "ignore"] = "ignore" if gaps else "error"
    if tune:
        return vanishing.VanishingClassifierCV(transformer, cv=_FOLDS, missing=missing)
    given = {} if C is None else {"C": C}
    return vanishing.VanishingClassifier(transformer, missing=missing, **given)


def _groups(texts: np.ndarray) -> np.ndarray:
    """Return the number of the group of each row."""
    return np.unique([text.strip() for text in texts], return_inverse=True)[1]


def _split(y, test_size, n_held_out, seed, groups, group):
    """Return the places of rows to fit to, and of others: of whole groups, about as many."""
    from sklearn.model_selection import StratifiedGroupKFold, train_test_split

    if groups is None:
        return train_test_split(
            np.arange(len(y)), test_size=n_held_out, stratify=y, random_state=seed
        )
    n_folds, n_groups = max(2, round(1.0 / test_size)), int(groups.max()) + 1
    if n_groups < n_folds:
        raise ValueError(
            f"Column {group!r} has {n_groups} different value{'' if n_groups == 1 else 's'}, too "
            f"few to hold out {100 * test_size:g} % of the rows as whole groups: raise "
            "--test-size, or hold out none with --test-size 0."
        )
    folds = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    return next(folds.split(y, y, groups))


def _held_out(y, target, test_size, seed, tune, groups, group):
    """Return the places of held-out and of other rows, or None."""
    classes, counts = np.unique(y, return_counts=True)
    fitted = _FOLDS if tune else 1  # a row of each class in each of the folds
    needed = fitted + bool(test_size)
    fewest = counts.min()
    if fewest < needed:
        rare = [str(label) for label in classes[counts < needed]]
        ways = ["leave these rows out"]
        ways += ["hold out none with --test-size 0"] if fewest >= fitted else []
        ways += ["do without --tune"] if tune and fewest > bool(test_size) else []
        raise ValueError(
            f"Column {target!r} has {len(classes)} different labels, and too few rows with "
            f"{listed(rare, 3)}: {needed} of each are needed here. You may {' or '.join(ways)}."
        )
    if not test_size:
        return None
    n_held_out = int(np.ceil(test_size * len(y)))
    if n_held_out < len(classes) or len(y) - n_held_out < len(classes):
        raise ValueError(
            f"{len(y)} rows are too few to hold out {n_held_out} with all {len(classes)} classes "
            "on both sides: change --test-size, or hold out none with --test-size 0."
        )
    others, rows = _split(y, test_size, n_held_out, seed, groups, group)
    counts = np.array([np.count_nonzero(y[others] == label) for label in classes])
    if counts.min() < fitted:
        raise ValueError(
            f"Of the rows with {str(classes[counts.argmin()])!r} in column {target!r}, "
            f"{counts.min()} would be left to fit to, fewer than {fitted}: lower --test-size."
        )
    return np.sort(rows), np.sort(others)


def _held_out_error(model, rows: _Rows, held_out, others) -> str:
    rows.fit(model, others)
    wrong = rows.n_wrong(model, held_out)
    return (
        f"Held-out error: {_share(wrong, len(held_out))} ({wrong} of {len(held_out)} rows wrong, "
        f"fitted to the other {len(others)})"
    )


def _description(name: str, n_columns: int, y) -> str:
    classes, counts = np.unique(y, return_counts=True)
    parts = [f"{label} ({count})" for label, count in zip(classes, counts, strict=True)]
    if len(parts) > 10:
        parts = [*parts[:10], f"and {len(parts) - 10} more"]
    return f"{name}: {len(y)} rows, {n_columns} columns, classes (rows): {', '.join(parts)}"


def _chosen(model) -> str:
    chosen = ", ".join(
        f"{name} = {format(value, 'g') if isinstance(value, float) else value}"
        for name, value in model.best_params_.items()
    )
    low, high = model.error_interval_
    return (
        f"Chosen by {model.n_splits_}-fold cross-validation: {chosen} "
        f"(error to expect {_share(model.error_, 1)}, 95 % interval {_share(low, 1)} to "
        f"{_share(high, 1)})"
    )


def _share(part, whole) -> str:
    """Write a share in per cent."""
    return f"{100 * part / whole:.2f} %"


QUESTION = question_of(
    "classes",
    _answer,
    options=options_of("classes", algorithm=CONSTRUCTIONS),
    writes=(
        ((".json",), "the model"),
        ((".html",), "a report on all rows"),
        ((".sql", ".c", ".py"), "the model in SQL, C or Python"),
    ),
    missing=("error", "drop", "median", "ignore"),
    command="fit",
)
