"""Laws as results: equations that rows obey, evaluated, solved, written and saved."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from inspect import signature
from typing import Any, Literal, overload

import numpy as np

from vanishing._types import FloatArray, Table, Vector
from vanishing.algebra.expression_units import unit_of_term, with_units
from vanishing.algebra.expressions import Column, Node, evaluate, moved, plus
from vanishing.algebra.immutable import read_only
from vanishing.algebra.languages import writer
from vanishing.algebra.programs import python_function, to_sympy
from vanishing.algebra.quantities import Units
from vanishing.algebra.solving import (
    implicit,
    no_closed_form,
    normalised,
    occurring,
    pivot_of,
    solved,
)
from vanishing.algebra.terms import Evaluator, Term
from vanishing.equations.columns import read_columns
from vanishing.equations.fitted import FittedTerms
from vanishing.equations.parts import Group, check_equation, check_parts
from vanishing.equations.prediction import variance_of_prediction
from vanishing.equations.saved_law import read_parts, write_law
from vanishing.fitting.unequal_noise import Variance
from vanishing.persistence import register_result


class Law(FittedTerms):
    r"""An equation that rows obey: the sum of ``coef[j]`` times term j is zero.

    `LawFinder` and `check_law` return laws.

    Parameters
    ----------
    terms : sequence of Term
    coef : array-like of shape (n_terms,)
    names : sequence of str
        Names of all columns, different from one another; the target of a regression last.
    target : str, default=None
        The column that the law is solved for, or None where none is singled out.
    n_inputs : int, default=None
        How many of the columns are columns of X. By default all, without the target if that is
        the last.
    covariance : array-like of shape (n_terms, n_terms), default=None
        Of the coefficients; zero for one that others are relative to.
    error, relative_error : float, default=nan
        Rms error in units of the target, and its ratio to the size of the target.
    branch : {1, -1}, default=1
        Sign of a root, where the equation has two.
    evidence : float, default=nan
        How much better the law is than the best one that is really different, in nats.
    lack_of_fit : float, default=nan
        What columns still explain of the residuals: about N(0, 1) where that is nothing.
    held_out_error : float, default=nan
        Rms error on rows held out.
    errors : array-like of shape (n_columns,), default=None
        Rms errors in units of each column.
    n_samples : int, default=0
        How many rows the law was fitted to.
    verdict : str, default=""
        How well the law holds, in a sentence.
    constants : mapping from str to (float, float), default=()
        Constants of an equation that was checked: values and standard errors.
    constant_units : mapping from str to str, default=()
        Units of these constants, if those of the columns determine them.
    units : Units, default=None
        Of the columns: numbers are then written with theirs.
    offsets : array-like of shape (n_columns,), default=None
        Numbers that are subtracted from the columns before terms are evaluated: terms are then
        powers of ``x0 - 10000``. None means zeros.
    formula : Node, default=None
        The target as an expression in the other columns. A checked equation has it, so that it is
        written and evaluated as it was given, and not from its terms.
    equation : Node, default=None
        What is zero, in the columns and, behind them, the constants.
    constant_covariance : array-like of shape (n_constants, n_constants), default=None
        Of the constants.
    noise : Variance, default=None
        Variance of the target's noise as a function of the prediction. Without it the variance is
        the same everywhere, and follows from ``error``.
    group : str, int or float, default=None
        The group of rows that the law is about, where constants differ between groups.
    wrong_rows : sequence of int, default=()
        Rows that a robust fit left out as wrong, counted from 0.

    Attributes
    ----------
    terms : tuple of str
        The terms as text.
    coef, coef_std : ndarray of shape (n_terms,)
        Coefficients and their standard errors, NaN where these are not known.
    coef_units : tuple of str or None
        Their units, where those of the columns are known.
    n_terms : int
    degree : int or float
        The largest degree of a term: the sum of the sizes of its exponents.
    columns : tuple of str
        Names of the columns that occur.
    solution : Node or None
        The target as an expression in the other columns, if it has a closed form.
    total : Node
        The sum of coefficients times terms, which is zero where the law holds.

    See Also
    --------
    LawFinder : Find the laws of a table.
    check_law : Fit the constants of an equation given as text.
    ConservedQuantity : What stays the same along every run.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import Law
    >>> from vanishing.algebra.terms import monomial
    >>> covariance = np.diag([0.0, 0.002**2])
    >>> law = Law(
    ...     [monomial([0, 0, 0, 1]), monomial([1, 1, -1, 0])],
    ...     [1.0, -8.3142],
    ...     names=("n", "T", "V", "p"),
    ...     target="p",
    ...     covariance=covariance,
    ... )
    >>> print(law)
    p = 8.314(2)*n*T/V
    >>> print(law.solve("V"))
    V = 8.314(2)*n*T/p
    >>> law.predict([[1.0, 300.0, 0.024]])
    array([103927.5])
    """

    kind = "law"

    errors: FloatArray | None
    target: str | None
    n_inputs: int
    branch: int
    n_samples: int
    error: float
    relative_error: float
    evidence: float
    lack_of_fit: float
    held_out_error: float
    verdict: str
    units: Units | None
    formula: Node | None
    equation: Node | None
    constant_covariance: FloatArray | None
    noise: Variance | None
    group: Group | None
    wrong_rows: tuple[int, ...]
    _constants: tuple[tuple[str, float, float], ...]
    _constant_units: tuple[tuple[str, str], ...]

    def __init__(
        self,
        terms: Sequence[Term],
        coef: Vector,
        *,
        names: Sequence[str],
        target: str | None = None,
        n_inputs: int | None = None,
        covariance: Table | None = None,
        error: float = math.nan,
        relative_error: float = math.nan,
        branch: int = 1,
        evidence: float = math.nan,
        lack_of_fit: float = math.nan,
        held_out_error: float = math.nan,
        errors: Vector | None = None,
        n_samples: int = 0,
        verdict: str = "",
        constants: Mapping[str, tuple[float, float]] | tuple[()] = (),
        constant_units: Mapping[str, str] | tuple[()] = (),
        units: Units | None = None,
        offsets: Vector | None = None,
        formula: Node | None = None,
        equation: Node | None = None,
        constant_covariance: Table | None = None,
        noise: Variance | None = None,
        group: Group | None = None,
        wrong_rows: Sequence[int] = (),
    ):
        self._set_terms(terms, coef, names, covariance, offsets)
        if n_inputs is None:
            n_inputs = len(self.names) - (target is not None and target == self.names[-1])
        if errors is not None:
            errors = read_only(np.array(errors, dtype=np.float64))
        if constant_covariance is not None:
            constant_covariance = read_only(np.array(constant_covariance, dtype=np.float64))
        check_parts(self.names, target, n_inputs, errors, branch, units)
        check_equation(self.names, target, formula, equation, len(constants), constant_covariance)
        self._set(
            errors=errors,
            target=target,
            n_inputs=int(n_inputs),
            branch=int(branch),
            n_samples=int(n_samples),
            error=float(error),
            relative_error=float(relative_error),
            evidence=float(evidence),
            lack_of_fit=float(lack_of_fit),
            held_out_error=float(held_out_error),
            verdict=str(verdict),
            units=units,
            formula=formula,
            equation=equation,
            constant_covariance=constant_covariance,
            noise=noise,
            group=group,
            wrong_rows=tuple(map(int, wrong_rows)),
            _constant_units=tuple(dict(constant_units).items()),
            _constants=tuple((str(k), float(v), float(s)) for k, (v, s) in dict(constants).items()),
        )

    def _replace(self, **changes) -> "Law":
        """Return the law with other values of some arguments of the constructor."""
        names = [name for name in signature(Law).parameters if name != "terms"]
        same = {"terms": self._terms, **{name: getattr(self, name) for name in names}}
        return Law(**{**same, **changes})

    @property
    def constants(self) -> dict[str, tuple[float, float]]:
        """Constants of an equation that was checked: values and standard errors."""
        return {name: (value, std) for name, value, std in self._constants}

    @property
    def constant_units(self) -> dict[str, str]:
        """Units of these constants, if those of the columns determine them."""
        return dict(self._constant_units)

    @property
    def coef_units(self) -> tuple[str, ...] | None:
        """Units of the coefficients; the one that others are relative to, or the first, has "1"."""
        if self.units is None:
            return None
        units = [unit_of_term(term, self.units) for term in self._terms]
        exact = np.flatnonzero((self.coef == 1.0) & (self.coef_std == 0.0))
        whole = units[exact[0] if exact.size else 0]
        return tuple(str(whole / unit) for unit in units)

    @property
    def degree(self) -> int | float:
        """The largest degree of a term."""
        degree = max(term.degree for term in self._terms)
        return int(degree) if float(degree).is_integer() else degree

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that occur."""
        return tuple(self.names[i] for i in sorted(self._columns))

    # -- Values -----------------------------------------------------------------------------------

    def term_values(self, X: Table, y: Vector | None = None) -> FloatArray:
        """Evaluate the terms.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs), or frame
            A frame is read by the names of its columns; it may have others, and the target too.
            So may an array that has all columns of the law.
        y : array-like of shape (n_samples,), default=None
            The target, where the law has one that is no column of X.

        Returns
        -------
        values : ndarray of shape (n_samples, n_terms)
            NaN or infinite where a term is not defined.
        """
        columns = read_columns(X, y, self.names, self.n_inputs, self._columns)
        with np.errstate(all="ignore"):
            return Evaluator(self._without_offsets(columns)).values(self._terms).T

    def residual(self, X: Table, y: Vector | None = None) -> FloatArray:
        """Evaluate the law: the sum of coefficients times terms, zero where the law holds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs), or frame
        y : array-like of shape (n_samples,), default=None
            As for `term_values`.

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        with np.errstate(all="ignore"):
            return self.term_values(X, y) @ self.coef

    @overload
    def predict(self, X: Table, return_std: Literal[False] = False) -> FloatArray: ...
    @overload
    def predict(self, X: Table, return_std: Literal[True]) -> tuple[FloatArray, FloatArray]: ...
    def predict(self, X, return_std=False):
        """Return the target from the other columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs), or frame
            Where the target is a column of X, it is there and is not used; a frame may leave it
            out.
        return_std : bool, default=False
            Whether to return standard deviations, too.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            NaN where the equation has no solution.
        std : ndarray of shape (n_samples,), with ``return_std=True``
            Standard deviation of a new measurement about its prediction: the root of the variance
            that the errors of the constants make, plus that of the noise. About 95 % of new rows
            are within two of them, where noise is normal and the law holds. NaN where the errors
            of coefficients are not known.
        """
        if self.target is None:
            raise ValueError("the law is solved for no column: ask for law.solve(name).predict(X).")
        if self.solution is None:
            raise ValueError(no_closed_form(self.target))
        column = self.names.index(self.target)
        needed = self._columns - {column}
        columns = read_columns(X, None, self.names, self.n_inputs, needed, column)
        with np.errstate(all="ignore"):
            solution = evaluate(self.solution, columns)
            values = np.array(np.broadcast_to(solution, columns.shape[1]), dtype=np.float64)
            if not return_std:
                return values
            return values, np.sqrt(variance_of_prediction(self, columns, values))

    # -- Solving ----------------------------------------------------------------------------------

    def solve(self, name: str, branch: int | None = None) -> "Law":
        """Return the law solved for another column.

        Parameters
        ----------
        name : str
            A column that occurs.
        branch : {1, -1}, default=None
            Sign of a root, where there are two. 1 by default, or what it is if the law is solved
            for this column already.

        Returns
        -------
        law : Law
            With the same terms. Coefficients are relative to the term that has the column, if
            that is one alone.
        """
        column = occurring(name, self.names, self._terms, self.coef)
        same = name == self.target
        if branch is None:
            branch = self.branch if same else 1
        pivot = pivot_of(self._terms, self.coef, column)
        coef, covariance = normalised(self.coef, self.covariance, pivot)
        if same:
            error = self.error
        else:
            error = math.nan if self.errors is None else float(self.errors[column])
        law = self._replace(
            coef=coef,
            target=name,
            covariance=covariance,
            error=error,
            relative_error=self.relative_error if same else math.nan,
            branch=branch,
            held_out_error=self.held_out_error if same else math.nan,
            formula=self.formula if same else None,
            noise=self.noise if same else None,
        )
        if law.solution is None:
            raise ValueError(no_closed_form(name))
        return law

    @cached_property
    def solution(self) -> Node | None:
        """The target as an expression in the other columns, if there is one."""
        if self.formula is not None:
            return self.formula
        solution = self._solution_without_offsets
        return None if solution is None else moved(solution, self.offsets)

    @property
    def _solution_without_offsets(self) -> Node | None:
        """The target, whose own offset is added, in the other columns less theirs."""
        if self.target is None:
            return None
        column = self.names.index(self.target)
        if not any(c and t.involves(column) for c, t in zip(self.coef, self._terms, strict=True)):
            return None
        solution = solved(self._terms, self.coef, self.covariance, column, self.branch)
        return None if solution is None else plus(solution, self.offsets[column])

    def __getstate__(self):
        """Return what is pickled: the same whether or not the law has been written."""
        return {name: value for name, value in vars(self).items() if name != "solution"}

    @property
    def _sides(self) -> tuple[Node, Node]:
        if self.solution is None or self.target is None:
            left, right = implicit(self._terms, self.coef, self.coef_std)
            return moved(left, self.offsets), moved(right, self.offsets)
        return Column(self.names.index(self.target)), self.solution

    @property
    def _written_sides(self) -> tuple[Node, Node]:
        """The sides for people, whose numbers have units."""
        if self.units is None:
            return self._sides
        columns, solution = self.units.columns, self.formula or self._solution_without_offsets
        if solution is None or self.target is None:
            sides = with_units(*implicit(self._terms, self.coef, self.coef_std), self.units)
            return moved(sides[0], self.offsets, columns), moved(sides[1], self.offsets, columns)
        left, right = with_units(Column(self.names.index(self.target)), solution, self.units)
        return left, moved(right, self.offsets, columns)

    @property
    def _formula(self) -> Node:
        """What the target is, or what is zero where the law holds."""
        return self.total if self.solution is None else self.solution

    # -- Writing ----------------------------------------------------------------------------------

    def write(self, style: str = "text") -> str:
        """Write the law.

        Parameters
        ----------
        style : {"text", "latex", "html", "mathml", "sympy", "python", "c", "sql"}, default="text"
            The first four write an equation with the digits that matter. The others write an
            expression for programs, with all digits of a number. It gives the target. If there is
            no target or no closed form, it is zero on rows that obey the law.

        Returns
        -------
        text : str

        Raises
        ------
        ValueError
            If a program could not read it: a name that the language does not have, or a function of
            your own.

        See Also
        --------
        to_python : A whole function.
        to_sympy : An equation of SymPy, as an object.
        vanishing.export.to_sql : Any fitted model as SQL; `vanishing.export` has other languages.

        Examples
        --------
        >>> from vanishing import Law
        >>> from vanishing.algebra.terms import monomial
        >>> law = Law([monomial([0, 1]), monomial([2, 0])], [1, -0.5], names="ty", target="y")
        >>> law.write("c")
        '0.5 * pow(t, 2.0)'
        """
        language = writer(style, self.names)
        if language.is_formal:
            return language.write(self._formula)
        return language.equation(*self._written_sides)

    def to_sympy(self) -> Any:
        """Return the law as an equation of SymPy in symbols named as the columns."""
        return to_sympy(self.names, *self._sides)

    def to_python(self) -> str:
        """Return the source of a function ``law`` of columns that needs NumPy alone.

        It takes all columns but the target, in their order, and returns the target. If there is no
        target or no closed form, it takes all columns and returns the residual.
        """
        is_solved = self.solution is not None
        arguments = [i for i, name in enumerate(self.names) if not is_solved or name != self.target]
        note = str(self) if is_solved else f"0 where {self}"
        return python_function(self.names, arguments, self._formula, note)


# -- Saving ---------------------------------------------------------------------------------------


def read_law(reader, node) -> Law:
    """Return a law that `write_law` has written."""
    return Law(**read_parts(reader, node))


register_result(Law, write_law, read_law)
