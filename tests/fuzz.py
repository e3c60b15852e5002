"""Random estimators on random rows: each case ends in a documented error or a model that is valid.

    python tests/fuzz.py --cases 10000        # cases 0 to 9999
    python tests/fuzz.py --case 1234          # one case again, with its parameters and rows
    python tests/fuzz.py --kind laws          # a thousand tables for LawFinder

A case is made from its number alone. Models are checked by evaluating them in long doubles, which
neither overflow nor run out of digits where doubles do, and fractions where the rows are exact.
"""

import argparse
import csv
import faulthandler
import gzip
import io
import json
import linecache
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import scipy.sparse
from reference import border as border_terms
from reference import buchberger_moller, deglex_key, divides
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import vanishing
from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    Blocks,
    BuchbergerMoller,
    ConservedQuantities,
    ContrastiveVanishing,
    L1SquaredHingeSVC,
    LawFinder,
    Moments,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingFeatures,
    VanishingOutlierDetector,
)
from vanishing.tables.files import FileLayout
from vanishing.tables.formats import open_table
from vanishing.tables.kinds import Choices
from vanishing.tables.numbers import number_blocks
from vanishing.tables.preparing import prepare
from vanishing.tables.saved import node_of, recipe_of

LIMIT = 20  # seconds of computing that a case may take
EPS = np.finfo(np.float64).eps
BALL_ORACLES = ("pcg", "bpcg", "cg", "afw", "omp")  # not the registry: cases stay what they are


class Failure(AssertionError):
    """A case that ended otherwise than documented."""


class Hang(BaseException):
    """A case that takes too long; not an Exception, so that nobody catches it on the way."""


def require(condition, what):
    """Raise Failure unless the condition holds."""
    if not condition:
        raise Failure(what)


# ---------------------------------------------------------------------------------------- drawing


class Draw:
    """Random choices, remembered for the report."""

    def __init__(self, number):
        self.rng = np.random.default_rng([20, number])
        self.later = np.random.default_rng([21, number])  # for what cases did not have at first
        self.log = {}
        self.refuse = []  # why the case must end in an error
        self.may_refuse = []  # why it may

    def choice(self, options):
        """One of the options."""
        return options[self.rng.integers(len(options))]

    def word(self, words):
        """One of the words of a text."""
        return self.choice(words.split())

    def happens(self, probability):
        """Whether something happens."""
        return self.rng.uniform() < probability

    def note(self, name, value):
        """Remember a choice."""
        self.log[name] = value
        return value


VARIETIES = {
    "circle": lambda t, rng: [np.cos(6 * t), np.sin(6 * t)],
    "parabola": lambda t, rng: [t, t * t],
    "twisted cubic": lambda t, rng: [t, t**2, t**3],
    "line": lambda t, rng: [t, 3 * t - 1, 0.5 - 2 * t],
    "two points": lambda t, rng: [np.round(t), 1 - np.round(t)],
    "saddle": lambda t, rng: [t, u := rng.uniform(size=t.size), t * u],
}


def draw_values(draw):
    """Float64 rows of any kind and scale."""
    rng = draw.rng
    m = int(draw.choice([1, 2, 3, rng.integers(4, 15), rng.integers(15, 61)]))
    n = int(rng.integers(1, 7))
    kind = draw.note(
        "values",
        draw.choice(["uniform", "uniform", "normal", "integers", "bits", "zeros", *VARIETIES]),
    )
    if kind == "uniform":
        X = rng.uniform(size=(m, n))
    elif kind == "normal":
        X = rng.normal(size=(m, n))
    elif kind == "integers":
        X = rng.integers(-4, 5, size=(m, n)).astype(float)
    elif kind == "bits":
        X = rng.integers(0, 2, size=(m, n)).astype(float)
    elif kind == "zeros":
        X = np.zeros((m, n))
    else:
        columns = VARIETIES[kind](rng.uniform(size=m), rng)
        X = np.column_stack(columns)[:, rng.permutation(len(columns))]
        if draw.happens(0.5):
            X = X + rng.normal(scale=10.0 ** rng.uniform(-9, -1), size=X.shape)
    n = X.shape[1]
    if draw.happens(0.15):
        X[:, rng.integers(n)] = draw.choice([0.0, 1.0, -7.0, 0.1])
    if draw.happens(0.15):
        X[:, rng.integers(n)] = draw.choice([1, -1, 3]) * X[:, rng.integers(n)]
    if draw.happens(0.1):
        X = X[rng.integers(len(X), size=len(X))]
    if draw.happens(0.05):
        X = X + draw.choice([1e3, 1e8, -1e15])
    scale = draw.note("scale", draw.choice(["one"] * 5 + ["few digits", "any", "columns", "edge"]))
    with np.errstate(all="ignore"):
        if scale == "few digits":
            X = X * 10.0 ** rng.integers(-8, 9)
        elif scale == "any":
            X = X * 10.0 ** rng.uniform(-300, 300)
        elif scale == "columns":
            X = X * 10.0 ** rng.choice([0, 0, 3, -5, 30, -100, 150, 300, -300], size=n)
        elif scale == "edge":
            X = X * draw.choice([1e-323, 2e-308, 1e-162, 1e-154, 1e154, 1e77, 1e38, 1e300])
    return np.clip(np.nan_to_num(X), -1e305, 1e305)


def with_layout(draw, X):
    """The same rows in another place of memory."""
    layout = draw.note(
        "layout",
        draw.choice(["C"] * 4 + ["F", "strided", "reversed", "read-only", "swapped", "list"]),
    )
    if layout == "F":
        return np.asfortranarray(X)
    if layout == "strided":
        wide = np.zeros((2 * len(X), 3 * X.shape[1]), dtype=X.dtype)
        wide[::2, 1::3] = X
        return wide[::2, 1::3]
    if layout == "reversed":
        return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    if layout == "read-only":
        X = X.copy()
        X.flags.writeable = False
    if layout == "swapped":
        return X.astype(X.dtype.newbyteorder())
    if layout == "list":
        return X.tolist()
    return X


def draw_rows(draw):
    """Rows as an estimator is given them, and as plain float64 (None if they are no rows)."""
    plain = draw_values(draw)
    dtype = draw.note(
        "dtype",
        draw.choice(["f8"] * 9 + ["f4", "f4", "f2", "i8", "i4", "u1", "i1", "?", "O", "frame"]),
    )
    if dtype == "frame":
        pandas = __import__("pandas")
        names = [f"column {i}" for i in range(plain.shape[1])]
        X = pandas.DataFrame(plain, columns=names)
    else:
        largest = {"f4": 1e36, "f2": 6e4, "i8": 2.0**62, "i4": 2e9, "u1": 255, "i1": 127}
        bound = largest.get(dtype, np.inf)
        X = np.clip(plain, 0 if dtype == "u1" else -bound, bound).astype(dtype)
        plain = X.astype(float)
    if draw.happens(0.06):
        return defective(draw, plain), None
    return (X if dtype == "frame" else with_layout(draw, X)), plain


def defective(draw, X):
    """Something that is not a table of finite numbers."""
    kind = draw.note(
        "defect",
        draw.word(
            "nan inf -inf sparse no-rows no-columns 1-D 3-D complex words bytes objects ragged "
            "none number masked-nan"
        ),
    )
    draw.refuse.append(kind)
    i, j = draw.rng.integers(X.shape[0]), draw.rng.integers(X.shape[1])
    if kind in ("nan", "inf", "-inf"):
        X = X.copy()
        X[i, j] = float(kind)
        return with_layout(draw, X)
    if kind == "masked-nan":
        X = X.astype(object)
        X[i, j] = draw.choice([None, np.nan, "nan"])
        return X
    if kind == "objects":
        X = X.astype(object)
        X[i, j] = draw.choice([object(), {}, [1.0], "a"])
        return X
    return {
        "sparse": scipy.sparse.csr_matrix(X),
        "no-rows": X[:0],
        "no-columns": X[:, :0],
        "1-D": X[:, 0],
        "3-D": X[np.newaxis],
        "complex": X * 1j + 1j,
        "words": np.full(X.shape, "word"),
        "bytes": np.full(X.shape, b"\xff"),
        "ragged": [*X.tolist(), [1.0] * (X.shape[1] + 1)],
        "none": None,
        "number": 3.0,
    }[kind]


def draw_weight(draw, m):
    """Sample weights: None, good, or bad."""
    if draw.happens(0.6):
        return None
    rng = draw.rng
    kind = draw.note(
        "weights",
        draw.word(
            "some some some counts huge tiny subnormal wide wide one-row zero negative nan inf "
            "long column words scalar"
        ),
    )
    some = rng.uniform(0.1, 2, size=m)
    if kind == "counts":
        some = rng.integers(0, 3, size=m)
        some[rng.integers(m)] = 1
        return some
    if kind == "one-row":
        some[np.arange(m) != rng.integers(m)] = 0
        return some
    good = {
        "some": 1.0,
        "huge": 5e307,
        "tiny": 1e-300,
        "subnormal": 1e-321,
        "wide": 10.0 ** rng.uniform(-20, 20, size=m),
    }
    if kind in good:
        return some * good[kind]
    draw.refuse.append(f"weights {kind}")
    spoilt = some.copy()
    spoilt[rng.integers(m)] = {"negative": -1.0, "nan": np.nan, "inf": np.inf}.get(kind, 1.0)
    return {
        "zero": 0 * some,
        "long": np.append(some, 1.0),
        "column": some[:, np.newaxis],
        "words": ["a"] * m,
        "scalar": 2.0,
    }.get(kind, spoilt)


def draw_labels(draw, m, min_classes):
    """Class labels, good or bad."""
    rng = draw.rng
    n_classes = int(rng.integers(2, 5))
    y = rng.integers(n_classes, size=m)
    kind = draw.note(
        "labels",
        draw.word(
            "ints ints ints ints ints words words floats bools objects column one nan none "
            "continuous long missing"
        ),
    )
    if kind == "words":
        y = np.array(["a", "b b", "", "d"])[y]
    elif kind == "floats":
        y = y * 1.0
    elif kind == "bools":
        y = y > 0
    elif kind == "objects":
        y = np.array(["a", "b", "c", "d"], dtype=object)[y]
    elif kind == "one":
        y = np.zeros(m, dtype=int)
    elif kind == "column":
        y = y[:, np.newaxis]
    elif kind != "ints":
        draw.refuse.append(f"labels {kind}")
        y = {
            "nan": np.where(np.arange(m) == rng.integers(m), np.nan, y),
            "none": None,
            "continuous": y + 0.25,
            "long": np.append(y, 0),
            "missing": np.where(np.arange(m) == rng.integers(m), None, y.astype(object)),
        }[kind]
        return y
    if len(np.unique(y)) < min_classes:
        draw.refuse.append("one class")
    return y


# ------------------------------------------------------------------------------------- parameters


def zero_oracle(gram, cross, norm, *, psi, radius):
    """Never find anything, unless nothing is needed."""
    return np.zeros(len(cross)), norm


def lstsq_oracle(gram, cross, norm, *, psi, radius):
    """Least squares, with what NumPy makes of it."""
    return np.linalg.lstsq(gram, -cross, rcond=None)[0], 0.0


BAD = {
    "psi": [-1e-9, 1.0, np.nan, "0.1", None],
    "max_degree": [0, 1.5, None, "3", np.inf],
    "max_terms": [0, 2.5, "3"],
    "chunk_size": [0, 1.5, "all"],
    "border": ["GB", None, 3],
    "feature_order": ["sorted", None],
    "absolute": [1, None, "yes"],
    "oracle": ["PCG", None, 7],
    "tau": [1.5, np.nan, "Auto", None],
    "eps": [-1.0, 2.0, "a"],
    "tol": [-1.0, np.nan],
    "max_iter": [0, 2.5, None],
    "certify": [1, "no"],
    "refit": [0, "yes"],
    "pivot_tol": [0.0, 1.0, None],
}


def draw_parameters(draw, estimator, n):
    """Parameters of a construction of generators, good or (seldom) one of them bad."""
    rng = draw.rng
    psis = [0, 1e-300, 1e-12, 1e-6, 1e-3, 0.005, 0.005, 0.05, 0.3, 0.99]
    parameters = {
        "psi": draw.choice(psis),
        "max_degree": int(rng.integers(1, {1: 13, 2: 7, 3: 6, 4: 5}.get(n, 4))),
        "absolute": bool(rng.integers(2)),
        "chunk_size": draw.choice([None, None, 1, 3, 1000]),
    }
    if draw.happens(0.15):
        parameters["max_terms"] = int(rng.integers(1, 30))
    if draw.happens(0.02):
        parameters |= {"max_degree": 10**9, "max_terms": 40}
    if estimator is not VCA:
        parameters["feature_order"] = draw.choice(["given", "given", "pearson", "rev_pearson"])
        parameters["border"] = draw.choice(["gb", "bb"])
    if estimator is ABM and draw.later.uniform() < 0.4:
        parameters |= {"normalization": "gradient", "border": "gb"}
        if draw.later.uniform() < 0.2:
            parameters["psi"] *= 10.0 ** draw.later.integers(1, 20)
    if estimator is VCA:
        parameters["normalization"] = "gradient" if draw.later.uniform() < 0.6 else "l2"
    if estimator is AVI:
        parameters["pivot_tol"] = draw.choice([1e-3, 1e-3, 1e-8, 0.5])
    if estimator is OAVI:
        parameters |= {
            "oracle": draw.choice([*BALL_ORACLES, "agd", "ls", "ls", zero_oracle, lstsq_oracle]),
            "tau": draw.choice([1000.0, 1000.0, 2, 2.5, "auto", 1e6, 1e300]),
            "eps": draw.choice([0, 1e-3, 1e-3, 1]),
            "tol": draw.choice([0, 1e-6, 1e-6, 10.0]),
            "max_iter": draw.choice([1, 5, 100, 1000]),
            "certify": bool(rng.integers(2)),
            "refit": bool(rng.integers(2)),
        }
        if parameters["tau"] == "auto" and parameters["psi"] == 0:
            draw.refuse.append("tau='auto' with psi=0")
    if draw.happens(0.04):
        name = draw.choice([name for name in BAD if name in estimator().get_params()])
        parameters[name] = draw.choice(BAD[name])
        # As a squared distance psi may be any number.
        by_gradients = parameters.get("normalization") == "gradient"
        if (name, parameters[name]) != ("psi", 1.0) or not by_gradients:
            draw.refuse.append(f"{name}={parameters[name]!r}")
    return parameters


def draw_transformer(draw, n):
    """A construction of generators with parameters."""
    estimator = draw.choice([OAVI, OAVI, OAVI, OAVI, ABM, AVI, VCA])
    return estimator(**draw_parameters(draw, estimator, n))


# ------------------------------------------------------------------------- what holds, checked


def monomials(terms, X):
    """Values of terms on rows, in long doubles: (n_rows, n_terms)."""
    out = np.ones((len(X), len(terms)), dtype=np.longdouble)
    columns = np.asarray(X).astype(np.longdouble)
    for j, term in enumerate(terms):
        for i in np.flatnonzero(term):
            out[:, j] *= columns[:, i] ** int(term[i])
    return out


def largest_monomial(X, degree):
    """How large values on the way may get, row by row."""
    return np.maximum(1.0, np.abs(X).max(axis=1).astype(np.longdouble)) ** int(degree)


class Values:
    """Generators evaluated in long doubles, and how far rounding may be off."""

    def __init__(self, model, X):
        leading = monomials(model.leading_terms_, X) * model.leading_coef_.astype(np.longdouble)
        terms = monomials(model.terms_, X)
        coef = model.coef_.astype(np.longdouble).T
        self.values = leading + terms @ coef
        self.scale = np.abs(leading) + np.abs(terms) @ np.abs(coef)
        degree = max(model.degree_, int(model.terms_.sum(axis=1).max()))
        largest = largest_monomial(X, degree)
        # Products on the way may underflow, and then miss a factor that they get later.
        size = 1.0 + np.abs(coef).sum(axis=0) + np.abs(model.leading_coef_)
        self.underflow = 1e-300 * largest[:, np.newaxis] * size
        self.tame = (largest[:, np.newaxis] * size < 1e300).all(axis=1)  # nothing overflows

    def tolerance(self, n_terms):
        """What a value in double precision may be off by."""
        return 10 * (n_terms + 20) * EPS * self.scale + self.underflow


def root_mean_square(values, weight):
    """Weighted root mean squares of columns."""
    weight = np.ones(len(values)) if weight is None else np.asarray(weight, dtype=float)
    weight = weight.astype(np.longdouble) / weight.max()
    return np.sqrt((weight[:, np.newaxis] * values**2).sum(axis=0) / weight.sum())


def check_mse(model, values, rounding, weight, psi):
    """mse_ is the mse, measured independently, and at most psi."""
    found = model.mse_
    require(found.shape == (model.n_generators_,), "shape of mse_")
    require(np.isfinite(found).all() and (found >= 0).all(), f"mse_ {found}")
    roots = root_mean_square(values, weight)
    slack = root_mean_square(rounding, weight) + 1e-150
    if isinstance(model, ABM) and model.normalization == "gradient":  # of what may underflow before
        slack = slack + 1e-161 * model.leading_coef_
    off = np.abs(np.sqrt(found.astype(np.longdouble)) - roots) > 1e-8 * roots + slack
    require(not off.any(), f"mse_ {found[off]} measured as {(roots[off] ** 2).astype(float)}")
    if psi > 0:
        require((found <= psi).all(), f"mse_ {found[found > psi]} above psi={psi}")


def check_terms(model):
    """O and the leading terms: in order, and those of a border."""
    n = model.n_features_in_
    columns = model.feature_order_
    require(sorted(columns.tolist()) == list(range(n)), "feature_order_")
    terms, leading = (
        [tuple(row) for row in part[:, columns].tolist()]
        for part in (model.terms_, model.leading_terms_)
    )
    require(terms[0] == (0,) * n, "the first term is not the constant")
    for part in (terms, leading):
        require(part == sorted(set(part), key=deglex_key), "terms are not in DegLex order")
    require(not set(terms) & set(leading), "a leading term in O")
    require(len(leading) <= n * len(terms), "|G| > n |O|")
    last = max(map(sum, terms + leading))
    border = [u for d in range(1, last + 1) for u in border_terms(terms, d, model.border)]
    require(set(terms[1:] + leading) <= set(border), "a term outside of the border")
    if model.border == "gb":
        for i, u in enumerate(leading):
            require(not any(divides(v, u) for v in leading[:i]), "a leading term divides another")
    sizes = [sum(deglex_key(t) < deglex_key(u) for t in terms) for u in leading]
    for row, size in zip(model.coef_, sizes, strict=True):
        require(not row[size:].any(), "a generator uses terms behind its leading term")
    require(model.n_coefficients_ == sum(sizes), "n_coefficients_")
    zeros = sum(sizes) - np.count_nonzero(model.coef_)
    spar = zeros / sum(sizes) if sizes else 0.0
    require(abs(model.sparsity_ - spar) < 1e-12, f"sparsity_ {model.sparsity_}, not {spar}")


def check_monomial_model(model, X, weight, caught):
    """What a fitted OAVI, ABM or AVI promises on its training rows."""
    n, k, g = X.shape[1], model.n_terms_, model.n_generators_
    for name, shape in (
        ("terms_", (k, n)),
        ("leading_terms_", (g, n)),
        ("coef_", (g, k)),
        ("leading_coef_", (g,)),
    ):
        require(getattr(model, name).shape == shape, f"shape of {name}")
    require(np.isfinite(model.coef_).all(), "coef_ is not finite")
    require(model.terms_.dtype.kind == model.leading_terms_.dtype.kind == "i", "dtype of terms_")
    require(model.degree_ == model.leading_terms_.sum(axis=1).max(initial=0), "degree_")
    require(model.degree_ <= model.max_degree, "degree_ > max_degree")
    require(model.max_terms is None or k <= model.max_terms, "n_terms_ > max_terms")
    check_terms(model)
    if isinstance(model, OAVI):
        require((model.leading_coef_ == 1).all(), "leading_coef_ is not 1")
        require(model.n_iter_ >= 1, "n_iter_ < 1")
        if model.oracle in BALL_ORACLES and model.psi > 0 and model.tau != "auto":
            length = 1 + np.abs(model.coef_).sum(axis=1)
            require((length <= model.tau * (1 + 1e-12)).all(), "l1-norm > tau")
    else:
        require((model.leading_coef_ > 0).all(), "leading_coef_ is not positive")
        if getattr(model, "normalization", None) == "gradient":
            check_gradients(model, X, weight)
        else:
            norms = np.sqrt((model.coef_**2).sum(axis=1) + model.leading_coef_**2)
            require(np.allclose(norms, 1, rtol=0, atol=1e-10), "coefficients are not of norm 1")
    values = Values(model, X)
    tolerance = values.tolerance(k)
    check_mse(model, values.values, tolerance, weight, model.psi)
    if model.psi == 0:
        roots, scale = (root_mean_square(v, weight) for v in (values.values, values.scale))
        slack = root_mean_square(values.underflow, weight) + 1e-150  # whose square is zero
        if not isinstance(model, OAVI):
            slack += 1e-14  # unit vectors of coefficients have rounding errors of that size
        require((roots <= 1e-10 * scale + slack).all(), "psi=0, but a generator does not vanish")
    if not any(issubclass(w.category, ConvergenceWarning) for w in caught):
        counted = X if weight is None else X[np.asarray(weight) > 0]
        n_points = len(np.unique(counted, axis=0))
        decided = not isinstance(model, OAVI) or model.certify or model.oracle == "ls"
        if decided and not isinstance(model, AVI):
            require(k <= n_points, f"|O| = {k} with {n_points} distinct rows")
    if not g:
        require(
            any("nothing vanishes" in str(w.message) for w in caught), "no word of no generator"
        )


def check_gradients(model, X, weight):
    """The mean squared length of a gradient is 1, as far as derivatives have digits."""
    coef = np.column_stack([model.coef_, model.leading_coef_]).astype(np.longdouble)
    terms = np.concatenate([model.terms_, model.leading_terms_])
    coef = np.hstack([coef[:, :-1], np.diag(coef[:, -1])])
    total, scale = (np.zeros((len(X), len(coef)), dtype=np.longdouble) for _ in range(2))
    for column in range(X.shape[1]):
        lower = terms - (np.arange(X.shape[1]) == column)
        slopes = monomials(np.maximum(lower, 0), X) * terms[:, column]
        total += (slopes @ coef.T) ** 2
        scale += (np.abs(slopes) @ np.abs(coef).T) ** 2
    size, rounding = (root_mean_square(np.sqrt(part), weight) for part in (total, scale))
    off = np.abs(size - 1) > 1e-8 + 1e-7 * rounding
    require(not off.any(), f"gradients of mean square {(size[off] ** 2).astype(float)}")


def check_transform(model, X_given, X):
    """The generators evaluated together, one by one, and in long doubles."""
    single = getattr(X_given, "dtype", None) == np.float32
    out = model.transform(X_given)
    require(out.shape == (len(X), model.n_generators_), f"transform has shape {out.shape}")
    require(out.dtype == (np.float32 if single else np.float64), f"transform has {out.dtype}")
    names = model.get_feature_names_out()
    require(len(names) == model.n_generators_ == len(set(names)), "names of the features")
    if isinstance(model, VCA) or not model.n_generators_:
        return
    values = Values(model, X)
    expected = np.abs(values.values) if model.absolute else values.values
    tame = values.tame
    with np.errstate(over="ignore"):
        allowed = values.tolerance(model.n_terms_) + (1e-6 * np.abs(expected) if single else 0)
    if single:
        tame = tame & (values.scale < 1e37).all(axis=1)
        allowed = allowed + 1e-37
    error = np.abs(out.astype(np.longdouble) - expected)
    require((error[tame] <= allowed[tame]).all(), "transform is not what the coefficients say")
    for i in range(0, model.n_generators_, 1 + model.n_generators_ // 3):
        g = model.generators_[i]
        error = np.abs(g(X) - values.values[:, i])
        require((error[tame] <= allowed[tame, i]).all(), "g(X) is not what the coefficients say")
        require(str(g) and g.to_latex() and g.degree >= 1, "a generator cannot be printed")
        require(g.gradient(X).shape == X.shape, "shape of the gradient")


def component_values(stages, X):
    """VCA's generators in long doubles, and what their rounding errors are relative to."""
    columns = np.asarray(X).T.astype(np.longdouble)
    F, sizes = np.ones((1, len(X)), dtype=np.longdouble), np.ones((1, len(X)), np.longdouble)
    values, scales = [np.zeros((0, len(X)), np.longdouble)], [np.zeros((0, len(X)), np.longdouble)]
    for stage in stages:
        if stage.left is None:
            candidates, bound = columns, np.abs(columns)
        else:
            candidates = F[stage.left] * F[stage.right]
            bound = sizes[stage.left] * sizes[stage.right]
        combine, project = (p.astype(np.longdouble) for p in (stage.combine, stage.project))
        both = combine @ candidates + project @ F
        scale = np.abs(combine) @ bound + np.abs(project) @ sizes
        d = stage.n_components
        values.append(both[d:])
        scales.append(scale[d:])
        F, sizes = np.vstack([F, both[:d]]), np.vstack([sizes, scale[:d]])
    return np.vstack(values).T, np.vstack(scales).T


def check_components(model, X, weight, caught):
    """What a fitted VCA promises on its training rows."""
    g = model.n_generators_
    require(len(model.generators_) == g, "n_generators_")
    require(0 <= model.degree_ <= model.max_degree, "degree_")
    require(model.max_terms is None or model.n_terms_ <= model.max_terms, "n_terms_ > max_terms")
    require(model.sparsity_ == 0.0, "sparsity_")
    for stage in model.generators_.stages:
        require(np.isfinite(stage.combine).all() and np.isfinite(stage.project).all(), "not finite")
    values, scale = component_values(model.generators_.stages, X)
    rounding = 1e-13 * scale + 1e-150
    check_mse(model, values, rounding, weight, 0)
    if model.psi > 0:
        require((model.mse_ <= model.psi).all(), "mse_ above psi")
    else:  # zero next to the largest column, or to products of components
        roots, slack = (root_mean_square(v, weight) for v in (values, scale))
        largest = 1e-11 * root_mean_square(X.astype(np.longdouble), weight).max() + 1e-150
        require((roots <= 1e-7 * slack + largest).all(), "psi=0, but a generator does not vanish")
    if not g:
        require(
            any("nothing vanishes" in str(w.message) for w in caught), "no word of no generator"
        )


def check_model(model, X, weight, caught):
    """What a fitted construction of generators promises."""
    check = check_components if isinstance(model, VCA) else check_monomial_model
    check(model, X, weight, caught)


def check_svm(model, X, y, weight):
    """The duality gap, computed here from scratch, is the one reported."""
    require(np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all(), "not finite")
    classes = np.unique(y if weight is None else y[np.asarray(weight) > 0])
    require(model.classes_.tolist() == classes.tolist(), "classes_")
    n_problems = 1 if len(classes) == 2 else len(classes)
    require(model.coef_.shape == (n_problems, X.shape[1]), "shape of coef_")
    require(model.n_iter_ >= 1, "n_iter_ < 1")
    if np.abs(X).max() > 1e6 or model.class_weight is not None:
        return
    X = X.astype(np.longdouble)
    if model.fit_intercept:
        X = np.column_stack([X, np.ones(len(X))])
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    if not 1e-100 < weight.max() < 1e100:  # the unit is another one then
        return
    cost = model.C * weight
    if not 1e-10 < cost.max() < 1e10:  # the slacks have too few digits
        return
    positive = classes[1:] if n_problems == 1 else classes
    for p, label in enumerate(positive):
        w = np.append(model.coef_[p], model.intercept_[p])[: X.shape[1]].astype(np.longdouble)
        sign = np.where(y == label, 1.0, -1.0)
        slack = np.maximum(0.0, 1.0 - sign * (X @ w))
        objective = np.abs(w).sum() + (cost * slack**2).sum()
        require(objective <= cost.sum() * (1 + 1e-9), "worse than no weights at all")
        dual = 2.0 * cost * slack
        steepest = np.abs(X.T @ (sign * dual)).max()
        loss, total = (cost * slack**2).sum(), dual.sum()
        t = 0.0 if loss == 0 else min(total / (2 * loss), 1.0 / steepest if steepest else np.inf)
        gap = (objective - t * (total - t * loss)) / objective if objective else 0.0
        require(gap >= -1e-9, "a negative duality gap")
        # Slacks in double precision, what they make of the sums, and those of the gap.
        off = 10 * EPS * (1.0 + np.abs(X) @ np.abs(w))
        loss_off, total_off = (2.0 * cost * slack * off).sum(), (2.0 * cost * off).sum()
        steepest_off = (np.abs(X).T @ (2.0 * cost * off)).max()
        gap_off = (1 + t**2) * loss_off + t * total_off
        gap_off += abs(total - 2.0 * t * loss) * t * min(1.0, t * steepest_off)
        gap_off = gap_off / objective if objective else 0.0
        require(
            abs(gap - model.dual_gap_[p]) <= 1e-6 + 1e-3 * gap + gap_off,
            f"dual_gap_ {model.dual_gap_[p]}, not {gap}",
        )


def check_predictions(model, X_given, n_rows):
    """Labels are those of the decision values, and known."""
    scores = model.decision_function(X_given)
    require(len(scores) == n_rows, "shape of decision_function")
    predicted = model.predict(X_given)
    if len(model.classes_) == 2:
        expected = model.classes_[(scores > 0).astype(int)]
    else:
        require(scores.shape == (n_rows, len(model.classes_)), "shape of decision_function")
        expected = model.classes_[np.argmax(scores, axis=1)]
    require(np.isfinite(scores).all(), "decision values are not finite")
    require(predicted.tolist() == expected.tolist(), "labels are not those of the decision values")


def same(first, second):
    """Whether two fitted attributes are equal to the last bit."""
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and np.array_equal(
            first, second, equal_nan=first.dtype.kind == "f"
        )
    return first == second


def check_again(make, fitted, names):
    """A clone fitted to the same rows gives the same model."""
    again = make()
    for name in names:
        require(same(getattr(fitted, name), getattr(again, name)), f"another fit, another {name}")


def check_saved(draw, model, X_given, method):
    """What is loaded computes what was saved."""
    if not draw.happens(0.1):
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        loaded = vanishing.load(path)
    require(type(loaded) is type(model), "another type after loading")
    first, second = (getattr(m, method)(X_given) for m in (model, loaded))
    require(same(first, second), f"another {method} after loading")


@contextmanager
def unchanged(estimator, *arrays):
    """Fit must leave parameters and data alone."""
    before = estimator.get_params()
    copies = [a.copy() if hasattr(a, "copy") else a for a in arrays]
    yield
    after = estimator.get_params()
    require(before.keys() == after.keys(), "parameters have changed")
    require(all(after[name] is before[name] for name in before), "parameters have changed")
    for array, copy in zip(arrays, copies, strict=True):
        if isinstance(array, np.ndarray) and array.dtype.kind in "fiub":
            require(array.tobytes() == copy.tobytes(), "the data have changed")


# ---------------------------------------------------------------------------------- kinds of cases


def case_transformer(draw, caught):
    """A construction on an array."""
    X, plain = draw_rows(draw)
    m, n = (3, 2) if plain is None else plain.shape
    model = draw_transformer(draw, n)
    draw.note("estimator", model)
    weight = draw_weight(draw, m)
    if draw.happens(0.02):
        try:
            model.transform(X)
        except NotFittedError:
            pass
        else:
            raise Failure("transform without fit")
    with unchanged(model, X, weight):
        model.fit(X, sample_weight=weight)
    yield
    check_model(model, plain, weight, caught)
    check_transform(model, X, plain)
    if draw.happens(0.3):
        names = ["mse_", "n_generators_", "n_terms_", "sparsity_", "degree_"]
        if not isinstance(model, VCA):
            names += ["terms_", "leading_terms_", "coef_", "leading_coef_", "feature_order_"]
        check_again(lambda: clone(model).fit(X, sample_weight=weight), model, names)
    if not callable(getattr(model, "oracle", None)):
        check_saved(draw, model, X, "transform")
    if draw.happens(0.1):
        for wrong in (plain[:, :-1], np.hstack([plain, plain])):
            try:
                model.transform(wrong)
            except ValueError:
                pass
            else:
                raise Failure("transform took another number of columns")


def case_blocks(draw, caught):
    """OAVI or ABM or AVI on blocks."""
    X, plain = draw_rows(draw)
    m, n = (3, 2) if plain is None else plain.shape
    estimator = draw.choice([OAVI, ABM, AVI])
    model = draw.note("estimator", estimator(**draw_parameters(draw, estimator, n)))
    weight = draw_weight(draw, m)
    if plain is None:
        blocks = [X]
    else:
        X = np.asarray(X)
        if X.dtype.kind not in "f" or X.dtype.itemsize == 2:
            X = plain
        cut = sorted(draw.rng.integers(0, m + 1, size=2))
        blocks = [X[: cut[0]], X[cut[0] : cut[1]], X[cut[1] :]]
    model.fit(Blocks(lambda: iter(blocks)), sample_weight=weight)
    yield
    check_model(model, plain, weight, caught)
    check_transform(model, X, plain)
    parts = [part for part in model.transform(Blocks(blocks)) if len(part)]
    whole = model.transform(X)
    joined = np.concatenate(parts)
    require(joined.shape == whole.shape and joined.dtype == whole.dtype, "transform of blocks")


def case_moments(draw, caught):
    """OAVI on moments of batches."""
    X, plain = draw_rows(draw)
    m, n = (3, 2) if plain is None else plain.shape
    parameters = draw_parameters(draw, OAVI, n)
    model = draw.note("estimator", OAVI(**parameters))
    if parameters["psi"] == 0:
        draw.refuse.append("moments with psi=0")
    weight = draw_weight(draw, m)
    draw.may_refuse.append("moments may overflow")
    degree = int(draw.rng.integers(1, 5 if n < 4 else 3))
    moments = Moments(n, degree).update(X, weight)
    if draw.happens(0.5):
        X = plain if plain is not None else X
        half = m // 2
        parts = [slice(0, half), slice(half, m)] if half else [slice(0, m)]
        if weight is None or all(np.asarray(weight)[part].any() for part in parts):
            moments = sum(
                Moments(n, degree).update(X[p], None if weight is None else weight[p])
                for p in parts
            )
    if weight is not None and not np.isfinite(np.sum(weight)):
        draw.may_refuse.append("weights overflow")
    debiased = draw.later.uniform() < 0.3
    if debiased:
        if draw.later.uniform() < 0.3:
            model = draw.note("estimator", ABM(parameters["psi"], normalization="gradient"))
            kept = ("psi", "moments", "weights", "rows")
            draw.refuse = [w for w in draw.refuse if w.startswith(kept) and w != "psi=1.0"]
        estimate = moments.estimate_noise()
        require(np.isnan(estimate) or 0 <= estimate < np.inf, f"noise {estimate}")
        noise = 10.0 ** draw.later.uniform(-6, 1, n) * (draw.later.uniform(size=n) < 0.7)
        noise *= float(np.abs(plain).mean())
        if model.border == "bb" and noise.any():
            draw.refuse.append("debiased moments with border='bb'")
        moments = moments.debiased(draw.note("noise", noise))
    model.fit_moments(moments)
    yield
    require(model.degree_ <= degree, "a degree beyond that of the moments")
    check_terms(model)
    require((model.mse_ <= model.psi).all() and np.isfinite(model.coef_).all(), "mse above psi")
    if debiased and noise.any():
        return
    values = Values(model, plain)
    roots = root_mean_square(values.values, weight)
    slack = root_mean_square(values.tolerance(model.n_terms_), weight)
    if weight is not None:
        # Weighted sums are rounded to multiples of the smallest number: so far off are moments,
        # and an mse by as much for every product of coefficients.
        lost = np.longdouble(5e-324) * m / np.asarray(weight).astype(np.longdouble).sum()
        slack = slack + np.sqrt(lost) * (1.0 + np.abs(model.coef_).sum(axis=1))
    require((roots <= np.sqrt(model.psi) * (1 + 1e-8) + slack).all(), "measured mse above psi")


def case_features(draw, caught):
    """Features of classes."""
    X, plain = draw_rows(draw)
    m, n = (3, 2) if plain is None else plain.shape
    y = draw_labels(draw, m, 1)
    weight = draw_weight(draw, m)
    transformer = draw_transformer(draw, n)
    model = draw.note("estimator", VanishingFeatures(transformer))
    with unchanged(model, X, y, weight):
        model.fit(X, y, weight)
    yield
    check_features(model, plain, np.ravel(y), weight)
    out = model.transform(X)
    require(out.shape == (m, model.n_generators_), "shape of transform")
    parts = [t.transform(plain) for t in model.transformers_]
    if out.dtype == np.float64:
        require(same(np.hstack(parts), out), "transform is not that of the classes")
    require(len(model.get_feature_names_out()) == model.n_generators_, "names of the features")
    if not callable(getattr(transformer, "oracle", None)):
        check_saved(draw, model, X, "transform")


def check_features(model, X, y, weight):
    """Every class has a valid model, and sums are sums."""
    present = np.ones(len(y), dtype=bool) if weight is None else np.asarray(weight) > 0
    require(model.classes_.tolist() == np.unique(y[present]).tolist(), "classes_")
    for label, transformer in zip(model.classes_, model.transformers_, strict=True):
        rows = present & (y == label)
        if transformer.n_generators_:
            doubtful = [warnings.WarningMessage("", ConvergenceWarning, "", 0)]
            part = None if weight is None else np.asarray(weight)[rows]
            check_model(transformer, X[rows], part, doubtful)
    for name in ("n_generators_", "n_terms_"):
        total = sum(getattr(t, name) for t in model.transformers_)
        require(getattr(model, name) == total, name)
    require(0 <= model.sparsity_ <= 1, "sparsity_")


def case_contrastive(draw, caught):
    """Generators of classes that see the other classes."""
    X, plain = draw_rows(draw)
    m = 3 if plain is None else len(plain)
    y = draw_labels(draw, m, 1)
    weight = draw_weight(draw, m)
    transformer = ContrastiveVanishing(
        draw.choice([0, 1e-12, 1e-6, 1e-3, 0.05, 0.5, 0.99]),
        max_degree=int(draw.rng.integers(1, 4)),
        max_terms=draw.choice([1, 20, 100]),
        max_generators=draw.choice([None, None, 1, 3]),
        slack=draw.choice([0.0, 0.0, 0.1, 1.0, 1e6]),
        absolute=bool(draw.rng.integers(2)),
        chunk_size=draw.choice([None, 1, 7]),
    )
    model = draw.note("estimator", VanishingFeatures(transformer))
    draw.may_refuse.append("moments may overflow")
    with unchanged(model, X, y, weight):
        model.fit(X, y, weight)
    yield
    labels = np.ravel(y)
    present = np.ones(m, dtype=bool) if weight is None else np.asarray(weight) > 0
    for label, part in zip(model.classes_, model.transformers_, strict=True):
        check_contrast(part, plain, present & (labels == label), present, weight)
    out = model.transform(X)
    require(out.shape == (m, model.n_generators_), "shape of transform")
    check_saved(draw, model, X, "transform")


def check_contrast(model, X, own, present, weight):
    """The mean squares of a class and of the others are those that are measured."""
    require(model.terms_.tolist()[0] == [0] * X.shape[1], "the first term is not the constant")
    require(model.n_generators_ <= model.n_terms_, "more generators than terms")
    require(np.isfinite(model.coef_).all() and (model.leading_coef_ > 0).all(), "coef_")
    if not model.n_generators_:
        return
    others = present & ~own
    for rows, found in ((own, model.mse_), (others, model.mse_others_)):
        if rows.any():
            values = Values(model, X[rows])
            if values.tame.all():
                part = None if weight is None else np.asarray(weight)[rows]
                roots = root_mean_square(values.values, part)
                slack = root_mean_square(values.tolerance(model.n_terms_), part) + 1e-150
                off = np.abs(np.sqrt(found.astype(np.longdouble)) - roots) > 1e-8 * roots + slack
                require(not off.any(), f"mean squares {found[off]} measured as {roots[off] ** 2}")


def underflows(scale, X):
    """Whether scikit-learn's quantiles divide by numbers whose inverse is infinite."""
    return scale == "quantile" and np.abs(X).max() < 1e-300


def check_probabilities(model, X):
    """They sum to one, and the class that is predicted has the largest."""
    chances, labels = model.predict_proba(X), model.predict(X)
    require(np.isfinite(model.temperature_) and model.temperature_ > 0, "temperature_")
    require(np.allclose(chances.sum(axis=1), 1.0), "probabilities do not sum to one")
    own = chances[np.arange(len(labels)), np.searchsorted(model.classes_, labels)]
    require((own >= chances.max(axis=1) - 1e-12).all(), "probabilities and predictions differ")


def case_classifier(draw, caught):
    """The whole pipeline."""
    X, plain = draw_rows(draw)
    m, n = (3, 2) if plain is None else plain.shape
    y = draw_labels(draw, m, 2)
    weight = draw_weight(draw, m)
    scale = draw.choice([True, True, True, False, "quantile", StandardScaler()])
    if plain is not None and (np.abs(plain).max() > 1e100 or underflows(scale, plain)):
        scale = False  # scikit-learn's scalers overflow
    # The default, OAVI up to degree 10, is for scaled data.
    transformer = None if scale is True and draw.happens(0.2) else draw_transformer(draw, n)
    final = draw.choice([None, None, None, DecisionTreeClassifier(random_state=0)])
    options = {"C": draw.choice([0.1, 1.0, 10.0, 100.0, 1e-6]), "clip": bool(draw.rng.integers(2))}
    if final is None and m % 3 == 0:  # not drawn: cases that tests name would be others
        options["class_weight"] = "balanced"
    if draw.happens(0.03):
        name, value = draw.choice([("C", 0), ("C", "1"), ("scale", "max"), ("scale", 3)])
        scale, options["C"] = (value, 1.0) if name == "scale" else (scale, value)
        draw.refuse.append(f"{name}={value!r}")
    model = VanishingClassifier(transformer, scale=scale, final_estimator=final, **options)
    draw.note("estimator", model)
    if scale is False or plain is None or np.abs(plain).max() > 1e100:
        draw.may_refuse.append("features may overflow")
    if weight is not None:
        draw.may_refuse.append("weights may leave one class")
    if isinstance(scale, StandardScaler) or final is not None:
        draw.may_refuse.append("scikit-learn may refuse huge numbers")
    with unchanged(model, X, y, weight):
        model.fit(X, y, weight)
    yield
    require(model.n_generators_ == model.features_.n_generators_, "n_generators_")
    labels = np.ravel(y)
    rows = plain if model.scaler_ is None else model.scaler_.transform(plain)
    if getattr(X, "dtype", None) != np.float32:
        check_features(model.features_, rows, labels, weight)
    if final is None:
        check_predictions(model, X, m)
        check_probabilities(model, X)
        require(len(model.explain(X)) == m, "explanations")
    else:
        require(set(model.predict(X).tolist()) <= set(model.classes_.tolist()), "unknown labels")
    if final is None and not callable(getattr(transformer, "oracle", None)):
        check_saved(draw, model, X, "predict")


def case_search(draw, caught):
    """Cross-validation with a tiny grid, or with all that is searched over."""
    X, plain = draw_rows(draw)
    m, n = (3, 2) if plain is None else plain.shape
    y = draw_labels(draw, m, 2)
    weight = draw_weight(draw, m)
    scale = draw.choice([True, True, "quantile", "log", "auto", False])
    if plain is not None and underflows("quantile" if scale == "auto" else scale, plain):
        scale = False
    transformer = None if scale is True and draw.happens(0.5) else draw_transformer(draw, n)
    if transformer is not None:
        transformer.set_params(psi=0.1)  # the grid has others
    psis = draw.choice([(0.1,), (0.1, 0.005), (0.05, 0), [1e-3], "auto"])
    if psis == "auto" and n > 3:
        psis = (0.1,)
    if psis != "auto" and 0 in psis and getattr(transformer, "tau", None) == "auto":
        psis = (0.05,)
    model = VanishingClassifierCV(
        transformer,
        psis=psis,
        Cs=draw.choice([(1.0,), (0.1, 10.0)]),
        cv=draw.choice([2, 3]),
        scoring=draw.choice([None, None, "balanced_accuracy"]),
        scale=scale,
    )
    draw.note("estimator", model)
    draw.may_refuse.append("folds may miss a class, features may overflow")
    draw.refuse = [r for r in draw.refuse if not r.startswith(("psi=", "tau='auto'"))]
    if draw.happens(0.03):
        model.set_params(psis=draw.choice([(), (1.0,), ("a",), 3]))
        draw.refuse.append("a bad grid")
    with unchanged(model, X, y, weight):
        model.fit(X, y, weight)
    yield
    tried = {(p["psi"], p["C"]) for p in model.cv_results_["params"]}
    if model.psis != "auto":
        require(tried == {(psi, C) for psi in model.psis for C in model.Cs}, "cv_results_")
    require(0 <= model.best_score_ <= 1, "best_score_")
    require((model.best_params_["psi"], model.best_params_["C"]) in tried, "best")
    again = VanishingClassifier().set_params(**model.best_params_)
    require(repr(again.set_params(n_jobs=model.n_jobs)) == repr(model.classifier_), "best_params_")
    check_predictions(model, X, m)
    if not callable(getattr(transformer, "oracle", None)):
        check_saved(draw, model, X, "predict")


def case_svm(draw, caught):
    """The support vector machine on its own."""
    X, plain = draw_rows(draw)
    m = 3 if plain is None else len(plain)
    y = draw_labels(draw, m, 2)
    weight = draw_weight(draw, m)
    model = L1SquaredHingeSVC(
        draw.choice([0.01, 1.0, 1.0, 100.0, 1e6]),
        tol=draw.choice([1e-4, 1e-2, 1e-8]),
        max_iter=draw.choice([1, 20, 1000]),
        fit_intercept=bool(draw.rng.integers(2)),
        class_weight=draw.choice([None, None, "balanced"]),
    )
    if draw.happens(0.03):
        name, value = draw.choice([("C", -1.0), ("C", np.nan), ("tol", 0), ("max_iter", 0.5)])
        model.set_params(**{name: value})
        draw.refuse.append(f"{name}={value}")
    draw.note("estimator", model)
    if weight is not None:
        draw.may_refuse.append("weights may leave one class")
    if plain is not None and np.abs(plain).max() > 1e100:
        draw.may_refuse.append("squares may overflow")
    with unchanged(model, X, y, weight):
        model.fit(X, y, weight)
    yield
    y = np.ravel(y)
    check_svm(model, plain, y, weight)
    short = any(issubclass(w.category, ConvergenceWarning) for w in caught)
    require(short or (model.dual_gap_ <= model.tol).all(), "a gap above tol without a warning")
    check_predictions(model, X, m)
    check_saved(draw, model, X, "predict")


def case_exact(draw, caught):
    """Exact points: everything is checked with fractions."""
    rng = draw.rng
    m, n = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    numbers = rng.integers(-5, 6, size=(m, n))
    fractions = [[Fraction(int(v), int(rng.integers(1, 8))) for v in row] for row in numbers]
    kind = draw.note(
        "points",
        draw.word(
            "ints numpy fractions strings decimals mixed huge floats words ragged empty nan 1-D "
            "bools"
        ),
    )
    points = fractions
    if kind in ("ints", "numpy"):
        points = numbers if kind == "numpy" else numbers.tolist()
    elif kind == "strings":
        points = [[str(v) for v in row] for row in fractions]
    elif kind == "decimals":
        points = [[Decimal(int(v)) / 8 for v in row] for row in numbers]
    elif kind == "mixed":
        points = [[str(v), *row[1:]] for v, row in zip(numbers[:, 0], fractions, strict=True)]
    elif kind == "huge":
        points = [[int(v) * 10**300 + 1 for v in row] for row in numbers]
    elif kind == "bools":
        points = (numbers > 0).tolist()
    elif kind != "fractions":
        if kind != "floats" or numbers.any():  # integral floats are exact
            draw.refuse.append(kind)
        points = {
            "floats": numbers * 0.1,
            "words": np.full((m, n), "x"),
            "ragged": [[1, 2], [3]],
            "empty": [],
            "nan": [[draw.choice([np.nan, "nan", "inf", "1/0", Decimal("NaN"), None])] * n] * m,
            "1-D": [1, 2, 3],
        }[kind]
    model = BuchbergerMoller(
        border=draw.choice(["gb", "bb"]), max_degree=draw.choice([None, None, 1, 3])
    )
    if draw.happens(0.05):
        name, value = draw.choice([("border", "x"), ("max_degree", 0), ("max_degree", 1.5)])
        model.set_params(**{name: value})
        draw.refuse.append(f"{name}={value!r}")
    draw.note("estimator", model)
    with unchanged(model):
        model.fit(points)
    yield
    exact = [tuple(Fraction(v) for v in row) for row in points]
    if isinstance(points, np.ndarray):
        exact = [tuple(Fraction(int(v)) for v in row) for row in points]
    for g in model.generators_:
        require(all(g(point) == 0 for point in exact), "a generator that does not vanish")
        require(g.coef[-1] == 1 and str(g), "leading coefficient")
    basis = buchberger_moller(list(dict.fromkeys(exact)), model.border)
    limit = np.inf if model.max_degree is None else model.max_degree
    expected = [t for t in basis.terms if sum(t) <= limit]
    require([tuple(t) for t in model.terms_.tolist()] == expected, "terms_")
    expected = [t for t in basis.leading_terms if sum(t) <= limit]
    require([tuple(t) for t in model.leading_terms_.tolist()] == expected, "leading_terms_")
    for row, coef in zip(model.coef_, basis.coef, strict=False):
        coef = coef[: model.n_terms_]
        require(row[: len(coef)].tolist() == coef and not row[len(coef) :].any(), "coef_")


NAMES = ["p", "V", "T in K", "größe", "a;b", 'say "so"', "two\nlines", "n", "5 kg"]
MISSING = ["", "NA", "n.d.", "-", "nan", "#DIV/0!", "None"]


def draw_cells(draw, ending):
    """Rows of numbers, and the same as cells of a file with a defect: NaN where one is bad."""
    rng, is_text = draw.rng, ending not in (".xlsx", ".parquet")
    m, n = int(rng.integers(8, 40)), int(rng.integers(1, 6))
    kind = draw.note("values", draw.choice(["uniform", "integers", "thousandths", "any size"]))
    X = rng.uniform(-3, 3, size=(m, n))
    if kind in ("integers", "thousandths"):
        X = rng.integers(-2000, 9000, size=(m, n)) / (1 if kind == "integers" else 1000)
    if kind == "any size":
        X *= 10.0 ** rng.integers(-300, 300, size=(m, n))
    if ending == ".xlsx":  # openpyxl writes sixteen digits
        X = np.array([[float(f"{v:.15g}") for v in row] for row in X.tolist()])
    cells = [[repr(v) if is_text else v for v in row] for row in X.tolist()]
    defect = draw.note("defect", draw.word("none none none missing word inf short long mixed"))
    missing = draw.note("missing", draw.word("error drop drop median"))
    places = np.column_stack([rng.integers(m, size=3), rng.integers(n, size=3)]).tolist()
    if defect in ("missing", "word", "inf"):
        word = draw.choice(MISSING) if defect == "missing" else {"word": "abc"}.get(defect, "inf")
        word = word or ("NA" if n == 1 else "")  # a blank line is no row
        if ending == ".parquet":
            word = np.inf if defect == "inf" else None
        for i, j in places:
            X[i, j], cells[i][j] = np.nan, word
    if defect == "short" and n > 1 and ending != ".parquet":
        i, j = places[0][0], 1 + places[0][1] % (n - 1)
        X[i, j:], cells[i][j:] = np.nan, []
    if defect == "long" and ending != ".parquet":
        X[places[0][0]] = np.nan
        cells[places[0][0]] += cells[places[1][0]][:1]
        draw.refuse += ["a row that is too long"] if missing == "median" else []
    if defect == "mixed" and ending == ".xlsx":
        for i, j in places:
            cells[i][j] = str(cells[i][j]).replace(".", ",")
    if np.isnan(X).any() and missing == "error":
        draw.refuse.append(defect)
    return X, cells, missing


def written_text(draw, rows, path):
    """Rows as a CSV file; return the layout and the decimal sign that it is to be read with."""
    separator = draw.note("separator", draw.choice(",;\t"))
    decimal = draw.note("decimal", draw.choice([None, None, "."] + [","] * (separator != ",")))
    if decimal == ",":
        rows = [rows[0], *([cell.replace(".", ",") for cell in row] for row in rows[1:])]
    lines = io.StringIO(newline="")
    end = draw.note("line end", draw.choice(["\n", "\r\n", "\r"]))
    quoting = csv.QUOTE_ALL if end == "\r" or draw.happens(0.5) else csv.QUOTE_MINIMAL
    csv.writer(lines, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
    text = lines.getvalue()
    if draw.note("title", len(rows[0]) > 1 and draw.happens(0.15)):
        text = f"Laboratory 3{end}by hand, in March{end}{end}{text}"
        draw.may_refuse.append("a title")
    if draw.note("comment", draw.happens(0.15)):
        text += f"# the end{end}"
    if draw.note("NUL", draw.happens(0.05)):
        text += f"1\0{end}"
        draw.refuse.append("NUL")
    encoding = draw.note("encoding", draw.word("utf-8 utf-8 utf-8-sig utf-16 latin-1"))
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    # One separator is as good as another where there is one column, or one of them is in a name.
    told = len(rows[0]) == 1 or any(mark in name for name in rows[0] for mark in ",;")
    layout = FileLayout(separator if told else None, "latin-1" if encoding == "latin-1" else None)
    return layout, decimal


def case_tables(draw, caught):
    """A file of any format, with or without a defect, as the command line and Python read it."""
    with tempfile.TemporaryDirectory() as folder:
        ending = draw.note("ending", draw.word(".csv .csv .csv.gz .txt .xlsx .parquet"))
        path = Path(folder) / f"t{ending}"
        X, cells, missing = draw_cells(draw, ending)
        names = [str(name) for name in draw.rng.permutation(NAMES)[: X.shape[1]]]
        layout, decimal = FileLayout(), ","
        if ending == ".xlsx":
            sheet = openpyxl.Workbook()
            for row in (names, *cells):
                sheet.active.append(row)
            sheet.save(path)
        elif ending == ".parquet":
            pd.DataFrame(cells, columns=names).to_parquet(path)
        else:
            layout, decimal = written_text(draw, [names, *cells], path)
        is_damaged = draw.note("damaged", draw.happens(0.15))
        if is_damaged:
            content = bytearray(path.read_bytes())
            place = draw.rng.integers(len(content))
            content[place] = draw.rng.integers(256)
            path.write_bytes(content[: None if draw.happens(0.5) else place])
            draw.may_refuse += [*draw.refuse, "damage"]
            draw.refuse.clear()
        limit = csv.field_size_limit()
        choices = Choices(missing=missing, decimal=decimal, layout=layout, categories="drop")
        try:
            found = prepare(open_table(path, layout=layout), choices, {})
        finally:
            require(csv.field_size_limit() == limit, "the limit of fields")
        yield
        if not found.names:  # all is text: the commands have nothing to look at
            require(draw.may_refuse, "no columns")
            return
        require(np.isfinite(found.X).all(), "numbers that are not finite")
        require(found.X.shape == (len(found.rows), len(found.names)), "shape")
        recipe = recipe_of(json.loads(json.dumps(node_of(found.recipe))))
        require(recipe == found.recipe, "a recipe that is saved")
        again = [p.X for p in recipe.parts(open_table(path, layout=layout), found.names, rows=7)]
        require(np.array_equal(np.concatenate(again), found.X), "the same table again")
        if is_damaged:
            return
        require(found.names == names, "names")
        usable = np.isfinite(X).all(axis=1) | (missing == "median")
        require(np.array_equal(found.rows, np.flatnonzero(usable)), "rows that are used")
        expected, known = X[usable], np.isfinite(X[usable])
        require(np.array_equal(found.X[known], expected[known]), "numbers")
        if decimal is None and known.all() and usable.all():
            (block, _), *more = number_blocks(open_table(path, layout=layout), names)
            require(not more and np.array_equal(block, X), "numbers in Python")


BAD_OF = {
    LawFinder: {
        "max_degree": [0, 2.5],
        "max_terms": [1, "all"],
        "functions": ["sin", (3,), ("sine",), None],
        "noise": [-1.0, "much", [1.0] * 9],
        "robust": [1],
        "n_laws": [0],
        "max_time": [0],
        "n_jobs": [0, "all"],
    },
    VanishingOutlierDetector: {
        "max_degree": [0, 5, None],
        "contamination": [0, 0.6, "some", np.nan],
        "false_alarm_rate": [0, 0.9],
        "half_life": [0, "long"],
        "n_jobs": [0, 1.5],
    },
    ConservedQuantities: {
        "max_degree": [0, 1.5],
        "max_terms": [0, None],
        "functions": ["sin", ("sine",), 3],
        "noise": ["much", -1.0, [1.0] * 9],
        "n_jobs": [0, "all"],
    },
}


def spoil(draw, model):
    """Seldom, give one of the parameters a value that is to be refused."""
    if draw.happens(0.05):
        name = draw.choice(list(BAD_OF[type(model)]))
        value = draw.choice(BAD_OF[type(model)][name])
        model.set_params(**{name: value})
        draw.refuse.append(f"{name}={value!r}")


def draw_table(draw):
    """Rows as `draw_rows` has them, or more of them, near 1 and positive, as laws want them."""
    if draw.happens(0.3):
        return draw_rows(draw)
    m, n = int(draw.rng.integers(30, 200)), int(draw.rng.integers(1, 5))
    plain = draw.rng.uniform(1.0, 3.0, size=(m, n))
    draw.note("values", f"{m} rows of {n} columns near 1")
    return plain.copy(), plain


def is_out_of_range(columns):
    """Whether powers of some column overflow or vanish."""
    size = np.abs(columns).max(axis=0)
    return bool(((size > 1e100) | ((size > 0) & (size < 1e-100))).any())


def draw_target(draw, plain, m):
    """What a law may be found of: None, a function of the columns, chance, or no numbers."""
    rng = draw.rng
    kind = draw.note(
        "target",
        draw.word(
            "none none product product sum power sine chance constant nan inf words long 2-D"
        ),
    )
    rows = rng.uniform(1.0, 3.0, size=(m, 2)) if plain is None else plain
    first, last = rows[:, 0], rows[:, -1]
    with np.errstate(all="ignore"):
        y = {
            "product": 2.5 * first * last,
            "sum": 3.0 * first - 0.5 * last + 1.0,
            "power": np.abs(first) ** 1.5 / (1.0 + np.abs(last)),
            "sine": np.sin(first) * last,
            "constant": np.full(m, 7.0),
        }.get(kind, rng.normal(size=m))
        noise = draw.choice([0.0, 0.0, 1e-6, 0.01, 0.3])
        if kind != "constant":
            y = y * (1.0 + noise * rng.normal(size=m))
    y = np.clip(np.nan_to_num(y), -1e305, 1e305)
    if kind in ("nan", "inf", "words", "long", "2-D"):
        draw.refuse.append(f"target {kind}")
        spoilt = y.copy()
        spoilt[rng.integers(m)] = np.nan if kind == "nan" else np.inf
        return {
            "words": ["a"] * m,
            "long": np.append(y, 1.0),
            "2-D": np.column_stack([y, y]),
        }.get(kind, spoilt)
    return None if kind == "none" else y


def check_law(law, names):
    """A law that can be read, written and evaluated."""
    require(np.isfinite(law.coef).all() and law.coef.any(), "coefficients of a law")
    require(law.names == names and set(law.columns) <= set(names), "names of a law")
    require(law.error >= 0.0 or np.isnan(law.error), f"error {law.error} of a law")
    std = law.coef_std
    require(((std >= 0.0) | np.isnan(std)).all(), "standard errors of a law")
    require(all((str(law), law.to_latex(), law.to_mathml())), "a law is not written")
    if all(name.isidentifier() for name in names):
        compile(law.to_python(), "law", "exec")


def case_laws(draw, caught):
    """LawFinder on a table, with a target or without."""
    X, plain = draw_table(draw)
    m, n = (3, 2) if plain is None else plain.shape
    y = draw_target(draw, plain, m)
    weight = draw_weight(draw, m)
    model = LawFinder(
        int(draw.rng.integers(1, 4)),
        max_terms=int(draw.rng.integers(2, 7)),
        functions=draw.choice(["auto", (), (), ("sin",), ("log",), {0: ("exp", "sqrt")}]),
        noise=draw.choice([None, None, None, None, 0.01, "estimate", [0.01] * (n + 1)]),
        robust=draw.happens(0.2),
        n_laws=int(draw.rng.integers(1, 4)),
        max_time=draw.choice([None, None, None, 1e-3, 1.0]),
        random_state=int(draw.rng.integers(100)),
    )
    spoil(draw, model)
    draw.note("estimator", model)
    if isinstance(model.functions, (tuple, dict)) and model.functions:
        draw.may_refuse.append("functions may not be defined on all rows")
    if model.noise is not None:
        draw.may_refuse.append("noise may exceed the spread of a column, or be for other columns")
    if plain is not None and not draw.refuse:
        columns = plain if y is None else np.column_stack([plain, y])
        counted = columns if weight is None else columns[np.asarray(weight) > 0]
        if len(np.unique(counted, axis=0)) < 3:
            draw.refuse.append("fewer than three different rows")
        if is_out_of_range(counted):
            draw.refuse.append("columns of extreme sizes")
    with unchanged(model, X, y, weight):
        model.fit(X, y, weight)
    yield
    check_finder(draw, model, X, plain, y, weight)


def check_finder(draw, model, X, plain, y, weight):
    """What a fitted LawFinder promises."""
    m, n = plain.shape
    names = [*map(str, getattr(model, "feature_names_in_", [f"x{i}" for i in range(n)]))]
    names = (*names, *([] if y is None else ["y"]))
    require(model.verdict_ and model.target_name_ == (None if y is None else "y"), "verdict")
    require(model.noise_.shape == (len(names),), "shape of noise_")
    require(not (model.noise_ < 0.0).any() and not np.isinf(model.noise_).any(), "noise_")
    require(len(model.laws_) <= (model.n_laws if y is None else 1), "too many laws")
    sizes = [law.n_terms for law in model.front_]
    require(sizes == sorted(set(sizes)) or y is None, f"a front of {sizes} terms")
    require(len(model.front_table()) == len(model.front_), "front_table")
    for law in (*model.laws_, *model.front_):
        check_law(law, names)
        require(law.n_terms <= model.max_terms, "more terms than max_terms")
    require("vanishing-equations" in model._repr_html_(), "the page of a notebook")
    if y is None:
        return
    predicted = model.predict(X)
    require(predicted.shape == (m,) and np.isfinite(predicted).all(), "predictions")
    if model.laws_ and not model.robust and model.noise is None and model.laws_[0].target:
        left = y - model.laws_[0].predict(plain)
        good = np.isfinite(left)
        counts = np.ones(m) if weight is None else np.asarray(weight, dtype=float)
        counts = counts / counts.max()
        if good.all():
            error = np.sqrt(counts @ left**2 / counts.sum())
            off = abs(error - model.laws_[0].error)
            require(off <= 1e-6 * error + 1e-10 * np.abs(y).max(), f"{error}, not its error")
    if model.max_time is None:
        check_again(lambda: clone(model).fit(X, y, weight), model, ["verdict_", "noise_", "mean_"])
        check_saved(draw, model, X, "predict")


def case_outliers(draw, caught):
    """The detector on a table, maybe in two batches."""
    X, plain = draw_table(draw)
    m = 3 if plain is None else len(plain)
    weight = draw_weight(draw, m)
    model = VanishingOutlierDetector(
        int(draw.rng.integers(1, 5)),
        contamination=draw.choice(["auto", "auto", 0.1, 0.5]),
        false_alarm_rate=draw.choice([0.01, 0.1, 1e-4]),
        half_life=draw.choice([None, None, 10.0, 1000.0]),
        random_state=int(draw.rng.integers(100)),
    )
    spoil(draw, model)
    draw.note("estimator", model)
    if plain is not None and not draw.refuse:
        counted = plain if weight is None else plain[np.asarray(weight) > 0]
        if len(counted) < 2:
            draw.refuse.append("one row")
        if np.abs(plain).max() > 1e100:
            draw.may_refuse.append("values may be too large")
    with unchanged(model, X, weight):
        model.fit(X, sample_weight=weight)
    yield
    if draw.happens(0.3):
        model.partial_fit(X, sample_weight=weight)
    scores = model.score_samples(X)
    require(scores.shape == (m,) and np.isfinite(scores).all(), "scores")
    require(np.isfinite(model.offset_), "offset_")
    require(same(model.decision_function(X), scores - model.offset_), "decision_function")
    require(same(model.predict(X), np.where(scores < model.offset_, -1, 1)), "predict")
    names = tuple(model.column_names_)
    for law in model.laws_:
        check_law(law, names)
    chances = model.p_values(X)
    require(((chances > 0.0) & (chances <= 1.0)).all(), "p values")
    reasons = model.explain(X)
    require(len(reasons) == m, "explanations")
    for reason in (one for of_row in reasons for one in of_row):
        require(set(reason["columns"]) <= set(names), "a column to blame")
        require(reason["kind"] in ("broken law", "unusual combination"), "a kind of reason")
    require("vanishing-equations" in model._repr_html_(), "the page of a notebook")
    check_saved(draw, model, X, "score_samples")


def draw_runs(draw, m):
    """Which run each row belongs to, good or bad."""
    rng = draw.rng
    n_runs = int(rng.choice([1, 2, 2, 3, 4, 5, 6, 7]))
    kind = draw.note(
        "groups",
        draw.word(
            "ints ints ints ints ints ints words words sorted sorted sorted sorted sorted objects "
            "none nan long missing mixed 2-D"
        ),
    )
    runs = (
        np.sort(rng.integers(n_runs, size=m)) if kind == "sorted" else rng.integers(n_runs, size=m)
    )
    if kind in ("ints", "sorted"):
        return runs
    if kind in ("words", "objects"):
        return np.array([f"run {i}" for i in runs], dtype=object if kind == "objects" else None)
    draw.refuse.append(f"groups {kind}")
    spoilt = runs.astype(object if kind in ("missing", "mixed") else float)
    spoilt[rng.integers(m)] = {"missing": None, "mixed": "a"}.get(kind, np.nan)
    return {
        "none": None,
        "long": np.append(runs, 0),
        "2-D": np.column_stack([runs, runs]),
    }.get(kind, spoilt)


def case_motion(draw, caught):
    """ConservedQuantities on runs."""
    X, plain = draw_table(draw)
    m, n = (3, 2) if plain is None else plain.shape
    groups = draw_runs(draw, m)
    weight = draw_weight(draw, m)
    model = ConservedQuantities(
        int(draw.rng.integers(1, 4)),
        functions=draw.choice([(), (), (), ("sin",), ("log",), {0: ("exp",)}]),
        max_terms=int(draw.rng.integers(1, 9)),
        noise=draw.choice([None, None, None, 0.01, [0.0] * n]),
        random_state=int(draw.rng.integers(100)),
    )
    spoil(draw, model)
    draw.note("estimator", model)
    if model.functions:
        draw.may_refuse.append("functions may not be defined on all rows")
    if plain is not None and not draw.refuse:
        kept = np.ones(m, dtype=bool) if weight is None else np.asarray(weight) > 0
        counts = np.unique(groups[kept], return_counts=True)[1]
        if len(counts) < 2 or counts.min() < 2:
            draw.refuse.append("too few runs, or rows of one")
        if (np.ptp(plain[kept], axis=0) == 0.0).any():
            draw.refuse.append("a constant column")
        if is_out_of_range(plain[kept]):
            draw.refuse.append("columns of extreme sizes")
        if (np.ptp(plain[kept], axis=0) <= 1e-9 * np.abs(plain[kept]).max(axis=0)).all():
            draw.may_refuse.append("columns vary by their rounding alone")
    with unchanged(model, X, groups, weight):
        model.fit(X, groups=groups, sample_weight=weight)
    yield
    count, kept = len(model.quantities_), np.ones(m, dtype=bool)
    if weight is not None:
        kept = np.asarray(weight) > 0
    require(model.runs_.tolist() == np.unique(groups[kept]).tolist(), "runs_")
    require(model.values_.shape == (len(model.runs_), count), "shape of values_")
    require(model.ratio_.shape == (count,), "shape of ratio_")
    require(((model.ratio_ >= 0.0) & (model.ratio_ <= 1.0)).all(), f"ratio_ {model.ratio_}")
    require(model.noise_.shape == (n,) and (model.noise_ >= 0.0).all(), "noise_")
    require(0 <= model.n_independent_ <= min(count, n), "n_independent_")
    require(bool(model.verdict_), "verdict_")
    out = model.transform(X)
    require(out.shape == (m, count), "shape of transform")
    names = tuple(map(str, getattr(model, "feature_names_in_", [f"x{i}" for i in range(n)])))
    for i, quantity in enumerate(model.quantities_):
        require(quantity.names == names and quantity.n_terms <= model.max_terms, "a quantity")
        require(all((str(quantity), quantity.to_latex(), quantity.to_mathml())), "not written")
        require(same(out[:, i], quantity(plain)), "transform is not the quantity")
    for law in model.constraints_:
        check_law(law, names)
    require(len(model.get_feature_names_out()) == count, "names of the features")
    require(model.score(X, groups=groups, sample_weight=weight) <= 1.0, "score")
    require("vanishing-equations" in model._repr_html_(), "the page of a notebook")
    if draw.happens(0.3):
        check_again(
            lambda: clone(model).fit(X, groups=groups, sample_weight=weight),
            model,
            ["verdict_", "ratio_", "values_", "noise_"],
        )
    check_saved(draw, model, X, "transform")


# Shares of the cases; kinds without one are run by ``--kind`` alone: cases that tests name would be
# others.
KINDS = {
    case_transformer: 0.49,
    case_contrastive: 0.03,
    case_blocks: 0.08,
    case_tables: 0.0,
    case_moments: 0.06,
    case_features: 0.08,
    case_classifier: 0.09,
    case_search: 0.03,
    case_svm: 0.07,
    case_exact: 0.07,
    case_laws: 0.0,
    case_outliers: 0.0,
    case_motion: 0.0,
}


# ----------------------------------------------------------------------------------- running cases


def is_documented(error):
    """A ValueError or TypeError that the library or scikit-learn raises, and that says why."""
    if not isinstance(error, (ValueError, TypeError)) or isinstance(error, np.linalg.LinAlgError):
        return False
    if len(str(error).split()) < 3:
        return False
    frame = traceback.extract_tb(error.__traceback__)[-1]
    if "sklearn" in frame.filename:
        return True
    raised = "raise" in linecache.getline(frame.filename, frame.lineno)
    return "vanishing" in Path(frame.filename).parts and raised


def _on_alarm(signum, frame):
    raise Hang(f"not done after {LIMIT} s")


@contextmanager
def time_limit(seconds):
    """Raise Hang after so many seconds, as soon as compiled code returns.

    Seconds of the processor: a machine that does other things is no hang.
    """
    before = signal.signal(signal.SIGPROF, _on_alarm)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def named(kind):
    """Return the kind of cases that has a name."""
    return next(case for case in KINDS if case.__name__ == f"case_{kind}")


def run_case(number, kind=None):
    """Run a case; return its kind and how it ended ("model" or "refused"), or raise Failure.

    Without a kind, the number says which.
    """
    draw = Draw(number)
    case = list(KINDS)[draw.rng.choice(len(KINDS), p=list(KINDS.values()))]
    if kind is not None:
        case = named(kind)
    with time_limit(LIMIT), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        steps = case(draw, caught)
        try:
            try:
                next(steps)
            except (Failure, Hang, StopIteration):
                raise
            except Exception as error:
                if not is_documented(error):
                    raise
                require(draw.refuse or draw.may_refuse, f"refused: {type(error).__name__}: {error}")
                outcome = "refused"
            else:
                require(not draw.refuse, f"accepted in spite of {draw.refuse}")
                list(steps)
                outcome = "model"
            for warning in caught:
                require(
                    issubclass(warning.category, UserWarning),
                    f"{warning.category.__name__}: {warning.message} "
                    f"({Path(warning.filename).name}:{warning.lineno})",
                )
        except (Exception, Hang) as error:
            error.add_note(f"case {number}, {case.__name__}: {draw.log}")
            raise
    return case.__name__, outcome


def main(arguments=None):
    """Run cases and report them; the exit status says whether one failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=1000, help="how many cases to run")
    parser.add_argument("--seed", type=int, default=0, help="the first case is seed * 1,000,000")
    parser.add_argument("--seconds", type=float, default=np.inf, help="stop after so long")
    parser.add_argument("--case", type=int, help="run this case alone, and show its traceback")
    kinds = [case.__name__.removeprefix("case_") for case in KINDS]
    parser.add_argument("--kind", choices=kinds, help="run cases of this kind alone")
    options = parser.parse_args(arguments)
    if options.case is not None:
        print(run_case(options.case, options.kind))
        return 0
    began = time.perf_counter()
    outcomes, failures, slowest = Counter(), [], (0.0, None)
    first = 1_000_000 * options.seed
    for number in range(first, first + options.cases):
        if time.perf_counter() - began > options.seconds:
            break
        # Compiled code hears no alarm, and who waits for ever computes nothing.
        faulthandler.dump_traceback_later(10 * LIMIT, exit=True, file=sys.__stderr__)
        start = time.perf_counter()
        try:
            outcomes[run_case(number, options.kind)] += 1
        except (Exception, Hang) as error:
            failures.append(number)
            where = traceback.extract_tb(error.__traceback__)[-1]
            print(
                f"case {number}: {type(error).__name__}: {error} "
                f"({Path(where.filename).name}:{where.lineno})",
                flush=True,
            )
        slowest = max(slowest, (time.perf_counter() - start, number))
    faulthandler.cancel_dump_traceback_later()
    total = outcomes.total() + len(failures)
    for (kind, outcome), count in sorted(outcomes.items()):
        print(f"{kind:20} {outcome:8} {count}")
    print(
        f"{total} cases in {time.perf_counter() - began:.0f} s, {len(failures)} failures; the "
        f"slowest, case {slowest[1]}, took {slowest[0]:.1f} s"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
