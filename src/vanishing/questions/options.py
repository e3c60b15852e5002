"""What a user may choose: an option is described once, for the command line, pages and agents."""

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

LISTS = ("columns", "texts")


@dataclass(frozen=True)
class Option:
    """A choice that a user has.

    Attributes
    ----------
    name : str
        The word of the estimator: "target", "max_degree". On the command line it is ``flag``.
    kind : str
        "column", "columns", "choice", "number", "integer", "flag", "text", "texts" or "file".
    label : str
        Plain words for a page.
    help : str
    default : object
        What is taken where nothing was chosen.
    choices : tuple of str
        The values of a "choice"; of other kinds, words that are suggested.
    basic : bool
        Whether a page shows it at once; others are behind "more".
    low, high : float or None
        The range of numbers; both ends are possible.
    absent : str
        What happens where nothing was chosen, in words, if ``default`` does not say it.
    needed : bool
        Whether the question cannot be asked without it.
    usual : tuple of str
        What a column that is meant is usually called.
    """

    name: str
    kind: str
    label: str
    help: str
    default: Any = None
    choices: tuple[str, ...] = ()
    basic: bool = False
    low: float | None = None
    high: float | None = None
    absent: str = ""
    needed: bool = False
    usual: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """The option on the command line, with its two dashes."""
        return f"--{self.name.replace('_', '-')}"

    def checked(self, value):
        """Return a value as the question takes it; raise ValueError where it is not possible."""
        if self.kind in LISTS:
            values = [value] if isinstance(value, str) else value
            return tuple(str(part) for part in values or ())
        if value is None or (value == "" and self.kind != "flag"):
            return self.default
        if self.kind == "choice" and value not in self.choices:
            raise ValueError(
                f"{self.flag} must be one of {', '.join(self.choices)}; got {value!r}."
            )
        if self.kind in ("number", "integer"):
            return self._number(value)
        return bool(value) if self.kind == "flag" else value

    def _number(self, value):
        try:
            number = int(value) if self.kind == "integer" else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        if not low <= number <= high or number != float(value):
            what = "a whole number" if self.kind == "integer" else "a number"
            bounds = [f"at least {low:g}"] * (low > -math.inf)
            bounds += [f"at most {high:g}"] * (high < math.inf)
            limits = f" of {' and '.join(bounds)}" if bounds else ""
            raise ValueError(f"{self.flag} must be {what}{limits}; got {value!r}.")
        return number


@cache
def words() -> dict[str, dict[str, Any]]:
    """Return what is written about questions and options, by the name of the question."""
    text = files("vanishing.questions").joinpath("words.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def options_of(name: str, **choices: Iterable[str]) -> tuple[Option, ...]:
    """Return the options of a question, or of "reading".

    Parameters
    ----------
    name : str
    **choices : iterable of str
        Values of options that a registry knows.
    """
    known = []
    for option, details in words()[name]["options"].items():
        values = tuple(choices.get(option, details.get("choices", ())))
        help = details["help"].replace("CHOICES", ", ".join(values))
        usual = tuple(details.get("usual", ()))
        known.append(Option(option, **{**details, "help": help, "choices": values, "usual": usual}))
    return tuple(known)


def chosen(options: Iterable[Option], given: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Return the values of all options, those that were not given by default.

    Parameters
    ----------
    options : iterable of Option
    given : mapping of str to value
    what : str
        What has the options, for the error about others.
    """
    options = tuple(options)
    unknown = set(given) - {option.name for option in options}
    if unknown:
        known = ", ".join(option.name for option in options)
        raise ValueError(f"{what} has no option {min(unknown)!r}; it has {known}.")
    return {option.name: option.checked(given.get(option.name)) for option in options}


def differing(options: Iterable[Option], values: Mapping[str, Any]) -> list[tuple[Option, Any]]:
    """Return the options whose values are not the default ones, with these."""
    pairs = [(option, values.get(option.name)) for option in options]
    empty = (None, (), "")
    return [
        (option, value)
        for option, value in pairs
        if value != option.default and not (value in empty and option.default in empty)
    ]


def typed(option: Option, value) -> list[str]:
    """Return an option as the words of a command line."""
    if option.kind == "flag":
        return [option.flag if value else f"--no-{option.flag[2:]}"]
    values = value if option.kind in LISTS else (value,)
    return [word for one in values for word in (option.flag, _word(one))]


def _word(value) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)
