"""Models as the source of a Python module that needs NumPy alone."""

import keyword
from typing import ClassVar

import numpy as np

from vanishing._version import __version__
from vanishing.algebra.programs import Python
from vanishing.algebra.writing import PRODUCT, Written, printable
from vanishing.export.computation import Computation, Value, in_order
from vanishing.export.models import computation_of
from vanishing.export.notation import ELEMENTWISE, Notation, wrapped

_WIDTH = 90  # of a line of numbers
_RESERVED = (
    *("np", "FEATURE_NAMES", "N_FEATURES", "CLASSES"),
    *("decision_function", "predict_proba", "score_samples"),
)

_SPARSE = '''
def _sparse(shape, rows, columns, values):
    """Return an array of zeros, except for some entries."""
    array = np.zeros(shape)
    array[rows, columns] = values
    return array
'''

_QUANTILES = '''
def _quantiles(X, steps):
    """Replace values by their quantiles: straight lines between knots, and values at these."""
    out = np.empty(X.shape)
    for j, (x, (knots, base, at, start, slope)) in enumerate(zip(X, steps)):
        k = np.searchsorted(knots, x, side="right")
        out[j] = np.where(x == base[k], at[k], start[k] + (x - base[k]) * slope[k])
    return out
'''

_NEAREST = '''
def _nearest(at, groups, equal):
    """Return the squared distances to the nearest row of each group that is not equal."""
    found = []
    for group in groups:
        square = (group**2).sum(axis=1)[:, None] - 2.0 * (group @ at) + (at**2).sum(axis=0)
        square = np.where(square < equal, np.inf, square).min(axis=0)
        found.append(np.where(np.isinf(square), 0.0, square))
    return np.array(found)
'''

_IN_CHUNKS = '''
def _in_chunks(X, output):
    """Return an output of all rows, computed a few thousand at a time."""
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != N_FEATURES:
        raise ValueError(f"X must have {N_FEATURES} columns; its shape is {X.shape}.")
    starts = range(0, max(1, len(X)), 4096)
    return np.concatenate([_values(X[start : start + 4096])[output] for start in starts])
'''

_CLASSIFIER = '''
def decision_function(X):
    """Return decision values: (n_rows,) for two classes, else (n_rows, n_classes)."""
    scores = _in_chunks(X, 0)
    return scores[:, 0] if len(CLASSES) == 2 else scores


def {name}(X):
    """Return the predicted label of each row."""
    scores = decision_function(X)
    return CLASSES[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
'''

_PROBABILITIES = '''
def predict_proba(X):
    """Return the probabilities of the classes: (n_rows, n_classes)."""
    return _in_chunks(X, 1)
'''

_DETECTOR = '''
def score_samples(X):
    """Return how normal rows are: the lower, the less."""
    return _in_chunks(X, 1)[:, 0]


def decision_function(X):
    """Return the scores less the threshold: negative for outliers."""
    return _in_chunks(X, 0)[:, 0]


def {name}(X):
    """Return -1 for outliers and 1 for others."""
    return np.where(decision_function(X) < 0.0, -1, 1)
'''

_TRANSFORMER = '''
def {name}(X):
    """Return the {what} of rows: (n_rows, {width})."""
    return _in_chunks(X, 0)
'''

_LAW = '''
def {name}(X):
    """Return {what} of each row."""
    return _in_chunks(X, 0)[:, 0]
'''


def to_python(model: object, name: str | None = None) -> str:
    """Write a fitted model as a Python module that needs NumPy and nothing else.

    The module computes in float64 what the model does: the same labels, and the same values up to
    rounding. Only the generators and monomials that are needed are evaluated.

    Parameters
    ----------
    model : estimator, Pipeline or Law
        A fitted `OAVI`, `ABM`, `AVI`, `VCA`, `ContrastiveVanishing`, `VanishingFeatures`,
        `VanishingClassifier`, `VanishingClassifierCV`, `L1SquaredHingeSVC`,
        `VanishingOutlierDetector`, `LawFinder` (its best law), `ConservedQuantities` or
        `EquationsOfMotion` (all of them together); a `Law`, `ConservedQuantity` or
        `EquationOfMotion`; or a scikit-learn Pipeline that ends with an estimator of these other
        than those of laws and motion. MinMaxScaler, MaxAbsScaler, StandardScaler, RobustScaler,
        QuantileTransformer (to a uniform distribution), LogisticRegression and LinearSVC may be
        parts of it.
    name : str, default=None
        Name of the function. By default it is "predict" for classifiers, for detectors and for laws
        that are solved for a column, "residual" for other laws, "derivatives" for equations of
        motion, and "transform" for all else. Classifiers and detectors have ``decision_function``
        and others, too.

    Returns
    -------
    source : str
        Of a module with the function, FEATURE_NAMES, N_FEATURES and, for classifiers, CLASSES. It
        takes rows whose columns are those of FEATURE_NAMES, in this order. A law takes all but the
        one it is solved for. Equations of motion take columns, for order 2 their velocities, and
        inputs.

    See Also
    --------
    to_c : Source of one C function.
    to_sql : Expression of SQL over the columns of a table.
    to_onnx : ONNX graph of standard operators.
    vanishing.Law.write : A law alone, in these and other languages.

    Examples
    --------
    >>> from vanishing import OAVI
    >>> from vanishing.export import to_python
    >>> model = OAVI(psi=0).fit([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]])
    >>> module = {}
    >>> exec(to_python(model), module)
    >>> float(module["transform"]([[0.25, 0.75]])[0, 0])
    0.5
    """
    computation = computation_of(model)
    name = function_name(computation) if name is None else name
    _check_name(name)
    source = PythonSource()
    body = source.body(list(computation.outputs.values()))
    constants = [
        f"FEATURE_NAMES = {list_text(list(computation.columns))}",
        f"N_FEATURES = {len(computation.columns)}",
    ]
    if computation.classes is not None:
        dtype = computation.classes.dtype
        kind = "object" if dtype.kind == "O" else repr(dtype.str)
        labels = list_text(computation.classes.tolist())
        constants.append(f"CLASSES = np.array({labels}, dtype={kind})")
    return "\n".join(
        [
            f'"""A fitted {computation.title}, written by vanishing {__version__}."""',
            "",
            "import numpy as np",
            "",
            *constants,
            *sorted(source.helpers),
            *source.constants,
            f'\n\ndef _values(X):\n    """Go through the steps of the model."""\n{body}',
            _IN_CHUNKS,
            _functions(computation, name),
        ]
    )


def function_name(computation: Computation) -> str:
    """Return the name that the function has if none is given."""
    if computation.kind in ("transformer", "motion"):
        return "transform" if computation.kind == "transformer" else "derivatives"
    return "residual" if "residual" in computation.outputs else "predict"


def _check_name(name) -> None:
    if (
        not isinstance(name, str)
        or not name.isidentifier()
        or not name.isascii()
        or name.startswith("_")
        or keyword.iskeyword(name)
        or name in _RESERVED
    ):
        raise ValueError(f"name must be a name that a function may have here; got {name!r}.")


def _functions(computation: Computation, name: str) -> str:
    """Return the functions that people call."""
    if computation.kind == "classifier":
        source = _CLASSIFIER.format(name=name)
        return source + ("\n" + _PROBABILITIES if "probabilities" in computation.outputs else "")
    if computation.kind == "detector":
        return _DETECTOR.format(name=name)
    if computation.kind == "law":
        solved = "prediction" in computation.outputs
        what = "the prediction" if solved else "what is zero where the law holds"
        return _LAW.format(name=name, what=what)
    (what,) = computation.outputs
    return _TRANSFORMER.format(name=name, what=what, width=len(computation.names))


class PythonSource(Notation, Python):
    """The source of a module as it grows: constants, helpers, and statements.

    Arrays have a row for each entry and a column for each row of the table. Subclasses say what
    another library of arrays calls differently.
    """

    quantiles_helper = _QUANTILES
    nearest_helper = _NEAREST
    concatenate = "np.concatenate([{}])"

    choices: ClassVar[dict[str, str]] = {
        "minimum": "np.minimum({0}, {1})",
        "maximum": "np.maximum({0}, {1})",
        "clip": "np.clip({0}, {1}, {2})",
        "zero_below": "np.where({0} < {1}, 0.0, {0})",
        "choose": "np.where({0} < 0.0, {1}, {2})",
    }

    def __init__(self):
        super().__init__(())
        self.constants: list[str] = []
        self.n_constants: dict[str, int] = {}
        self.helpers: set[str] = set()
        self.statements: list[str] = []
        self.known: dict[int, Written] = {}
        self.n_values = 0

    def body(self, outputs: list[Value]) -> str:
        """Return the lines of a function that returns values."""
        values, used = in_order(outputs, self.times_written)
        for value in values:
            self.known[id(value)] = self.text_of(value, used[id(value)])
        results = ", ".join(f"{self.known[id(value)].atom}.T" for value in outputs)
        lines = ["X = np.ascontiguousarray(X.T)", *self.statements, f"return ({results},)"]
        lines = ['with np.errstate(all="ignore"):', *("    " + line for line in lines)]
        return "".join(f"    {line}\n" for line in lines)

    def text_of(self, value: Value, times: int) -> Written:
        """Write an operation; one that is used several times gets a name."""
        text = self._text(value)
        is_simple = value.operation in ("constant", "columns", "take")
        return (
            self._named(text, value.notes) if value.notes or (times > 1 and not is_simple) else text
        )

    def _named(self, text: Written, notes) -> Written:
        self.statements += [f"# {printable(note)}" for note in notes]
        self.n_values += 1
        name = f"v{self.n_values}"
        self.statements.append(f"{name} = {text.text}")
        return Written(name)

    def _text(self, value: Value) -> Written:
        """Write an operation."""
        inputs = [self.known[id(part)] for part in value.inputs]
        operation, data = value.operation, value.data
        if operation in ELEMENTWISE:
            return self.entry(value, inputs, lambda key: self._column(key, data[key]))
        if operation == "columns":
            return Written("X")
        if operation == "constant":
            return self._column("values", data["values"])
        if operation == "take":
            places = data["places"]
            if len(places) == 1:
                return Written(f"{inputs[0].atom}[{places[0]}:{places[0] + 1}]")
            return Written(f"{inputs[0].atom}[{self.array('places', places)}]")
        if operation == "join":
            return Written(self.concatenate.format(", ".join(text.text for text in inputs)))
        if operation == "linear":
            product = Written(f"{self.matrix(data['matrix'])} @ {inputs[0].atom}", PRODUCT)
            if not data["offset"].any():
                return product
            return self.added(product, self._column("offset", data["offset"]))
        if operation == "nearest":
            self.helpers.add(self.nearest_helper)
            groups = self.array("groups", data["groups"])
            return Written(f"_nearest({inputs[0].text}, {groups}, {data['equal']!r})")
        self.helpers.add(self.quantiles_helper)
        parts = [
            f"({', '.join(self.array_text(part) for part in column)})" for column in data["steps"]
        ]
        steps = self.constant("steps", "[\n    " + ",\n    ".join(parts) + ",\n]")
        return Written(f"_quantiles({inputs[0].text}, {steps})")

    def raised(self, base: Written, exponent: float) -> Written:
        """Write a power that is no square root."""
        return super().raised(base, exponent)._replace(rank=PRODUCT)

    # -- Constants --------------------------------------------------------------------------------

    def constant(self, name: str, value: str) -> str:
        """Give an expression a name of its own; return it."""
        self.n_constants[name] = place = self.n_constants.get(name, 0) + 1
        name = f"_{name}_{place}"
        self.constants.append(f"{name} = {value}")
        return name

    def array(self, name: str, values) -> str:
        """Give an array a name of its own; return it."""
        return self.constant(name, self.array_text(values))

    def array_text(self, values) -> str:
        """Write an array."""
        values = np.asarray(values)
        dtype = "int" if values.dtype.kind in "iu" else "float"
        shape = "" if values.ndim == 1 else f".reshape({values.shape})"
        return f"np.array({list_text(values.ravel().tolist())}, dtype={dtype}){shape}"

    def _column(self, name: str, values: np.ndarray) -> Written:
        """Return numbers, one for each entry; one number where all are the same."""
        if (values == values[0]).all():
            return self.literal(values[0])
        return Written(self.array(name, values[:, np.newaxis]))

    def matrix(self, matrix: np.ndarray) -> str:
        """Give a matrix a name of its own, with its entries that are not zero; return it."""
        rows, places = np.nonzero(matrix)
        if 2 * len(rows) > matrix.size:
            return self.array("coef", matrix)
        self.helpers.add(_SPARSE)
        parts = (rows, places, matrix[rows, places])
        names = ("rows", "columns", "values")
        arrays = [self.array(name, part) for name, part in zip(names, parts, strict=True)]
        return self.constant("coef", f"_sparse({matrix.shape}, {', '.join(arrays)})")


def list_text(values: list) -> str:
    """Return a list as source, on lines of moderate length."""
    lines = wrapped(map(repr, values), _WIDTH)
    return f"[{lines[0].rstrip(',')}]" if len(lines) == 1 else "\n    ".join(["[", *lines]) + "\n]"
