"""Monomials and generators on arrays of another library, in terms of the array API standard.

The counterpart of the compiled kernels of `block` and of `Generators.evaluate`. Sums over the rows
and values of generators stay on the device until `arrays.to_numpy` copies them.
"""

from typing import Any, NamedTuple

import numpy as np

from vanishing.algebra.evaluation import chunk_rows
from vanishing.algebra.monomials import Plan
from vanishing.rows.arrays import DEVICE_BYTES, is_on_cpu, like, namespace, slices, to_numpy


def _multiply(xp, a, b, out):
    """Write a * b to ``out``, without a temporary array where the library can."""
    try:
        xp.multiply(a, b, out=out)
    except TypeError:  # the standard knows no out
        out[...] = a * b


def evaluate(X, plan: Plan, *, rows: int, sample_weight=None):
    """Yield (slice of rows, values of all terms of the plan), one chunk at a time, on the device.

    Like `evaluation.evaluate`: float64 of shape (n_terms, n_rows_of_the_chunk), overwritten by the
    next chunk.
    """
    xp = namespace(X)
    n_samples = X.shape[0]
    rows = min(rows, n_samples)
    parents, variables = plan.parent.tolist(), plan.variable.tolist()
    # Without weights the variables are terms themselves: no other copy of the columns is needed.
    place = {variables[i]: i for i in range(1, len(parents)) if parents[i] == 0}
    in_place = sample_weight is None and set(variables[1:]) <= set(place)
    buffer = xp.empty((len(parents), rows), dtype=xp.float64, device=X.device)
    for cut in slices(n_samples, rows):
        size = cut.stop - cut.start
        values = buffer if size == rows else buffer[:, :size]
        if in_place:
            values[0, :] = 1.0
            columns = {variable: values[i, :] for variable, i in place.items()}
            for variable, column in columns.items():
                column[...] = xp.astype(X[cut, variable], xp.float64, copy=False)
        else:
            values[0, :] = 1.0 if sample_weight is None else xp.sqrt(sample_weight[cut])
            columns = xp.astype(X[cut, :].T, xp.float64)
            if hasattr(columns, "contiguous"):  # PyTorch keeps the layout of rows
                columns = columns.contiguous()
            columns = {variable: columns[variable, :] for variable in set(variables[1:])}
        for i in range(1, len(parents)):
            if not (in_place and parents[i] == 0):
                _multiply(xp, values[parents[i], :], columns[variables[i]], values[i, :])
        yield cut, values


def chunk_of(X, n_evaluated: int, chunk_size: int | None) -> int:
    """Return how many rows of X to evaluate at a time when there are ``n_evaluated`` terms."""
    if chunk_size is not None or is_on_cpu(X):
        return chunk_rows(n_evaluated, chunk_size)
    return max(1, DEVICE_BYTES // (8 * n_evaluated))


def _chosen(values, places: np.ndarray):
    """Return rows of the values: as they are where they follow one another, else a copy."""
    first, last = (int(places[0]), int(places[-1])) if places.size else (0, -1)
    if last - first + 1 == places.size and (np.diff(places) == 1).all():
        return values[first : last + 1, :]
    return namespace(values).take(values, like(values, places), axis=0)


class DeviceStretch(NamedTuple):
    """Rows on a device, all of a block; see `block.Stretch`."""

    X: Any
    weight: Any
    rows: int

    def zeros(self, *shape: int):
        """Return zeros where the rows are."""
        xp = namespace(self.X)
        return xp.zeros(shape, dtype=xp.float64, device=self.X.device)

    def evaluated(self, plan: Plan):
        """Yield the values of all terms of a plan, times root weights, chunk by chunk."""
        chunks = evaluate(self.X, plan, rows=self.rows, sample_weight=self.weight)
        return (values for _, values in chunks)

    def products(self, plan: Plan, left: np.ndarray, right: np.ndarray):
        """Return sum(t u) for t in ``left`` and u in ``right``, and sum(u^2)."""
        total, squares = self.zeros(left.size, right.size), self.zeros(right.size)
        has_squares = (np.diff(left) == 1).all() and np.isin(right, left).all()
        for values in self.evaluated(plan):
            values_right = _chosen(values, right)
            total += _chosen(values, left) @ values_right.T
            if not has_squares:
                ones = namespace(values).ones_like(values_right[0, :])
                squares += (values_right * values_right) @ ones
        if has_squares:  # the squares are among the products: no need to read the values once more
            total = to_numpy(total)
            squares = total[np.searchsorted(left, right), np.arange(right.size)]
        return total, squares

    def triangle(self, above, values, terms: np.ndarray):
        """Return R of the rows so far, ``above``, and the values of ``terms`` on further rows."""
        xp = namespace(values)
        return xp.linalg.qr(xp.concat([above, _chosen(values, terms).T]))[1]

    def squared_sums(self, plan: Plan, terms: np.ndarray, coef: np.ndarray, leading: np.ndarray):
        """Return sum(f^2) of polynomials ``coef @ terms + leading``."""
        squares, coef = self.zeros(len(coef)), like(self.X, coef.T)
        for values in self.evaluated(plan):
            # One row per row of X, and a product for the sum: the fast way in both respects.
            sums = _chosen(values, terms).T @ coef
            sums += _chosen(values, leading).T
            sums *= sums
            squares += namespace(sums).ones_like(sums[:, 0]) @ sums
        return squares


# -- Generators -----------------------------------------------------------------------------------


def _generator_chunks(generators, X, absolute: bool, chunk_size=None):
    """Yield (slice of rows, values of all generators in float64), one chunk at a time."""
    plan, terms, coef, leading = generators.compiled
    coef = like(X, coef.T)
    leading_coef = like(X, generators.leading_coef)
    rows = chunk_of(X, plan.parent.size + len(generators), chunk_size)
    places = np.arange(plan.parent.size)
    terms, leading = places[terms], places[leading]
    for cut, values in evaluate(X, plan, rows=rows):
        sums = _chosen(values, terms).T @ coef
        sums += leading_coef * _chosen(values, leading).T
        yield cut, namespace(X).abs(sums) if absolute else sums


def write_values(generators, X, out, *, absolute: bool, chunk_size=None) -> None:
    """Write the values of `Generators` to ``out``, of shape (n_samples, |G|), in its dtype."""
    if not len(generators):
        return
    xp = namespace(X)
    for cut, values in _generator_chunks(generators, X, absolute, chunk_size):
        out[cut, :] = xp.astype(values, out.dtype, copy=False)


def weighted_values(generators, X, weights: np.ndarray, *, absolute: bool):
    """Return the values of generators times ``weights``, of shape (|G|, n_outputs), in float64.

    Neither X in float64 nor all values of the generators are ever held.
    """
    xp = namespace(X)
    out = xp.zeros((X.shape[0], weights.shape[1]), dtype=xp.float64, device=X.device)
    if len(generators):
        weights = like(X, weights, np.float64)
        for cut, values in _generator_chunks(generators, X, absolute):
            out[cut, :] = values @ weights
    return out
