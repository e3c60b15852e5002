"""Searches for the law of a table: `LawFinder` on one core, 10,000 rows."""

import time

from vanishing import LawFinder, datasets


class Laws:
    """Formulas of physics, with noise of a part of the rms of the target."""

    params = (("I.12.1", "I.9.18", "I.6.2", "I.15.10", "I.34.14"), (0.0, 0.01))
    param_names = ("formula", "noise")
    timer = time.process_time

    def setup(self, formula, noise):
        found = datasets.feynman(formula, noise=noise, random_state=0)
        self.X, self.y = found.data, found.target
        LawFinder().fit(self.X[:300, :2], self.X[:300, 0] * self.X[:300, 1])  # compiles

    def time_fit(self, *_):
        LawFinder().fit(self.X, self.y)
