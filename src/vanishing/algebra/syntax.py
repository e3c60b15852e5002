"""Texts as trees: one tokenizer and one parser for all formulas; nothing is run as Python."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

import numpy as np

from vanishing.algebra.expressions import (
    Apply,
    Column,
    Node,
    Number,
    Power,
    Product,
    Sum,
    columns_of,
    evaluate,
)
from vanishing.algebra.functions import FUNCTIONS, readable
from vanishing.algebra.writing import printable

_MAX_DEPTH = 50  # of brackets: the parser is recursive
_TOKEN = re.compile(
    # Behind the number of 8.314(2)[J/(mol K)] are its standard error and its unit, as laws have.
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?:\([0-9]+\))?(?:\[[^][]*\])?"
    # A name that is no word stands in brackets; it may have brackets itself, as "length [cm]" has.
    r"|(?P<name>[^\W\d]\w*|\[(?:[^][]|\[[^][]*\])*\])"
    r"|(?P<power>\*\*|\^)|(?P<times>[*/])|(?P<sign>[-+])|(?P<equals>==?)|(?P<open>\()|(?P<close>\))"
    r"|(?P<space>\s+)|(?P<unknown>.)",
    re.DOTALL,
)


class Token(NamedTuple):
    """A piece of text: its kind, and what stands behind a number."""

    kind: str
    text: str
    measure: str = ""

    @property
    def name(self) -> str:
        """A name without its brackets."""
        return self.text[1:-1] if self.text.startswith("[") else self.text


def tokens(text: str) -> Iterator[Token]:
    """Split a text, without its white space."""
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind != "space":
            yield Token(kind, match[kind], match[0][len(match[kind]) :])


def listed(names: Sequence[str]) -> str:
    """Return some names as text, the first ten if there are more."""
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


class TextReader:
    """Reads a text as trees; who derives from it says what names mean.

    Parameters
    ----------
    text : str
    names : sequence of str
        Names of the columns.
    """

    kind = "equation"
    max_length = 2000
    functions = True  # whether there may be functions
    measured = False  # whether numbers may have a standard error and a unit, which are left out

    def __init__(self, text: str, names: Sequence[str]):
        self.text, self.names = text, [str(name) for name in names]
        if len(text) > self.max_length:
            self.fail(f"it is longer than {self.max_length} characters")
        self.known = readable() if self.functions else {}
        self._depth = 0
        self._tokens: Iterator[Token] = iter(())
        self._next = Token("end", "the end")
        self.columns: dict[str, int | None] = {}  # None where two columns print the same name
        for i, name in enumerate(map(printable, self.names)):
            self.columns[name] = None if name in self.columns else i
            # Where a name such as "a] + [b" ends cannot be seen.
            if "[" in name or "]" in name:
                token = _TOKEN.match(f"[{name}]")
                if token and len(token[0]) < len(name) + 2 and f"[{name}]" in text:
                    self._refuse(name)

    def fail(self, problem: str) -> NoReturn:
        """Raise ValueError with the text and what is wrong with it."""
        raise ValueError(f"cannot read the {self.kind} {_shown(self.text)}: {problem}.")

    def _refuse(self, name: str) -> NoReturn:
        self.fail(f"the name {_shown(name)} cannot be told from others; rename the column")

    def unknown(self, token: Token) -> Node:
        """Return what a name that is no column stands for."""
        self.fail(f"{_shown(token.name)} is not one of the variables {listed(self.names)}")

    def sides(self, most: int) -> list[Node]:
        """Return the sides of an equation, at most so many, as trees."""
        sides: list[list[Token]] = [[]]
        for token in tokens(self.text):
            if token.kind == "equals" and most > 1:
                sides.append([])
            else:
                sides[-1].append(token)
        if len(sides) > most:
            self.fail("it has more than one =")
        if not all(sides):
            self.fail("a side is empty")
        return [self._side(side) for side in sides]

    def _side(self, side: list[Token]) -> Node:
        self._tokens = iter([*side, Token("end", "the end")])
        self._next = next(self._tokens)
        node = self._sum()
        if self._next.kind != "end":
            self._unexpected(self._next.text)
        return node

    def _take(self) -> Token:
        token = self._next
        self._next = next(self._tokens, token)
        return token

    def _unexpected(self, text: str) -> NoReturn:
        self.fail(f"{_shown(text)} is not expected there")

    def _sum(self) -> Node:
        parts: list[Node] = [self._product()]
        while self._next.kind == "sign":
            minus = self._take().text == "-"
            parts.append(_negative(self._product()) if minus else self._product())
        return parts[0] if len(parts) == 1 else Sum(tuple(parts))

    def _product(self) -> Node:
        parts: list[Node] = [self._signed()]
        while self._next.kind == "times":
            if self._take().text == "*":
                parts.append(self._signed())
                continue
            divisor = self._signed()
            match parts, divisor:
                case [Number(value=above)], Number(value=below) if below:  # 2/3 is a number
                    parts = [Number(above / below)]
                case _:
                    parts.append(Power(divisor, -1.0))
        return parts[0] if len(parts) == 1 else Product(tuple(parts))

    def _signed(self) -> Node:
        minus = False
        while self._next.kind == "sign":
            minus ^= self._take().text == "-"
        base = self._atom()
        if self._next.kind == "power":
            self._take()
            base = Power(base, self._exponent())
        return _negative(base) if minus else base

    def _exponent(self) -> float:
        node = self._deeper(self._signed)
        if columns_of(node):
            self.fail("an exponent must be a number")
        with np.errstate(all="ignore"):
            exponent = float(evaluate(node, np.empty((0, 0))))
        if not math.isfinite(exponent):
            self.fail("its numbers must be finite")
        return exponent

    def _deeper(self, part) -> Node:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            self.fail("its brackets are nested too deeply")
        node = part()
        self._depth -= 1
        return node

    def _bracket(self) -> Node:
        self._take()
        node = self._deeper(self._sum)
        if self._next.kind == "end":
            self.fail("a bracket is not closed")
        if self._next.kind != "close":
            self._unexpected(self._next.text)
        self._take()
        return node

    def _atom(self) -> Node:
        if self._next.kind == "open":
            return self._bracket()
        token = self._take()
        if token.kind == "number":
            return self._number(token)
        if token.kind != "name":
            expected = "a number, a variable or a bracket is expected"
            self.fail(f"{expected} in place of {_shown(token.text)}")
        if self._next.kind == "open" and self.functions:
            if token.text not in self.known:
                self.fail(
                    f"{token.name!r} before a bracket is no function out of "
                    f"{', '.join(self.known)}; write * for a product"
                )
            function = FUNCTIONS[self.known[token.text]]
            return Apply(function.name, function.value, self._bracket())
        if token.name not in self.columns:
            return Number(math.pi) if token.text == "pi" else self.unknown(token)
        place = self.columns[token.name]
        return self._refuse(token.name) if place is None else Column(place)

    def _number(self, token: Token) -> Node:
        if token.measure and not self.measured:
            self._unexpected(token.measure)
        value = float(token.text)
        if not math.isfinite(value):
            self.fail("its numbers must be finite")
        return Number(value)


def _negative(node: Node) -> Node:
    return Number(-node.value) if isinstance(node, Number) else Product((Number(-1.0), node))
