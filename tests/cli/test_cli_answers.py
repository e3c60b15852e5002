"""Commands that just answer: on the screen, as JSON, from and to pipes, with an exit status."""

import io
import json
import os
import re
import subprocess
import sys

import pytest
from commands import RUN, caller, check_failed, run

from vanishing.cli import COMMANDS as COMMAND_NAMES
from vanishing.questions import EXAMPLES, QUESTIONS

for package in ("pandas", "typer", "rich"):
    pytest.importorskip(package)

COMMANDS = {
    "gas": ["laws", "--target", "p", "--functions", "none"],
    "pump": ["repair"],
    "wines": ["fit", "--target", "grower", "--test-size", "0"],
    "pendulum": ["motion", "--run", "run", "--time", "t", "--functions", "theta=sin,cos"],
    "plant": ["outliers", "--time", "minute"],
}


@pytest.fixture
def call(capsys, monkeypatch):
    return caller(capsys, monkeypatch)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    return {name: example.write(folder) for name, example in EXAMPLES.items()}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_answers_without_a_file(call, tables, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command, *options = COMMANDS[name]
    printed = call(command, tables[name], *options)
    assert printed.returncode == 0 and printed.stdout.startswith(f"{name}.csv: "), printed.stderr
    answered = json.loads(call(command, tables[name], *options, "--json").stdout)
    assert answered["found"] and answered["verdict"] and answered["heading"] in printed.stdout
    assert answered["question"] == EXAMPLES[name].question
    assert answered["command"].startswith(f"vanishing {command} ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_there_to_copy_is_what_was_typed(call, tables, name):
    command, *options = COMMANDS[name]
    answered = json.loads(call(command, tables[name], *options, "--json").stdout)
    _, *words = answered["command"].split()
    again = json.loads(call(*words, "--json").stdout)
    del answered["verdict"], again["verdict"]  # that of a classifier has seconds
    assert again == answered


def test_the_ending_of_a_name_says_what_is_written(call, tables, tmp_path):
    command, *options = COMMANDS["gas"]
    paths = [tmp_path / f"law{ending}" for ending in (".json", ".html", ".sql", ".c", ".model")]
    outs = [word for path in paths for word in ("--out", path)]
    result = call(command, tables["gas"], *options, *outs)
    assert result.returncode == 0, result.stderr
    starts = ("{", "<!DOCTYPE html>", "", "/*", "{")
    for path, start in zip(paths, starts, strict=True):
        assert path.read_text().startswith(start), path
    assert paths[0].read_text() == paths[-1].read_text()
    refused = call(command, tables["gas"], *options, "--out", tmp_path / "law.csv")
    check_failed(refused, "must end with one of .json .html")
    assert not (tmp_path / "law.csv").exists()


def test_old_spellings_work_with_a_note(call, tables, tmp_path):
    kept, table = tmp_path / "kept", tmp_path / "cells"
    result = call("repair", tables["pump"], "--save", kept, "--report", table)
    assert result.returncode == 0 and kept.read_text().startswith("{")
    assert table.read_text().startswith("row,column,kind,was,now")
    assert result.stderr.splitlines() == [
        "Note: --save is --out with a name that ends in .json.",
        "Note: --report is --out with a name that ends in .cells.csv.",
    ]
    assert "--report" not in call("repair", "--help").stdout


def test_from_standard_input_to_standard_output(call, tables, monkeypatch):
    def piped(*arguments):
        content = io.BytesIO(tables["pump"].read_bytes())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
        return call(*arguments)

    repaired = piped("repair", "-", "--out", "-")
    assert repaired.returncode == 0, repaired.stderr
    assert repaired.stdout.splitlines()[0] == "flow,head,power,loss"
    assert len(repaired.stdout.splitlines()) == 401
    answered = json.loads(piped("repair", "-", "--json").stdout)
    assert answered["command"] == "vanishing repair -" and answered["heading"].startswith("-: 400")
    check_failed(piped("repair", "-", "--json", "--out", "-"), "both print: choose one")


def test_a_model_may_come_on_standard_input(call, tables, monkeypatch):
    saved = call("laws", tables["gas"], *COMMANDS["gas"][1:], "--out", "-").stdout

    def piped(*arguments):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(saved.encode())))
        return call(*arguments)

    assert "p = 8.3" in piped("show", "-").stdout
    assert '"n"' in piped("export", "-", "--to", "sql").stdout
    predicted = piped("predict", "-", tables["gas"], "--out", "-").stdout.splitlines()
    assert predicted[0] == "p" and len(predicted) == 401
    check_failed(piped("predict", "-", "-"), "Standard input has one file")
    saved = "{}"
    check_failed(piped("show", "-"), "- is no model")  # and not the temporary file


@pytest.mark.skipif(sys.platform == "win32", reason="closed pipes are other errors there")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_files_are_written_where_nobody_reads_what_is_printed(tables, tmp_path, more):
    model = tmp_path / "model.json"
    typed = [*COMMANDS["gas"][:1], tables["gas"], *COMMANDS["gas"][1:], "--out", model, *more]
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", RUN, *map(str, typed)]
    result = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=300)
    os.close(writer)
    assert result.returncode == 141 and result.stderr == ""
    assert json.loads(model.read_text())["model"]["kind"] == "LawFinder"


def test_the_exit_status_says_what_happened(call, tables, tmp_path):
    plain = tmp_path / "plain.csv"
    plain.write_text("a,b\n" + "".join(f"{i % 7},{i * i % 11}\n" for i in range(40)))
    nothing = ["laws", plain, "--target", "b", "--functions", "none"]
    assert call(*nothing).returncode == 0  # an answer, too
    assert call(*nothing, "--fail").returncode == 1
    assert call("laws", tables["gas"], *COMMANDS["gas"][1:], "--fail").returncode == 0
    for wrong in (
        ["laws", tmp_path / "no.csv"],
        ["laws", plain, "--target", "c"],
        ["laws", plain, "--max-time", "-1"],
        ["laws", plain, "--nonsense"],
        ["predict", plain, plain],
    ):
        assert call(*wrong).returncode == 2, wrong


def test_predictions_are_shown_where_no_file_is_asked_for(call, tables, tmp_path):
    model = tmp_path / "model.json"
    assert call("laws", tables["gas"], *COMMANDS["gas"][1:], "--out", model).returncode == 0
    shown = call("predict", model, tables["gas"])
    assert shown.returncode == 0 and "400 rows predicted" in shown.stdout and "p" in shown.stdout
    assert shown.stdout.count("rows predicted") == 1 and "\n\n\n" not in shown.stdout
    numbers = re.findall(r"\d+\.\d*", shown.stdout)
    assert numbers and all(len(number) <= 7 for number in numbers)
    answered = json.loads(call("predict", model, tables["gas"], "--json").stdout)
    assert answered["n_rows"] == 400 and answered["columns"] == ["p"]
    for both in (["predict", model, tables["gas"]], ["report", model, tables["gas"]]):
        check_failed(call(*both, "--json", "--out", "-"), "both print: choose one")
        check_failed(call(*both, "--out", tmp_path / "a.json"), "must end with .")
    check_failed(call("export", model, "--to", "sql", "--out", tmp_path / "a.c"), "end with .sql")


def test_commands_about_a_model_print_json_too(call, tables, tmp_path):
    model, page, source = (tmp_path / name for name in ("model.json", "page.html", "law.sql"))
    assert call("laws", tables["gas"], *COMMANDS["gas"][1:], "--out", model).returncode == 0
    answered = json.loads(call("report", model, tables["gas"], "--out", page, "--json").stdout)
    assert answered["question"] == "report" and page.exists()
    written = json.loads(call("export", model, "--to", "sql", "--out", source, "--json").stdout)
    assert written == {"language": "sql", "text": source.read_text()}


def test_help_groups_commands_by_question(call):
    printed = call("--help").stdout
    assert printed.index("Which law holds?") < printed.index(" laws ")
    assert "Which class is it?" in printed and "With a saved model" in printed
    servers = printed.index("For servers")
    assert printed.index(" demo ") < printed.index(" laws ") < servers < printed.index(" warm-up ")


@pytest.mark.parametrize("command", COMMAND_NAMES)
def test_help_has_words_for_values_and_none_for_flags(call, command):
    printed = call(command, "--help").stdout
    options = [line for line in printed.splitlines() if re.match(r"│[ *]+--", line)]
    assert options and not [line for line in options if re.search(r"<[a-z]+[ >]|list\[", line)]


def test_files_have_the_endings_that_their_question_promises(tables):
    for name, example in EXAMPLES.items():
        question = QUESTIONS[example.question]
        promised = set(question.endings())
        from vanishing.questions import read

        files = question.ask(read(tables[name]), **example.options).take_away()
        written = {ending for file in files for ending in file.endings}
        assert promised <= written, name


@pytest.mark.parametrize("typed, completed", [("la", "laws"), ("laws --ro", "--robust")])
def test_shells_complete_commands_and_options(typed, completed):
    words = {"COMP_WORDS": f"vanishing {typed}", "COMP_CWORD": str(len(typed.split()))}
    code = "import sys; sys.argv = ['vanishing']; from vanishing.cli import main; main()"
    result = run(code=code, _VANISHING_COMPLETE="complete_bash", **words)
    assert result.stdout.split() == [completed], result.stderr


def test_comments_of_formulas_are_a_line_each(call, tables, tmp_path):
    model = tmp_path / "model.json"
    assert call("fit", tables["wines"], *COMMANDS["wines"][1:], "--out", model).returncode == 0
    for form, mark in (("--latex", "%"), ("--sympy", "#")):
        lines = call("show", model, "--top", 1, form).stdout.splitlines()
        comments = [line for line in lines if line.startswith(mark)]
        assert len(lines) - len(comments) == 3 and comments[0].startswith(f"{mark} Class A: ")
        assert not any("\\n" in line for line in comments)
        assert comments[-1] == f"{mark} Columns are in their original units."
