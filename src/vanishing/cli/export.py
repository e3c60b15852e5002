"""The command ``export``: a saved model in the language of another system."""

import io
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from vanishing.cli.app import Model, command
from vanishing.cli.console import check_model, check_output, fail, write_or_print

_STDOUT = Path("-")


def _sql(model) -> str:
    from vanishing.export import to_sql
    from vanishing.rules.rules import Rules

    return model.to_sql() if isinstance(model, Rules) else f"{to_sql(model)}\n"


def _c(model) -> str:
    from vanishing.export import to_c

    return to_c(model)


def _python(model) -> str:
    from vanishing.export import to_python

    return to_python(model)


def _torch(model) -> str:
    from vanishing.export.torch_source import torch_source

    return torch_source(model)


def _latex(model) -> str:
    from vanishing.cli.show import print_model

    with redirect_stdout(io.StringIO()) as text:
        print_model(model, "latex")
    return text.getvalue()


def _onnx(model) -> bytes:
    from vanishing.export import to_onnx

    return to_onnx(model).SerializeToString()


# By what is typed behind --to.
LANGUAGES: dict[str, Callable[[Any], str | bytes]] = {
    "sql": _sql,
    "c": _c,
    "python": _python,
    "onnx": _onnx,
    "latex": _latex,
    "torch": _torch,
}


@command("vanishing export m.json --to sql --out model.sql", lambda: {"LANGUAGES": LANGUAGES})
def export(
    model: Model,
    to: Annotated[str, Option(help="One of LANGUAGES.", show_default=False)],
    out: Annotated[
        Path, Option(help="File to write; - prints it. onnx needs one.", show_default=False)
    ] = _STDOUT,
):
    """Write a model so that other systems can use it, without this library.

    SQL is an expression over the columns of a table; of rules, it is CREATE TABLE. C is one
    function, Python a module that needs NumPy, torch the source of a module of PyTorch.
    """
    if to not in LANGUAGES:
        fail(f"--to must be one of {' '.join(LANGUAGES)}; got {to!r}.", 2)
    if out != _STDOUT:
        check_output(out, model)
    elif to == "onnx":
        fail("--to onnx needs --out: a file such as model.onnx.", 2)
    check_model(model)
    from vanishing import load
    from vanishing.rules.rules import Rules

    fitted = load(model)
    if isinstance(fitted, Rules) and to != "sql":
        fail(f"{model} holds rules, which are written with --to sql; vanishing rules has more.", 2)
    written = LANGUAGES[to](fitted)
    if isinstance(written, bytes):
        from vanishing.persistence.files import write_atomically

        write_atomically(out, written)
    else:
        write_or_print(out, written)
