"""Models on disk: a document of values. A class says beside itself what of it is saved."""

from vanishing.persistence.document import ModelFileError, Savable, layout, load, save
from vanishing.persistence.models import INPUT, Reader, Writer, register
from vanishing.persistence.scikit_learn import n_decisions
from vanishing.persistence.values import (
    Refused,
    fields,
    integer,
    listed,
    string,
    write_array,
    write_float,
    write_terms,
)

__all__ = [
    "INPUT",
    "ModelFileError",
    "Reader",
    "Refused",
    "Savable",
    "Writer",
    "fields",
    "integer",
    "layout",
    "listed",
    "load",
    "n_decisions",
    "register",
    "save",
    "string",
    "write_array",
    "write_float",
    "write_terms",
]
