"""The paper's data sets from local files, or else from OpenML."""

import os
from pathlib import Path
from typing import Literal, overload

import numpy as np
from sklearn.utils import Bunch

from vanishing._types import FloatArray, IntArray
from vanishing.checks import check_flag
from vanishing.datasets.openml import fetch
from vanishing.datasets.registry import DATASETS, Dataset, check_rows, require
from vanishing.tables.formats import open_table
from vanishing.tables.numbers import number_blocks


@overload
def load(
    name: str, *, data_home: Path | None = None, return_X_y: Literal[True]
) -> tuple[FloatArray, IntArray]: ...


@overload
def load(
    name: str, *, data_home: Path | None = None, return_X_y: Literal[False] = False
) -> Bunch: ...


def load(name, *, data_home=None, return_X_y=False):
    """Load one of the paper's data sets from a local file or from OpenML.

    The file ``<name>.csv.gz`` or ``<name>.csv`` is read from `data_home`, or else from the folder
    that the environment variable ``VANISHING_DATA`` names. Where there is none, the data set is
    fetched from OpenML with `sklearn.datasets.fetch_openml` and kept in scikit-learn's cache, from
    which later calls read it. Values are raw: scale them, for example with
    `sklearn.preprocessing.MinMaxScaler`, before computing generators.

    Parameters
    ----------
    name : {"bank", "credit", "htru", "seeds", "skin", "spam"}
        The data set.
    data_home : path-like, default=None
        The folder to look in first. It is only read, never written to: downloads go to
        scikit-learn's own folder (see `sklearn.datasets.get_data_home`; the environment variable
        ``SCIKIT_LEARN_DATA`` moves it).
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
        - ``DESCR``: what the rows, columns and classes are, and where they come from;
        - ``citation``: the works to cite when the data is used;
        - ``filename``: the file read, None if the data was fetched;
        - ``url``: the page on OpenML of the data fetched, None if a file was read.
    (data, target) : tuple of arrays
        If `return_X_y` is True.

    Raises
    ------
    ValueError
        If `name` is unknown, or the file or download is not this data set. Its shape and the number
        of rows of each class are checked, and for a download the mean of the first column in each
        class.
    FileNotFoundError
        If there is no such file in any of the places and OpenML cannot be reached.

    See Also
    --------
    feynman : Tables of physical laws.
    make_variety : Points that satisfy equations.

    Examples
    --------
    >>> from vanishing import datasets
    >>> X, y = datasets.load("seeds", data_home="data", return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (210, 7)
    """
    if not isinstance(name, str) or name not in DATASETS:
        raise ValueError(f"Unknown data set {name!r}; choose one of {', '.join(DATASETS)}.")
    check_flag("return_X_y", return_X_y)
    expected = DATASETS[name]
    places = [place for place in (data_home, os.environ.get("VANISHING_DATA")) if place]
    path = _find(name, places)
    if path is None:
        feature_names, data, target = fetch(name, places)
    else:
        feature_names, data, target = _read(path, expected)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=feature_names,
        target_names=list(expected.classes),
        DESCR=expected.description,
        citation=expected.citation,
        filename=None if path is None else str(path),
        url=expected.url if path is None else None,
    )


def _find(name: str, places) -> Path | None:
    """Return the first file of this data set among the places to look in."""
    for place in places:
        for suffix in (".csv.gz", ".csv"):
            path = Path(place).expanduser() / f"{name}{suffix}"
            if path.is_file():
                return path
    return None


def _read(path: Path, expected: Dataset) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Read feature names, data and target, and check that they are what is expected."""
    table = open_table(path)
    names = table.names
    rows = np.concatenate([X.to_numpy() for X, _ in number_blocks(table, names)])
    require(names[-1] == "class", path, f"the last column is {names[-1]!r}, not 'class'")
    shape = (expected.n_samples, expected.n_features + 1)
    require(
        rows.shape == shape,
        path,
        f"expected {shape[0]} rows and {shape[1]} columns with the class, found a table of shape "
        f"{rows.shape}",
    )
    data, target = np.ascontiguousarray(rows[:, :-1]), rows[:, -1]
    n_classes = len(expected.classes)
    require(
        np.array_equal(np.unique(target), np.arange(n_classes)),
        path,
        f"the values of the last column are not 0, ..., {n_classes - 1}",
    )
    target = target.astype(np.int64)
    check_rows(path, data, target, expected)
    return names[:-1], data, target
