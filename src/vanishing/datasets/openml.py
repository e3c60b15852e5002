"""Data sets from OpenML, in the columns and classes of the local files."""

import gzip
import zlib
from http.client import HTTPException

import numpy as np
from sklearn.datasets import fetch_openml

from vanishing.datasets.registry import DATASETS, check_rows, require


def fetch(name: str, places) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Fetch a data set from OpenML, in the columns and classes of the local files."""
    expected = DATASETS[name]
    where = f"OpenML's data set {expected.openml_id}"
    try:
        # This parser does without pandas.
        bunch = fetch_openml(data_id=expected.openml_id, as_frame=False, parser="liac-arff")
    except (gzip.BadGzipFile, EOFError, zlib.error, ValueError, LookupError) as error:
        raise ValueError(
            f"{where} cannot be read: {error!r}. If that persists, delete the folder openml in "
            "scikit-learn's cache (sklearn.datasets.get_data_home says where)."
        ) from error
    except (OSError, HTTPException) as error:
        looked = f"Looked in: {', '.join(map(str, places))}." if places else "No folder was given."
        raise FileNotFoundError(
            f"No file {name}.csv.gz or {name}.csv, and {where} cannot be fetched: {error!r}. "
            f"{looked} Pass the folder that holds the file as data_home, or set the environment "
            "variable VANISHING_DATA to it, or connect to the internet and try again."
        ) from error
    columns = list(bunch.feature_names)
    try:
        data = np.array(bunch.data, dtype=np.float64, ndmin=2)
        # Columns that OpenML calls nominal come as places in the list of their values.
        for column, values in (bunch.get("categories") or {}).items():
            if column in columns:
                place = data[:, columns.index(column)]
                place[:] = np.asarray(values, dtype=np.float64)[place.astype(np.intp)]
        labels = np.asarray(bunch.target, dtype=np.float64)
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(f"{where} has values that are not numbers: {error}") from error
    wanted = [column.lower() not in expected.openml_dropped for column in columns]
    data = np.ascontiguousarray(data[:, wanted])
    shape = (expected.n_samples, expected.n_features)
    require(
        data.shape == shape and labels.shape == shape[:1],
        where,
        f"expected {shape[0]} rows and {shape[1]} features, found an array of shape {data.shape} "
        f"and labels of shape {labels.shape}",
    )
    # Labels there start at 0 or at 1; their order is ours.
    target = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    check_rows(where, data, target, expected)
    first_means = [data[target == label, 0].mean() for label in range(len(expected.classes))]
    require(
        np.allclose(first_means, expected.first_means, rtol=1e-4, atol=0),
        where,
        f"the means of the first column in the classes are {np.round(first_means, 6).tolist()}, "
        f"not {list(expected.first_means)}",
    )
    return list(expected.feature_names), data, target
