"""Kinds of models: which can be saved, and how a model becomes a tree of JSON values and back.

The module of a class calls `register` with two functions: what is saved, and how it is read.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from vanishing._names import PLACES, module_of
from vanishing.persistence import scikit_learn
from vanishing.persistence.values import NOT_FINITE, Refused, ValueReader, ValueWriter


class Kind(NamedTuple):
    """How an estimator is written and read.

    ``write(writer, model)`` returns the fitted part, ``read(reader, node, model)`` sets it; a
    result has no parameters, and ``read(reader, node)`` returns it. ``earlier`` are values of
    parameters that files of earlier versions do not have.
    """

    type: type
    write: Callable
    read: Callable
    ours: bool = True
    result: bool = False
    earlier: Mapping = MappingProxyType({})


_kinds: dict[str, Kind] = {}


def register(cls: type, write: Callable, read: Callable, *, earlier: dict | None = None) -> None:
    """Let the estimators of a class be saved, and loaded by its name.

    The class has a method ``check_parameters()``, which raises an error if parameters are invalid.
    It may be one of this library or of yours; yours is known once its module has been imported.

    Parameters
    ----------
    cls : type
    write : callable
        ``write(writer, model)`` returns the fitted part of a model as a dict of JSON values; the
        `Writer` helps.
    read : callable
        ``read(reader, node, model)`` sets the fitted part of a model that has its parameters from
        such a dict, and raises `Refused` if that is not what ``write`` returns.
    earlier : dict, default=None
        Values of parameters that earlier versions did not have, unless they are the defaults.
    """
    _kinds[cls.__name__] = Kind(cls, write, read, earlier=earlier or {})


def register_result(cls: type, write: Callable, read: Callable) -> None:
    """Let the results of a class, which are no estimators, be saved, and loaded by its name.

    Parameters
    ----------
    cls : type
    write : callable
        ``write(writer, result)`` returns the result as a dict of JSON values.
    read : callable
        ``read(reader, node)`` returns the result from such a dict, and raises `Refused` if that
        is not what ``write`` returns.
    """
    _kinds[cls.__name__] = Kind(cls, write, read, result=True)


def _kind_named(name: str) -> Kind | None:
    if name not in _kinds and name in PLACES:
        module_of(name)  # which defines and registers the class, if the name is a class
    if name in _kinds:
        return _kinds[name]
    known = scikit_learn.kinds().get(name)
    return None if known is None else Kind(*known)._replace(ours=False)


def _kind_of(model) -> Kind | None:
    kind = _kind_named(type(model).__name__)
    return kind if kind is not None and type(model) is kind.type else None


class Writer(ValueWriter):
    """Turns models and values into JSON values."""

    def model(self, model) -> dict:
        """Write a fitted model."""
        kind = _kind_of(model)
        if kind is None:
            raise TypeError(
                f"a {type(model).__name__} cannot be saved: a model file holds only estimators of "
                f"vanishing and {', '.join(scikit_learn.kinds())}. "
                "Save the parts it knows, or use pickle where you trust the file."
            )
        if kind.result:
            return {
                "kind": type(model).__name__,
                "parameters": {},
                "fitted": kind.write(self, model),
            }
        check_is_fitted(model)
        return {**self._unfitted(model, kind, fitted=True), "fitted": kind.write(self, model)}

    def _unfitted(self, model, kind, *, fitted=False) -> dict:
        name = type(model).__name__
        parameters = model.get_params(deep=False)
        if name in scikit_learn.COMPOSED:
            parts, others = scikit_learn.COMPOSED[name]
            # Of a fitted model the parts are fitted ones, and written as such.
            kept = others if fitted else (parts, "remainder", *others)
            parameters = {key: parameters[key] for key in kept if key in parameters}
        elif not kind.ours:
            # Other versions of scikit-learn have other parameters, but few are ever set.
            defaults = kind.type().get_params(deep=False)
            parameters = {
                key: value
                for key, value in parameters.items()
                if value is not defaults[key]
                and self.value(value, f"the parameter {key} of {name}")
                != self.value(defaults[key], key)
            }
        return {
            "kind": name,
            "parameters": {
                key: self.value(value, f"the parameter {key} of {name}")
                for key, value in parameters.items()
            },
        }

    def value(self, value, what):
        """Write a value such that `ModelReader.value` returns it with its type."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": self.float(value)}
        if isinstance(value, np.generic) and value.dtype.kind in "biufU":
            return {"scalar": self.plain(value), "dtype": value.dtype.str}
        if type(value) is np.ndarray and value.ndim in (1, 2) and value.dtype.kind in "biufUO":
            return self.array(value, what)
        if type(value) is tuple:
            return {"tuple": [self.value(part, what) for part in value]}
        if type(value) is slice:
            ends = value.start, value.stop, value.step
            return {"slice": [self.value(end, what) for end in ends]}
        if type(value) is list:
            return [self.value(part, what) for part in value]
        if type(value) is dict:
            parts = ((self.value(k, what), self.value(v, what)) for k, v in value.items())
            return {"dict": [list(part) for part in parts]}
        kind = _kind_of(value)
        if kind is not None and not kind.result:
            return self._unfitted(value, kind)
        cls, names = scikit_learn.splitters().get(type(value).__name__, (None, ()))
        if type(value) is cls:
            parameters = {name: self.value(getattr(value, name), what) for name in names}
            return {"splitter": cls.__name__, "parameters": parameters}
        raise TypeError(
            f"{what} is {value!r}, which a model file cannot hold: it holds data and no code. "
            "What only the fit needed, such as scoring, can be replaced with set_params before "
            f"saving. Of scikit-learn a file holds {', '.join(scikit_learn.kinds())}. Else use "
            "pickle if you trust the file."
        )

    def input(self, model) -> dict:
        """Write the number and names of the columns seen in fit."""
        node: dict = {"n_features_in": int(model.n_features_in_)}
        if hasattr(model, "feature_names_in_"):
            node["feature_names_in"] = [str(name) for name in model.feature_names_in_]
        return node

    def classes(self, model) -> dict:
        """Write the columns seen in fit, and the class labels."""
        return {**self.input(model), "classes": self.array(model.classes_, "classes_")}


class ModelReader(ValueReader):
    """Checks a parsed file, node by node, and builds the model."""

    def model(self, node, types=object):
        """Return a fitted model, which must be of one of these types."""
        name, parameters, fitted = self.fields(node, "a model", ("kind", "parameters", "fitted"))
        kind = self._kind(name, types)
        if kind.result:
            self.fields(parameters, f"the parameters of {name}", ())
            return kind.read(self, fitted)
        model = self._unfitted(kind, parameters)
        kind.read(self, fitted, model)
        return model

    def _kind(self, name, types) -> Kind:
        kind = _kind_named(self.string(name, "the kind of a model"))
        if kind is None:
            raise Refused(
                f"{name!r} is no kind of model that is known: this version of vanishing has no "
                "such class, and no module that was imported has registered one. If the class is "
                "yours, import its module first."
            )
        if not issubclass(kind.type, types):
            raise Refused(f"{name!r} is no kind of model that is known in this place.")
        return kind

    def _unfitted(self, kind, parameters):
        name = kind.type.__name__
        if not isinstance(parameters, dict):
            raise Refused(f"the parameters of {name} are not an object.")
        parameters = {key: self.value(value) for key, value in parameters.items()}
        if name in scikit_learn.COMPOSED:
            parts, others = scikit_learn.COMPOSED[name]
            self._check_parts(parameters.setdefault(parts, []), name)
            names = {parts, *others} | ({"remainder"} if name == "ColumnTransformer" else set())
        else:
            names = set(kind.type().get_params(deep=False))
        unknown = sorted(set(parameters) - names)
        if unknown:
            raise Refused(f"{name} has no parameter {unknown[0]!r}.")
        model = kind.type(**{**kind.earlier, **parameters})
        if kind.ours:
            model.check_parameters()
        return model

    def _check_parts(self, parts, name: str) -> None:
        """Raise Refused unless these are unfitted parts of a composed estimator."""
        size = 2 if name == "Pipeline" else 3
        for part in self.listed(parts, f"the parts of {name}"):
            if not (isinstance(part, tuple) and len(part) == size and isinstance(part[0], str)):
                raise Refused(f"a part of {name} is not a tuple of {size} with a name.")
            known = part[1] is None or isinstance(part[1], (str, BaseEstimator))
            if not known or (
                size == 3 and not isinstance(part[2], (str, int, list, slice, np.ndarray))
            ):
                raise Refused(f"a part of {name} is no estimator, or has no columns.")

    def value(self, node):
        """Return a value that `Writer.value` has written."""
        if isinstance(node, list):
            return [self.value(part) for part in node]
        if not isinstance(node, dict):
            if isinstance(node, float) and not math.isfinite(node):
                raise Refused("a number is too large.")
            return node
        if "kind" in node:
            name, parameters = self.fields(node, "an estimator", ("kind", "parameters"))
            return self._unfitted(self._kind(name, BaseEstimator), parameters)
        if "splitter" in node:
            name, parameters = self.fields(node, "a splitter", ("splitter", "parameters"))
            cls, names = scikit_learn.splitters().get(self.string(name, "splitter"), (None, ()))
            if cls is None:
                raise Refused(f"{name!r} is no splitter that is known.")
            values = self.fields(parameters, name, names)
            return cls(**dict(zip(names, map(self.value, values), strict=True)))
        if "array" in node:
            return self.array(node, "an array")
        if "scalar" in node:
            scalar, dtype = self.fields(node, "a scalar", ("scalar", "dtype"))
            return self.array({"array": [scalar], "dtype": dtype}, "a scalar")[0]
        if "float" in node:
            (name,) = self.fields(node, "a number", ("float",))
            if not isinstance(name, str) or name not in NOT_FINITE:
                raise Refused("a number is not NaN, Infinity or -Infinity.")
            return NOT_FINITE[name]
        if "tuple" in node:
            (parts,) = self.fields(node, "a tuple", ("tuple",))
            return tuple(self.value(part) for part in self.listed(parts, "a tuple"))
        if "slice" in node:
            (ends,) = self.fields(node, "a slice", ("slice",))
            ends = [self.value(end) for end in self.listed(ends, "a slice", 3)]
            if not all(end is None or type(end) in (int, str) for end in ends):
                raise Refused("a slice does not end at places or names.")
            return slice(*ends)
        (pairs,) = self.fields(node, "a value", ("dict",))
        pairs = [
            self.listed(pair, "an entry of a dict", 2) for pair in self.listed(pairs, "a dict")
        ]
        return {self.value(key): self.value(value) for key, value in pairs}

    def fitted(self, model, node, keys, optional=(), *, classes=False) -> list:
        """Set the columns seen in fit and, with ``classes``, the labels; return other values.

        These are the values of ``keys`` and ``optional``, None for absent ones.
        """
        known = ("n_features_in", "classes") if classes else ("n_features_in",)
        n_features, *values, names = self.fields(
            node,
            f"a fitted {type(model).__name__}",
            (*known, *keys),
            (*optional, "feature_names_in"),
        )
        model.n_features_in_ = self.integer(n_features, "n_features_in", 1)
        if names is not None:
            names = self.names(names, "feature_names_in", n_features)
            model.feature_names_in_ = np.array(names, dtype=object)
        if classes:
            model.classes_ = self.classes(values.pop(0))
        return values
