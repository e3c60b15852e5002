"""Which columns questions are probably about: by what they are called, or by what they hold."""

import re

from vanishing.questions import classes, motion, outliers
from vanishing.questions.description import Description

_CLASSES = 20  # at most, in a column that is taken for labels
_NUMBERS = ("number", "date")


def guesses(found: Description) -> dict[str, dict[str, str]]:
    """Return columns that a page may choose ahead, by the names of question and option.

    Parameters
    ----------
    found : Description

    Returns
    -------
    chosen : dict of str to dict of str to str
    """
    called = {_word(column.name): column.name for column in reversed(found.columns)}
    numbers = {column.name for column in found.columns if column.kind in _NUMBERS}
    chosen: dict[str, dict[str, str]] = {}
    for question in (classes.QUESTION, motion.CONSERVED, motion.MOTION, outliers.QUESTION):
        for option in question.options:
            name = next((called[word] for word in option.usual if word in called), None)
            if name is not None and (option.name != "time" or name in numbers):
                chosen.setdefault(question.name, {})[option.name] = name
    labels = [
        column.name
        for column in found.columns
        if column.kind in ("text", "flag") and 2 <= column.n_distinct <= _CLASSES
    ]
    if labels:  # which mostly stand at the end
        chosen["classes"] = {"target": labels[-1]}
    return chosen


def _word(name: str) -> str:
    """Return the word that a name begins with; letters alone keep their case: T is no time."""
    word = re.split(r"[^A-Za-z]", name)[0]
    return word.lower() if len(word) > 1 else word
