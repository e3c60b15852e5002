"""The process that computes, seen from the page's process: one task at a time, or none."""

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

from vanishing.app import settings

_LINE = 256_000_000  # bytes of a message


class Worker:
    """A process of its own that answers one task after the other.

    It is started ahead of the first task, and again after it was killed or has crashed, so that
    what takes long to import is there when someone asks.

    Parameters
    ----------
    folder : Path
        Which the process may write to; it removes the folder if we are gone without a word.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._start = asyncio.Lock()
        self._starting: asyncio.Task | None = None
        self._ended = False

    async def start(self) -> asyncio.subprocess.Process:
        """Start the process, if there is none, and return it."""
        async with self._start:
            if self._process is None or self._process.returncode is not None:
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "vanishing.app.worker", str(self.folder)),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    limit=_LINE,
                    # What is too large for memory goes to the folder as well.
                    env={**os.environ, "TMPDIR": str(self.folder), "TEMP": str(self.folder)},
                    # Ctrl-C is for us, who end the process.
                    start_new_session=os.name == "posix",
                )
            return self._process

    async def stop(self) -> None:
        """End the process for good."""
        self._ended = True  # tasks that are cancelled now want another one
        if self._starting is not None:
            await self._starting
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    def restart(self) -> None:
        """Kill the process and have another one started, without waiting for either."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        self._process = None
        if not self._ended:
            self._starting = asyncio.ensure_future(self.start())

    async def run(self, task: dict) -> AsyncIterator[dict]:
        """Yield what happens with a task: events, of which the last is a result or an error.

        Whoever stops listening ends the task: its process is killed, and another one started.
        """
        if self._turn.locked():
            yield {"event": "waiting"}
        turn = asyncio.ensure_future(self._turn.acquire())
        try:
            while not turn.done():
                await asyncio.wait({turn}, timeout=settings.HEARTBEAT)
                if not turn.done():
                    yield {"event": "alive"}
        except BaseException:
            if not turn.cancel():
                self._turn.release()
            raise
        done = False
        try:
            async for event in self._events(await self.start(), task):
                done = event["event"] in ("result", "error")
                yield event
        finally:
            if not done:
                self.restart()
            self._turn.release()

    async def _events(self, process: asyncio.subprocess.Process, task: dict):
        assert process.stdin is not None and process.stdout is not None
        end = time.monotonic() + settings.SECONDS
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(json.dumps(task).encode() + b"\n")
            await process.stdin.drain()
        while True:
            reading = asyncio.ensure_future(process.stdout.readline())
            try:
                while not reading.done():
                    await asyncio.wait({reading}, timeout=settings.HEARTBEAT)
                    if not reading.done():
                        yield {"event": "alive"}
                    if time.monotonic() > end:
                        self.restart()
                        yield _failure("too_long", minutes=round(settings.SECONDS / 60))
                        return
            finally:
                reading.cancel()
            line = reading.result()
            if not line.endswith(b"\n"):  # the process has ended
                self.restart()
                yield _failure("crash")
                return
            event = json.loads(line)
            yield event
            if event["event"] in ("result", "error"):
                return


def _failure(kind: str, **details) -> dict:
    """Return the event of an end that the process itself could not report."""
    return {"event": "error", "kind": kind, "details": details}
