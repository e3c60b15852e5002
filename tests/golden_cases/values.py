"""Results as plain JSON values, for golden.py: numbers exactly, and what kind of object it was."""

import dataclasses
import enum
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

LARGEST = 600  # numbers of an array that are kept; of larger ones some, and sums

_LAW = ("terms", "coef", "coef_std", "columns", "target", "n_inputs", "error", "relative_error")
_LAW += ("branch", "evidence", "lack_of_fit", "held_out_error", "errors", "n_samples", "verdict")
_LAW += ("constants", "constant_units", "coef_units", "ratio", "degree")


def cleaned(text):
    """Return text without numbers of objects, style sheets, and the folder of this run."""
    text = re.sub(r"0x[0-9a-f]{6,}", "0x0", text)
    text = re.sub(r"<style>.*?</style>", "<style></style>", text, flags=re.DOTALL)
    text = re.sub(r"array-[0-9a-f]{32}", "array-0", text)
    text = re.sub(r"sk-container-id-\d+|sk-estimator-id-\d+", "sk-id", text)
    return text.replace(f"{Path.cwd()}/", "").replace(str(Path.cwd()), "FOLDER")


def plain(value):
    """Return a result as JSON values."""
    if value is None or isinstance(value, (bool, int, float)):
        # NumPy's doubles are floats, too, and are written the same.
        return float(value) if isinstance(value, float) else value
    if isinstance(value, str):
        text = cleaned(str(value))
        return text.split("\n") if "\n" in text else text
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items() if not _is_time(key)}
    for kind in (_rows, _model, _fields):
        if (result := kind(value)) is not None:
            return result
    if isinstance(value, Sequence) or hasattr(value, "__next__"):
        return [plain(item) for item in value]
    return "an object"  # a class of no public name, which may change it


def _is_time(key):
    return str(key).endswith(("fit_time", "score_time"))


def _rows(value):
    """Return arrays and tables of all kinds with their kind."""
    library = type(value).__module__.partition(".")[0]
    if isinstance(value, np.ndarray):
        return _array(value)
    if library == "dask":
        shape = getattr(value, "chunks", None) or getattr(value, "npartitions", None)
        kind = type(value).__name__
        return {"dask": kind, "chunks": str(shape), "values": plain(value.compute())}
    if library == "array_api_strict" and hasattr(value, "to_device"):
        import array_api_strict as xp

        here = np.asarray(value.to_device(xp.Device("CPU_DEVICE")))
        return {"device": str(value.device), "values": _array(here)}
    if library in ("pandas", "polars") and hasattr(value, "to_numpy"):
        kind = f"{library}.{type(value).__name__}"
        names = [str(name) for name in getattr(value, "columns", [getattr(value, "name", "")])]
        index = [str(label) for label in getattr(value, "index", [])][:3]
        return {"frame": kind, "names": names, "index": index, "values": _array(value.to_numpy())}
    if type(value).__name__ == "Blocks":
        return {"blocks": [plain(block) for block in value]}
    return None


def _array(values):
    head = {"array": f"{values.dtype} {values.shape}"}
    if values.dtype.kind not in "fiub":
        flat = [plain(item) for item in values.ravel().tolist()]
        return {**head, "values": flat[:LARGEST]}
    flat = values.ravel().astype(np.float64) if values.dtype.kind == "f" else values.ravel()
    if flat.size > LARGEST:
        head |= {"sum": flat.sum().item(), "squares": (flat.astype(float) ** 2).sum().item()}
        flat = flat[:: -(-flat.size // LARGEST)]
    return {**head, "values": flat.tolist()}


def _model(value):
    """Return laws, polynomials and estimators."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        return {"estimator": type(value).__name__, **fitted(value)}
    if not (hasattr(value, "coef") and hasattr(value, "terms")):
        return None
    if isinstance(value, Sequence):  # generators that share their terms
        return [str(generator) for generator in value][:30]
    found = {name: plain(getattr(value, name)) for name in _LAW if hasattr(value, name)}
    return {"text": cleaned(str(value)), **found}


def fitted(model):
    """Return the public fitted attributes of an estimator."""
    names = {*vars(model), *dir(type(model))}
    names = sorted(n for n in names if n.endswith("_") and not n.startswith("_"))
    # The noise has cases of its own: its shape is to change, and would hide other differences.
    names = [name for name in names if name != "noise_"]
    return {name: plain(getattr(model, name)) for name in names if hasattr(model, name)}


def _fields(value):
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: plain(getattr(value, name)) for name in names}
    if hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    return None
