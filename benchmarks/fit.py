"""How far a fit and a transform are from the work no one can avoid; what a step of PCG costs."""

import time

from vanishing import OAVI

from .data import NAMES, classes
from .floor import fit_floor, transform_floor
from .measure import in_turns, ratio

PSIS = (0.005, 0.0005)


def fitted(parts, **options):
    return [OAVI(**options).fit(X) for X in parts]


def fit_all(models, parts):
    for model, X in zip(models, parts, strict=True):
        model.fit(X)


class Fit:
    """Fits to the training rows of each class, one class after the other."""

    params = (NAMES, PSIS, ("ls", "pcg"))
    param_names = ("data", "psi", "oracle")
    timer = time.process_time

    def setup(self, name, psi, oracle):
        self.parts, _ = classes(name)
        self.models = fitted(self.parts, psi=psi, oracle=oracle)

    def time_fit(self, *_):
        fit_all(self.models, self.parts)

    def peakmem_fit(self, *_):
        fit_all(self.models, self.parts)

    def track_over_floor(self, *_):
        floor = fit_floor(self.models, self.parts)
        return ratio(lambda: fit_all(self.models, self.parts), floor, repeat=15)

    track_over_floor.unit = "ratio"


class Transform:
    """The generators of each class on the other rows."""

    params = (NAMES, PSIS)
    param_names = ("data", "psi")
    timer = time.process_time

    def setup(self, name, psi):
        parts, self.X = classes(name)
        self.models = fitted(parts, psi=psi, oracle="ls")
        self.time_transform()

    def time_transform(self, *_):
        for model in self.models:
            model.transform(self.X)

    def track_over_floor(self, *_):
        return ratio(self.time_transform, transform_floor(self.models, self.X), repeat=15)

    track_over_floor.unit = "ratio"


class Steps:
    """What PCG takes longer than the closed form, for each of its steps."""

    params = (NAMES, PSIS)
    param_names = ("data", "psi")

    def setup(self, name, psi):
        self.parts, _ = classes(name)
        self.ls = fitted(self.parts, psi=psi, oracle="ls")
        self.pcg = fitted(self.parts, psi=psi, oracle="pcg", refit=False)

    def track_step(self, *_):
        ls, pcg = in_turns(
            lambda: fit_all(self.ls, self.parts), lambda: fit_all(self.pcg, self.parts), repeat=15
        )
        return 1e9 * (pcg - ls) / sum(model.n_iter_ for model in self.pcg)

    track_step.unit = "ns"
