"""What is known of rows: laws, noise, and where rows are; and the most likely rows by that."""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from vanishing.fitting.projection import Projection, project
from vanishing.repair import settings
from vanishing.repair.noise import ColumnNoise
from vanishing.repair.prior import ColumnPrior, conditional, gains
from vanishing.repair.system import LawSystem


class RowModel(NamedTuple):
    """Laws of rows, the noise of their columns, and their distribution."""

    system: LawSystem
    noise: ColumnNoise
    prior: ColumnPrior

    def most_likely(self, X: np.ndarray, seen: np.ndarray) -> Projection:
        """Return the rows that are most likely to have been measured so.

        Cells that were not seen have the distribution that other rows have, given the cells that
        were; along directions that laws determine, they may be anywhere.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
        seen : array of bool of shape (n_rows, n_columns)
            Cells that were measured, and are not wrong.
        """
        prior = self.prior
        z = np.where(seen, (np.where(seen, X, 0.0) - prior.mean) / prior.spread, 0.0)
        gain, missing, _ = gains(seen, prior.correlation)
        # A value far away may be wrong, and says no more than one at the edge.
        near = np.clip(z, -settings.EDGE, settings.EDGE)
        expected = self._in_units(np.einsum("mij,mj->mi", gain, near))
        # Cells that were seen stay as they are to the last digit.
        start = np.where(seen, X, expected)
        _, slopes = self.system(start)
        # Along directions that laws determine, what other rows say would be said twice.
        missing += settings.ACROSS * _across(
            np.where(seen[:, np.newaxis], 0.0, slopes * prior.spread)
        )
        noise = np.sqrt(self.noise.variance(start)) / prior.spread
        one = np.eye(z.shape[1])
        own = np.linalg.inv(np.linalg.cholesky(missing + seen[:, :, np.newaxis] * one))
        whitening = np.where(
            seen[:, :, np.newaxis], one / noise[:, np.newaxis, :], own @ (one - gain)
        )
        slack = self.slack(start, slopes)
        of_noise = np.square(slopes * noise[:, np.newaxis] * prior.spread).sum(axis=2)
        size = np.nan_to_num(of_noise) + np.einsum("mkk->mk", slack)
        return project(self.system, start, whitening / prior.spread, slack, size)

    def off(self, points: np.ndarray, X: np.ndarray, seen: np.ndarray) -> np.ndarray:
        """Return how far rows are from each law, in units of its noise, gaps being as in points."""
        rows = np.where(seen, X, points)
        values, slopes = self.system(rows)
        variance = np.einsum("mki,mi->mk", np.square(slopes), self.noise.variance(points))
        variance += np.einsum("mkk->mk", self.slack(points, slopes))
        with np.errstate(all="ignore"):
            off = np.abs(values) / np.sqrt(variance)
        return np.where(np.isfinite(off), off, np.inf)

    def slack(self, points: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """Return what laws may be off by where rows have no noise: errors of coefficients, too."""
        slack = self.noise.slack_at(np.nan_to_num(slopes))
        rounding = np.square(settings.EXACT * self._units(slopes)) + 1e-290
        own = self.system.coefficient_variance(points) + rounding
        return slack + own[:, :, np.newaxis] * np.eye(len(self.system))

    def _units(self, slopes) -> np.ndarray:
        return np.sqrt(np.square(np.nan_to_num(slopes) * self.prior.spread).sum(axis=2))

    def _in_units(self, z: np.ndarray) -> np.ndarray:
        return self.prior.mean + z * self.prior.spread

    def log_density(self, X: np.ndarray, seen: np.ndarray) -> np.ndarray:
        """Return the logarithm of the density of cells that were seen, whatever laws say.

        In units of the spreads; Student's distribution, so that no cell is impossible.
        """
        prior, freedom = self.prior, settings.FREEDOM
        z = np.where(seen, (X - prior.mean) / prior.spread, 0.0)
        _, slopes = self.system(prior.mean[np.newaxis])
        scatter = prior.correlation + settings.ACROSS * _across(slopes * prior.spread)[0]
        _, _, distance = conditional(z, seen, np.zeros(z.shape[1]), scatter)
        both = seen[:, :, np.newaxis] & seen[:, np.newaxis, :]
        own = np.where(both, scatter, np.eye(z.shape[1]))
        n_seen = seen.sum(axis=1)
        return (
            gammaln((freedom + n_seen) / 2)
            - gammaln(freedom / 2)
            - 0.5 * n_seen * np.log(freedom * np.pi)
            - 0.5 * np.linalg.slogdet(own)[1]
            - 0.5 * (freedom + n_seen) * np.log1p(distance / freedom)
        )

    def log_density_of_wrong(self, X: np.ndarray) -> np.ndarray:
        """Return the logarithm of the density of each cell if it is wrong: it may be anything."""
        z = (X - self.prior.mean) / self.prior.spread
        return -np.log(np.pi * settings.REACH) - np.log1p(np.square(z / settings.REACH))


def _across(slopes: np.ndarray) -> np.ndarray:
    """Return projectors onto the directions that laws determine, shape (n_rows, n, n)."""
    slopes = np.nan_to_num(slopes)
    size = np.linalg.norm(slopes, axis=2, keepdims=True)
    unit = slopes / np.where(size > 0.0, size, 1.0)
    return np.linalg.pinv(unit, rcond=1e-6) @ unit
