"""What an oracle is, and what it returns."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from vanishing._types import FloatArray


class Status(IntEnum):
    """Why an oracle stopped.

    See Also
    --------
    Solution : What has one.
    """

    FOUND = 0  # mse <= psi: the coefficients of a generator
    NONE_EXISTS = 1  # mse - gap > psi: proof that the ball holds no generator
    ACCURATE = 2  # the optimum, to the accuracy asked for
    STALLED = 3  # the last step made less progress than asked for, or none was possible
    OUT_OF_ITERATIONS = 4


class Solution(NamedTuple):
    """Coefficients and how good they are; ``gap`` is NaN where the method has no bound.

    See Also
    --------
    Oracle : What returns it.
    Status : How a run ended.
    """

    coef: FloatArray
    mse: float
    gap: float
    n_iter: int
    status: Status


@dataclass(frozen=True)
class Oracle:
    """A solver, which is called as such, and what it solves.

    ``solve(gram, cross, norm, *, psi, radius, eps, tol, max_iter)`` returns a `Solution`.

    See Also
    --------
    custom : An oracle of your own.
    named : An oracle by its name.
    """

    solve: Callable[..., Solution]
    constrained: bool  # coefficients stay in the ball (CCOP), or the radius plays no part (COP)
    euclidean: bool = False  # with ``region="l2"`` it is that of the l2-norm, not of the l1-norm
    closed_form: bool = False  # least squares at once, or step by step until psi is reached
    refitted: bool = False  # coefficients are least squares on the terms that they use
    refits: bool = False  # they are so with ``refit=True``, and it stops as soon as these reach psi
    to_the_letter: Callable[..., Solution] | None = None  # the published solver, if it is another

    def __call__(
        self, gram: FloatArray, cross: FloatArray, norm: float, **options: float
    ) -> Solution:
        """Call the solver."""
        return self.solve(gram, cross, norm, **options)
