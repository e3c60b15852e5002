"""The work that no one can avoid who is told the answer: terms evaluated once, bare products.

E are the values of the terms of O, F those of the leading terms, W the coefficients.
"""

import numpy as np

from vanishing._threads import one_blas_thread
from vanishing.algebra import monomials
from vanishing.algebra.evaluation import chunk_rows, evaluate


def _plan(model):
    terms = np.vstack([model.terms_, model.leading_terms_])
    plan, position = monomials.plan(terms)
    k = model.n_terms_
    return plan, position[:k], position[k:], chunk_rows(plan.parent.size, None)


def fit_floor(models, parts):
    """Evaluate the terms of each model on its rows, with E'E, E'F and E W."""
    plans = [_plan(model) for model in models]

    def run():
        with one_blas_thread():
            for model, X, (plan, in_O, leading, rows) in zip(models, parts, plans, strict=True):
                gram = np.zeros((len(in_O), len(in_O)))
                cross = np.zeros((len(in_O), len(leading)))
                for _, values in evaluate(X, plan, rows=rows):
                    E, F = values[in_O], values[leading]
                    gram += E @ E.T
                    cross += E @ F.T
                    model.coef_ @ E

    return run


def transform_floor(models, X):
    """Evaluate the terms of each model, form E W, and write an output of a transform's size."""
    plans = [_plan(model) for model in models]

    def run():
        with one_blas_thread():
            for model, (plan, in_O, _, rows) in zip(models, plans, strict=True):
                out = np.empty((len(X), model.n_generators_))
                for here, values in evaluate(X, plan, rows=rows):
                    np.matmul(values[in_O].T, model.coef_.T, out=out[here])

    return run


def products(model, n_samples):
    """Form E'E, E'F and E W for so many rows, from values that are already in the cache."""
    plan, in_O, leading, rows = _plan(model)
    X = np.random.default_rng(0).random((rows, model.n_features_in_))
    values = next(evaluate(X, plan, rows=rows))[1]
    E, F = values[in_O].copy(), values[leading].copy()
    gram, cross = np.zeros((len(E), len(E))), np.zeros((len(E), len(F)))

    def run():
        with one_blas_thread():
            for _ in range(-(-n_samples // rows)):
                np.add(gram, E @ E.T, out=gram)
                np.add(cross, E @ F.T, out=cross)
                model.coef_ @ E

    return run
