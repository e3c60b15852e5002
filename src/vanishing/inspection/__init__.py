"""The anatomy of a fitted model: what it consists of, for everyone who shows it."""

from vanishing.inspection.anatomy import Anatomy, ModelPart, anatomy, places
from vanishing.inspection.curves import LawCurve, LawCurves, law_curves
from vanishing.inspection.equations_of_motion import FollowedRuns, followed
from vanishing.inspection.importance import Importances, importances
from vanishing.inspection.laws import (
    Constants,
    LawAnatomy,
    LawRows,
    Unexplained,
    constants_of,
    law_anatomy,
    law_rows,
    unexplained,
)
from vanishing.inspection.motion import MotionRows, motion_rows
from vanishing.inspection.outliers import OutlierRows, outlier_rows

__all__ = [
    "Anatomy",
    "Constants",
    "FollowedRuns",
    "Importances",
    "LawAnatomy",
    "LawCurve",
    "LawCurves",
    "LawRows",
    "ModelPart",
    "MotionRows",
    "OutlierRows",
    "Unexplained",
    "anatomy",
    "constants_of",
    "followed",
    "importances",
    "law_anatomy",
    "law_curves",
    "law_rows",
    "motion_rows",
    "outlier_rows",
    "places",
    "unexplained",
]
