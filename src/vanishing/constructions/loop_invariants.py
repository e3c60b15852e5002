"""Polynomials that stay zero while a loop of a program runs, from traces of its variables."""

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from vanishing._types import Table
from vanishing.algebra import monomials
from vanishing.algebra.exact import ExactPolynomial
from vanishing.algebra.modular import PRIME, Echelon, monomial_residues, rank, residues
from vanishing.checks import check_number
from vanishing.constructions.exact import BuchbergerMoller
from vanishing.rows.intake import refuse

# Largest degree that is tried where none is given, and most monomials at a time: exact numbers get
# long, and 130 monomials of traces take half a second.
_DEGREE, _MONOMIALS = 6, 130
_MORE = 20  # rows of a sample beyond its monomials, and rows that are added when one refutes
_CONFIRMING = 3  # fewest rows beyond the monomials
_LEFT_OUT = 4  # one value of a variable, or row, in so many is left out to see what it confirms
_SHORT = 5  # terms up to which a polynomial is short
_FEW_LEVELS = 5  # values of a variable: with fewer, those left out have to determine it as well
_CONSEQUENCE = 800  # monomials up to which consequences are looked for in one degree more
_EXACT = 2.0**53  # beyond it a float may stand for its neighbours


def loop_invariants(table: Table, max_degree: int | None = None) -> list[ExactPolynomial]:
    """Find polynomial equations that the variables of a loop keep, from traces.

    A trace is a table: the values of the variables each time the loop begins, for several inputs.
    The polynomials that vanish at all rows are computed exactly, over whole numbers. One is an
    invariant only if less of the traces determines it, and the rest confirms it: for each variable,
    the rows without the largest quarter of its values. Polynomials that merely go through the
    points at hand, or through few inputs, fail this.

    Parameters
    ----------
    table : array-like of shape (n_rows, n_variables), or frame
        Whole numbers, of any size as integers; also stored as floats. Variables that are the same
        in all rows are left out.
    max_degree : int, default=None
        Largest degree of an invariant. By default up to 6, while rows suffice and there are at
        most 130 monomials at a time.

    Returns
    -------
    invariants : list of ExactPolynomial
        With whole coefficients without a common factor, the simplest first; others follow from
        these. Each can be called on rows.

    See Also
    --------
    BuchbergerMoller : All polynomials that vanish at exact points.
    ConservedQuantities : What stays the same along runs, from measured rows.

    Examples
    --------
    Division with remainder by subtraction: x = q y + r.

    >>> from vanishing import loop_invariants
    >>> def trace(x, y):
    ...     q, r = 0, x
    ...     while r >= y:
    ...         yield x, y, q, r
    ...         q, r = q + 1, r - y
    ...     yield x, y, q, r
    >>> rows = [row for x in range(20, 40, 3) for y in range(2, 9) for row in trace(x, y)]
    >>> for invariant in loop_invariants(rows):
    ...     print(invariant, "= 0")
    x1*x2 + x3 - x0 = 0
    """
    if max_degree is not None:
        check_number("max_degree", max_degree, low=1, integer=True)
    refuse(loop_invariants, table)
    names, points = _whole_numbers(table)
    varying = [j for j in range(points.shape[1]) if len(set(points[:, j])) > 1]
    if not varying:
        return []
    points = np.array(list(dict.fromkeys(map(tuple, points[:, varying].tolist()))), dtype=object)
    trace = _Trace(points)
    generators = trace.generators(max_degree)
    found = [g for g in generators if trace.determines(g) and trace.holds(g)]
    return [_widened(g, varying, names) for g in _without_consequences(found)]


def _whole_numbers(table) -> tuple[list[str], np.ndarray]:
    """Return names and an array of Python's integers."""
    values = np.asarray(table)
    headings = list(getattr(table, "columns", ()))
    if values.ndim != 2 or not values.size:
        raise ValueError(
            "a trace is a table with one row per pass of the loop and one column per variable; "
            f"its shape is {values.shape}."
        )
    names = [str(h) for h in headings] or [f"x{j}" for j in range(values.shape[1])]
    if values.dtype.kind in "biu":
        return names, values.astype(object) + 0
    points = np.empty(values.shape, dtype=object)
    for place, value in np.ndenumerate(values):
        whole = _whole(value)
        if whole is None:
            raise ValueError(
                f"column {names[place[1]]!r} has {value!r} in row {place[0]}: variables of a trace "
                "are whole numbers (floats up to 2**53). Multiply fractions by their denominator."
            )
        points[place] = whole
    return names, points


def _whole(value) -> int | None:
    if isinstance(value, str) or value is None:
        return None
    try:
        whole = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    is_float = isinstance(value, (float, np.floating))
    return whole if whole == value and not (is_float and abs(value) > _EXACT) else None


class _Trace:
    """Different rows of traces, small ones first, exact and modulo a prime."""

    def __init__(self, points: np.ndarray):
        rows = sorted(map(tuple, points.tolist()), key=lambda row: (max(map(abs, row)), row))
        self.points = np.array(rows, dtype=object)
        self.residues = residues(self.points)

    def generators(self, max_degree: int | None) -> list[ExactPolynomial]:
        """Return the reduced Groebner basis of all rows, up to a degree that they have room for."""
        n_points, n = self.points.shape
        terms = np.zeros((1, n), dtype=monomials.EXPONENT)
        found: list[ExactPolynomial] = []
        sample = np.zeros(n_points, dtype=bool)
        for degree in range(1, (max_degree or _DEGREE) + 1):
            new = monomials.border(terms[terms.sum(axis=1) == degree - 1], "gb").terms
            count = len(terms) + len(new)
            if not len(new) or count > n_points - _CONFIRMING:
                break
            if max_degree is None and count > _MONOMIALS:
                break
            model = self._fitted(degree, count, sample)
            found, terms = model.generators_, model.terms_.astype(monomials.EXPONENT)
        return found

    def _fitted(self, degree: int, count: int, sample: np.ndarray) -> BuchbergerMoller:
        """Fit to some rows, and to more of them until no row refutes a generator."""
        # Small numbers are fast, and rows from everywhere refute early.
        sample[: min(len(sample), count)] = True
        sample[np.linspace(0, len(sample) - 1, count + _MORE).astype(int)] = True
        while True:
            model = BuchbergerMoller(max_degree=degree).fit(self.points[sample])
            refuting = np.zeros(len(sample), dtype=bool)
            for generator in model.generators_:
                refuting |= self._is_off(generator)
            if not refuting.any():
                return model
            sample[np.flatnonzero(refuting)[:: max(1, int(refuting.sum()) // _MORE)]] = True

    def _is_off(self, generator: ExactPolynomial) -> np.ndarray:
        """Say at which rows a generator is not zero modulo the prime: there it is not zero."""
        coef = residues(np.array(_whole_coefficients(generator), dtype=object))
        values = monomial_residues(self.residues, generator.terms) * coef % PRIME
        return values.sum(axis=1) % PRIME != 0

    def holds(self, generator: ExactPolynomial) -> bool:
        """Say whether a generator is zero at all rows."""
        total: np.ndarray | int = 0
        pairs = zip(generator.terms.tolist(), _whole_coefficients(generator), strict=True)
        for term, coef in pairs:
            value = np.full(len(self.points), coef, dtype=object)
            for j, exponent in enumerate(term):
                if exponent:
                    value = value * self.points[:, j] ** exponent
            total = total + value
        return not np.any(total)

    def determines(self, generator: ExactPolynomial) -> bool:
        """Say whether some of the rows determine a generator, and the others confirm it.

        For each variable, whether the generator has it or not, the rows without its largest values
        have to determine the generator among all polynomials with its terms. A product of
        equations, one per input, vanishes at all rows, too, but fewer inputs do not determine it.
        """
        values = monomial_residues(self.residues, generator.terms)
        n_terms = len(generator.terms)
        n_points, n = self.points.shape
        # Long polynomials are many: rows that leave few of all monomials' combinations are needed.
        is_long = n_terms > _SHORT
        if is_long and n_points < 2 * math.comb(n + generator.degree, generator.degree):
            return False
        if _n_different(values) < n_terms * (n_terms - 1) // 2:
            return False
        for kept, n_levels in self.shortened:
            n_confirming = _n_different(values[~kept])
            if n_confirming < (n_terms if n_levels < _FEW_LEVELS else n_terms > 3):
                return False
            if rank(values[kept]) < n_terms - 1:
                return False
        # Where one row is off, a product with what is zero there vanishes.
        part = np.arange(n_points) % _LEFT_OUT
        return all(rank(values[part != i]) == n_terms - 1 for i in range(_LEFT_OUT))

    @cached_property
    def shortened(self) -> list[tuple[np.ndarray, int]]:
        """For each variable, the rows without its largest values, and how many values it has."""
        found = []
        for column in self.points.T.tolist():
            levels = sorted(set(column), key=lambda value: (abs(value), value))
            low = set(levels[: len(levels) - max(1, len(levels) // _LEFT_OUT)])
            found.append((np.array([value in low for value in column], dtype=bool), len(levels)))
        return found


def _n_different(values: np.ndarray) -> int:
    """Return how many different rows there are in which a sum is not zero for want of terms."""
    return len(np.unique(values[np.count_nonzero(values, axis=1) > 1], axis=0))


def _whole_coefficients(generator: ExactPolynomial) -> list[int]:
    """Return the coefficients as whole numbers without a common factor."""
    denominator = math.lcm(*(value.denominator for value in generator.coef))
    coef = [int(value * denominator) for value in generator.coef]
    factor = math.gcd(*coef)
    return [value // factor for value in coef]


def _widened(generator: ExactPolynomial, varying: list[int], names: list[str]) -> ExactPolynomial:
    """Return a generator with whole coefficients, in all variables."""
    terms = np.zeros((len(generator.terms), len(names)), dtype=np.int64)
    terms[:, varying] = generator.terms
    return ExactPolynomial(terms, _whole_coefficients(generator), feature_names=names)


def _complexity(generator: ExactPolynomial) -> tuple:
    size = sum(abs(value).bit_length() for value in _whole_coefficients(generator))
    return generator.degree, len(generator.terms), size


def _without_consequences(generators: Sequence[ExactPolynomial]) -> list[ExactPolynomial]:
    """Leave out polynomials that are combinations of simpler ones, in one degree more at most."""
    kept: list[ExactPolynomial] = []
    for generator in sorted(generators, key=_complexity):
        if not _is_consequence(generator, kept):
            kept.append(generator)
    return kept


def _is_consequence(generator: ExactPolynomial, others: Sequence[ExactPolynomial]) -> bool:
    n = generator.terms.shape[1]
    degree = generator.degree + 1
    if math.comb(n + degree, n) > _CONSEQUENCE:
        degree -= 1
    plan = monomials.plan_up_to(n, degree)
    terms = monomials.terms_of(plan, n)
    places = {tuple(term): place for place, term in enumerate(terms.tolist())}
    rows = []
    for other in others:
        coef = residues(np.array(_whole_coefficients(other), dtype=object))
        for factor in terms[terms.sum(axis=1) <= degree - other.degree]:
            row = np.zeros(len(terms), dtype=np.int64)
            row[[places[tuple(term)] for term in (other.terms + factor).tolist()]] = coef
            rows.append(row)
    if not rows:
        return False
    echelon = Echelon(len(terms))
    echelon.add(np.array(rows))
    row = np.zeros((1, len(terms)), dtype=np.int64)
    coef = residues(np.array(_whole_coefficients(generator), dtype=object))
    row[0, [places[tuple(term)] for term in generator.terms.tolist()]] = coef
    return not echelon.reduced(row).any()
