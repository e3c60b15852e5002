"""Values written as JSON, and read with checks: arrays, numbers, terms."""

import math
import re
from itertools import chain
from typing import Any

import numpy as np

from vanishing.algebra.monomials import MAX_DEGREE

_DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|U[1-9][0-9]{0,5})")
NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class Refused(Exception):
    """A file is refused; the message is the end of a sentence."""


# -- Writing --------------------------------------------------------------------------------------


def write_float(value: float) -> float | str:
    """Return a float as strict JSON can hold it."""
    value = float(value)
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def plain(values):
    """Return a NumPy scalar or array as values that JSON can hold."""
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return values.tolist()
    if values.ndim:
        return [plain(np.asarray(row)) for row in values]
    return write_float(values)


def write_array(values, what) -> dict:
    """Write an array with its dtype and memory layout."""
    dtype = values.dtype.str
    if values.dtype.kind == "O":
        if not all(type(value) is str for value in values.flat):
            raise TypeError(f"{what} has objects that are not strings, and cannot be saved.")
        dtype = "object"
    node = {"dtype": dtype, "array": plain(values)}
    if values.ndim == 2 and values.strides[0] < values.strides[1]:
        node["order"] = "F"  # rounding in products depends on the order in memory
    return node


def write_terms(terms) -> list[list[int]]:
    """Write each term as the list of its variables, each as often as it occurs."""
    return [np.repeat(np.arange(len(term)), term).tolist() for term in terms]


class ValueWriter:
    """Writes values that JSON can hold."""

    array = staticmethod(write_array)
    float = staticmethod(write_float)
    plain = staticmethod(plain)
    terms = staticmethod(write_terms)


# -- Reading --------------------------------------------------------------------------------------


def require(condition, problem: str) -> None:
    """Refuse the file unless a condition holds."""
    if not condition:
        raise Refused(problem)


def fields(node, what, keys, optional=()):
    """Return the values of a JSON object, which must have ``keys``; None for other absent ones."""
    require(isinstance(node, dict), f"{what} is not an object.")
    missing = [key for key in keys if key not in node]
    if missing:
        raise Refused(f"{what} has no {missing[0]!r}.")
    unknown = [key for key in node if key not in keys and key not in optional]
    if unknown:
        raise Refused(f"{what} has {unknown[0]!r}, which is unknown.")
    return [node.get(key) for key in (*keys, *optional)]


def listed(node, what, length=None) -> list:
    """Return a list, of this length if one is given."""
    require(isinstance(node, list), f"{what} is not a list.")
    if length is not None and len(node) != length:
        raise Refused(f"{what} has {len(node)} entries instead of {length}.")
    return node


def string(node, what) -> str:
    """Return a string."""
    require(isinstance(node, str), f"{what} is not a string.")
    return node


def flag(node, what) -> bool:
    """Return true or false."""
    require(type(node) is bool, f"{what} is neither true nor false.")
    return node


def integer(node, what, low=0, high=2**53) -> int:
    """Return an integer from ``low`` to ``high``."""
    if type(node) is not int or not low <= node <= high:
        raise Refused(f"{what} is not an integer from {low} to {high}.")
    return node


def n_decisions(classes) -> int:
    """Return how many linear functions separate the classes of a file."""
    require(len(classes) >= 2, "a classifier has fewer than two classes.")
    return 1 if len(classes) == 2 else len(classes)


class ValueReader:
    """Checks values of a parsed file, and counts the memory that they take."""

    require = staticmethod(require)
    fields = staticmethod(fields)
    listed = staticmethod(listed)
    string = staticmethod(string)
    flag = staticmethod(flag)
    integer = staticmethod(integer)
    n_decisions = staticmethod(n_decisions)

    def __init__(self, max_bytes):
        self.max_bytes = max_bytes
        self.bytes = 0

    def allocate(self, n_bytes: int):
        """Count memory before it is allocated: short lists may describe large arrays."""
        self.bytes += n_bytes
        if self.bytes > self.max_bytes:
            raise Refused(f"its arrays are larger than max_bytes={self.max_bytes}.")

    def array(self, node, what, shape=None) -> np.ndarray:
        """Return an array that `write_array` has written; None in ``shape`` is any length."""
        values, name, order = fields(node, what, ("array", "dtype"), ("order",))
        if name != "object" and not _DTYPE.fullmatch(string(name, f"the dtype of {what}")):
            raise Refused(f"the dtype of {what} is unknown.")
        if order not in (None, "F"):
            raise Refused(f"the order of {what} is unknown.")
        dtype = np.dtype(name)
        rows: list[Any] = listed(values, what)
        sizes: tuple[int, ...] = (len(rows),)
        if rows and isinstance(rows[0], list):
            sizes += (len(rows[0]),)
            rows = list(chain.from_iterable(listed(row, what, sizes[1]) for row in rows))
        if shape is not None and (
            len(sizes) != len(shape)
            or any(n is not None and n != m for n, m in zip(shape, sizes, strict=True))
        ):
            raise Refused(f"{what} has the wrong shape.")
        self.allocate(len(rows) * dtype.itemsize)
        if dtype.kind == "f":
            rows = [NOT_FINITE.get(v, v) if isinstance(v, str) else v for v in rows]
        kinds: dict[str, set[type]] = {"b": {bool}, "i": {int}, "u": {int}, "f": {int, float}}
        if not set(map(type, rows)) <= kinds.get(dtype.kind, {str}):
            raise Refused(f"{what} has entries that are not of its dtype.")
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            if not all(limits.min <= v <= limits.max for v in rows):
                raise Refused(f"{what} has entries that are too large.")
        if dtype.kind == "U" and any(len(v) > dtype.itemsize // 4 for v in rows):
            raise Refused(f"{what} has entries that are too long.")
        return np.array(rows, dtype=dtype).reshape(sizes, order="C").copy(order or "C")

    def floats(self, node, what, length=None) -> np.ndarray:
        """Return a list of finite numbers as an array."""
        values = listed(node, what, length)
        self.allocate(8 * len(values))
        if not set(map(type, values)) <= {float, int}:
            raise Refused(f"{what} has entries that are not numbers.")
        numbers = np.array(values, dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise Refused(f"{what} has a number that is too large.")
        return numbers

    def table(self, node, what, n_columns) -> np.ndarray:
        """Return a list of rows of finite numbers as an array."""
        rows = [listed(row, what, n_columns) for row in listed(node, what)]
        return self.floats(list(chain.from_iterable(rows)), what).reshape(len(rows), n_columns)

    def measured(self, node, what) -> float:
        """Return a number that need not be finite."""
        if isinstance(node, str) and node in NOT_FINITE:
            return NOT_FINITE[node]
        return float(self.floats([node], what)[0])

    def integers(self, node, what, low, high) -> np.ndarray:
        """Return a list of integers of a range as an array."""
        values = listed(node, what)
        self.allocate(8 * len(values))
        if not set(map(type, values)) <= {int}:
            raise Refused(f"{what} has entries that are not integers.")
        if values and not (low <= min(values) and max(values) <= high):
            raise Refused(f"{what} has entries that are not from {low} to {high}.")
        return np.array(values, dtype=np.int64)

    def names(self, node, what, length) -> list[str]:
        """Return a list of strings."""
        return [string(name, f"a name in {what}") for name in listed(node, what, length)]

    def classes(self, node) -> np.ndarray:
        """Return class labels, different from one another."""
        classes = self.array(node, "classes", (None,))
        if len(np.unique(classes)) < max(1, len(classes)):
            raise Refused("classes has no or equal entries.")
        return classes

    def terms(self, node, what, n_features) -> np.ndarray:
        """Return exponents from terms written as lists of their variables."""
        rows = [listed(row, f"a term in {what}") for row in listed(node, what)]
        self.allocate(8 * len(rows) * n_features)
        lengths = [len(row) for row in rows]
        if max(lengths, default=0) > MAX_DEGREE:
            raise Refused(f"{what} has a term of degree above {MAX_DEGREE}.")
        variables = self.integers(list(chain.from_iterable(rows)), what, 0, n_features - 1)
        exponents = np.zeros((len(rows), n_features), dtype=np.int64)
        np.add.at(exponents, (np.repeat(np.arange(len(rows)), lengths), variables), 1)
        return exponents
