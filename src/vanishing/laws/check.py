"""Whether a law that somebody has in mind holds in a table."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np

from vanishing._types import Table, Vector
from vanishing.algebra.equations import GivenEquation, read_equation
from vanishing.algebra.expression_units import units_of_constants
from vanishing.algebra.expressions import Inside, Node, Number, columns_of, evaluate, with_numbers
from vanishing.algebra.functions import FUNCTIONS
from vanishing.algebra.quantities import ONE, read_units
from vanishing.algebra.solving import normalised, pivot_of
from vanishing.algebra.terms import Factor, Term
from vanishing.algebra.writing import PlainText, in_words
from vanishing.checks import check_flag, check_weights
from vanishing.equations.columns import read_columns
from vanishing.equations.law import Law
from vanishing.fitting.lack_of_fit import Lack, LackOfFit
from vanishing.laws import settings
from vanishing.laws.constants import Constants, Undetermined, fit_constants, refined
from vanishing.laws.given_problem import Problem
from vanishing.laws.robust_constants import rows_near
from vanishing.rows.intake import refuse
from vanishing.rows.validation import refuse_values

_DEPENDENT = 1e-10  # eigenvalue, per term, of terms that depend on one another


def check_law(
    equation: str,
    X: Table,
    y: Vector | None = None,
    *,
    sample_weight: Vector | None = None,
    units: Mapping[str, str] | None = None,
    robust: bool = False,
) -> Law:
    """Check whether an equation holds in a table, and fit its constants.

    Parameters
    ----------
    equation : str
        Such as ``"p*V = R*n*T"``; without ``=`` it is what is zero. Numbers, names, ``+ - * /``,
        ``^`` or ``**``, brackets, pi, and the functions exp, log (or ln), log10, log2, sqrt, cbrt,
        abs, sign, sin, cos, tan, arcsin, arccos, arctan, sinh, cosh, tanh, arcsinh, arccosh,
        arctanh and those of `register_function`, each of any expression. Names that are no columns
        are constants, which are fitted, wherever they stand: ``"u = a*x**b"``,
        ``"v = V*x**n/(K**n + x**n)"``, ``"y = log(1 + b*x)"``, ``"N = A*2**(-t/T)"``. Columns
        whose names are no words stand in brackets: ``[heat load (kW)]``.
    X : array-like of shape (n_samples, n_features), or frame
        Columns of an array are called x0, x1, ...
    y : array-like of shape (n_samples,), default=None
        A further column, the target, named as the series is, or else y. Errors are in its units.
        Without it the target is the column that stands alone on one side, if one does. Otherwise
        errors are relative to the spread of all columns.
    sample_weight : array-like of shape (n_samples,), default=None
        What each row counts beside the others; 1 / variance where that is known. Large weights make
        no new observations. Without, rows count alike, or by the inverse of their variance where
        noise grows with the target.
    units : dict from str to str, default=None
        The unit of each column, as for `LawFinder`: numbers and constants then have theirs.
    robust : bool, default=False
        Whether rows may be wrong: those far from the equation that most rows obey are left out,
        and the verdict counts them.

    Returns
    -------
    law : Law
        With the fitted numbers, written as the equation is where a column stands alone in it;
        ``verdict`` says whether it holds (or may hold, where fewer than
        30 rows are too few to tell), ``constants`` has the constants
        and their standard errors, and ``lack_of_fit`` what columns still explain of the residuals.

    See Also
    --------
    LawFinder : Finds a law where none is in mind.
    Law : What both return.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import check_law
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 3, size=(500, 2))
    >>> y = 2.5 * X[:, 0] / X[:, 1] + rng.normal(scale=0.01, size=500)
    >>> law = check_law("y = k*x0/x1", X, y)
    >>> print(law)
    y = 2.5006(4)*x0/x1
    >>> print(law.verdict)
    holds: rms error 0.0102 (0.33 % of y); k = 2.5006(4); no column explains what is left

    Constants may stand anywhere:

    >>> print(check_law("y = a*x0**b/x1**c", X, y))
    y = 2.500(1)*x0^1.0004(6)/x1^1.0004(5)
    """
    check_flag("robust", robust)
    names, n_inputs = _names(X, y)
    read = read_equation(equation, names)
    columns, weight = _rows(X, y, names, n_inputs, sample_weight)
    target = read.alone if y is None else len(names) - 1
    if target is not None and target not in read.columns:
        raise ValueError(f"the equation {equation!r} is not about the target {names[target]!r}.")
    n_needed = len(read.constants) + 2
    if len(weight) < n_needed:
        raise ValueError(
            f"the equation has {len(read.constants)} constants and needs at least {n_needed} rows; "
            f"got {len(weight)}" + (" that count." if sample_weight is not None else ".")
        )
    read_as = None if units is None else read_units(units, names)
    problem = Problem(read, columns, weight, target)
    with np.errstate(all="ignore"):
        try:
            near = rows_near(problem) if robust else np.ones(len(weight), dtype=bool)
            if near.sum() < n_needed:
                raise ValueError(
                    f"only {near.sum()} rows are near the equation; {n_needed} are needed."
                )
            problem = problem.rows(near)
            constants = fit_constants(problem)
        except Undetermined as error:
            unused = [name for i, name in enumerate(names) if i not in read.columns]
            raise ValueError(f"{_mistyped(error.names, unused)}{error}") from None
        n_wrong = int(np.sum(~near))
        return _Result(problem, constants, names, n_inputs, read_as, n_wrong).law()


def _mistyped(constants: list[str], columns: list[str]) -> str:
    """Say which constants may be columns that were meant; "" if none looks like one."""
    hint = ""
    for name in constants:
        close = [column for column in columns if column.casefold() == name.casefold()]
        close = close or get_close_matches(name, columns, n=1)
        if close:
            hint += f"{name!r} is no column (there is {close[0]!r}), and is taken for a constant; "
    return hint


# -- Rows -----------------------------------------------------------------------------------------


def _names(X, y) -> tuple[list[str], int]:
    """Return the names of all columns, and how many of them are columns of X."""
    labels = list(getattr(X, "columns", ()))
    if any(isinstance(name, str) for name in labels):
        names = list(map(str, labels))
    else:
        shape = np.shape(X)
        if len(shape) != 2:
            refuse(check_law, X)
            raise ValueError(f"X must have two dimensions, rows and columns; its shape is {shape}.")
        names = [f"x{i}" for i in range(shape[1])]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ValueError(f"X has several columns {repeated[0]!r}: rename them.")
    if y is None:
        return names, len(names)
    own = getattr(y, "name", None)
    target = own if isinstance(own, str) else "y"
    if target in names:
        raise ValueError(f"X has a column {target!r}, too: rename it, or leave y out.")
    return [*names, target], len(names)


def _rows(X, y, names, n_inputs, sample_weight) -> tuple[np.ndarray, np.ndarray]:
    refuse_values(X, y)
    columns = read_columns(X, y, names, n_inputs, range(len(names)))
    weight = check_weights(sample_weight, columns.shape[1])
    if weight is None:
        return columns, np.ones(columns.shape[1])
    counted = weight > 0.0
    columns, weight = columns[:, counted], weight[counted]
    # Rows of large weights are no more observations than they were: the sum is their number.
    return columns, weight * (weight.sum() / (weight @ weight))


# -- The law --------------------------------------------------------------------------------------


class _Result:
    """A fitted equation as a law, with all that is measured."""

    def __init__(
        self, problem: Problem, constants: Constants, names, n_inputs: int, units, n_wrong: int
    ):
        self.problem, self.constants, self.names = problem, constants, names
        self.n_wrong = n_wrong
        self.fitted = problem._replace(weight=constants.weight)
        self.n_inputs, self.target, self.units = n_inputs, problem.target, units
        self.constant_units = {} if units is None else units_of_constants(problem.equation, units)
        self.error = float(np.sqrt(problem.mean_square(constants.residuals)))
        if self.target is None:
            self.size, variance = 1.0, 1.0
        else:
            variance = self.fitted.spread(self.target) ** 2
            self.size = float(np.sqrt(problem.mean_square(problem.columns[self.target])))
        left = self.fitted.mean_square(constants.residuals)
        self.explains = left < settings.LEAST_EXPLAINED * variance  # as a search asks

    def law(self) -> Law:
        values, stds = self.constants.values, np.sqrt(np.diag(self.constants.covariance))
        terms, coef, jacobian = _folded(self.problem.equation, values, stds)
        covariance = jacobian @ self.constants.covariance @ jacobian.T
        if self.target is not None:
            terms = _shifted(terms, self.target)
            coef, covariance = normalised(coef, covariance, pivot_of(terms, coef, self.target))
        left = self.left_over()
        name = None if self.target is None else self.names[self.target]
        parts = dict(
            names=self.names,
            target=name,
            n_inputs=self.n_inputs,
            covariance=covariance,
            error=self.error,
            relative_error=self.error / self.size if self.size else np.nan,
            lack_of_fit=left.lack.size,
            held_out_error=self.held_out(),
            errors=self.errors(),
            n_samples=len(self.problem.weight),
            verdict=self.verdict(left),
            constants={
                name: (value, std)
                for name, value, std in zip(
                    self.problem.equation.constants, values, stds, strict=True
                )
            },
            constant_units={name: str(unit) for name, unit in self.constant_units.items()},
            units=self.units,
            formula=self.formula(),
        )
        return self.nearest(Law(terms, coef, **parts), Law(terms, coef, branch=-1, **parts))

    def formula(self) -> Node | None:
        """Return what the target is as it was written, where the law's terms say less."""
        equation, values = self.problem.equation, self.constants.values
        if equation.formula is None or self.target != equation.alone:
            return None
        if equation.on_wrong_branch(self.problem.columns, values).any():
            return None
        stds = np.sqrt(np.diag(self.constants.covariance))
        numbers = list(map(Number, values.tolist(), stds.tolist()))
        return with_numbers(equation.formula, equation.n_columns, numbers)

    def nearest(self, *laws: Law) -> Law:
        """Return that branch of a law which predicts the target best."""
        if self.target is None or laws[0].solution is None:
            return laws[0]
        target = self.problem.columns[self.target]
        rows = self.problem.columns.T
        missed = [np.nan_to_num(np.abs(law.predict(rows) - target), nan=np.inf) for law in laws]
        return laws[int(np.mean(missed[1] < missed[0]) > 0.5)]

    def errors(self) -> np.ndarray:
        """Return errors in units of each column: what one would be if all of it were there."""
        problem, values = self.problem, self.constants.values
        errors = np.full(len(self.names), np.nan)
        size = problem.mean_square(problem.value(values))
        for i in problem.equation.columns:
            slope = problem.mean_square(problem.slope(values, i))
            errors[i] = np.sqrt(size / slope) if slope else np.nan
        if self.target is not None:
            errors[self.target] = self.error
        return errors

    def held_out(self) -> float:
        """Return the error on a quarter of the rows, of constants fitted to the others."""
        n_rows, values = len(self.problem.weight), self.constants.values
        order = np.random.default_rng(0).permutation(n_rows)
        apart, rest = np.sort(order[: n_rows // 4]), np.sort(order[n_rows // 4 :])
        if not len(apart) or len(rest) <= len(values):
            return np.nan
        if len(values):
            scale = np.where(values == 0.0, 1.0, np.abs(values))
            fit = refined(self.fitted.rows(rest), values, scale)
            if fit is None:
                return np.nan
            values = fit[1]
        held_out = self.problem.rows(apart)
        return float(np.sqrt(held_out.mean_square(held_out.residuals(values))))

    # -- What is left over ------------------------------------------------------------------------

    def left_over(self) -> "_LeftOver":
        """Return what columns explain of the residuals.

        All columns together explain any residual. Without a target, noise may be in one column,
        and then the others explain nothing; or in all, and then the nearest points where the
        equation holds explain nothing. What explains least counts.
        """
        residuals = self.constants.residuals
        if self.error <= settings.EXACT_CHECK * self.size:
            return _LeftOver(Lack(), [])
        if self.target is None:
            used = self.problem.equation.columns
            each = [_left_over(self.fitted, self.names, i, residuals, name=False) for i in used]
            best = used[int(np.argmin([left.lack.size for left in each]))]
            single = _left_over(self.fitted, self.names, best, residuals)
            moved = self.problem.nearest_points(self.constants.values)
            if not np.isfinite(moved).all():
                return single
            every = _left_over(self.fitted._replace(columns=moved), self.names, None, residuals)
            if single.lack.size < every.lack.size:
                return single
            # Which of the columns it is does not show in points that obey an equation.
            return every._replace(names=single.names if every.lack.is_large else [])
        left = _left_over(self.fitted, self.names, self.target, residuals)
        # A missing factor shows in relative residuals, and there it shows alone.
        predicted = self.problem.columns[self.target] - residuals
        if np.min(np.abs(predicted)) > 0.02 * np.median(np.abs(predicted)):
            relative = _left_over(self.problem, self.names, self.target, residuals / predicted)
            if relative.lack.is_large and 0 < len(relative.names) < len(left.names):
                left = left._replace(names=relative.names)
        return left

    # -- Words ------------------------------------------------------------------------------------

    def verdict(self, left: "_LeftOver") -> str:
        """Say whether the equation holds."""
        text, parts = PlainText(self.names), []
        fitted, covariance = self.constants.values, self.constants.covariance
        stds = np.sqrt(np.diag(covariance))
        for name, value, std in zip(self.problem.equation.constants, fitted, stds, strict=True):
            sign = "-" if value < 0 else ""
            size = text.size(float(value), float(std))
            parts.append(f"{name} = {sign}{self.constant_units.get(name, ONE).behind(size)}")
        if np.ptp(self.constants.weight) and not np.ptp(self.problem.weight):
            parts.append("the noise grows with the target")
        if self.n_wrong:
            n_rows = self.n_wrong + len(self.problem.weight)
            parts.append(f"{self.n_wrong} of {n_rows} rows are left out as wrong")
        if self.target is None:
            size = f"rms error {self.error:.3g} of the spread of the columns"
            target = "the columns"
        else:
            target = self.names[self.target]
            share = f"{100 * self.error / self.size:.2g} % of {target}" if self.size else "of 0"
            unit = ONE if self.units is None else self.units.columns[self.target]
            size = f"rms error {unit.behind(in_words(self.error))} ({share})"
        exact = self.error <= settings.EXACT_CHECK * self.size
        wrong = self.problem.equation.on_wrong_branch(self.problem.columns, fitted)
        if left.lack.is_large:
            columns = " and ".join(filter(None, [", ".join(left.names[:-1]), *left.names[-1:]]))
            share = f"{100 * left.lack.share:.0f} % of what it leaves over"
            reason = f"{share} depends on {columns or 'the columns together'}"
            reason += f" (lack of fit {in_words(left.lack.size)}); {size}"
        elif not (exact or self.explains):
            reason = f"{size}: it leaves more than half of the variance of {target}"
        elif np.mean(wrong) > settings.WRONG_BRANCH:
            reason = f"a square root would be negative on {100 * np.mean(wrong):.0f} % of the rows"
        else:
            if exact:
                size = "exact up to rounding"
            rest = (
                f"{', '.join(left.names)} may explain a little of what is left"
                if left.names
                else "no column explains what is left"
            )
            if not exact and len(self.problem.weight) < settings.FEW_ROWS:
                few = f"{len(self.problem.weight)} rows are too few to tell"
                return "may hold: " + "; ".join([size, *parts, few])
            return "holds: " + "; ".join([size, *parts, *([] if exact else [rest])])
        return "does not hold: " + "; ".join([reason, *parts])


def _folded(equation: GivenEquation, constants, stds) -> tuple[list[Term], np.ndarray, np.ndarray]:
    """Return terms in columns alone, their coefficients, and these by the constants."""
    folded = [
        _fold(term, number, constants, stds, equation.n_columns)
        for term, number in zip(equation.terms, equation.numbers, strict=True)
    ]
    terms = list(dict.fromkeys(term for term, _ in folded))
    place = [terms.index(term) for term, _ in folded]

    def coefficients(values):
        coef = np.zeros(len(terms))
        for j, term, number in zip(place, equation.terms, equation.numbers, strict=True):
            coef[j] += _fold(term, number, values, stds, equation.n_columns)[1]
        return coef

    steps = np.diag(np.where(constants == 0.0, 1e-6, 1e-6 * np.abs(constants)))
    jacobian = np.zeros((len(terms), len(constants)))
    for k, h in enumerate(steps):
        jacobian[:, k] = coefficients(constants + h) - coefficients(constants - h)
        jacobian[:, k] /= 2 * h.sum()
    return terms, coefficients(constants), jacobian


def _shifted(terms: list[Term], target: int) -> list[Term]:
    """Return terms such that m^2/y^2 = 1 - v^2 stands for m^2 = y^2 - y^2 v^2: m/y has a sign."""
    inside = [term for term in terms if term.involves(target)]
    outside = [term for term in terms if not term.involves(target)]
    exponents = {term.exponents[target] for term in inside}
    plain = not any(factor.involves(target) for term in inside for factor in term.factors)
    if len(inside) < 2 or len(outside) != 1 or exponents != {2.0} or not plain:
        return terms
    return [
        term.times([-2.0 * (i == target) for i in range(len(term.exponents))]) for term in terms
    ]


def _fold(term: Term, number: float, constants, stds, n_columns: int) -> tuple[Term, float]:
    """Return a term with numbers in place of constants, and its coefficient."""
    fitted = list(map(Number, constants.tolist(), stds.tolist()))
    coefficient = number * float(np.prod(constants ** np.array(term.exponents[n_columns:])))
    factors = []
    for factor in term.factors:
        scale = factor.scale * float(np.prod(constants ** np.array(factor.exponents[n_columns:])))
        inner, inside = factor.exponents[:n_columns], factor.inside
        if inside is not None:
            node = with_numbers(inside.node, n_columns, fitted)
            inside, scale = (
                (Inside(node), scale)
                if columns_of(node)
                else (None, scale * float(evaluate(node, ())))
            )
        if not (any(inner) or inside) or not scale:
            coefficient *= float(factor.function.value(np.asarray(scale))) ** factor.power
            continue
        if factor.function is FUNCTIONS["sqrt"]:
            coefficient *= abs(scale) ** (0.5 * factor.power)
            scale = float(np.sign(scale))
        factors.append(Factor(factor.function, scale, inner, factor.power, inside))
    return Term(term.exponents[:n_columns], tuple(factors)), coefficient


# -- What is left over ----------------------------------------------------------------------------


class _LeftOver(NamedTuple):
    """What columns explain of residuals, and without which of them it is significantly less."""

    lack: Lack
    names: list[str]


def _left_over(problem: Problem, names, target: int | None, residuals, name=True) -> _LeftOver:
    """Ask what smooth functions of the other columns explain of residuals."""
    step = -(-len(residuals) // settings.TESTED_ROWS)
    chosen, left = problem.rows(slice(None, None, step)), residuals[::step]
    others = [i for i, row in enumerate(chosen.columns) if i != target and row.min() < row.max()]
    if not others or len(left) < 5:
        return _LeftOver(Lack(), [])
    test = LackOfFit(chosen.columns[others], chosen.weight)
    asked = enumerate(others) if name else ()
    explaining = [names[i] for j, i in asked if test.p_value_of(j, left) < settings.SIGNIFICANT]
    return _LeftOver(test(left), explaining)
