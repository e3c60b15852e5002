"""Formulas for programs: Python with NumPy, SymPy, C and SQL, with all digits of a number."""

import keyword
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from vanishing.algebra.expressions import (
    Column,
    Node,
    Number,
    Power,
    Product,
    Raised,
    Sum,
    Symbol,
)
from vanishing.algebra.functions import BASES, FUNCTIONS
from vanishing.algebra.writing import (
    ATOM,
    NEGATIVE,
    POWER,
    PRODUCT,
    SUM,
    WHOLE,
    Monomials,
    PlainText,
    Written,
    fraction_text,
)
from vanishing.checks import install

# Functions that every language has, or that can be written in it.
PORTABLE = (
    *("abs", "sign", "sqrt", "cbrt", "exp", "log", "sin", "cos", "tan"),
    *("arcsin", "arccos", "arctan", "tanh", "arctanh", "arcsinh"),
)
_WRITTEN = (*PORTABLE, "log10", "log2", "sinh", "cosh", "arccosh")
_SHORT = {name: name.replace("arc", "a") for name in _WRITTEN}
_AT_ONCE = 50  # terms of a sum in C and SQL, whose readers have no room for thousands of brackets
_SQL_PRODUCTS = 8  # whole powers up to this one are written as products
_C_WORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const
    constexpr continue decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long main mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register reinterpret_cast restrict
    return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof union unsigned using virtual void
    volatile wchar_t while xor xor_eq
    abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1
    fabs fdim floor fma fmax fmin fmod frexp gamma hypot ilogb isfinite isinf isnan j0 j1 jn ldexp
    lgamma log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter pow remainder remquo
    rint round scalbn signbit signgam sin sinh sqrt tan tanh tgamma trunc y0 y1 yn
"""


class Program(PlainText):
    """Writes expressions for a program to read."""

    is_formal = True
    language: ClassVar[str]
    functions: ClassVar[dict[str, str]]  # names in the language, or texts around an argument

    def __init__(self, names: Sequence[str], digits: int | None = None):
        super().__init__(names, digits)
        self._places: dict[str, int] = {}

    def column(self, place: int) -> Written:
        """Write a column."""
        written = super().column(place)
        if self._places.setdefault(written.text, place) != place:
            raise ValueError(
                f"two columns are called {self.names[place]!r}, and a program tells variables "
                "apart by their names: rename them."
            )
        return written

    def symbol(self, symbol: Symbol) -> Written:
        """Write the value of a constant that has a name."""
        return self.literal(symbol.value)

    def size(self, value: float, std: float = 0.0, digits: int | None = None) -> str:
        """Return all digits of a number without its sign."""
        return repr(float(abs(value)))

    @staticmethod
    def literal(value: float) -> Written:
        """Write a number with its sign."""
        text = repr(float(value))
        return Written(text, NEGATIVE if text.startswith("-") else ATOM)

    def call(self, name: str, argument: Written) -> Written:
        """Write a function of something."""
        if name not in self.functions:
            raise ValueError(
                f"{name!r} is a function of your own, and not one that {self.language} has."
            )
        form = self.functions[name]
        if "{" in form:
            return Written(form.format(argument.atom))
        return Written(f"{form}({argument.text})")


class Python(Program):
    """Writes expressions as Python that needs NumPy, as ``np``."""

    language = "NumPy"
    functions: ClassVar[dict[str, str]] = {name: f"np.{name}" for name in _WRITTEN}

    def name(self, name: str) -> str:
        """Write a name."""
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"{name!r} is no name in Python: rename the column.")
        return unicodedata.normalize("NFKC", name)  # as Python reads it

    def size(self, value: float, std: float = 0.0, digits: int | None = None) -> str:
        """Return all digits of a number without its sign."""
        return str(abs(value)) if isinstance(value, Fraction) else super().size(value)

    def call(self, name: str, argument: Written) -> Written:
        """Write a function of something."""
        if name not in self.functions and name in FUNCTIONS and FUNCTIONS[name].is_numpy:
            return Written(f"np.{name}({argument.text})")
        return super().call(name, argument)

    def raised_to(self, base: Written, exponent: Written) -> Written:
        """Write a power whose exponent is an expression."""
        return Written(f"{base.atom}**{exponent.atom}", POWER)

    def raised(self, base: Written, exponent: float) -> Written:
        """Write a power that is no square root."""
        is_whole = exponent == int(exponent) and abs(exponent) < 1e9
        return Written(f"{base.atom}**{int(exponent) if is_whole else exponent!r}", POWER)


class SympyText(Python):
    """Writes expressions as Python that needs all names of SymPy."""

    language = "SymPy"
    functions: ClassVar[dict[str, str]] = {
        **_SHORT,
        "abs": "Abs",
        "cbrt": "(sign({0})*Abs({0})**Rational(1, 3))",  # its own is complex below 0
        **{name: f"(log({{0}})/log({base:g}))" for name, base in BASES.items()},
    }

    def name(self, name: str) -> str:
        """Write a name."""
        return f"Symbol({name!r})"  # a bare name may be a function or a constant: beta, E, S

    def call(self, name: str, argument: Written) -> Written:
        """Write a function of something."""
        if name not in self.functions:
            return Written(f"Function({name!r})({argument.text})")
        return super().call(name, argument)


class Spaced(Program):
    """Writes expressions with spaces and brackets that keep the order of operations."""

    times = " * "
    over = " / "
    added_rank = PRODUCT
    negated_rank = ATOM

    def sum(self, parts: Iterable[tuple[bool, Written]], n_left_out: int = 0) -> Written:
        """Write a sum of parts, each with whether it is subtracted; a long one as sum of sums."""
        parts = list(parts)
        while len(parts) > _AT_ONCE:
            several = (parts[start : start + _AT_ONCE] for start in range(0, len(parts), _AT_ONCE))
            parts = [(False, PlainText.sum(self, group)) for group in several]
        is_alone = len(parts) == 1 and not parts[0][0] and not n_left_out
        return parts[0][1] if is_alone else super().sum(parts, n_left_out)


class C(Spaced):
    """Writes expressions in C that needs ``math.h``."""

    language = "C"
    functions: ClassVar[dict[str, str]] = {
        **_SHORT,
        "abs": "fabs",
        "sign": "({0} > 0.0) - ({0} < 0.0)",
    }

    def name(self, name: str) -> str:
        """Write a name."""
        if not is_c_name(name):
            raise ValueError(f"{name!r} is no name in C: rename the column.")
        return name

    def raised(self, base: Written, exponent: float) -> Written:
        """Write a power that is no square root."""
        return self.raised_to(base, self.literal(exponent))

    def raised_to(self, base: Written, exponent: Written) -> Written:
        """Write a power whose exponent is an expression."""
        return Written(f"pow({base.text}, {exponent.text})")

    def call(self, name: str, argument: Written) -> Written:
        """Write a function of something."""
        written = super().call(name, argument)
        return written._replace(rank=SUM) if name == "sign" else written


def is_c_name(name) -> bool:
    """Say whether C, with ``math.h``, and C++ have room for a name."""
    is_word = isinstance(name, str) and re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name)
    return bool(is_word) and name not in _C_WORDS.split()


class SQL(Spaced):
    """Writes expressions in standard SQL, as SQLite, PostgreSQL and DuckDB read it."""

    language = "SQL"
    functions: ClassVar[dict[str, str]] = {
        **{name: short.upper() for name, short in _SHORT.items()},
        "log": "LN",
        **{name: f"(LN({{0}}) / {math.log(base)!r})" for name, base in BASES.items()},
        "sign": "CASE WHEN {0} > 0.0 THEN 1.0 WHEN {0} < 0.0 THEN -1.0 WHEN {0} = 0.0 THEN 0.0 END",
        "cbrt": "CASE WHEN {0} < 0.0 THEN -POWER(-{0}, 0.3333333333333333) "
        "ELSE POWER({0}, 0.3333333333333333) END",
        # Not every database has this one.
        "arcsinh": "CASE WHEN {0} < 0.0 THEN -LN(SQRT({0} * {0} + 1.0) - {0}) "
        "ELSE LN(SQRT({0} * {0} + 1.0) + {0}) END",
    }

    def name(self, name: str) -> str:
        """Write a name."""
        # SQL truncates integer division.
        return f"CAST({sql_identifier(name)} AS DOUBLE PRECISION)"

    def raised(self, base: Written, exponent: float) -> Written:
        """Write a power that is no square root."""
        if is_sql_product(exponent):
            return Written(" * ".join([base.atom] * int(exponent)), PRODUCT)
        return self.raised_to(base, self.literal(exponent))

    def raised_to(self, base: Written, exponent: Written) -> Written:
        """Write a power whose exponent is an expression."""
        return Written(f"POWER({base.text}, {exponent.text})")


def is_sql_product(exponent: float) -> bool:
    """Say whether a power is written as a product in SQL."""
    return exponent == int(exponent) and 2 <= exponent <= _SQL_PRODUCTS


def sql_identifier(name: str) -> str:
    """Write the name of a column in SQL."""
    return '"' + sql_text(name, "the column").replace('"', '""') + '"'


def sql_text(text: str, what: str) -> str:
    """Return a text, or raise ValueError where SQL cannot hold it."""
    if "\x00" in text or any("\ud800" <= c <= "\udfff" for c in text):
        raise ValueError(
            f"{what} {text!r} cannot be written in SQL: it holds a zero byte or half a character. "
            "Rename it."
        )
    return text


# -- Whole functions, and objects of SymPy --------------------------------------------------------


def python_function(names: Sequence[str], arguments: Sequence[int], node: Node, note: str) -> str:
    """Return the source of a function of columns that needs NumPy alone.

    Parameters
    ----------
    names : sequence of str
    arguments : sequence of int
        Columns that the function takes.
    node : Node
        What it returns.
    note : str
        One line.
    """
    writer = Python(names)
    written = [writer.name(names[i]) for i in arguments]
    if len(set(written)) < len(written) or "np" in written:
        raise ValueError(
            f"the columns {', '.join(written)} cannot be arguments of a function: their names "
            "must differ, and none may be np. Rename them."
        )
    body = writer.write(node)
    return (
        f"import numpy as np\n\n\ndef law({', '.join(written)}):\n    # {note}\n    return {body}\n"
    )


def to_sympy(names: Sequence[str], node: Node | Monomials, right: Node | None = None) -> Any:
    """Return an expression of SymPy, or an equation, in symbols named as the columns."""
    try:
        import sympy
    except ImportError:
        raise ImportError(f"to_sympy needs SymPy: install it with {install('symbolic')}.") from None
    text = SympyText(names)

    def column(place: int):
        text.column(place)  # raises an error where two have the same name
        return sympy.Symbol(names[place])

    def number(value: float):
        is_fraction = isinstance(value, Fraction)
        return sympy.Rational(*value.as_integer_ratio()) if is_fraction else sympy.Float(value)

    def converted(node: Node | Monomials):
        if isinstance(node, Monomials):
            powers = ([column(i) ** e for i, e in enumerate(row) if e] for row in node.exponents)
            terms = zip(node.coef, powers, strict=True)
            return sympy.Add(*(sympy.Mul(number(value), *parts) for value, parts in terms))
        if isinstance(node, Number):
            is_whole = node.value.is_integer() and abs(node.value) < WHOLE
            return sympy.Integer(int(node.value)) if is_whole else sympy.Float(node.value)
        if isinstance(node, Column):
            return column(node.place)
        if isinstance(node, Symbol):
            return sympy.Symbol(node.name)
        if isinstance(node, Power):
            return converted(node.base) ** sympy.Rational(fraction_text(node.exponent))
        if isinstance(node, Raised):
            return converted(node.base) ** converted(node.exponent)
        if isinstance(node, (Sum, Product)):
            kind = sympy.Add if isinstance(node, Sum) else sympy.Mul
            return kind(*map(converted, node.parts))
        argument = converted(node.argument)
        if node.name == "cbrt":  # SymPy's own is complex where the argument is negative
            return sympy.sign(argument) * sympy.Abs(argument) ** sympy.Rational(1, 3)
        if node.name in BASES:
            return sympy.log(argument, int(BASES[node.name]))
        if node.name not in text.functions:
            return sympy.Function(node.name)(argument)
        return getattr(sympy, text.functions[node.name])(argument)

    if right is None:
        return converted(node)
    return sympy.Eq(converted(node), converted(right), evaluate=False)
