"""The questions for agents: the client of the SDK asks over stdin and stdout."""

import asyncio
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import check_failed
from commands import run as command

from vanishing.agent.folders import Folders
from vanishing.questions import EXAMPLES
from vanishing.tables.errors import TableError

mcp = pytest.importorskip("mcp")

TOOLS = {
    *("describe_table", "find_laws", "check_law", "find_outliers", "repair", "classify"),
    "conserved_quantities",
}
RUN = "from vanishing.cli import main; main()"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with tables, and a table beside it that is nobody's business."""
    place = tmp_path_factory.mktemp("agent")
    folder = place / "tables"
    (folder / "more").mkdir(parents=True)
    EXAMPLES["gas"].write(folder)
    EXAMPLES["pump"].write(folder / "more")
    (place / "secret.csv").write_text("a,b\n1,2\n")
    (folder / "link.csv").symlink_to(place / "secret.csv")
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    return folder


def asked(folder, out, *calls):
    """Return the names of the tools, and the results of calls."""
    from mcp import Client, StdioServerParameters

    source = str(Path(__file__).parents[2] / "src")
    server = StdioServerParameters(
        command=sys.executable,
        args=["-c", RUN, "mcp", str(folder), "--out", str(out)],
        env={"PYTHONPATH": source},
    )

    async def talk():
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, arguments) for name, arguments in calls]

    return asyncio.run(talk())


def document(result):
    assert not result.is_error, result.content
    return json.loads(result.content[0].text)


@pytest.mark.slow
def test_agents_find_laws(folder, tmp_path):
    tools, results = asked(
        folder,
        tmp_path / "out",
        ("describe_table", {"table": "gas.csv"}),
        ("find_laws", {"table": "gas.csv", "target": "p"}),
        ("check_law", {"table": "gas.csv", "equation": "p*V = R*n*T"}),
        ("check_law", {"table": "gas.csv", "equation": "p*V = R*n*("}),
        ("find_laws", {"table": "../secret.csv"}),
        ("find_laws", {"table": "link.csv"}),
        ("find_laws", {"table": "gas.csv", "target": "p", "reading": {"no": 1}}),
        ("find_laws", {"table": "gas.csv", "target": "p", "options": {"units": "/etc/passwd"}}),
        ("describe_table", {"table": "more/pump.csv"}),
        ("find_laws", {"table": "more/pump.csv", "target": "power"}),
    )
    assert {tool.name for tool in tools} <= TOOLS
    described, found, checked, *refused, pump, gaps = results
    assert [column["name"] for column in document(described)["columns"]] == ["n", "T", "V", "p"]
    law = document(found)
    assert law["found"] and "8.31" in law["equations"][0]["text"]
    (constant,) = law["equations"][0]["constants"]
    assert abs(constant["value"] - 8.314) < 3 * constant["std"] < 0.1
    report = Path(law["files"]["report.html"])
    assert report.is_relative_to(tmp_path / "out") and "8.31" in report.read_text()
    assert len(found.content[0].text) < 10_000
    constants = document(checked)["equations"][0]["constants"]
    assert constants[0]["name"] == "R"
    for result, words in zip(
        refused,
        ["the end", "no file '../secret.csv'", "no file 'link.csv'", "'no'", "units"],
        strict=True,
    ):
        assert result.is_error and words in result.content[0].text, words
    remedies = document(pump)["problems"][0]["remedies"]
    assert {"option": "missing", "value": "drop"} in remedies
    assert gaps.is_error and '"value": "drop"' in gaps.content[0].text


@pytest.mark.parametrize(
    "name",
    [
        *("../secret.csv", "link.csv", "loop.csv", "/etc/passwd", "more/../../secret.csv"),
        *("", ".", "a\0b"),
    ],
)
def test_nothing_outside_of_the_folders_is_read(folder, name):
    with pytest.raises(TableError, match="There is no file"):
        Folders([folder]).file(name)


def test_files_below_the_folders_are_found(folder):
    folders = Folders([folder / "more", folder])
    assert folders.file("gas.csv") == (folder / "gas.csv").resolve()
    assert folders.file(str(folder / "gas.csv")) == (folder / "gas.csv").resolve()
    assert folders.file("more/../gas.csv").name == "gas.csv"
    with pytest.raises(ValueError, match="no folder"):
        Folders([folder / "gas.csv"])


def test_help_works_without_the_sdk():
    code = (
        "import importlib.util as i; real = i.find_spec; "
        f"i.find_spec = lambda name: None if name == 'mcp' else real(name); {RUN}"
    )
    result = command("mcp", "--help", code=code)
    assert result.returncode == 0 and "describe_table" in result.stdout
    check_failed(command("mcp", ".", code=code), "[agent]")


def test_a_folder_that_is_not_there_is_a_sentence():
    check_failed(command("mcp", "no-such-folder"), "There is no folder no-such-folder.")


def test_a_server_goes_on_where_one_before_it_ended(folder, tmp_path):
    from vanishing.agent.server import Tools

    for _ in range(2):
        Tools(Folders([folder]), tmp_path).check_law("gas.csv", "p*V = R*n*T")
    assert sorted(place.name for place in tmp_path.iterdir()) == ["001-laws-gas", "002-laws-gas"]


def test_answers_of_large_tables_are_small(tmp_path):
    from vanishing.agent.server import Tools

    random = np.random.default_rng(0)
    rows = pd.DataFrame(random.normal(size=(300, 250)).round(3))
    rows.columns = [f"c{i}" for i in range(250)]
    rows.to_csv(tmp_path / "wide.csv", index=False)
    described = Tools(Folders([tmp_path]), tmp_path).describe_table("wide.csv")
    assert described["n_columns"] == 250 and len(json.dumps(described)) < 60_000
