"""Models on disk: a JSON document. The module of a class says what of it is saved."""

from vanishing.persistence.document import (
    ModelFileError,
    layout,
    load,
    load_with_table,
    save,
)
from vanishing.persistence.models import ModelReader, Writer, register, register_result

__all__ = [
    "ModelFileError",
    "ModelReader",
    "Writer",
    "layout",
    "load",
    "load_with_table",
    "register",
    "register_result",
    "save",
]
