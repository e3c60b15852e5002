"""What takes long before the first answer, done before anyone asks: imports and compilation."""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from vanishing.questions import EXAMPLES, QUESTIONS, read


class Warming:
    """Asks the questions of the examples, in a thread; `finish` waits for one of them."""

    def __init__(self):
        # Motion has no example of its own; classes take longest to compile.
        moving = replace(
            EXAMPLES["pendulum"], question="motion", options={"run": "run", "time": "t"}
        )
        self._left = {example.question: example for example in (*EXAMPLES.values(), moving)}
        self._left["classes"] = self._left.pop("classes")
        self._changed = threading.Condition()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while self._left:
            question, example = next(iter(self._left.items()))
            # Nobody asked: what goes wrong here is said when someone does.
            with contextlib.suppress(Exception), TemporaryDirectory() as folder:
                QUESTIONS[question].ask(read(example.write(Path(folder))), **example.options)
            with self._changed:
                del self._left[question]
                self._changed.notify_all()

    def finish(self, question: str | None, progress: Callable) -> None:
        """Wait until a question has been asked, and say why; it is the next one in turn."""
        with self._changed:
            if question not in self._left:
                return
            progress(0, None, "Compiling, which takes some seconds the first time")
            self._left = {question: self._left[question], **self._left}
            self._changed.wait_for(lambda: question not in self._left)
