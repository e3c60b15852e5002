"""Rows in arrays of another library (PyTorch, CuPy): evaluated and multiplied where they are.

The counterpart of `reader.Block` and `Generators.evaluate` in terms of the array API standard.
Only sums over the rows come back, as NumPy arrays; the values of generators stay on the device.
"""

import math

import numpy as np

from vanishing.algebra.evaluation import chunk_rows
from vanishing.algebra.monomials import Plan, variables_plan

_LIBRARIES = ("torch", "cupy", "array_api_strict")

# Evaluated terms of one chunk on an accelerator: enough to keep it busy, little of its memory.
_CHUNK_BYTES = 1 << 30

# Entries of rows that are copied at a time, to select or scale them: 512 MiB in float64.
_PIECE = 1 << 26

# Entries of rows that the CPU is done with sooner than an accelerator, whose every step has to be
# started: measured on an H200, three and ten columns; the rows go to the CPU and answers back.
_FEW_TO_FIT, _FEW_TO_EVALUATE = 1 << 16, 1 << 14


def is_device_array(X) -> bool:
    """Say whether X is an array of a library whose arrays stay where they are."""
    root = type(X).__module__.partition(".")[0]
    if root not in _LIBRARIES:
        return False
    # PyTorch's tensors know no namespace, nor do arrays of all versions of CuPy.
    kinds = {kind.__name__ for kind in type(X).__mro__}
    return hasattr(X, "__array_namespace__") or not kinds.isdisjoint(("Tensor", "ndarray"))


def namespace(X):
    """Return the array API namespace of X."""
    try:
        from array_api_compat import array_namespace
    except ImportError:
        raise ImportError(
            "arrays of PyTorch and CuPy need array-api-compat: install it with "
            "python -m pip install 'vanishing[gpu]'"
        ) from None
    return array_namespace(X)


def is_on_cpu(X) -> bool:
    """Say whether an array is in the memory of the CPU."""
    return "cpu" in str(X.device).lower()


def are_few(X, *, to_fit: bool = False) -> bool:
    """Say whether X is rows of an accelerator that the CPU is quicker with."""
    few = _FEW_TO_FIT if to_fit else _FEW_TO_EVALUATE
    return is_device_array(X) and not is_on_cpu(X) and math.prod(X.shape) < few


def to_numpy(X) -> np.ndarray:
    """Return an array as a NumPy array."""
    if not is_device_array(X):
        return np.asarray(X)
    if hasattr(X, "detach"):
        X = X.detach()
    if not is_on_cpu(X):
        from array_api_compat import to_device

        xp = namespace(X)
        # The reference library has devices, too, which copy to one another on request only.
        X = to_device(X, xp.Device("CPU_DEVICE") if hasattr(xp, "Device") else "cpu")
    return np.asarray(X)


def like(X, values, dtype=None):
    """Return NumPy values as an array of X's library, on X's device."""
    # PyTorch shares memory with NumPy, and warns of memory that it must not write to.
    values = np.require(values, dtype, ["C", "W"])
    return namespace(X).asarray(values, device=X.device)


def sender(device):
    """Return a function that sends NumPy rows to a device; see `Blocks.from_array`."""
    if device is None or callable(device):
        return (lambda rows: rows) if device is None else device
    try:
        import torch
    except ImportError:
        raise ImportError(
            f"device={device!r} is one of PyTorch: install it with python -m pip install "
            "'vanishing[gpu]', or give a function that sends an array to a device, such as "
            "cupy.asarray."
        ) from None

    def send(rows):
        # PyTorch shares memory with NumPy until it copies, and warns of what it must not write to.
        return torch.from_numpy(np.require(rows, None, ["C", "W"])).to(device)

    return send


def library_of(X):
    """Return the namespace of X: NumPy's, or that of an array of a device."""
    return namespace(X) if is_device_array(X) else np


def beside(X, values):
    """Return NumPy values where X is: as they are, or on X's device."""
    return like(X, values) if is_device_array(X) else values


def already_there(X, given, values: np.ndarray):
    """Return what was given for NumPy values if it is that and where X is, else send the values."""
    if is_device_array(given) and given.device == X.device:
        given = given.detach() if hasattr(given, "detach") else given
        if str(given.dtype).rpartition(".")[2] == values.dtype.name:
            return given
    return like(X, values)


def there(X, values):
    """Return NumPy values on the device of X; text stays: no library for devices has it."""
    return like(X, values) if values.dtype.kind in "iufb" else values


def plain(y):
    """Return labels of a device as numbers that have an order: also truth values."""
    xp = namespace(y)
    return xp.astype(y, xp.uint8) if y.dtype == xp.bool else y


def floating_dtype(X):
    """Return the dtype in which values of X are given: its own if that is float64 or float32."""
    xp = namespace(X)
    if X.dtype in (xp.float32, xp.float64):
        return X.dtype
    return xp.float32 if xp.isdtype(X.dtype, "real floating") else xp.float64  # half precision


def as_floats(X):
    """Return rows with a floating dtype; NumPy's have one."""
    if not is_device_array(X):
        return X
    return namespace(X).astype(X, floating_dtype(X), copy=False)


def here_as_floats(X) -> np.ndarray:
    """Return rows of a device as a NumPy array with a floating dtype."""
    if X.ndim != 2:
        return to_numpy(X)  # for whoever validates it
    parts = [to_numpy(as_floats(X[cut, :])) for cut in slices(X)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def checked(X, name="X"):
    """Return X in its own dtype, or say what is wrong with it."""
    xp = namespace(X)
    if hasattr(X, "detach"):
        X = X.detach()
    if X.ndim != 2:
        raise ValueError(f"{name} must be 2-dimensional, rows and columns; its shape is {X.shape}.")
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(
            f"Found array with shape {tuple(X.shape)}: there must be rows and columns."
        )
    if not xp.isdtype(X.dtype, "real floating"):
        if not xp.isdtype(X.dtype, ("integral", "bool")):
            raise ValueError(f"{name} has dtype {X.dtype}; give it real numbers.")
        return X
    for here in slices(X):
        # A sum is finite unless an entry is not, or it overflows: look closer only then.
        part = as_floats(X[here, :])
        total = xp.sum(part, dtype=xp.float64)
        if not bool(xp.isfinite(total)) and not bool(xp.all(xp.isfinite(part))):
            raise ValueError(
                f"{name} contains NaN or infinity. Drop or impute these rows before fitting."
            )
    return X


def piece_rows(n_columns: int) -> int:
    """Return how many rows of so many columns are copied at a time."""
    return max(1, _PIECE // max(1, n_columns))


def slices(X):
    """Return the places of rows that are copied at a time."""
    return list(_slices(X.shape[0], piece_rows(X.shape[1]))) or [slice(0, 0)]


def _slices(n_samples: int, rows: int):
    for start in range(0, n_samples, rows):
        yield slice(start, min(start + rows, n_samples))


def _multiply(xp, a, b, out):
    """Write a * b to ``out``, without a temporary array where the library can."""
    try:
        xp.multiply(a, b, out=out)
    except TypeError:  # the standard knows no out
        out[...] = a * b


def evaluate(X, plan: Plan, *, rows: int, sample_weight=None):
    """Yield (rows, values of all terms of the plan there), a chunk at a time, on the device.

    As `evaluation.evaluate`: float64 of shape (n_terms, n_rows_of_the_chunk), used again for the
    next chunk.
    """
    xp = namespace(X)
    n_samples = X.shape[0]
    rows = min(rows, n_samples)
    parents, variables = plan.parent.tolist(), plan.variable.tolist()
    # Without weights the variables are terms themselves: no other copy of the columns is needed.
    place = {variables[i]: i for i in range(1, len(parents)) if parents[i] == 0}
    in_place = sample_weight is None and set(variables[1:]) <= set(place)
    buffer = xp.empty((len(parents), rows), dtype=xp.float64, device=X.device)
    for here in _slices(n_samples, rows):
        size = here.stop - here.start
        values = buffer if size == rows else buffer[:, :size]
        if in_place:
            values[0, :] = 1.0
            columns = {variable: values[i, :] for variable, i in place.items()}
            for variable, column in columns.items():
                column[...] = xp.astype(X[here, variable], xp.float64, copy=False)
        else:
            values[0, :] = 1.0 if sample_weight is None else xp.sqrt(sample_weight[here])
            columns = xp.astype(X[here, :].T, xp.float64)
            if hasattr(columns, "contiguous"):  # PyTorch keeps the layout of rows
                columns = columns.contiguous()
            columns = {variable: columns[variable, :] for variable in set(variables[1:])}
        for i in range(1, len(parents)):
            if not (in_place and parents[i] == 0):
                _multiply(xp, values[parents[i], :], columns[variables[i]], values[i, :])
        yield here, values


def _chunk(X, n_evaluated: int, chunk_size) -> int:
    if chunk_size is not None or is_on_cpu(X):
        return chunk_rows(n_evaluated, chunk_size)
    return max(1, _CHUNK_BYTES // (8 * n_evaluated))


def _chosen(xp, values, which):
    """Return rows of ``values``: a slice, or an index array."""
    if isinstance(which, slice):
        return values[which, :]
    return xp.take(values, xp.asarray(np.ascontiguousarray(which), device=values.device), axis=0)


class DeviceBlock:
    """`reader.Block` on a device: the same questions, the same answers."""

    def __init__(self, X, sample_weight=None, chunk_size=None):
        self.X = X
        self.xp = namespace(X)
        if sample_weight is not None and not is_device_array(sample_weight):
            sample_weight = like(X, sample_weight, np.float64)
        self.sample_weight = sample_weight
        self.chunk_size = chunk_size

    def _chunks(self, plan: Plan, n_evaluated: int, at_least: int = 1):
        rows = max(at_least, _chunk(self.X, n_evaluated, self.chunk_size))
        return evaluate(self.X, plan, rows=rows, sample_weight=self.sample_weight)

    def _zeros(self, *shape):
        return self.xp.zeros(shape, dtype=self.xp.float64, device=self.X.device)

    def products(self, plan: Plan, left, right):
        """Return sum(t u) for t in ``left`` and u in ``right``, and sum(u^2)."""
        index = np.arange(plan.parent.size)
        rows, columns = index[left], index[right]
        total = self._zeros(rows.size, columns.size)
        squares = self._zeros(columns.size)
        known = isinstance(left, slice) and np.isin(columns, rows).all()
        for _, values in self._chunks(plan, index.size):
            values_right = _chosen(self.xp, values, right)
            total += _chosen(self.xp, values, left) @ values_right.T
            if not known:
                squares += (values_right * values_right) @ self.xp.ones_like(values_right[0, :])
        total = to_numpy(total)
        if known:  # the squares are among the products: no need to read the values once more
            return total, total[np.searchsorted(rows, columns), np.arange(columns.size)]
        return total, to_numpy(squares)

    def triangular(self, plan: Plan, terms):
        """Return R with R'R = the products of ``terms``, by orthogonal transformations alone."""
        factor = self._zeros(0, terms.size)
        for _, values in self._chunks(plan, plan.parent.size, at_least=2 * terms.size):
            stacked = self.xp.concat([factor, _chosen(self.xp, values, terms).T])
            factor = self.xp.linalg.qr(stacked)[1]
        return (to_numpy(factor),)

    def squared_sums(self, plan: Plan, terms, coef, leading):
        """Return sum(f^2) of polynomials ``coef @ terms + leading`` by evaluating them."""
        coef = like(self.X, coef.T)
        squares = self._zeros(coef.shape[1])
        for _, values in self._chunks(plan, plan.parent.size):
            # One row a row of X, and a product for the sum: the fast way round, in both respects.
            sums = _chosen(self.xp, values, terms).T @ coef
            sums += _chosen(self.xp, values, leading).T
            sums *= sums
            squares += self.xp.ones_like(sums[:, 0]) @ sums
        return (to_numpy(squares),)

    def _columns(self):
        """Yield the weighted constant and columns, some rows at a time."""
        plan = variables_plan(self.X.shape[1])
        for _, values in self._chunks(plan, plan.parent.size):
            yield values[0, :], values[1:, :]

    def column_sums(self):
        """Return the weighted sums of the columns."""
        sums = self._zeros(self.X.shape[1])
        for root, columns in self._columns():
            sums += columns @ root
        return (to_numpy(sums),)

    def centred_products(self, mean):
        """Return the weighted products of the columns, less their means."""
        total = self._zeros(mean.size, mean.size)
        mean = like(self.X, mean[:, np.newaxis])
        for root, columns in self._columns():
            centred = columns - mean * root[None, :]
            total += centred @ centred.T
        return (to_numpy(total),)


def _values_of(generators, X, absolute, chunk_size):
    """Yield (rows, values of all generators there in float64), a chunk at a time."""
    xp = namespace(X)
    plan, terms, coef, leading = generators.compiled
    coef = like(X, coef.T)
    leading_coef = like(X, generators.leading_coef)
    rows = _chunk(X, plan.parent.size + len(generators), chunk_size)
    for here, values in evaluate(X, plan, rows=rows):
        found = _chosen(xp, values, terms).T @ coef
        found += leading_coef * _chosen(xp, values, leading).T
        yield here, xp.abs(found) if absolute else found


def evaluate_generators(generators, X, *, absolute, chunk_size=None):
    """Evaluate `Generators` on the rows of X: floats of shape (n_samples, |G|), on its device."""
    xp, dtype = namespace(X), floating_dtype(X)
    out = xp.empty((X.shape[0], len(generators)), dtype=dtype, device=X.device)
    if len(generators):
        for here, found in _values_of(generators, X, absolute, chunk_size):
            out[here, :] = xp.astype(found, dtype, copy=False)
    return out


def evaluate_features(parts, X):
    """Evaluate the `Generators` of (generators, absolute) ``parts`` on the rows of X, in float64.

    The columns are side by side, with ones in another one at the end: neither copied nor joined.
    """
    xp = namespace(X)
    n_features = sum(len(generators) for generators, _ in parts)
    out = xp.empty((X.shape[0], max(1, n_features) + 1), dtype=xp.float64, device=X.device)
    out[:, 0] = 0.0  # where there are no features
    out[:, -1] = 1.0
    start = 0
    for generators, absolute in parts:
        stop = start + len(generators)
        if stop > start:
            for here, found in _values_of(generators, X, absolute, None):
                out[here, start:stop] = found
        start = stop
    return out


def combine_generators(generators, X, weights, *, absolute, chunk_size=None):
    """Return the values of generators times ``weights``, of shape (|G|, n_outputs), in float64.

    Neither X in float64 nor all values of the generators are ever held.
    """
    xp = namespace(X)
    out = xp.zeros((X.shape[0], weights.shape[1]), dtype=xp.float64, device=X.device)
    if len(generators):
        weights = like(X, weights, np.float64)
        for here, found in _values_of(generators, X, absolute, chunk_size):
            out[here, :] = found @ weights
    return out
