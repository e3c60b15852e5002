"""The one writer of polynomials: plain text, LaTeX, HTML, SymPy and Python."""

import keyword
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import floor, log10

import numpy as np

from vanishing.algebra import markup
from vanishing.checks import check_choice

DIGITS = 4  # of a coefficient, where columns are of size 1


def printable(text) -> str:
    """Return text in which what is not printable, or would be a new line, is escaped."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(text)
    )


def _rounded(value, digits) -> str:
    return str(value) if isinstance(value, Fraction) else f"{value:.{digits}g}"


def _in_full(value, digits) -> str:
    return str(value) if isinstance(value, Fraction) else repr(float(value))


def _name(name: str) -> str:
    # A name that begins with a digit would look like a number.
    return name if re.fullmatch(r"[^\W\d]\w*", name) else f"[{printable(name)}]"


def _latex_name(name: str) -> str:
    if re.fullmatch(r"[A-Za-z]", name):
        return name
    if match := re.fullmatch(r"([A-Za-z])_?(\d+)", name):
        return f"{match[1]}_{{{match[2]}}}"
    escapes = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    escapes |= {c: f"\\{c}" for c in "&%$#_{}"}
    return r"\text{" + "".join(escapes.get(c, c) for c in printable(name)) + "}"


def _latex_number(value, digits) -> str:
    if isinstance(value, Fraction) and value.denominator != 1:
        return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"
    mantissa, _, exponent = _rounded(value, digits).partition("e")
    return _latex_scientific(mantissa, int(exponent or 0))


def _latex_scientific(mantissa, exponent) -> str:
    return rf"{mantissa} \times 10^{{{exponent}}}" if exponent else mantissa


def _scientific(mantissa, exponent) -> str:
    return f"{mantissa}*10^{exponent}" if exponent else mantissa


def _latex_times(written) -> str:
    # Mathematics has no spaces of its own: words would run together.
    return r" \, " if any(name.startswith(r"\text") for name in written) else " "


def _html_more(left) -> str:
    more = f"({left}\u00a0more\u00a0term{'' if left == 1 else 's'})"
    return f" +\u00a0\u2026\u00a0<small>{more}</small>"


def _python_name(name: str) -> str:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"{name!r} is no name in Python: rename the column.")
    return unicodedata.normalize("NFKC", name)  # as Python reads it


@dataclass(frozen=True)
class Style:
    """How the parts of a polynomial are written."""

    name: Callable[[str], str] = _name
    number: Callable[[float | Fraction, int], str] = _rounded
    scientific: Callable[[str, int], str] = _scientific  # digits times a power of ten
    power: Callable[[str, int | str], str] = "{}^{}".format
    times: Callable[[Iterable[str]], str] = lambda written: "*"  # given all names as written
    minus: str = "-"
    after_sign: str = " "  # but not at the beginning
    term: Callable[[str], str] = str
    more: Callable[[int], str] = lambda left: " + ..."  # for the terms left out
    formal: bool = False  # read by a program, to which columns of one name are one


_PROGRAM = Style(number=_in_full, power="{}**{}".format, formal=True)
STYLES = {
    "text": Style(),
    "latex": Style(
        _latex_name,
        _latex_number,
        _latex_scientific,
        power="{}^{{{}}}".format,
        times=_latex_times,
    ),
    "html": Style(
        markup.variable,
        markup.number,
        markup.scientific,
        power="{}<sup>{}</sup>".format,
        times=lambda written: markup.THIN_SPACE,
        minus=markup.MINUS,
        after_sign="\u00a0",  # lines break before a sign
        term='<span class="term">{}</span>'.format,
        more=_html_more,
    ),
    # A bare name may be a function or a constant of SymPy: beta, E, S.
    "sympy": replace(_PROGRAM, name="Symbol({!r})".format),
    "python": replace(_PROGRAM, name=_python_name),
}


def check_told_apart(terms, names, written: Callable[[str], str] = str) -> None:
    """Raise ValueError if two columns that polynomials depend on have the same name."""
    seen: set[str] = set()
    for i in np.flatnonzero(np.any(terms, axis=0)):
        if written(names[i]) in seen:
            raise ValueError(
                f"two columns are called {names[i]!r}, and a program tells variables apart by "
                "their names: rename them."
            )
        seen.add(written(names[i]))


def with_error(value: float, std: float) -> tuple[str, int]:
    """Write a number with its standard error, and return the power of ten to multiply it by.

    Examples
    --------
    >>> from vanishing.algebra.writing import with_error
    >>> with_error(8.3142, 0.0017), with_error(1234.5, 17.0), with_error(2.5e-7, 3.1e-9)
    (('8.314(2)', 0), ('1234(17)', 0), ('2.50(3)', -7))
    """
    size = floor(log10(value)) if value else 0
    power = size if not -4 <= size < 6 else 0
    value, std = value / 10.0**power, std / 10.0**power
    places = max(0, -floor(log10(float(f"{std:.1g}"))))
    return f"{value:.{places}f}({round(std * 10**places)})", power


def in_words(value: float, digits: int = 3) -> str:
    """Write a number for a sentence, with few digits: 1000 rather than 1e+03."""
    text = f"{value:.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text and abs(value) < 1e6 else text


def write(terms, coef, names, style="text", *, digits=DIGITS, limit=None, std=None) -> str:
    r"""Write a polynomial, its last term first.

    Parameters
    ----------
    terms : array-like of int of shape (n_terms, n_features)
        Exponents.
    coef : array-like of shape (n_terms,)
        Numbers or fractions, the latter written in full; terms with 0 are left out.
    names : sequence of str
        Names of the columns.
    style : {"text", "latex", "html", "sympy", "python"}, default="text"
        "sympy" and "python" write all digits of a number, for a program to read.
    digits : int, default=4
        Digits of a number, in the other styles.
    limit : int, default=None
        How many terms are written; dots stand for the others.
    std : array-like of shape (n_terms,), default=None
        Standard errors of the coefficients, to be written with them; 0 where there is none.

    Examples
    --------
    >>> from vanishing.algebra.writing import write
    >>> for style in ("text", "latex", "sympy", "python"):
    ...     print(write([[0, 0], [2, 1]], [-1 / 3, 1.0], ["beta", "x1"], style))
    beta^2*x1 - 0.3333
    \text{beta}^{2} \, x_{1} - 0.3333
    Symbol('beta')**2*Symbol('x1') - 0.3333333333333333
    beta**2*x1 - 0.3333333333333333
    """
    check_choice("style", style, STYLES)
    style = STYLES[style]
    name = cache(style.name)
    if style.formal:
        if std is not None:
            raise ValueError("standard errors are written for people: as text, LaTeX or HTML.")
        check_told_apart(terms, names, name)
    times = style.times(map(name, names))
    shown = np.flatnonzero(coef)[::-1]
    text = ""
    for i in shown[:limit]:
        row = np.asarray(terms[i]).tolist()
        factors = [
            name(names[j]) if e == 1 else style.power(name(names[j]), e)
            for j, e in enumerate(row)
            if e
        ]
        size = style.number(abs(coef[i]), digits)
        if std is not None and 0.0 < std[i] < np.inf:
            size = style.scientific(*with_error(abs(coef[i]), std[i]))
        if size not in ("1", "1.0") or not factors:
            factors.insert(0, size)
        sign = style.minus if coef[i] < 0 else "+"
        text += f" {sign}{style.after_sign}" if text else sign.replace("+", "")
        text += style.term(times.join(factors))
    left = 0 if limit is None else len(shown) - limit
    return text + style.more(left) if left > 0 else text or "0"
