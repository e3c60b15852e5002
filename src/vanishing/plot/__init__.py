"""Pictures of equations, laws, motion, outliers and calibrations.

Displays in the manner of scikit-learn's: ``from_estimator`` computes and draws, the object keeps
what was computed, and ``plot`` draws it again. They need matplotlib, which is imported when they
draw; `isosurface` and `distance_to_variety` do without it.
"""

from vanishing.algebra.distances import distance_to_variety
from vanishing.plot.calibration import CalibrationDisplay
from vanishing.plot.coefficients import CoefficientsDisplay
from vanishing.plot.distances import DistanceDisplay
from vanishing.plot.equations_of_motion import EquationsOfMotionDisplay
from vanishing.plot.geometry import isosurface
from vanishing.plot.law_curve import LawCurveDisplay
from vanishing.plot.law_front import LawFrontDisplay
from vanishing.plot.law_predictions import LawPredictionDisplay
from vanishing.plot.law_residuals import LawResidualsDisplay
from vanishing.plot.law_unexplained import LawUnexplainedDisplay
from vanishing.plot.motion import ConservedQuantitiesDisplay, PhasePortraitDisplay
from vanishing.plot.outliers import OutlierDisplay
from vanishing.plot.psi_path import PsiPathDisplay
from vanishing.plot.search_front import SearchFrontDisplay
from vanishing.plot.staircase import StaircaseDisplay
from vanishing.plot.zero_sets import ZeroSetDisplay

__all__ = [
    "CalibrationDisplay",
    "CoefficientsDisplay",
    "ConservedQuantitiesDisplay",
    "DistanceDisplay",
    "EquationsOfMotionDisplay",
    "LawCurveDisplay",
    "LawFrontDisplay",
    "LawPredictionDisplay",
    "LawResidualsDisplay",
    "LawUnexplainedDisplay",
    "OutlierDisplay",
    "PhasePortraitDisplay",
    "PsiPathDisplay",
    "SearchFrontDisplay",
    "StaircaseDisplay",
    "ZeroSetDisplay",
    "distance_to_variety",
    "isosurface",
]
