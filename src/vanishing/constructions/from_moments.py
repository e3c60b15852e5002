"""Constructions from moments alone, without the rows."""

from typing import Self

from vanishing._threads import threads
from vanishing.constructions.ideal import IdealTransformer
from vanishing.estimators.fits import all_or_nothing
from vanishing.rows.intake import adopt_layout
from vanishing.rows.moments import MomentReader, Moments
from vanishing.rows.reader import RowReader


def is_debiased(rows: RowReader) -> bool:
    """Say whether a reader has moments that noise has been taken out of."""
    noise = rows.moments.noise if isinstance(rows, MomentReader) else None
    return noise is not None and bool(noise.any())


class FitsMoments(IdealTransformer):
    """Base of the constructions from monomials that moments alone suffice for."""

    remove_redundant: bool

    def fit_moments(self, moments: Moments) -> Self:
        """Construct the generators from moments alone, without the rows.

        Generators have degree up to that of the moments at most, and `mse_` follows from the
        moments, too. Where moments cannot decide whether a polynomial vanishes, because rounding
        hides it, it is taken not to: a warning counts such terms.

        Debiased moments (`Moments.debiased`) give the equations of what lies below the noise. The
        coefficients are then those that minimise ``mean(g^2)`` relative to ``mean(|grad g|^2)``,
        columns weighted by their noise, whatever the oracle: least squares at the true noise is a
        far worse estimate, and this one hardly depends on the noise given. In each degree the
        smallest debiased mean square counts as zero if it is zero within three standard errors,
        and others relative to it. If it is negative beyond that, which no rows can have, nothing
        counts as vanishing from there on, and a warning says so.

        Parameters
        ----------
        moments : Moments
            Of rows that are best scaled into [0, 1] or [-1, 1].

        Returns
        -------
        self : object
        """
        self.check_parameters()
        if not isinstance(moments, Moments):
            raise TypeError(f"fit_moments takes Moments; got {type(moments).__name__}.")
        if self.psi == 0:
            raise ValueError(
                "psi=0 needs the rows: moments have half of their digits. Take psi > 0, for "
                "example 1e-10, or fit to the rows."
            )
        if self.remove_redundant:
            raise ValueError("remove_redundant=True needs the rows: gradients are taken at each.")
        rows = MomentReader(moments)
        with all_or_nothing(self), threads(self.n_jobs):
            adopt_layout(self, moments.layout)
            self._construct(rows).warn()
            return self
