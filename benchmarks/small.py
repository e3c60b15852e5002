"""Small fits beside the validation of the same rows, all classes, psi = 0.005."""

import time
from functools import partial

import numpy as np
from sklearn.utils import check_array

from vanishing import ABM, OAVI

from .data import labelled
from .measure import in_turns, ratio

PSI = 0.005
KINDS = {"ls": OAVI(PSI, oracle="ls"), "abm": ABM(PSI)}
NAMES = ("iris", "bank", "seeds", "htru")


def classes(name):
    X, y = labelled(name)
    return [np.ascontiguousarray(X[y == label]) for label in np.unique(y)]


class Fit:
    """Fits to all rows of each class."""

    params = (NAMES, tuple(KINDS))
    param_names = ("data", "algorithm")
    timer = time.process_time

    def setup(self, name, kind):
        self.parts = classes(name)
        self.model = KINDS[kind].fit(self.parts[0])

    def time_fit(self, *_):
        for part in self.parts:
            self.model.fit(part)

    def validate(self):
        for part in self.parts:
            check_array(part)

    def track_over_validation(self, *_):
        return ratio(self.time_fit, self.validate, repeat=50)

    track_over_validation.unit = "ratio"


class TenRows:
    """A transform of ten rows, and how much of it is not their validation."""

    params = (NAMES,)
    param_names = ("data",)
    timer = time.process_time

    def setup(self, name):
        parts = classes(name)
        self.model = KINDS["ls"].fit(parts[0])
        self.ten = parts[0][:10].copy()
        self.time_transform()

    def time_transform(self, *_):
        self.model.transform(self.ten)

    def track_above_validation(self, *_):
        validate = partial(check_array, self.ten)
        seconds, validation = in_turns(self.time_transform, validate, repeat=200)
        return 1e6 * (seconds - validation)

    track_above_validation.unit = "us"
