"""Where to look for the constants inside a form: grids from the scale of the data."""

from collections.abc import Callable, Mapping
from itertools import product
from math import prod

import numpy as np

from vanishing.algebra.equations import read_equation
from vanishing.equations.forms import Form
from vanishing.laws import settings
from vanishing.laws.constants import least_squares_of
from vanishing.laws.given_problem import Problem
from vanishing.laws.starts import scales, start_values

_TARGET = "the target"


class Curve:
    """Rows of a curve: a variable and the target, with what grids need to know of them."""

    def __init__(self, x: np.ndarray, y: np.ndarray):
        self.x, self.y = x, y
        self.low, self.high = float(x.min()), float(x.max())
        self.span = self.high - self.low
        size = np.abs(x[x != 0.0])
        self.least, self.most = (float(v) for v in np.quantile(size, (0.02, 1.0)))
        self.middle = float(np.median(size))

    def sizes(self, low: float, high: float, count: int) -> np.ndarray:
        """Return sizes from a multiple of the least x to one of the largest."""
        return np.geomspace(low * min(self.least, self.most / 3), high * self.most, count)

    def rates(self, low: float, high: float, count: int) -> np.ndarray:
        """Return inverse lengths; where x has many decades, also those of its least values."""
        fastest = high / self.span
        if self.low > 0.0:
            fastest = max(fastest, 3.0 / self.least)
        return np.geomspace(low / self.span, fastest, count)

    def places(self, count: int) -> np.ndarray:
        """Return values of x, a little beyond its ends, and where the target is most unusual."""
        unusual = self.x[np.argmax(np.abs(self.y - np.median(self.y)))]
        edge = 0.1 * self.span
        return np.append(np.linspace(self.low - edge, self.high + edge, count), unusual)

    def frequencies(self) -> np.ndarray:
        """Return frequencies, at most as many waves as rows can follow."""
        waves = min(settings.FORM_WAVES, len(self.x) / 3)
        return 2 * np.pi / self.span * np.arange(0.3, waves, settings.FORM_WAVE_STEP)

    def slopes_of_squares(self) -> np.ndarray:
        """Return slopes of the square of the target along the square of x."""
        slope = np.ptp(self.y**2) / np.ptp(self.x**2)
        return slope * np.array([0.1, 0.5, 1.0, 2.0, -0.5, -1.0])


def _both_signs(values: np.ndarray) -> np.ndarray:
    return np.concatenate([values, -values])


# What constants are, and where they are looked for.
KINDS: dict[str, Callable[[Curve], np.ndarray]] = {
    "rate": lambda c: c.rates(0.1, 60.0, 16),
    "fast rate": lambda c: c.rates(1.0, 100.0, 9),
    "slow rate": lambda c: c.rates(0.1, 12.0, 9),
    "damping": lambda c: np.array([0.3, 1.0, 3.0, 8.0]) / c.span,
    "steepness": lambda c: _both_signs(c.rates(1.0, 60.0, 9)),
    "place": lambda c: c.places(13),
    "inner place": lambda c: np.quantile(c.x, np.linspace(0.04, 0.96, 24)),
    "width": lambda c: c.span * np.geomspace(0.02, 1.2, 8),
    "size": lambda c: c.sizes(0.3, 4.0, 14),
    "energy": lambda c: _both_signs(c.middle * np.geomspace(0.1, 80.0, 15)),
    "shift": lambda c: np.append(c.sizes(0.1, 3.0, 12), [-0.5 * c.low, -0.9 * c.low]),
    "order": lambda c: np.array([0.5, 0.8, 1.2, 1.7, 2.5, 3.5, 5.0, 8.0]),
    "exponent": lambda c: _both_signs(np.array([0.15, 0.4, 0.7, 1.2, 1.6, 2.3, 3.0, 4.0, 6.0])),
    "stretch": lambda c: np.array([0.25, 0.4, 0.6, 0.8, 1.25, 1.7, 2.5, 4.0]),
    "frequency": lambda c: c.frequencies(),
    "phase": lambda c: np.pi * np.array([0.0, 0.25, 0.5, 0.75]),
    "square": lambda c: np.mean(c.y**2) * np.array([0.01, 0.1, 0.3, 1.0, 2.0]),
    "slope of squares": lambda c: c.slopes_of_squares(),
}


@np.errstate(all="ignore")
def grid_of(
    form: Form, variables: np.ndarray, y: np.ndarray, given: Mapping[str, float]
) -> np.ndarray:
    """Return values of the constants that a form is not linear in, shape (n_points, n_inner).

    Parameters
    ----------
    form : Form
    variables : array of shape (n_variables, n_rows)
    y : array of shape (n_rows,)
    given : mapping from str to float
        Constants that are known to be near some values.
    """
    names = [form.constants[k] for k in form.inner]
    if not names:
        return np.empty((1, 0))
    curve = Curve(variables[0], y)
    known = {name: np.array([value]) for name, value in given.items()}
    known = {n: KINDS[form.kinds[n]](curve) for n in names if n in form.kinds} | known
    if any(name not in known for name in names):
        known = _started(form, variables, y) | known
    grids = [known[name] for name in names]
    while prod(map(len, grids)) > settings.FORM_POINTS:
        longest = max(range(len(grids)), key=lambda i: len(grids[i]))
        grids[longest] = grids[longest][:-1]
    return np.array(list(product(*grids)))


def _started(form: Form, variables: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Return values to start each constant from, as for an equation that is checked."""
    problem = _problem(form, variables, y, np.ones_like(y))
    return dict(zip(form.constants, map(np.array, start_values(problem)), strict=True))


def _problem(form: Form, variables: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Problem:
    names = [*("x", "z")[: form.n_variables], _TARGET]
    equation = read_equation(f"[{_TARGET}] = {form.text}", names)
    return Problem(equation, np.vstack([variables, y]), weight, len(names) - 1)


@np.errstate(all="ignore")
def checked_start(
    form: Form, variables: np.ndarray, y: np.ndarray, weight: np.ndarray
) -> np.ndarray | None:
    """Return the constants that `check_law` would find, or None."""
    problem = _problem(form, variables, y, weight)
    try:
        return least_squares_of(problem, scales(problem))
    except ValueError:
        return None
