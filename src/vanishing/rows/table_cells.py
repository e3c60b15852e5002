"""What cells of text mean: numbers as people write them, units, yes and no, dates, nothing."""

import re
from datetime import UTC, datetime, timedelta, timezone

import numpy as np

from vanishing.rows.table_base import as_float, check_characters, text_of

# How cells say that there is no value, in small letters, and what spreadsheets write for errors.
_NOTHING = ("", "-", "--", "---", "?", ".", "*", "na", "n/a", "n.a.", "nan", "null", "none", "nil")
_NOT_DETERMINED = ("n.d.", "n. d.", "n/d", "nd")
_ERRORS = ("#na", "#n/a", "#value!", "#div/0!", "#ref!", "#num!", "#name?")
_MISSING = frozenset((*_NOTHING, *_NOT_DETERMINED, *_ERRORS, "missing", "<na>"))
_FLAGS = [("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"), ("off", "on")]
_CURRENCIES = "$€£¥"
_TOGETHER = 1000  # cells that become numbers at a time
_LONG = 60  # characters of what is no number with a unit, and takes long to be looked at
_SPACES = " \u00a0\u202f\u2009"  # also those that do not break a line
_MARKS = {".": f",'\u2019{_SPACES}", ",": f".'\u2019{_SPACES}"}  # between thousands
_GROUPED = {
    decimal: re.compile(
        rf"[+-]?[0-9]{{1,3}}(?:([{re.escape(marks)}])[0-9]{{3}})(?:\1[0-9]{{3}})*"
        rf"(?:{re.escape(decimal)}[0-9]*)?"
    )
    for decimal, marks in _MARKS.items()
}
# A unit begins with what is no part of numbers, dates and times, and may go on with digits: m^2.
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


def is_missing(text: str) -> bool:
    """Say whether a cell has no value, in one of the usual spellings."""
    return text.strip().casefold() in _MISSING


def cell_text(value) -> str:
    """Return a cell as text; a workbook has no whole numbers, only some shown without a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else text_of(value)


def number(text: str, decimal: str | None) -> float:
    """Return a cell as a number, NaN if it is none.

    Parameters
    ----------
    text : str
    decimal : {".", ","} or None
        With one of them, marks between thousands are allowed as well: 1,234.5 or 1.234,5.

    Examples
    --------
    >>> from vanishing.rows.table_cells import number
    >>> number("1,234.5", "."), number("1.234,5", ","), number("1,5", None)
    (1234.5, 1234.5, nan)
    """
    text = text.strip().replace("\u2212", "-")
    if decimal is not None:
        if _GROUPED[decimal].fullmatch(text):
            text = re.sub(f"[{re.escape(_MARKS[decimal])}]", "", text)
        if decimal == ",":
            text = text.replace(".", "?").replace(",", ".")  # a point is not the decimal one
    return as_float(text)


def numbers_of(cells: list, decimal: str | None) -> np.ndarray:
    """Return cells as numbers, NaN where one is none.

    Parameters
    ----------
    cells : list
        Of text, and of numbers, which stay what they are whatever sign comes before decimals.
    decimal : {".", ","} or None
        In text, as of `number`.
    """
    found = np.empty(len(cells))
    for start in range(0, len(cells), _TOGETHER):
        part = cells[start : start + _TOGETHER]
        found[start : start + len(part)] = _numbers_together(part, decimal)
    return found


def _numbers_together(cells: list, decimal: str | None) -> list[float]:
    """Return what `numbers_of` says, quickly where all cells are numbers as Python writes them."""
    try:
        check_characters("".join(cells))
        if decimal != ",":
            return [float(cell) for cell in cells]
        if not any("." in cell for cell in cells):
            return [float(cell.replace(",", ".")) for cell in cells]
    except (TypeError, ValueError):
        pass
    return [number(cell, decimal) if isinstance(cell, str) else as_float(cell) for cell in cells]


def measured(text: str, decimal: str | None) -> tuple[float, str]:
    """Return the number in a cell, NaN if there is none, and its unit or sign, such as kg or %."""
    match = _MEASURED.fullmatch(text.strip().replace("\u2212", "-")) if len(text) < _LONG else None
    if match is None:
        return float("nan"), ""
    return number(match[2], decimal), match[1] + (match[3] or "")


def flags_of(words) -> dict[str, float] | None:
    """Return what words of a column mean if they are yes and no or the like, or else None."""
    small = {word.strip().casefold() for word in words}
    for no, yes in _FLAGS:
        if small and small <= {no, yes}:
            return {no: 0.0, yes: 1.0}
    return None


def is_date(text: str) -> bool:
    """Say whether a cell may be a date, perhaps with a time."""
    text = text.strip()
    return bool(_YEAR_FIRST.fullmatch(text) or _YEAR_LAST.fullmatch(text))


def order_of(dates) -> str | None:
    """Return "dmy" or "mdy", as dates with the year last have it, or None if both may be."""
    matches = [match for text in dates if (match := _YEAR_LAST.fullmatch(text.strip()))]
    if all(match[2] == "." for match in matches) or any(int(match[1]) > 12 for match in matches):
        return "dmy"
    return "mdy" if any(int(match[3]) > 12 for match in matches) else None


def seconds_of(text: str, order: str) -> float:
    """Return a date as seconds since 1970, of UTC unless it says another zone; NaN if it is none.

    Parameters
    ----------
    text : str
    order : {"dmy", "mdy"}
        Of the parts where the year is the last.
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
        found = start + timedelta(hours=hour, minutes=int(minutes or 0))
        return (found - _EPOCH).total_seconds() + float(seconds or 0)
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
