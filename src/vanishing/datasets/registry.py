"""Facts about the paper's six data sets, which a file or a download of each must match."""

import tomllib
from importlib.resources import files
from typing import NamedTuple

import numpy as np


class Dataset(NamedTuple):
    """Facts about a data set, which a file or a download of it must match."""

    title: str
    rows: str
    feature_names: tuple[str, ...]
    classes: dict[str, int]
    """Number of rows of each class, the classes in the order of their labels 0, 1, ..."""
    first_means: tuple[float, ...]
    """Mean of the first feature in each class: tells columns and classes of a download apart."""
    uci_id: int
    openml_id: int
    citation: str
    openml_dropped: tuple[str, ...] = ()

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return sum(self.classes.values())

    @property
    def n_features(self) -> int:
        """The number of columns but the class."""
        return len(self.feature_names)

    @property
    def url(self) -> str:
        """The page on OpenML."""
        return f"https://www.openml.org/d/{self.openml_id}"

    @property
    def description(self) -> str:
        """What the rows, columns and classes are, and where they come from."""
        listed = ", ".join(f"{name}: {count}" for name, count in self.classes.items())
        return (
            f"{self.title}\n\n"
            f"{self.n_samples} rows, {self.n_features} features, {len(self.classes)} classes "
            f"({listed}). {self.rows} Values are raw, unscaled; none is missing.\n\n"
            f"Columns: {', '.join(self.feature_names)}.\n\n"
            "Source: UCI Machine Learning Repository, "
            f"https://archive.ics.uci.edu/dataset/{self.uci_id}; on OpenML: {self.url}.\n\n"
            f"To cite: {self.citation}"
        )


def _read() -> dict[str, Dataset]:
    text = (files("vanishing.datasets") / "registry.toml").read_text(encoding="utf-8")

    def fixed(value):
        return tuple(value) if isinstance(value, list) else value

    return {
        name: Dataset(**{key: fixed(value) for key, value in entry.items()})
        for name, entry in tomllib.loads(text).items()
    }


DATASETS = _read()


def require(condition, where, problem: str) -> None:
    """Raise ValueError about a file or download unless a condition holds."""
    if not condition:
        raise ValueError(f"{where} does not hold the data set it should: {problem}.")


def check_rows(where, data, target, expected: Dataset) -> None:
    """Check the rows of a file or a download of a data set."""
    require(np.isfinite(data).all(), where, "there are NaN or infinite values")
    counts = np.bincount(target).tolist()
    require(
        counts == list(expected.classes.values()),
        where,
        f"expected {list(expected.classes.values())} rows of the classes, found {counts}",
    )
