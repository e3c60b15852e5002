"""What the process that computes can be asked: functions of values that JSON has."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from vanishing.app.limits import check_size
from vanishing.questions import EXAMPLES, QUESTIONS, READING, Answer, Reading, describe, read

_KEPT = 6  # answers, which hold the rows of their tables
_ROWS = 200  # of a table of an answer that a page shows
_answers: OrderedDict[str, Answer] = OrderedDict()


class GoneError(LookupError):
    """An answer is asked for that this process does not have."""


def questions() -> dict:
    """Return the questions, and the options about tables."""
    return {
        "questions": [
            {
                "name": question.name,
                "title": question.title,
                "summary": question.summary,
                "options": [asdict(option) for option in question.options],
            }
            for question in QUESTIONS.values()
        ],
        "reading": [asdict(option) for option in READING],
    }


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
    return describe(path, Reading(**reading)).to_dict()


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
    tables = [
        {**shown, "rows": shown["rows"][:_ROWS], "n_rows": len(shown["rows"])}
        for shown in document["tables"]
        if not _repeats(shown, answer.front)
    ]
    return {
        "answer": _number(folder),
        "found": answer.found,
        "verdict": answer.verdict,
        "heading": answer.heading,
        "equations": [_equation(equation) for equation in answer.equations],
        "front": [_equation(equation) for equation in answer.front],
        "tables": tables,
        "pictures": [picture.to_dict() for picture in answer.pictures()],
        "notes": list(answer.notes),
        "next_steps": list(answer.next_steps),
        "files": [{"name": file.name, "label": file.label} for file in answer.take_away()],
        "applies": False,
        "command": answer.command,
        "python": answer.python,
    }


def _repeats(table: dict, front) -> bool:
    """Say whether a table lists the equations that a page offers to choose from."""
    texts = {equation.text for equation in front}
    return len(texts) > 1 and all(texts & set(map(str, row)) for row in table["rows"])


def _equation(equation) -> dict:
    document = equation.to_dict()
    measures = {name: document.get(name) for name in equation.measures}
    kept = {name: document[name] for name in ("text", "chosen", "constants")}
    return {**kept, "mathml": equation.mathml, "measures": measures}


TASKS: dict[str, Callable[..., dict]] = {
    "questions": questions,
    "example": example,
    "describe": describe_table,
    "ask": ask,
    "choose": choose,
    "write": write,
}
