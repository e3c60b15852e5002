"""A model in the language of another system."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Language(NamedTuple):
    """A language: the ending of its files, what a page calls it, and who writes it."""

    ending: str
    label: str
    media_type: str
    write: Callable[[Any], str | bytes]
    is_text: bool = True


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
    from vanishing.questions.models import answer_of

    answer = answer_of(model)
    lines = [*(f"% {line}" for line in answer.verdict.splitlines())]
    return "\n".join([*lines, *(equation.latex for equation in answer.equations), ""])


def _onnx(model) -> bytes:
    from vanishing.export import to_onnx

    return to_onnx(model).SerializeToString()


# By the word that is typed behind --to.
LANGUAGES: dict[str, Language] = {
    "sql": Language(".sql", "SQL", "application/sql", _sql),
    "c": Language(".c", "C", "text/x-c", _c),
    "python": Language(".py", "Python", "text/x-python", _python),
    "onnx": Language(".onnx", "ONNX", "application/octet-stream", _onnx, is_text=False),
    "latex": Language(".tex", "LaTeX", "application/x-tex", _latex),
    "torch": Language("_torch.py", "PyTorch", "text/x-python", _torch),
}


def exported(model, language: str) -> str | bytes:
    """Return a model in a language of `LANGUAGES`; raise ValueError where that cannot be."""
    from vanishing import VanishingRepair
    from vanishing.rules.rules import Rules

    if isinstance(model, Rules) and language != "sql":
        raise ValueError("these are rules, which --to sql writes; vanishing rules writes more.")
    if isinstance(model, VanishingRepair):
        raise ValueError(
            "A repair cannot be written for other systems. vanishing predict repairs other tables; "
            "vanishing rules writes laws of a table as checks of a database."
        )
    return LANGUAGES[language].write(model)
