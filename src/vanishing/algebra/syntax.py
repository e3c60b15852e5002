"""Texts as trees: one tokenizer and one parser for all formulas; nothing is run as Python."""

import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple, NoReturn

import numpy as np

from vanishing.algebra.expressions import (
    Column,
    Node,
    Number,
    Power,
    Product,
    Raised,
    Sum,
    apply,
    columns_of,
    evaluate,
)
from vanishing.algebra.functions import readable
from vanishing.algebra.writing import printable

_MAX_DEPTH = 50  # of brackets: the parser is recursive
_MAX_FACTORS = 1000  # of a product, and signs before one
_TOKEN = re.compile(
    # Behind the number of 8.314(2)[J/(mol K)] are its standard error and its unit, as laws have.
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?:\([0-9]+\))?(?:\[[^][]*\])?"
    # A name that is no word stands in brackets; it may have brackets itself, as "length [cm]" has.
    # A column some rows before is x[t-1].
    r"|(?P<name>[^\W\d]\w*(?:\[t-[0-9]+\])?|\[(?:[^][]|\[[^][]*\])*\])"
    r"|(?P<power>\*\*|\^)|(?P<times>[*/])|(?P<sign>[-+])|(?P<equals>==?)|(?P<open>\()|(?P<close>\))"
    r"|(?P<space>\s+)|(?P<unknown>.)",
    re.DOTALL,
)


class FormulaError(ValueError):
    """A text is no formula; ``problem`` says why, and ``start`` where, None if nowhere certain."""

    def __init__(self, message: str, problem: str, start: int | None):
        super().__init__(message)
        self.problem, self.start = problem, start

    def __reduce__(self):
        return FormulaError, (*self.args, self.problem, self.start)


class Token(NamedTuple):
    """A piece of text: its kind, what stands behind a number, and where it begins."""

    kind: str
    text: str
    measure: str = ""
    start: int | None = None

    @property
    def name(self) -> str:
        """A name without its brackets."""
        return self.text[1:-1] if self.text.startswith("[") else self.text


def tokens(text: str) -> Iterator[Token]:
    """Split a text, without its white space."""
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind != "space":
            yield Token(kind, match[kind], match[0][len(match[kind]) :], match.start())


def _with_fractions(side: list[Token]) -> list[Token]:
    """Return tokens in which two whole numbers are one fraction: it is rounded once."""
    merged: list[Token] = []
    for i, token in enumerate(side):
        before = merged[-3].kind if len(merged) > 2 else "start"
        following = side[i + 1].kind if i + 1 < len(side) else "end"
        match merged[-2:], token:
            case [Token("number", above, "", start), Token("times", "/")], Token(
                "number", below, ""
            ) if above.isdigit() and below.isdigit() and below.strip("0"):
                if before not in ("times", "power") and following != "power":
                    merged[-2:] = [Token("number", f"{above}/{below}", "", start)]
                    continue
        merged.append(token)
    return merged


def listed(names: Sequence[str]) -> str:
    """Return some names as text, the first ten if there are more."""
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")


def shown(text: str) -> str:
    """Return a text in quotation marks, its beginning if it is long."""
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
    any_exponents = False  # whether an exponent may have names
    measured = False  # whether numbers may have a standard error and a unit, which are left out
    misfit = ""  # what is said of texts that are no formula, before what is wrong

    def __init__(self, text: str, names: Sequence[str]):
        self.text, self.names = text, [str(name) for name in names]
        if len(text) > self.max_length:
            self.fail(f"it is longer than {self.max_length} characters")
        self.known = readable() if self.functions else {}
        self._depth = 0
        self._tokens: Iterator[Token] = iter(())
        self.next = Token("end", "the end")
        self.columns: dict[str, int | None] = {}  # None where two columns print the same name
        for i, name in enumerate(map(printable, self.names)):
            self.columns[name] = None if name in self.columns else i
            # Where a name such as "a] + [b" ends cannot be seen.
            if "[" in name or "]" in name:
                token = _TOKEN.match(f"[{name}]")
                if token and len(token[0]) < len(name) + 2 and f"[{name}]" in text:
                    self._refuse(name)
        for i, name in enumerate(self.names):
            self.columns.setdefault(name, i)  # with what is not printed, such as a no-break space

    def fail(self, problem: str, token: Token | None = None) -> NoReturn:
        """Raise FormulaError with the text, what is wrong with it, and where that stands."""
        start = None if token is None else token.start
        place = "" if start is None else f" (character {start + 1})"
        message = f"cannot read the {self.kind} {shown(self.text)}: {problem}{place}."
        raise FormulaError(message, problem, start)

    def _refuse(self, name: str) -> NoReturn:
        self.fail(f"the name {shown(name)} looks like another one; rename the column")

    def unknown(self, token: Token) -> Node:
        """Return what a name that is no column stands for."""
        self.fail(f"{shown(token.name)} is not one of the variables {listed(self.names)}")

    def sides(self, most: int) -> list[Node]:
        """Return the sides of an equation, at most so many, as trees."""
        sides: list[list[Token]] = [[]]
        for token in tokens(self.text):
            if token.kind == "equals" and len(sides) < most:
                sides.append([])
            else:
                sides[-1].append(token)
        if not all(sides):
            self.fail("a side is empty")
        ends = ["="] * (len(sides) - 1) + ["the end"]
        return [self._side(side, end) for side, end in zip(sides, ends, strict=True)]

    def _side(self, side: list[Token], end: str) -> Node:
        self._tokens = iter([*_with_fractions(side), Token("end", end)])
        self.next = next(self._tokens)
        node = self._sum()
        if self.next.kind != "end":
            self.unexpected(self.next.text, self.next)
        return node

    def take(self) -> Token:
        """Return the next token, and go on to the one behind it."""
        token = self.next
        self.next = next(self._tokens, token)
        return token

    def unexpected(self, text: str, token: Token | None = None) -> NoReturn:
        """Say that something is not expected where it stands."""
        self.fail(f"{self.misfit}{shown(text)} is not expected there", token)

    def _sum(self) -> Node:
        parts: list[Node] = [self._product()]
        while self.next.kind == "sign":
            minus = self.take().text == "-"
            parts.append(_negative(self._product()) if minus else self._product())
        return parts[0] if len(parts) == 1 else Sum(tuple(parts))

    def _product(self) -> Node:
        parts: list[Node] = [self._signed()]
        while self.next.kind == "times":
            operator, factor = self.take().text, self._signed()
            match operator, parts[-1], factor:
                case "/", Number(value=above), Number(value=below) if below:  # 2/3 is a number
                    parts[-1] = Number(above / below)
                case "/", _, _:
                    parts.append(Power(factor, -1.0))
                case _:
                    parts.append(factor)
            if len(parts) > _MAX_FACTORS:
                self._too_long()
        return parts[0] if len(parts) == 1 else Product(tuple(parts))

    def _signed(self) -> Node:
        signs = ""
        while self.next.kind == "sign":
            signs += self.take().text
        if len(signs) > _MAX_FACTORS:
            self._too_long()
        base = self._atom()
        if self.next.kind == "power":
            self.take()
            power = self.exponent()
            base = Power(base, power) if isinstance(power, float) else Raised(base, power)
        return _negative(base) if signs.count("-") % 2 else base

    def _too_long(self) -> NoReturn:
        self.fail(
            f"more than {_MAX_FACTORS} factors, signs and brackets form one term, or are nested "
            "too deeply"
        )

    def exponent(self) -> float | Node:
        """Read what stands behind the sign of a power."""
        node = self._deeper(self._signed)
        if columns_of(node):
            if not self.any_exponents:
                self.fail("an exponent must be a number")
            return node
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
        opening = self.take()
        node = self._deeper(self._sum)
        if self.next.kind == "end":
            self.fail(f"{self.misfit}a bracket is not closed", opening)
        if self.next.kind != "close":
            self.unexpected(self.next.text, self.next)
        self.take()
        return node

    def _atom(self) -> Node:
        if self.next.kind == "open":
            return self._bracket()
        token = self.take()
        if token.kind == "number":
            return self._number(token)
        if token.kind != "name":
            expected = f"{self.misfit}a number, a variable or a bracket is expected"
            self.fail(f"{expected} in place of {shown(token.text)}", token)
        if self.next.kind == "open" and self.functions:
            if token.text not in self.known:
                self.fail(
                    f"{token.name!r} before a bracket is no function out of "
                    f"{', '.join(self.known)}; write * for a product",
                    token,
                )
            return apply(self.known[token.text], self._bracket())
        if token.name not in self.columns:
            is_pi = token.text == "pi" and self.functions
            return Number(math.pi) if is_pi else self.unknown(token)
        place = self.columns[token.name]
        return self._refuse(token.name) if place is None else Column(place)

    def _number(self, token: Token) -> Node:
        if token.measure and not self.measured:
            self.unexpected(token.measure, token)
        try:
            value = float(Fraction(token.text) if "/" in token.text else token.text)
        except (OverflowError, ValueError):  # or more digits than Python takes
            value = math.inf
        if not math.isfinite(value):
            self.fail("its numbers must be finite")
        return Number(value)


def _negative(node: Node) -> Node:
    return Number(-node.value) if isinstance(node, Number) else Product((Number(-1.0), node))
