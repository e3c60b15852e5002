"""The process that computes: it reads tasks as lines of JSON, and writes events as such lines.

``python -m vanishing.app.worker FOLDER``. Whoever starts it holds the other ends of both pipes;
when these close, the process removes the folder and ends.
"""

import json
import os
import queue
import re
import shutil
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from contextlib import contextmanager

from vanishing.app import settings
from vanishing.app.tasks import TASKS, GoneError, in_words, problems
from vanishing.app.warming import Warming
from vanishing.estimators.progress import listening
from vanishing.questions import QUESTIONS, problems_of
from vanishing.tables.errors import TableError

# Warnings of the task at hand, in their order.
_heard: dict[str, None] = {}


def main(folder: str) -> None:
    """Answer tasks until the other end of the pipe is closed."""
    # What a library prints must not get among the events.
    output = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    waiting: queue.SimpleQueue[dict] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(waiting, folder), daemon=True).start()

    # A page names a table as its owner does, without our folder.
    place = re.compile(re.escape(folder) + r"(?:[/\\]+[0-9a-f]+[/\\]+\w+-[0-9]+[/\\]+)?")

    def send(**event):
        line = json.dumps(event, allow_nan=False)
        output.write(place.sub("", line).encode() + b"\n")

    import pandas  # noqa: F401

    # For the whole process, as threads share it; what is heard while nobody asked is not kept.
    warnings.simplefilter("always")
    warnings.showwarning = _hear

    warming = Warming()
    while True:
        _answer(waiting.get(), warming, send)


def _read(waiting: queue.SimpleQueue, folder: str) -> None:
    for line in sys.stdin.buffer:
        waiting.put(json.loads(line))
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _answer(task: dict, warming, send: Callable) -> None:
    def progress(done, of, what):
        send(event="progress", done=done, of=of, what=str(what))

    name = task.pop("task")
    try:
        warming.finish(task.get("question"), progress)
        _heard.clear()
        with listening(progress), _limited_memory():
            result = TASKS[name](**task)
        send(event="result", result=result, warnings=list(_heard))
    except TableError as error:
        send(event="error", message=str(error), problems=problems(problems_of(error)))
    except GoneError:
        send(event="error", kind="gone", details={})
    except (ValueError, TypeError, ImportError) as error:
        question = QUESTIONS.get(task.get("question", ""))
        options = () if question is None else question.options
        send(event="error", message=in_words(" ".join(str(error).split()), options))
    except OSError as error:
        send(event="error", message=f"{error.strerror or error}.")
    except MemoryError:
        send(event="error", kind="memory", details={})
    except Exception as error:  # the page stays alive, and the terminal says where it was
        traceback.print_exc()
        send(event="error", kind="bug", details={"what": f"{type(error).__name__}: {error}"})


def _hear(message, category, filename, lineno, file=None, line=None) -> None:
    """Keep a warning for users, once."""
    if issubclass(category, UserWarning) and threading.current_thread() is threading.main_thread():
        _heard[" ".join(str(message).split())] = None


@contextmanager
def _limited_memory():
    """Bound what the process may take beyond what it has, while the block runs."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            at_rest = int(file.read().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):  # not on this system
        yield
        return
    before, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = at_rest + settings.MEMORY
    if most != resource.RLIM_INFINITY:
        limit = min(limit, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, most))


if __name__ == "__main__":
    main(sys.argv[1])
