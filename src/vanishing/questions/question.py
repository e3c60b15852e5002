"""A question that a table can be asked: its words, its options, and who answers it."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from vanishing.questions.answer import Answer
from vanishing.questions.options import Option, chosen, differing, options_of, typed, words
from vanishing.questions.reading import QuestionTable


@dataclass(frozen=True)
class Question:
    """A question that a table can be asked.

    Attributes
    ----------
    name : str
        The word of the command line.
    title : str
        In plain words: "Which law holds?"
    summary : str
        One sentence.
    options : tuple of Option
    answer : callable
        ``answer(table, **options)`` returns an `Answer`; all options are given.
    details : str
        What else its help says.
    example : str
        What a user may type.
    writes : tuple of (tuple of str, str)
        Endings of the files that an answer may have, and what they hold; the first one is meant
        where the name of a file says nothing else.
    missing : tuple of str
        What may be done with rows that have gaps; empty where the question is about gaps.
    fitted : bool
        Whether the columns are chosen by who asks; else they are known from a model.
    command : str
        Words of the command line, if not the name.
    """

    name: str
    title: str
    summary: str
    options: tuple[Option, ...]
    answer: Callable[..., Answer]
    details: str = ""
    example: str = ""
    writes: tuple[tuple[tuple[str, ...], str], ...] = ()
    missing: tuple[str, ...] = ("error", "drop")
    fitted: bool = True
    command: str = ""

    def ask(self, table: QuestionTable, /, **options) -> Answer:
        """Answer the question for a table.

        Parameters
        ----------
        table : QuestionTable
        **options : object
            Values of `options`; those that are left out, or None, have their defaults.

        Returns
        -------
        answer : Answer

        Raises
        ------
        ValueError
            Where an option is wrong or the table cannot be used, with what helps. Steps are
            reported to who is `listening`; an interruption leaves nothing behind.
        """
        values = chosen(self.options, options, f"the question {self.name!r}")
        answer = self.answer(table, **values)
        given = differing(self.options, values)
        words = [w for pair in [*given, *table.reading.given()] for w in typed(*pair)]
        return replace(
            answer,
            question=self.name,
            command=self._typed(table.source or str(table.path), words),
            python=_python(self.name, table, [(option.name, value) for option, value in given]),
        )

    def endings(self) -> list[str]:
        """Return the endings of the files that an answer may have."""
        return [ending for endings, _ in self.writes for ending in endings]

    def _typed(self, path: str, words: list[str]) -> str:
        command = self.command or self.name
        return f"vanishing {command} {shlex.join([path, *words])}"


def question_of(name: str, answer: Callable[..., Answer], **details: Any) -> Question:
    """Return a question, whose words and options are in ``words.toml``."""
    known = {key: value for key, value in words()[name].items() if key != "options"}
    return Question(name=name, answer=answer, **{"options": options_of(name), **known, **details})


def _python(name: str, table: QuestionTable, given) -> str:
    arguments = "".join(f", {option}={value!r}" for option, value in given)
    reading = f", {table.reading!r}" if table.reading.given() else ""
    return (
        "from vanishing.questions import QUESTIONS, Reading, read\n\n"
        f"table = read({(table.source or str(table.path))!r}{reading})\n"
        f"answer = QUESTIONS[{name!r}].ask(table{arguments})\n"
        "print(answer.verdict)\n"
        "model = answer.model\n"
    )
