"""The commands ``app`` and ``mcp``: the questions on a page of this machine, and for agents."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from vanishing.cli.app import FOR_MACHINES, command
from vanishing.cli.console import fail


@command("vanishing app")
def app(
    port: Annotated[
        int,
        Option(
            min=0,
            max=65535,
            metavar="NUMBER",
            help="The port to listen at; 0 takes any that is free.",
        ),
    ] = 0,
    browser: Annotated[
        bool, Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    host: Annotated[
        str,
        Option(
            metavar="TEXT",
            help="The address to listen at. Any but this machine's own lets others in who have the "
            "token; what they send is not encrypted.",
        ),
    ] = "127.0.0.1",
):
    """Open a page that takes a table and a question, and shows the answer.

    It works without a network and runs until Ctrl-C; nothing leaves this machine.
    """
    missing = [name for name in ("starlette", "uvicorn", "jinja2") if find_spec(name) is None]
    if missing:
        from vanishing.checks import install

        fail(f"The page needs {', '.join(missing)}: install with {install('app')}")
    from vanishing.app.server import serve

    serve(host, port, browser)


@command("vanishing mcp ~/measurements", panel=FOR_MACHINES)
def mcp(
    folders: Annotated[
        list[Path], Argument(help="The folders whose tables may be read; no others are.")
    ],
    out: Annotated[
        Path | None,
        Option(
            metavar="FOLDER",
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
        from vanishing.checks import install

        fail(f"Agents are answered with mcp: install with {install('agent')}")
    from vanishing.agent.server import serve

    serve(folders, out)
