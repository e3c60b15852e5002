"""Rows in memory as scikit-learn validates them, with errors that name the column."""

from contextlib import contextmanager

import numpy as np
from sklearn import get_config
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from vanishing._threads import n_threads, spread

_DTYPES = [np.float64, np.float32]
_NO_LABELS = "no_validation"  # scikit-learn's word for it
_SHOWN = 40  # characters of a value that a message shows
_LARGE = 1 << 23  # bytes of rows that several threads look at, so many rows at a time
_PIECE = 1 << 17


def validated(estimator, X, y=_NO_LABELS, *, reset=True):
    """Return rows as float64 or float32 (with labels if given), or say what is wrong with them."""
    options = {"reset": reset, "dtype": _DTYPES}
    with naming_text(X):
        if (
            getattr(X, "nbytes", 0) > _LARGE
            and n_threads() > 1
            and not get_config()["assume_finite"]
        ):
            found = validate_data(estimator, X, y, ensure_all_finite=False, **options)
            if _is_finite(found if isinstance(found, np.ndarray) else found[0]):
                return found
        # An array has no names, and nothing else is to be compared: looking for them would take
        # as long as a small fit's moments.
        if (
            type(X) is np.ndarray
            and y is _NO_LABELS
            and not hasattr(estimator, "feature_names_in_")
        ):
            checked = check_array(X, dtype=_DTYPES, estimator=estimator, input_name="X")
            if reset:
                estimator.n_features_in_ = checked.shape[1]
            if checked.shape[1] == estimator.n_features_in_:
                return checked
        return validate_data(estimator, X, y, **options)


def _is_finite(X: np.ndarray) -> bool:
    """Say whether all entries are finite, in several threads: no if their sums overflow."""
    cuts = [slice(start, start + _PIECE) for start in range(0, len(X), _PIECE)]
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(spread(lambda here: np.sum(X[here]), cuts)).all())


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
