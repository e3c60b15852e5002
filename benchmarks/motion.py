"""What is conserved along runs: a search beside OAVI of the same degree on the same rows."""

import time

import numpy as np

from vanishing import OAVI, ConservedQuantities

from .measure import ratio

KINDS = {"oscillators, clean": 0.0, "oscillators, noise 1 %": 0.01, "wandering": None}


def many_rows(n_runs, per_run, n_columns, noise):
    """Return runs of oscillators, with position and speed of each, or of positions alone."""
    random = np.random.default_rng(0)
    time_ = np.linspace(0, 10, per_run)
    phase = random.uniform(0, 2 * np.pi, (n_runs, n_columns, 1))
    size = random.uniform(0.5, 2, (n_runs, n_columns, 1))
    if noise is not None:  # columns in pairs
        phase[:, 1::2] = phase[:, ::2] + np.pi / 2
        size[:, 1::2] = size[:, ::2]
    pair = np.arange(n_columns) if noise is None else np.arange(n_columns) // 2
    speed = np.sqrt(1.0 + pair)[:, None]
    X = (size * np.cos(speed * time_ + phase)).transpose(0, 2, 1).reshape(-1, n_columns)
    return X + (noise or 0.0) * random.normal(size=X.shape)


class Motion:
    """Runs of 1,000 rows each."""

    params = ((100, 1000), ((2, 3), (2, 4), (4, 3), (6, 3)), tuple(KINDS))
    param_names = ("runs", "columns and degree", "rows")
    timer = time.process_time

    def setup(self, n_runs, shape, kind):
        n_columns, degree = shape
        self.X = many_rows(n_runs, 1000, n_columns, KINDS[kind])
        self.groups = np.repeat(np.arange(n_runs), 1000)
        self.model = ConservedQuantities(degree).fit(self.X[:5000], groups=self.groups[:5000])
        self.oavi = OAVI(psi=1e-9, oracle="ls", max_degree=degree)

    def time_fit(self, *_):
        self.model.fit(self.X, groups=self.groups)

    def track_over_oavi(self, *_):
        return ratio(self.time_fit, lambda: self.oavi.fit(self.X), repeat=5)

    track_over_oavi.unit = "ratio"
