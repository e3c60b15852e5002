"""Polynomials and equations from text: the inverse of what polynomials print."""

import ast
import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from vanishing.algebra.monomials import deglex_order
from vanishing.algebra.polynomials import Polynomial, default_names
from vanishing.algebra.writing import printable

MAX_DEGREE = 50
MAX_VARIABLES = 1000  # where they are not named
_MAX_LENGTH = 300_000  # characters of a text
_MAX_DEPTH = 50  # of brackets
_MAX_SUMMAND = 1000  # tokens of what stands between two signs: Python's parser is recursive
_MAX_PRODUCTS = 200_000  # of terms, in a text

_TOKEN = re.compile(
    r"(?P<fraction>[0-9]+/[0-9]+)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    # A name that is no word stands in brackets; it may have brackets itself, as "length [cm]" has.
    r"|(?P<name>[^\W\d]\w*|\[(?:[^][]|\[[^][]*\])*\])"
    r"|(?P<power>\*\*|\^)|(?P<times>\*)|(?P<sign>[-+])|(?P<equals>==?)|(?P<open>\()|(?P<close>\))"
    r"|(?P<space>\s+)|(?P<unknown>.)"
)
_STARTS = {"fraction", "number", "name", "open", "sign"}
_GOES_ON = {"power", "times", "sign", "equals", "close", "end"}
_MAY_FOLLOW = {"number": _GOES_ON, "name": _GOES_ON, "close": _GOES_ON}
_MAY_FOLLOW |= dict.fromkeys(("fraction", "exponent"), _GOES_ON - {"power"})

# While it is read a polynomial is a dict from terms to coefficients, and a term is the sorted tuple
# of the places of its variables: (0, 0, 1) is x0^2*x1.
_Terms = dict[tuple[int, ...], float]


def parse_polynomial(text: str, names: Sequence[str] | None = None) -> Polynomial:
    """Read a polynomial as `Polynomial` prints it, or as people write it.

    Parameters
    ----------
    text : str
        Numbers, fractions such as 2/3, names, brackets, ``+``, ``-``, ``*``, and ``^`` or ``**``
        with a non-negative integer. Names that are no words stand in brackets: ``[petal length]``.
    names : sequence of str, default=None
        Names of the variables in the order of the columns; x0, x1, ... up to the last one that
        occurs by default.

    Returns
    -------
    polynomial : Polynomial
        Expanded, its terms in DegLex order.

    Raises
    ------
    ValueError
        If the text is no polynomial in these variables, or its names cannot be told apart.

    Examples
    --------
    >>> from vanishing.polynomials import parse_polynomial
    >>> print(parse_polynomial("(x - 1)^2 + 2.5e-1*[petal length]", ["x", "petal length"]))
    x^2 + 0.25*[petal length] - 2*x + 1
    """
    return _PolynomialReader(text, names).polynomial(sides=1)


def parse_equation(text: str, names: Sequence[str] | None = None) -> Polynomial:
    """Read ``left = right`` as the polynomial left minus right; see `parse_polynomial`.

    Without ``=`` the text is the left side and the right one is zero.

    Parameters
    ----------
    text : str
        The equation.
    names : sequence of str, default=None
        Names of the variables in the order of the columns, as for `parse_polynomial`.

    Returns
    -------
    polynomial : Polynomial
        Zero where the equation holds.

    Examples
    --------
    >>> from vanishing.polynomials import parse_equation
    >>> print(parse_equation("p*V = 8.314*n*T", ["p", "V", "n", "T"]))
    -8.314*n*T + p*V
    """
    return _PolynomialReader(text, names).polynomial(sides=2)


def names_in(text: str) -> list[str]:
    """Return the names that occur in a text, each once, in the order they occur in.

    Examples
    --------
    >>> from vanishing.algebra.parsing import names_in
    >>> names_in("p*V = 8.314*n*T")
    ['p', 'V', 'n', 'T']
    """
    used = (_name(token) for kind, token in _tokens(text) if kind == "name")
    return list(dict.fromkeys(used))


def default_variables(texts: Sequence[str]) -> list[str]:
    """Return x0, x1, ... up to the last one that occurs in some texts."""
    used = [name for text in texts for name in names_in(text)]
    places = [int(name[1:]) for name in used if re.fullmatch(r"x[0-9]{1,9}", name)]
    if not places:
        raise ValueError("the equations contain none of the variables x0, x1, ...; pass names.")
    if max(places) >= MAX_VARIABLES:
        raise ValueError(f"x{max(places)} is one of more than {MAX_VARIABLES} variables.")
    return default_names(max(places) + 1)


def _name(token: str) -> str:
    return token[1:-1] if token.startswith("[") else token


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Split a text into (kind, token), without the white space."""
    if not isinstance(text, str):
        raise TypeError(f"a polynomial must be given as a string; got {type(text).__name__}.")
    if len(text) > _MAX_LENGTH:
        _fail(text, f"it is longer than {_MAX_LENGTH} characters")
    for match in _TOKEN.finditer(text):
        if match.lastgroup != "space":
            yield str(match.lastgroup), match.group()


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def _fail(text: str, problem: str):
    raise ValueError(f"cannot read the equation {_shown(text)}: {problem}.")


class _PolynomialReader:
    """Reads one text, which Python's parser takes apart; nothing is evaluated as Python."""

    def __init__(self, text: str, names: Sequence[str] | None):
        self.text = text
        self.names = default_variables([text]) if names is None else [str(name) for name in names]
        self.products = _MAX_PRODUCTS
        self.columns: dict[str, int | None] = {}  # None where two columns print the same name
        for i, name in enumerate(map(printable, self.names)):
            self.columns[name] = None if name in self.columns else i
            # Where a name such as "a] + [b" ends cannot be seen.
            if "[" in name or "]" in name:
                token = _TOKEN.match(f"[{name}]")
                if token and len(token[0]) < len(name) + 2 and f"[{name}]" in text:
                    self.refuse(name)

    def fail(self, problem: str):
        _fail(self.text, problem)

    def unexpected(self, token: str, before: str):
        if before in _MAY_FOLLOW:
            self.fail(f"{_shown(token)} is not expected there")
        self.fail(f"a number, a variable or a bracket is expected in place of {_shown(token)}")

    def refuse(self, name: str):
        self.fail(f"the name {_shown(name)} cannot be told from others; rename the column")

    def polynomial(self, sides: int) -> Polynomial:
        total: _Terms = {}
        for side, source in self.summands(sides):
            _add(total, self.expanded(source), side)
        if not all(map(math.isfinite, total.values())):
            self.fail("its coefficients must be finite")
        kept = [term for term, value in total.items() if value] or [()]
        terms = np.zeros((len(kept), len(self.names)), dtype=np.int64)
        for row, term in zip(terms, kept, strict=True):
            np.add.at(row, list(term), 1)
        order = deglex_order(terms)
        coef = [total.get(kept[i], 0.0) for i in order]
        return Polynomial(terms[order], coef, feature_names=self.names)

    def summands(self, sides: int) -> Iterator[tuple[float, str]]:
        """Check that tokens fit together; yield the summands of both sides as Python's text."""
        side, depth, before = 1.0, 0, "start"
        summand: list[str] = []
        for kind, token in [*_tokens(self.text), ("end", "the end")]:
            if before == "power":
                if not re.fullmatch("[0-9]{1,3}", token) or int(token) > MAX_DEGREE:
                    wanted = f"an integer from 0 to {MAX_DEGREE}"
                    self.fail(f"an exponent must be {wanted}, not {_shown(token)}")
                kind, token = "exponent", str(int(token))  # Python has no 007
            elif kind not in _MAY_FOLLOW.get(before, _STARTS):
                self.unexpected(token, before)
            depth += (kind == "open") - (kind == "close")
            if depth and kind in ("equals", "end"):
                self.fail("a bracket is not closed")
            if depth < 0 or (kind == "equals" and (side < 0 or sides == 1)):
                self.unexpected(token, before)
            if depth > _MAX_DEPTH:
                self.fail("the brackets are nested too deeply")
            between = kind == "sign" and not depth and before in _MAY_FOLLOW
            if between or kind in ("equals", "end"):
                yield side, " ".join(summand)
                summand = []
            if kind == "equals":
                side = -1.0
            elif kind != "end":
                summand.append(self.python(kind, token))
            if len(summand) > _MAX_SUMMAND:
                self.fail(f"more than {_MAX_SUMMAND} factors, signs and brackets form one term")
            before = kind

    def python(self, kind: str, token: str) -> str:
        """Return a token as Python's text: numbers, and the variables as _0, _1, ..."""
        if kind in ("fraction", "number"):
            try:
                value = float(Fraction(token) if kind == "fraction" else token)
            except (
                OverflowError,
                ValueError,
                ZeroDivisionError,
            ):  # or more digits than Python takes
                value = math.inf
            if math.isinf(value):
                self.fail("its coefficients must be finite")
            return repr(value)
        if kind != "name":
            return "**" if kind == "power" else token
        name = _name(token)
        if name not in self.columns:
            listed = ", ".join(self.names[:10]) + (", ..." if len(self.names) > 10 else "")
            self.fail(f"{_shown(name)} is not one of the variables {listed}")
        if self.columns[name] is None:
            self.refuse(name)
        return f"_{self.columns[name]}"

    def expanded(self, source: str) -> _Terms:
        values: dict[ast.AST, _Terms] = {}
        # From the leaves to the root: `ast.walk` comes to a node before the nodes below it.
        for node in reversed(list(ast.walk(ast.parse(source, mode="eval").body))):
            match node:
                case ast.Constant(value=float(value)):
                    values[node] = {(): value}
                case ast.Name(id=name):
                    values[node] = {(int(name[1:]),): 1.0}
                case ast.UnaryOp(op=op, operand=operand):
                    sign = -1.0 if isinstance(op, ast.USub) else 1.0
                    values[node] = {t: sign * c for t, c in values.pop(operand).items()}
                case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(exponent))):
                    base, values[node] = values.pop(left), {(): 1.0}
                    for _ in range(exponent):
                        values[node] = self.product(values[node], base)
                case ast.BinOp(left=left, op=ast.Mult(), right=right):
                    values[node] = self.product(values.pop(left), values.pop(right))
                case ast.BinOp(left=left, op=op, right=right):
                    values[node] = total = values.pop(left)
                    _add(total, values.pop(right), -1.0 if isinstance(op, ast.Sub) else 1.0)
        return values[node]

    def product(self, left: _Terms, right: _Terms) -> _Terms:
        self.products -= len(left) * len(right)
        if self.products < 0:
            self.fail("it has too many terms")
        if max(map(len, left)) + max(map(len, right)) > MAX_DEGREE:
            self.fail(f"its degree exceeds {MAX_DEGREE}")
        total: _Terms = {}
        for term, value in left.items():
            for other, factor in right.items():
                key = tuple(sorted(term + other))
                total[key] = total.get(key, 0.0) + value * factor
        return total


def _add(total: _Terms, more: _Terms, factor: float) -> None:
    for term, value in more.items():
        total[term] = total.get(term, 0.0) + factor * value
