"""Tables of forty curves that people fit every day, with constants drawn at random.

Twenty were in view while the forms of the search were built. The others were written down before,
and kept apart: `CURVES_APART`.
"""

from typing import NamedTuple

import numpy as np
from law_tables import rms

from vanishing.algebra.equations import read_equation
from vanishing.algebra.expressions import evaluate

Range = tuple[float, float]


class Curve(NamedTuple):
    """A curve: what the target is, in columns and constants, and the ranges of both.

    Columns are uniform in their ranges, or log-uniform where ``decades`` has them.
    """

    name: str
    text: str
    columns: dict[str, Range]
    constants: dict[str, Range]
    decades: tuple[str, ...] = ()

    def draw_constants(self, random):
        """Return values of the constants: log-uniform where they are positive."""
        ranges = self.constants.values()
        return np.array(
            [
                np.exp(random.uniform(*np.log(ends))) if ends[0] > 0 else random.uniform(*ends)
                for ends in ranges
            ]
        )

    def rows(self, constants, n_samples, random):
        """Return X and y without noise."""
        X = np.column_stack(
            [
                np.exp(random.uniform(*np.log(ends), n_samples))
                if name in self.decades
                else random.uniform(*ends, n_samples)
                for name, ends in self.columns.items()
            ]
        )
        names = [*self.columns, "y"]
        equation = read_equation(f"y = {self.text}", names)
        order = [list(self.constants).index(name) for name in equation.constants]
        variables = [*X.T, np.zeros(n_samples), *constants[order]]
        if equation.formula is None:
            return X, -equation.zero.value(variables)
        return X, evaluate(equation.formula, variables)  # which is not squared where it has roots

    def written(self, constants):
        """Return the formula and its constants as text."""
        values = zip(self.constants, constants, strict=True)
        return f"y = {self.text}, " + ", ".join(f"{name} = {value:.3g}" for name, value in values)


def curve_table(curve, n_samples, noise, seed):
    """Return X, y, and a function that draws rows without noise."""
    random = np.random.RandomState(seed)
    constants = curve.draw_constants(random)
    X, y = curve.rows(constants, n_samples, random)
    y = y + noise * rms(y) * random.normal(size=n_samples)

    def fresh(n_samples, random):
        return curve.rows(constants, n_samples, random)

    return X, y, fresh, curve.written(constants)


CURVES = [
    Curve("decay", "A*exp(-k*t)", {"t": (0, 10)}, {"A": (1, 5), "k": (0.15, 0.8)}),
    Curve(
        "decay to a level",
        "c + A*exp(-k*t)",
        {"t": (0, 10)},
        {"c": (0.5, 2), "A": (1, 5), "k": (0.2, 0.9)},
    ),
    Curve("growth", "A*exp(k*t)", {"t": (0, 5)}, {"A": (0.2, 2), "k": (0.3, 0.9)}),
    Curve("charging", "A*(1 - exp(-k*t))", {"t": (0, 10)}, {"A": (1, 9), "k": (0.2, 0.8)}),
    Curve("Michaelis-Menten", "V*S/(K + S)", {"S": (0.1, 10)}, {"V": (1, 9), "K": (0.8, 4)}),
    Curve(
        "Hill",
        "V*x^n/(K^n + x^n)",
        {"x": (0.1, 10)},
        {"V": (1, 9), "K": (2, 5), "n": (1.6, 3.6)},
    ),
    Curve(
        "logistic",
        "A/(1 + exp(-k*(t - t0)))",
        {"t": (0, 20)},
        {"A": (1, 9), "k": (0.4, 1.2), "t0": (7, 13)},
    ),
    Curve(
        "Gompertz",
        "A*exp(-b*exp(-k*t))",
        {"t": (0, 20)},
        {"A": (1, 9), "b": (3, 8), "k": (0.2, 0.4)},
    ),
    Curve(
        "Gaussian",
        "A*exp(-(x - m)^2/(2*s^2))",
        {"x": (-5, 5)},
        {"A": (1, 9), "m": (-1.5, 1.5), "s": (0.8, 2)},
    ),
    Curve(
        "Lorentzian and background",
        "c + A/(1 + ((x - m)/w)^2)",
        {"x": (0, 10)},
        {"c": (0.3, 2), "A": (2, 9), "m": (3, 7), "w": (0.6, 1.6)},
    ),
    Curve("power law", "A*x^p", {"x": (0.5, 20)}, {"A": (0.5, 5), "p": (0.55, 0.72)}),
    Curve(
        "power law and offset",
        "c + A*x^p",
        {"x": (0.2, 12)},
        {"c": (1, 6), "A": (0.5, 2), "p": (1.2, 1.45)},
    ),
    Curve("logarithm", "A*log(1 + b*x)", {"x": (0, 20)}, {"A": (1, 5), "b": (0.3, 3)}),
    Curve("Arrhenius", "A*exp(-E/T)", {"T": (280, 420)}, {"A": (1e3, 1e6), "E": (2e3, 5e3)}),
    Curve(
        "damped oscillation",
        "A*exp(-k*t)*cos(w*t + f)",
        {"t": (0, 12)},
        {"A": (1, 5), "k": (0.08, 0.25), "w": (1.5, 5), "f": (-2.5, 2.5)},
    ),
    Curve(
        "oscillation and level",
        "c + A*sin(w*t + f)",
        {"t": (0, 10)},
        {"c": (0.5, 4), "A": (1, 5), "w": (0.8, 6), "f": (-2.5, 2.5)},
    ),
    Curve(
        "stretched exponential",
        "A*exp(-(t/T)^b)",
        {"t": (0.05, 20)},
        {"A": (1, 5), "T": (2, 6), "b": (0.5, 0.8)},
    ),
    Curve("Planck", "A*x^3/(exp(b*x) - 1)", {"x": (0.1, 12)}, {"A": (0.3, 3), "b": (0.6, 1.6)}),
    Curve(
        "Morse",
        "D*(1 - exp(-a*(r - r0)))^2",
        {"r": (0.8, 6)},
        {"D": (1, 6), "a": (0.7, 1.4), "r0": (1.2, 2)},
    ),
    Curve(
        "broken line",
        "a + b*x + c*abs(x - d)",
        {"x": (0, 10)},
        {"a": (0.5, 3), "b": (0.3, 1.5), "c": (0.4, 1.2), "d": (3, 7)},
    ),
]

CURVES_APART = [
    Curve(
        "counts and background",
        "b + N*exp(-t/T)",
        {"t": (0, 60)},
        {"b": (5, 30), "N": (100, 900), "T": (8, 25)},
    ),
    Curve(
        "two exponentials",
        "A*exp(-k*t) + B*exp(-l*t)",
        {"t": (0, 12)},
        {"A": (2, 6), "k": (1.2, 2.5), "B": (1, 4), "l": (0.1, 0.25)},
    ),
    Curve("Langmuir", "q*K*p/(1 + K*p)", {"p": (0.02, 5)}, {"q": (1, 40), "K": (0.4, 4)}),
    Curve(
        "dose and response",
        "bottom + (top - bottom)/(1 + (E/d)^h)",
        {"d": (0.01, 100)},
        {"bottom": (0.05, 0.3), "top": (0.8, 1.5), "E": (0.5, 5), "h": (0.7, 1.8)},
        ("d",),
    ),
    Curve(
        "tanh step",
        "c + A*tanh((x - m)/w)",
        {"x": (-5, 5)},
        {"c": (0.5, 3), "A": (1, 4), "m": (-1.5, 1.5), "w": (0.6, 2)},
    ),
    Curve(
        "arctan step",
        "c + A*arctan((x - m)/w)",
        {"x": (-8, 8)},
        {"c": (0.5, 3), "A": (1, 4), "m": (-2, 2), "w": (0.5, 1.5)},
    ),
    Curve(
        "Gaussian and background",
        "c + A*exp(-(x - m)^2/(2*s^2))",
        {"x": (400, 700)},
        {"c": (2, 20), "A": (30, 200), "m": (500, 600), "s": (20, 45)},
    ),
    Curve(
        "Lorentzian",
        "A/(1 + ((f - g)/w)^2)",
        {"f": (90, 110)},
        {"A": (1, 30), "g": (97, 103), "w": (1, 3)},
    ),
    Curve(
        "allometry in two columns",
        "A*m^p*L^q",
        {"m": (0.5, 50), "L": (1, 12)},
        {"A": (0.3, 4), "p": (0.55, 0.72), "q": (-0.45, -0.28)},
        ("m",),
    ),
    Curve(
        "activation with a prefactor",
        "A*T^p*exp(-E/T)",
        {"T": (150, 900)},
        {"A": (0.01, 0.1), "p": (1.2, 1.8), "E": (500, 1200)},
    ),
    Curve(
        "oscillation",
        "A*cos(w*t + f)",
        {"t": (0, 8)},
        {"A": (0.5, 6), "w": (1, 8), "f": (-2.5, 2.5)},
    ),
    Curve(
        "Lennard-Jones",
        "4*e*((s/r)^12 - (s/r)^6)",
        {"r": (3.3, 8)},
        {"e": (0.5, 3), "s": (3.0, 3.4)},
    ),
    Curve("hyperbola", "sqrt(a + b*x^2)", {"x": (0, 6)}, {"a": (1, 9), "b": (0.3, 2)}),
    Curve(
        "enzyme and substrate",
        "k*E*S/(K + S)",
        {"E": (0.5, 4), "S": (0.1, 12)},
        {"k": (1, 9), "K": (1, 4)},
    ),
    Curve(
        "uptake less loss",
        "m*S/(K + S) - d",
        {"S": (0.1, 15)},
        {"m": (1, 5), "K": (0.8, 4), "d": (0.2, 0.6)},
    ),
    Curve(
        "population",
        "A/(1 + b*exp(-r*t))",
        {"t": (0, 30)},
        {"A": (50, 900), "b": (8, 60), "r": (0.2, 0.5)},
    ),
    Curve(
        "warming",
        "c - A*exp(-t/T)",
        {"t": (0, 40)},
        {"c": (20, 30), "A": (5, 18), "T": (6, 15)},
    ),
    Curve(
        "Weibull",
        "A*(1 - exp(-(t/T)^b))",
        {"t": (0.1, 15)},
        {"A": (1, 100), "T": (3, 7), "b": (1.4, 2.6)},
    ),
    Curve("falling with drag", "v*tanh(g*t/v)", {"t": (0, 8)}, {"v": (10, 30), "g": (5, 12)}),
    Curve(
        "relaxation",
        "c + A/(1 + (w*T)^2)",
        {"w": (0.05, 50)},
        {"c": (1, 4), "A": (2, 20), "T": (0.3, 3)},
        ("w",),
    ),
]
