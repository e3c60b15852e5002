"""How formulas are written: trees as plain text, which other languages vary, and LaTeX."""

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from math import floor, inf, log10
from typing import NamedTuple

from vanishing.algebra.expressions import (
    Apply,
    Column,
    Node,
    Power,
    Raised,
    Sum,
    Symbol,
    quotient,
)
from vanishing.algebra.functions import BASES
from vanishing.algebra.quantities import ONE, Unit

DIGITS = 4  # of a coefficient, where columns are of size 1
_LAW_DIGITS = 6  # of a number without a standard error that matters
_EXACT = 1e-6  # relative standard error below which a number is written without it
WHOLE = 1e12  # whole numbers up to this size are written in full
NEGATIVE, SUM, PRODUCT, POWER, ATOM = range(5)  # how tightly a text holds together
_IS_ONE = re.compile(r"1(\.0*)?").fullmatch
_LATEX_FUNCTIONS = ("sin", "cos", "tan", "arcsin", "arccos", "arctan", "tanh", "log", "exp")


# -- Names and numbers ----------------------------------------------------------------------------


def printable(text) -> str:
    """Return text in which what is not printable, or would be a new line, is escaped."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(text)
    )


def with_error(value: float, std: float) -> tuple[str, int]:
    """Write a number with its standard error, and return the power of ten to multiply it by.

    Examples
    --------
    >>> from vanishing.algebra.writing import with_error
    >>> with_error(8.3142, 0.0017), with_error(1234.5, 17.0), with_error(2.5e-7, 3.1e-9)
    (('8.314(2)', 0), ('1234(17)', 0), ('2.50(3)', -7))
    >>> with_error(17599.0, 229.0)
    ('1.76(2)', 4)
    >>> with_error(2e-15, 0.019)
    ('0.00(2)', 0)
    """
    size = floor(log10(max(value, std)))
    power = size if not -4 <= size < 6 or std >= 100.0 else 0
    value, std = value / 10.0**power, std / 10.0**power
    places = max(0, -floor(log10(float(f"{std:.1g}"))))
    return f"{value:.{places}f}({round(std * 10**places)})", power


def with_zeros(value, digits) -> str:
    """Return a number with some digits, zeros at its end among them.

    Examples
    --------
    >>> from vanishing.algebra.writing import with_zeros
    >>> [with_zeros(value, 2) for value in (0.999, 0.0123, 519.5, 1e-7, 2.5e9)]
    ['1.0', '0.012', '520', '1.0e-07', '2.5e+09']
    """
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    if not exponent:  # of no number, or infinity
        return mantissa
    if not -5 <= int(exponent) < 7:
        return f"{mantissa}e{exponent}"
    return f"{float(f'{mantissa}e{exponent}'):.{max(0, digits - 1 - int(exponent))}f}"


def is_written_in_full(value: float) -> bool:
    """Say whether a number without a standard error is written with all its digits."""
    return (value.is_integer() and abs(value) < WHOLE) or float(f"{value:.{_LAW_DIGITS}g}") == value


def in_words(value: float, digits: int = 3) -> str:
    """Write a number for a sentence, with few digits: 1000 rather than 1e+03."""
    text = f"{value:.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text and abs(value) < 1e6 else text


def parts_of_number(text: str) -> tuple[str, int]:
    """Return digits and the power of ten of a number as text: 8.314(2)*10^-3, 3e-09 or 2."""
    digits, _, exponent = text.replace("e", "*10^").partition("*10^")
    return digits, int(exponent or 0)


@cache
def fraction_text(exponent: float) -> str:
    """Write an exponent as a fraction where it is one of small numbers."""
    rounded = Fraction(exponent).limit_denominator(12)
    return str(rounded) if abs(float(rounded) - exponent) < 1e-12 else repr(exponent)


# -- Trees ----------------------------------------------------------------------------------------


class Written(NamedTuple):
    """An expression as text, and how tightly it holds together."""

    text: str
    rank: int = ATOM

    @property
    def atom(self) -> str:
        """The text, in round brackets unless it needs none anywhere."""
        return self.text if self.rank == ATOM else f"({self.text})"


class Monomials(NamedTuple):
    """A sum of monomials, which need no tree of their own to be written.

    Attributes
    ----------
    exponents : list of list of int
        Of each monomial, by columns.
    coef : list of float or Fraction
    std : list of float
        Standard errors of the coefficients.
    digits : list of int or None
        Of the coefficients, zeros at the end among them; None where the writer has its own rule.
    n_left_out : int
        How many more monomials there are, for which dots stand.
    """

    exponents: list[list[int]]
    coef: list
    std: list[float]
    digits: list[int | None]
    n_left_out: int = 0


class PlainText:
    """Writes expressions as plain text; subclasses say what another language does differently.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    digits : int, default=None
        Of a number that does not have its own. By default six, and whole numbers in full.
    """

    brackets = "({})"
    times = "*"
    over = "/"
    minus = "-"
    after_sign = " "  # but not at the beginning
    around_term = ("", "")
    equals = " = "
    added_rank = SUM  # what is looser has brackets behind a plus sign
    negated_rank = PRODUCT  # and this behind a minus sign
    is_formal = False  # read by a program

    def __init__(self, names: Sequence[str], digits: int | None = None):
        self.names, self.digits = names, digits
        self._powers: dict[tuple[int, float], Written] = {}

    def write(self, node: Node | Monomials) -> str:
        """Return an expression as text."""
        return self.whole(self.signed(node).text)

    def equation(
        self, left: Node | Monomials, right: Node | Monomials, equals: str | None = None
    ) -> str:
        """Return an equation as text."""
        equals = self.equals if equals is None else equals
        return self.whole(self.signed(left).text + equals + self.signed(right).text)

    # -- From the tree ----------------------------------------------------------------------------

    def signed(self, node: Node | Monomials) -> Written:
        """Write an expression."""
        is_negative, size = self.sign_and_size(node)
        return self.negated(size) if is_negative else size

    def sign_and_size(self, node: Node | Monomials) -> tuple[bool, Written]:
        """Return whether an expression has a minus sign, and write it without."""
        if isinstance(node, Column):
            return False, self.power_of_column(node.place, 1)
        if isinstance(node, Power) and node.exponent > 0.0:
            if isinstance(node.base, Column):
                return False, self.power_of_column(node.base.place, node.exponent)
            return False, self.power(self.signed(node.base), node.exponent)
        if isinstance(node, Raised) and not quotient(node)[2]:
            return False, self.raised_to(self.signed(node.base), self.signed(node.exponent))
        if isinstance(node, Sum):
            return False, self.sum(map(self.sign_and_size, node.parts))
        if isinstance(node, Monomials):
            return False, self.sum(self._monomials(node), node.n_left_out)
        if isinstance(node, Apply):
            return False, self.call(node.name, self.signed(node.argument))
        if isinstance(node, Symbol):
            return False, self.symbol(node)
        number, above, below = quotient(node)
        factors = [self.signed(factor) for factor in above]
        size = self.size(number.value, number.std, number.digits)
        factors = self._with_number(size, factors, number.unit)
        if below:
            divisors = [self.signed(factor) for factor in below]
            return number.value < 0.0, self.fraction(factors, divisors)
        return number.value < 0.0, self.product(factors)

    def _monomials(self, node: Monomials) -> Iterator[tuple[bool, Written]]:
        for exponents, value, std, digits in zip(*node[:4], strict=True):
            factors = [self.power_of_column(i, e) for i, e in enumerate(exponents) if e]
            factors = self._with_number(self.size(value, std, digits), factors)
            yield value < 0.0, self.product(factors)

    def _with_number(self, size: str, factors: list[Written], unit: Unit = ONE) -> list[Written]:
        """Return factors and a number, which is left out where it is 1."""
        if not unit.is_one:
            return [Written(self.with_unit(self.number(size), unit)), *factors]
        rank = PRODUCT if "*" in size else ATOM
        number = Written(self.number(size), rank)
        return factors if factors and _IS_ONE(size) else [number, *factors]

    def power_of_column(self, place: int, exponent: float) -> Written:
        """Write a power of a column; a polynomial has the same ones again and again."""
        key = (place, exponent)
        if key not in self._powers:
            column = self.column(place)
            self._powers[key] = column if exponent == 1 else self.power(column, exponent)
        return self._powers[key]

    def column(self, place: int) -> Written:
        """Write a column."""
        return Written(self.name(self.names[place]))

    def symbol(self, symbol: Symbol) -> Written:
        """Write a constant that has a name."""
        return Written(self.name(symbol.name), POWER)

    def size(self, value: float, std: float = 0.0, digits: int | None = None) -> str:
        """Return the digits of a number without its sign, the same in all languages for people."""
        value = abs(value)
        if isinstance(value, Fraction):
            return str(value)
        if (_EXACT * value if self.digits is None else 0.0) < std < inf:
            mantissa, power = with_error(value, std)
            return f"{mantissa}*10^{power}" if power else mantissa
        if digits is not None:
            return with_zeros(value, digits)
        if self.digits is not None:
            return f"{value:.{self.digits}g}"
        if value < WHOLE and value == int(value):
            return str(int(value))
        return f"{value:.{_LAW_DIGITS}g}"

    # -- From parts: what languages differ in -----------------------------------------------------

    def whole(self, text: str) -> str:
        """Return what is written, once it is complete."""
        return text

    def within(self, part: Written, rank: int) -> str:
        """Return a part, in brackets if it is looser than a rank."""
        return part.text if part.rank >= rank else self.brackets.format(part.text)

    def name(self, name: str) -> str:
        """Write a name."""
        # One that begins with a digit would look like a number; x[t-1] is x one row before.
        is_plain = re.fullmatch(r"[^\W\d]\w*(\[t-[0-9]+\])?", name)
        return name if is_plain else f"[{printable(name)}]"

    def number(self, size: str) -> str:
        """Write a number, from its digits."""
        return size

    def with_unit(self, number: str, unit: Unit) -> str:
        """Write a unit behind a number."""
        return f"{number}[{unit}]"

    def negated(self, part: Written) -> Written:
        """Write the negative of a part."""
        return Written(self.minus + self.within(part, self.negated_rank), SUM)

    def sum(self, parts: Iterable[tuple[bool, Written]], n_left_out: int = 0) -> Written:
        """Write a sum of parts, each with whether it is subtracted, and dots for others."""
        plus, minus = (f" {sign}{self.after_sign}" for sign in ("+", self.minus))
        before, after = self.around_term
        texts: list[str] = []
        for is_subtracted, (text, rank) in parts:
            if texts:
                sign, loosest = (minus, PRODUCT) if is_subtracted else (plus, self.added_rank)
            else:
                sign, loosest = (self.minus, self.negated_rank) if is_subtracted else ("", NEGATIVE)
            if rank < loosest:
                text = self.brackets.format(text)
            texts.append(f"{sign}{before}{text}{after}")
        if n_left_out:
            texts.append(self.dots(n_left_out))
        return Written("".join(texts) or "0", SUM)

    def dots(self, n_left_out: int) -> str:
        """Write that so many terms of a sum are left out."""
        return " + ..."

    def product(self, factors: Sequence[Written]) -> Written:
        """Write a product."""
        if len(factors) == 1:
            return factors[0]
        texts = [text if rank >= POWER else self.brackets.format(text) for text, rank in factors]
        texts[0] = self.within(factors[0], PRODUCT)
        return Written(self.times.join(texts), PRODUCT)

    def fraction(self, factors: Sequence[Written], divisors: Sequence[Written]) -> Written:
        """Write a quotient of products."""
        left, right = self.product(factors), self.product(divisors)
        return Written(
            f"{self.within(left, PRODUCT)}{self.over}{self.within(right, POWER)}", PRODUCT
        )

    def power(self, base: Written, exponent: float) -> Written:
        """Write a power with a positive exponent."""
        if exponent == 0.5:
            return self.call("sqrt", base)._replace(rank=POWER)
        return self.raised(base, exponent)

    def raised(self, base: Written, exponent: float) -> Written:
        """Write a power that is no square root."""
        return Written(self.superscript(self.within(base, ATOM), fraction_text(exponent)), POWER)

    def raised_to(self, base: Written, exponent: Written) -> Written:
        """Write a power whose exponent is an expression."""
        return Written(f"{self.within(base, ATOM)}^{self.within(exponent, ATOM)}", POWER)

    def superscript(self, base: str, exponent: str) -> str:
        """Write an exponent behind its base."""
        return f"{base}^({exponent})" if "/" in exponent else f"{base}^{exponent}"

    def call(self, name: str, argument: Written) -> Written:
        """Write a function of something."""
        return Written(f"{self.name(name)}({argument.text})")


class Latex(PlainText):
    """Writes expressions in LaTeX."""

    brackets = r"\left({}\right)"

    def __init__(self, names: Sequence[str], digits: int | None = None):
        super().__init__(names, digits)
        # Mathematics has no spaces of its own: words would run together.
        has_words = any(self.name(name).startswith(r"\text") for name in names)
        self.times = r" \, " if has_words else " "

    def name(self, name: str) -> str:
        """Write a name."""
        if re.fullmatch(r"[A-Za-z]", name):
            return name
        if match := re.fullmatch(r"([A-Za-z])_?(\d+)", name):
            return f"{match[1]}_{{{match[2]}}}"
        escapes = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
        escapes |= {c: f"\\{c}" for c in "&%$#_{}"}
        return r"\text{" + "".join(escapes.get(c, c) for c in printable(name)) + "}"

    def number(self, size: str) -> str:
        """Write a number, from its digits."""
        above, _, below = size.partition("/")
        if below:
            return rf"\frac{{{above}}}{{{below}}}"
        digits, exponent = parts_of_number(size)
        return rf"{digits} \times 10^{{{exponent}}}" if exponent else digits

    def with_unit(self, number: str, unit: Unit) -> str:
        """Write a unit behind a number."""
        return rf"{number} \, {unit.to_latex()} \,"

    def fraction(self, factors: Sequence[Written], divisors: Sequence[Written]) -> Written:
        """Write a quotient of products."""
        above, below = self.product(factors).text, self.product(divisors).text
        return Written(rf"\frac{{{above}}}{{{below}}}", PRODUCT)

    def raised_to(self, base: Written, exponent: Written) -> Written:
        """Write a power whose exponent is an expression."""
        return Written(self.superscript(self.within(base, ATOM), exponent.text), POWER)

    def superscript(self, base: str, exponent: str) -> str:
        """Write an exponent behind its base."""
        return f"{base}^{{{exponent}}}"

    def call(self, name: str, argument: Written) -> Written:
        """Write a function of something."""
        roots = {"sqrt": r"\sqrt{{{}}}", "cbrt": r"\sqrt[3]{{{}}}", "abs": r"\left|{}\right|"}
        if name in roots:
            return Written(roots[name].format(argument.text))
        if name in _LATEX_FUNCTIONS:
            command = f"\\{name}"
        elif name in BASES:
            command = rf"\log_{{{BASES[name]:g}}}"
        else:
            command = rf"\operatorname{{{name}}}" if name.isalpha() else self.name(name)
        return Written(command + self.brackets.format(argument.text))
