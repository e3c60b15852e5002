"""A computation as a module of PyTorch: imported by `to_torch`, and by pickle."""

from collections.abc import Callable
from typing import Any

import numpy as np

from vanishing.export.computation import Computation, Steps, Value, in_order

try:
    import torch
    from torch.nn import Module, Parameter
except ImportError:  # the file can be read without it, to look for doctests or types
    Module = object  # type: ignore[assignment,misc]

_FLAT = ("detector", "law")  # models that have one number per row


class ComputationModule(Module):
    """What a fitted model computes from rows, differentiable, on any device.

    All numbers of the model are in its ``state_dict``: buffers, or, where it is trainable,
    parameters. Tensors have one row per row of the table.

    Parameters
    ----------
    computation : Computation
    trainable : bool
        Whether the coefficients of generators and the weights of a classifier are parameters: those
        that are not zero, so that sparse polynomials stay sparse.

    Attributes
    ----------
    title : str
        Of the model, for people.
    feature_names : tuple of str
        Names of the columns of X, in their order.
    output_names : tuple of str
        Of the entries of what a call returns.
    classes : list or None
        Labels, where the model is a classifier.
    """

    def __init__(self, computation: Computation, trainable: bool):
        super().__init__()
        self.title, self.kind = computation.title, computation.kind
        self.feature_names = computation.columns
        self.output_names = computation.names
        self.classes = None if computation.classes is None else computation.classes.tolist()
        outputs = list(computation.outputs.values())
        values, _ = in_order(outputs)
        places = {id(value): place for place, value in enumerate(values)}
        self.results = {name: places[id(v)] for name, v in computation.outputs.items()}
        trained = {id(value) for value in in_order(outputs[:1])[0]} if trainable else set()
        self.register_buffer("one", torch.ones((), dtype=torch.float64))  # of the module's dtype
        self.steps: list[tuple[str, tuple[int, ...], Any]] = []
        for place, value in enumerate(values):
            inputs = tuple(places[id(part)] for part in value.inputs)
            detail = self._registered(place, value, id(value) in trained)
            self.steps.append((value.operation, inputs, detail))

    # -- Numbers ----------------------------------------------------------------------------------

    def _numbers(self, name: str, numbers: np.ndarray, trained: bool = False) -> str:
        """Make numbers part of the state; return their name."""
        tensor = torch.from_numpy(np.array(numbers))
        if trained:
            self.register_parameter(name, Parameter(tensor))
        else:
            self.register_buffer(name, tensor)
        return name

    def _registered(self, place: int, value: Value, trained: bool) -> Any:
        """Make the numbers of an operation part of the state; return what names them."""
        operation, data = value.operation, value.data
        if operation == "constant":
            return self._numbers(f"constant_{place}", data["values"][np.newaxis])
        if operation == "take":
            return self._numbers(f"places_{place}", data["places"].astype(np.int64))
        if operation == "clip":
            return [self._numbers(f"{key}_{place}", data[key]) for key in ("low", "high")]
        if operation == "linear":
            numbers = np.column_stack([data["offset"], data["matrix"]])
            used = np.flatnonzero(numbers)
            self._numbers(f"coef_{place}", numbers.ravel()[used], trained)
            self._numbers(f"coef_places_{place}", used.astype(np.int64))
            return place, numbers.shape
        if operation == "quantiles":
            return self._tables(place, data["steps"])
        if operation == "nearest":
            return self._numbers(f"groups_{place}", data["groups"]), data["equal"]
        return data.get("exponent", data.get("limit"))

    def _tables(self, place: int, steps: list[Steps]) -> list[str]:
        """Make knots and what belongs to them part of the state, columns padded to one length."""
        most = max(len(column.knots) for column in steps)
        names = []
        for key in Steps._fields:
            length, filled = (most, np.inf) if key == "knots" else (most + 1, 0.0)
            rows = [getattr(column, key) for column in steps]
            rows = [np.pad(r, (0, length - len(r)), constant_values=filled) for r in rows]
            names.append(self._numbers(f"{key}_{place}", np.array(rows)))
        return names

    # -- Values -----------------------------------------------------------------------------------

    def forward(self, X: "torch.Tensor") -> "torch.Tensor":
        """Return what the model is for, of each row.

        Parameters
        ----------
        X : Tensor of shape (n_rows, n_features)
            Of the dtype and on the device of the module.

        Returns
        -------
        output : Tensor of shape (n_rows, n_outputs), or (n_rows,)
            Values of generators; of a classifier decision values, (n_rows,) with two classes; of a
            detector its decision values; of a law its prediction or residual.
        """
        return next(iter(self.values(X).values()))

    def values(self, X: "torch.Tensor") -> "dict[str, torch.Tensor]":
        """Return all that the model says of rows, by name: "decision" and "probabilities", say."""
        self._check(X)
        known: list[torch.Tensor] = []
        for operation, inputs, detail in self.steps:
            parts = [known[place] for place in inputs]
            known.append(X if operation == "columns" else self._value(operation, parts, detail, X))
        outputs = {name: known[p].expand(len(X), -1) for name, p in self.results.items()}
        first = next(iter(outputs))
        if self.kind in _FLAT or (self.classes is not None and len(self.classes) == 2):
            outputs[first] = outputs[first][:, 0]
        return outputs

    def _check(self, X) -> None:
        if X.ndim != 2 or X.shape[1] != len(self.feature_names):
            raise ValueError(
                f"X must have {len(self.feature_names)} columns; its shape is {tuple(X.shape)}."
            )
        if X.dtype != self.one.dtype or X.device != self.one.device:
            raise ValueError(
                f"X is {X.dtype} on {X.device}, and the module {self.one.dtype} on "
                f"{self.one.device}: convert one of them, with X.to(...) or module.to(...)."
            )

    def _value(self, operation: str, parts: list, detail, X):
        if operation in _FUNCTIONS:
            return _FUNCTIONS[operation](*parts)
        if operation == "constant":
            return getattr(self, detail)
        if operation == "nearest":
            return _nearest(parts[0], getattr(self, detail[0]), detail[1])
        if operation == "join":
            return torch.cat([part.expand(len(X), -1) for part in parts], dim=1)
        if operation == "choose":
            return torch.where(parts[0] < 0.0, parts[1], parts[2])
        (x,) = parts
        if operation == "take":
            return x[:, getattr(self, detail)]
        if operation == "linear":
            place, shape = detail
            coef = torch.zeros(shape[0] * shape[1], dtype=x.dtype, device=x.device)
            coef = coef.index_put((getattr(self, f"coef_places_{place}"),), self._coef(place))
            coef = coef.reshape(shape)
            return torch.addmm(coef[:, 0], x.expand(len(X), -1), coef[:, 1:].T)
        if operation == "power":
            return x**detail
        if operation == "clip":
            low, high = (getattr(self, name) for name in detail)
            return torch.minimum(torch.maximum(x, low), high)
        if operation == "zero_below":
            return torch.where(x < detail, torch.zeros_like(x), x)
        return self._quantiles(x, detail)

    def _coef(self, place: int):
        return getattr(self, f"coef_{place}")

    def _quantiles(self, x, names: list[str]):
        """Replace values by their quantiles: straight lines between knots, and values at these."""
        knots, *tables = (getattr(self, name) for name in names)
        x = x.T.contiguous()
        place = torch.searchsorted(knots, x.detach(), right=True)
        base, at, start, slope = (torch.gather(table, 1, place) for table in tables)
        return torch.where(x == base, at, start + (x - base) * slope).T


def _nearest(x, groups, equal: float):
    """Return squared distances to the nearest row of each group that is not equal; 0 if none is."""
    lengths = (x**2).sum(dim=1, keepdim=True)
    square = (groups**2).sum(dim=2)[:, None] - 2.0 * (x @ groups.transpose(1, 2)) + lengths
    square = torch.where(square < equal, torch.inf, square).amin(dim=2)
    return torch.where(torch.isinf(square), torch.zeros_like(square), square).T


def _cube_root(x):
    return torch.sign(x) * torch.abs(x) ** (1.0 / 3.0)


def _functions() -> dict[str, Callable]:
    names = ("minimum", "maximum", "abs", "sign", "sqrt", "exp", "log", "sin", "cos", "tan")
    names += ("arcsin", "arccos", "arctan", "tanh", "arctanh", "arcsinh")
    arithmetic = {name: getattr(torch, name) for name in ("add", "subtract", "multiply", "divide")}
    return {**arithmetic, **{name: getattr(torch, name) for name in names}, "cbrt": _cube_root}


_FUNCTIONS = _functions() if Module is not object else {}
