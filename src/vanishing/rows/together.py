"""Several readers of one source that share its passes: one pass answers the questions of all."""

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, NamedTuple

from sklearn import config_context, get_config

from vanishing._threads import n_threads, threads
from vanishing.rows.questions import Question
from vanishing.rows.reader import SourceReader


class _Abandoned(BaseException):
    """Ends the work on a class because that on another one, or a pass, has failed."""


class _Questions(NamedTuple):
    """The questions of several classes, asked of a block at once."""

    asked: tuple[Question, ...]

    def __call__(self, part):
        return [question(part) for question in self.asked]

    def combine(self, first, second):
        return [
            b if a is None else a if b is None else question.combine(a, b)
            for question, a, b in zip(self.asked, first, second, strict=True)
        ]


class _Meeting:
    """Collects the questions of threads, which wait until each has asked one or is done."""

    def __init__(self, n_members: int):
        self.changed = threading.Condition()
        self.asked: dict[int, Question] = {}
        self.answers: dict[int, Any] = {}
        self.n_busy = n_members
        self.failed = False
        # Of the threads that do not wait, as many work at a time as are allowed.
        self.places = threading.Semaphore(n_threads())

    def ask(self, member: int, question: Question):
        """Add a question; return its answer after the next pass."""
        self.places.release()
        try:
            with self.changed:
                self.asked[member] = question
                self._rest()
                self.changed.wait_for(lambda: member in self.answers or self.failed)
        finally:
            self.places.acquire()
        self._go_on()
        return self.answers.pop(member)

    def _go_on(self) -> None:
        if self.failed:
            raise _Abandoned

    def work(self, function: Callable[[], Any]):
        """Run the work of one member; return its result, or the exception that ended it."""
        with self.places:  # released only when the result of the work is known
            try:
                self._go_on()
                return function()
            except BaseException as error:
                self.failed = True
                return error
            finally:
                with self.changed:
                    self._rest()

    def _rest(self):
        self.n_busy -= 1
        self.changed.notify_all()

    def chair(self, source) -> None:
        """Make passes over the rows as long as there are questions."""
        while True:
            with self.changed:
                self.changed.wait_for(lambda: not self.n_busy or self.failed)
                if self.failed or not self.asked:
                    return
                members, self.asked = self.asked, {}
            questions = _Questions(tuple(members.values()))
            answers = source.ask(questions, questions.combine)
            answers = [None] * len(members) if answers is None else answers
            with self.changed:
                self.n_busy = len(members)
                self.answers = dict(zip(members, answers, strict=True))
                self.changed.notify_all()

    def end(self) -> None:
        """Let threads that still wait or work give up; results of the others stay."""
        with self.changed:
            self.failed = True
            self.changed.notify_all()


class _Member(SourceReader):
    """The rows of one class, whose questions are asked together with those of others."""

    def __init__(self, meeting: _Meeting, member: int, source, chunk_size, **options):
        super().__init__(source, chunk_size, **options)
        self.meeting = meeting
        self.member = member

    def _ask_source(self, question):
        return self.meeting.ask(self.member, question)


def read_together(work, source, labels, *, chunk_size=None, scale=None) -> list:
    """Return ``work(reader)`` for the rows of each class, with as few passes as the longest needs.

    Each class is worked on in a thread of its own, as many at a time as may be used; a question
    waits until the other classes have one, too, or are done. A pass uses all these threads.

    Parameters
    ----------
    work : callable
        Takes a `RowReader` of the rows of one class.
    source : RowSource
        With places of classes for labels: `RowSource.coded`.
    labels : sequence of int
        The places of the classes.
    chunk_size, scale : int, callable or None
        As `SourceReader` takes them.
    """
    meeting = _Meeting(len(labels))
    config = get_config()  # scikit-learn keeps one per thread
    results: list = [None] * len(labels)

    def run(member, label):
        def own():
            reader = _Member(meeting, member, source, chunk_size, label=label, scale=scale)
            with config_context(**config), threads(1):
                return work(reader)

        results[member] = meeting.work(own)  # errors, too: others would wait

    workers = [
        threading.Thread(target=copy_context().run, args=(run, member, label), daemon=True)
        for member, label in enumerate(labels)
    ]
    started = []
    try:
        for thread in workers:
            thread.start()
            started.append(thread)
        meeting.chair(source)
    finally:
        meeting.end()
        for thread in started:
            thread.join()
    errors = [result for result in results if isinstance(result, BaseException)]
    for error in errors:
        if not isinstance(error, _Abandoned):
            raise error
    return results
