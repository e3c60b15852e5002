"""What takes long before the first answer, done before anyone asks: imports and compilation.

``python -m vanishing.app.warming QUESTION`` compiles what one question needs, or the weights of
classes, and ends early when the other end of its standard input is closed.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryDirectory

from vanishing.questions import EXAMPLES, QUESTIONS, read

_LONGEST = "classes"  # to compile
_WEIGHTS = "weights"  # of equations for classes, the last third of it


class Warming:
    """Asks the questions of the examples, in a thread; `finish` waits for one of them.

    If something has to be compiled, another process compiles at the same time what takes longest,
    and each of them what the other one comes to last.
    """

    def __init__(self):
        self._left = _examples()
        self._asked = ""
        self._helper: Popen | None = None
        self._changed = threading.Condition()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        _when_compiling(self._start_helper)
        while self._left:
            question, example = next(iter(self._left.items()))
            self._asked = question
            if question == _LONGEST and self._helper is not None:
                _fit_weights()
                self._helper.wait()
            _ask(question, example)
            with self._changed:
                del self._left[question]
                self._changed.notify_all()

    def _start_helper(self) -> None:
        if self._helper is None and _LONGEST in self._left:
            part = _WEIGHTS if self._asked == _LONGEST else _LONGEST
            self._helper = Popen(
                [sys.executable, "-m", "vanishing.app.warming", part],
                stdin=PIPE,  # which is closed when we end, however that happens
                stdout=DEVNULL,
                stderr=DEVNULL,
            )

    def finish(self, question: str | None, progress: Callable) -> None:
        """Wait until a question has been asked, and say why; it is the next one in turn."""
        with self._changed:
            if question not in self._left:
                return
            progress(0, None, "Compiling, which takes some seconds the first time")
            self._left = {question: self._left[question], **self._left}
            self._changed.wait_for(lambda: question not in self._left)


def _examples() -> dict:
    """Return the examples by their questions, in the order in which they are asked."""
    # Motion has no example of its own.
    moving = replace(EXAMPLES["pendulum"], question="motion", options={"run": "run", "time": "t"})
    examples = {example.question: example for example in (*EXAMPLES.values(), moving)}
    examples[_LONGEST] = examples.pop(_LONGEST)
    return examples


def _ask(question: str, example) -> None:
    """Ask about an example; what goes wrong is said when someone does."""
    with contextlib.suppress(Exception), TemporaryDirectory() as folder:
        QUESTIONS[question].ask(read(example.write(Path(folder))), **example.options)


def _fit_weights() -> None:
    """Compile what weighs the equations for classes."""
    with contextlib.suppress(Exception):
        from vanishing import L1SquaredHingeSVC

        L1SquaredHingeSVC().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 3.0]], [0, 1, 0, 1])


def _when_compiling(call: Callable[[], None]) -> None:
    """Have something called whenever Numba compiles, and does not find what it compiled before."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event):
            call()

        def on_end(self, event):
            pass

    event.register("numba:compile", Listener())


def main(part: str) -> None:
    """Compile what a question needs, or the weights."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(5)  # on a single core, what somebody may be waiting for goes first
    if part == _WEIGHTS:
        _fit_weights()
    else:
        _ask(part, _examples()[part])


def _end_with_parent() -> None:
    os.read(0, 1)  # a buffered one would be in the way of an end of its own
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1])
