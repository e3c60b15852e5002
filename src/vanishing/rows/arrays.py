"""Arrays of any library: where they are, and small steps that leave them there.

A device array is one of PyTorch or CuPy, or of the array API's reference library. Code that
computes with rows asks `namespace` for functions and `like` for constants, and need not know which.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from vanishing.checks import install

_LIBRARIES = ("torch", "cupy", "array_api_strict")

# Entries of rows that are copied at a time, to select or scale them: 512 MiB in float64.
_PIECE = 1 << 26

# Below so many entries the CPU is faster than an accelerator, which takes time to start each step:
# measured on an H200, three and ten columns, with the way to the CPU and back.
_FEW_TO_FIT, _FEW_TO_EVALUATE = 1 << 16, 1 << 14

# Bytes that are worked on together: what a cache holds, or enough to keep an accelerator busy
# within a small part of its memory.
_CACHED_BYTES, DEVICE_BYTES = 1 << 20, 1 << 30

# By type of array: to find out takes as long as a matrix product.
_are_of_devices: dict[type, bool] = {}
_namespaces: dict[type, Any] = {}

_TILE = 64  # rows compared side by side, for the ranges of columns


def is_device_array(X) -> bool:
    """Say whether X is an array of a library whose arrays stay where they are."""
    kind = type(X)
    if kind not in _are_of_devices:
        # PyTorch's tensors know no namespace, nor do arrays of all versions of CuPy.
        names = {base.__name__ for base in kind.__mro__}
        _are_of_devices[kind] = kind.__module__.partition(".")[0] in _LIBRARIES and (
            hasattr(kind, "__array_namespace__") or not names.isdisjoint(("Tensor", "ndarray"))
        )
    return _are_of_devices[kind]


def namespace(X):
    """Return the namespace of X: NumPy's own, or that of the array API standard."""
    if not is_device_array(X):
        return np
    kind = type(X)
    if kind not in _namespaces:
        try:
            from array_api_compat import array_namespace
        except ImportError:
            raise ImportError(
                "arrays of PyTorch and CuPy need array-api-compat: install it with "
                f"{install('gpu')}"
            ) from None
        _namespaces[kind] = array_namespace(X)
    return _namespaces[kind]


def is_on_cpu(X) -> bool:
    """Say whether an array is in the memory of the CPU."""
    return "cpu" in str(X.device).lower()


def is_small(X, *, to_fit: bool = False) -> bool:
    """Say whether X has so few rows on an accelerator that the CPU is faster with them."""
    limit = _FEW_TO_FIT if to_fit else _FEW_TO_EVALUATE
    return is_device_array(X) and not is_on_cpu(X) and math.prod(X.shape) < limit


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
    if not is_device_array(X):
        return values if dtype is None else np.asarray(values, dtype=dtype)
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
            f"device={device!r} is one of PyTorch: install it with {install('gpu')}, or give a "
            "function that sends an array to a device, such as cupy.asarray."
        ) from None

    def send(rows):
        # PyTorch shares memory with NumPy until it copies, and warns of what it must not write to.
        return torch.from_numpy(np.require(rows, None, ["C", "W"])).to(device)

    return send


def like_or_original(X, original, values: np.ndarray):
    """Return `like` of NumPy values; ``original`` if it is on X's device and has their dtype."""
    if is_device_array(original) and original.device == X.device:
        original = original.detach() if hasattr(original, "detach") else original
        if str(original.dtype).rpartition(".")[2] == values.dtype.name:
            return original
    return like(X, values)


def like_unless_text(X, values: np.ndarray):
    """Return `like` of NumPy values; text stays in NumPy: no library for devices has it."""
    return like(X, values) if values.dtype.kind in "iufb" else values


def sortable(y):
    """Return labels of a device as numbers that can be sorted: booleans become 0 and 1."""
    xp = namespace(y)
    return xp.astype(y, xp.uint8) if y.dtype == xp.bool else y


def floating_dtype(X):
    """Return the dtype of values computed from X: its own if that is float64 or float32."""
    if isinstance(X, np.ndarray):  # validated
        return X.dtype
    xp = namespace(X)
    if X.dtype in (xp.float32, xp.float64):
        return X.dtype
    return xp.float32 if xp.isdtype(X.dtype, "real floating") else xp.float64  # half precision


def as_floats(X):
    """Return rows with a floating dtype; NumPy rows have one."""
    if not is_device_array(X):
        return X
    return namespace(X).astype(X, floating_dtype(X), copy=False)


def on_host(X) -> np.ndarray:
    """Return rows of a device as a NumPy array with a floating dtype."""
    if X.ndim != 2:
        return to_numpy(X)  # validation will say what is wrong with it
    parts = [to_numpy(as_floats(X[cut, :])) for cut in row_slices(X)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def checked(X):
    """Return X in its own dtype, or raise ValueError."""
    xp = namespace(X)
    if hasattr(X, "detach"):
        X = X.detach()
    if X.ndim != 2:
        raise ValueError(f"X must be 2-dimensional, rows and columns; its shape is {X.shape}.")
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(
            f"Found array with shape {tuple(X.shape)}: there must be rows and columns."
        )
    if not xp.isdtype(X.dtype, "real floating"):
        if not xp.isdtype(X.dtype, ("integral", "bool")):
            raise ValueError(f"X has dtype {X.dtype}; give it real numbers.")
        return X
    for cut in row_slices(X):
        # A sum is finite unless an entry is not, or it overflows: look closer only then.
        part = as_floats(X[cut, :])
        total = xp.sum(part, dtype=xp.float64)
        if not bool(xp.isfinite(total)) and not bool(xp.all(xp.isfinite(part))):
            raise ValueError(
                "X contains NaN or infinity. Drop or impute these rows before fitting."
            )
    return X


def checked_weights(X, weight, unit_of: Callable[[float], float]) -> tuple[Any, Any | None]:
    """Return weights of X's rows in float64 on X's device, and which are positive unless all are.

    They are divided by ``unit_of(largest)``, and checked on the device where they are.
    """
    xp = namespace(weight)
    if hasattr(weight, "detach"):
        weight = weight.detach()
    is_vector = tuple(weight.shape) == (X.shape[0],)
    if is_vector and xp.isdtype(weight.dtype, ("bool", "integral", "real floating")):
        weight = xp.astype(weight, xp.float64, copy=False)
        low, high = float(xp.min(weight)), float(xp.max(weight))
        if low >= 0.0 and math.isfinite(high):  # neither is, where one is NaN
            unit = unit_of(high)
            weight = weight if unit == 1.0 else weight / unit
            if weight.device != X.device:
                weight = like(X, to_numpy(weight))
            return weight, None if low > 0.0 else weight > 0.0
    raise ValueError(f"sample_weight must be {X.shape[0]} finite numbers, none of them negative.")


def piece_rows(n_columns: int) -> int:
    """Return how many rows with ``n_columns`` columns are copied at a time."""
    return max(1, _PIECE // max(1, n_columns))


def slices(n_samples: int, rows: int) -> list[slice]:
    """Return slices of ``rows`` rows each that cover all rows."""
    return [slice(start, min(start + rows, n_samples)) for start in range(0, n_samples, rows)]


def row_slices(X) -> list[slice]:
    """Return slices of the rows that are copied at a time."""
    return slices(X.shape[0], piece_rows(X.shape[1])) or [slice(0, 0)]


def rows_at_once(X, n_numbers: int) -> int:
    """Return how many rows to work on together, each with ``n_numbers`` numbers in float64."""
    on_cpu = not is_device_array(X) or is_on_cpu(X)
    return max(256, (_CACHED_BYTES if on_cpu else DEVICE_BYTES) // (8 * n_numbers))


def column_ranges(X) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest value of each column, as NumPy arrays."""
    if is_device_array(X):
        xp = namespace(X)
        return to_numpy(xp.min(X, axis=0)), to_numpy(xp.max(X, axis=0))
    n_rows, n_columns = X.shape
    if n_rows >= 2 * _TILE and X.flags.c_contiguous:
        # Rows side by side: NumPy's loops are as long as a row, and a row of few columns is short.
        tiled, rest = X[: n_rows // _TILE * _TILE].reshape(-1, _TILE * n_columns), X[-_TILE:]
        low, high = (
            np.vstack([end(tiled, axis=0).reshape(_TILE, -1), rest]) for end in (np.min, np.max)
        )
        return low.min(axis=0), high.max(axis=0)
    return X.min(axis=0), X.max(axis=0)


def clipped(X, low: np.ndarray, high: np.ndarray):
    """Return rows with each column clipped to a range."""
    if not is_device_array(X):
        return np.clip(X, low, high)
    xp = namespace(X)
    return xp.minimum(xp.maximum(X, like(X, low)), like(X, high))


def count_true(condition) -> int:
    """Return how many entries are true."""
    if not is_device_array(condition):
        return int(np.count_nonzero(condition))
    xp = namespace(condition)
    return int(xp.sum(xp.astype(condition, xp.int64)))
