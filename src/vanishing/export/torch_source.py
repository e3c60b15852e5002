"""Models as the source of a module of PyTorch."""

from typing import ClassVar

import numpy as np

from vanishing._version import __version__
from vanishing.algebra.programs import PORTABLE
from vanishing.export.computation import Computation, Value, in_order
from vanishing.export.models import computation_of
from vanishing.export.python import PythonSource, list_text

_HELPERS = '''
def _pair(left, right):
    """Return two tensors; one of them may be a number."""
    like = left if isinstance(left, torch.Tensor) else right
    return [
        part if isinstance(part, torch.Tensor) else torch.full_like(like, part)
        for part in (left, right)
    ]


def _minimum(left, right):
    return torch.minimum(*_pair(left, right))


def _maximum(left, right):
    return torch.maximum(*_pair(left, right))
'''

_QUANTILES = '''
def _quantiles(X, steps):
    """Replace values by their quantiles: straight lines between knots, and values at these."""
    rows = []
    for x, (knots, base, at, start, slope) in zip(X, steps):
        knots, base, at, start, slope = (p.to(x.device) for p in (knots, base, at, start, slope))
        k = torch.searchsorted(knots, x.detach().contiguous(), right=True)
        rows.append(torch.where(x == base[k], at[k], start[k] + (x - base[k]) * slope[k]))
    return torch.stack(rows)
'''

_NEAREST = '''
def _nearest(at, groups, equal):
    """Return the squared distances to the nearest row of each group that is not equal."""
    found = []
    for group in groups:
        square = (group**2).sum(dim=1)[:, None] - 2.0 * (group @ at) + (at**2).sum(dim=0)
        square = torch.where(square < equal, torch.inf, square).amin(dim=0)
        found.append(torch.where(torch.isinf(square), 0.0, square))
    return torch.stack(found)
'''

_LABELS = {
    "classifier": '''
    def predict(self, X):
        """Return the place of the predicted class in CLASSES, for each row."""
        scores = self(X)
        return (scores > 0).long() if scores.ndim == 1 else scores.argmax(dim=1)
''',
    "detector": '''
    def predict(self, X):
        """Return -1 for outliers and 1 for others."""
        return torch.where(self(X) < 0.0, -1, 1)
''',
}


def torch_source(model: object, name: str = "Model") -> str:
    """Write a fitted model as the source of a class of PyTorch modules.

    Parameters
    ----------
    model : estimator, Pipeline or Law
        As `to_python` takes it.
    name : str, default="Model"
        Name of the class.

    Returns
    -------
    source : str
        Of a module with the class, FEATURE_NAMES and, for classifiers, CLASSES. ``forward`` takes
        rows, of shape (n_rows, n_features), and returns in float64 what the model is for: decision
        values, features, predictions or residuals, or derivatives. Numbers of the model are
        buffers, and gradients reach the rows. It needs PyTorch alone.
    """
    if not name.isidentifier() or not name.isascii() or name.startswith("_") or name == "torch":
        raise ValueError(f"name must be a name that a class may have; got {name!r}.")
    computation = computation_of(model)
    if not computation.names:
        raise ValueError("the model has no generators, so that there is nothing to export.")
    output = next(iter(computation.outputs.values()))
    source = _TorchSource()
    body = source.forward(output, is_column=_is_column(computation))
    constants = [f"FEATURE_NAMES = {list_text(list(computation.columns))}"]
    if computation.classes is not None:
        constants.append(f"CLASSES = {list_text(computation.classes.tolist())}")
    return "\n".join(
        [
            f'"""A fitted {computation.title}, written by vanishing {__version__}."""',
            "",
            "import torch",
            "",
            *constants,
            *([_HELPERS.rstrip()] if "_minimum(" in body or "_maximum(" in body else []),
            *sorted(source.helpers),
            "",
            "",
            f"class {name}(torch.nn.Module):",
            f'    """Rows of {len(computation.columns)} columns, by FEATURE_NAMES."""',
            "",
            "    def __init__(self):",
            "        super().__init__()",
            *(f"        {line}" for line in source.buffers),
            "",
            "    def forward(self, X):",
            '        """Return what the model computes from rows."""',
            *(f"        {line}" for line in body.split("\n")),
        ]
    ) + _LABELS.get(computation.kind, "\n")


def _is_column(computation: Computation) -> bool:
    """Say whether the model returns one number per row, rather than a row of them."""
    return computation.kind in ("classifier", "detector", "law") and len(computation.names) == 1


class _TorchSource(PythonSource):
    """The body of ``forward`` as it grows, and the buffers it needs."""

    language = "PyTorch"
    functions: ClassVar[dict[str, str]] = {
        **{name: f"torch.{name}" for name in PORTABLE},
        "cbrt": "(torch.sign({0}) * torch.abs({0}) ** (1 / 3))",
    }
    choices: ClassVar[dict[str, str]] = {
        "minimum": "_minimum({0}, {1})",
        "maximum": "_maximum({0}, {1})",
        "clip": "_minimum(_maximum({0}, {1}), {2})",
        "zero_below": "torch.where({0} < {1}, 0.0, {0})",
        "choose": "torch.where({0} < 0.0, {1}, {2})",
    }
    quantiles_helper = _QUANTILES
    nearest_helper = _NEAREST
    concatenate = "torch.cat([{}])"

    def __init__(self):
        super().__init__()
        self.buffers: list[str] = []

    def forward(self, output: Value, is_column: bool) -> str:
        """Return the lines of a method that returns a value."""
        values, used = in_order([output], self.times_written)
        for value in values:
            self.known[id(value)] = self.text_of(value, used[id(value)])
        result = f"{self.known[id(output)].atom}{'[0]' if is_column else '.T'}"
        first = "X = torch.as_tensor(X).to(torch.float64).T"
        return "\n".join([first, *self.statements, f"return {result}"])

    def constant(self, name: str, value: str) -> str:
        """Give an expression a name of its own; return it."""
        self.n_constants[name] = place = self.n_constants.get(name, 0) + 1
        own = f"{name}_{place}"
        is_tensor = value.startswith("torch.tensor")
        line = f"self.register_buffer({own!r}, {value})" if is_tensor else f"self.{own} = {value}"
        self.buffers += line.split("\n")
        return f"self.{own}"

    def array_text(self, values) -> str:
        """Write a tensor."""
        values = np.asarray(values)
        dtype = "int64" if values.dtype.kind in "iu" else "float64"
        shape = "" if values.ndim == 1 else f".reshape({values.shape})"
        numbers = list_text(values.ravel().tolist())
        return f"torch.tensor({numbers}, dtype=torch.{dtype}){shape}"

    def matrix(self, matrix: np.ndarray) -> str:
        """Give a matrix a name of its own; return it."""
        return self.array("coef", matrix)
