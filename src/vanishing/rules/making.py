"""`rules_of`: laws, and what a table supports beside them, as rules."""

from collections.abc import Iterable, Mapping

import numpy as np

from vanishing._types import Table
from vanishing.algebra.equations import read_equation
from vanishing.checks import check_number
from vanishing.equations.by_group import LawsByGroup
from vanishing.equations.law import Law
from vanishing.laws.check import check_law
from vanishing.outliers.detector import VanishingOutlierDetector
from vanishing.rows.intake import refuse
from vanishing.rules.columns import is_text, read_columns
from vanishing.rules.law_rules import checked_law, with_normal_tolerance, without_weaker
from vanishing.rules.products import product_laws
from vanishing.rules.rules import Rules
from vanishing.rules.support import column_rules, order_rules


def rules_of(
    model_or_laws: object, X: Table | None = None, *, false_alarm_rate: float = 0.001
) -> Rules:
    """Write laws down as rules that a table or a database can check, row by row.

    Parameters
    ----------
    model_or_laws : estimator, Law, str, or iterable of Law and str
        What has ``laws_``, such as a fitted `VanishingOutlierDetector` or `LawFinder`; laws; or
        equations such as ``"net = quantity*price"``, whose constants are fitted to X by
        `check_law`. With a detector and X, products of two columns are tried, too.
    X : array-like of shape (n_rows, n_columns), or frame, default=None
        The table that tolerances, ranges and codes come from. Some rows may be wrong: those that
        break a law are left out. Columns may hold texts, and cells may be missing. Without X there
        are rules of the laws alone, for normal noise.
    false_alarm_rate : float, default=0.001
        Share of right rows that all rules together may refuse.

    Returns
    -------
    rules : Rules
        First come the laws, each with its tolerance. For each column there are a range, its sign,
        whole numbers, and the codes seen. Last come pairs of columns, one of which is never above
        the other. A sign, an order, whole numbers or codes are rules only if there are enough rows:
        the chance that it held in all of them by accident is below 0.001. A range has room for rows
        to come.

    See Also
    --------
    VanishingOutlierDetector : Finds laws, and rows that break them, without rules to write down.
    check_law : Says whether an equation holds in a table.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from vanishing import rules_of
    >>> random = np.random.default_rng(0)
    >>> table = pd.DataFrame({
    ...     "pieces": random.integers(1, 400, 2000),
    ...     "price": random.uniform(2, 30, 2000).round(2),
    ...     "kind": random.choice(["old", "new"], 2000),
    ... })
    >>> table["net"] = (table["pieces"] * table["price"]).round(2)
    >>> rules = rules_of("net = pieces*price", table)
    >>> print(rules)
    net = pieces*price, up to ...
    pieces is a whole number
    ...
    kind is one of new, old
    ...
    """
    check_number("false_alarm_rate", false_alarm_rate, low=0.0, low_open=True, high=0.5)
    laws, names = _laws_of(model_or_laws)
    if X is None:
        return _of_laws_alone(laws, false_alarm_rate)
    refuse(rules_of, X)
    columns = read_columns(X, _names_of_array(X, names))
    if not len(next(iter(columns.values()))):
        raise ValueError("X has no rows.")
    known = [_checked(law, columns) if isinstance(law, str) else law for law in laws]
    if isinstance(model_or_laws, VanishingOutlierDetector):
        known += product_laws(columns, known)
    return _of_table(known, columns, false_alarm_rate)


def _of_laws_alone(laws: list[Law | str], rate: float) -> Rules:
    if any(isinstance(law, str) for law in laws):
        raise ValueError("equations in words are fitted to rows: give X.")
    rules = [with_normal_tolerance(law, rate / len(laws)) for law in laws if isinstance(law, Law)]
    names = dict.fromkeys(name for law in laws if isinstance(law, Law) for name in law.names)
    return Rules(rules, names)


def _of_table(laws: list[Law], columns: dict[str, np.ndarray], rate: float) -> Rules:
    """Return the rules of laws and of a table: half of the rate is for laws, half for ranges."""
    missing = [name for law in laws for name in law.columns if name not in columns]
    if missing:
        raise ValueError(f"X has no column {missing[0]!r}, which a law is about.")
    found = [checked_law(law, columns) for law in laws]
    kept = without_weaker([law for law in found if law is not None])
    right = np.ones(len(next(iter(columns.values()))), dtype=bool)
    for law in kept:
        right &= ~law.wrong
    of_laws = [law.with_tolerance(rate / (2 * len(kept))) for law in kept]
    rows = {name: column[right] for name, column in columns.items()}
    return Rules(
        [
            *(rule for rule in of_laws if rule is not None),
            *column_rules(rows, rate / 2.0),
            *order_rules(rows),
        ],
        columns,
        [name for name, column in columns.items() if is_text(column)],
    )


def _laws_of(model_or_laws) -> tuple[list[Law | str], tuple[str, ...] | None]:
    """Return laws, and names of columns where a model knows them."""
    if isinstance(model_or_laws, (Law, str)):
        return [model_or_laws], None
    if isinstance(model_or_laws, LawsByGroup):
        raise ValueError(
            "laws by group make no rule of single rows: give one of them, such as laws_[0], and "
            "its rows."
        )
    names = None
    if hasattr(model_or_laws, "fit"):
        if not hasattr(model_or_laws, "laws_"):
            raise TypeError(
                f"rules are made of a fitted model with laws_; {type(model_or_laws).__name__} has "
                "none."
            )
        names = getattr(model_or_laws, "column_names_", None)
        model_or_laws = model_or_laws.laws_
    if isinstance(model_or_laws, Mapping) or not isinstance(model_or_laws, Iterable):
        raise TypeError(
            f"rules are made of a model with laws_, or of laws; got {type(model_or_laws).__name__}."
        )
    laws = list(model_or_laws)
    wrong = [law for law in laws if not isinstance(law, (Law, str))]
    if wrong:
        raise TypeError(f"a law is a Law or an equation as text; got {type(wrong[0]).__name__}.")
    if any(isinstance(law, Law) and law.group is not None for law in laws) and len(laws) > 1:
        raise ValueError("laws by group make no rules of single rows: give one of them.")
    return laws, None if names is None else tuple(names)


def _names_of_array(X, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return names for the columns of an array; a frame has its own."""
    return None if hasattr(X, "columns") else names


def _checked(equation: str, columns: dict[str, np.ndarray]) -> Law:
    """Return an equation with constants that are fitted; refuse one that does not hold."""
    numbers = {name: column for name, column in columns.items() if not is_text(column)}
    names = list(numbers)
    used = [names[i] for i in read_equation(equation, names).columns]
    if not used:
        raise ValueError(f"{equation!r} is about no column of numbers; X has {names[:10]}.")
    rows = np.all([np.isfinite(numbers[name]) for name in used], axis=0)
    frame = _Frame({name: numbers[name][rows] for name in used})
    law = check_law(equation, frame)
    if law.verdict.startswith("does not hold"):  # for a few rows that are wrong, perhaps
        law = check_law(equation, frame, robust=True)
    if law.verdict.startswith("does not hold"):
        raise ValueError(f"{equation!r} is no rule of this table, it {law.verdict}")
    return law


class _Frame(dict[str, np.ndarray]):
    """Columns by name, as those who read frames take them."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.column_stack(list(self.values())).astype(dtype)
