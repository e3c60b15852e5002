"""Bounds of the generators of a fitted transformer."""

import math
from dataclasses import replace

import numpy as np

from vanishing.bounds.counting import max_size
from vanishing.bounds.guarantees import moment_bound, vanishing_bound
from vanishing.bounds.price import grid, samples_needed, share
from vanishing.bounds.results import Bound
from vanishing.constructions.oavi import OAVI, stopping_degree, tau_of
from vanishing.oracles import named

_ROUNDING = 1e-9  # scaled rows and projected coefficients may exceed their bounds by rounding

INDEPENDENT = "the rows given are independent draws from the distribution of the new ones"
NEW_ROWS = "new rows lie in [-1, 1]^n"
IN_ADVANCE = (
    "tau and max_terms, where given, were chosen before the rows were seen "
    '(psi, too, if tau="auto")'
)


def of_generators(model, X, delta, conditions, prefix=""):
    """Return the bounds that hold for the generators of one transformer."""
    if X is not None:
        _check_cube(X)
    if not model.n_generators_:
        return []
    l1 = l1_norms(model)
    slope = float((model.leading_terms_.sum(axis=1) * l1).max())
    bounds = [
        Bound(
            name=f"{prefix}Lipschitz",
            value=slope,
            statement=f"|g(y)| <= |g(x)| + {slope:.3g} ||y - x||_inf for every generator g",
            informative=True,  # near enough to a row
            conditions=conditions,
        )
    ]
    if _has_max_size(model, X):
        bounds.append(_size(model, X, prefix))
    m = None if X is None else len(X)
    mse = model.mse_ if X is None else _mean_squares(model.generators_, X)
    for name, slack, chosen, *further in _slacks(model, l1, delta):
        bound = _vanishing(f"{prefix}{name}", mse, slack, l1**2, m, chosen)
        bounds.append(replace(bound, conditions=(INDEPENDENT, *conditions, *further)))
    return bounds


def _slacks(model, l1, delta):
    """Yield name, slack, what was chosen and further conditions of the bounds on mean squares.

    With m = 1 a bound on a mean square of 0 is its slack, which falls with the root of m.
    """
    n, degree = model.n_features_in_, model.degree_
    k, place = place_of_terms(model.max_terms, model.n_terms_)
    afterwards, j = grid(l1.max(), 2.0)
    choices = [("vanishing, tau afterwards", afterwards, share(delta, j, *place))]
    if _keeps_tau(model, l1):
        choices.insert(0, ("vanishing", tau_of(model), share(delta, *place)))
    for name, tau, part in choices:
        slack = vanishing_bound(0.0, n, k, 1, tau, part)
        yield name, slack, f"tau = {tau:g}, k = {k}, delta = {part:.2g}", IN_ADVANCE
    part = share(delta, degree)
    slack = np.array([moment_bound(0.0, n, degree, 1, norm, part) for norm in l1])
    chosen = f"||g||_1 <= {l1.max():.3g}, degree {degree}, delta = {part:.2g}"
    yield "vanishing, by moments", slack, chosen


def _vanishing(name, mse, slack, limit, m, chosen):
    """Return the bound ``mse + slack / sqrt(m)``; g^2 <= ``limit`` holds anyway."""
    total = np.full(len(mse), np.nan) if m is None else mse + slack / math.sqrt(m)
    shown = f"mse + {np.max(slack):.3g} / sqrt(m)" if m is None else f"{total.max():.3g}"
    rows = "the rows of the fit" if m is None else f"{m:,} rows"
    anywhere = " to ".join(dict.fromkeys(f"{v:.3g}" for v in (limit.min(), limit.max())))
    return Bound(
        name=name,
        value=float(total.max()),
        statement=(
            f"E g(x)^2 <= {shown} for every generator g (at most {mse.max():.3g} on {rows}, "
            f"{anywhere} anywhere; {chosen})"
        ),
        informative=bool((total < limit).all()),
        samples_needed=samples_needed(mse, slack, limit),
    )


def _check_cube(X):
    largest = float(np.abs(X).max())
    if largest > 1.0 + _ROUNDING:
        raise ValueError(
            f"the guarantees are for rows in [-1, 1]^n, but X has a value of size {largest:.4g}. "
            "Scale the rows before the fit, best by ranges that are known in advance."
        )


def l1_norms(model) -> np.ndarray:
    """Return the l1-norms of the coefficients of each generator, the leading one included."""
    return np.abs(model.coef_).sum(axis=1) + np.abs(model.leading_coef_)


def _mean_squares(generators, X) -> np.ndarray:
    total = np.zeros(len(generators))
    for start in range(0, len(X), 1 << 16):
        values = generators.evaluate(np.asarray(X[start : start + (1 << 16)], dtype=np.float64))
        total += np.einsum("ij,ij->j", values, values)
    return total / len(X)


def place_of_terms(max_terms, n_terms):
    """Return k = |O| + 1 with its place on the grid, if it had not been fixed by max_terms."""
    if max_terms is not None:
        return max_terms + 1, ()
    k, j = grid(n_terms + 1, 2.0)
    return int(k), (j,)


def _in_ball(model) -> bool:
    """Say whether the oracle was asked to keep coefficients in the ball."""
    if not isinstance(model, OAVI) or model.psi == 0:
        return False
    return named(model.oracle).constrained


def _keeps_tau(model, l1) -> bool:
    # A callable is asked for coefficients in the ball, but not made to return such.
    return _in_ball(model) and l1.max() <= tau_of(model) * (1.0 + _ROUNDING)


def _has_max_size(model, X) -> bool:
    """Say whether the conditions of `max_size` are met, as far as they can be known."""
    if not isinstance(model, OAVI) or model.border != "gb" or model.psi == 0:
        return False
    if X is not None and X.min() < -_ROUNDING:
        return False
    degree = stopping_degree(model.psi)
    if _in_ball(model) and tau_of(model) < 1.5**degree * (1.0 - _ROUNDING):
        return False
    return model.max_degree >= degree


def _size(model, X, prefix):
    n, size = model.n_features_in_, max_size(model.psi, model.n_features_in_)
    conditions = ["the oracle finds every generator that the ball holds"]
    if X is None:
        conditions.append("the rows of the fit lie in [0, 1]^n")
    return Bound(
        name=f"{prefix}size",
        value=float(size),
        statement=(
            f"|G| + |O| <= {size:,}, however many rows (here {model.n_generators_} + "
            f"{model.n_terms_}; in general (n + 1) m)"
        ),
        informative=X is not None and size < (n + 1) * len(X),
        samples_needed=size // (n + 1) + 1,
        conditions=tuple(conditions),
    )
