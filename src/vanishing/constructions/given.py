"""What is given of the generators: equations that are known to hold, terms that may not occur."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vanishing._types import IntArray
from vanishing.algebra import monomials
from vanishing.algebra.consequences import leading_terms
from vanishing.algebra.parsing import parse_equation, parse_polynomial
from vanishing.algebra.polynomials import Polynomial
from vanishing.rows.reader import RowReader

_ROUNDING = 1e-9  # of an equation relative to its terms: below, it holds exactly


class Given(NamedTuple):
    """Known equations and excluded terms, in the columns of a table.

    Attributes
    ----------
    known : list of Polynomial
        Each is zero where its equation holds.
    exclude : ndarray of int of shape (n_terms, n_features)
        Exponents.
    """

    known: list[Polynomial]
    exclude: IntArray

    def barred(self, columns: IntArray, max_degree: int) -> IntArray | None:
        """Return terms whose multiples are neither in O nor leading terms; None if there are none.

        With variables in the order of the columns: the excluded ones, and the leading terms of what
        follows from the known equations, which modulo these are combinations of smaller terms.
        """
        of_known = leading_terms(self.known, columns, max_degree)
        terms = np.concatenate([of_known, self.exclude])[:, columns]
        return terms.astype(monomials.EXPONENT) if len(terms) else None

    def doubts(self, rows: RowReader, psi: float) -> list[str]:
        """Say which known equations have a mean square above psi on the rows."""
        doubts = []
        for equation in self.known:
            if equation.degree > rows.max_degree:
                continue
            coef = equation.coef / equation.leading_coef
            plan, place = monomials.plan(equation.terms)
            with np.errstate(over="ignore", invalid="ignore"):
                mse = rows.mse(plan, place[:-1], coef[np.newaxis, :-1], place[-1:])[0]
                size = np.abs(coef) @ np.sqrt(rows.products(plan, place, place)[1])
                holds = mse <= max(psi, (_ROUNDING * size) ** 2)
            if not holds:
                doubts.append(
                    f"the known equation {equation.equation()} has a mean square of {mse:.2g} on "
                    "these rows, above psi. Generators are found as if it held."
                )
        return doubts


def check_given(known, exclude) -> None:
    """Raise TypeError unless these may be known equations and excluded terms."""
    for name, values in (("known", known), ("exclude", exclude)):
        if values is None:
            continue
        if isinstance(values, str | Polynomial) or not isinstance(values, Sequence):
            raise TypeError(f"{name} must be a list of texts or polynomials; got {values!r}.")
        for value in values:
            if not isinstance(value, str | Polynomial):
                raise TypeError(f"{name} must hold texts or polynomials; it holds {value!r}.")


def given(known, exclude, names: Sequence[str]) -> Given:
    """Read known equations and excluded terms in columns that have these names."""
    names = [str(name) for name in names]
    equations = [_read(value, parse_equation, names) for value in known or ()]
    for equation, value in zip(equations, known or (), strict=True):
        if not equation.coef.any():
            raise ValueError(f"the known equation {str(value)!r} has no content: it is 0 = 0.")
    exclude = exclude or ()
    terms = np.zeros((len(exclude), len(names)), dtype=np.int64)
    for row, value in zip(terms, exclude, strict=True):
        polynomial = _read(value, parse_polynomial, names)
        used = np.flatnonzero(polynomial.coef)
        if len(used) != 1 or not polynomial.terms[used[0]].any():
            raise ValueError(
                f"exclude holds {str(value)!r}, which is not one term other than the constant: "
                "give each term by itself, such as 'x0*x1'."
            )
        row[:] = polynomial.terms[used[0]]
    return Given(equations, terms)


def _read(value: str | Polynomial, parse, names: list[str]) -> Polynomial:
    if isinstance(value, str):
        return parse(value, names)
    if value.terms.shape[1] != len(names):
        raise ValueError(
            f"the polynomial {value} is one in {value.terms.shape[1]} columns, but the rows have "
            f"{len(names)}."
        )
    order = monomials.deglex_order(value.terms)
    return Polynomial(value.terms[order], value.coef[order], feature_names=names)
