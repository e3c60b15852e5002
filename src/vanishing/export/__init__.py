"""Fitted models as source of a Python module that needs NumPy alone."""

import keyword
import math

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, StandardScaler
from sklearn.utils.validation import check_is_fitted

from vanishing._version import __version__
from vanishing.algebra import monomials
from vanishing.algebra.writing import printable
from vanishing.constructions.base import GeneratorTransformer, input_names
from vanishing.inspection import anatomy
from vanishing.learning.classifier import LINEAR, VanishingClassifier
from vanishing.learning.features import VanishingFeatures
from vanishing.learning.log_scaling import LogScaler
from vanishing.learning.search import VanishingClassifierCV

_SHOWN = 20  # terms of a polynomial that a comment shows
_EXPANDED = 500  # monomials up to which components are expanded for a comment
_WIDTH = 90  # of a line of numbers
_RESERVED = ("np", "decision_function", "FEATURE_NAMES", "N_FEATURES", "CLASSES")

_POLYNOMIALS = '''
def _polynomials(X, parent, variable, terms, coef, leading_coef, leading):
    """Evaluate generators; monomial i is monomial parent[i] times a column, monomial 0 is 1."""
    values = np.ones((1 + len(parent), len(X)))
    for i, (p, v) in enumerate(zip(parent, variable), 1):
        values[i] = values[p] * X[:, v]
    return (coef @ values[terms] + leading_coef[:, np.newaxis] * values[leading]).T
'''

_SPARSE = '''
def _sparse(shape, rows, columns, values):
    """Return an array that is zero but for some entries."""
    array = np.zeros(shape)
    array[rows, columns] = values
    return array
'''

_COMPONENTS = '''
def _components(X, stages):
    """Evaluate generators that are combinations of products of components."""
    components, generators = np.ones((1, len(X))), [np.empty((0, len(X)))]
    for n, left, right, combine, project in stages:
        candidates = X.T if left is None else components[left] * components[right]
        values = combine @ candidates + project @ components
        components = np.vstack([components, values[:n]])
        generators.append(values[n:])
    return np.vstack(generators).T
'''

_QUANTILES = '''
def _to_quantiles(X, quantiles, references):
    """Replace values by their quantiles."""
    out = np.empty(X.shape)
    for j, (x, q) in enumerate(zip(X.T, quantiles)):
        up = np.interp(x, q, references)
        down = np.interp(-x, -q[::-1], -references[::-1])
        out[:, j] = 0.5 * (up - down)
        out[x == q[-1], j] = 1.0
        out[x == q[0], j] = 0.0
    return np.clip(out, 0.0, 1.0)
'''

_IN_CHUNKS = '''
def _in_chunks(function, X):
    """Apply a function to some rows at a time."""
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != N_FEATURES:
        raise ValueError(f"X must have {N_FEATURES} columns; its shape is {X.shape}.")
    starts = range(0, max(1, len(X)), 4096)
    return np.concatenate([function(X[start : start + 4096]) for start in starts])
'''

_CLASSIFIER = '''
def decision_function(X):
    """Return decision values: (n_rows,) for two classes, else (n_rows, n_classes)."""
    scores = _in_chunks(_values, X)
    return scores[:, 0] if len(CLASSES) == 2 else scores


def {name}(X):
    """Return the predicted label of each row."""
    scores = decision_function(X)
    return CLASSES[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
'''

_TRANSFORMER = '''
def {name}(X):
    """Evaluate the generators: (n_rows, n_generators)."""
    return _in_chunks(_values, X)
'''


def to_python(model, name=None) -> str:
    """Write a fitted model as a Python module that needs NumPy and nothing else.

    The module computes in float64 what the model does: the same labels, and the same values up to
    rounding. Only the generators and monomials that are needed are evaluated.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted `OAVI`, `ABM`, `AVI`, `VCA`, `VanishingFeatures`, `VanishingClassifier`,
        `VanishingClassifierCV` or `L1SquaredHingeSVC`, or a scikit-learn Pipeline that ends with
        one. MinMaxScaler, StandardScaler, QuantileTransformer (to a uniform distribution),
        LogisticRegression and LinearSVC may be parts of it.
    name : str, default=None
        Name of the function; "predict" for classifiers, which have a ``decision_function`` beside
        it, and "transform" for transformers by default.

    Returns
    -------
    source : str
        Of a module with the function, FEATURE_NAMES, N_FEATURES and, for classifiers, CLASSES.

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
    check_is_fitted(model)
    source = _Source()
    source.add(model)
    is_classifier = source.classes is not None
    name = ("predict" if is_classifier else "transform") if name is None else name
    if (
        not isinstance(name, str)
        or not name.isidentifier()
        or not name.isascii()
        or name.startswith("_")
        or keyword.iskeyword(name)
        or name in _RESERVED
    ):
        raise ValueError(f"name must be a name that a function may have here; got {name!r}.")
    # A pipeline whose first step passes rows through does not know its columns.
    parts = [model, *(dict(model.steps).values() if isinstance(model, Pipeline) else ())]
    first = next(part for part in parts if hasattr(part, "n_features_in_"))
    constants = [
        f"FEATURE_NAMES = {_wrapped([str(name) for name in input_names(first)])}",
        f"N_FEATURES = {int(first.n_features_in_)}",
    ]
    if is_classifier:
        dtype = source.classes.dtype
        dtype = "object" if dtype.kind == "O" else repr(dtype.str)
        constants.append(f"CLASSES = np.array({_wrapped(source.classes.tolist())}, dtype={dtype})")
    steps = "".join(f"    X = {step}\n" for step in source.steps)
    values = (
        f'\ndef _values(X):\n    """Go through the steps of the model."""\n{steps}    return X\n'
    )
    end = (_CLASSIFIER if is_classifier else _TRANSFORMER).format(name=name)
    return "\n".join(
        [
            f'"""A fitted {type(model).__name__}, written by vanishing {__version__}."""',
            "",
            "import numpy as np",
            "",
            *constants,
            *sorted(source.helpers),
            *source.constants,
            _IN_CHUNKS,
            values,
            end,
        ]
    )


class _Source:
    """The source of a module as it grows: constants, helpers, and one expression a step."""

    def __init__(self):
        self.constants: list[str] = []
        self.n_constants: dict[str, int] = {}
        self.helpers: set[str] = set()
        self.steps: list[str] = []
        self.classes = None

    def add(self, model):
        """Add the steps of a model."""
        if self.classes is not None:
            raise TypeError("a classifier must be the last step of what is exported.")
        if type(model) is Pipeline:
            for _, step in model.steps:
                if step is not None and step != "passthrough":
                    self.add(step)
        elif isinstance(model, (GeneratorTransformer, VanishingFeatures)):
            self._features(anatomy(model).parts)
        elif isinstance(model, (VanishingClassifier, VanishingClassifierCV)):
            self._classifier(anatomy(model))
        elif type(model) in LINEAR:
            self._linear(model.coef_.T, model.intercept_, model.classes_)
        else:
            self._scaler(model)

    def constant(self, name: str, value: str) -> str:
        """Give an expression a name of its own; return it."""
        self.n_constants[name] = number = self.n_constants.get(name, 0) + 1
        name = f"_{name}_{number}"
        self.constants.append(f"{name} = {value}")
        return name

    def array(self, name: str, values) -> str:
        """Give an array a name of its own; return it."""
        return self.constant(name, _array(values))

    def _scaler(self, scaler):
        if type(scaler) is MinMaxScaler:
            scale, shift = self.array("scale", scaler.scale_), self.array("shift", scaler.min_)
            self.steps.append(f"X * {scale} + {shift}")
            if scaler.clip:
                low, high = map(float, scaler.feature_range)
                self.steps.append(f"np.clip(X, {low!r}, {high!r})")
        elif type(scaler) is StandardScaler:
            if scaler.with_mean:
                self.steps.append(f"X - {self.array('mean', scaler.mean_)}")
            if scaler.with_std:
                self.steps.append(f"X / {self.array('scale', scaler.scale_)}")
        elif type(scaler) is QuantileTransformer and scaler.output_distribution == "uniform":
            self.helpers.add(_QUANTILES)
            quantiles = self.array("quantiles", scaler.quantiles_.T)
            references = self.array("references", scaler.references_)
            self.steps.append(f"_to_quantiles(X, {quantiles}, {references})")
        elif type(scaler) is LogScaler:
            centre, unit = self.array("centre", scaler.centre_), self.array("unit", scaler.unit_)
            scale, shift = self.array("scale", scaler.scale_), self.array("shift", scaler.min_)
            self.steps.append(f"np.arcsinh((X - {centre}) / {unit}) * {scale} + {shift}")
        else:
            raise TypeError(
                f"a {scaler!r} cannot be exported; MinMaxScaler, StandardScaler, "
                "QuantileTransformer to a uniform distribution, LogisticRegression, LinearSVC and "
                "the estimators of vanishing that transform or classify can."
            )

    def _classifier(self, found):
        scaling, final = found.core.scaling_, found.core.final_estimator_
        if type(final) not in LINEAR:
            raise TypeError(f"a classifier with final_estimator={final!r} cannot be exported.")
        if scaling.transformer is not None:
            self._scaler(scaling.transformer)
        if scaling.clip:
            low, high = self.array("low", scaling.low), self.array("high", scaling.high)
            self.steps.append(f"np.clip(X, {low}, {high})")
        parts = [part.subset(part.used) for part in found.parts]
        self._features(parts)
        weights = np.vstack([part.weights for part in parts])
        self._linear(weights, final.intercept_, found.core.classes_)

    def _linear(self, weights, intercept, classes):
        weights = self.array("weights", weights)
        self.steps.append(f"X @ {weights} + {self.array('intercept', intercept)}")
        self.classes = classes

    def _features(self, parts):
        """Add a step that evaluates the generators of each class."""
        evaluated = []
        scaled_columns = bool(self.steps)
        for part in parts:
            label, generators, absolute = part.label, part.generators, part.absolute
            if not len(generators):
                continue
            of = "" if label is None else f" of class {label!r}"
            scaled = " in the columns as scaled" if scaled_columns else ""
            self.constants.append(f"\n# Generators{printable(of)}{scaled}:")
            if hasattr(generators, "stages"):
                value = self._components(generators)
            else:
                self.constants += [
                    f"#     {printable(g.shortened(_SHOWN))} = 0" for g in generators
                ]
                value = self._polynomials(generators)
            evaluated.append(f"np.abs({value})" if absolute else value)
        if len(evaluated) == 1:
            self.steps.append(evaluated[0])
        else:
            inner = ["np.empty((len(X), 0))", *evaluated]
            self.steps.append(
                "np.hstack([" + "".join(f"\n        {e}," for e in inner) + "\n    ])"
            )

    def _polynomials(self, generators) -> str:
        self.helpers |= {_POLYNOMIALS, _SPARSE}
        used = np.flatnonzero(generators.coef.any(axis=0))
        plan, place = monomials.plan(np.vstack([generators.terms[used], generators.leading_terms]))
        coef = generators.coef[:, used]
        rows, columns = np.nonzero(coef)
        sparse = (
            self.array("rows", rows),
            self.array("columns", columns),
            self.array("values", coef[rows, columns]),
        )
        arguments = (
            self.array("parent", plan.parent[1:]),
            self.array("variable", plan.variable[1:]),
            self.array("terms", place[: used.size]),
            self.constant("coef", f"_sparse({coef.shape}, {', '.join(sparse)})"),
            self.array("leading_coef", generators.leading_coef),
            self.array("leading", place[used.size :]),
        )
        return f"_polynomials(X, {', '.join(arguments)})"

    def _components(self, generators) -> str:
        self.helpers.add(_COMPONENTS)
        n_features = len(generators.feature_names)
        if math.comb(n_features + generators.degree, n_features) <= _EXPANDED:
            self.constants += [f"#     {printable(g.shortened(_SHOWN))} = 0" for g in generators]
        else:
            self.constants.append(f"#     {len(generators)}, as products of components")
        stages = []
        for stage in generators.stages:
            arrays = (
                "None" if getattr(stage, part) is None else self.array(part, getattr(stage, part))
                for part in ("left", "right", "combine", "project")
            )
            stages.append(f"({int(stage.n_components)}, {', '.join(arrays)})")
        return f"_components(X, {self.constant('stages', '[' + ', '.join(stages) + ']')})"


def _wrapped(values: list) -> str:
    """Return a list as source, on lines of moderate length."""
    lines = [""]
    for text in map(repr, values):
        if len(lines[-1]) + len(text) > _WIDTH and lines[-1]:
            lines.append("")
        lines[-1] += f"{text}, "
    lines = [line.rstrip() for line in lines]
    return f"[{lines[0].rstrip(',')}]" if len(lines) == 1 else "\n    ".join(["[", *lines]) + "\n]"


def _array(values) -> str:
    values = np.asarray(values)
    dtype = "int" if values.dtype.kind in "iu" else "float"
    shape = "" if values.ndim == 1 else f".reshape({values.shape})"
    return f"np.array({_wrapped(values.ravel().tolist())}, dtype={dtype}){shape}"
