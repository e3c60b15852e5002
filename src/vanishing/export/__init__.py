"""Fitted models for other systems: the source of a Python module or of a C function."""

from vanishing.export.c import to_c
from vanishing.export.python import to_python

__all__ = ["to_c", "to_python"]
