"""The values of psi and C that a search tries, as far as they are known before."""

from typing import NamedTuple

from vanishing.checks import check_number
from vanishing.learning import settings


class SearchGrid(NamedTuple):
    """Values to try."""

    psis: list[float] | None  # None: psi goes down while it pays
    Cs: list[float]  # growing
    first_Cs: list[float]


def is_auto(value) -> bool:
    """Say whether the choice is left to the search."""
    return isinstance(value, str) and value == "auto"


def search_grid(psis, Cs) -> SearchGrid:
    """Return the values that the parameters ``psis`` and ``Cs`` of a search stand for.

    Raises TypeError or ValueError unless they are valid.
    """
    if is_auto(Cs):
        every_C, first = sorted((*settings.CS, *settings.CS_BETWEEN)), list(settings.CS)
    else:
        every_C = first = sorted(_numbers("Cs", Cs))
    for C in every_C:
        check_number("every C of Cs", C, low=0, low_open=True)
    if is_auto(psis):
        return SearchGrid(None, every_C, first)
    every_psi = _numbers("psis", psis)
    for psi in every_psi:
        check_number("every psi of psis", psi, low=0, high=1, high_open=True)
    return SearchGrid(every_psi, every_C, first)


def _numbers(name: str, argument) -> list[float]:
    try:
        if isinstance(argument, str):
            raise TypeError
        values = [float(value) for value in argument]
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must be 'auto' or a sequence of numbers; got {argument!r}."
        ) from None
    if not values:
        raise ValueError(f"{name} is empty: give at least one value to try.")
    return list(dict.fromkeys(values))  # each once
