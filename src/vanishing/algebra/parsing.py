"""Polynomials and equations from text: the inverse of what polynomials print."""

import math
import re
from collections.abc import Sequence

import numpy as np

from vanishing.algebra.expressions import Column, Node, Number, Power, Product, Sum
from vanishing.algebra.monomials import deglex_order
from vanishing.algebra.polynomials import Polynomial, default_names
from vanishing.algebra.syntax import TextReader, shown, tokens

MAX_DEGREE = 50
MAX_VARIABLES = 1000  # where they are not named
_MAX_PRODUCTS = 200_000  # of terms, in a text

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
        If the text is no polynomial in these variables, or two of its names look alike.

    See Also
    --------
    parse_equation : Read an equation, which has two sides.
    vanishing.check_law : Read equations with functions and constants to be fitted.

    Examples
    --------
    >>> from vanishing.polynomials import parse_polynomial
    >>> print(parse_polynomial("(x - 1)^2 + 2.5e-1*[petal length]", ["x", "petal length"]))
    x^2 + 0.25*[petal length] - 2*x + 1
    """
    return _PolynomialReader(text, names).polynomial(most_sides=1)


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

    See Also
    --------
    parse_polynomial : Read a polynomial, which has one side.

    Examples
    --------
    >>> from vanishing.polynomials import parse_equation
    >>> print(parse_equation("p*V = 8.314*n*T", ["p", "V", "n", "T"]))
    -8.314*n*T + p*V
    """
    return _PolynomialReader(text, names).polynomial(most_sides=2)


def names_in(text: str) -> list[str]:
    """Return the names that occur in a text, each once, in the order they occur in.

    Examples
    --------
    >>> from vanishing.algebra.parsing import names_in
    >>> names_in("p*V = 8.314*n*T")
    ['p', 'V', 'n', 'T']
    """
    return list(dict.fromkeys(token.name for token in tokens(text) if token.kind == "name"))


def default_variables(texts: Sequence[str]) -> list[str]:
    """Return x0, x1, ... up to the last one that occurs in some texts."""
    used = [name for text in texts for name in names_in(text)]
    places = [int(name[1:]) for name in used if re.fullmatch(r"x[0-9]{1,9}", name)]
    if not places:
        raise ValueError("the equations contain none of the variables x0, x1, ...; pass names.")
    if max(places) >= MAX_VARIABLES:
        raise ValueError(f"x{max(places)} is one of more than {MAX_VARIABLES} variables.")
    return default_names(max(places) + 1)


class _PolynomialReader(TextReader):
    """Reads one text and expands it."""

    max_length = 300_000
    functions = False

    def __init__(self, text: str, names: Sequence[str] | None):
        if not isinstance(text, str):
            raise TypeError(f"a polynomial must be given as a string; got {type(text).__name__}.")
        super().__init__(text, default_variables([text]) if names is None else names)
        self.products = _MAX_PRODUCTS

    def polynomial(self, most_sides: int) -> Polynomial:
        total: _Terms = {}
        for side, sign in zip(self.sides(most_sides), (1.0, -1.0), strict=False):
            _add(total, self.expanded(side), sign)
        if not all(map(math.isfinite, total.values())):
            self.fail("its coefficients must be finite")
        kept = [term for term, value in total.items() if value] or [()]
        terms = np.zeros((len(kept), len(self.names)), dtype=np.int64)
        for row, term in zip(terms, kept, strict=True):
            np.add.at(row, list(term), 1)
        order = deglex_order(terms)
        coef = [total.get(kept[i], 0.0) for i in order]
        return Polynomial(terms[order], coef, feature_names=self.names)

    def expanded(self, node: Node) -> _Terms:
        if isinstance(node, Number):
            return {(): node.value}
        if isinstance(node, Column):
            return {(node.place,): 1.0}
        if isinstance(node, Power):
            return self.raised(self.expanded(node.base), node.exponent)
        assert isinstance(node, Product | Sum)  # there are no functions
        first, *rest = node.parts
        total = self.expanded(first)
        for part in rest:
            if isinstance(node, Sum):
                _add(total, self.expanded(part), 1.0)
            else:
                total = self.product(total, self.expanded(part))
        return total

    def exponent(self) -> float:
        text = self.take().text
        if not re.fullmatch("[0-9]{1,3}", text) or int(text) > MAX_DEGREE:
            wanted = f"an integer from 0 to {MAX_DEGREE}"
            self.fail(f"an exponent must be {wanted}, not {shown(text)}")
        if self.next.kind == "power":  # which of the two comes first?
            self.unexpected(self.next.text)
        return float(text)

    def raised(self, base: _Terms, exponent: float) -> _Terms:
        if exponent < 0.0:  # but for fractions, which are numbers
            if base == {(): 0.0}:
                self.fail("its coefficients must be finite")
            self.unexpected("/")
        total: _Terms = {(): 1.0}
        for _ in range(int(exponent)):
            total = self.product(total, base)
        return total

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
