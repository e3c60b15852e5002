"""One layer of questions: a table and a question give an answer with report and files.

The command line, pages and notebooks ask here; nobody else puts table, estimator and report
together.
"""

from vanishing.questions.answer import Answer, AnswerTable, Constant, Equation, File
from vanishing.questions.description import (
    ColumnDescription,
    Description,
    Remedy,
    TableProblem,
    describe,
    problems_of,
)
from vanishing.questions.examples import EXAMPLES, Example
from vanishing.questions.laws import QUESTION as _laws
from vanishing.questions.options import Option
from vanishing.questions.question import Question
from vanishing.questions.reading import READING, QuestionTable, Reading, read

__all__ = [
    "EXAMPLES",
    "QUESTIONS",
    "READING",
    "Answer",
    "AnswerTable",
    "ColumnDescription",
    "Constant",
    "Description",
    "Equation",
    "Example",
    "File",
    "Option",
    "Question",
    "QuestionTable",
    "Reading",
    "Remedy",
    "TableProblem",
    "describe",
    "problems_of",
    "read",
]

QUESTIONS: dict[str, Question] = {question.name: question for question in (_laws,)}
