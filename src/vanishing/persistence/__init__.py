"""Models on disk: one JSON file that holds data and no code (see docs/model_format.md)."""

import functools
import hashlib
import json
import math
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vanishing.algebra.monomials import MAX_DEGREE
from vanishing.persistence.files import read_bounded, write_or_say

FORMAT = "vanishing-model"
VERSION = 1
MAX_BYTES = 1 << 28

_WIDTH = 100  # of a line, where it holds more than numbers and strings
_SHOWN = 20  # terms of a polynomial that its equation shows
_EXPANDED = 500  # monomials up to which components are written as equations as well
_LONG_INTEGER = 2000  # bits from which integers are hexadecimal: Python limits decimal digits
_DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|U[1-9][0-9]{0,5})")
_INTEGER = r"-?(?:[0-9]{1,640}|0x[0-9a-f]+)"
_FRACTION = re.compile(f"({_INTEGER})(?:/({_INTEGER}))?")
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class ModelFileError(ValueError):
    """A file is no model that this version of the library can load."""


class Savable:
    """Adds `save` to an estimator."""

    def save(self, path):
        """Save the fitted estimator as a JSON file; `vanishing.load` reads it.

        Parameters
        ----------
        path : str or path-like
            A file that exists is replaced, at once: it is never half written.
        """
        save(self, path)


def save(model, path):
    """Save a fitted model as a JSON file.

    The format is documented in docs/model_format.md. It holds no code, so that callables, and
    parts that are neither of this library nor among a few of scikit-learn's, are refused:
    MinMaxScaler, StandardScaler, QuantileTransformer, LogisticRegression and LinearSVC are known.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted estimator of this library, or a scikit-learn Pipeline of such and known ones.
    path : str or path-like
        A file that exists is replaced, at once: it is never half written.

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
    from vanishing import __version__

    path = Path(path)
    node = _write_model(model)
    try:  # what could not be read must not be written
        _Reader(math.inf).model(node)
    except _PROBLEMS as problem:
        raise ValueError(f"this {type(model).__name__} cannot be saved: {problem}") from problem
    head = {"format": FORMAT, "version": VERSION, "library": __version__, "sha256": "0" * 64}
    content = (_layout({**head, "model": node}) + "\n").encode("utf-8", "backslashreplace")
    content = content.replace(b"0" * 64, hashlib.sha256(content).hexdigest().encode(), 1)
    write_or_say(path, content, "the model is not saved")


def load(path, *, max_bytes=MAX_BYTES):
    """Load a model that `save` has written.

    Nothing in the file is run. Everything is checked: a file that is truncated, altered, or
    written by a later version is refused.

    Parameters
    ----------
    path : str or path-like
    max_bytes : int, default=2**28
        Largest size of the file, and of all arrays of the model together.

    Returns
    -------
    model : estimator or Pipeline
        As it was saved. What scikit-learn knows beside parameters and fitted attributes
        (``set_output``, metadata requests) is not kept.

    Raises
    ------
    ModelFileError
        If the file is no such model.
    OSError
        If it cannot be read.
    """
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


# -- The file -----------------------------------------------------------------------------------


class _Refused(Exception):
    """Why a file is refused: the end of a sentence."""


# What the checks of estimators and conversions to arrays raise is a reason as well.
_PROBLEMS = (_Refused, ValueError, TypeError, OverflowError, RecursionError)


def _read_document(content: bytes, max_bytes):
    def unique(pairs):
        node = dict(pairs)
        if len(node) < len(pairs):
            raise _Refused("a key occurs twice.")
        return node

    def no_number(name):
        raise _Refused(f"{name} is not JSON.")

    try:
        text = content.decode()
        document = json.loads(text, object_pairs_hook=unique, parse_constant=no_number)
    except ValueError as problem:
        raise _Refused(f"it is not complete JSON ({problem}).") from problem
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _Refused(f'it does not say "format": "{FORMAT}".')
    version = document.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise _Refused(
            f"it has format version {version!r}, and this version of the library reads versions 1 "
            f"to {VERSION}."
        )
    _, _, library, digest, node = _values(
        document, "the file", ("format", "version", "library", "sha256", "model")
    )
    _string(library, "library")
    if not re.fullmatch("[0-9a-f]{64}", _string(digest, "sha256")):
        raise _Refused("sha256 is not 64 hexadecimal digits.")
    content = content.replace(digest.encode(), b"0" * 64, 1)
    if hashlib.sha256(content).hexdigest() != digest:
        raise _Refused("it was altered after it was saved (its checksum does not fit).")
    return _Reader(max_bytes).model(node)


def _layout(node, indent="") -> str:
    """Write JSON on one line where it is short or holds only numbers and strings."""
    if not isinstance(node, (dict, list)):
        return json.dumps(node, ensure_ascii=False, allow_nan=False)
    values = node.values() if isinstance(node, dict) else node
    if not any(isinstance(value, (dict, list)) for value in values):
        return json.dumps(node, ensure_ascii=False, allow_nan=False)
    inner = indent + " "
    parts = [_layout(value, inner) for value in values]
    if isinstance(node, dict):
        keys = (json.dumps(key, ensure_ascii=False) for key in node)
        parts = [f"{key}: {part}" for key, part in zip(keys, parts, strict=True)]
    left, right = "{}" if isinstance(node, dict) else "[]"
    if sum(map(len, parts)) + 2 * len(parts) <= _WIDTH and not any("\n" in p for p in parts):
        return left + ", ".join(parts) + right
    return f"{left}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{right}"


# -- Kinds of models ----------------------------------------------------------------------------


class _Kind(NamedTuple):
    """How an estimator is written and read.

    ``write(model)`` returns the fitted part, ``read(reader, node, model)`` sets it;
    ``check(model)`` raises where parameters are invalid.
    """

    type: type
    write: Callable
    read: Callable
    check: Callable
    ours: bool = True


@functools.cache
def _kinds() -> dict[str, _Kind]:
    # Here and not above: the estimators inherit from this file, and scikit-learn's are many.
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, StandardScaler
    from sklearn.svm import LinearSVC

    from vanishing.checks import check_flag
    from vanishing.constructions import abm, avi, exact, oavi, vca
    from vanishing.learning import classifier as classify
    from vanishing.learning import features, svm

    def construction_check(model):
        model._check_parameters()
        check_flag("absolute", model.absolute)

    kinds = [
        _Kind(cls, _write_generators, _read_generators, construction_check)
        for cls in (oavi.OAVI, abm.ABM, avi.AVI)
    ]
    kinds += [
        _Kind(vca.VCA, _write_components, _read_components, construction_check),
        _Kind(exact.BuchbergerMoller, _write_exact, _read_exact, _check_exact),
        _Kind(features.VanishingFeatures, _write_features, _read_features, _check_features),
        _Kind(classify.VanishingClassifier, _write_classifier, _read_classifier, _check_classifier),
        _Kind(classify.VanishingClassifierCV, _write_search, _read_search, _check_search),
        _Kind(svm.L1SquaredHingeSVC, _write_svm, _read_svm, _check_svm),
        _Kind(Pipeline, _write_pipeline, _read_pipeline, _no_check, ours=False),
    ]
    columns, rows, quantiles = "n_features", "n_rows", "n_quantiles"
    known = {
        MinMaxScaler: {
            "n_samples_seen_": (),
            "scale_": (columns,),
            "min_": (columns,),
            "data_min_": (columns,),
            "data_max_": (columns,),
            "data_range_": (columns,),
        },
        StandardScaler: {
            "n_samples_seen_": (),
            "mean_": (columns,),
            "var_": (columns,),
            "scale_": (columns,),
        },
        QuantileTransformer: {
            "n_quantiles_": (),
            "quantiles_": (quantiles, columns),
            "references_": (quantiles,),
        },
        LogisticRegression: {"coef_": (rows, columns), "intercept_": (rows,), "n_iter_": ("n",)},
        LinearSVC: {"coef_": (rows, columns), "intercept_": (rows,), "n_iter_": ()},
    }
    for cls, attributes in known.items():
        write = functools.partial(_write_known, attributes)
        read = functools.partial(_read_known, attributes)
        kinds.append(_Kind(cls, write, read, _no_check, ours=False))
    return {kind.type.__name__: kind for kind in kinds}


@functools.cache
def _splitters() -> dict[str, tuple[type, tuple[str, ...]]]:
    """Return the splitters that `cv` may be, and their parameters."""
    from sklearn.model_selection import KFold, StratifiedKFold

    return {
        cls.__name__: (cls, ("n_splits", "shuffle", "random_state"))
        for cls in (KFold, StratifiedKFold)
    }


def _kind_of(model) -> _Kind | None:
    kind = _kinds().get(type(model).__name__)
    return kind if kind is not None and type(model) is kind.type else None


def _no_check(model):
    pass


# -- Parameters and other values ----------------------------------------------------------------


def _write_model(model) -> dict:
    kind = _kind_of(model)
    if kind is None:
        raise TypeError(
            f"a {type(model).__name__} cannot be saved: a model file holds only estimators of "
            f"vanishing and {', '.join(n for n, kind in _kinds().items() if not kind.ours)}. "
            "Save the parts it knows, or use pickle where you trust the file."
        )
    check_is_fitted(model)
    return {**_write_unfitted(model, kind), "fitted": kind.write(model)}


def _write_unfitted(model, kind) -> dict:
    name = type(model).__name__
    parameters = {
        key: _write_value(value, f"the parameter {key} of {name}")
        for key, value in model.get_params(deep=False).items()
        if name != "Pipeline" or key == "verbose"  # steps are fitted parts
    }
    if not kind.ours and name != "Pipeline":
        # Other versions of scikit-learn have other parameters, but few are ever set.
        for key, value in kind.type().get_params().items():
            if _write_value(value, key) == parameters[key]:
                del parameters[key]
    return {"kind": name, "parameters": parameters}


def _write_value(value, what):
    """Turn a value into JSON such that `_Reader.value` returns it with its type."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": _float(value)}
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        return {"scalar": _plain(value), "dtype": value.dtype.str}
    if type(value) is np.ndarray and value.ndim in (1, 2) and value.dtype.kind in "biufUO":
        return _write_array(value, what)
    if type(value) is tuple:
        return {"tuple": [_write_value(part, what) for part in value]}
    if type(value) is list:
        return [_write_value(part, what) for part in value]
    if type(value) is dict:
        parts = ((_write_value(k, what), _write_value(v, what)) for k, v in value.items())
        return {"dict": [list(part) for part in parts]}
    kind = _kind_of(value)
    if kind is not None and kind.type.__name__ != "Pipeline":
        return _write_unfitted(value, kind)
    cls, names = _splitters().get(type(value).__name__, (None, ()))
    if type(value) is cls:
        parameters = {name: _write_value(getattr(value, name), what) for name in names}
        return {"splitter": cls.__name__, "parameters": parameters}
    raise TypeError(
        f"{what} is {value!r}, which a model file cannot hold: it holds data and no code. Replace "
        "it with set_params before saving, which leaves what is fitted as it is; or use pickle "
        "where you trust the file."
    )


def _float(value: float) -> float | str:
    """Return a float as strict JSON has it."""
    value = float(value)
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _plain(values):
    """Return a NumPy scalar or array as Python values that JSON has."""
    listed = values.tolist()
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return listed
    if isinstance(listed, list):
        return [_plain(np.asarray(row)) for row in values]
    return _float(listed)


def _write_array(values, what) -> dict:
    dtype = values.dtype.str
    if values.dtype.kind == "O":
        if not all(type(value) is str for value in values.flat):
            raise TypeError(f"{what} has objects that are not strings, and cannot be saved.")
        dtype = "object"
    node = {"dtype": dtype, "array": _plain(values)}
    if values.ndim == 2 and values.strides[0] < values.strides[1]:
        node["order"] = "F"  # products of arrays round as they lie in memory
    return node


def _values(node, what, keys, optional=()):
    """Return the values of a JSON object that must have these keys, None for absent ones."""
    if not isinstance(node, dict):
        raise _Refused(f"{what} is not an object.")
    missing = [key for key in keys if key not in node]
    if missing:
        raise _Refused(f"{what} has no {missing[0]!r}.")
    unknown = [key for key in node if key not in keys and key not in optional]
    if unknown:
        raise _Refused(f"{what} has {unknown[0]!r}, which is unknown.")
    return [node.get(key) for key in (*keys, *optional)]


def _list(node, what, length=None) -> list:
    if not isinstance(node, list):
        raise _Refused(f"{what} is not a list.")
    if length is not None and len(node) != length:
        raise _Refused(f"{what} has {len(node)} entries instead of {length}.")
    return node


def _string(node, what) -> str:
    if not isinstance(node, str):
        raise _Refused(f"{what} is not a string.")
    return node


def _integer(node, what, low=0, high=2**53) -> int:
    if type(node) is not int or not low <= node <= high:
        raise _Refused(f"{what} is not an integer from {low} to {high}.")
    return node


class _Reader:
    """Checks a parsed file, node by node, and builds the model."""

    def __init__(self, max_bytes):
        self.max_bytes = max_bytes
        self.bytes = 0

    def allocate(self, n_bytes: int):
        """Count memory before it is taken: lists may be short and arrays of them large."""
        self.bytes += n_bytes
        if self.bytes > self.max_bytes:
            raise _Refused(f"its arrays are larger than max_bytes={self.max_bytes}.")

    def model(self, node, kinds=None):
        """Return a fitted model."""
        name, parameters, fitted = _values(node, "a model", ("kind", "parameters", "fitted"))
        model, kind = self._unfitted(name, parameters, kinds)
        kind.read(self, fitted, model)
        return model

    def _unfitted(self, name, parameters, kinds=None):
        kind = _kinds().get(name) if isinstance(name, str) else None
        if kind is None or (kinds is not None and name not in kinds):
            raise _Refused(f"{name!r} is no kind of model that is known, or not known here.")
        if not isinstance(parameters, dict):
            raise _Refused(f"the parameters of {name} are not an object.")
        parameters = {key: self.value(value) for key, value in parameters.items()}
        if name == "Pipeline":
            parameters["steps"] = []
            names = {"steps", "verbose"}
        else:
            names = set(kind.type().get_params(deep=False))
        unknown = sorted(set(parameters) - names)
        if unknown:
            raise _Refused(f"{name} has no parameter {unknown[0]!r}.")
        model = kind.type(**parameters)
        kind.check(model)
        return model, kind

    # -- Values -------------------------------------------------------------------------------

    def value(self, node):
        """Return a value that `_write_value` has written."""
        if isinstance(node, list):
            return [self.value(part) for part in node]
        if not isinstance(node, dict):
            if isinstance(node, float) and not math.isfinite(node):
                raise _Refused("a number is too large.")
            return node
        if "kind" in node:
            name, parameters = _values(node, "an estimator", ("kind", "parameters"))
            return self._unfitted(name, parameters, _kinds().keys() - {"Pipeline"})[0]
        if "splitter" in node:
            name, parameters = _values(node, "a splitter", ("splitter", "parameters"))
            cls, names = _splitters().get(_string(name, "splitter"), (None, ()))
            if cls is None:
                raise _Refused(f"{name!r} is no splitter that is known.")
            values = _values(parameters, name, names)
            return cls(**dict(zip(names, map(self.value, values), strict=True)))
        if "array" in node:
            return self.array(node, "an array")
        if "scalar" in node:
            scalar, dtype = _values(node, "a scalar", ("scalar", "dtype"))
            return self.array({"array": [scalar], "dtype": dtype}, "a scalar")[0]
        if "float" in node:
            (name,) = _values(node, "a number", ("float",))
            if not isinstance(name, str) or name not in _NOT_FINITE:
                raise _Refused("a number is not NaN, Infinity or -Infinity.")
            return _NOT_FINITE[name]
        if "tuple" in node:
            (parts,) = _values(node, "a tuple", ("tuple",))
            return tuple(self.value(part) for part in _list(parts, "a tuple"))
        (pairs,) = _values(node, "a value", ("dict",))
        pairs = [_list(pair, "an entry of a dict", 2) for pair in _list(pairs, "a dict")]
        return {self.value(key): self.value(value) for key, value in pairs}

    def array(self, node, what, shape=None) -> np.ndarray:
        """Return an array that `_write_array` has written; None in ``shape`` is any length."""
        values, name, order = _values(node, what, ("array", "dtype"), ("order",))
        if name != "object" and not _DTYPE.fullmatch(_string(name, f"the dtype of {what}")):
            raise _Refused(f"the dtype of {what} is unknown.")
        if order not in (None, "F"):
            raise _Refused(f"the order of {what} is unknown.")
        dtype = np.dtype(name)
        rows = _list(values, what)
        found: tuple[int, ...] = (len(rows),)
        if rows and isinstance(rows[0], list):
            found += (len(rows[0]),)
            rows = list(chain.from_iterable(_list(row, what, found[1]) for row in rows))
        if shape is not None and (
            len(found) != len(shape)
            or any(n is not None and n != m for n, m in zip(shape, found, strict=True))
        ):
            raise _Refused(f"{what} has the wrong shape.")
        self.allocate(len(rows) * dtype.itemsize)
        if dtype.kind == "f":
            rows = [_NOT_FINITE.get(v, v) if isinstance(v, str) else v for v in rows]
        kinds: dict[str, set[type]] = {"b": {bool}, "i": {int}, "u": {int}, "f": {int, float}}
        if not set(map(type, rows)) <= kinds.get(dtype.kind, {str}):
            raise _Refused(f"{what} has entries that are not of its dtype.")
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            if not all(limits.min <= v <= limits.max for v in rows):
                raise _Refused(f"{what} has entries that are too large.")
        if dtype.kind == "U" and any(len(v) > dtype.itemsize // 4 for v in rows):
            raise _Refused(f"{what} has entries that are too long.")
        return np.array(rows, dtype=dtype).reshape(found, order="C").copy(order or "C")

    def floats(self, node, what, length=None) -> np.ndarray:
        """Return a list of finite numbers as an array."""
        values = _list(node, what, length)
        self.allocate(8 * len(values))
        if not set(map(type, values)) <= {float, int}:
            raise _Refused(f"{what} has entries that are not numbers.")
        found = np.array(values, dtype=np.float64)
        if not np.isfinite(found).all():
            raise _Refused(f"{what} has a number that is too large.")
        return found

    def table(self, node, what, n_columns) -> np.ndarray:
        """Return a list of rows of finite numbers as an array."""
        rows = [_list(row, what, n_columns) for row in _list(node, what)]
        return self.floats(list(chain.from_iterable(rows)), what).reshape(len(rows), n_columns)

    def measured(self, node, what) -> float:
        """Return a number that need not be finite."""
        if isinstance(node, str) and node in _NOT_FINITE:
            return _NOT_FINITE[node]
        return float(self.floats([node], what)[0])

    def integers(self, node, what, low, high) -> np.ndarray:
        """Return a list of integers of a range as an array."""
        values = _list(node, what)
        self.allocate(8 * len(values))
        if not set(map(type, values)) <= {int}:
            raise _Refused(f"{what} has entries that are not integers.")
        if values and not (low <= min(values) and max(values) <= high):
            raise _Refused(f"{what} has entries that are not from {low} to {high}.")
        return np.array(values, dtype=np.int64)

    def names(self, node, what, length) -> list[str]:
        """Return a list of strings."""
        return [_string(name, f"a name in {what}") for name in _list(node, what, length)]

    def classes(self, node) -> np.ndarray:
        """Return class labels, different from one another."""
        classes = self.array(node, "classes", (None,))
        if len(np.unique(classes)) < max(1, len(classes)):
            raise _Refused("classes has no or equal entries.")
        return classes

    def terms(self, node, what, n_features) -> np.ndarray:
        """Return exponents from terms written as lists of their variables."""
        rows = [_list(row, f"a term in {what}") for row in _list(node, what)]
        self.allocate(8 * len(rows) * n_features)
        lengths = [len(row) for row in rows]
        if max(lengths, default=0) > MAX_DEGREE:
            raise _Refused(f"{what} has a term of degree above {MAX_DEGREE}.")
        variables = self.integers(list(chain.from_iterable(rows)), what, 0, n_features - 1)
        exponents = np.zeros((len(rows), n_features), dtype=np.int64)
        np.add.at(exponents, (np.repeat(np.arange(len(rows)), lengths), variables), 1)
        return exponents

    def input(self, model, n_features, names):
        """Set what scikit-learn keeps of the columns seen in fit."""
        model.n_features_in_ = _integer(n_features, "n_features_in", 1)
        if names is not None:
            names = self.names(names, "feature_names_in", n_features)
            model.feature_names_in_ = np.array(names, dtype=object)


def _write_input(model) -> dict:
    node: dict = {"n_features_in": int(model.n_features_in_)}
    if hasattr(model, "feature_names_in_"):
        node["feature_names_in"] = [str(name) for name in model.feature_names_in_]
    return node


_INPUT = ("feature_names_in",)  # where the input has names


def _write_terms(terms) -> list[list[int]]:
    """Write each term as the list of its variables, as often as they occur."""
    return [np.repeat(np.arange(len(term)), term).tolist() for term in terms]


# -- Constructions ------------------------------------------------------------------------------


def _write_generators(model) -> dict:
    generators = model.generators_
    node = {
        **_write_input(model),
        "feature_names": list(generators.feature_names),
        "feature_order": model.feature_order_.tolist(),
        "n_coefficients": int(model.n_coefficients_),
    }
    if hasattr(model, "n_iter_"):
        node["n_iter"] = int(model.n_iter_)
    node["terms"] = _write_terms(model.terms_)
    leading_terms = _write_terms(model.leading_terms_)
    node["generators"] = []
    for i, generator in enumerate(generators):
        row = model.coef_[i]
        used = np.flatnonzero((row != 0.0) | np.signbit(row))
        node["generators"].append(
            {
                "equation": f"{generator.shortened(_SHOWN)} = 0",
                "leading_term": leading_terms[i],
                "leading_coef": float(model.leading_coef_[i]),
                "terms": used.tolist(),
                "coef": row[used].tolist(),
                "mse": _float(model.mse_[i]),
            }
        )
    return node


def _read_generators(reader, node, model):
    n_features, names, order, n_coefficients, terms, generators, names_in, n_iter = _values(
        node,
        "a fitted model",
        (
            "n_features_in",
            "feature_names",
            "feature_order",
            "n_coefficients",
            "terms",
            "generators",
        ),
        (*_INPUT, "n_iter"),
    )
    reader.input(model, n_features, names_in)
    names = reader.names(names, "feature_names", n_features)
    order = reader.integers(
        _list(order, "feature_order", n_features), "feature_order", 0, n_features
    )
    if not np.array_equal(np.sort(order), np.arange(n_features)):
        raise _Refused("feature_order is no order of the columns.")
    terms = reader.terms(terms, "terms", n_features)
    if not len(terms) or terms[0].any():
        raise _Refused("the first of the terms is not the constant.")
    keys = ("equation", "leading_term", "leading_coef", "terms", "coef", "mse")
    rows = [_values(row, "a generator", keys) for row in _list(generators, "generators")]
    for row in rows:
        _string(row[0], "an equation")
    leading_terms = reader.terms([row[1] for row in rows], "leading terms", n_features)
    leading_coef = reader.floats([row[2] for row in rows], "leading coefficients")
    reader.allocate(8 * len(rows) * len(terms))
    coef = np.zeros((len(rows), len(terms)))
    for values, row in zip(coef, rows, strict=True):
        used = reader.integers(row[3], "the terms of a generator", 0, len(terms) - 1)
        if (np.diff(used) <= 0).any():
            raise _Refused("the terms of a generator are not in order.")
        values[used] = reader.floats(row[4], "the coefficients of a generator", len(used))
    mse = np.array([reader.measured(row[5], "an mse") for row in rows])
    n_coefficients = _integer(
        n_coefficients, "n_coefficients", int(np.count_nonzero(coef)), coef.size
    )
    model._store(
        terms=terms,
        leading_terms=leading_terms,
        coef=coef,
        leading_coef=leading_coef,
        sizes=np.array([n_coefficients]),
        mse=mse,
    )
    model.generators_ = model.generators_.renamed(names)
    model.feature_order_ = order
    if n_iter is not None:
        model.n_iter_ = _integer(n_iter, "n_iter")


def _write_components(model) -> dict:
    components = model.generators_
    n_features = model.n_features_in_
    node = {
        **_write_input(model),
        "feature_names": list(components.feature_names),
        "n_terms": int(model.n_terms_),
        "scale": components.scale.tolist(),
        "mse": [_float(value) for value in components.mse],
    }
    if math.comb(n_features + components.degree, n_features) <= _EXPANDED:
        with suppress(ValueError):  # coefficients that overflow cannot be read, either
            node["equations"] = [f"{g.shortened(_SHOWN)} = 0" for g in components]
    node["stages"] = []
    for stage in components.stages:
        products = {}
        if stage.left is not None:
            products = {"left": stage.left.tolist(), "right": stage.right.tolist()}
        node["stages"].append(
            {
                "n_components": int(stage.n_components),
                **products,
                "combine": stage.combine.tolist(),
                "project": stage.project.tolist(),
            }
        )
    return node


def _read_components(reader, node, model):
    from vanishing.algebra.components import Components, Stage

    n_features, names, n_terms, scale, mse, nodes, names_in, equations = _values(
        node,
        "a fitted VCA",
        ("n_features_in", "feature_names", "n_terms", "scale", "mse", "stages"),
        (*_INPUT, "equations"),
    )
    reader.input(model, n_features, names_in)
    names = reader.names(names, "feature_names", n_features)
    if equations is not None:
        reader.names(equations, "equations", None)
    stages = []
    start = end = 1  # components of the degree below, among all
    for node in _list(nodes, "stages"):
        products = ("left", "right") if stages else ()
        n_components, combine, project, *products = _values(
            node, "a stage", ("n_components", "combine", "project", *products)
        )
        left = right = None
        n_candidates = n_features
        if products:
            left = reader.integers(products[0], "left", 1, stages[0].n_components)
            right = reader.integers(products[1], "right", start, end - 1)
            if len(left) != len(right):
                raise _Refused("left and right have different lengths.")
            n_candidates = len(left)
        combine = reader.table(combine, "combine", n_candidates)
        project = reader.table(project, "project", end)
        if len(combine) != len(project):
            raise _Refused("combine and project have different lengths.")
        n_components = _integer(n_components, "n_components", 0, len(combine))
        stages.append(Stage(left, right, combine, project, n_components))
        start, end = end, end + n_components
    n_generators = sum(stage.n_generators for stage in stages)
    mse = [reader.measured(value, "an mse") for value in _list(mse, "mse", n_generators)]
    scale = reader.floats(scale, "scale", n_features)
    model.generators_ = Components(stages, np.array(mse), scale, names)
    model.mse_ = model.generators_.mse
    model.n_generators_ = n_generators
    model.n_terms_ = _integer(n_terms, "n_terms", end)
    model.n_coefficients_ = sum(s.n_generators * s.combine.shape[1] for s in stages)
    model.sparsity_ = 0.0
    model.degree_ = model.generators_.degree


def _write_exact(model) -> dict:
    leading_terms = _write_terms(model.leading_terms_)
    node = {**_write_input(model), "terms": _write_terms(model.terms_), "generators": []}
    for i, generator in enumerate(model.generators_):
        used = np.flatnonzero(model.coef_[i])
        coef = [_write_fraction(value) for value in model.coef_[i, used]]
        equation = {}
        if sum(map(len, coef)) < 1000:
            equation = {"equation": f"{generator} = 0"}
        parts = {"leading_term": leading_terms[i], "terms": used.tolist(), "coef": coef}
        node["generators"].append({**equation, **parts})
    return node


def _read_exact(reader, node, model):
    n_features, terms, generators = _values(
        node, "a fitted BuchbergerMoller", ("n_features_in", "terms", "generators")
    )
    reader.input(model, n_features, None)
    terms = reader.terms(terms, "terms", n_features)
    keys = ("leading_term", "terms", "coef")
    rows = [
        _values(row, "a generator", keys, ("equation",)) for row in _list(generators, "generators")
    ]
    leading_terms = reader.terms([row[0] for row in rows], "leading terms", n_features)
    reader.allocate(16 * len(rows) * len(terms))
    coefs = []
    for _, used, values, equation in rows:
        if equation is not None:
            _string(equation, "an equation")
        used = reader.integers(used, "the terms of a generator", 0, len(terms) - 1)
        coef = [Fraction(0)] * len(terms)
        values = _list(values, "the coefficients of a generator", len(used))
        for i, value in zip(used, values, strict=True):
            coef[i] = _read_fraction(value)
        coefs.append(coef)
    model._store(terms, leading_terms, coefs)


def _write_fraction(value) -> str:
    def write(integer):
        return str(integer) if integer.bit_length() < _LONG_INTEGER else hex(integer)

    parts = (value.numerator, value.denominator)
    return "/".join(write(part) for part in parts[: 1 if value.denominator == 1 else 2])


def _read_fraction(node) -> Fraction:
    match = _FRACTION.fullmatch(node) if isinstance(node, str) else None
    if match is None:
        raise _Refused("a coefficient is not a fraction.")
    numerator, denominator = (
        int(part, 16 if "x" in part else 10) for part in (match[1], match[2] or "1")
    )
    if denominator <= 0:
        raise _Refused("a coefficient has a denominator that is not positive.")
    return Fraction(numerator, denominator)


def _check_exact(model):
    from vanishing.checks import check_choice, check_number

    check_choice("border", model.border, ("gb", "bb"))
    if model.max_degree is not None:
        check_number("max_degree", model.max_degree, low=1, integer=True)


# -- Features and classifiers -------------------------------------------------------------------

_CONSTRUCTIONS = ("OAVI", "ABM", "AVI", "VCA")
_SCALERS = ("MinMaxScaler", "StandardScaler", "QuantileTransformer")
_LINEAR = ("L1SquaredHingeSVC", "LogisticRegression", "LinearSVC")


def _check_features(model):
    if model.transformer is not None and type(model.transformer).__name__ not in _CONSTRUCTIONS:
        raise _Refused("transformer is no construction of generators.")


def _write_features(model) -> dict:
    return {
        **_write_input(model),
        "classes": _write_array(model.classes_, "classes_"),
        "transformers": [_write_model(transformer) for transformer in model.transformers_],
    }


def _read_features(reader, node, model):
    from vanishing.constructions.base import sparsity

    n_features, classes, nodes, names = _values(
        node, "fitted features", ("n_features_in", "classes", "transformers"), _INPUT
    )
    reader.input(model, n_features, names)
    model.classes_ = reader.classes(classes)
    transformers = [
        reader.model(part, _CONSTRUCTIONS)
        for part in _list(nodes, "transformers", len(model.classes_))
    ]
    if any(t.n_features_in_ != n_features for t in transformers):
        raise _Refused("the transformers are of different numbers of columns.")
    model.transformers_ = transformers
    model.n_generators_ = sum(t.n_generators_ for t in transformers)
    model.n_terms_ = sum(t.n_terms_ for t in transformers)
    n_coefficients = sum(t.n_coefficients_ for t in transformers)
    n_zeros = sum(t.sparsity_ * t.n_coefficients_ for t in transformers)
    model.sparsity_ = sparsity(n_coefficients - n_zeros, n_coefficients)


def _check_classifier(model):
    from vanishing.checks import check_flag, check_number
    from vanishing.learning.classifier import _check_options

    _check_features(model)
    _check_options(model)
    check_flag("clip", model.clip)
    for name, kinds in (("scale", _SCALERS), ("final_estimator", _LINEAR)):
        part = getattr(model, name, None)
        simple = part is None or isinstance(part, (bool, str))
        if not simple and type(part).__name__ not in kinds:
            raise _Refused(f"{name} is a {type(part).__name__}.")
    if hasattr(model, "C"):
        check_number("C", model.C, low=0, low_open=True)


def _write_classifier(model) -> dict:
    scaling = model._scaling
    node = {
        **_write_input(model),
        "classes": _write_array(model.classes_, "classes_"),
        "scale": scaling.scale if isinstance(scaling.scale, (bool, str)) else "transformer",
        "scaler": None if scaling.transformer is None else _write_model(scaling.transformer),
    }
    if scaling.clip:
        node["clip"] = [_write_array(values, "the range") for values in (scaling.low, scaling.high)]
    node["features"] = _write_model(model.features_)
    node["final_estimator"] = _write_model(model.final_estimator_)
    return node


def _read_classifier(reader, node, model):
    from vanishing.learning.classifier import _Scaling

    n_features, classes, scale, scaler, features, final, names, clip = _values(
        node,
        "a fitted classifier",
        ("n_features_in", "classes", "scale", "scaler", "features", "final_estimator"),
        (*_INPUT, "clip"),
    )
    reader.input(model, n_features, names)
    model.classes_ = reader.classes(classes)
    kinds = {False: None, True: "MinMaxScaler", "quantile": "QuantileTransformer"}
    if not isinstance(scale, (bool, str)) or scale not in (*kinds, "transformer"):
        raise _Refused("scale is not true, false, 'quantile' or 'transformer'.")
    if scaler is not None:
        scaler = reader.model(scaler, _SCALERS)
    elif scale is not False:
        raise _Refused("there is no scaler.")
    found = None if scaler is None else type(scaler).__name__
    if found != kinds.get(scale, found):
        raise _Refused("the scaler is not the one that scale says.")
    # A transformer of the user's own is remembered as the fitted one: only its type matters.
    scaling = _Scaling(scaler if scale == "transformer" else scale, clip is not None)
    scaling.transformer = scaler
    if clip is not None:
        scaling.low, scaling.high = (
            reader.array(part, "clip", (n_features,)) for part in _list(clip, "clip", 2)
        )
        if scaling.low.dtype.kind != "f" or scaling.high.dtype.kind != "f":
            raise _Refused("clip is not of floats.")
    features = reader.model(features, ("VanishingFeatures",))
    final = reader.model(final, _LINEAR)
    parts = [features] if scaler is None else [features, scaler]
    if any(part.n_features_in_ != n_features for part in parts):
        raise _Refused("the parts of the classifier are of different numbers of columns.")
    if final.n_features_in_ != max(1, features.n_generators_):
        raise _Refused("final_estimator is not of the features.")
    if not all(
        len(model.classes_) >= 2 and np.array_equal(part.classes_, model.classes_)
        for part in (features, final)
    ):
        raise _Refused("the parts of the classifier are of different classes.")
    wanted = model.final_estimator
    if type(final).__name__ != ("L1SquaredHingeSVC" if wanted is None else type(wanted).__name__):
        raise _Refused("final_estimator is not the one that is fitted.")
    model._assemble(scaling, features, final)


def _check_svm(model):
    from vanishing.checks import check_number

    check_number("C", model.C, low=0, low_open=True)
    check_number("tol", model.tol, low=0, low_open=True)
    check_number("max_iter", model.max_iter, low=1, integer=True)


def _write_svm(model) -> dict:
    return {
        **_write_input(model),
        "classes": _write_array(model.classes_, "classes_"),
        "coef": model.coef_.tolist(),
        "intercept": model.intercept_.tolist(),
        "dual_gap": [_float(value) for value in model.dual_gap_],
        "n_iter": int(model.n_iter_),
    }


def _read_svm(reader, node, model):
    n_features, classes, coef, intercept, gap, n_iter, names = _values(
        node,
        "a fitted L1SquaredHingeSVC",
        ("n_features_in", "classes", "coef", "intercept", "dual_gap", "n_iter"),
        _INPUT,
    )
    reader.input(model, n_features, names)
    model.classes_ = reader.classes(classes)
    n_rows = _n_rows(model.classes_)
    model.coef_ = reader.table(_list(coef, "coef", n_rows), "coef", n_features)
    model.intercept_ = reader.floats(intercept, "intercept", n_rows)
    gap = [reader.measured(value, "dual_gap") for value in _list(gap, "dual_gap", n_rows)]
    model.dual_gap_ = np.array(gap)
    model.n_iter_ = _integer(n_iter, "n_iter", 1)


def _n_rows(classes) -> int:
    """Return how many linear functions tell the classes apart."""
    if len(classes) < 2:
        raise _Refused("a classifier has fewer than two classes.")
    return 1 if len(classes) == 2 else len(classes)


_TIMES = ("mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time")
_SCORES = ("mean_test_score", "std_test_score")


def _check_search(model):
    _check_classifier(model)
    model._grid()


def _write_search(model) -> dict:
    results = model.cv_results_
    splits = [results[f"split{i}_test_score"] for i in range(model.n_splits_)]
    table = {name: [_float(v) for v in results[name]] for name in (*_TIMES, *_SCORES)}
    return {
        **_write_input(model),
        "classes": _write_array(model.classes_, "classes_"),
        "best_index": int(model.best_index_),
        "cv_results": {
            "psi": [p["psi"] for p in results["params"]],
            "C": [p["C"] for p in results["params"]],
            **table,
            "rank_test_score": results["rank_test_score"].tolist(),
            "split_test_scores": [[_float(value) for value in split] for split in splits],
        },
        "classifier": _write_model(model.classifier_),
    }


def _read_search(reader, node, model):
    n_features, classes, best, results, classifier, names = _values(
        node,
        "a fitted VanishingClassifierCV",
        ("n_features_in", "classes", "best_index", "cv_results", "classifier"),
        _INPUT,
    )
    reader.input(model, n_features, names)
    model.classes_ = reader.classes(classes)
    psis, Cs, *table, ranks, splits = _values(
        results,
        "cv_results",
        ("psi", "C", *_TIMES, *_SCORES, "rank_test_score", "split_test_scores"),
    )
    psis = reader.floats(psis, "psi").tolist()
    size = len(psis)
    Cs = reader.floats(Cs, "C", size).tolist()

    def scores(node, what):
        reader.allocate(8 * size)
        return np.array([reader.measured(value, what) for value in _list(node, what, size)])

    found = {
        name: scores(values, name) for name, values in zip((*_TIMES, *_SCORES), table, strict=True)
    }
    params = [{"psi": psi, "C": C} for psi, C in zip(psis, Cs, strict=True)]
    splits = [scores(split, "a split") for split in _list(splits, "split_test_scores")]
    ranks = reader.integers(_list(ranks, "rank_test_score", size), "rank_test_score", 1, size)
    nothing = np.zeros(size, dtype=bool)
    model.cv_results_ = {  # in the order of fit
        **{name: found[name] for name in _TIMES},
        "param_psi": np.ma.MaskedArray(psis, mask=nothing),
        "param_C": np.ma.MaskedArray(Cs, mask=nothing.copy()),
        "params": params,
        **{f"split{i}_test_score": split for i, split in enumerate(splits)},
        **{name: found[name] for name in _SCORES},
        "rank_test_score": ranks,
    }
    model.n_splits_ = len(splits)
    model.best_index_ = _integer(best, "best_index", 0, size - 1)
    model.best_score_ = float(found["mean_test_score"][model.best_index_])
    model.best_params_ = params[model.best_index_]
    model.classifier_ = reader.model(classifier, ("VanishingClassifier",))
    if model.classifier_.n_features_in_ != n_features or not np.array_equal(
        model.classifier_.classes_, model.classes_
    ):
        raise _Refused("the classifier is of other columns or classes.")


# -- scikit-learn's -----------------------------------------------------------------------------


def _write_known(attributes, model) -> dict:
    node = _write_input(model)
    if hasattr(model, "classes_"):
        node["classes"] = _write_array(model.classes_, "classes_")
    for name in attributes:
        node[name.rstrip("_")] = _write_value(getattr(model, name), name)
    return node


def _read_known(attributes, reader, node, model):
    """Set fitted attributes whose values are numbers or arrays of the given shapes."""
    name = type(model).__name__
    linear = name in _LINEAR
    keys = [attribute.rstrip("_") for attribute in attributes]
    n_features, *values = _values(
        node, f"a fitted {name}", ("n_features_in", *keys), ("classes",) * linear + _INPUT
    )
    reader.input(model, n_features, values.pop())
    sizes = {"n_features": n_features}
    if linear:
        model.classes_ = reader.classes(values.pop())
        sizes["n_rows"] = _n_rows(model.classes_)
    for (attribute, shape), value in zip(attributes.items(), values, strict=True):
        value = reader.value(value)
        optional = name == "StandardScaler" and shape  # without mean or without standard deviation
        if not (value is None and optional):
            numbers = np.asarray(value)
            wanted = [sizes.setdefault(n, m) for n, m in zip(shape, numbers.shape, strict=False)]
            if (
                numbers.ndim != len(shape)
                or (shape and not isinstance(value, np.ndarray))
                or numbers.shape != tuple(wanted)
                or numbers.dtype.kind not in "iuf"
                or not np.isfinite(numbers).all()
            ):
                raise _Refused(f"{attribute.rstrip('_')} of {name} is not numbers of its shape.")
        setattr(model, attribute, value)
    with warnings.catch_warnings():  # that columns have no names, or what the numbers may cause
        warnings.simplefilter("ignore")
        reader.allocate(8 * n_features)
        row = np.zeros((1, n_features))
        try:  # whatever its parameters are
            out = np.asarray(model.predict(row) if linear else model.transform(row))
            works = linear or np.isfinite(out).all()
        except Exception:
            works = False
    if not works:
        raise _Refused(f"the parameters of {name} do not work.")


def _write_pipeline(model) -> dict:
    if model.memory is not None or getattr(model, "transform_input", None) is not None:
        raise TypeError(
            "a Pipeline with memory or transform_input cannot be saved: set them to None first."
        )
    steps = [
        [name, step if step is None or isinstance(step, str) else _write_model(step)]
        for name, step in model.steps
    ]
    return {"steps": steps}


def _read_pipeline(reader, node, model):
    (steps,) = _values(node, "a fitted Pipeline", ("steps",))
    found = []
    for step in _list(steps, "steps"):
        name, part = _list(step, "a step", 2)
        if part is not None and part != "passthrough":
            part = reader.model(part)
        found.append((_string(name, "the name of a step"), part))
    if not found or not any(hasattr(part, "get_params") for _, part in found):
        raise _Refused("the pipeline has no steps.")
    for _, part in found[:-1]:
        if hasattr(part, "get_params") and not hasattr(part, "transform"):
            raise _Refused("a step before the last is no transformer.")
    model.steps = found
    check_is_fitted(model)
