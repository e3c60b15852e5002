"""Coefficients of generators as a heat map."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from vanishing.algebra import monomials
from vanishing.plot._shared import AxesDisplay, inches, longest, part_of, pyplot, term_names


@dataclass(kw_only=True, eq=False, repr=False)
class CoefficientsDisplay(AxesDisplay):
    """Coefficients of the generators as a heat map; zeros are blank.

    Parameters
    ----------
    coef : ndarray of shape (n_generators, n_terms)
    leading_names : sequence of str
        Names of the rows: the leading terms.
    term_names : sequence of str
        Names of the columns.
    title : str, default="Coefficients"

    Attributes
    ----------
    image_ : matplotlib AxesImage
    colorbar_ : matplotlib Colorbar
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    StaircaseDisplay : The terms themselves, of two variables.
    vanishing.report.write_report : The equations as text, sorted by importance.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import minmax_scale
    >>> from vanishing import OAVI
    >>> from vanishing.plot import CoefficientsDisplay
    >>> model = OAVI(psi=0.01).fit(minmax_scale(load_iris().data))
    >>> display = CoefficientsDisplay.from_estimator(model)
    >>> display.coef.shape == (model.n_generators_, model.n_terms_)
    True
    """

    coef: np.ndarray
    leading_names: Sequence[str]
    term_names: Sequence[str]
    title: str = "Coefficients"

    @property
    def _size(self):
        n_rows, n_columns = self.coef.shape
        return (
            np.clip(0.3 * n_columns + 1.8, 4.6, 11) + 0.08 * longest(self.leading_names),
            np.clip(0.24 * n_rows + 1.0, 3, 8) + 0.08 * longest(self.term_names),
        )

    def _draw(self, ax):
        from matplotlib.colors import ListedColormap

        n_rows, n_columns = self.coef.shape
        # Without the nearly white middle, so that small coefficients differ from zeros.
        ends = np.append(np.linspace(0, 0.4, 128), np.linspace(0.6, 1, 128))
        size = np.abs(self.coef[self.coef != 0])
        # A few large coefficients should not make all others look alike.
        limit, largest = np.quantile(size, [0.98, 1.0]) if size.size else (1.0, 1.0)
        limit = limit if largest > 2 * limit else largest
        self.image_ = ax.imshow(
            np.ma.masked_equal(self.coef, 0.0),
            cmap=ListedColormap(pyplot().get_cmap("PuOr_r")(ends)),
            vmin=-limit,
            vmax=limit,
            # The default, but for an axis of some length where there are no generators.
            extent=(-0.5, n_columns - 0.5, max(n_rows, 1) - 0.5, -0.5),
            aspect="auto",
            interpolation="nearest",
        )
        columns, rows = (
            np.arange(0, count, max(1, math.ceil(0.17 * count / length)))  # inches of small text
            for count, length in zip((n_columns, n_rows), inches(ax), strict=True)
        )
        ax.set_yticks(rows, [self.leading_names[i] for i in rows])
        ax.set_xticks(columns, [self.term_names[i] for i in columns], rotation=90)
        ax.tick_params(labelsize=9)
        ax.set(xlabel="terms", ylabel="generators, by leading term", title=self.title)
        self.colorbar_ = ax.figure.colorbar(
            self.image_,
            ax=ax,
            label="coefficient (blank: zero)",
            extend="both" if largest > limit else "neither",
        )

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, class_of_interest: object = None, ax: Any = None
    ) -> Self:
        """Draw the coefficients of a fitted estimator.

        Parameters
        ----------
        estimator : fitted OAVI, ABM, AVI, VCA, VanishingFeatures, VanishingClassifier or \
                VanishingClassifierCV, or a pipeline that ends with one of them
            The generators of `VCA` are expanded into monomials, leading ones included.
        class_of_interest : label, default=None
            The class whose generators to draw, where the estimator has classes; the first one by
            default.
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : CoefficientsDisplay
        """
        part, of_class = part_of(estimator, class_of_interest)
        model, names = part.model, part.generators.feature_names
        if hasattr(model, "coef_"):
            terms, leading_terms, coef = model.terms_, model.leading_terms_, model.coef_
        else:
            terms, leading_terms, coef = _expanded(part.generators)
        display = cls(
            coef=coef,
            leading_names=term_names(leading_terms, names),
            term_names=term_names(terms, names),
            title=f"Coefficients of {len(coef)} generators of {type(model).__name__}{of_class}",
        )
        return display.plot(ax)


def _expanded(generators):
    """Return all terms of polynomials, their leading terms, and their coefficients."""
    polynomials = list(generators)
    none = np.zeros((0, len(generators.feature_names)), dtype=np.int64)
    terms = np.unique(np.concatenate([none, *(g.terms for g in polynomials)]), axis=0)
    terms = terms[monomials.deglex_order(terms)]
    place = {tuple(term): i for i, term in enumerate(terms.tolist())}
    coef = np.zeros((len(polynomials), len(terms)))
    for row, g in zip(coef, polynomials, strict=True):
        row[[place[tuple(term)] for term in g.terms.tolist()]] = g.coef
    return terms, [g.leading_term for g in polynomials], coef
