"""Generators of approximate vanishing ideals: the polynomial equations a data set satisfies.

A name is imported when it is first used: numba and scikit-learn take more than a second.
"""

from typing import TYPE_CHECKING

from vanishing._names import MODULES, PLACES, module_of

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
    "EllipsoidCalibration",
    "EquationOfMotion",
    "EquationsOfMotion",
    "L1SquaredHingeSVC",
    "Law",
    "LawFinder",
    "LawsByGroup",
    "Moments",
    "Rules",
    "VanishingClassifier",
    "VanishingClassifierCV",
    "VanishingFeatures",
    "VanishingOutlierDetector",
    "VanishingRepair",
    "__version__",
    "bounds",
    "check_law",
    "datasets",
    "error_bars",
    "export",
    "inspection",
    "laws",
    "listening",
    "load",
    "loop_invariants",
    "motion",
    "oracles",
    "plot",
    "polynomials",
    "register_function",
    "report",
    "rules_of",
    "save",
    "units",
    "unregister_function",
]

if TYPE_CHECKING:  # the same names, for type checkers and editors
    from vanishing import (
        bounds,
        datasets,
        export,
        inspection,
        laws,
        motion,
        oracles,
        plot,
        polynomials,
        report,
        units,
    )
    from vanishing._version import __version__
    from vanishing.algebra.functions import register_function, unregister_function
    from vanishing.calibration.ellipsoid import EllipsoidCalibration
    from vanishing.constructions.abm import ABM
    from vanishing.constructions.avi import AVI
    from vanishing.constructions.contrastive import ContrastiveVanishing
    from vanishing.constructions.exact import BuchbergerMoller
    from vanishing.constructions.loop_invariants import loop_invariants
    from vanishing.constructions.oavi import OAVI
    from vanishing.constructions.vca import VCA
    from vanishing.equations.by_group import LawsByGroup
    from vanishing.equations.law import Law
    from vanishing.estimators.progress import listening
    from vanishing.laws.check import check_law
    from vanishing.laws.finder import LawFinder
    from vanishing.learning.classifier import VanishingClassifier
    from vanishing.learning.features import VanishingFeatures
    from vanishing.learning.search import VanishingClassifierCV
    from vanishing.learning.svm import L1SquaredHingeSVC
    from vanishing.motion.conserved import ConservedQuantities
    from vanishing.motion.equation import EquationOfMotion
    from vanishing.motion.equations_of_motion import EquationsOfMotion
    from vanishing.motion.quantity import ConservedQuantity
    from vanishing.outliers.detector import VanishingOutlierDetector
    from vanishing.persistence import load, save
    from vanishing.repair.repair import VanishingRepair
    from vanishing.rows.blocks import Blocks
    from vanishing.rows.error_bars import error_bars
    from vanishing.rows.moments import Moments
    from vanishing.rules.making import rules_of
    from vanishing.rules.rules import Rules


def __getattr__(name):
    if name not in PLACES and name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = module_of(name)
    value = globals()[name] = getattr(module, name) if name in PLACES else module
    return value


def __dir__():
    return sorted(__all__)
