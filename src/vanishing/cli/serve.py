"""The command ``app``: a page on this machine, for who has a table and a question."""

from importlib.util import find_spec
from typing import Annotated

from typer import Option

from vanishing.cli.app import command
from vanishing.cli.console import fail


@command("vanishing app")
def app(
    port: Annotated[
        int, Option(min=0, max=65535, help="The port to listen at; 0 takes any that is free.")
    ] = 0,
    browser: Annotated[
        bool, Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    host: Annotated[
        str,
        Option(
            help="The address to listen at. Any but this machine's own lets others in who have the "
            "token; what they send is not encrypted."
        ),
    ] = "127.0.0.1",
):
    """Open a page that takes a table and a question, and shows the answer.

    It works without a network and runs until Ctrl-C; nothing leaves this machine.
    """
    missing = [name for name in ("starlette", "uvicorn", "jinja2") if find_spec(name) is None]
    if missing:
        fail(
            f"The page needs {', '.join(missing)}: install with "
            "python -m pip install 'vanishing[app]'"
        )
    from vanishing.app.server import serve

    serve(host, port, browser)
