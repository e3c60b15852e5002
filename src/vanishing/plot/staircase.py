"""The order ideal of two variables as a staircase."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from vanishing.plot._shared import PALETTE, AxesDisplay, axis_name, part_of, term_names

_OUTSIDE, _INSIDE = "#DCE6EE", "#7FB3D5"
_ROOM = 9  # cells along an axis that terms can be written into


@dataclass(kw_only=True, eq=False, repr=False)
class StaircaseDisplay(AxesDisplay):
    """The terms of O under the staircase of the leading terms, in two variables.

    A cell is a term: its place is its exponents. The border consists of the terms outside of O that
    are a variable times a term of O. At the inner corners of a staircase sit the leading terms of a
    Groebner basis (``border="gb"``); a border basis has all of the border.

    Parameters
    ----------
    terms : ndarray of int of shape (n_terms, 2)
        Exponents of O.
    leading_terms : ndarray of int of shape (n_generators, 2)
    names : sequence of 2 str
    title : str, default="Staircase"

    Attributes
    ----------
    cells_ : matplotlib QuadMesh
        One cell per term: 2 in O, 1 in the border, masked elsewhere. Rows are exponents of the
        second variable.
    leading_ : matplotlib PathCollection
    stairs_ : matplotlib LineCollection
        The line between O and all other terms.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    CoefficientsDisplay : Coefficients of the generators on the terms of O.
    ZeroSetDisplay : The zeros of the generators.

    Examples
    --------
    >>> from vanishing import OAVI
    >>> from vanishing.plot import StaircaseDisplay
    >>> model = OAVI(psi=0).fit([[0.0, 0.0], [0.5, 0.25], [1.0, 1.0]])
    >>> StaircaseDisplay.from_estimator(model).border.tolist()
    [[2, 0], [1, 1], [0, 2]]
    """

    terms: np.ndarray
    leading_terms: np.ndarray
    names: Sequence[str] = ("x0", "x1")
    title: str = "Staircase"

    @property
    def border(self) -> Any:
        """Exponents of the border of O, in DegLex order: (n_border, 2)."""
        known = {tuple(term) for term in self.terms.tolist()}
        above = {(a + 1, b) for a, b in known} | {(a, b + 1) for a, b in known}
        return np.array(sorted(above - known, key=lambda term: (sum(term), term[1])))

    _size = (6.4, 5.6)

    def _draw(self, ax):
        from matplotlib.collections import LineCollection
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch
        from matplotlib.ticker import MaxNLocator

        border = self.border
        width, height = np.concatenate([border, self.leading_terms]).max(axis=0) + 1
        codes = np.zeros((height, width), dtype=np.int64)
        for code, cells in ((1, border), (2, self.terms)):
            codes[cells[:, 1], cells[:, 0]] = code
        self.cells_ = ax.pcolormesh(
            np.arange(width + 1) - 0.5,
            np.arange(height + 1) - 0.5,
            np.ma.masked_equal(codes, 0),
            cmap=ListedColormap([_OUTSIDE, _INSIDE]),
            vmin=0.5,
            vmax=2.5,
            edgecolors="white",
            linewidth=1.5,
        )
        self.stairs_ = ax.add_collection(
            LineCollection(_outline(codes == 2), colors=PALETTE[0], linewidths=3, capstyle="round")
        )
        with_names = max(width, height) <= _ROOM
        self.leading_ = ax.scatter(
            *(self.leading_terms - [0.0, 0.22 * with_names]).T,
            s=55,
            color=PALETTE[1],
            marker="D",
            edgecolors="white",
            zorder=3,
            label=f"leading terms ({len(self.leading_terms)})",
        )
        if with_names:
            shown = np.concatenate([self.terms, border])
            for (a, b), name in zip(shown, term_names(shown, self.names), strict=True):
                leads = (self.leading_terms == (a, b)).all(axis=1).any()
                ax.text(a, b + 0.15 * leads, name, ha="center", va="center", fontsize=10)
        for axis, name, size in zip("xy", self.names, (width, height), strict=True):
            label = f"exponent of {axis_name(name)}"
            ax.set(**{f"{axis}label": label, f"{axis}lim": (-0.5, size - 0.4)})
            getattr(ax, f"{axis}axis").set_major_locator(MaxNLocator(integer=True))
        ax.set_aspect("equal")
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_title(self.title)
        handles = [
            Patch(color=_INSIDE, label=f"O ({len(self.terms)} terms)"),
            Patch(color=_OUTSIDE, label=f"border ({len(border)} terms)"),
            self.leading_,
        ]
        ax.legend(handles=handles, loc="upper right", framealpha=1.0)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, class_of_interest: object = None, ax: Any = None
    ) -> Self:
        """Draw the staircase of a fitted estimator in two variables.

        Parameters
        ----------
        estimator : fitted OAVI, ABM, AVI, VanishingFeatures, VanishingClassifier or \
                VanishingClassifierCV, or a pipeline that ends with one of them
        class_of_interest : label, default=None
            The class whose staircase to draw, where the estimator has classes.
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : StaircaseDisplay
        """
        part, of_class = part_of(estimator, class_of_interest)
        model = part.model
        name = type(model).__name__
        if not hasattr(model, "terms_"):
            raise TypeError(f"{name} has no staircase: its components are no monomials.")
        if model.terms_.shape[1] != 2:
            raise ValueError(
                f"a staircase can be drawn in 2 variables; {name} was fitted to "
                f"{model.terms_.shape[1]} columns."
            )
        display = cls(
            terms=model.terms_,
            leading_terms=model.leading_terms_,
            names=model.generators_.feature_names,
            title=f"Staircase of {name}, psi = {model.psi:g}{of_class}",
        )
        return display.plot(ax)


def _outline(inside: np.ndarray) -> list:
    """Return the segments between cells inside and others above or to the right of them."""
    padded = np.pad(inside, ((0, 1), (0, 1)))
    above = np.argwhere(padded[:-1] != padded[1:]).tolist()
    right = np.argwhere(padded[:, :-1] != padded[:, 1:]).tolist()
    segments = [[(a - 0.5, b + 0.5), (a + 0.5, b + 0.5)] for b, a in above]
    return segments + [[(a + 0.5, b - 0.5), (a + 0.5, b + 0.5)] for b, a in right]
