"""How expressions and equations of laws are written: plain text, LaTeX, Python and SymPy."""

from collections.abc import Sequence
from fractions import Fraction

from vanishing.algebra.expressions import (
    Apply,
    Column,
    Node,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    is_negative,
    quotient,
)
from vanishing.algebra.quantities import Unit
from vanishing.algebra.writing import STYLES, with_error

_DIGITS = 6  # of a number without a standard error that matters
_EXACT = 1e-6  # relative standard error below which a number is written without it
_WHOLE = 1e12  # whole numbers up to this size are written in full
_NUMPY = {"sin", "cos", "tan", "arcsin", "arccos", "arctan", "tanh", "arctanh", "log", "exp"}
_NUMPY |= {"cbrt", "abs", "sign"}


class LawText:
    """Writes expressions as plain text.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    """

    style = STYLES["text"]
    brackets = "({})"
    times = "*"
    bar = False  # whether a bar shows what a quotient consists of

    def __init__(self, names: Sequence[str]):
        self.names = names

    def write(self, node: Node) -> str:
        """Return an expression as text."""
        if is_negative(node):
            return "-" + self._without_sign(node)
        return self._without_sign(node)

    def _without_sign(self, node: Node) -> str:
        if isinstance(node, Number):
            return self.quantity(node)
        if isinstance(node, Column):
            return self.style.name(self.names[node.place])
        if isinstance(node, Symbol):
            return self.style.name(node.name)
        if isinstance(node, Apply):
            return self.call(node.name, self.write(node.argument))
        if isinstance(node, Sum):
            text = self.write(node.parts[0])
            for part in node.parts[1:]:
                text += (" - " if is_negative(part) else " + ") + self._without_sign(part)
            return text
        if isinstance(node, Power) and node.exponent > 0.0:
            return self.power(node.base, node.exponent)
        return self._product(node)

    def _product(self, node: Node) -> str:
        number, above, below = quotient(node)
        size = self.quantity(number)
        is_one = size in ("1", "1.0") and bool(above)
        over = self._factors(above, others=not is_one)
        if not is_one:
            over.insert(0, size)
        return self.fraction(over, self._factors(below)) if below else self.times.join(over)

    def _factors(self, nodes: list[Node], *, others: bool = False) -> list[str]:
        alone = self.bar and len(nodes) == 1 and not others
        return [
            self.brackets.format(self.write(node))
            if isinstance(node, Sum) and not alone
            else self.write(node)
            for node in nodes
        ]

    def quantity(self, number: Number) -> str:
        """Write the size of a number, with its unit."""
        size = self.number(abs(number.value), number.std)
        return size if number.unit.is_one else self.with_unit(size, number.unit)

    def with_unit(self, size: str, unit: Unit) -> str:
        """Write a unit behind a number."""
        return f"{size}[{unit}]"

    def number(self, size: float, std: float) -> str:
        """Write a number that is not negative, with the digits that matter."""
        if _EXACT * size < std < float("inf"):
            return self.style.scientific(*with_error(size, std))
        if size < _WHOLE and size == int(size):
            return str(int(size))
        return self.style.number(size, _DIGITS)

    def call(self, name: str, argument: str) -> str:
        """Write a function of something."""
        return f"{self.style.name(name)}({argument})"

    def power(self, base: Node, exponent: float) -> str:
        """Write a power with a positive exponent."""
        if exponent == 0.5:
            return self.call("sqrt", self.write(base))
        text = self.write(base)
        if not isinstance(base, (Number, Column, Apply)):
            text = self.brackets.format(text)
        return self.style.power(text, self.exponent(exponent))

    def exponent(self, exponent: float) -> str:
        """Write an exponent."""
        whole = _fraction(exponent)
        return f"({whole})" if "/" in whole else whole

    def fraction(self, over: list[str], below: list[str]) -> str:
        """Write a quotient of products."""
        divisor = self.times.join(below)
        divisor = divisor if len(below) == 1 else self.brackets.format(divisor)
        return f"{self.times.join(over)}/{divisor}"

    def equation(self, left: Node, right: Node) -> str:
        """Write an equation."""
        return f"{self.write(left)} = {self.write(right)}"


def _fraction(exponent: float) -> str:
    """Write an exponent as a fraction where it is one of small numbers."""
    near = Fraction(exponent).limit_denominator(12)
    return str(near) if abs(float(near) - exponent) < 1e-12 else repr(exponent)


class Latex(LawText):
    """Writes expressions in LaTeX."""

    style = STYLES["latex"]
    brackets = r"\left({}\right)"
    bar = True

    def __init__(self, names: Sequence[str]):
        super().__init__(names)
        self.times = self.style.times([self.style.name(name) for name in names])

    def with_unit(self, size: str, unit: Unit) -> str:
        """Write a unit behind a number."""
        return rf"{size} \, {unit.to_latex()} \,"

    def call(self, name: str, argument: str) -> str:
        """Write a function of something."""
        if name in ("sqrt", "cbrt"):
            return r"\sqrt{" + argument + "}" if name == "sqrt" else rf"\sqrt[3]{{{argument}}}"
        if name == "abs":
            return rf"\left|{argument}\right|"
        if name in _NUMPY and name not in ("sign", "arctanh"):
            command = f"\\{name}"
        else:
            command = rf"\operatorname{{{name}}}" if name.isalpha() else self.style.name(name)
        return command + self.brackets.format(argument)

    def exponent(self, exponent: float) -> str:
        """Write an exponent."""
        return _fraction(exponent)

    def fraction(self, over: list[str], below: list[str]) -> str:
        """Write a quotient of products."""
        return rf"\frac{{{self.times.join(over)}}}{{{self.times.join(below)}}}"


class Python(LawText):
    """Writes expressions as Python that needs NumPy, as ``np``."""

    style = STYLES["python"]

    def number(self, size: float, std: float) -> str:
        """Write a number with all its digits."""
        return repr(float(size))

    def call(self, name: str, argument: str) -> str:
        """Write a function of something."""
        if name not in _NUMPY | {"sqrt"}:
            raise ValueError(f"{name!r} is a function of your own, and not one that NumPy has.")
        return f"np.{name}({argument})"

    def exponent(self, exponent: float) -> str:
        """Write an exponent."""
        return str(int(exponent)) if exponent.is_integer() else repr(exponent)


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
    written = [Python.style.name(names[i]) for i in arguments]
    if len(set(written)) < len(written) or "np" in written:
        raise ValueError(
            f"the columns {', '.join(written)} cannot be arguments of a function: their names "
            "must differ, and none may be np. Rename them."
        )
    body = Python(names).write(node)
    return (
        f"import numpy as np\n\n\ndef law({', '.join(written)}):\n    # {note}\n    return {body}\n"
    )


def sympy_equation(names: Sequence[str], left: Node, right: Node):
    """Return an equation of SymPy in symbols named as the columns."""
    try:
        import sympy
    except ImportError:
        raise ImportError(
            "to_sympy needs SymPy: install it with pip install 'vanishing[symbolic]'."
        ) from None
    symbols = [sympy.Symbol(name) for name in names]
    return sympy.Eq(to_sympy(left, symbols), to_sympy(right, symbols), evaluate=False)


def to_sympy(node: Node, symbols: Sequence):
    """Return an expression of SymPy."""
    import sympy

    if isinstance(node, Number):
        whole = node.value.is_integer() and abs(node.value) < _WHOLE
        return sympy.Integer(int(node.value)) if whole else sympy.Float(node.value)
    if isinstance(node, Column):
        return symbols[node.place]
    if isinstance(node, Symbol):
        return sympy.Symbol(node.name)
    if isinstance(node, Power):
        exponent = sympy.Rational(_fraction(node.exponent))
        return to_sympy(node.base, symbols) ** exponent
    if isinstance(node, (Sum, Product)):
        kind = sympy.Add if isinstance(node, Sum) else sympy.Mul
        return kind(*(to_sympy(part, symbols) for part in node.parts))
    argument = to_sympy(node.argument, symbols)
    if node.name == "cbrt":  # SymPy's own is complex where the argument is negative
        return sympy.sign(argument) * sympy.Abs(argument) ** sympy.Rational(1, 3)
    names = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctanh": "atanh"}
    names["abs"] = "Abs"
    name = names.get(node.name, node.name)
    function = getattr(sympy, name) if node.name in _NUMPY else sympy.Function(name)
    return function(argument)
