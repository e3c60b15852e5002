"""Formulas with functions, from text: read by Python's parser, never run by Python."""

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vanishing.algebra.immutable import Immutable

FUNCTIONS: dict[str, Callable] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "arcsin": np.arcsin,
    "arccos": np.arccos,
    "arctan": np.arctan,
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "ln": np.log,
    "sqrt": np.sqrt,
}
_CONSTANTS = {"pi": np.pi}
_OPERATORS: dict[type, Callable] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.USub: np.negative,
    ast.UAdd: np.positive,
}
_MAX_LENGTH = 10_000


class Formula(Immutable):
    """A formula in named columns.

    Parameters
    ----------
    text : str
        Numbers, names, ``+ - * / **`` (or ``^``), brackets, pi, and the functions sin, cos, tan,
        arcsin, arccos, arctan, tanh, exp, log (or ln) and sqrt.

    Attributes
    ----------
    text : str
    names : tuple of str
        The names that occur, in the order they occur in.

    Examples
    --------
    >>> from vanishing.algebra.formulas import Formula
    >>> period = Formula("2*pi*sqrt(l/g)")
    >>> period.names
    ('l', 'g')
    >>> float(period({"l": 1.0, "g": 9.81}).round(3))
    2.006
    """

    text: str
    names: tuple[str, ...]
    _tree: ast.expr

    def __init__(self, text: str):
        if not isinstance(text, str) or len(text) > _MAX_LENGTH:
            raise ValueError(f"a formula is a text of at most {_MAX_LENGTH} characters.")
        try:
            tree = ast.parse(text.strip().replace("^", "**"), mode="eval").body
        except (SyntaxError, RecursionError, MemoryError, ValueError):
            raise ValueError(f"{text!r} is not a formula that can be read.") from None
        self._set(text=text, _tree=tree)
        names: dict[str, None] = {}
        self._check(tree, names)
        self._set(names=tuple(names))

    def __reduce__(self):
        return Formula, (self.text,)

    def __repr__(self) -> str:
        return f"Formula({self.text!r})"

    def _check(self, node, names) -> None:
        """Look at every part before any is evaluated, and collect the names."""
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return
        if isinstance(node, ast.Name):
            if node.id not in _CONSTANTS:
                names[node.id] = None
            return
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            self._check(node.left, names)
            self._check(node.right, names)
            return
        if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
            self._check(node.operand, names)
            return
        call = isinstance(node, ast.Call) and getattr(node.func, "id", None) in FUNCTIONS
        if call and len(node.args) == 1 and not node.keywords:
            self._check(node.args[0], names)
            return
        raise ValueError(
            f"{self.text!r} is not a formula that can be read: {ast.unparse(node)!r} is no number, "
            f"name, sum, product, power, or function out of {', '.join(FUNCTIONS)}."
        )

    def __call__(self, columns: Mapping[str, Any]) -> np.ndarray:
        """Evaluate on columns, given by their names."""
        missing = [name for name in self.names if name not in columns]
        if missing:
            raise ValueError(f"{self.text!r} needs the column {missing[0]!r}.")
        return self._value(self._tree, columns)

    def _value(self, node, columns):
        if isinstance(node, ast.Constant):
            return float(node.value)
        if isinstance(node, ast.Name):
            known = _CONSTANTS.get(node.id)
            return np.asarray(columns[node.id], dtype=np.float64) if known is None else known
        if isinstance(node, ast.BinOp):
            left, right = self._value(node.left, columns), self._value(node.right, columns)
            return _OPERATORS[type(node.op)](left, right)
        if isinstance(node, ast.UnaryOp):
            return _OPERATORS[type(node.op)](self._value(node.operand, columns))
        return FUNCTIONS[node.func.id](self._value(node.args[0], columns))
