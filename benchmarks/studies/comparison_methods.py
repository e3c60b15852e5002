"""The methods of the comparison, each with settings in good faith.

A method takes all columns of a table in one array, the number of the target (None where no column
is singled out: methods that need one try every column), seconds of processor time and a seed, and
returns answers. Processes of methods that do not end in time are killed, see `comparison.py`.
"""

import contextlib
import io
import itertools
import time
import warnings

import numpy as np
import pandas as pd
from comparison_answers import SYMBOLS, ExpressionAnswer, LawAnswer, TermsAnswer, read_expression
from sklearn.linear_model import LassoLarsIC, LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from vanishing import LawFinder

EXACT = 1e-13  # of the variance: PyOperon computes in single precision
GP_ROWS = 1_000  # genetic programming evaluates every candidate on every row
PI_ROWS = 2_000  # and SINDy-PI solves a convex program for every term
MOST_TERMS = 700  # of a library, functions not counted
MOST_PI_TERMS = 130
ROUNDING = 1e-10  # of the left side: terms of the Lasso and of SINDy-PI below are none


def targets_of(columns, target):
    return range(columns.shape[1]) if target is None else [target]


def others_of(columns, target):
    return [i for i in range(columns.shape[1]) if i != target]


def power_of_ten(values):
    """Return a power of ten that brings values to ordinary size, 1 where they have it."""
    size = np.sqrt(np.mean(np.square(values)))
    return 1.0 if 0.1 <= size <= 100.0 else 10.0 ** np.floor(np.log10(size))


# ------------------------------------------------------------------------------------------- ours


def law_finder(columns, target, limit, seed):
    """`LawFinder` with its defaults; the best law alone."""
    X, y = (columns, None) if target is None else (columns[:, :-1], columns[:, -1])
    names = [f"x{i}" for i in range(columns.shape[1])]
    X = pd.DataFrame(X, columns=names[: X.shape[1]])
    y = None if y is None else pd.Series(y, name=names[-1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        finder = LawFinder().fit(X, y)
    return [LawAnswer(str(law), law, y is not None) for law in finder.laws_[:1]]


# ---------------------------------------------------------------------------- genetic programming


def _protected_exp(x):
    with np.errstate(over="ignore"):
        return np.where(x < 50, np.exp(np.minimum(x, 50)), 0.0)


def _gplearn_text(program, inputs):
    """Return a program as text in x0, x1, ..., with all digits."""
    nodes = iter(program)

    def write():
        node = next(nodes)
        if hasattr(node, "arity"):
            return f"{node.name}({', '.join(write() for _ in range(node.arity))})"
        return f"x{inputs[node]}" if isinstance(node, int) else repr(float(node))

    return write()


def gplearn(columns, target, limit, seed):
    """gplearn: generations until the time is over or the correlation is one.

    The fitness is the correlation with the target, so that a factor and an added constant need not
    be found by chance; they are fitted at the end.
    """
    from gplearn.functions import make_function
    from gplearn.genetic import SymbolicRegressor

    exp = make_function(function=_protected_exp, name="exp", arity=1)
    answers, tried = [], targets_of(columns, target)
    for one in tried:
        start = time.process_time()
        inputs = others_of(columns, one)
        rows = columns[:GP_ROWS]
        scale = np.array([power_of_ten(column) for column in rows.T])
        X, y = (rows / scale)[:, inputs], rows[:, one]
        program = SymbolicRegressor(
            population_size=1_000,
            generations=1,
            function_set=("add", "sub", "mul", "div", "sqrt", "log", "sin", "cos", exp),
            const_range=(-5.0, 5.0),
            metric="pearson",
            parsimony_coefficient=1e-4,
            warm_start=True,
            low_memory=True,
            random_state=seed,
        )
        longest = 0.0
        while time.process_time() - start + longest < limit / len(tried):
            before = time.process_time()
            program.fit(X, y)
            longest = max(longest, time.process_time() - before)
            if program.run_details_["best_fitness"][-1] > 1 - 1e-13:
                break
            program.set_params(generations=program.generations + 1)
        values = np.nan_to_num(program._program.execute(X))
        linear = LinearRegression().fit(values[:, None], y)
        text = _gplearn_text(program._program.program, inputs)
        answers.append(_expression(text, one, scale, linear.coef_[0], linear.intercept_))
    return answers


def pyoperon(columns, target, limit, seed):
    """PyOperon: error and length as objectives, constants fitted.

    Of its front the expression with the best BIC, a node counting as a parameter.
    """
    from pyoperon.sklearn import SymbolicRegressor

    answers, tried = [], targets_of(columns, target)
    for one in tried:
        inputs = others_of(columns, one)
        rows = columns[:GP_ROWS]
        scale = np.array([power_of_ten(column) for column in rows.T])
        X, y = (rows / scale)[:, inputs], rows[:, one] / scale[one]
        program = SymbolicRegressor(
            allowed_symbols="add,sub,mul,div,sqrt,exp,log,sin,cos,square,constant,variable",
            objectives=["r2", "length"],
            optimizer_iterations=5,
            population_size=500,
            max_length=30,
            generations=1_000_000,
            max_evaluations=10**9,
            epsilon=1e-12,
            warm_start=True,
            n_threads=1,
        )
        # Its limit is a number of whole seconds by the clock: it goes on from where it stopped
        # until the processor's seconds are over or the fit is exact.
        stop = time.process_time() + limit / len(tried)
        for again in itertools.count():
            rest = np.clip(round(stop - time.process_time()), 1, 3)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                program.set_params(max_time=int(rest), random_state=seed + again).fit(X, y)
            errors = [one["mean_squared_error"] for one in program.pareto_front_]
            if min(errors) < EXACT * np.var(y) or stop - time.process_time() < 0.5:
                break
        best = min(
            program.pareto_front_,
            key=lambda one: (
                len(y) * np.log(one["mean_squared_error"] / np.var(y) + EXACT)
                + one["length"] * np.log(len(y))
            ),
        )
        names = [f"x{i}" for i in inputs]
        text = program.get_model_string(best["tree"], 12, names)
        answers.append(_expression(text, one, scale, scale[one], 0.0))
    return answers


def _expression(text, column, scale, factor, added):
    """Return the answer of a text in scaled columns."""
    symbols = [
        symbol / size if size != 1.0 else symbol
        for symbol, size in zip(SYMBOLS, scale, strict=False)
    ]
    expression = factor * read_expression(text, symbols) + added
    return ExpressionAnswer(f"x{column} = {expression}", expression, column)


# ------------------------------------------------------------------------------ sparse regression


def exponents_of(n_columns, degree, negative):
    """Return all exponents, of both signs or not, whose sizes add up to at most the degree."""
    powers = range(-degree if negative else 0, degree + 1)
    found = [[]]
    for _ in range(n_columns):
        found = [[*e, p] for e in found for p in powers if sum(map(abs, e)) + abs(p) <= degree]
    return np.array(found)


def monomials(columns, most, negative):
    """Return the exponents of the largest degree (at most 5) with so many monomials."""
    for degree in range(5, 1, -1):
        exponents = exponents_of(columns.shape[1], degree, negative)
        if len(exponents) <= most:
            return exponents
    return exponents


class Library:
    """Products of powers of columns and, of positive columns, also with negative powers and with
    sines and cosines, times at most two columns, exponentials and logarithms.
    """

    def __init__(self, columns, most, laurent):
        n_columns = columns.shape[1]
        laurent = laurent and (columns > 0).all()
        self.exponents = monomials(columns, most, laurent)
        self.names = [_monomial(powers) for powers in self.exponents]
        self.factors = exponents_of(n_columns, 2 if n_columns <= 5 else 0, False)
        self.functions = (np.sin, np.cos, np.exp, np.log) if laurent and columns.max() < 50 else ()
        for function, powers, i in self._products(n_columns):
            self.names.append(f"{_monomial(powers)}*{function.__name__}(x{i})")

    def _products(self, n_columns):
        return itertools.product(self.functions, self.factors, range(n_columns))

    def values(self, columns):
        with np.errstate(all="ignore"):
            powers = [np.prod(columns**e, axis=1) for e in self.exponents.astype(float)]
            products = [
                np.prod(columns**e, axis=1) * function(columns[:, i])
                for function, e, i in self._products(columns.shape[1])
            ]
        return np.column_stack([*powers, *products])


def _monomial(powers):
    return "*".join(f"x{i}^{e}" for i, e in enumerate(powers) if e) or "1"


def _bic(error, n_terms):
    """Return the Bayesian information criterion of relative errors."""
    return len(error) * np.log(np.mean(np.square(error)) + 1e-26) + n_terms * np.log(len(error))


def stlsq(columns, target, limit, seed):
    """PySINDy's STLSQ: terms normalised, of ten thresholds (while there is time) the best by BIC.

    The solver gets the triangle of a QR decomposition, which has the same solutions as all rows.
    """
    from pysindy import STLSQ

    start, answers, tried = time.process_time(), [], targets_of(columns, target)
    for number, one in enumerate(tried, 1):
        inputs = others_of(columns, one)
        X, y = columns[:, inputs], columns[:, one]
        library = Library(X, MOST_TERMS, laurent=True)
        values = library.values(X)
        sizes = np.linalg.norm(values, axis=0)
        values = values / sizes
        triangle = np.linalg.qr(np.column_stack([values, y]), mode="r")
        found = []
        for threshold in np.geomspace(0.3, 1e-4, 10) * np.linalg.norm(y):
            if found and time.process_time() - start > limit * number / len(tried):
                break
            solver = STLSQ(threshold=threshold, alpha=1e-8, max_iter=20)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                solver.fit(triangle[:, :-1], triangle[:, -1])
            chosen = np.flatnonzero(solver.coef_[0])
            coef = np.linalg.lstsq(values[:, chosen], y, rcond=None)[0]
            error = (y - values[:, chosen] @ coef) / np.std(y)
            found.append((_bic(error, len(chosen)), chosen, coef / sizes[chosen]))
        _, chosen, coef = min(found, key=lambda one: one[0])
        if len(chosen):
            answers.append(_explicit(library, one, inputs, chosen, coef))
    return answers


def _explicit(library, target, inputs, chosen, coef):
    """Return the answer that a column is a sum of terms of a library."""

    def values(columns):
        return np.column_stack([columns[:, target], library.values(columns[:, inputs])[:, chosen]])

    names = [_renamed(library.names[i], inputs) for i in chosen]
    said = " + ".join(f"{c:.4g}*{name}" for c, name in zip(coef, names, strict=True))
    return TermsAnswer(f"x{target} = {said}", values, np.concatenate([[-1.0], coef]))


def _renamed(name, inputs):
    for place in range(len(inputs) - 1, -1, -1):
        name = name.replace(f"x{place}", f"x{inputs[place]}")
    return name


def sindy_pi(columns, target, limit, seed):
    """PySINDy's SINDy-PI on polynomials in all columns, target included.

    Every term is taken as the left side, for each of three weights while there is time; terms below
    a part of the largest are dropped. Of all equations the one with the best BIC, with errors in
    units of the target, or of all columns.
    """
    from pysindy.optimizers import SINDyPI

    start = time.process_time()
    rows = columns[:PI_ROWS]
    library = Library(rows, MOST_PI_TERMS, laurent=False)
    values = library.values(rows)
    sizes = np.linalg.norm(values, axis=0)
    values = values / sizes
    triangle = np.linalg.qr(values, mode="r")
    slopes = [_slopes(library, rows, i) / sizes for i in targets_of(rows, target)]
    lefts = [i for i, name in enumerate(library.names) if target is None or f"x{target}^" in name]
    found, longest = [], 0.0
    for weight, left in itertools.product((1e-2, 1e-3, 1e-4), lefts):
        before = time.process_time()
        if before - start + longest > limit:
            break
        solver = SINDyPI(reg_weight_lam=weight, tol=1e-8, model_subset=[left])
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            solver.fit(triangle, triangle)
        longest = max(longest, time.process_time() - before)
        size = np.abs(solver.coef_[left])
        for least in (1e-3, 1e-2, 1e-1):
            chosen = np.flatnonzero((size > least * size.max()) & (np.arange(len(size)) != left))
            if len(chosen):
                coef = np.zeros(len(size))
                coef[left] = -1.0
                coef[chosen] = np.linalg.lstsq(triangle[:, chosen], triangle[:, left])[0]
                coef[np.abs(coef) < ROUNDING] = 0.0
                slope = np.sqrt(sum(np.square(one @ coef) for one in slopes))
                error = values @ coef / np.maximum(slope, 1e-12)
                found.append((_bic(error, np.sum(coef != 0)), np.flatnonzero(coef), coef / sizes))
    if not found:
        return []
    _, chosen, coef = min(found, key=lambda one: one[0])
    coef = coef[chosen] / np.abs(coef[chosen]).max()
    said = " + ".join(f"{c:.4g}*{library.names[i]}" for c, i in zip(coef, chosen, strict=True))
    return [TermsAnswer(f"{said} = 0", lambda z: library.values(z)[:, chosen], coef)]


def _slopes(library, rows, column):
    """Return how terms change with a column, per standard deviation."""
    step = np.zeros(rows.shape[1])
    step[column] = 1e-5 * rows[:, column].std()
    return (library.values(rows + step) - library.values(rows - step)) / 2e-5


def lasso_lars_ic(columns, target, limit, seed):
    """PolynomialFeatures and LassoLarsIC of scikit-learn, by BIC."""
    answers = []
    for one in targets_of(columns, target):
        inputs = others_of(columns, one)
        X, y = columns[:, inputs], columns[:, one]
        exponents = monomials(X, MOST_TERMS, negative=False)
        degree = int(exponents.sum(axis=1).max())
        features = PolynomialFeatures(degree, include_bias=False).fit(X)
        model = make_pipeline(StandardScaler(), LassoLarsIC(criterion="bic", max_iter=200))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(features.transform(X), y)
        chosen = np.flatnonzero(model[-1].coef_)
        if not len(chosen):
            continue
        answers.append(_polynomial(features, one, inputs, chosen, columns))
    return answers


def _polynomial(features, target, inputs, chosen, columns):
    """Return the answer that a column is a polynomial in others; coefficients by least squares."""

    def values(columns):
        terms = features.transform(columns[:, inputs])[:, chosen]
        return np.column_stack([np.ones(len(columns)), columns[:, target], terms])

    design = values(columns)
    scale = np.linalg.norm(design, axis=0)
    rest = np.delete(design / scale, 1, axis=1)
    coef = np.linalg.lstsq(rest, design[:, 1] / scale[1], rcond=None)[0]
    used = np.abs(coef[1:]) > ROUNDING
    if not used.all():
        return _polynomial(features, target, inputs, chosen[used], columns)
    coef = np.insert(coef, 1, -1.0) / scale * scale[1]
    names = features.get_feature_names_out([f"x{i}" for i in inputs])[chosen]
    said = " + ".join(f"{c:.4g}*{n}" for c, n in zip(coef[2:], names, strict=True))
    return TermsAnswer(f"x{target} = {coef[0]:.4g} + {said}", values, coef, constant=0)


METHODS = {
    "vanishing.LawFinder": law_finder,
    "PyOperon": pyoperon,
    "gplearn": gplearn,
    "PySINDy, STLSQ": stlsq,
    "PySINDy, SINDy-PI": sindy_pi,
    "PolynomialFeatures, LassoLarsIC": lasso_lars_ic,
}
