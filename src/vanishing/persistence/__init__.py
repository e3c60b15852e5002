"""Models on disk: a document of values. A class says beside itself what of it is saved."""

from vanishing.persistence.document import ModelFileError, Savable, layout, load, save
from vanishing.persistence.models import Reader, Writer, register

__all__ = ["ModelFileError", "Reader", "Savable", "Writer", "layout", "load", "register", "save"]
