"""Public names and the modules they are in, which are imported when a name is first used."""

from importlib import import_module
from threading import RLock
from types import ModuleType

# Where each public name is defined, unless it is a module itself.
PLACES = {
    "OAVI": "constructions.oavi",
    "ABM": "constructions.abm",
    "AVI": "constructions.avi",
    "VCA": "constructions.vca",
    "ContrastiveVanishing": "constructions.contrastive",
    "BuchbergerMoller": "constructions.exact",
    "loop_invariants": "constructions.loop_invariants",
    "Law": "equations.law",
    "LawFinder": "laws.finder",
    "LawsByGroup": "equations.by_group",
    "check_law": "laws.check",
    "L1SquaredHingeSVC": "learning.svm",
    "VanishingClassifier": "learning.classifier",
    "VanishingClassifierCV": "learning.search",
    "VanishingFeatures": "learning.features",
    "VanishingOutlierDetector": "outliers.detector",
    "Rules": "rules.rules",
    "rules_of": "rules.making",
    "ConservedQuantities": "motion.conserved",
    "ConservedQuantity": "motion.quantity",
    "EquationOfMotion": "motion.equation",
    "EquationsOfMotion": "motion.equations_of_motion",
    "VanishingRepair": "repair.repair",
    "EllipsoidCalibration": "calibration.ellipsoid",
    "Blocks": "rows.blocks",
    "Moments": "rows.moments",
    "error_bars": "rows.error_bars",
    "listening": "estimators.progress",
    "load": "persistence",
    "register_function": "algebra.functions",
    "save": "persistence",
    "unregister_function": "algebra.functions",
    "__version__": "_version",
}
MODULES = ["bounds", "datasets", "export", "inspection", "laws", "motion", "oracles"]
MODULES += ["plot", "polynomials", "report", "units"]

# Threads that import different parts of scikit-learn at once see them half made.
_importing = RLock()


def module_of(name: str) -> ModuleType:
    """Import and return the module of a public name, which defines it or is it."""
    with _importing:
        return import_module(f"vanishing.{PLACES.get(name, name)}")
