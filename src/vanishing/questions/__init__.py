"""One layer of questions: a table and a question give an answer with report and files.

The command line, pages and notebooks ask here; nobody else puts table, estimator and report
together.
"""

from vanishing.questions import calibration, classes, laws, motion, outliers, repair, rules
from vanishing.questions.answer import Answer, AnswerTable, Constant, Equation, File
from vanishing.questions.applying import apply
from vanishing.questions.description import (
    ColumnDescription,
    Description,
    Remedy,
    TableProblem,
    describe,
    problems_of,
)
from vanishing.questions.examples import EXAMPLES, Example
from vanishing.questions.models import answer_of
from vanishing.questions.options import Option
from vanishing.questions.question import Question
from vanishing.questions.reading import READING, QuestionTable, Reading, read
from vanishing.questions.reporting import report_on

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
    "answer_of",
    "apply",
    "describe",
    "problems_of",
    "read",
    "report_on",
]

QUESTIONS: dict[str, Question] = {
    question.name: question
    for question in (
        *(laws.QUESTION, motion.CONSERVED, motion.MOTION, outliers.QUESTION, repair.QUESTION),
        *(calibration.QUESTION, rules.RULES, rules.CHECK, classes.QUESTION),
    )
}
