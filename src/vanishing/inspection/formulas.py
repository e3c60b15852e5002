"""What laws and detectors compute, for everyone who writes it elsewhere."""

from typing import NamedTuple

from vanishing.algebra.expressions import Node
from vanishing.equations.law import Law
from vanishing.outliers.detector import VanishingOutlierDetector
from vanishing.outliers.model import Model


class LawFormula(NamedTuple):
    """What a law says of a row.

    Attributes
    ----------
    node : Node
        In the columns of the law, by their places.
    is_solved : bool
        Whether it is the target; else it is what the law says is zero.
    columns : tuple of int
        Those it may depend on: all, without the target where the law is solved for it.
    """

    node: Node
    is_solved: bool
    columns: tuple[int, ...]


def law_formula(law: Law) -> LawFormula:
    """Return a law solved for its target, or its residual where there is no closed form."""
    places = range(len(law.names))
    if law.target is not None and law.solution is not None:
        column = law.names.index(law.target)
        return LawFormula(law.solution, True, tuple(i for i in places if i != column))
    return LawFormula(law.total, False, tuple(places))


def score_model(detector: VanishingOutlierDetector) -> Model:
    """Return everything that the scores of a fitted detector depend on."""
    return detector.learned.model
