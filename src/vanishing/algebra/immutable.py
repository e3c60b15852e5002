"""Objects that are set once and never changed."""

import numpy as np


def read_only(values) -> np.ndarray:
    """Return a view of an array through which it cannot be changed."""
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view


class Immutable:
    """What is set once, in ``__init__`` through ``_set``, and never again."""

    def _set(self, **parts):
        self.__dict__.update(parts)

    def __setattr__(self, name, value):
        raise AttributeError(f"a {type(self).__name__} cannot be changed: {name} is fixed.")

    def __delattr__(self, name):
        self.__setattr__(name, None)
