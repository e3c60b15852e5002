"""Terms to choose from: products of powers of the variables, and, in stages, of functions."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from vanishing.algebra.functions import FUNCTIONS, IN_USE, Function, registered
from vanishing.algebra.terms import Evaluator, Factor, Term, monomial
from vanishing.checks import check_registered
from vanishing.fitting.asked_functions import asked_functions, carries_more
from vanishing.laws import settings


class Use(NamedTuple):
    """A function in terms: f(sign * w^power), such as exp(-w), of one column alone or of any."""

    function: Function
    sign: float = 1.0
    power: float = 1.0
    column: int | None = None


class Stage(NamedTuple):
    """The functions that a term of this stage may contain, and what they are applied to.

    Attributes
    ----------
    name : str
    functions : tuple of Use
    products : bool
        Whether functions are of products of two variables, rather than of one.
    halves : bool
        Whether square roots of positive variables join.
    scale : float
        What the insides of functions are multiplied by: turns are not radians.
    pairs : bool
        Whether products of two functions are terms.
    squares : bool
        Whether squares of functions are; that of sin is not, where cos^2 and 1 are.
    instead : tuple of Use
        Functions that are tried in place of the others, before anything is settled.
    """

    name: str
    functions: tuple[Use, ...] = ()
    products: bool = False
    halves: bool = False
    scale: float = 1.0
    pairs: bool = False
    squares: bool = False
    instead: tuple[Use, ...] = ()

    @property
    def alternatives(self) -> "tuple[Stage, ...]":
        """The stage, and the one that has the other functions in their place."""
        return (self, self._replace(functions=self.instead)) if self.instead else (self,)


_SIN, _COS, _LOG, _EXP = (FUNCTIONS[name] for name in ("sin", "cos", "log", "exp"))
_TANH, _ARCTAN = FUNCTIONS["tanh"], FUNCTIONS["arctan"]
PLAIN = Stage("powers")
_WAVES = (Use(_SIN), Use(_COS))
_GROWTH, _GROWTH_INSIDE = ((Use(_EXP, -1.0, p), Use(_EXP, 1.0, p)) for p in (1.0, -1.0))
# Not together: the arctan of 1/w is a constant less that of w.
_STEPS, _STEPS_INSIDE = ((Use(_TANH, 1.0, p), Use(_ARCTAN, 1.0, p)) for p in (1.0, -1.0))
# By their names, in the order in which they are searched.
STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in [
        PLAIN,
        Stage("sin and cos", _WAVES, pairs=True, squares=True),
        Stage("log", (Use(_LOG),)),
        Stage("exp(-w)", _GROWTH, squares=True),
        Stage("exp(-1/w)", _GROWTH_INSIDE, squares=True),
        Stage("sqrt and cos", (Use(_COS),), halves=True, pairs=True, squares=True),
        Stage("cos of products", _WAVES, products=True, pairs=True, squares=True),
        Stage("tanh and arctan", _STEPS, instead=_STEPS_INSIDE),
        Stage("exp(-w/(2 pi))", _GROWTH + _GROWTH_INSIDE, scale=0.5 / np.pi, squares=True),
    ]
}
_OWN = frozenset(STAGES)
# Functions that stand on both sides of laws Y A(w) = B(w): terms of a family have them together.
FAMILIES = (
    (STAGES["sin and cos"], STAGES["cos of products"]),
    (STAGES["exp(-w)"],),
    (Stage("sin, cos and exp", (*_WAVES, Use(_EXP, -1.0)), pairs=True),),
)


def register_stage(
    name: str,
    functions: str | Sequence[str],
    *,
    products: bool = False,
    pairs: bool = False,
    squares: bool = False,
) -> None:
    """Make ``LawFinder(functions="auto")`` try terms with more functions, after its own stages.

    A term has powers of columns, and one of the functions of a column (or of a product of powers
    that the search has found to matter).

    Parameters
    ----------
    name : str
        Name of the stage, which ``verbose`` prints.
    functions : str or sequence of str
        Names of functions that `vanishing.register_function` knows.
    products : bool, default=False
        Whether functions are of products of two columns, rather than of one.
    pairs : bool, default=False
        Whether products of two functions are terms, too.
    squares : bool, default=False
        Whether squares of functions are terms, too.

    Raises
    ------
    ValueError
        If a function is not known, or there is a stage of this name.

    See Also
    --------
    unregister_stage : Try them no more.
    register_link : Try a function of the target.
    vanishing.register_function : Make a function known.

    Examples
    --------
    >>> import numpy as np
    >>> import vanishing
    >>> vanishing.laws.register_stage("hyperbolic", "tanh")
    >>> X = np.random.default_rng(0).uniform(0.5, 2, (200, 2))
    >>> y = 3 * X[:, 0] + 2 * X[:, 1] * np.tanh(X[:, 0])
    >>> print(vanishing.LawFinder().fit(X, y).laws_[0])
    y = 3*x0 + 2*x1*tanh(x0)
    >>> vanishing.laws.unregister_stage("hyperbolic")
    """
    names = tuple(dict.fromkeys([functions] if isinstance(functions, str) else functions))
    if not isinstance(name, str):
        raise TypeError(f"the name of a stage must be a text; got {name!r}.")
    uses = tuple(Use(registered(function)) for function in names)
    if not uses:
        raise ValueError("a stage needs at least one function.")
    if name in STAGES:
        raise ValueError(f"there is a stage {name!r} already: choose another name.")
    STAGES[name] = Stage(name, uses, products, pairs=pairs, squares=squares)
    for function in names:
        IN_USE.setdefault(function, []).append(f"vanishing.laws.unregister_stage({name!r})")


def unregister_stage(name: str) -> None:
    """Stop trying the functions of a stage.

    Parameters
    ----------
    name : str
        As it was given to `register_stage`.

    Raises
    ------
    ValueError
        If no stage of yours has the name.

    See Also
    --------
    register_stage : Try functions in terms.
    """
    check_registered("stage", name, STAGES, _OWN)
    for use in STAGES.pop(name).functions:
        IN_USE[use.function.name].remove(f"vanishing.laws.unregister_stage({name!r})")


def signed_exponents(n_variables, positive, max_degree, max_terms) -> list[tuple[float, ...]]:
    """Return exponents of monomials, ordered by the sum of their absolute values.

    Positive variables have exponents of both signs, others none below 0. The list ends with the
    last complete level within ``max_terms``.
    """
    highest = max_degree if n_variables == 1 else min(settings.HIGHEST_EXPONENT, max_degree)
    rows: list[tuple[float, ...]] = [(0.0,) * n_variables]
    for level in range(1, max_degree + 1 if n_variables else 1):
        added = list(_of_level(n_variables, level, highest, tuple(positive)))
        if len(rows) + len(added) > max_terms and level > 1:
            break
        rows += added
    return rows


def _of_level(n_variables, level, highest, positive):
    if n_variables == 0:
        if level == 0:
            yield ()
        return
    low = -min(level, highest) if positive[0] else 0
    for first in range(low, min(level, highest) + 1):
        for rest in _of_level(n_variables - 1, level - abs(first), highest, positive[1:]):
            yield (float(first), *rest)


def _inside(stage: Stage, n_variables: int) -> list[tuple[float, ...]]:
    """Return the exponents of the products that functions are applied to."""
    unit = np.eye(n_variables)
    if not stage.products:
        return [tuple(row) for row in unit]
    return [tuple(unit[i] + unit[j]) for i in range(n_variables) for j in range(i)]


class Variables(NamedTuple):
    """What has to be known of variables to make terms of them.

    Attributes
    ----------
    positive : sequence of bool
    log_units : array
        Logarithms of their units: functions are of variables as given.
    columns : sequence of int or None
        Which column a variable is; None for a product.
    n_values : sequence of int
        How many values each has, where they are few: powers and functions are then polynomials of
        low degree.
    values : array of shape (n_variables, n_rows)
        On rows on which functions are told from simpler terms.
    """

    positive: Sequence[bool]
    log_units: np.ndarray
    columns: Sequence[int | None]
    n_values: Sequence[int]
    values: np.ndarray


def function_factors(
    stage: Stage, variables: Variables, least: float | None = None
) -> list[tuple[Factor, ...]]:
    """Return the products of functions that a term of a stage may contain; the empty one first.

    ``least`` is the share of its range by which a function has to differ from a polynomial.
    """
    single = []
    evaluator = Evaluator(variables.values)
    for exponents in _inside(stage, len(variables.positive)):
        scale = float(np.exp(np.dot(exponents, variables.log_units)))
        used = [i for i, e in enumerate(exponents) if e]
        positive = all(variables.positive[i] for i in used)
        column = variables.columns[used[0]] if len(used) == 1 else None
        if not 0.0 < scale < np.inf:  # the unit of a product overflows
            continue
        for use in stage.functions:
            if (use.function is _LOG or use.power < 0) and not positive:
                continue
            if use.column is not None and use.column != column:
                continue
            n_values = [variables.n_values[i] for i in used]
            # Of b*x with two values of b, a function is b times one of x, and a multiple of b.
            if max(n_values) <= settings.FEW_VALUES or min(n_values) <= 2:
                continue
            inner = tuple(use.power * e for e in exponents)
            factor = Factor(use.function, use.sign * stage.scale * scale**use.power, inner)
            if _carries_more(factor, evaluator, least):
                single.append(factor)
    factors: list[tuple[Factor, ...]] = [(), *((factor,) for factor in single)]
    for i, first in enumerate(single):
        for second in single[i + 1 :] if stage.pairs else ():
            if not stage.products or first.exponents == second.exponents:
                factors.append((first, second))
        if stage.squares and first.function is not _SIN:
            factors.append((first._replace(power=2),))
    return factors


def _carries_more(factor: Factor, evaluator: Evaluator, least: float | None) -> bool:
    """Say whether a function can be told from powers of its argument on the rows."""
    with np.errstate(all="ignore"):
        argument = evaluator.monomial(factor.exponents)
        return argument is None or carries_more(evaluator.factor(factor), argument, least)


def dictionary(
    stage: Stage, variables: Variables, max_degree, max_terms, inverses: bool = False
) -> list[Term]:
    """Return the terms of a stage, the simplest first.

    ``inverses`` says whether variables of few values have inverse powers, too, which depend on
    others: of three values, 1/m^2 is a sum of 1, m and m^2.
    """
    n_variables, positive = len(variables.positive), variables.positive
    if not stage.functions:
        rows = signed_exponents(n_variables, positive, max_degree, max_terms)
        return [monomial(row) for row in rows if _is_needed(row, variables.n_values, inverses)]
    factors = function_factors(stage, variables)
    if len(factors) == 1:
        return []
    # A third of the terms has no function; the others are shared among products of functions.
    plain = signed_exponents(n_variables, positive, max_degree, max_terms // 3)
    if stage.halves:
        plain = _with_halves(n_variables, positive, plain)
    terms = [Term(row) for row in plain]
    if stage.products:
        # A function of a product is multiplied by powers of the other variables.
        around = signed_exponents(n_variables, [False] * n_variables, 2, max_terms)
        pairs = product(around, factors[1:])
        terms += [Term(e, f) for e, f in pairs if not np.any(np.multiply(e, f[0].exponents))]
    else:
        each = max(1, (max_terms - len(plain)) // (len(factors) - 1))
        around = signed_exponents(n_variables, positive, max_degree, each)
        if stage.halves:
            around = _with_halves(n_variables, positive, around)
        terms += [Term(row, chosen) for row, chosen in product(around, factors[1:])]
    terms = [term for term in terms if _is_needed(term.exponents, variables.n_values)]
    return sorted(terms, key=lambda term: term.degree)[:max_terms]


def family_terms(family: Sequence[Stage], variables: Variables, max_terms: int) -> list[Term]:
    """Return terms of low degree with functions of a family, the simplest first."""
    least = settings.FAMILY_FUNCTION
    products = {
        factors: None for stage in family for factors in function_factors(stage, variables, least)
    }
    if len(products) == 1:
        return []
    n_variables = len(variables.positive)
    around = signed_exponents(n_variables, [False] * n_variables, 3, max_terms)
    around = [row for row in around if _is_needed(row, variables.n_values)]
    outside = [sum(map(abs, row)) for row in around]
    inside = [Term((0.0,) * n_variables, factors).degree for factors in products]
    degrees = np.add.outer(outside, inside)  # of many terms, most of which are too high
    highest = max(np.sort(degrees, axis=None)[: max(1, max_terms)], default=0.0)
    pairs = zip(degrees.flat, product(around, products), strict=True)
    low = (Term(*pair) for degree, pair in pairs if degree <= highest)
    return sorted(low, key=lambda term: (term.degree, _is_unusual(term)))[:max_terms]


def _is_unusual(term: Term) -> bool:
    """Say whether a variable occurs more than once, or a function is of a product.

    Such terms are less usual than others.
    """
    times = list(map(abs, term.exponents))
    for factor in term.factors:
        if sum(map(bool, factor.exponents)) > 1:  # of a product
            return True
        times = [t + factor.power * abs(e) for t, e in zip(times, factor.exponents, strict=True)]
    return any(t > 1.0 for t in times)


def _is_needed(exponents, n_values, inverses: bool = False) -> bool:
    """Say whether a monomial is no combination of others, where variables have few values.

    With ``inverses``, it may be one that is shorter than these.
    """
    return all(
        n > settings.FEW_VALUES or 0 <= e < n or (inverses and 2 < n > -e > 0)
        for e, n in zip(exponents, n_values, strict=True)
    )


def _with_halves(n_variables, positive, rows):
    halves = {
        tuple(e / 2 for e in row)
        for level in (1, 2)
        for row in _of_level(n_variables, level, level, tuple(positive))
        if all(p or e % 2 == 0 for e, p in zip(row, positive, strict=True))
    }
    return sorted(set(rows) | halves, key=lambda row: (sum(map(abs, row)), row))


# -- Functions that users ask for -----------------------------------------------------------------


def given_stages(functions, names: Sequence[str], columns: np.ndarray) -> tuple[Stage, ...]:
    """Return the stages that the parameter ``functions`` of `LawFinder` asks for.

    Parameters
    ----------
    functions : "auto", iterable of names or callables, or {column: names}
    names : sequence of str
        Of the columns of X.
    columns : array of shape (n_columns, n_rows)
        Rows on which functions must be defined.
    """
    if isinstance(functions, str):
        if functions != "auto":
            raise ValueError(f"functions must be 'auto' or a tuple: write ({functions!r},).")
        return tuple(STAGES.values())
    uses = [Use(function, column=column) for column, function in asked_functions(functions, names)]
    for use in uses:
        tried = columns if use.column is None else columns[use.column : use.column + 1]
        with np.errstate(all="ignore"):
            defined = [np.isfinite(use.function.value(column)).all() for column in tried]
        if not any(defined):
            where = "any column" if use.column is None else f"column {names[use.column]!r}"
            raise ValueError(
                f"the function {use.function.name} is not defined on all rows of {where}: leave it "
                "out of functions."
            )
    if not uses:
        return (PLAIN,)
    functions = {use.function for use in uses}
    waves = bool(functions & {_SIN, _COS})
    return PLAIN, Stage("functions", tuple(uses), pairs=waves, squares=waves or _EXP in functions)
