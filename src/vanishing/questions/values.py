"""Values of options that name columns or functions, such as ``T=0.5`` for noise."""

from collections.abc import Iterable, Sequence

import numpy as np


def noise_of(texts: Sequence[str], names: Sequence[str], target: str | None = None):
    """Return what estimators take for noise: None, a number for all columns, or one for each.

    Where numbers are given for columns and the target has none, its noise is left out, to be
    estimated; that of other columns is 0.
    """
    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        return _size_of_noise(texts[0])
    sizes = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        if not equals:
            raise ValueError(f"--noise {text!r} names no column: write COLUMN=NUMBER.")
        _check_is_used("noise", name, names)
        sizes[name] = _size_of_noise(number)
    return np.array([sizes.get(name, 0.0) for name in names if name != target or name in sizes])


def _size_of_noise(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ValueError(f"--noise must be numbers that are not negative; got {text!r}.")
    return number


def _check_is_used(option: str, name: str, names: Sequence[str]):
    if name not in names:
        raise ValueError(f"--{option} is given for {name!r}, which is no column that is used.")


def function_names(
    text: str, others: str = "", known: Iterable[str] | None = None
) -> tuple[str, ...]:
    """Return the functions that a text names, with commas between.

    Parameters
    ----------
    text : str
    others : str
        Words that are possible, too, as the error has them.
    known : iterable of str, default=None
        Names that are possible; None stands for all functions.
    """
    from vanishing.algebra.functions import FUNCTIONS

    possible = tuple(FUNCTIONS if known is None else known)
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in possible]
    if unknown or not names:
        raise ValueError(
            f"--functions must be {others}some of {', '.join(possible)} with commas between; got "
            f"{(unknown or [text])[0]!r}."
        )
    return names


def functions_of_columns(texts: Sequence[str], columns: Sequence[str]):
    """Return what `ConservedQuantities` takes for functions: of all columns, or of single ones."""
    everywhere: list[str] = []
    by_column: dict[str, list[str]] = {}
    for text in texts:
        name, equals, listed = text.rpartition("=")
        if equals:
            _check_is_used("functions", name, columns)
        (by_column.setdefault(name, []) if equals else everywhere).extend(function_names(listed))
    if by_column and everywhere:
        raise ValueError(
            "--functions is given for all columns and for single ones: choose one way."
        )
    return {name: tuple(words) for name, words in by_column.items()} or tuple(everywhere)
