"""`L1SquaredHingeSVC` on generator features: beside liblinear, and many classes together."""

import time

import numpy as np
from sklearn.svm import LinearSVC

from vanishing import OAVI, L1SquaredHingeSVC, VanishingFeatures
from vanishing._threads import one_blas_thread
from vanishing.learning.svm_solver import as_columns, solve_together

from .data import NAMES, halves, labelled
from .measure import ratio

CS = (0.1, 1.0, 10.0)


def objective(model, X, y, C):
    """Return the objective, summed over the classes against the others."""
    labels = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    total = 0.0
    for label, coef, intercept in zip(labels, model.coef_, model.intercept_, strict=True):
        slack = np.maximum(0.0, 1.0 - np.where(y == label, 1.0, -1.0) * (X @ coef + intercept))
        total += np.abs(coef).sum() + abs(intercept) + C * (slack @ slack)
    return total


class BesideLiblinear:
    """Fits to the features of PCG generators; liblinear's with at most 10,000 iterations."""

    params = (NAMES, (0.005, 0.0005), CS)
    param_names = ("data", "psi", "C")
    timer = time.process_time

    def setup(self, name, psi, C):
        X, _, self.y, _ = halves(name)
        self.X = VanishingFeatures(OAVI(psi=psi, refit=False)).fit_transform(X, self.y)
        self.model = L1SquaredHingeSVC(C).fit(self.X, self.y)
        self.liblinear = LinearSVC(penalty="l1", dual=False, C=C, max_iter=10_000, random_state=0)

    def time_fit(self, *_):
        self.model.fit(self.X, self.y)

    def track_over_liblinear(self, *_):
        return ratio(self.time_fit, lambda: self.liblinear.fit(self.X, self.y), repeat=3)

    track_over_liblinear.unit = "ratio"

    def track_objective_over_liblinear(self, name, psi, C):
        ours = objective(self.model, self.X, self.y, C)
        return ours / objective(self.liblinear.fit(self.X, self.y), self.X, self.y, C)

    track_objective_over_liblinear.unit = "ratio"


class Together:
    """The problems of ten and of thirty classes on the same features."""

    params = (("iris", "digits", "thirty"), CS)
    param_names = ("data", "C")
    timer = time.process_time

    def setup(self, name, C):
        X, y = labelled(name)
        features = VanishingFeatures(OAVI(psi=0.01)).fit_transform(X, y)
        self.columns = as_columns(features, True)
        self.signs = np.where(y == np.arange(y.max() + 1)[:, np.newaxis], 1.0, -1.0)
        starts = np.zeros((len(self.signs), len(self.columns)))
        self.problems = [self.signs, np.full_like(self.signs, C), starts]
        self.options = {"tol": 1e-4, "max_iter": 1000}
        self.time_together()

    def time_together(self, *_):
        with one_blas_thread():
            solve_together(self.columns, *self.problems, **self.options)

    def track_over_alone(self, *_):
        def alone():
            with one_blas_thread():
                for problem in zip(*self.problems, strict=True):
                    solve_together(self.columns, *([part] for part in problem), **self.options)

        return ratio(self.time_together, alone, repeat=3)

    track_over_alone.unit = "ratio"

    def track_looks(self, *_):
        """Track the time in looks at all features for all classes, which nobody can do without."""

        def look():
            with one_blas_thread():
                self.signs @ self.columns.T

        return ratio(self.time_together, look, repeat=3)

    track_looks.unit = "looks"
