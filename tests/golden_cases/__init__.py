"""The cases of golden.py, registered when this is imported: a module for each kind."""

from golden_cases import (  # noqa: F401
    classification,
    commands,
    constructions,
    errors,
    files,
    laws,
    printed,
)
