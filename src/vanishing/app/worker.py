"""The process that computes: it reads tasks as lines of JSON, and writes events as such lines.

``python -m vanishing.app.worker FOLDER``. Whoever starts it holds the other ends of both pipes; when
these close, the process removes the folder and ends.
"""

import json
import os
import queue
import shutil
import sys
import threading
import traceback
import warnings
from collections.abc import Callable

from vanishing.app import settings
from vanishing.estimators.progress import listening
from vanishing.tables.errors import TableError


def main(folder: str) -> None:
    """Answer tasks until the other end of the pipe is closed."""
    # What a library prints must not get among the events.
    output = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    waiting: queue.SimpleQueue[dict] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(waiting, folder), daemon=True).start()

    def send(**event):
        output.write(json.dumps(event, allow_nan=False).encode() + b"\n")

    import pandas  # noqa: F401

    from vanishing.app.warming import Warming

    warming = Warming()
    while True:
        _answer(waiting.get(), warming, send)


def _read(waiting: queue.SimpleQueue, folder: str) -> None:
    for line in sys.stdin.buffer:
        waiting.put(json.loads(line))
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _answer(task: dict, warming, send: Callable) -> None:
    from vanishing.app.tasks import TASKS

    def progress(done, of, what):
        send(event="progress", done=done, of=of, what=str(what))

    name = task.pop("task")
    try:
        with warnings.catch_warnings(record=True) as caught, listening(progress):
            warnings.simplefilter("default")
            if name in warming.wanted_by:
                warming.finish(progress)
            with _limited_memory():
                result = TASKS[name](**task)
        send(event="result", result=result, warnings=_texts(caught))
    except TableError as error:
        problems = getattr(error, "problems", None) or [str(error)]
        send(event="error", message=str(error), problems=problems, remedy=error.remedy)
    except (ValueError, TypeError, ImportError) as error:
        send(event="error", message=" ".join(str(error).split()))
    except OSError as error:
        send(event="error", message=f"{error.strerror or error}.")
    except MemoryError:
        send(event="error", kind="memory", details={})
    except Exception as error:  # the page stays alive, and the terminal says where it was
        traceback.print_exc()
        send(event="error", kind="bug", details={"what": f"{type(error).__name__}: {error}"})


def _texts(caught) -> list[str]:
    """Return warnings for users, each once."""
    kept = [
        " ".join(str(warning.message).split())
        for warning in caught
        if not issubclass(warning.category, (DeprecationWarning, PendingDeprecationWarning))
        and not issubclass(warning.category, (FutureWarning, ResourceWarning))
    ]
    return list(dict.fromkeys(kept))


class _limited_memory:
    """Bounds what the process may take beyond what it has, while the block runs."""

    def __enter__(self):
        self.before = None
        try:
            import resource

            with open("/proc/self/statm", encoding="ascii") as file:
                at_rest = int(file.read().split()[0]) * resource.getpagesize()
        except (ImportError, OSError):
            return  # not on this system
        self.before = resource.getrlimit(resource.RLIMIT_AS)
        limit = at_rest + settings.MEMORY
        if self.before[1] != resource.RLIM_INFINITY:
            limit = min(limit, self.before[1])
        resource.setrlimit(resource.RLIMIT_AS, (limit, self.before[1]))

    def __exit__(self, *problem):
        if self.before is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_AS, self.before)


if __name__ == "__main__":
    main(sys.argv[1])
