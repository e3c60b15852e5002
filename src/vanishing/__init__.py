"""Generators of approximate vanishing ideals: the polynomial equations a data set satisfies."""

from importlib.metadata import PackageNotFoundError, version

from vanishing import datasets
from vanishing.oavi import OAVI

try:
    __version__ = version("vanishing")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0+unknown"

__all__ = ["OAVI", "__version__", "datasets"]
