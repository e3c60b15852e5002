"""Generators of approximate vanishing ideals: the polynomial equations a data set satisfies.

A name is imported when it is first used: numba and scikit-learn take more than a second.
"""

from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING

__all__ = [
    "ABM",
    "AVI",
    "OAVI",
    "VCA",
    "Blocks",
    "BuchbergerMoller",
    "ConservedQuantities",
    "ConservedQuantity",
    "ContrastiveVanishing",
    "L1SquaredHingeSVC",
    "Law",
    "LawFinder",
    "Moments",
    "VanishingClassifier",
    "VanishingClassifierCV",
    "VanishingFeatures",
    "VanishingOutlierDetector",
    "__version__",
    "bounds",
    "check_law",
    "datasets",
    "error_bars",
    "export",
    "inspection",
    "load",
    "motion",
    "oracles",
    "plot",
    "polynomials",
    "report",
    "save",
    "units",
]

# Where each public name is, unless it is a module itself.
_PLACES = {
    "ABM": "constructions.abm",
    "AVI": "constructions.avi",
    "BuchbergerMoller": "constructions.exact",
    "ContrastiveVanishing": "constructions.contrastive",
    "OAVI": "constructions.oavi",
    "VCA": "constructions.vca",
    "Law": "laws.law",
    "LawFinder": "laws.finder",
    "check_law": "laws.check",
    "L1SquaredHingeSVC": "learning.svm",
    "VanishingClassifier": "learning.classifier",
    "VanishingClassifierCV": "learning.search",
    "VanishingFeatures": "learning.features",
    "VanishingOutlierDetector": "outliers.detector",
    "ConservedQuantities": "motion.conserved",
    "ConservedQuantity": "motion.quantity",
    "Blocks": "rows.blocks",
    "Moments": "rows.moments",
    "error_bars": "rows.error_bars",
    "load": "persistence",
    "save": "persistence",
    "__version__": "_version",
}
_MODULES = ["bounds", "datasets", "export", "inspection", "motion", "oracles", "plot"]
_MODULES += ["polynomials", "report", "units"]

if TYPE_CHECKING:  # the same, for those who read and do not run
    from vanishing import (
        bounds,
        datasets,
        export,
        inspection,
        motion,
        oracles,
        plot,
        polynomials,
        report,
        units,
    )
    from vanishing._version import __version__
    from vanishing.constructions.abm import ABM
    from vanishing.constructions.avi import AVI
    from vanishing.constructions.contrastive import ContrastiveVanishing
    from vanishing.constructions.exact import BuchbergerMoller
    from vanishing.constructions.oavi import OAVI
    from vanishing.constructions.vca import VCA
    from vanishing.laws.check import check_law
    from vanishing.laws.finder import LawFinder
    from vanishing.laws.law import Law
    from vanishing.learning.classifier import VanishingClassifier
    from vanishing.learning.features import VanishingFeatures
    from vanishing.learning.search import VanishingClassifierCV
    from vanishing.learning.svm import L1SquaredHingeSVC
    from vanishing.motion.conserved import ConservedQuantities
    from vanishing.motion.quantity import ConservedQuantity
    from vanishing.outliers.detector import VanishingOutlierDetector
    from vanishing.persistence import load, save
    from vanishing.rows.blocks import Blocks
    from vanishing.rows.error_bars import error_bars
    from vanishing.rows.moments import Moments

# Threads that import different parts of scikit-learn at once see them half made.
_importing = RLock()


def __getattr__(name):
    if name not in _PLACES and name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with _importing:
        module = import_module(f"vanishing.{_PLACES.get(name, name)}")
    value = globals()[name] = getattr(module, name) if name in _PLACES else module
    return value


def __dir__():
    return sorted(__all__)
