"""Types of what users give and get: tables of any library, and arrays of numbers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Protocol, SupportsFloat, TypeAlias

import numpy as np

FloatArray: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
IntArray: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
BoolArray: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
ObjectArray: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.object_]]
Array: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.generic]]

LabelArray: TypeAlias = np.ndarray[
    tuple[int, ...], np.dtype[np.int64 | np.float64 | np.bool_ | np.str_ | np.object_]
]


class ArrayOfAnyLibrary(Protocol):
    """What NumPy can read: arrays, tensors, frames and columns of frames of most libraries."""

    def __array__(self) -> np.ndarray: ...


class BlocksOfRows(Protocol):
    """Rows in blocks, as `vanishing.Blocks`: not a sequence, but read anew for each pass."""

    def __iter__(self) -> object: ...

    @property
    def source(self) -> object: ...


Vector: TypeAlias = ArrayOfAnyLibrary | Sequence[SupportsFloat]
# A text is no table: neither its characters nor a path are rows.
Table: TypeAlias = (
    ArrayOfAnyLibrary
    | Sequence[Sequence[SupportsFloat]]
    | Sequence[ArrayOfAnyLibrary]
    | BlocksOfRows
    | Callable[[], Iterable[object]]
)
Labels: TypeAlias = ArrayOfAnyLibrary | Sequence[SupportsFloat] | Sequence[str]
Names: TypeAlias = Iterable[str]
Path: TypeAlias = str | PathLike[str]
RandomState: TypeAlias = int | np.random.RandomState | None
# Functions that terms may have, by name or as callables: of all columns, or of each.
Functions: TypeAlias = Iterable[str | Callable[..., object]]
FunctionChoice: TypeAlias = str | Functions | Mapping[str, Functions] | Mapping[int, Functions]
