"""Models on disk: one JSON file that holds data and no code (see docs/model_format.md)."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, overload

from vanishing._version import __version__
from vanishing.persistence.files import read_bounded, write_or_say
from vanishing.persistence.models import ModelReader, Writer
from vanishing.persistence.values import Refused, fields, string

T = TypeVar("T")

FORMAT = "vanishing-model"
VERSION = 1
MAX_BYTES = 1 << 28

_WIDTH = 100  # of a line that holds lists or objects
# Errors of parameter checks and of conversions to arrays are reasons, too.
_PROBLEMS = (Refused, ValueError, TypeError, OverflowError, RecursionError)


class ModelFileError(ValueError):
    """A file holds no model that this version of the library can load."""


def save(
    model: object, path: str | PathLike[str], *, table: Mapping[str, Any] | None = None
) -> None:
    """Save a fitted model as a JSON file.

    The format is documented in docs/model_format.md. It holds no code: callables are refused, and
    so are parts of other libraries but MinMaxScaler, MaxAbsScaler, StandardScaler,
    QuantileTransformer, SimpleImputer, OneHotEncoder, ColumnTransformer, LogisticRegression and
    LinearSVC of scikit-learn.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted estimator of this library, or a scikit-learn Pipeline of such estimators and of
        those named above.
    path : str or path-like
        An existing file is replaced in one step: it is never half written.
    table : dict, default=None
        How the table of the fit became numbers, as JSON values, to be saved with the model. The
        command line uses it.

    See Also
    --------
    load : Reads the file.
    OAVI.save : The same as a method, of every estimator.
    Moments.save : Saves moments, which are no model.

    Examples
    --------
    >>> import os, tempfile
    >>> import vanishing
    >>> model = vanishing.OAVI(psi=0).fit([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "line.json")
    ...     vanishing.save(model, path)
    ...     print(vanishing.load(path).generators_[0])
    x1 - x0
    """
    path = Path(path)
    node = Writer().model(model)
    try:  # what could not be read must not be written
        ModelReader(math.inf).model(node)
    except _PROBLEMS as problem:
        raise ValueError(f"this {type(model).__name__} cannot be saved: {problem}") from problem
    head = {"format": FORMAT, "version": VERSION, "library": __version__, "sha256": "0" * 64}
    parts = {"model": node} if table is None else {"model": node, "table": table}
    content = (layout({**head, **parts}) + "\n").encode("utf-8", "backslashreplace")
    content = content.replace(b"0" * 64, hashlib.sha256(content).hexdigest().encode(), 1)
    write_or_say(path, content, "the model is not saved")


@overload
def load(path: str | PathLike[str], kind: type[T], *, max_bytes: int = MAX_BYTES) -> T: ...


@overload
def load(path: str | PathLike[str], kind: None = None, *, max_bytes: int = MAX_BYTES) -> object: ...


def load(path, kind=None, *, max_bytes=MAX_BYTES):
    """Load a model that `save` has written.

    Nothing in the file is run. Everything is checked: a file that is truncated, altered, or
    written by a later version is refused.

    Parameters
    ----------
    path : str or path-like
    kind : type, default=None
        The class that the file has to hold, such as ``LawFinder``. It is checked, and type checkers
        know the type of the result.
    max_bytes : int, default=2**28
        Largest size of the file, and of all arrays of the model together, in bytes.

    Returns
    -------
    model : estimator or Pipeline
        As it was saved, without what scikit-learn keeps in addition to parameters and fitted
        attributes (``set_output``, metadata requests).

    Raises
    ------
    ModelFileError
        If the file holds no such model.
    OSError
        If it cannot be read.

    See Also
    --------
    save : Writes the file.
    Moments.load : Reads moments.
    """
    if kind is not None and not isinstance(kind, type):
        raise TypeError(f"kind must be a class, such as LawFinder; got {kind!r}.")
    model = load_with_table(path, max_bytes=max_bytes)[0]
    if kind is not None and not isinstance(model, kind):
        raise ModelFileError(f"{path} holds {type(model).__name__}, not {kind.__name__}.")
    return model


def load_with_table(path, *, max_bytes=MAX_BYTES) -> tuple:
    """Load a model like `load`, and what was saved with it about its table, or None."""
    path = Path(path)
    try:
        content = read_bounded(path, max_bytes)
        content = content.replace(b"\r\n", b"\n")  # as some tools for text leave it
        return _read_document(content, max_bytes)
    except _PROBLEMS as problem:
        reason = (
            "its parts are nested too deeply" if isinstance(problem, RecursionError) else problem
        )
        raise ModelFileError(f"{path} is no model that can be loaded: {reason}") from problem


def _read_document(content: bytes, max_bytes):
    def unique(pairs):
        node = dict(pairs)
        if len(node) < len(pairs):
            raise Refused("a key occurs twice.")
        return node

    def no_number(name):
        raise Refused(f"{name} is not JSON.")

    try:
        text = content.decode()
        document = json.loads(text, object_pairs_hook=unique, parse_constant=no_number)
    except ValueError as problem:
        raise Refused(f"it is not complete JSON ({problem}).") from problem
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Refused(f'it does not say "format": "{FORMAT}".')
    version = document.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise Refused(
            f"it has format version {version!r}, and this version of the library reads versions 1 "
            f"to {VERSION}."
        )
    _, _, library, digest, node, table = fields(
        document, "the file", ("format", "version", "library", "sha256", "model"), ("table",)
    )
    string(library, "library")
    if not re.fullmatch("[0-9a-f]{64}", string(digest, "sha256")):
        raise Refused("sha256 is not 64 hexadecimal digits.")
    content = content.replace(digest.encode(), b"0" * 64, 1)
    if hashlib.sha256(content).hexdigest() != digest:
        raise Refused("it was altered after it was saved (its checksum does not fit).")
    if table is not None and not isinstance(table, dict):
        raise Refused("the table is not an object.")
    return ModelReader(max_bytes).model(node), table


def layout(node, indent="") -> str:
    """Write JSON, on one line if it is short or holds only numbers and strings."""
    if not isinstance(node, (dict, list)):
        return json.dumps(node, ensure_ascii=False, allow_nan=False)
    values = node.values() if isinstance(node, dict) else node
    if not any(isinstance(value, (dict, list)) for value in values):
        return json.dumps(node, ensure_ascii=False, allow_nan=False)
    inner = indent + " "
    parts = [layout(value, inner) for value in values]
    if isinstance(node, dict):
        keys = (json.dumps(key, ensure_ascii=False) for key in node)
        parts = [f"{key}: {part}" for key, part in zip(keys, parts, strict=True)]
    left, right = "{}" if isinstance(node, dict) else "[]"
    if sum(map(len, parts)) + 2 * len(parts) <= _WIDTH and not any("\n" in p for p in parts):
        return left + ", ".join(parts) + right
    return f"{left}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{right}"
