"""The six data sets of the paper, from local files.

Each is one file, ``<name>.csv.gz`` or ``<name>.csv``: a header row, one column a feature with raw
(unscaled) values, and a last column ``class`` with the values 0, ..., k - 1.
"""

import gzip
import os
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.utils import Bunch

__all__ = ["load"]


class _Dataset(NamedTuple):
    """What a file of this data set must hold."""

    title: str
    n_samples: int
    n_features: int
    target_names: tuple[str, ...]


_DATASETS = {
    "bank": _Dataset("Banknote authentication", 1372, 4, ("0", "1")),
    "credit": _Dataset("Default of credit card clients", 30000, 22, ("no default", "default")),
    "htru": _Dataset("HTRU2, pulsar candidates", 17898, 8, ("not a pulsar", "pulsar")),
    "seeds": _Dataset("Seeds, kernels of wheat", 210, 7, ("Kama", "Rosa", "Canadian")),
    "skin": _Dataset("Skin segmentation", 245057, 3, ("skin", "not skin")),
    "spam": _Dataset("Spambase", 4601, 57, ("not spam", "spam")),
}


def load(name, *, data_home=None, return_X_y=False):
    """Load one of the paper's data sets from a local file.

    The file ``<name>.csv.gz`` or ``<name>.csv`` is looked for in `data_home`, then in the folder
    that the environment variable ``VANISHING_DATA`` names. Values are raw: scale them, for example
    with `sklearn.preprocessing.MinMaxScaler`, before computing generators.

    Parameters
    ----------
    name : {"bank", "credit", "htru", "seeds", "skin", "spam"}
        The data set.
    data_home : path-like, default=None
        The folder to look in first.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` alone.

    Returns
    -------
    dataset : sklearn.utils.Bunch
        With the attributes

        - ``data``: float64 array of shape (n_samples, n_features);
        - ``target``: int64 array of shape (n_samples,), values in 0, ..., n_classes - 1;
        - ``feature_names``: list of the n_features column names;
        - ``target_names``: list of the n_classes class names;
        - ``DESCR``: a short description;
        - ``filename``: the file read.
    (data, target) : tuple of arrays
        If `return_X_y` is True.

    Raises
    ------
    ValueError
        If `name` is unknown, or the file does not hold this data set.
    FileNotFoundError
        If there is no such file in any of the places.

    Examples
    --------
    >>> from vanishing import datasets
    >>> X, y = datasets.load("seeds", data_home="data", return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (210, 7)
    """
    if name not in _DATASETS:
        raise ValueError(f"Unknown data set {name!r}; choose one of {', '.join(_DATASETS)}.")
    expected = _DATASETS[name]
    path = _find(name, data_home)
    feature_names, data, target = _read(path, expected)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=feature_names,
        target_names=list(expected.target_names),
        DESCR=(
            f"{expected.title} (UCI Machine Learning Repository): {expected.n_samples} rows, "
            f"{expected.n_features} features, {len(expected.target_names)} classes "
            f"({', '.join(expected.target_names)}). Raw, unscaled values."
        ),
        filename=str(path),
    )


def _find(name: str, data_home) -> Path:
    """Return the first file of this data set among the places to look in."""
    places = [place for place in (data_home, os.environ.get("VANISHING_DATA")) if place]
    for place in places:
        for suffix in (".csv.gz", ".csv"):
            path = Path(place).expanduser() / f"{name}{suffix}"
            if path.is_file():
                return path
    looked = f"Looked in: {', '.join(map(str, places))}." if places else "No folder was given."
    raise FileNotFoundError(
        f"No file {name}.csv.gz or {name}.csv. {looked} Pass the folder that holds it as "
        "data_home, or set the environment variable VANISHING_DATA to it."
    )


def _read(path: Path, expected: _Dataset) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Read feature names, data and target, and check that they are what is expected."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            header = file.readline().strip().split(",")
            # "#" occurs in column names and nowhere else: no line is a comment.
            table = np.loadtxt(file, delimiter=",", comments=None, ndmin=2)
    except (gzip.BadGzipFile, EOFError, zlib.error, ValueError) as error:
        raise ValueError(f"{path} cannot be read as a table of numbers: {error}") from error

    def require(condition, problem: str) -> None:
        if not condition:
            raise ValueError(f"{path} does not hold the data set it is named after: {problem}.")

    shape = (expected.n_samples, expected.n_features + 1)
    require(
        table.shape == shape and len(header) == shape[1],
        f"expected {shape[0]} rows and {shape[1]} columns with the class, found a header of "
        f"{len(header)} names and a table of shape {table.shape}",
    )
    require(header[-1] == "class", f"the last column is {header[-1]!r}, not 'class'")
    require(np.isfinite(table).all(), "there are NaN or infinite values")
    n_classes = len(expected.target_names)
    require(
        np.array_equal(np.unique(table[:, -1]), np.arange(n_classes)),
        f"the values of the last column are not 0, ..., {n_classes - 1}",
    )
    return header[:-1], np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(np.int64)
