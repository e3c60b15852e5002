"""Rows in memory as scikit-learn validates them, with errors that name the column."""

from contextlib import contextmanager

import numpy as np
from sklearn.utils.validation import validate_data

_SHOWN = 40  # characters of a value that a message shows


def validated(estimator, X, y="no_validation", *, reset=True):
    """Return rows as float64 or float32 (with labels if given), or say what is wrong with them."""
    with naming_text(X):
        return validate_data(estimator, X, y, reset=reset, dtype=[np.float64, np.float32])


@contextmanager
def naming_text(X):
    """Let an error about text that is no number name its column."""
    try:
        yield
    except ValueError as error:
        found = _text_column(X) if "convert" in str(error) else None
        if found is None:
            raise
        raise ValueError(
            f"Column {found[0]!r} of X holds strings such as {found[1][:_SHOWN]!r}, not numbers. "
            "Leave it out, or encode it as numbers."
        ) from error


def _text_column(X) -> tuple[object, str] | None:
    """Return the first column that holds text which is no number, and such a text."""
    names = getattr(X, "columns", None)
    table = np.asarray(X, dtype=object)
    for j, column in enumerate(table.T if table.ndim == 2 else ()):
        for value in column:
            if isinstance(value, str):
                try:
                    float(value)
                except ValueError:
                    return (j if names is None else names[j]), value
    return None
