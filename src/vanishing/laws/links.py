"""Step 2: link regression, T(Y) = sum of c_j phi_j(w), for several T and dictionaries of terms."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from vanishing.algebra.functions import FUNCTIONS, IN_USE, POWERS, Function, registered
from vanishing.algebra.terms import Evaluator, Factor, Term
from vanishing.checks import check_registered
from vanishing.fitting.normal import solution
from vanishing.fitting.sparse import sparse_supports
from vanishing.laws import settings
from vanishing.laws.problem import ROUNDING, Reduced

_ULP = 1e-15  # relative: what rounding leaves, whatever the terms
_HUGE = 1e60  # value of a term that is of no use: its powers overflow, or those of its inverse


class Link(NamedTuple):
    """A function T of the target, with two derivatives and its inverse.

    ``power`` is the exponent where T is a power; otherwise T(Y) is ``function(scale * Y)``.
    """

    name: str
    value: Callable
    slope: Callable
    curvature: Callable
    inverse: Callable
    power: float | None
    function: Function | None = None
    scale: float = 1.0
    needs_positive: bool = True
    singular: bool = True

    def term(self, n_variables: int) -> Term:
        """Return T(Y) as a term of (w, Y)."""
        none = (0.0,) * n_variables
        if self.function is None:
            return Term((*none, self.power or 0.0))
        return Term((*none, 0.0), (Factor(self.function, self.scale, (*none, 1.0)),))


def lifted(term: Term, power: float = 0.0) -> Term:
    """Return a term of w, times a power of Y, as one of (w, Y)."""
    factors = tuple(f._replace(exponents=(*f.exponents, 0.0)) for f in term.factors)
    return Term((*term.exponents, power), factors)


def _power(name, p) -> Link:
    # Noise can make a square negative: its root is taken as 0. Poles have no such value.
    lowest = 0.0 if p > 0 else np.nan
    return Link(
        name,
        lambda Y: Y**p,
        lambda Y: p * Y ** (p - 1),
        lambda Y: p * (p - 1) * Y ** (p - 2),
        lambda P: np.where(P > 0.0, P, lowest) ** (1.0 / p),
        p,
    )


IDENTITY = Link(
    "Y",
    lambda Y: Y,
    np.ones_like,
    np.zeros_like,
    lambda P: P,
    1.0,
    needs_positive=False,
    singular=False,
)
POWER_LINKS = (
    IDENTITY,
    _power("Y^2", 2.0)._replace(singular=False),
    _power("1/Y", -1.0)._replace(inverse=lambda P: 1 / P, needs_positive=False),
    _power("1/Y^2", -2.0),
    _power("sqrt Y", 0.5),
    _power("1/sqrt Y", -0.5),
)
_ANY = (-np.inf, np.inf)


def _of_function(
    function: Function, unit: float, arguments=_ANY, values=_ANY, **properties
) -> Link:
    """Return a function of a target in some unit.

    Where it, or its inverse, is not defined, arguments and values are kept in a range.
    """
    second, inverse = function.second_derivative, function.inverse
    assert second is not None and inverse is not None

    def inside(Y):
        return np.where(
            np.isfinite(function.value(unit * Y)), unit * Y, np.clip(unit * Y, *arguments)
        )

    def undone(P):
        Y = inverse(P)
        return np.where(np.isfinite(Y), Y, inverse(np.clip(P, *values))) / unit

    return Link(
        f"{function.name} Y",
        lambda Y: function.value(inside(Y)),
        lambda Y: unit * function.derivative(inside(Y)),
        lambda Y: unit**2 * second(inside(Y)),
        undone,
        None,
        function,
        unit,
        **properties,
    )


def _logarithm(reduced: Reduced) -> Link | None:
    """Return the logarithm of Y in the unit of the table: it may need no constant there.

    None where that unit is of no size.
    """
    size = reduced.state.factor @ reduced.table.log_units
    unit = float(np.exp(np.log(abs(reduced.table.unit)) - size))
    if not 1.0 / _HUGE < unit < _HUGE:
        return None
    return _of_function(FUNCTIONS["log"], unit, values=(-np.inf, 700.0))


def _sine(reduced: Reduced) -> Link | None:
    """Return the sine of an angle, which has no factor, and lies in the range of arcsin."""
    unit = reduced.table.unit
    if reduced.state.factor.any() or np.abs(unit * reduced.smooth).max() >= np.pi / 2 * 1.05:
        return None
    return _of_function(
        FUNCTIONS["sin"], unit, values=(-1.0, 1.0), needs_positive=False, singular=False
    )


def _of_target(name: str, reduced: Reduced) -> Link | None:
    """Return a registered function of the target itself; None where most rows are not its values.

    Where noise leads beyond what the function is defined for, the last value inside is taken.
    """
    function, unit, Y = registered(name), reduced.table.unit, reduced.Y
    anywhere = _of_function(function, unit, needs_positive=False, singular=False)
    with np.errstate(all="ignore"):
        values, slopes = anywhere.value(Y), anywhere.slope(Y)
        good = np.isfinite([values, slopes, anywhere.curvature(Y)]).all(axis=0) & (slopes != 0.0)
        good &= np.isclose(anywhere.inverse(values), Y, rtol=1e-6, atol=1e-9)
    if reduced.state.factor.any() or not np.average(good, weights=reduced.table.weight) > 0.9:
        return None
    arguments, values = unit * Y[good], values[good]
    ranges = [(part.min(), part.max()) for part in (arguments, values)]
    return _of_function(function, unit, *ranges, needs_positive=False, singular=False)


# By the name of the function: what makes its link for rows, or None where it is of no use.
LINKS: dict[str, Callable[[Reduced], Link | None]] = {"log": _logarithm, "sin": _sine}
_OWN = frozenset(LINKS)


def register_link(name: str) -> None:
    """Make `LawFinder` try a function of the target: f(y) = sum of terms.

    It is tried in every search, on the target as it is given, where the target has values for which
    the function is defined and one to one.

    Parameters
    ----------
    name : str
        Of a function that `vanishing.register_function` knows, with a second derivative and an
        inverse: ``"tanh"``, or one of your own.

    Raises
    ------
    ValueError
        If the function is not known, has no second derivative or no inverse, or is a link already.

    See Also
    --------
    unregister_link : Try it no more.
    register_stage : Try functions in terms.
    vanishing.register_function : Make a function known.

    Examples
    --------
    >>> import numpy as np
    >>> import vanishing
    >>> vanishing.laws.register_link("tanh")
    >>> X = np.random.default_rng(0).uniform(0.1, 1, (200, 2))
    >>> y = np.arctanh(X[:, 0] * X[:, 1] * 0.9)
    >>> print(vanishing.LawFinder().fit(X, y).laws_[0])
    y = arctanh(0.9*x0*x1)
    >>> vanishing.laws.unregister_link("tanh")
    """
    function = registered(name)
    if function.second_derivative is None or function.inverse is None:
        raise ValueError(
            f"a link needs a second derivative and an inverse; {name!r} lacks one of them: give "
            "both to vanishing.register_function."
        )
    if name in LINKS or name in POWERS:
        raise ValueError(f"{name!r} is a link already.")
    LINKS[name] = partial(_of_target, name)
    IN_USE.setdefault(name, []).append(f"vanishing.laws.unregister_link({name!r})")


def unregister_link(name: str) -> None:
    """Stop trying a function of the target.

    Parameters
    ----------
    name : str
        As it was given to `register_link`.

    Raises
    ------
    ValueError
        If no link of yours has the name.

    See Also
    --------
    register_link : Try a function of the target.
    """
    check_registered("link", name, LINKS, _OWN)
    del LINKS[name]
    IN_USE[name].remove(f"vanishing.laws.unregister_link({name!r})")


def usable_links(reduced: Reduced) -> list[Link]:
    """Return the links that are defined for a target."""
    weight, Y = reduced.table.weight, reduced.Y
    lowest = -1e-3 * np.abs(reduced.smooth).max()
    # Next to a kink at zero, where surrogates are poor, a few of their values are negative.
    is_positive = (
        np.average(Y > 0, weights=weight) > 0.9
        and np.average(reduced.smooth > lowest, weights=weight) > 0.99
    )
    links = [*POWER_LINKS, *(make(reduced) for make in tuple(LINKS.values()))]
    return [x for x in links if x is not None and (is_positive or not x.needs_positive)]


class Regression(NamedTuple):
    """Weighted rows of a link: residuals are in units of y."""

    pull: np.ndarray
    target: np.ndarray


def regression(reduced: Reduced, link: Link) -> Regression:
    """Return row weights and T(Y) freed from the bias that noise has through T''."""
    smooth = reduced.smooth
    if link.singular or link.needs_positive:
        # Not closer than that: a few rows would outweigh all others.
        smooth = reduced.away_from_zero(np.clip(5.0 * reduced.relative_noise, 1e-3, 0.03))
        if link.needs_positive:
            smooth = np.abs(smooth)
    variance = reduced.noise / reduced.factor**2
    slope, curvature = link.slope(smooth), link.curvature(smooth)
    pull = reduced.factor / np.sqrt(slope**2 + curvature**2 * variance / 2)
    gap = reduced.Y - smooth
    expanded = link.value(smooth) + slope * gap + curvature / 2 * (gap**2 - variance)
    if reduced.relative_noise < settings.LARGE_NOISE:
        with np.errstate(all="ignore"):
            target = link.value(reduced.Y) - curvature * variance / 2
        far = np.abs(gap) > 0.5 * np.abs(smooth) if link.singular else ~np.isfinite(target)
        target = np.where(far | ~np.isfinite(target), expanded, target)
    else:
        target = expanded
    return Regression(pull * reduced.root, target)


def full_residual(values, rows: Regression, chosen, count) -> tuple[float, np.ndarray]:
    """Return the mean square that all terms leave on chosen rows, and their coefficients.

    ``count`` is how many rows the chosen ones count for.
    """
    weighted = values[:, chosen] * rows.pull[chosen]
    target = rows.target[chosen] * rows.pull[chosen]
    with np.errstate(over="ignore", invalid="ignore"):
        gram, cross = weighted @ weighted.T, weighted @ target
    if not (np.isfinite(gram).all() and np.isfinite(cross).all()):
        return np.inf, np.zeros(len(values))
    coef = solution(gram, cross, ridge=1e-13 * len(gram))
    left = target - coef @ weighted
    return float(left @ left) / _freedom(count, len(coef)), coef


def _freedom(count: float, n_terms: int) -> float:
    """Return by how many rows squares are divided, where so many coefficients were fitted."""
    return max(count - n_terms, count / 10)


def exact_support(values, target, rounding: float = 0.0) -> tuple[int, ...] | None:
    """Return the terms of a combination that equals the target up to rounding, or None.

    Gram matrices see half of the digits: the rows themselves are solved. Few terms, which are
    far from dependent, are tried before many.

    Parameters
    ----------
    values : array of shape (n_terms, n_rows)
        The simplest terms first.
    target : array of shape (n_rows,)
    rounding : float, default=0.0
        What rounding leaves of the target, if that is more than usual.
    """
    exact = max(settings.EXACT_LINK, rounding)
    if not np.isfinite(target).all():
        return None
    scale = np.sqrt(np.mean(values**2, axis=1))
    matrix = (values / scale[:, np.newaxis]).T
    size = np.sqrt(np.mean(target**2))
    # A term that is zero on these rows says nothing.
    if not (np.isfinite(scale).all() and scale.all() and np.isfinite(size) and size):
        return None
    unit = target / size

    def solved(part):
        coef = np.linalg.lstsq(matrix[:, part], unit, rcond=1e-14)[0]
        return np.abs(coef), np.sqrt(np.mean((unit - matrix[:, part] @ coef) ** 2))

    for n_first in sorted({min(n, len(scale)) for n in (12, 40, 100, len(scale))}):
        part = np.arange(n_first)
        coef, left = solved(part)
        if not left < exact:
            continue
        shares = coef / coef.max()
        supports = [part[shares > threshold] for threshold in (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)]
        tried = [(solved(few)[1], few) for few in supports if len(few) <= settings.LINK_TERMS]
        least = min((left for left, _ in tried), default=np.inf)
        # What rounding leaves is about the same, with and without terms that are not needed.
        if least < 10 * exact:
            return next(tuple(few.tolist()) for left, few in tried if left < max(10 * least, _ULP))
    return None


class Sparse(NamedTuple):
    """A link with a support of few terms."""

    link: Link
    terms: tuple[Term, ...]


def usable_terms(reduced: Reduced, terms: list[Term]) -> list[Term]:
    """Return the terms of (w, Y) that are of use."""
    return _values(np.vstack([reduced.w, reduced.Y]), terms)[0]


def _values(variables: np.ndarray, terms: list[Term]) -> tuple[list[Term], np.ndarray]:
    """Return the terms that are of use, and their values."""
    with np.errstate(all="ignore"):
        values = Evaluator(variables).values(terms)
    largest = np.abs(values).max(axis=1)
    usable = (largest < _HUGE) & (largest > 1.0 / _HUGE)  # NaN is neither
    return [term for term, good in zip(terms, usable, strict=True) if good], values[usable]


def short_supports(
    reduced: Reduced, terms: list[Term], links, progress, most: int = settings.SHORT_TERMS
) -> list[Sparse]:
    """Return the best supports of few terms, where rows are too few to fit the whole dictionary.

    All of its terms together would explain anything on them, but not one, two or three powers, or
    one term with functions.
    """
    if not reduced.table.has_few_rows:
        return []
    terms, values = _values(reduced.w, terms)
    sparse = []
    for link in links:
        progress()
        supports = _ordered(reduced, regression(reduced, link), values, most)
        best = {len(support): support for support, _ in supports[::-1]}
        sparse += [Sparse(link, tuple(terms[i] for i in support)) for support in best.values()]
    return sparse


def link_supports(
    reduced: Reduced, terms: list[Term], links, progress
) -> tuple[list[Sparse], Reduced]:
    """Return sparse supports for the links whose full dictionary reaches the noise.

    Where the dictionary leaves less than the surrogate, all links are tried again with the noise
    and the smooth target that it says; what is known of these in the end is returned, too.
    """
    # More terms than a quarter of the rows would explain anything.
    terms, values = _values(reduced.w, terms[: reduced.table.n_rows // 4])
    if not terms:
        return [], reduced
    n_rows = reduced.table.n_rows
    screened = slice(0, min(n_rows, max(settings.LINK_ROWS, 4 * len(terms))))
    count = float(reduced.table.weight[screened].sum())
    while True:
        results = []
        for link in links:
            progress()
            rows = regression(reduced, link)
            noise, coef = full_residual(values, rows, screened, count)
            results.append((link, rows, noise, coef))
        link, _, least, coef = min(results, key=lambda result: result[2])
        least = max(least, ROUNDING * reduced.table.norm)
        if not least < settings.BETTER_NOISE * reduced.noise:
            break
        with np.errstate(all="ignore"):
            smooth = link.inverse(coef @ values)
        reduced = reduced.learnt(smooth, least)
        # With hardly any noise, better weights of rows would change nothing.
        if least < settings.NO_NOISE * reduced.table.norm:
            break
    sparse = []
    slack = settings.LINK_SLACK + 3.0 * np.sqrt(2.0 / count)
    for link, rows, noise, _ in results:
        progress()
        # The ridge of Gram matrices hides exact laws of nearly dependent terms.
        if noise <= settings.NEARLY_EXACT * reduced.table.norm:
            chosen = slice(0, min(n_rows, 2 * len(terms) + 100))
            pull = rows.pull[chosen]
            with np.errstate(all="ignore"):
                target = link.value(reduced.Y[chosen]) * pull
            support = exact_support(values[:, chosen] * pull, target, reduced.table.rounding)
            if support is not None:
                sparse.append(Sparse(link, tuple(terms[i] for i in support)))
                continue
        # What rounding leaves depends on the weights of rows.
        limit = slack * max(reduced.noise, 10 * ROUNDING * reduced.table.norm)
        if noise <= limit and reduced.may_hold(noise * _freedom(count, len(terms)) / count):
            sparse += _sparse(reduced, link, rows, terms, values)
    return sparse, reduced


def _ordered(reduced, rows, values, max_terms: int) -> list[tuple[tuple[int, ...], float]]:
    """Return supports and what they leave, the likeliest first.

    Terms are chosen on the first rows; all rows decide, once laws are fitted in units of y.
    """
    chosen_rows = slice(0, settings.CHOICE_ROWS)
    pull = rows.pull[chosen_rows]
    count = float(reduced.table.weight[chosen_rows].sum())
    weighted = values[:, chosen_rows] * pull
    target = rows.target[chosen_rows] * pull
    with np.errstate(over="ignore", invalid="ignore"):
        gram, cross = weighted @ weighted.T / count, weighted @ target / count
        norm = float(target @ target) / count
    if not (np.isfinite(gram).all() and np.isfinite(cross).all() and 0.0 < norm < np.inf):
        return []
    supports = sparse_supports(gram, cross, norm, max_terms)
    price = 2 * np.log(len(values)) + np.log(count)
    return sorted(supports, key=lambda s: count * np.log(s[1]) + price * len(s[0]))


def _sparse(reduced, link, rows, terms, values) -> list[Sparse]:
    supports = _ordered(reduced, rows, values, settings.LINK_TERMS)
    chosen = [support for support, _ in supports[: settings.SUPPORTS_KEPT]]
    # Next to poles of T few terms fit badly until they are fitted in units of y.
    short = [
        s for s in supports if s[1] < settings.FEW_TERMS_SLACK * reduced.noise and len(s[0]) <= 3
    ]
    for size in (1, 2, 3):
        chosen += [s[0] for s in short if len(s[0]) == size][:1]
    return [Sparse(link, tuple(terms[i] for i in support)) for support in dict.fromkeys(chosen)]
