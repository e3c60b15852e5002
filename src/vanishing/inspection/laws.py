"""The anatomy of laws: what was found, and on rows what is measured, predicted, unexplained."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vanishing._types import Labels, Table, Vector
from vanishing.equations.by_group import LawsByGroup, law_of_group
from vanishing.equations.columns import read_columns
from vanishing.equations.law import Law
from vanishing.estimators.names import input_names
from vanishing.fitting.lack_of_fit import LackOfFit
from vanishing.inspection.samples import evenly
from vanishing.inspection.settings import (
    CHANCE,
    COMPARED_ROWS,
    EXACT,
    FAR,
    FLIPS,
    LEAST_ROWS,
    TESTED_ROWS,
)
from vanishing.laws import settings
from vanishing.laws.finder import LawFinder

_STEP = 1e-6  # of a derivative, relative to the spread of a column


@dataclass(frozen=True)
class LawAnatomy:
    """What a finder found, or an equation that was checked.

    Attributes
    ----------
    model : LawFinder or Law
    laws : tuple of Law
        The best first; empty where no law holds.
    front : tuple of Law
        The best equation of each number of terms, by their number.
    best : Law or None
        The law; where none holds, the equation of the front with the least error, if there is one,
        that has not too many terms for the rows.
    holds : bool
        Whether ``best`` is a law.
    verdict : str
    names : tuple of str
        Of all columns, the target's last.
    target : str or None
    by_group : LawsByGroup or None
        The laws of groups, where there are any; ``best`` is that of the first.

    See Also
    --------
    LawRows : A law on rows.
    Constants : Its constants.
    """

    model: LawFinder | Law | LawsByGroup
    laws: tuple[Law, ...]
    front: tuple[Law, ...]
    best: Law | None
    holds: bool
    verdict: str
    names: tuple[str, ...]
    target: str | None
    by_group: LawsByGroup | None = None


def is_about_laws(model) -> bool:
    """Say whether a model is a `LawFinder`, a `Law`, or `LawsByGroup`."""
    return isinstance(model, (LawFinder, Law, LawsByGroup))


def law_anatomy(model: LawFinder | Law | LawsByGroup) -> LawAnatomy:
    """Take a fitted `LawFinder`, a `Law`, or `LawsByGroup`, apart.

    Parameters
    ----------
    model : LawFinder, Law or LawsByGroup

    Returns
    -------
    anatomy : LawAnatomy

    Raises
    ------
    TypeError
        If it is neither.
    NotFittedError
        If it is not fitted.

    See Also
    --------
    law_rows : Measured and predicted values of a law.
    constants_of : The numbers of a law.
    anatomy : The same for models with generators.
    """
    if isinstance(model, Law):
        # What `check_law` says of an equation that fails; a finder's laws hold.
        holds = not model.verdict.startswith("does not hold")
        return LawAnatomy(
            model,
            (model,) if holds else (),
            (model,),
            model,
            holds,
            model.verdict,
            model.names,
            model.target,
        )
    if isinstance(model, LawsByGroup):
        return replace(
            law_anatomy(model[0]),
            model=model,
            laws=model.laws if model.holds else (),
            front=(),
            holds=model.holds,
            verdict=model.verdict,
            by_group=model,
        )
    if not isinstance(model, LawFinder):
        raise TypeError(f"{type(model).__name__} has no laws: give a LawFinder or a Law.")
    check_is_fitted(model, "laws_")
    laws = tuple(model.laws_)
    front = tuple(sorted(model.front_, key=lambda law: law.n_terms))
    best = laws[0] if laws else _least_error(front)
    if best is not None:
        names = best.names
    else:
        names = tuple(map(str, input_names(model)))
        names += () if model.target_name_ is None else (model.target_name_,)
    # The law stands beside the verdict wherever this is shown.
    verdict = model.verdict_.removeprefix(f"{best}: ")
    by_group = LawsByGroup(laws) if laws and laws[0].group is not None else None
    return LawAnatomy(
        model, laws, front, best, bool(laws), verdict, names, model.target_name_, by_group
    )


def _least_error(front: tuple[Law, ...]) -> Law | None:
    enough = [law for law in front if law.n_samples >= settings.ROWS_PER_TERM * law.n_terms]
    return min(enough or front[:1], key=lambda law: law.error, default=None)


class Constants(NamedTuple):
    """The numbers of a law with their standard errors.

    Attributes
    ----------
    left : str or None
        The term that is the sum of the others times their coefficients; None where the sum of all
        is zero. "" for an equation that was checked, whose constants have names.
    rows : list of (str, float, float, str)
        Name or term, value, standard error, which is 0 or NaN where there is none, and unit, ""
        where none is known.

    See Also
    --------
    constants_of : The constants of a law.
    LawAnatomy : What a finder found.
    """

    left: str | None
    rows: list[tuple[str, float, float, str]]

    @property
    def has_units(self) -> bool:
        """Whether units are known."""
        return any(unit for *_, unit in self.rows)

    @property
    def is_single(self) -> bool:
        """Whether the term on the left is a number."""
        return bool(self.left) and [name for name, *_ in self.rows] == ["1"]


def constants_of(law: Law) -> Constants:
    """Return the numbers of a law; those of a checked equation have names.

    See Also
    --------
    Constants : What is returned.
    """
    if law.constants:
        units = law.constant_units
        rows = [(name, *pair, units.get(name, "")) for name, pair in law.constants.items()]
        return Constants("", rows)
    numbers = (law.coef.tolist(), law.coef_std.tolist(), law.coef_units or [""] * law.n_terms)
    rows = list(zip(law.terms, *numbers, strict=True))
    fixed = [row for row in rows if row[1] == 1.0 and row[2] == 0.0]
    if law.target is None or len(fixed) != 1:
        return Constants(None, rows)
    left = fixed[0][0]
    others = [(term, -value, std, unit) for term, value, std, unit in rows if term != left]
    offset = law.offsets[list(law.names).index(law.target)]
    if offset and left.startswith(f"{law.target} ") and "1" in law.terms:
        # As the law is written: what is taken from the column stands on the right.
        others = [(t, v + offset * (t == "1"), std, unit) for t, v, std, unit in others]
        left = law.target
    return Constants(left, others)


# -- Rows -----------------------------------------------------------------------------------------


class LawRows(NamedTuple):
    """What a law says of rows.

    Attributes
    ----------
    law : Law
        Solved for the column, where there is a closed form.
    name : str
        The column that is predicted.
    measured, predicted : ndarray of shape (n_samples,)
        Predictions are NaN where the law has no solution.
    others : dict from str to ndarray of shape (n_samples,)
        The other columns.
    units : dict from str to str
        Of the columns, where they are known; pure numbers have none.
    std : ndarray of shape (n_samples,)
        Standard deviation of a new measurement about its prediction; NaN where it is not known.
    groups : ndarray of shape (n_samples,) or None
        Of the rows, where the laws differ between groups.

    See Also
    --------
    LawAnatomy : What a finder found.
    unexplained : What a law leaves unexplained.
    """

    law: Law
    name: str
    measured: np.ndarray
    predicted: np.ndarray
    others: dict[str, np.ndarray]
    units: dict[str, str]
    std: np.ndarray
    groups: np.ndarray | None = None

    @property
    def far(self) -> np.ndarray:
        """Say which rows are so far from the law that a robust fit would leave them out."""
        with np.errstate(invalid="ignore"):
            return np.abs(self.residuals) > settings.FAR * self.std

    def in_unit(self, what: str, name: str | None = None) -> str:
        """Write something with the unit of a column, by default of that which is predicted."""
        unit = self.units.get(self.name if name is None else name)
        return what if unit is None else f"{what} [{unit}]"

    @property
    def residuals(self) -> np.ndarray:
        """Measured minus predicted, NaN where the law has no solution."""
        return self.measured - self.predicted

    @property
    def error(self) -> float:
        """Rms error on the rows where the law has a solution."""
        finite = self.residuals[np.isfinite(self.residuals)]
        return float(np.sqrt(np.mean(finite**2))) if finite.size else np.nan

    @property
    def n_undefined(self) -> int:
        """The number of rows that the law has no solution for."""
        return int(np.count_nonzero(~np.isfinite(self.predicted)))

    def thinned(self, limit: int) -> "LawRows":
        """Return at most so many rows, evenly out of all."""
        chosen = evenly(len(self.measured), limit)
        return self._replace(
            measured=self.measured[chosen],
            predicted=self.predicted[chosen],
            others={name: values[chosen] for name, values in self.others.items()},
            std=self.std[chosen],
            groups=None if self.groups is None else self.groups[chosen],
        )


def running(x: np.ndarray, values: np.ndarray, most: int = 20) -> tuple[np.ndarray, ...]:
    """Return centres of groups of equally many rows along x, and quartiles of values there."""
    good = np.isfinite(x) & np.isfinite(values)
    x, values = x[good], values[good]
    order = np.argsort(x, kind="stable")
    n_groups = int(np.clip(len(x) // 20, 1, most))
    groups = [group for group in np.array_split(order, n_groups) if len(group)]
    centres = np.array([np.median(x[group]) for group in groups])
    quartiles = np.array([np.quantile(values[group], [0.25, 0.5, 0.75]) for group in groups])
    low, middle, high = quartiles.reshape(-1, 3).T
    return centres, low, middle, high


def shown_range(values: np.ndarray) -> tuple[float, float]:
    """Return the range of values that a picture shows: far ones must not make others look alike."""
    low, first, middle, third, high = np.nanquantile(values, [0.0, 0.25, 0.5, 0.75, 1.0])
    reach = FAR * (third - first)
    if not reach > 0.0:
        return float(low), float(high)
    return float(max(low, middle - reach)), float(min(high, middle + reach))


def law_rows(
    law: Law | LawsByGroup,
    X: Table,
    y: Vector | None = None,
    *,
    column: str | None = None,
    groups: Labels | None = None,
) -> LawRows:
    """Return measured and predicted values of a column.

    Parameters
    ----------
    law : Law or LawsByGroup
    X : array-like of shape (n_samples, n_inputs), or frame
        A frame is read by the names of its columns, the target among them where y is left out.
    y : array-like of shape (n_samples,), default=None
        The target.
    column : str, default=None
        The column to predict: by default the target. A law without one is solved for each of its
        columns. Columns with a closed form and one solution come first. Among them, the column
        whose residuals the others explain least is taken, since the noise may be in it alone.
    groups : array-like of shape (n_samples,), default=None
        The group of each row, of laws by group.

    Returns
    -------
    rows : LawRows
        Of two solutions of a law that was found without a target, the one nearer to the measured
        value. Without a closed form, one step of Newton's method from the measured value.

    See Also
    --------
    unexplained : What the law leaves unexplained on these rows.
    vanishing.plot.LawPredictionDisplay : A picture of them.
    """
    if isinstance(law, LawsByGroup):
        return _rows_by_group(law, X, y, column, groups)
    columns = read_columns(X, y, law.names, law.n_inputs, range(len(law.names)))
    name = column if column is not None else law.target
    if name is not None:
        return _rows_of(law, columns, name)
    counts = {name: len(_solutions(law, name)) or 3 for name in law.columns}
    best = [name for name, count in counts.items() if count == min(counts.values())]
    if len(best) == 1:
        return _rows_of(law, columns, best[0])
    step = -(-columns.shape[1] // COMPARED_ROWS)
    shares = [_explained_share(_rows_of(law, columns[:, ::step], name)) for name in best]
    return _rows_of(law, columns, best[int(np.argmin(shares))])


def _rows_by_group(laws: LawsByGroup, X, y, column: str | None, groups) -> LawRows:
    """Return what the laws of groups say of rows."""
    if groups is None:
        raise ValueError("the laws are by group: say which group each row belongs to.")
    first, labels = laws[0], np.asarray(groups)
    columns = read_columns(X, y, first.names, first.n_inputs, range(len(first.names)))
    if labels.shape != (columns.shape[1],):
        raise ValueError(f"groups must have one entry per row of X, {columns.shape[1]}.")
    whole = _rows_of(first, columns, column or first.target or first.names[-1])
    predicted, std = np.full(len(labels), np.nan), np.full(len(labels), np.nan)
    for label in dict.fromkeys(labels.tolist()):
        rows = labels == label
        part = _rows_of(law_of_group(laws.laws, label), columns[:, rows], whole.name)
        predicted[rows], std[rows] = part.predicted, part.std
    return whole._replace(predicted=predicted, std=std, groups=labels)


def _explained_share(rows: LawRows) -> float:
    """Return the share of the residuals that all other columns together explain."""
    good = np.isfinite(rows.predicted)
    residuals = rows.residuals[good]
    columns = np.array([v[good] for v in rows.others.values() if np.ptp(v[good]) > 0])
    if len(residuals) < LEAST_ROWS or not len(columns):
        return 1.0
    return float(LackOfFit(columns).share(residuals)) if residuals.any() else 0.0


def _rows_of(law: Law, columns: np.ndarray, name: str) -> LawRows:
    solutions = _solutions(law, name)
    place = law.names.index(name)
    measured = columns[place]
    std = np.full(len(measured), np.nan)
    if solutions:
        predicted, std = solutions[0].predict(columns.T, return_std=True)
        for other in solutions[1:]:
            second, other_std = other.predict(columns.T, return_std=True)
            nearer = np.abs(second - measured) < np.abs(predicted - measured)
            nearer |= np.isnan(predicted)
            predicted, std = np.where(nearer, second, predicted), np.where(nearer, other_std, std)
    else:
        predicted = measured - _step(law, columns, place)
    return LawRows(
        law=solutions[0] if solutions else law,
        name=name,
        measured=measured,
        predicted=np.where(np.isfinite(predicted), predicted, np.nan),
        others={other: columns[i] for i, other in enumerate(law.names) if i != place},
        units=_units(law),
        std=std,
    )


def _units(law: Law) -> dict[str, str]:
    if law.units is None:
        return {}
    pairs = zip(law.names, law.units.columns, strict=True)
    return {name: str(unit) for name, unit in pairs if not unit.is_one}


def _solutions(law: Law, name: str) -> list[Law]:
    """Return the law solved for a column: none without a closed form, two for two roots."""
    try:
        first = law.solve(name)
    except ValueError:
        if name not in law.columns:
            raise
        return []
    if name == law.target:
        return [first]
    second = law.solve(name, branch=-first.branch)
    return [first] if str(first) == str(second) else [first, second]


def _step(law: Law, columns: np.ndarray, place: int) -> np.ndarray:
    """Return the residual in units of a column, to first order."""
    h = _STEP * (np.std(columns[place]) or 1.0)
    values = []
    for shift in (h, -h, 0.0):
        moved = columns.copy()
        moved[place] += shift
        values.append(law.residual(moved.T))
    with np.errstate(all="ignore"):
        return values[2] * 2 * h / (values[0] - values[1])


# -- What is unexplained --------------------------------------------------------------------------


class Unexplained(NamedTuple):
    """What a law leaves unexplained, and what smooth functions of columns explain of that.

    Attributes
    ----------
    explained : float
        Share of the variance of the target that the law explains.
    names : tuple of str
        The other columns, and last ``""`` for all of them together.
    shares : ndarray of shape (n_names,)
        Share of the unexplained part that a smooth function explains.
    chance : ndarray of shape (n_names,)
        The share that chance alone exceeds once in a hundred tables.
    exact : bool
        Whether the unexplained part is rounding; shares are 0 then.

    See Also
    --------
    unexplained : What a law leaves unexplained.
    """

    explained: float
    names: tuple[str, ...]
    shares: np.ndarray
    chance: np.ndarray
    exact: bool


def unexplained(rows: LawRows) -> Unexplained:
    """Return what a law leaves unexplained on rows.

    Smooth functions are sums of Legendre polynomials of the column, or its logarithm. Chance
    reaches their share in the same residuals with random signs. So noise that is larger on some
    rows than on others does not pass for a pattern.

    See Also
    --------
    Unexplained : What is returned.
    """
    good = np.isfinite(rows.predicted)
    measured, residuals = rows.measured[good], rows.residuals[good]
    names = tuple(name for name, values in rows.others.items() if np.ptp(values[good], axis=0) > 0)
    spread = np.var(measured)
    explained = 1.0 - np.mean(residuals**2) / spread if spread else np.nan
    names_and_all = (*names, "") if len(names) > 1 else names
    zeros = np.zeros(len(names_and_all))
    size = np.sqrt(np.mean(measured**2)) if len(measured) else 0.0
    exact = not len(residuals) or bool(np.sqrt(np.mean(residuals**2)) <= EXACT * size)
    if exact or not names or len(residuals) < LEAST_ROWS:
        return Unexplained(float(explained), names_and_all, zeros, zeros + 1.0, exact)
    step = -(-len(residuals) // TESTED_ROWS)
    residuals = residuals[::step] - residuals.mean()  # an offset is no column's doing
    columns = np.array([rows.others[name][good][::step] for name in names])
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(len(residuals), FLIPS))
    together = np.column_stack([residuals, residuals[:, None] * signs])
    sets = [columns[[i]] for i in range(len(names))] + ([columns] if len(names) > 1 else [])
    shares, chance = [], []
    for inputs in sets:
        share, *flipped = LackOfFit(inputs).share(together)
        shares.append(share)
        chance.append(np.quantile(flipped, CHANCE))
    return Unexplained(
        float(explained), names_and_all, np.array(shares), np.array(chance), exact=False
    )


def percent(share: float) -> str:
    """Write a share near 1 with as many digits as tell it from 1."""
    rest = 100.0 * abs(1.0 - share)
    digits = 1 if not rest > 0.0 else int(np.clip(1 - np.floor(np.log10(rest)), 1, 9))
    return f"{100.0 * share:.{digits}f} %"
