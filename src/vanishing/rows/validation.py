"""Rows in memory as scikit-learn validates them, with errors that name the column."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta

import numpy as np
from sklearn import get_config
from sklearn.base import is_regressor
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d, validate_data

from vanishing._threads import n_threads, spread
from vanishing.rows import arrays

_DTYPES = [np.float64, np.float32]
_NO_LABELS = "no_validation"  # scikit-learn's word for a missing y
_ABOUT_VALUES = ("convert", "cast", "NaN", "infinity", "Complex")  # in errors about values
_NUMBERS = ("f", "i", "u", "b")  # kinds of NumPy, as are the next
_TIMES = {
    "M": ("dates", "give the time since a date: (dates - dates.min()).dt.total_seconds()"),
    "m": ("durations", "give them in seconds: durations.dt.total_seconds()"),
}
_GAP_REMEDY = "Drop them, or fill them in; but values that are filled in obey no law."
_SHOWN = 40  # characters of a value that a message shows
_LARGE = 1 << 23  # bytes from which on several threads look at rows
_PIECE = 1 << 17  # rows that a thread looks at at a time


def takes_gaps(estimator) -> bool:
    """Say whether an estimator takes rows with missing cells."""
    return getattr(estimator, "takes_gaps", False)


def finiteness(gaps: bool) -> bool | str:
    """Return scikit-learn's word for what cells may be: all finite, or also missing."""
    return "allow-nan" if gaps else True


def validated(estimator, X, y=_NO_LABELS, *, reset=True):
    """Return rows as float64 or float32, with labels if there are any, or raise an error.

    An estimator may have an attribute ``gap_remedy``: what is said of cells that are missing.
    """
    finite = finiteness(takes_gaps(estimator))
    options = {"reset": reset, "dtype": _DTYPES}
    target = y if y is not _NO_LABELS and is_regressor(estimator) else None
    with naming_text(
        X, target, "" if takes_gaps(estimator) else getattr(estimator, "gap_remedy", None)
    ):
        if target is not None and _kind(target) not in _NUMBERS:
            y = column_or_1d(target, dtype=np.float64)
        if (
            getattr(X, "nbytes", 0) > _LARGE
            and n_threads() > 1
            and not get_config()["assume_finite"]
        ):
            rows = validate_data(estimator, X, y, ensure_all_finite=False, **options)
            if _is_finite(rows if isinstance(rows, np.ndarray) else rows[0]):
                return rows
        # An array has no names to compare: looking for them would take as long as the moments of a
        # small fit.
        if (
            type(X) is np.ndarray
            and y is _NO_LABELS
            and not hasattr(estimator, "feature_names_in_")
        ):
            checked = check_array(
                X, dtype=_DTYPES, estimator=estimator, input_name="X", ensure_all_finite=finite
            )
            if reset:
                estimator.n_features_in_ = checked.shape[1]
            if checked.shape[1] == estimator.n_features_in_:
                return checked
        return validate_data(estimator, X, y, ensure_all_finite=finite, **options)


def _is_finite(X: np.ndarray) -> bool:
    """Say whether all entries are finite, in several threads: no if their sums overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = spread(lambda cut: np.sum(X[cut]), arrays.slices(len(X), _PIECE))
        return bool(np.isfinite(sums).all())


@contextmanager
def naming_text(X, y=None, gap_remedy=None):
    """Name column and first row in errors about values that are not finite numbers.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), default=None
        A target of numbers.
    gap_remedy : str, default=None
        What to do about missing cells; "" where they are allowed.
    """
    remedy = _GAP_REMEDY if gap_remedy is None else gap_remedy
    if _kind(X) in _TIMES or _kind(y) in _TIMES:  # NumPy would read them as huge integers
        refuse_values(X, y, remedy)
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        if not isinstance(error, ValueError) or any(word in str(error) for word in _ABOUT_VALUES):
            refuse_values(X, y, remedy, error)
        raise


def _kind(values) -> str:
    """Return NumPy's kind of an array, or of the first column of a frame; "" if unknown."""
    dtype = getattr(values, "dtype", None)
    if dtype is None and hasattr(values, "iloc") and len(values.columns):
        dtype = values.dtypes.iloc[0]
    return getattr(dtype, "kind", "")


def refuse_values(X, y=None, gap_remedy=_GAP_REMEDY, cause=None) -> None:
    """Raise an error about the first column with values that are not finite numbers, if any."""
    columns = [(f"column {name!r} of X", values) for name, values in _columns(X)]
    if y is not None:
        columns.append(("y", np.ravel(np.asarray(y))))
    for what, values in columns:
        problem = _problem(what, values, gap_remedy)
        if problem is not None:
            raise problem from cause


def _columns(X) -> Iterator[tuple[object, np.ndarray]]:
    """Yield the name, or place, and the values of each column of X."""
    if hasattr(X, "iloc"):  # by place, as names may occur twice
        for j, name in enumerate(getattr(X, "columns", ())):
            yield name, np.asarray(X.iloc[:, j])
        return
    names = getattr(X, "columns", None)
    table = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    for j, column in enumerate(table.T if table.ndim == 2 else ()):
        yield (j if names is None else names[j]), column


def _problem(what: str, values: np.ndarray, gap_remedy: str) -> Exception | None:
    """Return an error about values that are not finite numbers, with a remedy; None if all are."""
    kind = values.dtype.kind
    if kind in _TIMES:
        return ValueError(_no_numbers(what, *_TIMES[kind]))
    if kind == "c":
        return ValueError(
            f"Complex data not supported: {what} holds numbers such as "
            f"{values[np.abs(values.imag).argmax()]}. Give real and imaginary parts as columns of "
            "their own."
        )
    if kind in "iub":
        return None
    numbers = values
    if kind != "f":
        numbers = np.full(len(values), np.nan)
        for i, value in enumerate(values.tolist()):
            try:
                numbers[i] = float(value)
            except OverflowError:
                numbers[i] = np.inf
            except (TypeError, ValueError):
                if not _is_missing(value):
                    return _no_number(what, value)
    for word, bad, remedy in (
        ("NaN", np.isnan(numbers), gap_remedy),
        ("infinity", np.isinf(numbers), "Correct them, or drop them."),
    ):
        if bad.any() and remedy:
            table, where = ("y", "") if what == "y" else ("X", f" in {what.removesuffix(' of X')}")
            rows = f"{bad.sum()} of {len(bad)} rows{where}, the first of them row {bad.argmax()}"
            return ValueError(f"Input {table} contains {word}: {rows}. {remedy}")
    return None


def _no_numbers(what: str, content: str, remedy: str) -> str:
    """Return a message that a column, or y, does not hold numbers."""
    if what != "y":
        what, remedy = what.replace("column", "Column", 1), f"leave it out, or {remedy}"
    return f"{what} holds {content}, not numbers. {remedy[0].upper()}{remedy[1:]}."


def _is_missing(value) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType")  # of pandas


def are_missing(values: np.ndarray) -> np.ndarray:
    """Say which labels are missing: None, NaN, infinity, NA and NaT."""
    if values.dtype.kind == "f":
        return ~np.isfinite(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    missing = (_is_missing(v) or (isinstance(v, float) and v != v) for v in values.tolist())
    return np.fromiter(missing, dtype=bool, count=len(values))


def _no_number(what: str, value) -> Exception:
    """Return an error about a value that is not a number."""
    if isinstance(value, (date, timedelta)):  # those of pandas, too
        return ValueError(_no_numbers(what, *_TIMES["M" if isinstance(value, date) else "m"]))
    if isinstance(value, str):
        content = f"strings such as {value[:_SHOWN]!r}"
        return ValueError(_no_numbers(what, content, "encode it as numbers"))
    content = f"{type(value).__name__} such as {repr(value)[:_SHOWN]}"
    message = _no_numbers(what, content, "encode it as numbers")
    # In scikit-learn's words, which its checks of estimators look for.
    return TypeError(f"{message} (An argument must be a string or a real number.)")
