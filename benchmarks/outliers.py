"""The outlier detector beside scikit-learn's IsolationForest."""

import time

import numpy as np
from sklearn.ensemble import IsolationForest

from vanishing import VanishingOutlierDetector

from .measure import ratio


class Outliers:
    """Fits to Gaussian rows, and scores of the same rows."""

    params = (("1000 x 10", "100000 x 10", "10000 x 60"),)
    param_names = ("rows",)
    timer = time.process_time

    def setup(self, rows):
        shape = tuple(map(int, rows.split(" x ")))
        self.X = np.random.default_rng(0).normal(size=shape)
        self.model = VanishingOutlierDetector(random_state=0).fit(self.X[:1000])

    def time_fit(self, *_):
        self.model.fit(self.X)

    def time_fit_and_scores(self, *_):
        self.model.fit(self.X).score_samples(self.X)

    def track_over_isolation_forest(self, *_):
        forest = IsolationForest(random_state=0)
        other = lambda: forest.fit(self.X).score_samples(self.X)  # noqa: E731
        return ratio(self.time_fit_and_scores, other, repeat=5)

    track_over_isolation_forest.unit = "ratio"
