"""A reader that remembers moments: constructions with another psi ask for the same ones again."""

from threading import Lock

import numpy as np

from vanishing.algebra.monomials import Plan, terms_of
from vanishing.rows.reader import RowReader

_MOST_TERMS = 3000  # so many at most have their products remembered: 72 MB
_FEW_ROWS = 4096  # below so many, multiplying again is faster than looking up


def remembering(rows: RowReader) -> RowReader:
    """Return a reader of the same rows that remembers moments, if there are many rows."""
    return rows if rows.n_samples < _FEW_ROWS else RememberedReader(rows)


class RememberedReader(RowReader):
    """A reader that keeps the moments it was asked for.

    Everything else is asked of the rows. Moments of terms are kept once, whatever the plan that
    evaluates them: two plans give moments that differ by rounding.

    Parameters
    ----------
    rows : RowReader
    """

    def __init__(self, rows: RowReader):
        self.rows = rows
        self.n_features = rows.n_features
        self.max_degree = rows.max_degree
        self.sees_rows = rows.sees_rows
        self.places: dict[bytes, int] = {}  # of terms in the table
        self.table = np.full((64, 64), np.nan)  # moments of pairs of terms; NaN: not known
        self.squares = np.full(64, np.nan)
        self.lock = Lock()  # threads that wait need the same moments
        self._count()

    def _count(self) -> None:
        # The rows of a source are counted in the first pass.
        self.n_samples = self.rows.n_samples
        self.total_weight = getattr(self.rows, "total_weight", np.nan)

    def ask(self, question, *details):
        """Ask the rows."""
        answer = self.rows.ask(question, *details)
        self._count()
        return answer

    def sample(self):
        """Return some rows, if they are in memory."""
        return self.rows.sample()

    def fold(self, *arguments, **options):
        """Return `ArrayReader.fold` of the rows."""
        return self.rows.fold(*arguments, **options)  # type: ignore[attr-defined]

    def products(self, plan: Plan, left, right):
        """Return the moments mean(t u) for t in ``left`` and u in ``right``, and mean(u^2)."""
        with self.lock:
            answer = self._products(plan, left, right)
            self._count()
            return answer

    def _products(self, plan: Plan, left, right):
        index = np.arange(plan.parent.size)
        left_terms, right_terms = index[left], index[right]
        exponents = terms_of(plan, self.n_features)
        rows, columns = (self._places(exponents[terms]) for terms in (left_terms, right_terms))
        if rows is None or columns is None:
            return self.rows.products(plan, left, right)
        products = self.table[np.ix_(rows, columns)]
        unknown = np.isnan(self.squares[columns]) | np.isnan(products).any(axis=0)
        if unknown.any():
            asked = right if unknown.all() else right_terms[unknown]
            moments, squares = self.rows.products(plan, left, asked)
            new = columns[unknown]
            self.table[np.ix_(rows, new)] = moments
            self.table[np.ix_(new, rows)] = moments.T
            self.squares[new] = squares
            products[:, unknown] = moments
        return products, self.squares[columns]

    def _places(self, exponents: np.ndarray) -> np.ndarray | None:
        """Return the places of terms in the table, new ones for new terms; None: it is full."""
        names = [row.tobytes() for row in exponents]
        new = [name for name in names if name not in self.places]
        if len(self.places) + len(new) > _MOST_TERMS:
            return None
        for name in new:
            self.places.setdefault(name, len(self.places))
        while len(self.places) > len(self.table):
            size = len(self.table)
            table = np.full((2 * size, 2 * size), np.nan)
            table[:size, :size] = self.table
            self.table = table
            self.squares = np.append(self.squares, np.full(size, np.nan))
        return np.array([self.places[name] for name in names], dtype=np.intp)
