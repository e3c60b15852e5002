"""Sensitivities of a fitted path to any term: which terms, in units of the noise itself.

How the path would change if a little of a term were added to an equation follows from the fitted
equations alone. Unlike integrals along smooth runs, these are free of the smoother's errors.
"""

from collections.abc import Sequence

import numba
import numpy as np

from vanishing.motion.candidates import Candidate
from vanishing.motion.shooting import Rows, Shot
from vanishing.motion.stepping import DONE, integrate


@numba.njit(cache=True, error_model="numpy")
def _propagated(transitions, sources, steps, n_columns, first, result):
    """Propagate sources through the linearised equations, by Simpson's rule between rows.

    transitions: (2 m - 1, n, n), from each half step to the next; sources: (K, 2 m - 1); steps:
    (m - 1,); result: (m, n_columns, n_columns, K), of each column to terms of each equation.
    """
    n = transitions.shape[1]
    n_terms = len(sources)
    here = np.zeros((n, n_columns, n_terms))
    there = np.zeros((n, n_columns, n_terms))
    both = np.empty((n, n))
    result[0] = 0.0
    for i in range(len(steps)):
        one, two = transitions[2 * i + 1], transitions[2 * i + 2]
        for a in range(n):
            for b in range(n):
                total = 0.0
                for c in range(n):
                    total += two[a, c] * one[c, b]
                both[a, b] = total
        sixth = steps[i] / 6.0
        for a in range(n):
            for j in range(n_columns):
                e = first + j
                for k in range(n_terms):
                    total = both[a, e] * sources[k, 2 * i] + 4.0 * two[a, e] * sources[k, 2 * i + 1]
                    if a == e:
                        total += sources[k, 2 * i + 2]
                    total *= sixth
                    for b in range(n):
                        total += both[a, b] * here[b, j, k]
                    there[a, j, k] = total
        here[:] = there
        result[i + 1] = here[:n_columns]


class Sensitivities:
    """Derivatives of the fitted path, over the noise, with all that starts explain taken out.

    Parameters
    ----------
    shot : Shot
        A structure that has been fitted.
    rows : Rows
    candidates : sequence of Candidate
        Terms that any equation may have.

    Attributes
    ----------
    terms : array of shape (n_columns, n_candidates, n_cells)
        By a coefficient of a term in each equation.
    parameters : array of shape (n_parameters, n_cells)
        By the parameters of the structure.
    residuals : array of shape (n_cells,)
    fine : bool
        Whether all could be integrated.
    """

    def __init__(self, shot: Shot, rows: Rows, candidates: Sequence[Candidate]):
        system = shot.system
        n, p, m = system.n_states, len(shot.parameters), system.n_columns
        parts: list[list[np.ndarray]] = [[], [], []]
        self.fine = True
        for start, (low, high) in zip(shot.starts, shot.bounds, strict=True):
            t, U = rows.t[low:high], rows.U[low:high]
            path = np.empty((high - low, n))
            tangents = np.empty((high - low, n, n + p))
            ended = integrate(
                system.tape, start, shot.parameters, t, U, path, tangents, True, False, rows.pace,
                True,
            )  # fmt: skip
            fine_t = np.empty(2 * len(t) - 1)
            fine_t[::2], fine_t[1::2] = t, (t[1:] + t[:-1]) / 2
            fine_U = np.empty((len(fine_t), U.shape[1]))
            fine_U[::2], fine_U[1::2] = U, (U[1:] + U[:-1]) / 2
            fine_path = np.empty((len(fine_t), n))
            transitions = np.empty((len(fine_t), n, n + p))
            ended += integrate(
                system.tape, start, shot.parameters, fine_t, fine_U, fine_path, transitions, True,
                True, rows.pace, True,
            )  # fmt: skip
            if ended != DONE:
                self.fine = False
                return
            variables = np.vstack([fine_path.T, fine_U.T])
            with np.errstate(all="ignore"):
                sources = np.array([c.values(variables) for c in candidates])
            slopes = np.empty((len(t), m, m, len(candidates)))
            first = n - m
            _propagated(
                np.ascontiguousarray(transitions[:, :, :n]), sources, np.diff(t), m, first, slopes
            )
            told = rows.told[low:high]
            cells = told > 0
            weight = told[cells]
            slopes = slopes[cells].reshape(weight.size, -1) * weight[:, None]
            own = tangents[:, :m][cells] * weight[:, None]
            rest = (rows.X[low:high] - path[:, :m])[cells] * weight
            basis = np.linalg.qr(own[:, :n])[0]
            joined = np.column_stack([slopes, own[:, n:], rest])
            joined -= basis @ (basis.T @ joined)
            width = slopes.shape[1]
            parts[0].append(joined[:, :width])
            parts[1].append(joined[:, width:-1])
            parts[2].append(joined[:, -1])
        terms, parameters, self.residuals = (np.concatenate(part) for part in parts)
        self.terms = terms.T.reshape(m, len(candidates), -1)
        self.parameters = parameters.T
