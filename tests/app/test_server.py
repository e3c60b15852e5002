"""The server of the page: who may ask, what arrives, what stays, and what the process does."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection
from importlib.resources import files

import pytest
from serving import Server

from vanishing.app import settings, warming
from vanishing.app.formulas import read_formula
from vanishing.app.limits import check_size
from vanishing.app.process import Worker
from vanishing.app.server import words
from vanishing.app.sessions import Sessions, file_name
from vanishing.questions import QUESTIONS
from vanishing.tables.errors import TableError

httpx = pytest.importorskip("httpx")


@pytest.fixture
def page(server):
    """Return a client with the cookie of the page."""
    with httpx.Client(base_url=server.root, timeout=300) as client:
        assert client.get(server.address).status_code == 200
        yield client


def begin(page):
    return f"/sessions/{page.post('/sessions').json()['session']}"


def send(page, session, content, name="table.csv"):
    answer = page.post(f"{session}/tables", params={"name": name}, content=content)
    assert answer.status_code == 200, answer.text
    return answer.json()["table"]


def run(page, session, **task):
    """Return the events of a task."""
    answer = page.post(f"{session}/tasks", json=task)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


CSV = "a,b\n" + "".join(f"{i},{2 * i + i % 3}\n" for i in range(1, 40))


# -- Who may ask ----------------------------------------------------------------------------------


def test_address_answers_by_itself_and_sets_a_cookie(server):
    answer = httpx.get(server.address)
    assert answer.status_code == 200 and "<main>" in answer.text
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    with httpx.Client() as client:
        client.get(server.address)
        assert client.get(f"{server.root}/static/main.js").status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/?token=", "/?token=wrong", "/static/main.js", "/sessions", "/nothing"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "OPTIONS"])
def test_without_token_or_cookie_everything_answers_403(server, path, method):
    cookies = {f"vanishing-{server.port}": "wrong"}
    for given in ({}, cookies):
        answer = httpx.request(method, server.root + path, cookies=given)
        assert answer.status_code == 403 and "set-cookie" not in answer.headers


def test_token_opens_the_page_alone(server):
    for path in ("/static/main.js", "/sessions"):
        answer = httpx.get(f"{server.root}{path}", params={"token": server.token})
        assert answer.status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://elsewhere.example"},
        {"Origin": "null"},
        {"Host": "elsewhere.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_requests_of_other_pages_are_refused(server, page, headers):
    assert page.post("/sessions").status_code == 200
    assert page.post("/sessions", headers=headers).status_code == 403
    assert page.get("/static/main.js", headers=headers).status_code == 403


def test_own_origin_is_taken(server, page):
    headers = {"Origin": server.root, "Sec-Fetch-Site": "same-origin"}
    assert page.post("/sessions", headers=headers).status_code == 200


# -- What arrives, and what is handed out ---------------------------------------------------------


@pytest.mark.slow
def test_a_table_is_described_and_answered(page):
    session = begin(page)
    table = send(page, session, CSV, "lines of mine.csv")
    described = run(page, session, task="describe", table=table, reading={})[-1]["result"]
    assert [column["name"] for column in described["columns"]] == ["a", "b"]
    task = {"table": table, "reading": {}, "question": "laws", "options": {"target": "b"}}
    events = run(page, session, task="ask", **task)
    answer = events[-1]["result"]
    assert answer["found"] and answer["equations"][0]["mathml"].startswith("<math")
    # Its owner's name, and nothing of our folder.
    assert answer["command"] == "vanishing laws 'lines of mine.csv' --target b"
    assert "vanishing-app-" not in json.dumps(events)
    name = {"answer": answer["answer"], "name": "report.html"}
    assert page.get(f"{session}/answers/{answer['answer']}/report.html").status_code == 404
    assert run(page, session, task="write", **name)[-1]["result"] == {"name": "report.html"}
    report = page.get(f"{session}/answers/{answer['answer']}/report.html")
    assert "<!doctype html>" in report.text.lower()
    assert "sandbox" in report.headers["content-security-policy"]
    # Another session has none of it.
    other = begin(page)
    assert page.get(f"{other}/answers/{answer['answer']}/report.html").status_code == 404
    answer = page.post(f"{other}/tasks", json={"task": "write", **name})
    assert answer.status_code == 410


@pytest.mark.parametrize(
    "task",
    [
        {"task": "describe", "table": "../../etc/passwd", "reading": {}},
        {"task": "describe", "table": "99", "reading": {}},
        {"task": "write", "answer": "../table-1", "name": "x"},
    ],
    ids=str,
)
def test_no_file_outside_of_the_session_is_named(page, task):
    session = begin(page)
    send(page, session, CSV)
    assert page.post(f"{session}/tasks", json=task).status_code == 410


def test_options_name_no_files_of_this_machine(page, tmp_path):
    units = tmp_path / "units.toml"
    units.write_text('secret = "m"\n')
    session = begin(page)
    options = {"target": "b", "units": str(units)}
    task = {"table": send(page, session, CSV), "reading": {}, "question": "laws"}
    event = run(page, session, task="ask", options=options, **task)[-1]
    assert event["event"] == "error" and "not its name" in event["message"]


@pytest.mark.parametrize("task", [{}, {"task": "no such"}, {"task": "ask"}, []], ids=str)
def test_what_is_no_task_is_refused(page, task):
    assert page.post(f"{begin(page)}/tasks", json=task).status_code == 400


def test_a_question_that_does_not_exist_ends_nothing(page):
    session = begin(page)
    task = {"table": send(page, session, CSV), "reading": {}, "question": "no such", "options": {}}
    event = run(page, session, task="ask", **task)[-1]
    assert event["event"] == "error" and "no question" in event["message"]


def test_requests_that_are_no_small_json_are_refused(page):
    session = begin(page)
    for body, status in ((b"[" * 900_000, 400), (b"[" * 2_000_000, 413), (b"\xff", 400)):
        assert page.post(f"{session}/tasks", content=body).status_code == status
    task = {"task": "example", "name": "../gas"}
    assert page.post(f"{session}/tasks", json=task).status_code == 400


@pytest.mark.parametrize("name", ["../../x.csv", "/etc/passwd", "..", "a\x00b.csv", "", "x" * 500])
def test_names_of_files_stay_inside(server, page, name):
    session = begin(page)
    answer = page.post(f"{session}/tables", params={"name": name}, content="a,b\n1,2\n").json()
    (folder,) = server.folders
    place = folder / session.rpartition("/")[2] / f"table-{answer['table']}"
    assert [path.name for path in place.iterdir()] == [answer["name"]]


def test_uploads_are_bounded(server, page):
    session = begin(page)
    connection = HTTPConnection("127.0.0.1", server.port)
    cookie = f"vanishing-{server.port}={server.token}"
    length = {"Content-Length": str(settings.UPLOAD_BYTES + 1), "Cookie": cookie}
    connection.request("POST", f"{session}/tables?name=a.csv", headers=length)
    answer = connection.getresponse()  # which does not wait for what is to come
    assert answer.status == 413
    assert json.load(answer) == {"kind": "too_large", "details": {"most": settings.UPLOAD_BYTES}}
    connection.close()

    def parts():
        for _ in range(3):
            yield b"x" * (settings.PASTED_BYTES // 2)

    query = {"name": "a.csv", "pasted": "yes"}
    assert page.post(f"{session}/tables", params=query, content=parts()).status_code == 413
    (folder,) = server.folders
    assert list((folder / session.rpartition("/")[2]).iterdir()) == []
    assert page.post(f"{session}/tables", params=query, content=b"").json()["kind"] == "empty"


@pytest.mark.parametrize("name", ["ROWS", "COLUMNS", "CELLS", "UNPACKED_BYTES"])
def test_large_tables_are_refused_with_a_sentence(tmp_path, monkeypatch, name):
    path = tmp_path / "table.csv"
    path.write_text(CSV)
    check_size(path)
    monkeypatch.setattr(settings, name, 1)
    with pytest.raises(TableError, match="this page takes"):
        check_size(path)


def test_names_of_files_are_safe():
    assert file_name("gas 2.csv") == "gas 2.csv"
    assert file_name("..\\..\\x.csv") == "x.csv"
    long = file_name("ä" * 400 + ".parquet")
    assert long.endswith(".parquet") and len(long.encode()) < 255


def test_the_session_that_was_silent_for_longest_makes_room(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "SESSIONS", 2)
    sessions = Sessions(tmp_path)
    first, second = sessions.begin(), sessions.begin()
    assert sessions.get(first) is not None
    third = sessions.begin()
    assert sessions.get(second) is None and sessions.get(first) and sessions.get(third)
    assert {path.name for path in tmp_path.iterdir()} == {first, third}


def test_a_page_that_is_silent_for_an_hour_ends(tmp_path):
    sessions = Sessions(tmp_path)
    name, other = sessions.begin(), sessions.begin()
    for _ in range(settings.SILENT + 1):
        assert sessions.get(name) is not None
        sessions.pass_minute()
    assert {path.name for path in tmp_path.iterdir()} == {name}
    assert sessions.get(other) is None


@pytest.mark.parametrize(
    ("text", "marked"),
    [("p = 2*(V", "("), ("p = foo(V)", "foo"), ("p V = 1", "V"), ("p = [x]", "[x]"), ("p =", "")],
)
def test_errors_of_equations_have_a_place(text, marked):
    found = read_formula(text, ["p", "V"])
    assert text[found["start"] : found["end"]] == marked and found["problem"]


def test_what_someone_waits_for_is_compiled_next(monkeypatch):
    order, begun, go_on = [], threading.Event(), threading.Event()

    class Asked:
        def __init__(self, name):
            self.name = name

        def ask(self, table, **options):
            order.append(self.name)
            begun.set()
            assert go_on.wait(60)

    monkeypatch.setattr(warming, "QUESTIONS", {name: Asked(name) for name in QUESTIONS})
    monkeypatch.setattr(warming, "read", lambda path: None)
    monkeypatch.setattr(warming, "_when_compiling", lambda call: None)
    ahead = warming.Warming()
    assert begun.wait(60)
    said = []
    threading.Timer(0.1, go_on.set).start()
    ahead.finish("classes", lambda *step: said.append(step[2]))
    assert order[1] == "classes" and "the first time" in said[0]
    ahead.finish("rules", said.append)  # which needs nothing
    ahead.finish("classes", said.append)
    assert len(said) == 1


@pytest.mark.parametrize(("first", "part"), [("laws", "classes"), ("classes", "weights")])
def test_another_process_compiles_at_the_same_time(monkeypatch, first, part):
    started, waited, compiles = [], [], []

    class Process:
        def __init__(self, command, **options):
            started.append(command[-1])

        def wait(self):
            waited.append(started[-1])

    class Asked:
        def ask(self, table, **options):
            compiles[0]()

    examples = warming._examples()
    monkeypatch.setattr(warming, "_examples", lambda: {first: examples.pop(first), **examples})
    monkeypatch.setattr(warming, "_when_compiling", compiles.append)
    monkeypatch.setattr(warming, "_fit_weights", lambda: None)
    monkeypatch.setattr(warming, "QUESTIONS", dict.fromkeys(QUESTIONS, Asked()))
    monkeypatch.setattr(warming, "Popen", Process)
    ahead = warming.Warming()
    for question in QUESTIONS:
        ahead.finish(question, lambda *step: None)
    assert started == [part] and waited == ["classes"] * (part == "classes")


@pytest.mark.slow
@pytest.mark.parametrize("part", ["weights", "classes"])
def test_the_other_process_ends_by_itself_or_with_its_parent(part):
    command = [sys.executable, "-m", "vanishing.app.warming", part]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        if part == "classes":
            process.stdin.close()
        assert process.wait(120) == int(part == "classes")
        assert process.stderr.read() == b""


def test_all_words_are_said():
    """A word that nobody says is not translated, and one that is said is there."""
    place = files("vanishing.app")
    sources = [*place.joinpath("static").iterdir(), place.joinpath("templates", "page.html")]
    text = "".join(source.read_text() for source in sources if source.suffix in (".js", ".html"))
    made = {"kind_number", "kind_text", "kind_date", "kind_flag", "kind_empty"}
    made |= {"too_large", "empty", "crash", "too_long", "memory", "bug", "gone"}
    known = {
        f"{part}.{name}": name
        for part, inside in words().items()
        if isinstance(inside, dict)
        for name in inside
    }
    assert [key for key, name in known.items() if key not in text and name not in made] == []
    said = re.findall(r"""\bt\(["']([a-z_]+\.[a-z_]+)""", text)
    assert said and set(said) <= set(known)


# -- What stays -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_stays_when_the_server_ends(tmp_path, how):
    running = Server(tmp_path)
    with httpx.Client(base_url=running.root) as client:
        client.get(running.address)
        session = begin(client)
        send(client, session, CSV)
        (worker,) = running.workers
        os.kill(worker, signal.SIGSTOP)  # a task that takes long
        with client.stream("POST", f"{session}/tasks", json={"task": "questions"}):
            assert len(running.folders) == 1
            if how == signal.SIGKILL:
                os.kill(worker, signal.SIGCONT)
            complaints = running.end(how)[1]
    assert complaints == "Ctrl-C ends it; nothing leaves this machine.\n"
    for _ in range(1200):  # after SIGKILL the other process removes it, once it is there
        if not running.folders:
            break
        time.sleep(0.1)
    assert running.folders == []


def test_a_task_that_is_cancelled_at_the_end_starts_no_other_process(tmp_path):
    async def stopped_first():
        worker = Worker(tmp_path / "folder")
        events = worker.run({"task": "questions"})
        await worker.start()
        os.kill(worker._process.pid, signal.SIGSTOP)  # nothing is answered
        reading = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0.05)
        await worker.stop()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await events.aclose()
        found = worker._process, worker._starting
        await worker.stop()  # else the loop would wait for it for ever
        return found

    assert asyncio.run(stopped_first()) == (None, None)


def test_a_task_that_takes_too_long_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "SECONDS", 0.0)
    monkeypatch.setattr(settings, "HEARTBEAT", 0.01)

    async def events():
        worker = Worker(tmp_path / "folder")
        found = [event async for event in worker.run({"task": "questions"})]
        await worker.stop()
        return found

    assert asyncio.run(events())[-1]["kind"] == "too_long"


def test_memory_is_bounded_while_a_task_runs():
    code = """
import numpy as np
from vanishing.app import settings, worker
settings.MEMORY = 200_000_000
try:
    with worker._limited_memory():
        np.empty(100_000_000)
except MemoryError:
    print("refused")
print(np.empty(100_000_000).nbytes)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.split() == ["refused", "800000000"], result.stderr


def test_who_lets_others_in_is_told(tmp_path):
    running = Server(tmp_path)
    assert "nothing leaves this machine" in running.process.stderr.readline()
    running.end()
    code = "from vanishing.cli import main; main()"
    options = [sys.executable, "-c", code, "app", "--no-browser", "--host", "0.0.0.0"]
    with subprocess.Popen(options, stdout=-1, stderr=-1, text=True) as process:
        assert process.stdout.readline().startswith("Open http://0.0.0.0:")
        assert "Others who have the token" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def test_a_session_that_ends_takes_its_tables_with_it(server, page):
    session = begin(page)
    send(page, session, CSV)
    (folder,) = server.folders
    place = folder / session.rpartition("/")[2]
    assert place.is_dir()
    assert page.post(f"{session}/end").status_code == 204
    assert not place.exists()
    assert page.post(f"{session}/tasks", json={"task": "questions"}).status_code == 410


def test_folders_are_for_their_owner_alone(server):
    (folder,) = server.folders
    assert folder.stat().st_mode & 0o077 == 0


def test_a_port_that_is_taken_is_a_sentence(server):
    from commands import check_failed
    from commands import run as command

    result = command("app", "--no-browser", "--port", server.port)
    check_failed(result, f"Port {server.port}", "in use")
    assert os.name == "posix"
