"""The typer application, how a command joins it, and the texts of help."""

import inspect
from typing import Annotated

import typer
from typer.core import TyperCommand, TyperGroup

from vanishing.cli.console import sentences


def _without_types_of_flags(command, ctx) -> None:
    """Show flags as they are typed, without a value."""
    for option in command.get_params(ctx):
        if getattr(option, "is_flag", False):
            option.metavar = ""


class _Commands(TyperGroup):
    def format_help(self, ctx, formatter):
        _without_types_of_flags(self, ctx)
        super().format_help(ctx, formatter)


app = typer.Typer(
    cls=_Commands,
    help="Polynomial equations that data satisfies, up to noise: find, use and read them.",
    epilog="Example: vanishing demo",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


# The panel of commands that ask no question.
FOR_MACHINES = "For servers, agents and the paper"


def command(example, names=dict, panel="To look around"):
    """Return a decorator that makes a function the command of its name.

    Parameters
    ----------
    example : str
        What a user may type; the end of the command's help.
    names : callable
        Returns the names in registries, by the word that stands for them in the help of options. It
        is called when the help is asked for: registries may take long to import.
    panel : str
        The question that it answers, by which commands are grouped.
    """

    class Command(TyperCommand):
        def format_help(self, ctx, formatter):
            for word, registered in names().items():
                for option in self.params:
                    option.help = option.help.replace(word, ", ".join(registered))
            _without_types_of_flags(self, ctx)
            super().format_help(ctx, formatter)

    def join(function):
        paragraphs = inspect.getdoc(function).split("\n\n")
        app.command(
            cls=Command,
            help="\n\n".join(" ".join(text.split()) for text in paragraphs),
            epilog=f"Example: {example}",
            rich_help_panel=panel,
        )(sentences()(function))
        return function

    return join


def _print_version(wanted: bool):
    if wanted:
        from vanishing._version import __version__

        typer.echo(f"vanishing {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
):
    pass
