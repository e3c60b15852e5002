"""The front of a search as a table: one row per equation that was compared."""

from collections.abc import Sequence

import numpy as np

from vanishing.equations.law import Law

_MEASURED = ("n_terms", "degree", "error", "relative_error", "held_out_error", "evidence")
FRONT_COLUMNS = (*_MEASURED, "n_samples", "equation", "chosen")


def front_rows(front: Sequence[Law], laws: Sequence[Law]) -> list[dict]:
    """Return what is known of each equation of a front, the shortest first.

    Parameters
    ----------
    front : sequence of Law
        The best equation of each number of terms.
    laws : sequence of Law
        Those that hold.
    """
    return [
        {
            **{name: getattr(law, name) for name in _MEASURED},
            "n_samples": law.n_samples,
            "equation": str(law),
            "chosen": any(_is_same(law, other) for other in laws),
        }
        for law in sorted(front, key=lambda law: law.n_terms)
    ]


def _is_same(law: Law, other: Law) -> bool:
    return law.terms == other.terms and np.array_equal(law.coef, other.coef)
