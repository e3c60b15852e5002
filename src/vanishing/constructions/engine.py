"""Algorithm 2 without the oracle: borders, O and G as they grow, and what to keep of them.

A construction goes through the borders degree by degree. Which terms of a border join O and which
lead a generator is decided by the algorithm: `OAVI`, `ABM`, `AVI`.
"""

import math
import time
from typing import NamedTuple

import numpy as np
from numba import njit
from sklearn import get_config

from vanishing.algebra import monomials
from vanishing.algebra.monomials import CONSTANT_PLAN, Border, Plan
from vanishing.checks import too_large
from vanishing.constructions.certificate import DEPENDENT, EPS, Factor, OrthogonalTail
from vanishing.constructions.small_columns import varies_little
from vanishing.estimators.fits import Remarks
from vanishing.estimators.progress import Progress
from vanishing.rows.reader import Measured, RowReader

# A border is settled in one pass over the rows if the products among all of its terms cost less
# than evaluating everything again for those that turn out to be needed: if it is small, or if
# there are so few rows that starting a pass costs more than the products.
_SMALL_BORDER = 24
_SMALL_PRODUCTS = 1 << 21
LARGEST_SLAB = 1024  # border terms to settle together where all products among them are needed


def remarks_on(name, psi, n_generators: int, stopped: str | None, shortfall=None) -> Remarks:
    """Return the remarks on a construction: why it stopped early, and what it lacks."""
    problems = [] if shortfall is None else [shortfall]
    if stopped is not None:
        problems.insert(
            0,
            f"the construction stopped early: {stopped}. The generators found until then are "
            "valid.",
        )
    nothing = None
    if not n_generators:
        nothing = (
            f"nothing vanishes, no generator with mse <= {psi} was found, and transform will "
            "return no columns. Take a larger psi or max_degree, or scale the data."
        )
    return Remarks(name, tuple(problems), nothing)


class Slab(NamedTuple):
    """Border terms that are settled together, and their moments."""

    border: Border  # parents index O
    cross: np.ndarray  # (k, b): moments with O
    norm: np.ndarray  # (b,): their own
    inner: np.ndarray  # (b, s): moments of border terms with open terms
    open: np.ndarray  # (s,): the border terms that may join O, and others
    sure: np.ndarray  # (s,): which of these are the others: they lead generators

    def of_open(self, values: np.ndarray) -> np.ndarray:
        """Return the values of the open terms, from those of all border terms."""
        return values if self.open.size == self.norm.size else values[self.open]

    def leaders(self, joined: np.ndarray, others: list[int], end: int):
        """Return the border terms before ``end`` that are left to lead generators.

        These have not joined O and are none of the others. Also their moments with O and all that
        joined it, one row per term, and how many of those terms precede each of them.
        """
        apart = np.array(others, dtype=np.intp)
        return _leaders(self.cross, self.inner, self.open, joined, apart, end)

    def cross_over(self, joined, j: int) -> np.ndarray:
        """Return the moments of border term j with O and the open terms that joined it."""
        return np.concatenate([self.cross[:, j], self.inner[j, joined]])

    def plan_over(self, plan: Plan, joined, terms) -> Plan:
        """Plan the evaluation of O, the open terms that joined it, and further border terms."""
        chosen = np.concatenate([self.open[joined], terms])
        return plan.extended(self.border.parent[chosen], self.border.variable[chosen])


@njit(cache=True, nogil=True)
def _grow(gram, cross, inner, norm, open_terms, joined, first):
    """Write the moments of terms that joined, with O and among each other, into the Gram matrix."""
    k = cross.shape[0]
    for p in range(first, joined.size):
        j = open_terms[joined[p]]
        for t in range(k):
            gram[k + p, t] = gram[t, k + p] = cross[t, j]
        for q in range(p):
            gram[k + p, k + q] = gram[k + q, k + p] = inner[j, joined[q]]
        gram[k + p, k + p] = norm[j]


@njit(cache=True, nogil=True)
def _leaders(cross, inner, open_terms, joined, others, end):
    k = cross.shape[0]
    leads = np.ones(end, dtype=np.bool_)
    for i in joined:
        leads[open_terms[i]] = False
    for j in others:
        leads[j] = False
    leaders = np.empty(end, dtype=np.intp)
    size = 0
    for j in range(end):
        if leads[j]:
            leaders[size] = j
            size += 1
    leaders = leaders[:size]
    rows = np.empty((leaders.size, k + joined.size))
    sizes = np.empty(leaders.size, dtype=np.intp)
    for i in range(leaders.size):
        j = leaders[i]
        sizes[i] = k
        for t in range(k):
            rows[i, t] = cross[t, j]
        for q in range(joined.size):
            rows[i, k + q] = inner[j, joined[q]]
            sizes[i] += open_terms[joined[q]] < j
    return leaders, rows, sizes


@njit(cache=True, nogil=True)
def _round(coef, norm, rms):
    """Set to zero what is rounding, in each row."""
    for j in range(coef.shape[0]):
        scale = np.sqrt(norm[j])
        for t in range(rms.size):
            scale += rms[t] * abs(coef[j, t])
        for t in range(rms.size):
            if rms[t] * abs(coef[j, t]) <= 10.0 * EPS * scale:
                coef[j, t] = 0.0


def stacked(generators: dict[int, np.ndarray], size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the border terms that lead generators, in order, and their coefficients as rows."""
    leaders = sorted(generators)
    coef = np.zeros((len(leaders), size))
    for row, j in zip(coef, leaders, strict=True):
        row[: len(generators[j])] = generators[j]
    return np.array(leaders, dtype=np.intp), coef


class MonomialConstruction:
    """One run of a monomial algorithm: O and G as they grow.

    O is kept as exponents, an evaluation plan and the Gram matrix of its moments, in the order in
    which terms were handled, which is DegLex. Subclasses implement `settle`.
    """

    name = "MonomialConstruction"
    unit_norm = False  # leading coefficients are 1, or coefficients have l2-norm 1
    max_slab: float = np.inf  # border terms to settle together at most
    n_iter: int | None = None  # steps of an oracle, where there is one
    barred: np.ndarray | None = None  # terms whose multiples no border has
    doubts: tuple[str, ...] = ()  # about what was given

    def __init__(self, options, rows: RowReader, columns: np.ndarray):
        self.rows = rows
        self.columns = columns
        self.psi = float(options.psi)
        self.border_kind = options.border
        self.max_degree = min(options.max_degree, monomials.MAX_DEGREE, rows.max_degree)
        self.max_terms = options.max_terms
        self.progress = Progress(self.name, options.verbose)
        self.memory = get_config()["working_memory"] * 2**20
        self.terms = np.zeros((1, len(columns)), dtype=monomials.EXPONENT)
        self.plan = CONSTANT_PLAN
        self.gram = np.empty((16, 16))  # capacity; the leading |O| x |O| block counts
        self.gram[0, 0] = 1.0
        nothing = np.zeros(0, dtype=np.intp)
        self.leading = [Border(self.terms[:0], nothing, nothing)]
        self.sizes = [nothing]  # of O when the generators were found
        self.coef: list[np.ndarray] = []  # rows of them: on O as it was after their slab
        self.leads: list[float] = []  # leading coefficients, if they are not those of `unit_norm`
        self.n_generators = 0
        self.n_short = 0  # terms that vanish, but not with coefficients that may be used
        self.stopped: str | None = None  # why the construction ended early
        self.small: list[int] = []  # columns that vary less than psi
        self.complete = False  # whether the border was empty at the end
        self.measured = Measured(np.zeros(0))  # by the last pass over the rows

    def leading_coef(self, coef: np.ndarray):
        """Return the leading coefficient that normalises coefficients given relative to 1.

        One for each row, if there are several.
        """
        if not self.unit_norm:
            return np.ones(coef.shape[:-1])
        largest = np.abs(coef).max(axis=-1, initial=1.0)  # squares might overflow
        parts = coef / largest[..., np.newaxis]
        return 1.0 / (largest * np.sqrt(largest**-2.0 + np.einsum("...i,...i", parts, parts)))

    def settle(self, border: Border) -> None:
        """Let each of the border terms become the leading term of a generator or join O."""
        raise NotImplementedError

    # -- Algorithm 2 --------------------------------------------------------------------------

    # What overflows is infinite or NaN, and neither is at most psi.
    @np.errstate(over="ignore", invalid="ignore")
    def run(self):
        """Go through the borders, degree by degree, until one is empty."""
        start = 0  # of the terms of degree d - 1 in O
        for degree in range(1, self.max_degree + 1):
            began = time.perf_counter()
            previous = self.terms[start:]
            if not self._has_border(previous):
                self.complete = True
                return
            if not self._fits(monomials.border_bytes(previous), degree):
                return
            border = self._border(previous)
            n_border = len(border.terms)
            if not self._fits(8 * n_border * len(self.terms), degree):
                return
            self.stopped = self.too_wide(degree, n_border)
            if self.stopped is not None:
                return
            border = border._replace(
                parent=start + border.parent, variable=self.columns[border.variable]
            )
            start = len(self.terms)
            first = 0
            while first < n_border and self.stopped is None:
                last = first + self._slab_size()
                whole = last - first >= n_border
                self.settle(border if whole else Border(*(part[first:last] for part in border)))
                first = last
            self.progress.step(
                f"degree {degree}: border {n_border}, |O| {len(self.terms)}, "
                f"|G| {self.n_generators}, {time.perf_counter() - began:.3f} s"
            )
            if self.stopped is not None:
                return
        self.complete = not self._has_border(self.terms[start:])

    def _border(self, previous: np.ndarray) -> Border:
        border = monomials.border(previous, self.border_kind)
        return border if self.barred is None else monomials.without_multiples(border, self.barred)

    def _has_border(self, previous: np.ndarray) -> bool:
        some = monomials.has_border(previous, self.border_kind)
        return some and (self.barred is None or len(self._border(previous).terms) > 0)

    def too_wide(self, degree: int, n_border: int) -> str | None:
        """Say why a border is left alone, if its terms are too many to be of use."""
        return None

    def _fits(self, n_bytes: int, degree: int) -> bool:
        """Say whether so much fits into scikit-learn's working memory; else stop."""
        if n_bytes > self.memory:
            self.stopped = too_large(f"the border of degree {degree}", n_bytes)
        return self.stopped is None

    def _slab_size(self) -> int:
        """Return how many border terms to settle together: arrays of (k + b) b numbers fit."""
        budget = self.memory / (8 * 3)
        k = len(self.terms)
        size = (math.sqrt(k * k + 4.0 * budget) - k) / 2.0
        return max(_SMALL_BORDER, int(min(size, self.max_slab)))

    # -- Moments of a border ------------------------------------------------------------------

    def moments(self, border: Border):
        """Return the moments of border terms with O and among themselves.

        Returns ``cross`` (k, b), ``norm`` (b,) and ``inner`` (b, b), where inner is None if the
        border is not small: most of it may not be needed. None of them if values overflow.
        """
        k, b = len(self.terms), len(border.terms)
        plan = self.plan.extended(border.parent, border.variable)
        of_border = slice(k, k + b)
        if b <= _SMALL_BORDER or self.rows.n_samples * b * b <= _SMALL_PRODUCTS:
            products, norm = self.rows.products(plan, slice(0, k + b), of_border)
            products = np.ascontiguousarray(products)
            cross, inner = products[:k], products[k:]
        else:
            (cross, norm), inner = self.rows.products(plan, slice(0, k), of_border), None
            cross = np.ascontiguousarray(cross)
        if not self.is_finite(border, norm):
            return None
        self.look_at_columns(border, cross[0], norm)
        return cross, norm, inner

    def look_at_columns(self, border: Border, mean: np.ndarray, norm: np.ndarray) -> None:
        """Note the columns that vary less than psi, from the moments of degree 1."""
        if border.parent[-1] == 0 and self.psi > 0.0:
            self.small += border.variable[varies_little(mean, norm, self.psi)].tolist()

    def is_finite(self, border: Border, norm: np.ndarray) -> bool:
        """Say whether border terms can be multiplied; stop where they overflow."""
        # Sums of many such numbers are still finite; nan, the largest of all, is not below it.
        if norm[norm.argmax()] < 1e300:
            return True
        self.stopped = (
            f"terms of degree {border.terms[0].sum()} overflow on these rows. Scale the data, for "
            "example into [0, 1]"
        )
        return False

    def slab(self, border: Border, cross, norm, inner, sure: np.ndarray) -> Slab:
        """Return the slab, with the moments of the terms that may join O with all others.

        These are the terms that do not lead generators for sure.
        """
        k, b = len(self.terms), len(border.terms)
        if inner is not None:  # leaving some of them out would take longer
            return Slab(border, cross, norm, inner, np.arange(b), sure)
        may_join = np.flatnonzero(~sure)
        if may_join.size:
            plan = self.plan.extended(border.parent, border.variable)
            inner, _ = self.rows.products(plan, slice(k, k + b), k + may_join)
            inner = np.ascontiguousarray(inner)
        else:
            inner = np.zeros((b, 0))
        return Slab(border, cross, norm, inner, may_join, np.zeros(may_join.size, dtype=bool))

    def scale(self, norm, coef):
        """Return sum |c_t| rms(t) of polynomials: what rounding errors are relative to."""
        rms = np.sqrt(self.gram.diagonal()[: len(coef)])
        return np.sqrt(norm) + rms @ np.abs(coef)

    def without_rounding(self, coef, norm):
        """Return coefficients with zeros for those that are rounding errors of the others."""
        rows = np.array(coef.T, ndmin=2, order="C")
        _round(rows, np.atleast_1d(norm), np.sqrt(self.gram.diagonal()[: len(coef)]))
        return rows.T.reshape(coef.shape)

    def vanishes(self, slab, joined, j, coef, bounds, lead=None) -> bool:
        """Say whether the mse of a polynomial is at most psi, evaluating it where in doubt."""
        low, high = bounds
        lead = self.leading_coef(coef) if lead is None else lead
        if -np.inf < high <= self.psi:  # minus infinity is an overflow on the way
            return True
        if low > self.psi or not self.rows.sees_rows:
            return False
        last = len(self.terms) + len(joined)
        plan = slab.plan_over(self.plan, joined, [j])
        mse = self.rows.mse(plan, slice(0, last), coef[np.newaxis], slice(last, None))[0]
        # Another evaluation may round differently.
        rounding = 4.0 * EPS * self.scale(slab.norm[j], coef)
        return bool(lead * (np.sqrt(mse) + rounding) <= np.sqrt(self.psi))

    def on_the_rows(self, slab, joined, factor, i) -> OrthogonalTail:
        """Factorise the evaluated terms orthogonally: O, what joined it, the open terms from i.

        ``factor`` says which of the terms of O depend on others.
        """
        rest = slab.open[i:]
        plan = slab.plan_over(self.plan, joined, rest)
        # A term that depends on others would leave its rounding error for a direction: leave it
        # out, as the factor does.
        independent = factor.independent
        columns = np.concatenate([independent, len(factor) + np.arange(rest.size)])
        triangle = self.rows.triangular(plan, columns)
        r = independent.size
        lower = np.diag(np.full(len(factor), DEPENDENT))
        lower[np.ix_(independent, independent)] = triangle[:r, :r].T
        z = np.zeros((len(factor), rest.size))
        z[independent] = triangle[:r, r:]
        return OrthogonalTail(Factor(lower), z, triangle[r:, r:])

    def is_full(self, joined) -> bool:
        """Say whether one more term would exceed max_terms; the construction stops then."""
        if len(self.terms) + len(joined) != self.max_terms:
            return False
        self.stopped = f"O has reached max_terms={self.max_terms} terms"
        return True

    def grow_gram(self, slab, joined, first):
        """Add the open terms that joined O, from the first-th on, to its Gram matrix."""
        size = len(self.terms) + len(joined)
        if size > len(self.gram):
            larger = np.zeros((2 * size, 2 * size))
            larger[: len(self.gram), : len(self.gram)] = self.gram
            self.gram = larger
        joined = np.asarray(joined, dtype=np.intp)
        _grow(self.gram, slab.cross, slab.inner, slab.norm, slab.open, joined, first)

    def extend(self, border: Border, joined, leaders, coef, leads=None):
        """Add the border terms that joined to O and those that lead generators to G.

        ``coef`` has the coefficients of each of the latter as a row, relative to a leading
        coefficient of 1; ``leads`` what to multiply them by.
        """
        if len(leaders):
            self.leading.append(Border(*(part[leaders] for part in border)))
            self.sizes.append(len(self.terms) + joined.searchsorted(leaders))
            self.coef.append(coef)
            self.n_generators += len(leaders)
            if leads is not None:
                self.leads += leads
        if len(joined):
            self.terms = np.concatenate([self.terms, border.terms[joined]])
            self.plan = self.plan.extended(border.parent[joined], border.variable[joined])

    def result(self) -> dict:
        """Return what `set_monomials` takes."""
        k, g = len(self.terms), self.n_generators
        leading = Border(*(np.concatenate(parts) for parts in zip(*self.leading, strict=True)))
        coef = np.zeros((g, k))
        first = 0
        for rows in self.coef:
            coef[first : first + len(rows), : rows.shape[1]] = rows
            first += len(rows)
        plan = self.plan.extended(leading.parent, leading.variable)
        if g:
            self.measured = self.rows.measured(plan, slice(0, k), coef, slice(k, None))
        leading_coef = np.array(self.leads) if self.leads else self.leading_coef(coef)
        coef *= leading_coef.reshape(-1, 1)
        return {
            "terms": self._in_input_columns(self.terms),
            "leading_terms": self._in_input_columns(leading.terms),
            "coef": coef,
            "leading_coef": leading_coef,
            "sizes": np.concatenate(self.sizes),
            "mse": self.measured.mse * leading_coef**2,
        }

    def _in_input_columns(self, terms):
        exponents = np.zeros(terms.shape, dtype=np.int64)
        exponents[:, self.columns] = terms
        return exponents

    def shortfall(self) -> str:
        """Say why terms that vanish joined O, and what to do about it."""
        return (
            f"{self.n_short} border terms joined O although they vanish up to rounding: the values "
            "are too large to evaluate a polynomial that precisely. Scale the data into [0, 1]."
        )

    def remarks(self) -> Remarks:
        """Say why it stopped early, which terms joined O, and whether nothing vanishes."""
        shortfall = self.shortfall() if self.n_short else None
        if self.psi == 0.0 and not self.complete and self.stopped is None:
            self.stopped = (
                f"it is not complete, terms of degree {self.max_degree + 1} are left in the "
                "border. Raise max_degree for all generators of the ideal of these rows"
            )
        remarks = remarks_on(self.name, self.psi, self.n_generators, self.stopped, shortfall)
        problems = (*self.doubts, *remarks.problems)
        return remarks._replace(small=tuple(self.small), problems=problems)
