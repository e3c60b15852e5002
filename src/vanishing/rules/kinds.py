"""Rules about single rows: what each says in words, of columns, and in SQL."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vanishing._types import BoolArray
from vanishing.algebra.expressions import Node, evaluate
from vanishing.algebra.programs import SQL, sql_identifier, sql_text
from vanishing.algebra.writing import PlainText

Columns = Mapping[str, np.ndarray]  # numbers, NaN where there is none; or texts, None likewise


def number_text(value: float) -> str:
    """Write a number for people and programs alike, without a point where it is whole."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _name(name: str) -> str:
    return PlainText(()).name(name)


@dataclass(frozen=True)
class Rule:
    """A condition that every row has to meet; a row whose cells are missing does.

    Attributes
    ----------
    kind : str
        "law", "range", "sign", "integer", "order" or "codes".
    columns : tuple of str
        Names of the columns it is about.
    """

    kind: ClassVar[str]

    columns: tuple[str, ...]

    def holds(self, columns: Columns) -> BoolArray:
        """Say which rows meet the rule.

        Parameters
        ----------
        columns : mapping from str to ndarray of shape (n_rows,)
            Columns by name.

        Returns
        -------
        holds : ndarray of bool of shape (n_rows,)
        """
        with np.errstate(all="ignore"):
            return ~self._is_broken(columns)

    def _is_broken(self, columns: Columns) -> np.ndarray:
        raise NotImplementedError

    def condition(self, language: SQL) -> str:
        """Write the condition in SQL, as true or NULL where a row meets it.

        Parameters
        ----------
        language : SQL
            Writes columns: with a cast, or as they are.

        Returns
        -------
        text : str
        """
        raise NotImplementedError

    def found(self, columns: Columns, row: int) -> str:
        """Write the cells of a row that the rule is about.

        Parameters
        ----------
        columns : mapping from str to ndarray of shape (n_rows,)
        row : int

        Returns
        -------
        text : str
        """
        cells = []
        for name in self.columns:
            value = columns[name][row]
            text = repr(value) if isinstance(value, str) else f"{value:.6g}"
            cells.append(f"{_name(name)} is {text}")
        return ", ".join(cells)


@dataclass(frozen=True)
class LawRule(Rule):
    """Two expressions in the columns that differ by no more than a tolerance.

    Attributes
    ----------
    left, right : Node
        In the columns, by their places in ``columns``.
    tolerance : float
        In units of the left side.
    relative : float
        What is added to it for each unit of the left side.
    """

    kind: ClassVar[str] = "law"

    left: Node
    right: Node
    tolerance: float
    relative: float = 0.0

    def __str__(self) -> str:
        text = PlainText(self.columns, 12)
        parts = [f"{self.tolerance:.3g}"] if self.tolerance or not self.relative else []
        if self.relative:
            parts.append(f"{100 * self.relative:.3g} % of {text.write(self.left)}")
        return f"{text.equation(self.left, self.right)}, up to {' and '.join(parts)}"

    def _is_broken(self, columns: Columns) -> np.ndarray:
        values = [columns[name] for name in self.columns]
        left, right = evaluate(self.left, values), evaluate(self.right, values)
        return np.abs(left - right) > self.tolerance + self.relative * np.abs(left)

    def condition(self, language: SQL) -> str:
        """Write the condition in SQL, as true or NULL where a row meets it."""
        language = type(language)(self.columns)
        left, right = language.signed(self.left), language.signed(self.right)
        difference = language.sum([(False, left), (True, right)])
        limit = repr(self.tolerance)
        if self.relative:
            size = f"{self.relative!r} * ABS({left.text})"
            limit = f"{limit} + {size}" if self.tolerance else size
        return f"ABS({difference.text}) <= {limit}"


@dataclass(frozen=True)
class RangeRule(Rule):
    """A column between two numbers, one of which may be absent."""

    kind: ClassVar[str] = "range"

    low: float | None
    high: float | None

    def __str__(self) -> str:
        name = _name(self.columns[0])
        if self.low is None or self.high is None:
            end = self.high if self.low is None else self.low
            assert end is not None
            return f"{name} is at {'most' if self.low is None else 'least'} {number_text(end)}"
        return f"{name} is from {number_text(self.low)} to {number_text(self.high)}"

    def _is_broken(self, columns: Columns) -> np.ndarray:
        values = columns[self.columns[0]]
        broken = np.zeros(len(values), dtype=bool)
        if self.low is not None:
            broken |= values < self.low
        if self.high is not None:
            broken |= values > self.high
        return broken

    def condition(self, language: SQL) -> str:
        """Write the condition in SQL, as true or NULL where a row meets it."""
        name = language.name(self.columns[0])
        if self.low is not None and self.high is not None:
            return f"{name} BETWEEN {number_text(self.low)} AND {number_text(self.high)}"
        if self.high is None:
            assert self.low is not None
            return f"{name} >= {number_text(self.low)}"
        return f"{name} <= {number_text(self.high)}"


@dataclass(frozen=True)
class SignRule(Rule):
    """A column that is never negative, or never positive."""

    kind: ClassVar[str] = "sign"

    sign: int  # 1: never negative; -1: never positive

    def __str__(self) -> str:
        what = "negative" if self.sign > 0 else "positive"
        return f"{_name(self.columns[0])} is never {what}"

    def _is_broken(self, columns: Columns) -> np.ndarray:
        return self.sign * columns[self.columns[0]] < 0.0

    def condition(self, language: SQL) -> str:
        """Write the condition in SQL, as true or NULL where a row meets it."""
        return f"{language.name(self.columns[0])} {'>=' if self.sign > 0 else '<='} 0"


@dataclass(frozen=True)
class IntegerRule(Rule):
    """A column of whole numbers."""

    kind: ClassVar[str] = "integer"

    def __str__(self) -> str:
        return f"{_name(self.columns[0])} is a whole number"

    def _is_broken(self, columns: Columns) -> np.ndarray:
        values = columns[self.columns[0]]
        return (values != np.round(values)) & ~np.isnan(values)

    def condition(self, language: SQL) -> str:
        """Write the condition in SQL, as true or NULL where a row meets it."""
        name = language.name(self.columns[0])
        return f"{name} = ROUND({name})"


@dataclass(frozen=True)
class OrderRule(Rule):
    """Two columns of which the first is never above the second."""

    kind: ClassVar[str] = "order"

    def __str__(self) -> str:
        return f"{_name(self.columns[0])} is never above {_name(self.columns[1])}"

    def _is_broken(self, columns: Columns) -> np.ndarray:
        return columns[self.columns[0]] > columns[self.columns[1]]

    def condition(self, language: SQL) -> str:
        """Write the condition in SQL, as true or NULL where a row meets it."""
        return f"{language.name(self.columns[0])} <= {language.name(self.columns[1])}"


@dataclass(frozen=True)
class CodesRule(Rule):
    """A column that has one of a few values: numbers, or texts."""

    kind: ClassVar[str] = "codes"

    codes: tuple[float, ...] | tuple[str, ...]

    @property
    def are_texts(self) -> bool:
        """Whether the codes are texts."""
        return isinstance(self.codes[0], str)

    def __str__(self) -> str:
        codes = [_code_text(code) for code in self.codes]
        if len(codes) == 1:
            return f"{_name(self.columns[0])} is always {codes[0]}"
        return f"{_name(self.columns[0])} is one of {', '.join(codes)}"

    def _is_broken(self, columns: Columns) -> np.ndarray:
        values = columns[self.columns[0]]
        if self.are_texts:
            known = {*self.codes, None}
            return np.array([value not in known for value in values.tolist()], dtype=bool)
        return ~np.isin(values, np.array(self.codes)) & ~np.isnan(values)

    def condition(self, language: SQL) -> str:
        """Write the condition in SQL, as true or NULL where a row meets it."""
        if not self.are_texts:
            codes = [number_text(code) for code in self.codes if not isinstance(code, str)]
            return f"{language.name(self.columns[0])} IN ({', '.join(codes)})"
        texts = [sql_literal(str(code)) for code in self.codes]
        return f"{sql_identifier(self.columns[0])} IN ({', '.join(texts)})"


def _code_text(code: float | str) -> str:
    """Write a code for people; a text that is no word is in quotes."""
    if not isinstance(code, str):
        return number_text(code)
    return code if re.fullmatch(r"[^\W\d][\w.-]*", code) else repr(code)


def sql_literal(text: str) -> str:
    """Write a text in SQL."""
    return "'" + sql_text(text, "the code").replace("'", "''") + "'"
