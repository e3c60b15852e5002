"""Whether a law that somebody has in mind holds in a table."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import overload

import numpy as np

from vanishing._types import Labels, Table, Vector
from vanishing.algebra.equations import read_equation
from vanishing.algebra.expression_units import units_of_constants
from vanishing.algebra.expressions import Node, Number, with_numbers
from vanishing.algebra.quantities import ONE, read_units
from vanishing.algebra.solving import normalised, pivot_of
from vanishing.algebra.writing import PlainText, in_words
from vanishing.checks import check_flag, check_weights
from vanishing.equations.by_group import LawsByGroup
from vanishing.equations.columns import read_columns
from vanishing.equations.law import Law
from vanishing.fitting.lack_of_fit import Lack
from vanishing.fitting.unequal_noise import Variance, variance_of_noise
from vanishing.laws import settings
from vanishing.laws.constants import Constants, Undetermined, fit_constants, refined
from vanishing.laws.folding import folded, shifted
from vanishing.laws.given_problem import Problem
from vanishing.laws.groups import GroupFit, fit_by_group, near_by_group, read_groups
from vanishing.laws.left_over import LeftOver, left_over_of
from vanishing.laws.robust_constants import rows_near
from vanishing.rows.intake import refuse
from vanishing.rows.validation import refuse_values

_DEPENDENT = 1e-10  # eigenvalue, per term, of terms that depend on one another


@overload
def check_law(
    equation: str,
    X: Table,
    y: Vector | None = ...,
    *,
    sample_weight: Vector | None = ...,
    units: Mapping[str, str] | None = ...,
    robust: bool = ...,
    groups: None = ...,
) -> Law: ...
@overload
def check_law(
    equation: str,
    X: Table,
    y: Vector | None = ...,
    *,
    sample_weight: Vector | None = ...,
    units: Mapping[str, str] | None = ...,
    robust: bool = ...,
    groups: Labels,
) -> LawsByGroup: ...
def check_law(
    equation: str,
    X: Table,
    y: Vector | None = None,
    *,
    sample_weight: Vector | None = None,
    units: Mapping[str, str] | None = None,
    robust: bool = False,
    groups: Labels | None = None,
) -> Law | LawsByGroup:
    """Check whether an equation holds in a table, and fit its constants.

    Parameters
    ----------
    equation : str
        Such as ``"p*V = R*n*T"``. Text without ``=`` is an expression that should be zero. Numbers,
        names, ``+ - * /``, ``^`` or ``**``, brackets, pi, and the functions exp, log (or ln),
        log10, log2, sqrt, cbrt, abs, sign, sin, cos, tan, arcsin, arccos, arctan, sinh, cosh, tanh,
        arcsinh, arccosh, arctanh and those of `register_function`, each of any expression. Names
        that are no columns are constants, which are fitted, wherever they stand: ``"u = a*x**b"``,
        ``"v = V*x**n/(K**n + x**n)"``, ``"y = log(1 + b*x)"``, ``"N = A*2**(-t/T)"``. Columns whose
        names are no words stand in brackets: ``[heat load (kW)]``.
    X : array-like of shape (n_samples, n_features), or frame
        Columns of an array are called x0, x1, ...
    y : array-like of shape (n_samples,), default=None
        A further column, the target, named as the series is, or else y. Errors are in its units.
        Without it the target is the column that stands alone on one side, if one does. Otherwise
        errors are relative to the spread of all columns.
    sample_weight : array-like of shape (n_samples,), default=None
        The weight of each row; 1 / variance if you know that. Large weights are no more
        observations. Without weights, rows count alike, or by the inverse of their variance where
        noise grows with the target.
    units : dict from str to str, default=None
        The unit of each column, as for `LawFinder`: numbers and constants then have theirs.
    robust : bool, default=False
        Whether rows may be wrong: those far from the equation that most rows obey are left out,
        and the verdict counts them; ``wrong_rows`` of the law has their places.
    groups : array-like of shape (n_samples,), default=None
        The group of each row, such as a batch. The constants may then differ between groups: each
        is tested, and those that do not differ are shared. The equation has to hold in each group.

    Returns
    -------
    law : Law, or LawsByGroup where there are groups
        The law with the fitted numbers. If a column stands alone in the equation, the law is
        written as the equation is. ``verdict`` says whether it holds, or "may hold" if fewer than
        30 rows are too few to decide. ``constants`` has the constants and their standard errors.
        ``lack_of_fit`` measures how much columns still explain of the residuals.

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
    columns, weight, counted = _rows(X, y, names, n_inputs, sample_weight)
    in_groups = None if groups is None else read_groups(groups, len(counted)).at(counted)
    target = read.alone if y is None else len(names) - 1
    if target is not None and target not in read.columns:
        raise ValueError(f"the equation {equation!r} is not about the target {names[target]!r}.")
    n_needed = len(read.constants) + 2
    if len(weight) < n_needed:
        raise ValueError(
            f"the equation has {len(read.constants)} constants and needs at least {n_needed} rows; "
            f"got {len(weight)}" + (" that count." if sample_weight is not None else ".")
        )
    if in_groups is not None:
        in_groups.check_sizes(n_needed, "the equation")
    read_as = None if units is None else read_units(units, names)
    problem = Problem(read, columns, weight, target)
    with np.errstate(all="ignore"):
        try:
            near, start = np.ones(len(weight), dtype=bool), None
            if robust and in_groups is None:
                near = rows_near(problem)
            elif robust and in_groups is not None:
                near, start = near_by_group(problem, in_groups)
            if near.sum() < n_needed:
                raise ValueError(
                    f"only {near.sum()} rows are near the equation; {n_needed} are needed."
                )
            problem = problem.rows(near)
            fit = None
            if in_groups is None:
                constants = fit_constants(problem)
            else:
                left = in_groups.at(near)
                left.check_sizes(n_needed, "the equation")
                fit = fit_by_group(problem, left, start)
        except Undetermined as error:
            unused = [name for i, name in enumerate(names) if i not in read.columns]
            raise ValueError(f"{_mistyped(error.names, unused)}{error}") from None
        wrong = np.flatnonzero(counted)[~near]
        if in_groups is None or fit is None:
            law = _Result(problem, constants, names, n_inputs, read_as, len(wrong)).law()
            return law._replace(wrong_rows=wrong)
        by_group = [wrong[in_groups.codes[~near] == g] for g in range(len(in_groups.labels))]
        return checked_by_group(problem, fit, names, n_inputs, read_as, by_group)


def checked_by_group(
    problem: Problem, fit: GroupFit, names, n_inputs: int, units, wrong: Sequence[np.ndarray]
) -> LawsByGroup:
    """Return the laws of groups: each holds, and what all leave over depends on no column.

    Parameters
    ----------
    problem : Problem
        All rows but wrong ones.
    fit : GroupFit
    names, n_inputs, units : list of str, int, Units or None
        Of the columns.
    wrong : sequence of ndarray of int
        Rows of each group that are left out as wrong.
    """
    laws = []
    for g, label in enumerate(fit.labels):
        rows, constants = fit.of_group(g, problem)
        law = _Result(rows, constants, names, n_inputs, units, len(wrong[g])).law()
        laws.append(law._replace(group=label, wrong_rows=wrong[g]))
    whole = _Result(
        fit.problem, fit.constants, [*names, "the group"], n_inputs, None, sum(map(len, wrong))
    )
    if units is not None:
        own = units_of_constants(problem.equation, units)
        named = {name: name.partition("[")[0] for name in whole.problem.equation.constants}
        whole.constant_units = {name: own[k] for name, k in named.items() if k in own}
        whole.units = units
    laws = [law._replace(held_out_error=whole.held_out()) for law in laws]
    if fit.same_noise:
        laws = [law._replace(noise=whole.noise()) for law in laws]
    verdict = whole.verdict(whole.left_over())
    failing = [law for law in laws if law.verdict.startswith("does not hold")]
    if failing and not verdict.startswith("does not hold"):
        reason = failing[0].verdict.removeprefix("does not hold: ")
        verdict = f"does not hold in group {failing[0].group}: {reason}"
    constants = problem.equation.constants
    return LawsByGroup(
        laws,
        verdict="; ".join(filter(None, [verdict, fit.sentence(constants)])),
        p_values=fit.p_values,
        differing=[name for name, d in zip(constants, fit.differs, strict=True) if d],
    )


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


def _rows(X, y, names, n_inputs, sample_weight) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns and weights of rows that count, and which rows these are."""
    refuse_values(X, y)
    columns = read_columns(X, y, names, n_inputs, range(len(names)))
    weight = check_weights(sample_weight, columns.shape[1])
    if weight is None:
        return columns, np.ones(columns.shape[1]), np.ones(columns.shape[1], dtype=bool)
    counted = weight > 0.0
    columns, weight = columns[:, counted], weight[counted]
    # Rows of large weights are no more observations than they were: the sum is their number.
    return columns, weight * (weight.sum() / (weight @ weight)), counted


# -- The law --------------------------------------------------------------------------------------


def law_of(
    problem: Problem, constants: Constants, names, n_inputs: int, units=None, n_wrong: int = 0
) -> Law:
    """Return an equation whose constants were fitted as a law, with all that is measured."""
    return _Result(problem, constants, list(names), n_inputs, units, n_wrong).law()


def noise_of_constants(problem: Problem, constants: Constants, names) -> Variance | None:
    """Return the variance of the noise that a fitted equation leaves."""
    return _Result(problem, constants, names, len(names), None, 0).noise()


def reason_against(problem: Problem, constants: Constants, names) -> str:
    """Say why a fitted equation does not hold; "" if it does."""
    result = _Result(problem, constants, names, len(names), None, 0)
    verdict = result.verdict(result.left_over())
    failure = "does not hold: "
    return verdict.removeprefix(failure).split("; ")[0] if verdict.startswith(failure) else ""


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
        terms, coef, jacobian = folded(self.problem.equation, values, stds)
        covariance = jacobian @ self.constants.covariance @ jacobian.T
        if self.target is not None:
            terms = shifted(terms, self.target)
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
            equation=self.problem.equation.zero.node,
            constant_covariance=self.constants.covariance,
            noise=self.noise(),
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

    def noise(self) -> Variance | None:
        """Return the variance of the noise at what is predicted; None without a target."""
        if self.target is None:
            return None
        residuals, grows = self.constants.residuals, Variance()
        if np.ptp(self.constants.weight) and not np.ptp(self.problem.weight):
            predicted = self.problem.columns[self.target] - residuals
            grows = variance_of_noise(residuals, predicted)
            residuals = residuals / np.sqrt(grows.at(predicted))
        count = float(self.problem.weight.sum())
        freedom = max(count - len(self.constants.values), 1.0)
        return grows._replace(factor=self.problem.mean_square(residuals) * count / freedom)

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

    def left_over(self) -> LeftOver:
        """Return what columns explain of the residuals.

        All columns together explain any residual. Without a target, noise may be in one column,
        and then the others explain nothing; or in all, and then the nearest points where the
        equation holds explain nothing. What explains least counts.
        """
        residuals = self.constants.residuals
        if self.error <= settings.EXACT_CHECK * self.size:
            return LeftOver(Lack(), [])
        if self.target is None:
            used = self.problem.equation.columns
            each = [left_over_of(self.fitted, self.names, i, residuals, name=False) for i in used]
            best = used[int(np.argmin([left.lack.size for left in each]))]
            single = left_over_of(self.fitted, self.names, best, residuals)
            moved = self.problem.nearest_points(self.constants.values)
            if not np.isfinite(moved).all():
                return single
            every = left_over_of(self.fitted._replace(columns=moved), self.names, None, residuals)
            if single.lack.size < every.lack.size:
                return single
            # Which of the columns it is does not show in points that obey an equation.
            return every._replace(names=single.names if every.lack.is_large else [])
        left = left_over_of(self.fitted, self.names, self.target, residuals)
        # A missing factor shows in relative residuals, and there it shows alone.
        predicted = self.problem.columns[self.target] - residuals
        if np.min(np.abs(predicted)) > 0.02 * np.median(np.abs(predicted)):
            relative = left_over_of(self.problem, self.names, self.target, residuals / predicted)
            if relative.lack.is_large and 0 < len(relative.names) < len(left.names):
                left = left._replace(names=relative.names)
        return left

    # -- Words ------------------------------------------------------------------------------------

    def verdict(self, left: LeftOver) -> str:
        """Say whether the equation holds."""
        text, parts = PlainText(self.names), []
        fitted, covariance = self.constants.values, self.constants.covariance
        stds = np.sqrt(np.diag(covariance))
        for name, value, std in zip(self.problem.equation.constants, fitted, stds, strict=True):
            sign = "-" if value < 0 else ""
            size = text.size(float(value), float(std))
            parts.append(f"{name} = {sign}{self.constant_units.get(name, ONE).behind(size)}")
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
            if np.ptp(self.constants.weight) and not np.ptp(self.problem.weight):
                parts.append("the noise grows with the target")
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
