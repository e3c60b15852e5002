"""Generators of approximate vanishing ideals: the polynomial equations a data set satisfies."""

from importlib.metadata import PackageNotFoundError, version

from vanishing import bounds, datasets, export
from vanishing.abm import ABM
from vanishing.accumulate import Moments
from vanishing.avi import AVI
from vanishing.classify import VanishingClassifier, VanishingClassifierCV
from vanishing.exact import BuchbergerMoller
from vanishing.features import VanishingFeatures
from vanishing.oavi import OAVI
from vanishing.persistence import load, save
from vanishing.sources import Blocks
from vanishing.svm import L1SquaredHingeSVC
from vanishing.vca import VCA

try:
    __version__ = version("vanishing")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0+unknown"

__all__ = [
    "ABM",
    "AVI",
    "OAVI",
    "VCA",
    "Blocks",
    "BuchbergerMoller",
    "L1SquaredHingeSVC",
    "Moments",
    "VanishingClassifier",
    "VanishingClassifierCV",
    "VanishingFeatures",
    "__version__",
    "bounds",
    "datasets",
    "export",
    "load",
    "save",
]
