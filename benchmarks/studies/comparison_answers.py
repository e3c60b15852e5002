"""What methods answer, in the form that the judge of laws takes: terms of an equation in columns.

An equation that is linear in its coefficients has its terms. An expression of genetic programming
has constants inside as well: the judge asks whether there are coefficients with which the terms
vanish, so constants inside are first given the values that fit fresh rows without noise. All
columns are in one array here, the target (where there is one) last.
"""

import ast
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import sympy
from law_judge import FRESH_ROWS, is_law
from scipy.optimize import least_squares

ACCURATE = 0.999  # R2 of SRBench's "accuracy solution"
NEGLIGIBLE = 1e-3  # of a sum: addends below are dropped, as SRBench rounds to three digits
USED = 1e-6  # of the largest addend: an addend that is smaller with the best constants is not used
REFIT_ROWS = 400
FAR = 0.5  # R2 below which an expression is not looked at more closely, as in SRBench
STEP = 1e-6  # of a column's spread, for derivatives


def all_columns(X, y):
    return X if y is None else np.column_stack([X, y])


class Support:
    """Terms as the judge of laws takes them."""

    def __init__(self, values):
        self.values = values

    def term_values(self, X, y=None):
        return self.values(all_columns(X, y))


# ---------------------------------------------------------------------------------------- answers


class TermsAnswer(NamedTuple):
    """A sum of coefficients times terms that is zero."""

    text: str
    values: Callable  # columns -> (n_samples, n_terms)
    coef: np.ndarray
    constant: int | None = None  # which term is the constant, where a method always has one

    def residual(self, columns):
        return self.values(columns) @ self.coef

    def supports(self, fresh):
        yield Support(self.values)
        if self.constant is not None:
            others = np.arange(len(self.coef)) != self.constant
            yield Support(lambda columns: self.values(columns)[:, others])


class LawAnswer(NamedTuple):
    """A law of `LawFinder`."""

    text: str
    law: object
    with_target: bool

    def residual(self, columns):
        if self.with_target:
            return self.law.residual(columns[:, :-1], columns[:, -1])
        return self.law.residual(columns)

    def supports(self, fresh):
        yield self.law


class ExpressionAnswer(NamedTuple):
    """A column as an expression of SymPy in the others."""

    text: str
    expression: sympy.Expr
    column: int

    def residual(self, columns):
        return columns[:, self.column] - evaluate(self.expression, columns)

    def supports(self, fresh):
        columns = _finite(fresh, REFIT_ROWS)
        short = without_negligible(self.expression, columns)
        # Linear scaling adds a constant to every expression, and SRBench allows for one.
        forms = [
            form
            for one in (short, self.expression)
            for form in (one.as_independent(*SYMBOLS)[1], one)
        ]
        for form in dict.fromkeys(forms):
            values = terms_with_best_constants(form, columns, self.column)
            if values is not None:
                yield Support(values)


def _finite(fresh, n_samples, beyond=0.0):
    with np.errstate(all="ignore"):
        columns = all_columns(*fresh(n_samples, np.random.RandomState(1), beyond))
    return columns[np.isfinite(columns).all(axis=1)]


def is_found(answer, fresh):
    """Say whether an answer is the law, by the judge of laws."""
    return any(is_law(support, fresh) for support in answer.supports(fresh))


def fit_of(answer, fresh, column=None):
    """Return R2 on fresh rows without noise, with errors in units of a column, to first order.

    For an expression in the other columns this is R2 as usual. Without a column: one minus the
    mean square distance to the law, in units of the columns' standard deviations.
    """
    columns = _finite(fresh, FRESH_ROWS)
    spread = columns.std(axis=0)
    with np.errstate(all="ignore"):
        residual = answer.residual(columns)
        slopes = []
        for i in range(columns.shape[1]) if column is None else [column]:
            step = np.zeros(columns.shape[1])
            step[i] = STEP * spread[i]
            change = answer.residual(columns + step) - answer.residual(columns - step)
            slopes.append(change / (2 * STEP))
        error = residual / np.sqrt(np.sum(np.square(slopes), axis=0))
    error = np.where(np.isfinite(error), error, 1e6)
    return 1.0 - np.mean(np.square(error))


# ------------------------------------------------------------------------------------ expressions

SYMBOLS = sympy.symbols("x0:64", real=True)

FUNCTIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "exp": sympy.exp,
    "log": lambda a: sympy.log(sympy.Abs(a)),
    "sqrt": lambda a: sympy.sqrt(sympy.Abs(a)),
}
OPERATORS = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}
NUMPY = {
    sympy.sin: np.sin,
    sympy.cos: np.cos,
    sympy.exp: np.exp,
    sympy.log: np.log,
    sympy.Abs: np.abs,
}


def read_expression(text, symbols):
    """Return the expression of a text in x0, x1, ...: by Python's parser, never run by Python."""
    names = {f"x{i}": symbol for i, symbol in enumerate(symbols)}

    def read(node):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return sympy.sympify(node.value)
        if isinstance(node, ast.Name):
            return names[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -read(node.operand)
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](read(node.left), read(node.right))
        if isinstance(node, ast.Call):
            return FUNCTIONS[node.func.id](*map(read, node.args))
        raise ValueError(f"{ast.unparse(node)!r} is no part of an expression.")

    return read(ast.parse(text.replace("^", "**"), mode="eval").body)


def evaluate(expression, columns, constants=()):
    """Return the values of an expression in SYMBOLS and CONSTANTS."""
    if expression.is_Symbol:
        where = _PLACES[expression]
        if where < len(SYMBOLS):
            return columns[:, where]
        return np.full(len(columns), constants[where - len(SYMBOLS)])
    if expression.is_number:
        return np.full(len(columns), float(expression) if expression.is_real else np.nan)
    parts = [evaluate(part, columns, constants) for part in expression.args]
    with np.errstate(all="ignore"):
        if expression.is_Add:
            return np.sum(parts, axis=0)
        if expression.is_Mul:
            return np.multiply.reduce(parts)
        if expression.is_Pow:
            return np.power(*parts)
        return NUMPY[expression.func](*parts)


CONSTANTS = sympy.symbols("c0:256", real=True)
_PLACES = {symbol: place for place, symbol in enumerate((*SYMBOLS, *CONSTANTS))}


def without_negligible(expression, columns):
    """Return an expression without the addends that hardly contribute to any sum."""
    if not expression.args:
        return expression
    parts = [without_negligible(part, columns) for part in expression.args]
    if expression.is_Add:
        sizes = np.array([_size(part, columns) for part in parts])
        parts = [p for p, size in zip(parts, sizes, strict=True) if size > NEGLIGIBLE * sizes.max()]
    return expression.func(*parts)


def _size(expression, columns, constants=()):
    values = evaluate(expression, columns, constants)
    return float(np.nan_to_num(np.median(np.abs(values)), nan=np.inf))


class _Freed:
    """An expression whose numbers are constants to be fitted: factors of addends and arguments."""

    def __init__(self, expression):
        self.start = []
        self.sums = []
        self.terms = [
            self._inside(addend.as_coeff_Mul()[1]) for addend in sympy.Add.make_args(expression)
        ]

    def _constant(self, number):
        self.start.append(float(number))
        return CONSTANTS[len(self.start) - 1]

    def _scaled(self, expression):
        number, rest = expression.as_coeff_Mul()
        return self._constant(number) * self._inside(rest)

    def _inside(self, expression):
        """Return the expression with its own constants; a factor in front is not among them."""
        if not expression.args:
            return expression
        if expression.is_Add:
            addends = [self._scaled(addend) for addend in expression.args]
            self.sums.append(addends)
            return sympy.Add(*addends)
        if expression.is_Mul:
            return sympy.Mul(*(self._inside(f) for f in expression.args if not f.is_number))
        if expression.is_Pow:
            base, exponent = expression.args
            if not exponent.is_Rational:
                exponent = self._scaled(exponent)
            return sympy.Pow(self._inside(base), exponent)
        (argument,) = expression.args
        return expression.func(
            self._inside(argument) if argument.is_Add else self._scaled(argument)
        )


def terms_with_best_constants(expression, columns, column):
    """Return the values of a column and the terms of an expression for it, as a function.

    Constants inside terms have the values that fit best; None if that uses less than all of the
    expression, or if it is far from right.
    """
    if expression.has(sympy.zoo, sympy.nan, sympy.oo) or not expression.free_symbols:
        return None
    freed = _Freed(expression)
    if len(freed.start) >= len(CONSTANTS):
        return None
    target = columns[:, column]
    scale = np.abs(target) + 0.01 * np.sqrt(np.mean(target**2))
    constants = np.array(freed.start)

    def terms(columns, constants):
        return np.column_stack([evaluate(term, columns, constants) for term in freed.terms])

    def error(constants):
        # Coefficients of terms are linear: for each choice of the constants inside, the best.
        design = terms(columns, constants) / scale[:, None]
        if not (np.abs(design) < 1e100).all():
            return np.full(len(columns), 1e3)
        coef = np.linalg.lstsq(design, target / scale, rcond=None)[0]
        return design @ coef - target / scale

    if np.mean(np.square(error(constants))) > FAR:
        return None
    if len(constants):
        constants = least_squares(
            error, constants, x_scale=np.maximum(np.abs(constants), 1e-3),
            ftol=1e-15, xtol=1e-15, gtol=1e-15, max_nfev=100,
        ).x  # fmt: skip
    for addends in freed.sums:
        sizes = np.array([_size(addend, columns, constants) for addend in addends])
        if sizes.min() < USED * sizes.max():
            return None

    def values(columns):
        return np.column_stack([columns[:, column], terms(columns, constants)])

    return values
