"""A question that a table can be asked: its words, its options, and who answers it."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace

from vanishing.questions.answer import Answer
from vanishing.questions.options import Option, chosen, differing, typed
from vanishing.questions.reading import READING, QuestionTable


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
    """

    name: str
    title: str
    summary: str
    options: tuple[Option, ...]
    answer: Callable[..., Answer]
    details: str = ""
    example: str = ""

    def ask(self, table: QuestionTable, **options) -> Answer:
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
        reading = differing(READING, vars(table.reading))
        words = [word for option, value in [*given, *reading] for word in typed(option, value)]
        return replace(
            answer,
            question=self.name,
            command=shlex.join(["vanishing", self.name, str(table.path), *words]),
            python=_python(self.name, table, [(option.name, value) for option, value in given]),
        )


def _python(name: str, table: QuestionTable, given) -> str:
    arguments = "".join(f", {option}={value!r}" for option, value in given)
    reading = f", {table.reading!r}" if table.reading.given() else ""
    return (
        "from vanishing.questions import QUESTIONS, Reading, read\n\n"
        f"table = read({str(table.path)!r}{reading})\n"
        f"answer = QUESTIONS[{name!r}].ask(table{arguments})\n"
        "print(answer.verdict)\n"
        "model = answer.model\n"
    )
