"""Formulas with functions, from text: evaluated on columns that are given by their names."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from vanishing.algebra.expressions import Column, Node, evaluate
from vanishing.algebra.immutable import Immutable
from vanishing.algebra.syntax import TextReader, Token


class Formula(Immutable):
    """A formula in named columns.

    Parameters
    ----------
    text : str
        Numbers, names, ``+ - * /``, ``**`` (or ``^``) with a number, brackets, pi, and functions.

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
    _tree: Node

    def __init__(self, text: str):
        if not isinstance(text, str):
            raise ValueError(f"a formula is a text; got {type(text).__name__}.")
        reader = _FormulaReader(text, [])
        (tree,) = reader.sides(1)
        self._set(text=text, _tree=tree, names=tuple(reader.names))

    def __reduce__(self):
        return Formula, (self.text,)

    def __repr__(self) -> str:
        return f"Formula({self.text!r})"

    def __call__(self, columns: Mapping[str, Any]) -> np.ndarray:
        """Evaluate on columns, given by their names."""
        missing = [name for name in self.names if name not in columns]
        if missing:
            raise ValueError(f"{self.text!r} needs the column {missing[0]!r}.")
        values = [np.asarray(columns[name], dtype=np.float64) for name in self.names]
        return evaluate(self._tree, values)


class _FormulaReader(TextReader):
    """Reads a formula, in which every name is a column."""

    kind = "formula"
    max_length = 10_000

    def unknown(self, token: Token) -> Node:
        self.columns[token.name] = len(self.names)
        self.names.append(token.name)
        return Column(len(self.names) - 1)
