"""Tables of physical laws: a hundred formulas of the Feynman lectures, with any noise."""

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from sklearn.utils import Bunch, check_random_state

from vanishing._types import RandomState
from vanishing.algebra.formulas import Formula
from vanishing.checks import check_choice, check_number


class Law(NamedTuple):
    """A formula, the name of its value, and the ranges of its variables.

    Attributes
    ----------
    target : str
    formula : Formula
        Called with a mapping of names to columns, it returns the values.
    ranges : dict of str to (float, float)
        The smallest and the largest value of each variable, in the order of the columns.
    """

    target: str
    formula: Formula
    ranges: dict[str, tuple[float, float]]

    def sample(self, n_samples: int, random_state) -> tuple[np.ndarray, np.ndarray]:
        """Return rows with inputs uniform in their ranges, and the values of the formula there."""
        columns = {
            name: random_state.uniform(low, high, n_samples)
            for name, (low, high) in self.ranges.items()
        }
        return np.column_stack(list(columns.values())), self.formula(columns)


def read_laws(lines) -> dict[str, Law]:
    """Read laws from lines of CSV: name, target, formula, and name:low:high;... of the inputs."""
    laws = {}
    for row in csv.DictReader(lines):
        ranges = {}
        for variable in row["variables"].split(";"):
            name, low, high = variable.split(":")
            ranges[name] = (float(low), float(high))
        laws[row["name"]] = Law(row["target"], Formula(row["formula"]), ranges)
    return laws


@cache
def feynman_laws() -> dict[str, Law]:
    """Return all laws by name; names are the numbers of the equations in the lectures.

    Returns
    -------
    laws : dict of str to Law
        Each has ``target``, ``formula`` and ``ranges``.

    See Also
    --------
    feynman : A table that obeys one of them.
    """
    text = (files("vanishing.datasets") / "feynman.csv").read_text(encoding="utf-8")
    return read_laws(text.splitlines())


def feynman(
    name: str, n_samples: int = 10_000, noise: float = 0.0, random_state: RandomState = None
) -> Bunch:
    """Return a table that obeys a formula of the Feynman lectures.

    Parameters
    ----------
    name : str
        Number of the equation, such as "I.9.18"; `feynman_laws` has them all.
    n_samples : int, default=10_000
    noise : float, default=0.0
        Standard deviation of Gaussian noise on the target, relative to its root mean square.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    table : Bunch
        ``data`` (n_samples, n_features), ``target`` (n_samples,), ``feature_names``,
        ``target_names`` (one), ``formula`` (a text) and ``noise`` (standard deviation).

    See Also
    --------
    feynman_laws : All formulas by name.
    LawFinder : Finds the formula from the table.

    References
    ----------
    R. Feynman, R. Leighton, M. Sands, "The Feynman lectures on physics". Formulas and ranges as
    chosen by S.-M. Udrescu and M. Tegmark, "AI Feynman: a physics-inspired method for symbolic
    regression", Science Advances 6 (16), 2020.

    Examples
    --------
    >>> from vanishing.datasets import feynman
    >>> table = feynman("I.14.3", n_samples=5, random_state=0)
    >>> table.formula, table.feature_names, table.data.shape
    ('m*g*z', ['m', 'g', 'z'], (5, 3))
    """
    laws = feynman_laws()
    check_choice("name", name, laws)
    check_number("n_samples", n_samples, low=1, integer=True)
    check_number("noise", noise, low=0)
    random = check_random_state(random_state)
    law = laws[name]
    data, target = law.sample(n_samples, random)
    deviation = float(noise * np.sqrt(np.mean(target**2)))
    return Bunch(
        data=data,
        target=target + deviation * random.normal(size=n_samples) if noise else target,
        feature_names=list(law.ranges),
        target_names=[law.target],
        formula=law.formula.text,
        noise=deviation,
    )
