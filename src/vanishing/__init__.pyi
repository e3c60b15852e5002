"""The public names, for those who read and do not run: type checkers and editors."""

from vanishing import bounds as bounds
from vanishing import datasets as datasets
from vanishing import export as export
from vanishing import oracles as oracles
from vanishing import plot as plot
from vanishing import polynomials as polynomials
from vanishing import report as report
from vanishing import units as units
from vanishing._version import __version__
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
from vanishing.rows.error_bars import error_bars
from vanishing.rows.moments import Moments

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
    "error_bars",
    "export",
    "load",
    "save",
]
