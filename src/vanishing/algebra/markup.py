"""Text, names and numbers in HTML: names and labels are text there, never markup."""

import html
import math
import re
from fractions import Fraction

_NAME = 32  # characters of a name
MINUS = "\u2212"
THIN_SPACE = "\u2009"
# What no page may hold: control characters but tab and new line, halves of surrogate pairs.
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def clean(value, limit=None) -> str:
    """Return anything as text that a page may hold, the middle left out where it is long."""
    shown = _FORBIDDEN.sub("\ufffd", str(value))
    if limit is not None and len(shown) > limit:
        tail = limit // 3
        shown = f"{shown[: limit - tail - 1]}\u2026{shown[-tail:]}"
    return shown


def text(value, limit=None) -> str:
    """Return anything as text for an element or for an attribute in quotes."""
    return html.escape(clean(value, limit))


def isolated(value, limit=_NAME) -> str:
    """Return a name or a label as an element that keeps the direction of its writing to itself."""
    whole, shown = text(value, 300), text(value, limit)
    hint = f' title="{whole}"' if whole != shown else ""
    return f"<bdi{hint}>{shown}</bdi>"


def number(value, digits=4, zeros=False) -> str:
    """Return a number with some digits, as people write it; maybe with zeros at its end."""
    if isinstance(value, Fraction):
        return text(value, 40).replace("-", MINUS)
    if not math.isfinite(value):
        return "\u2013" if math.isnan(value) else ("\u221e" if value > 0 else f"{MINUS}\u221e")
    written = with_zeros(value, digits) if zeros else f"{value:.{digits}g}"
    mantissa, _, exponent = written.partition("e")
    return scientific(mantissa.replace("-", MINUS), int(exponent or 0))


def with_zeros(value, digits) -> str:
    """Return a number with some digits, zeros at its end among them.

    Examples
    --------
    >>> from vanishing.algebra.markup import with_zeros
    >>> [with_zeros(value, 2) for value in (0.999, 0.0123, 519.5, 1e-7, 2.5e9)]
    ['1.0', '0.012', '520', '1.0e-07', '2.5e+09']
    """
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    if not -5 <= int(exponent) < 7:
        return f"{mantissa}e{exponent}"
    return f"{float(f'{mantissa}e{exponent}'):.{max(0, digits - 1 - int(exponent))}f}"


def scientific(mantissa: str, exponent: int) -> str:
    """Return a number times a power of ten."""
    if not exponent:
        return mantissa
    power = f"10<sup>{str(exponent).replace('-', MINUS)}</sup>"
    return power if mantissa == "1" else f"{mantissa}{THIN_SPACE}\u00b7{THIN_SPACE}{power}"


def variable(name) -> str:
    """Return the name of a column; what looks like x0 or t_12 with its number below the line."""
    match = re.fullmatch(r"([A-Za-z])_?([0-9]{1,4})", str(name))
    if match:
        return f"<var>{match[1]}<sub>{match[2]}</sub></var>"
    return f"<var>{isolated(name)}</var>"
