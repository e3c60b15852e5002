"""Gauss-Newton ends where the sum of squares is least, and never makes it larger."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from vanishing.fitting.gauss_newton import gauss_newton
from vanishing.fitting.normal import solution


class DecayPoint:
    """Residuals of y = a exp(-b x) + c."""

    def __init__(self, x, y, coef, visited):
        self.x, self.coef = x, coef
        self.residual = y - coef[0] * np.exp(-coef[1] * x) - coef[2]
        self.loss = float(self.residual @ self.residual)
        visited.append(self.loss)

    def jacobian(self):
        decay = np.exp(-self.coef[1] * self.x)
        return np.array([decay, -self.coef[0] * self.x * decay, np.ones_like(self.x)])

    def step(self):
        J = self.jacobian()
        return solution(J @ J.T, J @ self.residual)


def decay(rng):
    x = rng.uniform(0, 3, 200)
    return x, 2.0 * np.exp(-1.5 * x) + 0.5 + 0.05 * rng.normal(size=200)


@pytest.mark.parametrize("seed", range(5))
def test_it_ends_where_scipy_ends(seed):
    rng = np.random.default_rng(seed)
    x, y = decay(rng)
    start = np.array([2.0, 1.5, 0.5]) * rng.uniform(0.6, 1.6, 3)
    point = gauss_newton(
        lambda coef: DecayPoint(x, y, coef, []), start, max_steps=50, least_gain=1e-15
    )
    reference = least_squares(
        lambda coef: y - coef[0] * np.exp(-coef[1] * x) - coef[2], start, xtol=1e-14, ftol=1e-14
    )
    np.testing.assert_allclose(point.coef, reference.x, rtol=1e-6)
    np.testing.assert_allclose(point.loss, 2 * reference.cost, rtol=1e-12)


def test_steps_that_are_too_long_are_halved():
    # arctan(b) = 0: full steps from beyond 1.39 leave farther and farther.
    class Arctan:
        def __init__(self, coef):
            self.coef, self.loss = coef, float(np.arctan(coef[0]) ** 2)

        def step(self):
            return -np.arctan(self.coef) * (1 + self.coef**2)

    start = np.array([3.0])
    point = gauss_newton(Arctan, start, max_steps=20, least_gain=0.0)
    assert abs(point.coef[0]) < 1e-12
    stuck = gauss_newton(Arctan, start, max_steps=20, least_gain=0.0, halvings=0)
    assert stuck.coef == start  # what makes the loss larger is taken back


def test_it_stops_when_told():
    x, y = decay(np.random.default_rng(0))
    start = np.array([1.0, 1.0, 0.0])

    def visits(**options):
        visited = []
        gauss_newton(lambda coef: DecayPoint(x, y, coef, visited), start, **options)
        return len(visited)

    assert visits(max_steps=2, least_gain=0.0) == 3
    assert visits(max_steps=50, least_gain=0.5) < visits(max_steps=50, least_gain=1e-12)
