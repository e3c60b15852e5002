"""The command ``mcp``: the questions for agents."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from vanishing.checks import install
from vanishing.cli.app import command
from vanishing.cli.console import fail


@command("vanishing mcp ~/measurements")
def mcp(
    folders: Annotated[
        list[Path], Argument(help="The folders whose tables may be read; no others are.")
    ],
    out: Annotated[
        Path | None,
        Option(
            help="The folder for reports and models.",
            show_default="a new one among the temporary folders",
        ),
    ] = None,
):
    """Answer agents: a server of the Model Context Protocol on stdin and stdout.

    Its tools are describe_table, find_laws, check_law, find_outliers, repair, classify and
    conserved_quantities.
    """
    if find_spec("mcp") is None:
        fail(f"Agents are answered with mcp: install with {install('agent')}")
    from vanishing.agent.server import serve

    serve(folders, out)
