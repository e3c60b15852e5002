"""The laws of a table as equations in its columns: values, derivatives, errors of coefficients."""

from collections.abc import Sequence

import numpy as np

from vanishing.algebra.derivatives import Differentiable
from vanishing.equations.law import Law


class LawSystem:
    """Laws, evaluated together on rows.

    Parameters
    ----------
    laws : sequence of Law
    names : sequence of str
        Of the columns of the rows. Each law is about columns of these names.
    """

    def __init__(self, laws: Sequence[Law], names: Sequence[str]):
        self.laws = list(laws)
        self.names = list(map(str, names))
        self._equations = []
        for law in self.laws:
            places = [self.names.index(name) for name in law.columns]
            own = [law.names.index(name) for name in law.columns]
            self._equations.append((Differentiable(law.total), places, own, len(law.names)))

    def __len__(self) -> int:
        return len(self.laws)

    @property
    def involved(self) -> np.ndarray:
        """Which columns occur in which laws, shape (n_laws, n_columns)."""
        involved = np.zeros((len(self), len(self.names)), dtype=bool)
        for row, (_, places, _, _) in zip(involved, self._equations, strict=True):
            row[places] = True
        return involved

    def __call__(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return values of shape (n_rows, n_laws), and derivatives by each column behind that."""
        m, n = points.shape
        values, slopes = np.zeros((m, len(self))), np.zeros((m, len(self), n))
        with np.errstate(all="ignore"):
            for k, (zero, places, own, n_names) in enumerate(self._equations):
                columns = [np.zeros(m)] * n_names
                for place, i in zip(places, own, strict=True):
                    columns[i] = points[:, place]
                value, gradient = zero.value_and_gradient(columns, own)
                values[:, k] = value
                for place, slope in zip(places, gradient, strict=True):
                    slopes[:, k, place] = slope
        return values, slopes

    def coefficient_variance(self, points: np.ndarray) -> np.ndarray:
        """Return the variance of values that errors of coefficients make, (n_rows, n_laws)."""
        variance = np.zeros((len(points), len(self)))
        for k, (law, (_, places, own, n_names)) in enumerate(
            zip(self.laws, self._equations, strict=True)
        ):
            if law.covariance is None:
                continue
            rows = np.zeros((len(points), n_names))
            rows[:, own] = points[:, places]
            terms = law.term_values(rows)
            spread = np.einsum("mi,ij,mj->m", terms, law.covariance, terms)
            variance[:, k] = np.maximum(np.nan_to_num(spread, posinf=0.0), 0.0)
        return variance
