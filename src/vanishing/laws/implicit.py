"""Step 3: laws with several terms in the target, as least ratios v'Gv / v'Hv.

G is the Gram matrix of terms in (w, Y), H that of their derivatives by y: v'Gv / v'Hv is the mean
square of the error in units of y, to first order.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from vanishing.algebra.terms import Evaluator, Term, monomial
from vanishing.fitting.ratios import full_ratios, least_ratio, ratio_supports
from vanishing.fitting.smooth_terms import exponents_up_to
from vanishing.fitting.variety import sparse_supports_of
from vanishing.laws import settings
from vanishing.laws.dictionary import Stage, family_terms
from vanishing.laws.homogeneous import together
from vanishing.laws.links import lifted, usable_terms
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
            law = _exact_law(reduced, rows, terms, max_terms)
            if law is not None:
                yield [law]
                return
            if _are_too_many(terms, reduced) or reached == settings.IMPLICIT_DEGREES:
                continue
            gram, slope = _matrices(rows)
            if not (np.isfinite(gram).all() and np.isfinite(slope).all() and gram.diagonal().all()):
                return
            # The smallest ratio over all terms: no support of this degree has a smaller one.
            least = full_ratios(gram, slope)[0]
            if least <= settings.IMPLICIT_SLACK * reduced.noise and reduced.may_hold(least):
                reaching = reaching or []
                reaching += _search(reduced, gram, slope, terms, max_terms, progress)
        if reaching is not None:
            yield reaching
            reached += 1


def function_supports(
    reduced: Reduced, family: Sequence[Stage], max_terms: int, progress
) -> list[Implicit]:
    """Return sparse supports of laws Y A(w) = B(w) with functions of a family in A and B.

    Few terms, which are far from dependent, are tried before many; more than reach the noise would
    approximate.
    """
    supports: list[Implicit] = []
    known, has_noise = 0, reduced.noise > settings.NO_NOISE * reduced.table.norm
    # Where nothing smooth explains half of the target, many terms reach what is left, and say less.
    is_known = reduced.may_hold(reduced.noise)
    for most in settings.FAMILY_TERMS:
        of_w = family_terms(family, reduced.variables, min(most, reduced.table.n_rows) // 2)
        if len(of_w) == known:
            break
        known = len(of_w)
        every = usable_terms(reduced, [lifted(term, p) for p in (0.0, 1.0) for term in of_w])
        for terms in together(every, reduced.dimensions):
            progress()
            if not any(term.involves(reduced.n_variables) for term in terms):
                continue
            rows = _rows(reduced, terms)
            law = _exact_law(reduced, rows, terms, max_terms)
            if law is not None:
                return [law]
            if _are_too_many(terms, reduced) or not is_known:
                continue
            gram, slope = _matrices(rows)
            if not (np.isfinite(gram).all() and np.isfinite(slope).all() and gram.diagonal().all()):
                continue
            if full_ratios(gram, slope)[0] <= settings.IMPLICIT_SLACK * reduced.noise:
                supports += _search(reduced, gram, slope, terms, max_terms, progress)
        if supports and has_noise and most >= settings.ENOUGH_TERMS:
            break
    return supports


def _exact_law(reduced: Reduced, rows: "_TermRows", terms, max_terms: int) -> Implicit | None:
    """Return a combination of few terms that vanishes up to rounding, and says where Y is."""
    null = NullSpace.of(rows.values, reduced.table.exact)
    # Where half of all combinations vanish, terms cannot be told apart: columns are far from zero.
    are_told = null is not None and len(null.vectors) <= len(terms) / 2
    exact = null.sparse(max_terms) if null is not None and are_told else ()
    vanishing = (Implicit(tuple(terms[i] for i in part), coef) for part, coef in exact)
    return next((law for law in vanishing if _has_single_roots(law, reduced)), None)


def _are_too_many(terms, reduced: Reduced) -> bool:
    """Say whether terms are more than a quarter of the rows: they would explain anything."""
    return len(terms) > min(settings.IMPLICIT_TERMS, reduced.table.n_rows // 4)


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
    scale = np.sqrt(gram.diagonal())
    gram, slope = gram / scale / scale[:, None], slope / scale / scale[:, None]
    limit = settings.SUPPORT_SLACK * reduced.noise
    supports = ratio_supports(gram, slope, limit, max_terms, progress)
    supports.sort(key=lambda item: (len(item[0]), item[1]))
    taken: dict[int, int] = {}
    best = []
    for places, _ in supports:
        count = taken.get(len(places), 0)
        if count < settings.SUPPORTS_PER_SIZE and _is_proper([terms[i] for i in places]):
            taken[len(places)] = count + 1
            vector = least_ratio(gram, slope, places)[1] / scale[list(places)]
            best.append(Implicit(tuple(terms[i] for i in places), vector))
    return best


def _is_proper(terms: Sequence[Term]) -> bool:
    """Say whether terms have no common factor, and Y in some but not in all."""
    exponents = np.array([term.exponents for term in terms])
    shared = frozenset.intersection(*(frozenset(term.factors) for term in terms))
    return bool(not shared and not exponents.min(axis=0).any() and exponents[:, -1].any())
