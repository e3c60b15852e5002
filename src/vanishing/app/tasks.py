"""What the process that computes can be asked: functions of values that JSON has."""

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from vanishing.app.limits import check_size
from vanishing.questions import EXAMPLES, QUESTIONS, READING, Answer, Reading, apply, describe, read
from vanishing.questions.files import guarded
from vanishing.questions.guesses import guesses

# Those that need no file of a model, in the order of the page.
_ASKED = ("laws", "outliers", "classes", "conserved", "motion", "repair", "calibrate", "rules")
_KEPT = 6  # answers, which hold the rows of their tables
_ROWS = 200  # of a table of an answer that a page shows
_answers: OrderedDict[str, Answer] = OrderedDict()


class GoneError(LookupError):
    """An answer is asked for that this process does not have."""


def questions() -> dict:
    """Return the questions, and the options about tables."""
    asked = [QUESTIONS[name] for name in _ASKED]
    return {
        "questions": [
            {
                "name": question.name,
                "title": question.title,
                "summary": question.summary,
                "options": [_option(option, question.options) for option in question.options],
            }
            for question in asked
        ],
        "reading": [_option(option, READING) for option in READING],
    }


def _option(option, options) -> dict:
    words = {name: in_words(getattr(option, name), options) for name in ("help", "absent")}
    return {**asdict(option), **words}


def in_words(text: str, options) -> str:
    """Return a text with labels in place of options, as ``--noise`` and ``noise=``."""
    labels = {option.name: f"\u201c{option.label}\u201d" for option in (*options, *READING)}
    labels["equations"] = f"\u201c{QUESTIONS['motion'].title}\u201d"

    def label(found: re.Match) -> str:
        return labels.get(found[0].strip("-=").replace("-", "_"), found[0])

    return re.sub(r"--[a-z][a-z-]*[a-z]|\b[a-z_]+=(?![\w\"'(\[])", label, text)


def example(name: str, folder: str) -> dict:
    """Write a table to try, and return its number and what to ask of it."""
    made = EXAMPLES[name]
    path = made.write(Path(folder))
    guess = {"question": made.question, "options": {made.question: made.options}}
    return {"table": _number(folder), "name": path.name, "guess": guess}


def describe_table(table: str, reading: dict) -> dict:
    """Return what a table looks like as it is read."""
    path = Path(table)
    check_size(path)
    found = describe(path, Reading(**reading))
    notes = [in_words(note, ()) for note in found.notes]
    columns = [
        {**asdict(column), "suspicion": _without_options(column.suspicion)}
        for column in found.columns
    ]
    told = {"problems": problems(found.problems), "notes": notes, "guess": guesses(found)}
    return {**found.to_dict(), "columns": columns, **told}


def problems(found) -> list[dict]:
    """Return what is wrong with a table; a page has what helps as buttons."""
    return [
        {
            **asdict(one),
            "sentence": (
                _without_options(one.sentence) if one.remedies else in_words(one.sentence, ())
            ),
        }
        for one in found
    ]


def _without_options(sentence: str) -> str:
    return re.sub(r"[;,]?\s--.*$", "", sentence, flags=re.DOTALL)


def ask(table: str, reading: dict, question: str, options: dict, folder: str) -> dict:
    """Answer a question."""
    if question not in QUESTIONS:
        raise ValueError(f"There is no question {question!r}.")
    for option in QUESTIONS[question].options:
        # A name of a file would be one of this machine: a page gives what is in it.
        if option.kind == "file" and isinstance(options.get(option.name), str):
            raise ValueError(f"{option.label}: give what the file has in it, not its name.")
    answer = QUESTIONS[question].ask(read(table, Reading(**reading)), **options)
    return _kept(answer, folder)


def apply_model(answer: str, table: str, reading: dict, folder: str) -> dict:
    """Return what the model of an answer says about another table."""
    model = _model(_answer(answer))
    path = Path(folder) / "model.json"
    model.write(path)
    check_size(Path(table))
    return _kept(apply(path, Path(table), Reading(**reading)), folder)


def _model(answer: Answer):
    """Return the file of a model that says something about other rows, or None."""
    if answer.question == "rules" or not answer.found:  # rules are checked, not applied
        return None
    return next((file for file in answer.take_away() if file.name.endswith(".json")), None)


def choose(answer: str, place: int, folder: str) -> dict:
    """Return an answer with another equation of its front."""
    return _kept(_answer(answer).choose(place), folder)


def write(answer: str, name: str) -> dict:
    """Write a file of an answer to its folder."""
    file = next((f for f in _answer(answer).take_away() if f.name == name), None)
    if file is None:
        raise ValueError(f"There is no file {name!r}.")
    path = Path(answer) / "files" / file.name
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        file.write(path)
        if path.suffix == ".csv":  # which people open in spreadsheets
            path.write_text(guarded(path.read_text(encoding="utf-8")), encoding="utf-8")
    return {"name": file.name}


def _answer(folder: str) -> Answer:
    try:
        _answers.move_to_end(folder)
        return _answers[folder]
    except KeyError:
        raise GoneError from None


def _number(folder: str) -> str:
    return Path(folder).name.rpartition("-")[2]


def _kept(answer: Answer, folder: str) -> dict:
    """Keep an answer, and return it as a page shows it."""
    _answers[folder] = answer
    while len(_answers) > _KEPT:
        _answers.popitem(last=False)
    document = answer.to_dict()
    question = QUESTIONS.get(answer.question)
    options = () if question is None else question.options
    tables = [
        {**shown, "rows": shown["rows"][:_ROWS], "n_rows": len(shown["rows"])}
        for shown in document["tables"]
        if not _repeats(shown, answer)
    ]
    return {
        "answer": _number(folder),
        "found": answer.found,
        "verdict": in_words(answer.verdict, options),
        "heading": answer.heading,
        "equations": [_equation(equation) for equation in answer.equations],
        "front": [_equation(equation) for equation in answer.front],
        "tables": tables,
        "pictures": [picture.to_dict() for picture in answer.pictures()],
        "notes": [in_words(note, ()) for note in answer.notes],
        "next_steps": list(answer.next_steps),
        "files": [{"name": file.name, "label": file.label} for file in answer.take_away()],
        "applies": _model(answer) is not None,
        "command": answer.command,
        "python": answer.python,
    }


def _repeats(table: dict, answer: Answer) -> bool:
    """Say whether a table lists equations that a page shows, or offers to choose from, anyway."""
    if "equation" not in table["columns"]:
        return False
    place = table["columns"].index("equation")
    shown = {e.text for e in (*answer.equations, *answer.front * (len(answer.front) > 1))}
    return {row[place] for row in table["rows"]} <= shown


def _equation(equation) -> dict:
    document = equation.to_dict()
    measures = {name: document.get(name) for name in equation.measures}
    kept = {name: document[name] for name in ("text", "chosen", "constants")}
    about = {"group": equation.group, "note": equation.note}
    return {**kept, **about, "mathml": equation.mathml, "measures": measures}


TASKS: dict[str, Callable[..., dict]] = {
    "questions": questions,
    "example": example,
    "describe": describe_table,
    "ask": ask,
    "choose": choose,
    "apply": apply_model,
    "write": write,
}
