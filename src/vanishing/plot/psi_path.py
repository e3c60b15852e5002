"""How the generators change with psi."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from vanishing._types import Labels, Table
from vanishing.checks import check_number
from vanishing.learning.classifier import VanishingClassifier
from vanishing.learning.features import VanishingFeatures
from vanishing.learning.scaling import Scaling
from vanishing.learning.search import VanishingClassifierCV
from vanishing.plot._shared import GREY, PALETTE, PanelsDisplay, drawable, name_of, pyplot


@dataclass(kw_only=True, eq=False, repr=False)
class PsiPathDisplay(PanelsDisplay):
    """Size, accuracy and sparsity of the generators over psi.

    Parameters
    ----------
    psis : ndarray of shape (n_psis,)
        In increasing order.
    n_generators, n_terms : ndarray of int of shape (n_psis,)
        |G| and |O|, summed over the classes if there are any.
    max_mse, median_mse : ndarray of shape (n_psis,)
        Largest and median mean square of the generators; NaN where there is none.
    sparsity : ndarray of shape (n_psis,)
        SPAR.
    title : str, default="Generators over psi"

    Attributes
    ----------
    lines_ : dict of matplotlib Line2D
        With the keys "n_generators", "n_terms", "max_mse", "median_mse", "psi" and "sparsity".
    axes_ : ndarray of 4 matplotlib Axes
        Of |G|, |O|, mean squares and SPAR.
    figure_ : matplotlib Figure

    See Also
    --------
    CoefficientsDisplay : The coefficients at a single psi.
    vanishing.OAVI.path : The models of the picture.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vanishing import VanishingClassifier
    >>> from vanishing.plot import PsiPathDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = PsiPathDisplay.from_estimator(VanishingClassifier(), X, y, psis=[0.1, 0.01])
    >>> display.n_terms.tolist()
    [8, 3]
    """

    psis: np.ndarray
    n_generators: np.ndarray
    n_terms: np.ndarray
    max_mse: np.ndarray
    median_mse: np.ndarray
    sparsity: np.ndarray
    title: str = "Generators over psi"

    def _layout(self):
        return 4, 2, (4.0, 2.9), "sharex"

    def _draw(self, axes):
        from matplotlib.ticker import MaxNLocator

        self.lines_ = {}
        for i, name, colour, style, label in (
            (0, "n_generators", PALETTE[0], "o-", None),
            (1, "n_terms", PALETTE[0], "o-", None),
            (2, "max_mse", PALETTE[1], "v-", "largest"),
            (2, "median_mse", PALETTE[0], "o-", "median"),
            (3, "sparsity", PALETTE[0], "o-", None),
        ):
            (self.lines_[name],) = axes[i].plot(
                self.psis, getattr(self, name), style, color=colour, markersize=4, label=label
            )
        (self.lines_["psi"],) = axes[2].plot(
            self.psis, self.psis, "--", color=GREY, lw=1, label="psi", zorder=1
        )
        for axis, counts in zip(axes, (self.n_generators, self.n_terms), strict=False):
            if 0 < 10 * np.min(counts) < np.max(counts):
                axis.set_yscale("log")
            else:
                axis.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes[2].set_yscale("log")
        axes[2].legend()
        axes[3].set_ylim(-0.03, 1.03)
        titles = ("generators |G|", "terms |O|", "mean square of the generators", "sparsity SPAR")
        for axis, title in zip(axes, titles, strict=True):
            axis.set_xscale("log")
            axis.set_title(title, fontsize="medium")
            axis.grid(alpha=0.3)
        for axis in axes[2:]:
            axis.set_xlabel("psi")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        y: Labels | None = None,
        *,
        psis: Sequence[float] | None = None,
        ax: Any = None,
    ) -> Self:
        """Fit clones of an estimator with different psi, and draw what they found.

        Parameters
        ----------
        estimator : OAVI, ABM, AVI, VCA, VanishingFeatures, VanishingClassifier or \
                VanishingClassifierCV, or a pipeline that ends with one of them
            Need not be fitted.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            Labels, where the estimator needs them.
        psis : sequence of float in (0, 1), default=None
            None means ten from 0.1 to 0.0001.
        ax : matplotlib Axes or 4 of them, default=None

        Returns
        -------
        display : PsiPathDisplay
        """
        pyplot()  # no long fits for nothing
        psis = np.sort(np.geomspace(1e-4, 1e-1, 10) if psis is None else psis)
        if not psis.size:
            raise ValueError("psis must not be empty.")
        for psi in psis.tolist():
            check_number("psis", psi, low=0, low_open=True, high=1, high_open=True)
        with warnings.catch_warnings():
            # The picture says so itself.
            warnings.filterwarnings("ignore", message=r"\w+: nothing vanishes")
            models = _path(estimator, X, y, psis.tolist())
        sizes = []
        for model in models:
            parts = drawable(model).parts
            mse = np.concatenate([part.generators.mse for part in parts])
            largest, median = (mse.max(), np.median(mse)) if mse.size else (np.nan, np.nan)
            sizes.append((model.n_generators_, model.n_terms_, largest, median, model.sparsity_))
        names = ("n_generators", "n_terms", "max_mse", "median_mse", "sparsity")
        together = "" if parts[0].label is None else ", all classes together"
        display = cls(
            psis=psis,
            **dict(zip(names, map(np.array, zip(*sizes, strict=True)), strict=True)),
            title=f"Generators of {name_of(estimator)} over psi{together}",
        )
        return display.plot(ax)


def _path(estimator, X, y, psis: list[float]) -> list:
    """Return models with each psi; of classifiers, their features."""
    if isinstance(estimator, Pipeline):
        first = estimator[:-1]
        X = clone(first).fit_transform(X, y) if len(first) else X
        return _path(estimator[-1], X, y, psis)
    if isinstance(estimator, (VanishingClassifier, VanishingClassifierCV)):
        # A search has found scaling and oracle; before it, they are those that it starts from.
        chosen: Any = getattr(estimator, "classifier_", estimator)
        scale = True if isinstance(chosen.scale, str) and chosen.scale == "auto" else chosen.scale
        features = VanishingFeatures(chosen.transformer, n_jobs=estimator.n_jobs)
        return _path(features, Scaling(scale, False).fit_transform(check_array(X)), y, psis)
    if isinstance(estimator, VanishingFeatures):
        return estimator.path(X, y, psis=psis)
    if not hasattr(estimator, "psi"):
        raise TypeError(f"{type(estimator).__name__} has no parameter psi.")
    return estimator.path(X, psis)
