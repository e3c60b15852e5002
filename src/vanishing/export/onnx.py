"""Models as ONNX graphs of standard operators."""

import json
from typing import Any, Literal

import numpy as np

from vanishing._version import __version__
from vanishing.algebra.writing import printable
from vanishing.checks import check_choice, install
from vanishing.export.computation import Computation, Steps, Value, in_order
from vanishing.export.models import computation_of

# The lowest version of the operators in which all that are used have their present form; every
# onnxruntime since 1.6 (2020) reads it, and the file format that goes with it.
_OPSET, _FORMAT = 13, 7
_FARTHEST = 1e300  # squared distance of rows that do not count
_OPERATORS = {
    **{"add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div"},
    **{"minimum": "Min", "maximum": "Max"},
    **{name: name.capitalize() for name in ("abs", "sign", "sqrt", "exp", "log", "sin", "cos")},
    "tanh": "Tanh",
}


def to_onnx(model: object, *, dtype: Literal["float64", "float32"] = "float64") -> Any:
    """Write a fitted model as an ONNX graph.

    It consists of standard operators (Mul, Add, MatMul, Gather, ...), so that onnxruntime, or what
    else reads ONNX, needs nothing of this library.

    Parameters
    ----------
    model : estimator, Pipeline or Law
        As `to_python` takes it.
    dtype : {"float64", "float32"}, default="float64"
        Of the input, and of the outputs that are no labels. Inside, all is computed in float64:
        values of a polynomial that nearly vanishes are below what float32 resolves. With
        "float32" results are those of the rows as rounded to it.

    Returns
    -------
    graph : onnx.ModelProto
        With the input "X", of shape (n_rows, n_features), and outputs named as skl2onnx names
        them. Of a classifier "label", "probabilities" (n_rows, n_classes) where the model has some,
        and "scores", its decision values; of a detector "label" (-1 or 1) and "scores"; of all else
        "variable". Shapes are those of the model's own methods. The metadata have the names of the
        columns as JSON, "feature_names".

    See Also
    --------
    to_python : Source of a Python module that needs NumPy alone.
    to_c : Source of one C function.
    to_sql : Expression of SQL over the columns of a table.

    Notes
    -----
    Save it with ``onnx.save(graph, "model.onnx")``. It needs the package onnx: install it with
    ``python -m pip install ".[onnx]"`` in the folder of vanishing. The graph is of opset 13.

    Examples
    --------
    >>> from vanishing import OAVI
    >>> from vanishing.export import to_onnx
    >>> model = OAVI(psi=0).fit([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]])
    >>> graph = to_onnx(model)
    >>> [output.name for output in graph.graph.output]
    ['variable']
    """
    check_choice("dtype", dtype, ("float64", "float32"))
    try:
        import onnx
    except ImportError:
        raise ImportError(f"to_onnx needs onnx: install it with {install('onnx')}.") from None
    computation = computation_of(model)
    if not computation.names:
        raise ValueError("the model has no generators, so that there is nothing to export.")
    graph = _Graph(onnx, dtype)
    graph.values(list(computation.outputs.values()))
    _write_outputs(graph, computation)
    exported = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes,
            computation.title,
            [graph.described("X", dtype, [None, len(computation.columns)])],
            graph.outputs,
            graph.constants,
        ),
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
        ir_version=_FORMAT,
        producer_name="vanishing",
        producer_version=__version__,
    )
    names = json.dumps(list(computation.columns))
    onnx.helper.set_model_props(exported, {"feature_names": names})
    onnx.checker.check_model(exported)
    return exported


def _write_outputs(graph: "_Graph", computation: Computation) -> None:
    first, *_ = computation.outputs.values()
    if computation.kind == "classifier":
        assert computation.classes is not None
        graph.label(first, computation.classes)
        if "probabilities" in computation.outputs:
            graph.output("probabilities", computation.outputs["probabilities"], is_flat=False)
        graph.output("scores", first, is_flat=first.width == 1)
    elif computation.kind == "detector":
        graph.outlier_label(first)
        graph.output("scores", first, is_flat=True)
    else:
        graph.output("variable", first, is_flat=computation.kind == "law")


class _Graph:
    """The nodes and constants of a graph as it grows.

    Tensors have a row for each row of the table and a column for each entry of a vector.
    """

    def __init__(self, onnx, dtype: str):
        self.onnx = onnx
        self.dtype = dtype
        self.nodes: list = []
        self.constants: list = []
        self.outputs: list = []
        self.known: dict[int, str] = {}
        self.notes: tuple[str, ...] = ()
        self.n_names = 0

    # -- Parts ------------------------------------------------------------------------------------

    def add(self, operator: str, *inputs: str, name: str | None = None, **attributes) -> str:
        """Add a node; return the name of its result."""
        name = self._name() if name is None else name
        node = self.onnx.helper.make_node(operator, list(inputs), [name], **attributes)
        node.doc_string = "\n".join(map(printable, self.notes))
        self.notes = ()
        self.nodes.append(node)
        return name

    def numbers(self, values: Any) -> str:
        """Add an array of numbers; return its name."""
        name = self._name()
        values = np.ascontiguousarray(values)
        self.constants.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def number(self, value: float) -> str:
        """Add a number; return its name."""
        return self.numbers(np.array([[value]], dtype=np.float64))

    def cast(self, tensor: str, dtype: str, name: str | None = None) -> str:
        """Add a conversion to another type."""
        return self.add("Cast", tensor, name=name, to=self._type(dtype))

    def described(self, name: str, dtype: str, shape: list):
        """Return the description of an input or output."""
        # Dimensions that may be anything have a name in ONNX.
        shape = ["n_rows" if size is None else size for size in shape]
        return self.onnx.helper.make_tensor_value_info(name, self._type(dtype), shape)

    def _type(self, dtype: str) -> int:
        types = {"float64": "DOUBLE", "float32": "FLOAT", "int64": "INT64", "bool": "BOOL"}
        return getattr(self.onnx.TensorProto, types.get(dtype, "STRING"))

    def _name(self) -> str:
        self.n_names += 1
        return f"v{self.n_names}"

    # -- Outputs ----------------------------------------------------------------------------------

    def output(self, name: str, value: Value, *, is_flat: bool) -> None:
        """Add an output, of one number per row if it is flat."""
        tensor = self.known[id(value)]
        if is_flat:
            tensor = self.add("Reshape", tensor, self.numbers(np.array([-1], dtype=np.int64)))
        self.cast(tensor, self.dtype, name)
        shape = [None] if is_flat else [None, value.width]
        self.outputs.append(self.described(name, self.dtype, shape))

    def label(self, decision: Value, classes: np.ndarray) -> None:
        """Add the label of each row."""
        tensor = self.known[id(decision)]
        if decision.width == 1:
            flat = self.add("Reshape", tensor, self.numbers(np.array([-1], dtype=np.int64)))
            place = self.cast(self.add("Greater", flat, self.numbers(np.zeros(1))), "int64")
        else:
            place = self.add("ArgMax", tensor, axis=1, keepdims=0)
        kind = {"i": "int64", "u": "int64", "b": "bool", "f": "float64"}.get(classes.dtype.kind)
        if kind is None:
            labels = [str(label).encode("utf-8") for label in classes.tolist()]
            strings = self.onnx.TensorProto.STRING
            table = self._name()
            tensor = self.onnx.helper.make_tensor(table, strings, [len(labels)], labels)
            self.constants.append(tensor)
        else:
            table = self.numbers(classes.astype(kind))
        self.add("Gather", table, place, name="label", axis=0)
        self.outputs.append(self.described("label", kind or "string", [None]))

    def outlier_label(self, decision: Value) -> None:
        """Add -1 for outliers and 1 for others."""
        is_outlier = self.add("Less", self.known[id(decision)], self.number(0.0))
        signs = [self.numbers(np.array([[sign]], dtype=np.int64)) for sign in (-1, 1)]
        label = self.add("Where", is_outlier, *signs)
        self.add("Reshape", label, self.numbers(np.array([-1], dtype=np.int64)), name="label")
        self.outputs.append(self.described("label", "int64", [None]))

    # -- Values -----------------------------------------------------------------------------------

    def values(self, outputs: list[Value]) -> None:
        """Add all that some values need."""
        for value in in_order(outputs)[0]:
            self.notes = value.notes
            inputs = [self.known[id(part)] for part in value.inputs]
            self.known[id(value)] = self._value(value, inputs)

    def _value(self, value: Value, inputs: list[str]) -> str:
        operation, data = value.operation, value.data
        if operation in _OPERATORS:
            return self.add(_OPERATORS[operation], *inputs)
        if operation == "columns":
            return self.cast("X", "float64")
        if operation == "constant":
            return self.numbers(data["values"][np.newaxis])
        if operation == "join":
            return self.add("Concat", *inputs, axis=1)
        if operation == "choose":
            return self.add("Where", self.add("Less", inputs[0], self.number(0.0)), *inputs[1:])
        (x,) = inputs
        if operation == "take":
            return self.add("Gather", x, self.numbers(data["places"].astype(np.int64)), axis=1)
        if operation == "linear":
            product = self.add("MatMul", x, self.numbers(data["matrix"].T))
            return self.add("Add", product, self.numbers(data["offset"][np.newaxis]))
        if operation == "power":
            return self.add("Pow", x, self.number(data["exponent"]))
        if operation == "clip":
            low, high = (self.numbers(data[key][np.newaxis]) for key in ("low", "high"))
            return self.add("Min", self.add("Max", x, low), high)
        if operation == "zero_below":
            is_below = self.add("Less", x, self.number(data["limit"]))
            return self.add("Where", is_below, self.number(0.0), x)
        if operation == "quantiles":
            return self._quantiles(x, data["steps"])
        if operation == "nearest":
            return self._nearest(x, data["groups"], data["equal"])
        return getattr(self, f"_{operation}")(x)

    def _nearest(self, x: str, groups: np.ndarray, equal: float) -> str:
        """Return squared distances to the nearest rows, by a product with all of them."""
        ones = self.numbers(np.ones((groups.shape[2], 1)))
        length = self.add("MatMul", self.add("Mul", x, x), ones)
        found = []
        for group in groups:
            product = self.add("MatMul", x, self.numbers(-2.0 * group.T))
            squares = self.numbers(np.square(group).sum(axis=1)[np.newaxis])
            square = self.add("Add", self.add("Add", product, squares), length)
            is_equal = self.add("Less", square, self.number(equal))
            square = self.add("Where", is_equal, self.number(_FARTHEST), square)
            least = self.add("Neg", self._largest_of(self.add("Neg", square)))
            is_all = self.add("Less", self.number(0.5 * _FARTHEST), least)
            found.append(self.add("Where", is_all, self.number(0.0), least))
        return self.add("Concat", *found, axis=1)

    def _largest_of(self, x: str) -> str:
        """Return the largest entry of each row, by the place that it has."""
        place = self.add("ArgMax", x, axis=1, keepdims=1)
        return self.add("GatherElements", x, place, axis=1)

    def _quantiles(self, x: str, steps: list[Steps]) -> str:
        """Search for the place of each entry among its knots, by halves, all columns at once."""
        n_halves = int(max(len(column.knots) for column in steps)).bit_length()
        size = 2**n_halves

        def table(parts, length, filled) -> str:
            rows = [np.pad(row, (0, length - len(row)), constant_values=filled) for row in parts]
            return self.numbers(np.concatenate(rows))

        def starts(length) -> str:
            return self.numbers(length * np.arange(len(steps), dtype=np.int64)[np.newaxis])

        knots = table([column.knots for column in steps], size - 1, np.inf)
        start = starts(size - 1)
        place = self.numbers(np.zeros((1, 1), dtype=np.int64))  # how many knots are <= x
        for half in reversed(range(n_halves)):
            further = self.add("Add", place, self.numbers(np.array([[2**half]], dtype=np.int64)))
            last = self.add("Add", start, self.add("Add", further, self.numbers(np.array([[-1]]))))
            is_below = self.add("Less", x, self.add("Gather", knots, last, axis=0))
            place = self.add("Where", is_below, place, further)
        place = self.add("Add", place, starts(size))
        base, at, first, slope = (
            self.add("Gather", table(parts, size, 0.0), place, axis=0)
            for parts in list(zip(*steps, strict=True))[1:]
        )
        distance = self.add("Sub", x, base)
        line = self.add("Add", first, self.add("Mul", distance, slope))
        return self.add("Where", self.add("Equal", x, base), at, line)

    # -- Functions that onnxruntime has in float32 alone, or ONNX not at all ----------------------

    def _cbrt(self, x: str) -> str:
        root = self.add("Pow", self.add("Abs", x), self.number(1.0 / 3.0))
        return self.add("Mul", self.add("Sign", x), root)

    def _tan(self, x: str) -> str:
        return self.add("Div", self.add("Sin", x), self.add("Cos", x))

    def _arcsinh(self, x: str) -> str:
        size = self.add("Abs", x)
        root = self.add("Sqrt", self.add("Add", self.add("Mul", x, x), self.number(1.0)))
        return self.add("Mul", self.add("Sign", x), self.add("Log", self.add("Add", size, root)))

    def _arctanh(self, x: str) -> str:
        above = self.add("Log", self.add("Add", self.number(1.0), x))
        below = self.add("Log", self.add("Sub", self.number(1.0), x))
        return self.add("Mul", self.number(0.5), self.add("Sub", above, below))

    def _arctan(self, x: str) -> str:
        """Correct float32's: tan(y - y0) = (x cos y0 - sin y0) / (cos y0 + x sin y0)."""
        rough, sin, cos = self._in_float32("Atan", x)
        above = self.add("Sub", self.add("Mul", x, cos), sin)
        below = self.add("Add", cos, self.add("Mul", x, sin))
        return self.add("Add", rough, self.add("Div", above, below))

    def _arcsin(self, x: str) -> str:
        """Correct float32's: sin(y - y0) = x cos y0 - sqrt(1 - x^2) sin y0."""
        rough, sin, cos = self._in_float32("Asin", x)
        return self._corrected(rough, self.add("Mul", x, cos), self.add("Mul", self._other(x), sin))

    def _arccos(self, x: str) -> str:
        """Correct float32's: sin(y - y0) = sqrt(1 - x^2) cos y0 - x sin y0."""
        rough, sin, cos = self._in_float32("Acos", x)
        return self._corrected(rough, self.add("Mul", self._other(x), cos), self.add("Mul", x, sin))

    def _in_float32(self, operator: str, x: str) -> tuple[str, str, str]:
        """Return an angle to seven digits, and its sine and cosine to all."""
        rough = self.cast(self.add(operator, self.cast(x, "float32")), "float64")
        return rough, self.add("Sin", rough), self.add("Cos", rough)

    def _other(self, x: str) -> str:
        one = self.number(1.0)
        return self.add("Sqrt", self.add("Mul", self.add("Sub", one, x), self.add("Add", one, x)))

    def _corrected(self, rough: str, left: str, right: str) -> str:
        """Return an angle plus the small one whose sine is a difference: s + s^3 / 6."""
        sine = self.add("Sub", left, right)
        cube = self.add("Mul", sine, self.add("Mul", sine, sine))
        small = self.add("Add", sine, self.add("Mul", cube, self.number(1.0 / 6.0)))
        return self.add("Add", rough, small)
