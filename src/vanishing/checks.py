"""Checks of arguments: a TypeError or ValueError that says what was wrong and what to do."""

import numbers
from collections.abc import Container, Iterable

import numpy as np


def check_number(name, value, *, low, high=np.inf, integer=False, low_open=False, high_open=False):
    """Raise TypeError or ValueError unless ``value`` is a number in the given range."""
    high_open = high_open or high == np.inf
    above = below = False
    fits = isinstance(value, numbers.Integral if integer else numbers.Real)
    fits = fits and not isinstance(value, (bool, np.bool_))
    if fits:
        above = value > low if low_open else value >= low
        below = value < high if high_open else value <= high
    if not (above and below):  # NaN is neither
        first, last = "(" if low_open else "[", ")" if high_open else "]"
        raise (ValueError if fits else TypeError)(
            f"{name} must be {'an integer' if integer else 'a number'} in {first}{low}, "
            f"{high}{last}; got {value!r}."
        )


def install(extra: str) -> str:
    """Return the command that installs the packages of an extra, for messages."""
    return f'python -m pip install ".[{extra}]" in the folder of vanishing'


def check_choice(name, value, choices):
    """Raise ValueError unless ``value`` is one of the strings in ``choices``."""
    if not (isinstance(value, str) and value in choices):
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.")


def check_flag(name, value):
    """Raise TypeError unless ``value`` is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False; got {value!r}.")


def per_column(name: str, values, n_features: int) -> np.ndarray:
    """Return non-negative numbers, one for each column, from one for all of them or from several.

    Raises
    ------
    ValueError
        If they are not that.
    """
    try:
        numbers = np.asarray(values)
    except ValueError:  # lists of different lengths
        numbers = np.zeros(0)
    if (
        numbers.dtype.kind not in "iuf"
        or numbers.shape not in ((), (n_features,))
        or not (np.isfinite(numbers) & (numbers >= 0)).all()
    ):
        raise ValueError(
            f"{name} must be a number, or one for each of the {n_features} columns, and not "
            f"negative; got {values!r}."
        )
    return np.full(n_features, numbers, dtype=np.float64)


def check_nonnegative(sample_weight, n_samples) -> np.ndarray:
    """Return sample weights as a float64 array with one entry per row, none of them negative."""
    from sklearn.utils import check_array  # inside: scikit-learn takes a second to import

    weight = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one entry per row, shape ({n_samples},); got {weight.shape}."
        )
    if weight.min() < 0:
        raise ValueError("sample_weight must not be negative.")
    return weight


def check_weights(sample_weight, n_samples) -> np.ndarray | None:
    """Return sample weights as a float64 array, or None where all rows count alike."""
    if sample_weight is None:
        return None
    weight = check_nonnegative(sample_weight, n_samples)
    if not weight.any():
        raise ValueError(
            "sample_weight must not be zero on all rows: no row would count, of any class."
        )
    unit = weight_unit(weight.max())
    return weight if unit == 1.0 else weight / unit


def weight_unit(largest: float) -> float:
    """Return a unit of weights in which their sums neither overflow nor vanish; means stay."""
    extreme = 0 < largest < 1e-100 or 1e100 < largest < np.inf
    return float(largest) if extreme else 1.0


def too_large(what: str, n_bytes: int) -> str | None:
    """Return a message that something exceeds scikit-learn's working memory; None if it fits."""
    from sklearn import get_config

    limit = get_config()["working_memory"]
    if n_bytes <= limit * 2**20:
        return None
    return (
        f"{what} would need about {n_bytes / 2**20:.0f} MiB, more than the working memory of "
        f"{limit} MiB. Take a larger psi, bound max_degree or max_terms, or raise "
        "sklearn.set_config(working_memory=...)"
    )


def check_registered(what: str, name: str, registry: Iterable[str], own: Container[str]) -> None:
    """Raise ValueError unless a user has registered a name."""
    names = [known for known in registry if known not in own]
    if name not in names:
        known = ", ".join(map(repr, names)) or "none"
        raise ValueError(f"{name!r} is no {what} that was registered; these are: {known}.")
