"""The command line ``vanishing``: each command is a file of its name, with its options.

Its packages come with the extra ``app`` and are imported where they are used, so that `main` can
say which ones are missing, and that nobody waits for those which a command does not need.
"""

from importlib.util import find_spec

from vanishing.cli.console import fail, sentences

# In the order of the help.
COMMANDS = (
    *("app", "demo", "laws", "motion", "outliers", "repair", "calibrate", "rules", "check"),
    *("fit", "predict", "show", "report", "export", "reproduce", "mcp", "warm-up"),
)


def main():
    """Run the command line, or say in one sentence how to install what it needs."""
    missing = [name for name in ("pandas", "rich", "typer") if find_spec(name) is None]
    if missing:
        from vanishing.checks import install

        fail(f"The command line needs {', '.join(missing)}: install with {install('app')}")
    with sentences():
        build_app()()


def build_app():
    """Return the typer application, with all commands."""
    from vanishing.cli import asking, demo, models, reproduce, serve, warm_up  # noqa: F401
    from vanishing.cli.app import app

    app.registered_commands.sort(
        key=lambda command: COMMANDS.index(command.callback.__name__.replace("_", "-"))
    )
    return app
