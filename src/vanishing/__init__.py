"""Generators of approximate vanishing ideals: the polynomial equations a data set satisfies."""

from importlib.metadata import PackageNotFoundError, version

from vanishing import bounds, datasets, export
from vanishing.constructions.abm import ABM
from vanishing.constructions.avi import AVI
from vanishing.constructions.exact import BuchbergerMoller
from vanishing.constructions.oavi import OAVI
from vanishing.constructions.vca import VCA
from vanishing.learning.classifier import VanishingClassifier
from vanishing.learning.features import VanishingFeatures
from vanishing.learning.search import VanishingClassifierCV
from vanishing.learning.svm import L1SquaredHingeSVC
from vanishing.persistence import load, save
from vanishing.rows.blocks import Blocks
from vanishing.rows.moments import Moments

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
