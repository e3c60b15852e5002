"""From moments to generators: OAVI, ABM, AVI, VCA and the exact algorithm."""

from importlib import import_module

# Those that take rows of any kind of number: the module and its class.
CONSTRUCTIONS = {"oavi": "OAVI", "abm": "ABM", "avi": "AVI", "vca": "VCA"}


def construction(name: str) -> type:
    """Return the class of a construction by its name in `CONSTRUCTIONS`; imports no other."""
    return getattr(import_module(f"{__name__}.{name}"), CONSTRUCTIONS[name])
