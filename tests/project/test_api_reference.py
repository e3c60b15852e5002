"""The reference: every public class and function has links to others, and all lead somewhere."""

import importlib
import inspect
import re
import types

import pytest

import vanishing


def public():
    """Yield the name, the module and the value of every public class and function."""
    for name in vanishing.__all__:
        value = getattr(vanishing, name)
        if isinstance(value, types.ModuleType):
            for inner in getattr(value, "__all__", ()):
                yield f"{name}.{inner}", value, getattr(value, inner)
        else:
            yield name, vanishing, value


PUBLIC = {
    name: (module, value)
    for name, module, value in public()
    if inspect.isclass(value) or inspect.isfunction(value)
}


def links(value):
    """Return the names below "See Also" of a docstring."""
    text = inspect.getdoc(value) or ""
    match = re.search(r"^See Also\n-+\n(.*?)(?:\n\n[A-Z][\w ]+\n-+\n|\Z)", text, re.M | re.S)
    if match is None:
        return []
    lines = [line for line in match[1].splitlines() if line.strip() and line[0] != " "]
    return [name.strip() for line in lines for name in line.split(" : ")[0].split(",")]


def leads_somewhere(name, module, value):
    """Say whether a name is one of the class, its module, the package, or can be imported."""
    first, *rest = name.split(".")
    for place in (value, module, vanishing, inspect.getmodule(value)):
        found = getattr(place, first, None)
        for part in rest:
            found = getattr(found, part, None)
        if found is not None:
            return True
    for k in range(len(rest), 0, -1):
        try:
            found = importlib.import_module(".".join([first, *rest[: k - 1]]))
        except ImportError:
            continue
        for part in rest[k - 1 :]:
            found = getattr(found, part, None)
        if found is not None:
            return True
    return False


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_links_that_lead_somewhere(name):
    module, value = PUBLIC[name]
    found = links(value)
    assert found, "has no section See Also"
    dead = [link for link in found if not leads_somewhere(link, module, value)]
    assert not dead
