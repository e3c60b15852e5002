"""Step 3: laws with several terms in the target, as least ratios v'Gv / v'Hv.

G is the Gram matrix of terms in (w, Y), H that of their derivatives by y: v'Gv / v'Hv is the mean
square of the error in units of y, to first order.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from vanishing.algebra.terms import Evaluator, Term, monomial
from vanishing.fitting.ratios import full_ratios, least_ratio, ratio_supports
from vanishing.fitting.smooth_terms import exponents_up_to
from vanishing.fitting.variety import sparse_supports_of
from vanishing.laws import settings
from vanishing.laws.homogeneous import together
from vanishing.laws.problem import Reduced


class Implicit(NamedTuple):
    """A support of an implicit law, with first coefficients."""

    terms: tuple[Term, ...]
    coef: np.ndarray


def implicit_terms(n_values: list[int], degree: int) -> list[Term]:
    """Return the monomials in (w, Y) up to a total degree, of degree at most 2 in Y.

    A variable of few values has so many powers, and one less.
    """
    rows = exponents_up_to(len(n_values) + 1, 10_000, degree)
    return [monomial(row) for row in rows if (row < [*n_values, 3]).all()]


def implicit_supports(
    reduced: Reduced, max_degree: int, max_terms: int, progress
) -> Iterator[list[Implicit]]:
    """Yield sparse supports of implicit laws, degree by degree from the lowest that may hold.

    What reaches the noise at first may be an approximation of what a higher degree has.
    """
    reached = 0
    for degree in range(2, max_degree + 1):
        progress(f"implicit laws of degree {degree}")
        reaching: list[Implicit] | None = None  # None: even all terms leave more than the noise
        for terms in together(implicit_terms(reduced.n_values, degree), reduced.dimensions):
            if not any(term.involves(reduced.n_variables) for term in terms):
                continue
            if len(terms) > settings.EXACT_TERMS:
                return
            rows = _rows(reduced, terms)
            null = NullSpace.of(rows.values, reduced.table.exact)
            exact = () if null is None else null.sparse(max_terms)
            vanishing = (Implicit(tuple(terms[i] for i in part), coef) for part, coef in exact)
            law = next((law for law in vanishing if _has_single_roots(law, reduced)), None)
            if law is not None:
                yield [law]
                return
            # More terms than a quarter of the rows would explain anything.
            if (
                len(terms) > min(settings.IMPLICIT_TERMS, reduced.table.n_rows // 4)
                or reached == settings.IMPLICIT_DEGREES
            ):
                continue
            gram, slope = _matrices(rows)
            if not (np.isfinite(gram).all() and np.isfinite(slope).all() and gram.diagonal().all()):
                return
            # The smallest ratio over all terms: no support of this degree has a smaller one.
            if full_ratios(gram, slope)[0] <= settings.IMPLICIT_SLACK * reduced.noise:
                reaching = reaching or []
                reaching += _search(reduced, gram, slope, terms, max_terms, progress)
        if reaching is not None:
            yield reaching
            reached += 1


def _has_single_roots(law: Implicit, reduced: Reduced) -> bool:
    """Say whether a law says where Y is: the square of one with errors of 1e-7 vanishes, too."""
    evaluator = Evaluator(np.vstack([reduced.w, reduced.Y]))
    slopes = evaluator.derivatives(law.terms, reduced.n_variables) * law.coef[:, None]
    with np.errstate(all="ignore"):
        share = np.abs(slopes.sum(axis=0)) / np.abs(slopes).sum(axis=0)
    share = share[np.isfinite(share)]
    return bool(share.size and np.median(share) > settings.DOUBLE_ROOT)


class _TermRows(NamedTuple):
    values: np.ndarray
    slopes: np.ndarray


def _rows(reduced: Reduced, terms) -> _TermRows:
    """Return values and y-derivatives of terms; rows are divided by their typical gradient."""
    evaluator = Evaluator(np.vstack([reduced.w, reduced.Y]))
    values = evaluator.values(terms)
    with_y = [i for i, term in enumerate(terms) if term.involves(reduced.n_variables)]
    slopes = np.zeros_like(values)
    smooth = Evaluator(np.vstack([reduced.w, reduced.smooth]))
    n = reduced.n_variables
    for i in with_y:
        slopes[i] = smooth.derivative(terms[i], n) / reduced.factor
    scale = np.sqrt(np.mean(values**2, axis=1))
    typical = np.sqrt(np.mean((slopes[with_y] / scale[with_y, None]) ** 2, axis=0))
    pull = reduced.root / typical
    return _TermRows(values * pull, slopes * pull)


def _matrices(rows: _TermRows):
    n_rows = rows.values.shape[1]
    return rows.values @ rows.values.T / n_rows, rows.slopes @ rows.slopes.T / n_rows


class NullSpace(NamedTuple):
    """Combinations of terms that vanish up to rounding, on some rows.

    Attributes
    ----------
    matrix : array of shape (n_rows, n_terms)
        Values, divided by the size of each term.
    scale : array of shape (n_terms,)
        These sizes.
    vectors : array of shape (n_combinations, n_terms)
    tolerance : float
        Relative singular value that is rounding.
    """

    matrix: np.ndarray
    scale: np.ndarray
    vectors: np.ndarray
    tolerance: float

    @classmethod
    def of(cls, values: np.ndarray, tolerance: float) -> "NullSpace | None":
        """Return it for values of shape (n_terms, n_rows); None where a term is 0 or overflows."""
        matrix = values[:, : 2 * len(values) + 100].T
        with np.errstate(over="ignore"):
            scale = np.sqrt(np.mean(matrix**2, axis=0))
        if not (np.isfinite(scale).all() and scale.all()):
            return None
        _, singular, vectors = np.linalg.svd(matrix / scale, full_matrices=False)
        null = vectors[singular < tolerance * singular[0]]
        return cls(matrix / scale, scale, null, tolerance)

    def sparse(self, max_terms: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the places and coefficients of few terms that vanish, none of which is small."""
        for part in sparse_supports_of(self.vectors, max_terms)[: settings.CHECKED]:
            _, singular, few = np.linalg.svd(self.matrix[:, part], full_matrices=False)
            if singular[-1] < self.tolerance * singular[0] and (np.abs(few[-1]) > 1e-8).all():
                yield part, few[-1] / self.scale[part]


def _search(reduced, gram, slope, terms, max_terms, progress) -> list[Implicit]:
    """Return the best supports of each size whose ratio is close to the noise."""
    exponents = np.array([term.exponents for term in terms])
    scale = np.sqrt(gram.diagonal())
    gram, slope = gram / scale / scale[:, None], slope / scale / scale[:, None]
    limit = settings.SUPPORT_SLACK * reduced.noise
    supports = ratio_supports(gram, slope, limit, max_terms, progress)
    proper = [item for item in supports if _is_proper(exponents[list(item[0])])]
    proper.sort(key=lambda item: (len(item[0]), item[1]))
    taken: dict[int, int] = {}
    best = []
    for support, _ in proper:
        taken[len(support)] = taken.get(len(support), 0) + 1
        if taken[len(support)] <= settings.SUPPORTS_PER_SIZE:
            places = list(support)
            vector = least_ratio(gram, slope, places)[1] / scale[places]
            best.append(Implicit(tuple(terms[i] for i in places), vector))
    return best


def _is_proper(exponents: np.ndarray) -> bool:
    """Say whether terms have no common factor, and Y in some but not in all."""
    return bool(not exponents.min(axis=0).any() and exponents[:, -1].any())
