"""The server of the page: what it answers to which address."""

import asyncio
import contextlib
import json
import logging
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
import webbrowser
from contextlib import aclosing, asynccontextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from vanishing.app import settings
from vanishing.app.guard import Guard
from vanishing.app.process import Worker
from vanishing.app.sessions import Session, Sessions, file_name
from vanishing.app.uploads import TooLargeError, written
from vanishing.questions import EXAMPLES

_LOOPBACK = ("127.0.0.1", "localhost")
_ALONE = "Ctrl-C ends it; nothing leaves this machine."
_WITH_OTHERS = "Ctrl-C ends it. Others who have the token can ask; what they send is not encrypted."
# A report has scripts of its own, which it names by their hash; here they may do nothing else.
_REPORT_POLICY = "sandbox allow-scripts allow-downloads; frame-ancestors 'self'"


class App:
    """The page of one server: its folder, its sessions, and the process that computes.

    Parameters
    ----------
    folder : Path
        Nothing outside of it is read or written for a page.
    """

    def __init__(self, folder: Path):
        self.sessions = Sessions(folder)
        self.worker = Worker(folder)

    def starlette(self) -> Starlette:
        """Return the application, without the guard before it."""
        static = StaticFiles(directory=Path(__file__).parent / "static")
        session = "/sessions/{session}"
        return Starlette(
            lifespan=self._lifespan,
            routes=[
                Route("/", self._page),
                Mount("/static", static),
                Route("/sessions", self._begin, methods=["POST"]),
                Route(f"{session}/alive", self._stay, methods=["POST"]),
                Route(f"{session}/end", self._end, methods=["POST"]),
                Route(f"{session}/tables", self._take_table, methods=["POST"]),
                Route(f"{session}/tasks", self._run_task, methods=["POST"]),
                Route(f"{session}/formulas", self._read_formula, methods=["POST"]),
                Route(f"{session}/answers/{{answer}}/{{name}}", self._hand_out),
            ],
        )

    @asynccontextmanager
    async def _lifespan(self, app):
        await self.worker.start()
        clock = asyncio.ensure_future(self._count_minutes())
        try:
            yield
        finally:
            clock.cancel()
            await self.worker.stop()

    async def _count_minutes(self):
        while True:
            await asyncio.sleep(60)
            self.sessions.pass_minute()

    async def _page(self, request: Request) -> Response:
        return HTMLResponse(page())

    async def _begin(self, request: Request) -> Response:
        return JSONResponse({"session": self.sessions.begin()})

    async def _stay(self, request: Request) -> Response:
        self._session(request)
        return Response(status_code=204)

    async def _end(self, request: Request) -> Response:
        self.sessions.end(request.path_params["session"])
        return Response(status_code=204)

    def _session(self, request: Request) -> Session:
        session = self.sessions.get(request.path_params["session"])
        if session is None:
            raise HTTPException(410)
        return session

    async def _take_table(self, request: Request) -> Response:
        session = self._session(request)
        folder = session.room("table")
        name = file_name(request.query_params.get("name", ""))
        pasted = request.query_params.get("pasted") == "yes"
        most = settings.PASTED_BYTES if pasted else settings.UPLOAD_BYTES
        try:
            size = await written(request, folder / name, most)
        except TooLargeError:
            shutil.rmtree(folder, ignore_errors=True)
            return _refused("too_large", 413, most=most)
        except ClientDisconnect:
            shutil.rmtree(folder, ignore_errors=True)
            return Response(status_code=400)
        if not size:
            shutil.rmtree(folder, ignore_errors=True)
            return _refused("empty", 400)
        return JSONResponse({"table": folder.name.rpartition("-")[2], "name": name})

    async def _run_task(self, request: Request) -> Response:
        """Run a task and send its events, as lines of JSON; who stops listening cancels it."""
        session = self._session(request)
        wanted = await _document(request)
        try:
            task = _TASKS[wanted.pop("task")](session, wanted)
        except (KeyError, TypeError, ValueError):
            raise HTTPException(400) from None
        if task is None:
            raise HTTPException(410)

        async def lines():
            async with aclosing(self.worker.run(task)) as events:
                async for event in events:
                    yield json.dumps(event).encode() + b"\n"

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def _read_formula(self, request: Request) -> Response:
        from vanishing.app.formulas import read_formula

        self._session(request)
        wanted = await _document(request)
        text, names = wanted.get("text"), wanted.get("names")
        if not isinstance(text, str) or not isinstance(names, list):
            raise HTTPException(400)
        return JSONResponse(read_formula(text, [str(name) for name in names]))

    async def _hand_out(self, request: Request) -> Response:
        places = request.path_params
        path = self._session(request).file(places["answer"], places["name"])
        if path is None:
            raise HTTPException(404)
        shown = path.suffix == ".html" and "download" not in request.query_params
        return FileResponse(
            path,
            filename=path.name,
            content_disposition_type="inline" if shown else "attachment",
            headers={"Content-Security-Policy": _REPORT_POLICY},
        )


async def _document(request: Request) -> dict:
    """Return the JSON object of a request, which is small."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > settings.REQUEST_BYTES:
            raise HTTPException(413)
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):  # which lists in lists in lists cause
        raise HTTPException(400) from None
    if not isinstance(document, dict):
        raise HTTPException(400)
    return document


def _refused(kind: str, status: int, **details) -> JSONResponse:
    return JSONResponse({"kind": kind, "details": details}, status)


# -- Tasks: what a page may ask of the process that computes, and which files it is given ---------


def _questions(session: Session, wanted: dict) -> dict | None:
    return {"task": "questions"}


def _example(session: Session, wanted: dict) -> dict | None:
    name = EXAMPLES[str(wanted["name"])].name
    return {"task": "example", "name": name, "folder": str(session.room("table"))}


def _describe(session: Session, wanted: dict) -> dict | None:
    table = session.table(str(wanted["table"]))
    if table is None:
        return None
    return {"task": "describe", "table": str(table), "reading": _dict(wanted["reading"])}


def _ask(session: Session, wanted: dict) -> dict | None:
    table = session.table(str(wanted["table"]))
    if table is None:
        return None
    return {
        "task": "ask",
        "table": str(table),
        "reading": _dict(wanted["reading"]),
        "question": str(wanted["question"]),
        "options": _dict(wanted["options"]),
        "folder": str(session.room("answer")),
    }


def _choose(session: Session, wanted: dict) -> dict | None:
    answer = session.answer(str(wanted["answer"]))
    if answer is None:
        return None
    place = int(wanted["place"])
    folder = str(session.room("answer"))
    return {"task": "choose", "answer": str(answer), "place": place, "folder": folder}


def _apply(session: Session, wanted: dict) -> dict | None:
    answer, table = session.answer(str(wanted["answer"])), session.table(str(wanted["table"]))
    if answer is None or table is None:
        return None
    return {
        "task": "apply",
        "answer": str(answer),
        "table": str(table),
        "reading": _dict(wanted["reading"]),
        "folder": str(session.room("answer")),
    }


def _write(session: Session, wanted: dict) -> dict | None:
    answer = session.answer(str(wanted["answer"]))
    if answer is None:
        return None
    return {"task": "write", "answer": str(answer), "name": str(wanted["name"])}


_TASKS = {
    "questions": _questions,
    "example": _example,
    "describe": _describe,
    "ask": _ask,
    "choose": _choose,
    "apply": _apply,
    "write": _write,
}


def _dict(value) -> dict:
    if not isinstance(value, dict):
        raise TypeError
    return value


# -- The page and its words ----------------------------------------------------------------------


@cache
def page() -> str:
    """Return the page, with its words in it."""
    environment = Environment(
        loader=PackageLoader("vanishing.app"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(words=words(), examples=EXAMPLES.values())


@cache
def words() -> dict:
    """Return all text of the page."""
    return json.loads(files("vanishing.app").joinpath("words.json").read_text(encoding="utf-8"))


# -- Serving ---------------------------------------------------------------------------------------


class _Server(uvicorn.Server):
    """A server that ends in silence: what is interrupted then is no error."""

    async def shutdown(self, sockets=None):
        """End, as Ctrl-C asks for."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        await super().shutdown(sockets)


def serve(host: str = "127.0.0.1", port: int = 0, browser: bool = True) -> None:
    """Serve the page until Ctrl-C; its folder is removed at the end.

    Parameters
    ----------
    host : str
        The address to listen at; anything but this machine's own lets others in who have the token.
    port : int
        0: any that is free.
    browser : bool
        Whether to open the page.
    """
    token = secrets.token_urlsafe(24)
    with _listening(host, port) as listener, _folder() as folder:
        port = listener.getsockname()[1]
        name = "127.0.0.1" if host in _LOOPBACK else host
        address = f"http://{name}:{port}/?token={token}"
        hosts = [f"{name}:{port}" for name in _LOOPBACK] if host in _LOOPBACK else []
        application = Guard(App(folder).starlette(), token, hosts)
        server = _Server(
            uvicorn.Config(
                application,
                log_level="error",
                access_log=False,
                lifespan="on",
                ws="none",
                timeout_graceful_shutdown=1,
            )
        )
        with _ending_well(server), contextlib.suppress(KeyboardInterrupt):
            print(f"Open {address}", flush=True)
            print(_ALONE if hosts else _WITH_OTHERS, file=sys.stderr, flush=True)
            if browser:
                threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
            server.run(sockets=[listener])


@contextlib.contextmanager
def _listening(host: str, port: int):
    """Return a socket that listens."""
    try:
        with socket.create_server((host, port)) as listener:
            yield listener
    except OverflowError:
        raise ValueError(f"A port is a number up to 65535; got {port}.") from None
    except OSError as problem:
        raise OSError(problem.errno, f"Port {port} of {host}: {problem.strerror}") from None


@contextlib.contextmanager
def _ending_well(server: uvicorn.Server):
    """Have signals end the server as Ctrl-C does, so that what comes after it is done."""

    def interrupt(number, frame):
        raise KeyboardInterrupt

    # The server raises what ended it once more when it has ended.
    handlers: dict[int, Any] = {signal.SIGTERM: interrupt}
    if hasattr(signal, "SIGHUP"):
        handlers[signal.SIGHUP] = server.handle_exit
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _folder():
    """Make a folder that others cannot read, and remove it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="vanishing-app-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
