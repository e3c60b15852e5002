"""What taking out noise costs: debiased moments, and gradients, beside the pass over the rows."""

import time

import numpy as np

from vanishing import ABM, Moments

from .measure import in_turns, ratio


class Noise:
    """Moments of 100,000 rows in [-1, 1]."""

    params = (((2, 3), (3, 3), (5, 2), (5, 3), (8, 2)),)
    param_names = ("columns and degree",)
    timer = time.process_time

    def setup(self, shape):
        n_features, self.degree = shape
        self.X = np.random.default_rng(0).uniform(-1, 1, (100_000, n_features))
        self.moments = self.read()
        self.time_debias_again()

    def read(self):
        return Moments(self.X.shape[1], self.degree).update(self.X)

    def time_debias_again(self, *_):
        self.moments.debiased(0.1)

    def track_debias_over_pass(self, *_):
        def debias():
            vars(self.moments).pop("debias", None)  # the map is kept from one time to the next
            self.moments.debiased(0.1)

        return ratio(debias, self.read, repeat=3)

    track_debias_over_pass.unit = "ratio"

    def track_gradient_over_plain(self, *_):
        """Track what normalising by gradients makes of the time of a fit where nothing vanishes."""
        rows = self.X[:2000]
        fits = [
            ABM(1e-300, max_degree=self.degree, normalization=normalization)
            for normalization in ("gradient", "coefficients")
        ]
        gradient, plain = in_turns(*(lambda model=model: model.fit(rows) for model in fits))
        return gradient / plain

    track_gradient_over_plain.unit = "ratio"
