"""HTML and MathML: text, numbers and formulas, in which names are text and never markup."""

import html
import re
from collections.abc import Iterable, Sequence

from vanishing.algebra.expressions import Node
from vanishing.algebra.quantities import Unit
from vanishing.algebra.writing import (
    ATOM,
    POWER,
    PRODUCT,
    SUM,
    Monomials,
    PlainText,
    Written,
    parts_of_number,
)

_NAME = 32  # characters of a name
_FORMULA_NAME = 40  # characters of a name in a formula of MathML
MINUS = "\u2212"
_THIN_SPACE = "\u2009"
_NOT_FINITE = {"nan": "\u2013", "inf": "\u221e", "-inf": f"{MINUS}\u221e"}
_NUMBERED = re.compile(r"([A-Za-z])_?([0-9]{1,4})").fullmatch  # x0, t_12
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


def number(value, digits=4) -> str:
    """Return a number with some digits, as people write it."""
    return _number(f"{value:.{digits}g}")


def _number(size: str) -> str:
    if size in _NOT_FINITE:
        return _NOT_FINITE[size]
    digits, exponent = parts_of_number(size)
    digits = clean(digits, 40).replace("-", MINUS)
    if not exponent:
        return digits
    power = f"10<sup>{exponent}</sup>".replace("-", MINUS)
    return power if digits == "1" else f"{digits}{_THIN_SPACE}\u00b7{_THIN_SPACE}{power}"


class Html(PlainText):
    """Writes expressions in HTML."""

    times = _THIN_SPACE
    minus = MINUS
    after_sign = "\u00a0"  # lines break before a sign
    around_term = ('<span class="term">', "</span>")
    equals = " =\u00a0"

    def name(self, name: str) -> str:
        """Write a name; what looks like x0 or t_12 with its number below the line."""
        match = _NUMBERED(name)
        inside = f"{match[1]}<sub>{match[2]}</sub>" if match else isolated(name)
        return f"<var>{inside}</var>"

    def number(self, size: str) -> str:
        """Write a number, from its digits."""
        return _number(size)

    def with_unit(self, number: str, unit: Unit) -> str:
        """Write a unit behind a number."""
        return f"{number}\u00a0{text(unit)}"

    def dots(self, n_left_out: int) -> str:
        """Write that so many terms of a sum are left out."""
        more = f"({n_left_out}\u00a0more\u00a0term{'' if n_left_out == 1 else 's'})"
        return f" +\u00a0\u2026\u00a0<small>{more}</small>"

    def superscript(self, base: str, exponent: str) -> str:
        """Write an exponent behind its base."""
        return f"{base}<sup>{exponent}</sup>"

    def raised_to(self, base: Written, exponent: Written) -> Written:
        """Write a power whose exponent is an expression."""
        return Written(self.superscript(self.within(base, ATOM), exponent.text), POWER)

    def call(self, name: str, argument: Written) -> Written:
        """Write a function of something."""
        return Written(f"{text(name, _NAME)}({argument.text})")


class MathML(PlainText):
    """Writes expressions in MathML, which browsers typeset."""

    brackets = "<mrow><mo>(</mo>{}<mo>)</mo></mrow>"
    times = '<mspace width="0.17em"/>'
    minus = MINUS
    equals = "<mo>=</mo>"

    def whole(self, text: str) -> str:
        """Return an element of a page."""
        return f'<math displaystyle="true">{text}</math>'

    def equation(
        self, left: Node | Monomials, right: Node | Monomials, equals: str | None = None
    ) -> str:
        """Return an equation as an element of a page."""
        row = self.signed(left).text + (equals or self.equals) + self.signed(right).text
        return self.whole(f"<mrow>{row}</mrow>")

    def name(self, name: str) -> str:
        """Write a name; what looks like x0 or t_12 with its number below the line."""
        if match := _NUMBERED(name):
            return f"<msub><mi>{match[1]}</mi><mn>{match[2]}</mn></msub>"
        if re.fullmatch(r"[^\W\d_]\w*", name):
            return f"<mi>{text(name, _FORMULA_NAME)}</mi>"
        # Isolated, so that a name which is written from right to left turns nothing else around.
        return f"<mtext>\u2068{text(name, _FORMULA_NAME)}\u2069</mtext>"

    def number(self, size: str) -> str:
        """Write a number, from its digits."""
        digits, exponent = parts_of_number(size)
        if not exponent:
            return f"<mn>{digits}</mn>"
        tens = f"<msup><mn>10</mn><mn>{str(exponent).replace('-', MINUS)}</mn></msup>"
        return f"<mrow><mn>{digits}</mn><mo>\u00b7</mo>{tens}</mrow>"

    def with_unit(self, number: str, unit: Unit) -> str:
        """Write a unit behind a number."""
        return f"{number}{self.times}<mtext>{text(unit)}</mtext>"

    def negated(self, part: Written) -> Written:
        """Write the negative of a part."""
        return Written(f"<mrow><mo>{MINUS}</mo>{self.within(part, PRODUCT)}</mrow>", SUM)

    def sum(self, parts: Iterable[tuple[bool, Written]], n_left_out: int = 0) -> Written:
        """Write a sum of parts, each with whether it is subtracted, and dots for others."""
        row = ""
        for is_subtracted, part in parts:
            if row or is_subtracted:
                row += f"<mo>{MINUS if is_subtracted else '+'}</mo>"
            row += self.within(part, PRODUCT) if is_subtracted else part.text
        row += "<mo>+</mo><mo>\u2026</mo>" if n_left_out else ""
        return Written(f"<mrow>{row or '<mn>0</mn>'}</mrow>", SUM)

    def product(self, factors: Sequence[Written]) -> Written:
        """Write a product."""
        if len(factors) == 1:
            return factors[0]._replace(text=f"<mrow>{factors[0].text}</mrow>")
        product = super().product(factors)
        return product._replace(text=f"<mrow>{product.text}</mrow>")

    def fraction(self, factors: Sequence[Written], divisors: Sequence[Written]) -> Written:
        """Write a quotient of products."""
        above, below = self.product(factors).text, self.product(divisors).text
        return Written(f"<mfrac>{above}{below}</mfrac>", PRODUCT)

    def superscript(self, base: str, exponent: str) -> str:
        """Write an exponent behind its base."""
        return f"<msup>{base}<mn>{exponent}</mn></msup>"

    def raised_to(self, base: Written, exponent: Written) -> Written:
        """Write a power whose exponent is an expression."""
        inside = self.within(base, ATOM)
        return Written(f"<msup>{inside}<mrow>{exponent.text}</mrow></msup>", POWER)

    def call(self, name: str, argument: Written) -> Written:
        """Write a function of something."""
        forms = {
            "sqrt": "<msqrt>{}</msqrt>",
            "cbrt": "<mroot>{}<mn>3</mn></mroot>",
            "abs": "<mrow><mo>|</mo>{}<mo>|</mo></mrow>",
        }
        form = f"<mrow><mi>{{name}}</mi>{self.brackets}</mrow>"
        inside = forms.get(name, form).format(argument.text, name=text(name, _FORMULA_NAME))
        return Written(inside, POWER)
