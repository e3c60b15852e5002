"""The bounds that hold for a fitted model: one, and all of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """A bound that holds for a fitted model.

    Parameters
    ----------
    name : str
        Which bound: "Lipschitz", "size", "vanishing", "margin", ..., after the class if any.
    value : float
        The bound; nan where it needs the number of rows, and no rows were given.
    statement : str
        What is bounded, and the numbers that went into it.
    informative : bool
        Whether it says more, of every generator, than what holds without it; vacuous if not.
    samples_needed : int or None
        Number of rows from which on it would be informative, all else equal. None if it does not
        depend on the number of rows, or if no number would do.
    conditions : tuple of str
        What must be true, and is not known to `of`.

    See Also
    --------
    Report : All bounds of a model.
    """

    name: str
    value: float
    statement: str
    informative: bool
    samples_needed: int | None = None
    conditions: tuple[str, ...] = ()

    def __str__(self) -> str:
        verdict = "informative" if self.informative else "vacuous"
        if math.isnan(self.value):
            verdict = "not evaluated without the rows"
        if self.samples_needed is not None and not self.informative:
            verdict += f"; informative from {self.samples_needed:,} rows on"
        return f"{self.name}: {verdict}\n  {self.statement}"


@dataclass(frozen=True, repr=False)
class Report(Sequence):
    """The bounds that hold for a fitted model: a sequence, also indexed by name.

    Parameters
    ----------
    bounds : tuple of Bound
    delta : float
        Probability with which each of those that chance may break fails.

    See Also
    --------
    of : The bounds of a fitted model.
    Bound : One of them.
    """

    bounds: tuple[Bound, ...]
    delta: float

    def __len__(self) -> int:
        return len(self.bounds)

    def __getitem__(self, index):
        if not isinstance(index, str):
            return self.bounds[index]
        for bound in self.bounds:
            if bound.name == index:
                return bound
        raise KeyError(f"{index!r} is none of {[bound.name for bound in self.bounds]}")

    def __str__(self) -> str:
        """Write each bound with its verdict, and the conditions of all once, at the end."""
        if not self.bounds:
            return "There are no generators, and nothing to bound."
        lines = [str(bound) for bound in self.bounds]
        lines.append(f"Each bound on E or P fails with probability at most {self.delta}.")
        conditions = dict.fromkeys(c for bound in self.bounds for c in bound.conditions)
        if conditions:
            lines.append("Provided that")
            lines += [f"  - {condition}" for condition in conditions]
        return "\n".join(lines)

    __repr__ = __str__
