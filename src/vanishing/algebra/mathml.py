"""Laws as MathML, which browsers typeset: names of columns are text there, never markup."""

import re
from collections.abc import Sequence

from vanishing.algebra.expression_text import LawText
from vanishing.algebra.expressions import (
    Apply,
    Column,
    Node,
    Number,
    Power,
    Sum,
    Symbol,
    is_negative,
    quotient,
)
from vanishing.algebra.markup import MINUS, text

_NAME = 40  # characters of a name
_SPACE = '<mspace width="0.17em"/>'


class MathML:
    """Writes expressions as MathML.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    """

    def __init__(self, names: Sequence[str]):
        self.names = names
        self.text = LawText(names)

    def equation(self, left: Node, right: Node) -> str:
        """Write an equation, as an element of a page."""
        return _element(f"<mrow>{self.write(left)}<mo>=</mo>{self.write(right)}</mrow>")

    def expression(self, node: Node) -> str:
        """Write an expression, as an element of a page."""
        return _element(self.write(node))

    def write(self, node: Node) -> str:
        """Write an expression."""
        if is_negative(node):
            return f"<mrow><mo>{MINUS}</mo>{self._without_sign(node)}</mrow>"
        return self._without_sign(node)

    def _without_sign(self, node: Node) -> str:
        if isinstance(node, Column):
            return _variable(self.names[node.place])
        if isinstance(node, Symbol):
            return _variable(node.name)
        if isinstance(node, Apply):
            return self._call(node)
        if isinstance(node, Sum):
            parts = [self.write(node.parts[0])]
            for part in node.parts[1:]:
                parts.append(f"<mo>{MINUS if is_negative(part) else '+'}</mo>")
                parts.append(self._without_sign(part))
            return f"<mrow>{''.join(parts)}</mrow>"
        if isinstance(node, Power) and node.exponent > 0.0:
            return self._power(node)
        return self._product(node)

    def _product(self, node: Node) -> str:
        number, above, below = quotient(node)
        size = self.text.number(abs(number.value), number.std)
        shown = [] if size in ("1", "1.0") and above and number.unit.is_one else [_number(size)]
        if not number.unit.is_one:
            shown.append(f"<mtext>{text(number.unit)}</mtext>")
        over = self._row(above, shown)
        return f"<mfrac>{over}{self._row(below, [])}</mfrac>" if below else over

    def _row(self, nodes: list[Node], before: list[str]) -> str:
        alone = len(nodes) == 1 and not before
        parts = [
            _bracketed(self.write(node))
            if isinstance(node, Sum) and not alone
            else self.write(node)
            for node in nodes
        ]
        return f"<mrow>{_SPACE.join(before + parts)}</mrow>"

    def _power(self, node: Power) -> str:
        base = self.write(node.base)
        if node.exponent == 0.5:
            return f"<msqrt>{base}</msqrt>"
        if not isinstance(node.base, (Number, Column)):
            base = _bracketed(base)
        return f"<msup>{base}<mn>{self.text.exponent(node.exponent).strip('()')}</mn></msup>"

    def _call(self, node: Apply) -> str:
        argument = self.write(node.argument)
        if node.name == "sqrt":
            return f"<msqrt>{argument}</msqrt>"
        if node.name == "cbrt":
            return f"<mroot>{argument}<mn>3</mn></mroot>"
        if node.name == "abs":
            return f"<mrow><mo>|</mo>{argument}<mo>|</mo></mrow>"
        return f"<mrow><mi>{text(node.name, _NAME)}</mi>{_bracketed(argument)}</mrow>"


def _element(inside: str) -> str:
    return f'<math displaystyle="true">{inside}</math>'


def _bracketed(inside: str) -> str:
    return f"<mrow><mo>(</mo>{inside}<mo>)</mo></mrow>"


def _number(size: str) -> str:
    """Write a number that is given as text, such as 8.314(2)*10^-3 or 3e-09."""
    mantissa, times, exponent = size.replace("e", "*10^").partition("*10^")
    if not times:
        return f"<mn>{text(size)}</mn>"
    tens = f"<msup><mn>10</mn><mn>{str(int(exponent)).replace('-', MINUS)}</mn></msup>"
    return f"<mrow><mn>{text(mantissa)}</mn><mo>\u00b7</mo>{tens}</mrow>"


def _variable(name: str) -> str:
    if match := re.fullmatch(r"([A-Za-z])_?([0-9]{1,4})", name):
        return f"<msub><mi>{match[1]}</mi><mn>{match[2]}</mn></msub>"
    if re.fullmatch(r"[^\W\d_]\w*", name):
        return f"<mi>{text(name, _NAME)}</mi>"
    # Isolated, so that a name which is written from right to left turns nothing else around.
    return f"<mtext>\u2068{text(name, _NAME)}\u2069</mtext>"
