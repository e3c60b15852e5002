"""What a file has of a `LawFinder`."""

import numpy as np

from vanishing.equations.law import read_law, write_law


def write_finder(writer, model) -> dict:
    """Return the fitted part of a finder as JSON values."""
    return {
        **writer.input(model),
        "target_name": model.target_name_,
        "mean": None if model.mean_ is None else writer.float(model.mean_),
        "laws": [write_law(writer, law) for law in model.laws_],
        "front": [write_law(writer, law) for law in model.front_],
        "verdict": model.verdict_,
        "noise": [writer.float(value) for value in model.noise_],
        "noise_per_column": True,
        "reductions": list(model.reductions_),
    }


def read_finder(reader, node, model) -> None:
    """Set the fitted part of a finder as `write_finder` has written it."""
    keys = ("target_name", "mean", "laws", "front", "verdict")
    target, mean, laws, front, verdict, noise, per_column, reductions = reader.fitted(
        model, node, (*keys, "noise", "noise_per_column", "reductions")
    )
    model.target_name_ = None if target is None else reader.string(target, "target_name")
    model.mean_ = None if mean is None else reader.measured(mean, "mean")
    model.laws_ = [read_law(reader, law) for law in reader.listed(laws, "laws")]
    model.front_ = [read_law(reader, law) for law in reader.listed(front, "front")]
    model.verdict_ = reader.string(verdict, "verdict")
    values = [reader.measured(value, "noise") for value in reader.listed(noise, "noise")]
    n_columns = model.n_features_in_ + (target is not None)
    # Files of earlier versions may have the noise of the target alone.
    wanted = n_columns if per_column is True else 1
    reader.require(len(values) == wanted, f"noise should have {wanted} numbers.")
    model.noise_ = noise_per_column(values if per_column is True else values[0], n_columns)
    model.reductions_ = reader.names(reductions, "reductions", None)


def noise_per_column(noise, n_columns: int) -> np.ndarray:
    """Return the noise of each column, where that of the target alone may be known."""
    noise = np.asarray(noise, dtype=np.float64)
    if noise.ndim:
        return noise
    return np.append(np.full(n_columns - 1, np.nan if np.isnan(noise) else 0.0), noise)
