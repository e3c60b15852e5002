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


def _rounded(value, digits, zeros=False) -> str:
    if isinstance(value, Fraction):
        return str(value)
    return markup.with_zeros(value, digits) if zeros else f"{value:.{digits}g}"


def _in_full(value, digits, zeros=False) -> str:
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


def _latex_number(value, digits, zeros=False) -> str:
    if isinstance(value, Fraction) and value.denominator != 1:
        return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"
    mantissa, _, exponent = _rounded(value, digits, zeros).partition("e")
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
    number: Callable[..., str] = _rounded  # of a value and its digits; maybe with zeros at its end
    scientific: Callable[[str, int], str] = _scientific  # digits times a power of ten
    power: Callable[[str, int | str], str] = "{}^{}".format
    times: Callable[[Iterable[str]], str] = lambda written: "*"  # given all names as written
    minus: str = "-"
    after_sign: str = " "  # but not at the beginning
    term: Callable[[str], str] = str
    more: Callable[[int], str] = lambda left: " + ..."  # for the terms left out
    equals: str = " = "
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
        equals=" =\u00a0",
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
    digits : int or array-like of int of shape (n_terms,), default=4
        Digits of a number, in the other styles; one number per term keeps zeros at the end.
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
    writer = _Writer(terms, coef, names, style, digits, std)
    return writer.sum(np.flatnonzero(coef)[::-1], limit)


def write_equation(
    terms, coef, names, style="text", *, digits=DIGITS, limit=None, equals=None
) -> str:
    """Write ``polynomial = 0`` with its last term alone on the left.

    On the right a positive term comes first, if there is one, and ``limit`` is how many terms are
    written there. A term with 0 digits is left out. ``style`` is one for people, and ``equals`` its
    sign of equality by default; the other parameters are those of `write`.

    Examples
    --------
    >>> from vanishing.algebra.writing import write_equation
    >>> terms, coef = [[0, 0], [2, 0], [0, 2]], [-2.0, 1.98, 2.0]
    >>> write_equation(terms, coef, ["x", "y"])
    'y^2 = 1 - 0.99*x^2'
    >>> write_equation(terms, coef, ["x", "y"], digits=[3, 2, 2])
    'y^2 = 1.00 - 0.99*x^2'
    """
    check_choice("style", style, [name for name, one in STYLES.items() if not one.formal])
    equals = STYLES[style].equals if equals is None else equals
    coef = np.asarray(coef)
    if not coef[-1]:  # too small for a number
        return f"{write(terms, coef, names, style, digits=digits, limit=limit)}{equals}0"
    right = -coef[:-1] / coef[-1]
    matters = True if np.ndim(digits) == 0 else np.asarray(digits)[:-1] > 0
    order = np.flatnonzero((right != 0) & matters)[::-1]
    first = next((i for i in order if right[i] > 0), None)
    if first is not None:
        order = np.array([first, *(i for i in order if i != first)])
    left = _Writer(terms[-1:], [1.0], names, style, DIGITS).sum([0])
    some = digits if np.ndim(digits) == 0 else np.asarray(digits)[:-1]
    return left + equals + _Writer(terms[:-1], right, names, style, some).sum(order, limit)


class _Writer:
    """Sums of terms with coefficients, in one style."""

    def __init__(self, terms, coef, names, style, digits, std=None):
        check_choice("style", style, STYLES)
        self.style = STYLES[style]
        self.terms, self.coef, self.names, self.std = terms, coef, names, std
        self.name = cache(self.style.name)
        if self.style.formal:
            if std is not None:
                raise ValueError("standard errors are written for people: as text, LaTeX or HTML.")
            check_told_apart(terms, names, self.name)
        self.digits = np.broadcast_to(digits, len(coef))
        self.zeros = np.ndim(digits) > 0
        self.times = self.style.times(map(self.name, names))

    def sum(self, order, limit=None) -> str:
        """Write some terms, and dots for those beyond ``limit``."""
        style, text = self.style, ""
        for i in order[:limit]:
            sign = style.minus if self.coef[i] < 0 else "+"
            text += f" {sign}{style.after_sign}" if text else sign.replace("+", "")
            text += style.term(self.product(i))
        left = 0 if limit is None else len(order) - limit
        return text + style.more(left) if left > 0 else text or "0"

    def product(self, i) -> str:
        """Write a term with the size of its coefficient, which is left out where it is 1."""
        style, name = self.style, self.name
        factors = [
            name(self.names[j]) if e == 1 else style.power(name(self.names[j]), e)
            for j, e in enumerate(np.asarray(self.terms[i]).tolist())
            if e
        ]
        size = style.number(abs(self.coef[i]), int(self.digits[i]), self.zeros)
        if self.std is not None and 0.0 < self.std[i] < np.inf:
            size = style.scientific(*with_error(abs(self.coef[i]), self.std[i]))
        if not re.fullmatch(r"1(\.0*)?", size) or not factors:
            factors.insert(0, size)
        return self.times.join(factors)
