"""Cells and the meaning of their text: numbers as people write them, units, yes and no, dates."""

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

import numpy as np

from vanishing.tables.errors import shortened

# Texts for a missing value, in lower case, and what spreadsheets write for errors.
_NOTHING = ("", "-", "--", "---", "?", ".", "*", "na", "n/a", "n.a.", "nan", "null", "none", "nil")
_NOT_DETERMINED = ("n.d.", "n. d.", "n/d", "nd")
_ERRORS = ("#na", "#n/a", "#value!", "#div/0!", "#ref!", "#num!", "#name?")
_MISSING = frozenset((*_NOTHING, *_NOT_DETERMINED, *_ERRORS, "missing", "<na>"))
_FLAGS = [("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"), ("off", "on")]
_CURRENCIES = "$€£¥"
_TOGETHER = 1000  # cells that become numbers at a time
_LONG = 60  # characters; a longer text is no number with a unit, and takes long to match
_SPACES = " \u00a0\u202f\u2009"  # with the non-breaking ones
EXACT = 2.0**53  # beyond it, not every whole number is a float
_MARKS = {".": f",'\u2019{_SPACES}", ",": f".'\u2019{_SPACES}"}  # between thousands
_GROUPED = {
    decimal: re.compile(
        rf"[+-]?[0-9]{{1,3}}(?:([{re.escape(marks)}])[0-9]{{3}})(?:\1[0-9]{{3}})*"
        rf"(?:{re.escape(decimal)}[0-9]*)?"
    )
    for decimal, marks in _MARKS.items()
}
# A unit begins with a character that numbers, dates and times do not have; digits may follow: m^2.
_MEASURED = re.compile(
    rf"([{_CURRENCIES}]?)\s*([+-]?[0-9.][0-9.,'\u2019{_SPACES}]*(?:[eE][+-]?[0-9]+)?)"
    rf"\s*([^\s0-9.,:;/+'\-][^\s,;:]{{0,15}})?"
)
_TIME = (
    r"(?:(?:T|\s+)([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?"
    r"\s*([AaPp][Mm]|Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_YEAR_FIRST = re.compile(rf"([0-9]{{4}})([-/.])([0-9]{{1,2}})\2([0-9]{{1,2}}){_TIME}")
_YEAR_LAST = re.compile(rf"([0-9]{{1,2}})([-/.])([0-9]{{1,2}})\2([0-9]{{4}}){_TIME}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECONDS = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86400.0, "years": 31557600.0}


class ColumnCells:
    """Cells of a column as they were read, block by block.

    Parameters
    ----------
    blocks : sequence of ndarray
        Of float64; or of text, perhaps with numbers among it.
    typed : bool
        Whether the file says which cells are numbers; if not, all its cells are text.
    """

    def __init__(self, blocks: Sequence[np.ndarray], *, typed: bool = True):
        self.blocks = list(blocks)
        self.typed = typed
        self._numbers: dict[str | None, np.ndarray] = {}  # by decimal sign

    def __len__(self):
        return sum(map(len, self.blocks))

    @property
    def is_text(self) -> bool:
        """Whether there is text among the cells."""
        return any(block.dtype == object for block in self.blocks)

    @property
    def is_mixed(self) -> bool:
        """Whether some blocks came as numbers, whose text is needed if the column holds text."""
        return not self.typed and len({block.dtype for block in self.blocks}) > 1

    def numbers(self, decimal: str | None) -> np.ndarray:
        """Return the cells as numbers, NaN where a cell is not a number; text has this sign."""
        if decimal not in self._numbers:
            self._numbers[decimal] = np.concatenate(
                [
                    block if block.dtype != object else numbers_of(block.tolist(), decimal)
                    for block in self.blocks
                ]
            )
        return self._numbers[decimal]

    def at(self, rows: np.ndarray) -> list:
        """Return the cells of these rows."""
        starts = np.cumsum([0, *map(len, self.blocks)])
        which = np.searchsorted(starts, rows, side="right") - 1
        pairs = zip(which.tolist(), (rows - starts[which]).tolist(), strict=True)
        return [self.blocks[i].item(j) for i, j in pairs]

    def texts(self) -> list[str]:
        """Return the cells as text."""
        return [cell_text(cell) for block in self.blocks for cell in block.tolist()]


def cell_text(value) -> str:
    """Return a cell as text, "" if it is empty.

    Whole numbers get no decimal point, as in the window of a workbook.
    """
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def as_float(value) -> float:
    """Return a cell as a number, NaN if it is not one; pandas reads some text as huge integers."""
    try:
        _check_characters(str(value))
        return float(value)
    except (TypeError, ValueError):
        return np.nan
    except OverflowError:
        return np.inf


def _check_characters(text: str) -> None:
    # Python's float also reads 1_000 and the digits of all scripts.
    if not text.isascii() or "_" in text:
        raise ValueError("it has characters that no number has")


def is_missing(text: str) -> bool:
    """Say whether a cell has no value, in one of the usual spellings."""
    return text.strip().casefold() in _MISSING


def number(text: str, decimal: str | None) -> float:
    """Return a cell as a number, NaN if it is not one.

    Parameters
    ----------
    text : str
    decimal : {".", ","} or None
        With one of them, marks between thousands are allowed as well: 1,234.5 or 1.234,5.

    Examples
    --------
    >>> from vanishing.tables.cells import number
    >>> number("1,234.5", "."), number("1.234,5", ","), number("1,5", None)
    (1234.5, 1234.5, nan)
    """
    text = text.strip().replace("\u2212", "-")
    if decimal is not None:
        if _GROUPED[decimal].fullmatch(text):
            text = re.sub(f"[{re.escape(_MARKS[decimal])}]", "", text)
        if decimal == ",":
            text = text.replace(".", "?").replace(",", ".")  # a point is not the decimal sign
    return as_float(text)


def numbers_of(cells: list, decimal: str | None) -> np.ndarray:
    """Return cells as numbers, NaN where a cell is not a number.

    Parameters
    ----------
    cells : list
        Of text and of numbers; numbers stay as they are.
    decimal : {".", ","} or None
        In text, as `number` takes it.
    """
    numbers = np.empty(len(cells))
    for start in range(0, len(cells), _TOGETHER):
        part = cells[start : start + _TOGETHER]
        numbers[start : start + len(part)] = _numbers_together(part, decimal)
    return numbers


def _numbers_together(cells: list, decimal: str | None) -> list[float]:
    """Return what `numbers_of` returns, faster if all cells are numbers as Python writes them."""
    try:
        _check_characters("".join(cells))
        if decimal != ",":
            return [float(cell) for cell in cells]
        if not any("." in cell for cell in cells):
            return [float(cell.replace(",", ".")) for cell in cells]
    except (TypeError, ValueError):
        pass
    return [number(cell, decimal) if isinstance(cell, str) else as_float(cell) for cell in cells]


def problem_of(value) -> str:
    """Return the end of a sentence: what is wrong with a value that is not a finite number."""
    text = "" if value is None else str(value)
    if not text.strip():
        return "the cell is empty"
    shown = repr(shortened(text))
    if re.fullmatch(r"\s*[+-]?\d+,\d+\s*", text):
        return f"{shown} is not a number (it has a comma; use a point)"
    value = as_float(text)
    if np.isnan(value) and text.strip().lower().lstrip("+-") != "nan":
        return f"{shown} is not a number"
    if np.isfinite(value):
        return f"{shown} has no unit, or another one than the other cells"
    return f"{str(value)!r} is not a finite number"


def measured(text: str, decimal: str | None) -> tuple[float, str]:
    """Return the number in a cell, NaN without one, and its unit or sign, such as kg or %."""
    match = _MEASURED.fullmatch(text.strip().replace("\u2212", "-")) if len(text) < _LONG else None
    if match is None:
        return float("nan"), ""
    return number(match[2], decimal), match[1] + (match[3] or "")


def flags_of(words) -> dict[str, float] | None:
    """Return the numbers that words such as yes and no stand for; None for other words."""
    lower_case = {word.strip().casefold() for word in words}
    for no, yes in _FLAGS:
        if lower_case and lower_case <= {no, yes}:
            return {no: 0.0, yes: 1.0}
    return None


def is_date(text: str) -> bool:
    """Say whether a cell may be a date, perhaps with a time."""
    text = text.strip()
    return bool(_YEAR_FIRST.fullmatch(text) or _YEAR_LAST.fullmatch(text))


def is_value(text: str) -> bool:
    """Say whether a cell may be a number, with any decimal sign, or a date."""
    signs = (None, ",", ".")
    return any(not math.isnan(measured(text, sign)[0]) for sign in signs) or is_date(text)


def order_of(dates) -> str | None:
    """Return the order of dates with the year last, "dmy" or "mdy"; None if both are possible."""
    matches = [match for text in dates if (match := _YEAR_LAST.fullmatch(text.strip()))]
    if all(match[2] == "." for match in matches) or any(int(match[1]) > 12 for match in matches):
        return "dmy"
    return "mdy" if any(int(match[3]) > 12 for match in matches) else None


def seconds_of(text: str, order: str) -> float:
    """Return a date as seconds since 1970, in UTC unless it names a zone; NaN if it is no date.

    Parameters
    ----------
    text : str
    order : {"dmy", "mdy"}
        The order of day and month where the year comes last.
    """
    text = text.strip()
    if match := _YEAR_FIRST.fullmatch(text):
        year, month, day = match[1], match[3], match[4]
    elif match := _YEAR_LAST.fullmatch(text):
        day, month = (match[1], match[3]) if order == "dmy" else (match[3], match[1])
        year = match[4]
    else:
        return float("nan")
    hours, minutes, seconds, zone = match.groups()[4:]
    hour = int(hours or 0)
    if (zone or "").lower() in ("am", "pm"):
        hour = hour % 12 + 12 * (zone.lower() == "pm")
    try:
        start = datetime(int(year), int(month), int(day), tzinfo=_zone(zone))
        moment = start + timedelta(hours=hour, minutes=int(minutes or 0))
        return (moment - _EPOCH).total_seconds() + float(seconds or 0)
    except (ValueError, OverflowError):  # there is no 30 February
        return float("nan")


def _zone(text: str | None) -> timezone:
    if not text or text[0] not in "+-":
        return UTC
    minutes = 60 * int(text[1:3]) + int(text[-2:])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))


def day_of(seconds: float) -> str:
    """Write a moment, given in seconds since 1970, as text that `seconds_of` reads."""
    moment = (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None)
    return str(moment) if seconds % 86400 else str(moment.date())
