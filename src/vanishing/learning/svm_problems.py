"""The problems of a linear SVM: which rows are on which side, and what their losses cost."""

import numpy as np

from vanishing.learning.labels import class_weights
from vanishing.rows.arrays import namespace


class SVMProblems:
    """Each class against the others, or the second of two against the first.

    Parameters
    ----------
    svm : L1SquaredHingeSVC
    classes : ndarray of shape (n_classes,)
    totals : ndarray of shape (n_classes,)
        Weight of the rows of each class.
    """

    def __init__(self, svm, classes: np.ndarray, totals: np.ndarray):
        self.C = float(svm.C)
        self.n_classes = len(classes)
        self.by_class = class_weights(svm.class_weight, classes, totals)

    def __len__(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    def sides(self, p: int, y, weight, like):
        """Return the signs +1 and -1 of rows in problem p, and the costs of their losses.

        ``y`` are places of classes, ``weight`` weights or None, and ``like`` an array of as many
        numbers in float64: all where the rows are.
        """
        xp = namespace(like)
        ones = xp.ones_like(like)
        own = y == (1 if self.n_classes == 2 else p)
        cost = self.C * (ones if weight is None else weight)
        if self.by_class is not None:
            # As liblinear has it: with more than two classes, of the rows of its own class.
            others = float(self.by_class[0]) if self.n_classes == 2 else 1.0
            mine = float(self.by_class[1 if self.n_classes == 2 else p])
            cost = xp.where(own, mine * cost, others * cost)
        return xp.where(own, ones, -ones), cost
