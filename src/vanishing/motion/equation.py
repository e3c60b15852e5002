"""An equation of motion: the derivative of a column as terms with fitted coefficients."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vanishing._types import FloatArray, Table, Vector
from vanishing.algebra.expression_units import with_units
from vanishing.algebra.expressions import Column, Node, evaluate
from vanishing.algebra.languages import writer
from vanishing.algebra.markup import MathML
from vanishing.algebra.programs import python_function, to_sympy
from vanishing.algebra.quantities import Units
from vanishing.algebra.saving import read_saved_units, write_units
from vanishing.algebra.terms import Evaluator, Term
from vanishing.equations.columns import read_columns
from vanishing.equations.fitted import FittedTerms, read_terms
from vanishing.equations.parts import GROUP, Group
from vanishing.persistence import register_result


class EquationOfMotion(FittedTerms):
    """The derivative of a column: the sum of ``coef[j]`` times term j.

    `EquationsOfMotion` finds them, one per column.

    Parameters
    ----------
    terms : sequence of Term
    coef : array-like of shape (n_terms,)
    names : sequence of str
        Names of all variables, different from one another: columns, for order 2 their velocities,
        and inputs.
    target : str
        The column whose derivative this is.
    order : {1, 2}, default=1
        Of the derivative.
    covariance : array-like of shape (n_terms, n_terms), default=None
        Of the coefficients; None where they are not known.
    constants : mapping from str to (float, float), default=()
        Constants inside terms: values and standard errors.
    evidence : float, default=nan
        How much better the equation is than the best one that lacks one of its terms, in nats.
    explained : float, default=nan
        Share of the column's variance that the integrated equations explain.
    lack_of_fit : float, default=nan
        How far residuals of neighbouring rows are alike: about N(0, 1) where they are noise.
    units : Units, default=None
        Of the variables and, last, of the derivative.
    batch : str, int or float, default=None
        The batch of runs that the equation is about, where constants differ between batches.

    Attributes
    ----------
    terms : tuple of str
        The terms as text.
    coef, coef_std : ndarray of shape (n_terms,)
        Coefficients and their standard errors: NaN where these are not known, 0 for constants that
        were given.
    n_terms : int
        Number of terms.
    names : tuple of str
        Names of all variables.
    columns : tuple of str
        Names of those that occur in the terms.
    left : str
        The left side as text, such as "dx/dt".
    heading : str
        The same with the batch before it, if there is one: "A: dx/dt".

    See Also
    --------
    vanishing.EquationsOfMotion : Finds equations.
    vanishing.Law : An equation that all rows obey.

    Examples
    --------
    >>> from vanishing import EquationOfMotion
    >>> from vanishing.algebra.terms import monomial
    >>> equation = EquationOfMotion(
    ...     [monomial([1, 0]), monomial([1, 1])],
    ...     [1.84, -1.45],
    ...     names=["prey", "hunter"],
    ...     target="prey",
    ... )
    >>> print(equation)
    dprey/dt = 1.84*prey - 1.45*prey*hunter
    >>> equation.predict([[2.0, 1.0]])
    array([0.78])
    """

    kind = "motion equation"

    target: str
    order: int
    evidence: float
    explained: float
    lack_of_fit: float
    units: Units | None
    batch: Group | None
    _constants: tuple[tuple[str, float, float], ...]

    def __init__(
        self,
        terms: Sequence[Term],
        coef: Vector,
        *,
        names: Sequence[str],
        target: str,
        order: int = 1,
        covariance: Table | None = None,
        constants: Mapping[str, tuple[float, float]] | tuple[()] = (),
        evidence: float = math.nan,
        explained: float = math.nan,
        lack_of_fit: float = math.nan,
        units: Units | None = None,
        batch: Group | None = None,
    ):
        self._set_terms(terms, coef, names, covariance, None)
        if target not in self.names:
            raise ValueError(f"the target {target!r} is no column of the equation of motion.")
        if order not in (1, 2):
            raise ValueError(f"order must be 1 or 2; got {order!r}.")
        self._set(
            target=str(target),
            order=int(order),
            evidence=float(evidence),
            explained=float(explained),
            lack_of_fit=float(lack_of_fit),
            units=units,
            batch=batch,
            _constants=tuple((str(k), float(v), float(s)) for k, (v, s) in dict(constants).items()),
        )

    @property
    def constants(self) -> dict[str, tuple[float, float]]:
        """Constants inside terms: values and standard errors."""
        return {name: (value, std) for name, value, std in self._constants}

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the variables that occur in the terms."""
        return tuple(self.names[i] for i in sorted(self._columns))

    @property
    def left(self) -> str:
        """The left side as text."""
        return f"d{self.target}/dt" if self.order == 1 else f"d2{self.target}/dt2"

    @property
    def heading(self) -> str:
        """The left side, with the batch before it if there is one."""
        return self.left if self.batch is None else f"{self.batch}: {self.left}"

    @property
    def degree(self) -> int | float:
        """The largest degree of a term."""
        degree = max(term.degree for term in self._terms)
        return int(degree) if float(degree).is_integer() else degree

    # -- Values -----------------------------------------------------------------------------------

    def term_values(self, X: Table) -> FloatArray:
        """Evaluate the terms.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_variables), or frame
            A frame is read by the names of its columns.

        Returns
        -------
        values : ndarray of shape (n_samples, n_terms)
            NaN or infinite where a term is not defined.
        """
        columns = read_columns(X, None, self.names, len(self.names), self._columns)
        with np.errstate(all="ignore"):
            return Evaluator(columns).values(self._terms).T

    def predict(self, X: Table) -> FloatArray:
        """Return the derivative.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_variables), or frame
            As for `term_values`.

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        columns = read_columns(X, None, self.names, len(self.names), self._columns)
        with np.errstate(all="ignore"):
            values = evaluate(self.total, columns)
        return np.array(np.broadcast_to(values, columns.shape[1]))

    # -- Writing ----------------------------------------------------------------------------------

    @property
    def _written_total(self) -> Node:
        """The right side for people, whose numbers have units."""
        if self.units is None:
            return self.total
        return with_units(Column(len(self.names)), self.total, self.units)[1]

    def write(self, style: str = "text") -> str:
        """Write the equation.

        Parameters
        ----------
        style : {"text", "latex", "html", "mathml", "sympy", "python", "c", "sql"}, default="text"
            The first four write an equation with the digits that matter, the others an expression
            with all digits, for a program to read.

        Returns
        -------
        text : str
        """
        if style == "text":
            return f"{self.heading} = {writer(style, self.names).write(self._written_total)}"
        if style == "latex":
            language = writer(style, self.names)
            name = language.write(Column(self.names.index(self.target)))
            above = rf"\mathrm{{d}} {name}" if self.order == 1 else rf"\mathrm{{d}}^2 {name}"
            below = r"\mathrm{d} t" if self.order == 1 else r"\mathrm{d} t^2"
            return rf"\frac{{{above}}}{{{below}}} = {language.write(self._written_total)}"
        if style == "mathml":
            return self._mathml()
        language = writer(style, (*self.names, self.left))
        if language.is_formal:
            return language.write(self.total)
        return language.equation(Column(len(self.names)), self._written_total)

    def _mathml(self) -> str:
        """Write the equation with the derivative as a fraction."""
        language = MathML(self.names)
        letter = '<mi mathvariant="normal">d</mi>'
        name, time = language.name(self.target), "<mi>t</mi>"
        above, below = letter + name, letter + time
        if self.order == 2:
            above = language.superscript(letter, "2") + name
            below = letter + language.superscript(time, "2")
        left = f"<mfrac><mrow>{above}</mrow><mrow>{below}</mrow></mfrac>"
        right = language.signed(self._written_total).text
        return language.whole(f"<mrow>{left}{language.equals}{right}</mrow>")

    def to_sympy(self) -> Any:
        """Return an equation of SymPy: a symbol for the derivative, and the right side."""
        return to_sympy((*self.names, self.left), Column(len(self.names)), self.total)

    def to_python(self) -> str:
        """Return the source of a function of all variables that needs NumPy alone."""
        source = python_function(self.names, range(len(self.names)), self.total, str(self))
        return source.replace("def law(", "def derivative(", 1)


# -- Saving ---------------------------------------------------------------------------------------

_MEASURED = ("evidence", "explained", "lack_of_fit")


def write_equation(writer, equation: EquationOfMotion) -> dict:
    """Write an equation as JSON values."""
    node = {
        "equation": str(equation),
        **equation.written_terms(writer),
        "target": equation.target,
        "order": equation.order,
        "constants": {
            name: list(map(writer.float, pair)) for name, pair in equation.constants.items()
        },
        **{name: writer.float(getattr(equation, name)) for name in _MEASURED},
    }
    if equation.units is not None:
        node["units"] = write_units(writer, equation.units)
    if equation.batch is not None:
        node["batch"] = equation.batch
    return node


def read_equation(reader, node) -> EquationOfMotion:
    """Return an equation that `write_equation` has written."""
    keys = ("names", "terms", "coef", "covariance", "target", "order", "constants")
    names, terms, coef, covariance, target, order, constants, *rest = reader.fields(
        node,
        "an equation of motion",
        (*keys, *_MEASURED),
        ("equation", "units", "offsets", "batch"),
    )
    *measured, _, units, offsets, batch = rest
    parts = read_terms(reader, names, terms, coef, covariance, offsets)
    parts.pop("offsets")
    reader.require(isinstance(constants, dict), "constants of an equation are not an object.")
    inner = {
        name: tuple(reader.measured(v, name) for v in reader.listed(pair, name, 2))
        for name, pair in constants.items()
    }
    if units is not None:
        units = read_saved_units(reader, units, len(parts["names"]) + 1)
    return EquationOfMotion(
        **parts,
        target=reader.string(target, "target"),
        order=reader.integer(order, "order", 1, 2),
        constants=inner,
        units=units,
        batch=batch if isinstance(batch, GROUP) else None,
        **{k: reader.measured(v, k) for k, v in zip(_MEASURED, measured, strict=True)},
    )


register_result(EquationOfMotion, write_equation, read_equation)
