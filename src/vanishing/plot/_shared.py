"""What the displays share: axes, matplotlib, colours and text, and the parts of an estimator."""

import re
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from vanishing.algebra.polynomials import Polynomial
from vanishing.checks import install
from vanishing.constructions.exact import BuchbergerMoller
from vanishing.inspection import Anatomy, anatomy
from vanishing.plot.settings import TITLE_CHARACTERS

# Okabe and Ito's colours, which people with any kind of colour vision tell apart, without the
# yellow that white paper swallows.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#5A5A5A"
_MARKERS = "os^Dvph"


# -- Displays -------------------------------------------------------------------------------------


class AxesDisplay:
    """A display on one axes: `_draw` draws, in a new figure of size ``_size``, in inches."""

    _size: Any = (6.4, 4.0)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        self : display
        """
        plt = pyplot()
        if ax is None:
            _, ax = plt.subplots(figsize=self._size, layout="constrained")
        self._draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax):
        raise NotImplementedError


class PanelsDisplay:
    """A display on several axes: `_draw` draws on panels, `_layout` says which `panels` to make."""

    title = ""

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or as many as there are panels, default=None
            Where to draw: one is divided into panels; None makes a new figure.

        Returns
        -------
        self : display
        """
        pyplot()
        axes = panels(ax, *self._layout())
        self._draw(axes)
        if ax is None and self.title:
            axes[0].figure.suptitle(self.title)
        self.axes_, self.figure_ = axes, axes[0].figure
        return self

    def _layout(self):
        raise NotImplementedError

    def _draw(self, axes):
        raise NotImplementedError


# -- Estimators -----------------------------------------------------------------------------------


def drawable(estimator) -> Anatomy:
    """Return what an estimator consists of; raise an error if it has nothing to draw."""
    whole = anatomy(estimator)
    if isinstance(whole.core, BuchbergerMoller):
        raise TypeError("BuchbergerMoller has generators with fractions, which are not drawn.")
    return whole


def part_of(estimator, class_of_interest):
    """Return the part of one class, by default the first, and what a title says of it."""
    whole = drawable(estimator)
    if whole.classes is None:
        if class_of_interest is not None:
            raise ValueError(f"{name_of(estimator)} has no classes; leave class_of_interest out.")
        return whole.parts[0], ""
    label = whole.classes[0] if class_of_interest is None else class_of_interest
    if label not in whole.classes:
        labels = ", ".join(map(str, whole.classes))
        raise ValueError(f"class_of_interest must be one of {labels}; got {label!r}.")
    return whole.parts[whole.classes.index(label)], f", class {plain(label)}"


def name_of(estimator) -> str:
    """Return the name of an estimator, or of the last one of a pipeline."""
    return type(estimator[-1] if isinstance(estimator, Pipeline) else estimator).__name__


# -- Text -----------------------------------------------------------------------------------------


def is_symbol(name) -> bool:
    """Say whether a name is a letter, with a number or without."""
    return re.fullmatch(r"[A-Za-z](_?\d+)?", name) is not None


def plain(text) -> str:
    """Write text so that matplotlib sees no formula in it."""
    return str(text).replace("$", r"\$")


def formula(polynomial) -> str:
    """Write a polynomial for a picture: as a formula if its variables are symbols such as x0."""
    if not all(map(is_symbol, polynomial.feature_names)):
        return plain(polynomial)
    return f"${polynomial.write('latex', digits=3)}$"


def equation(polynomial, limit) -> str:
    """Write for a picture that a polynomial is zero, its leading term alone on the left."""
    if not all(map(is_symbol, polynomial.feature_names)):
        return plain(polynomial.equation(limit=limit))
    return f"${polynomial.equation('latex', digits=3, limit=limit)}$"


def written(formula, limit: int = TITLE_CHARACTERS) -> str:
    """Write a law or quantity for a title: as a formula if its columns are symbols such as x0."""
    text = str(formula)
    if len(text) > limit:
        return plain(text[: limit - 3]) + "..."
    return f"${formula.to_latex()}$" if all(map(is_symbol, formula.names)) else plain(text)


def axis_name(name) -> str:
    """Write the name of a column."""
    return term_names([[1]], [name])[0] if is_symbol(name) else plain(name)


def term_names(terms, names) -> list[str]:
    """Write monomials."""
    return [formula(Polynomial([term], [1.0], feature_names=names)) for term in terms]


def longest(names) -> int:
    """Return about how many characters the longest name shows."""
    return max((len(re.sub(r"[${}_^\\]", "", name)) for name in names), default=0)


# -- Axes -----------------------------------------------------------------------------------------


def pyplot():
    """Return matplotlib.pyplot, or say how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(f"pictures need matplotlib: install with {install('app')}") from None
    return plt


def colours(count: int) -> list:
    """Return distinct colours: the palette, or a perceptually even map where it is too short."""
    if count <= len(PALETTE):
        return list(PALETTE[:count])
    return list(pyplot().get_cmap("viridis")(np.linspace(0.0, 0.93, count)))


def marker(k: int) -> str:
    """Return the marker of class k."""
    return _MARKERS[k % len(_MARKERS)]


def inches(ax) -> tuple[float, float]:
    """Return about how wide and high an axes is."""
    return ax.bbox.width / ax.figure.dpi, ax.bbox.height / ax.figure.dpi


def panels(ax, n_panels, n_columns, size, share):
    """Return axes of panels: new ones, those given, or parts of the one given, if there are more.

    ``size`` is that of a panel, in inches; ``share`` is "sharex", "sharey" or None.
    """
    plt = pyplot()
    n_rows = -(-n_panels // n_columns)
    if ax is None:
        figure = plt.figure(figsize=(n_columns * size[0], n_rows * size[1]), layout="constrained")
        spec = figure.add_gridspec(n_rows, n_columns)
    elif isinstance(ax, plt.Axes) and n_panels > 1:
        if ax.get_subplotspec() is None:
            raise ValueError(
                "this display divides an axes into panels, which needs one made by subplots; or "
                f"give {n_panels} axes."
            )
        ax.set_axis_off()
        figure = ax.figure
        spec = ax.get_subplotspec().subgridspec(n_rows, n_columns)
    else:
        axes = np.asarray(ax, dtype=object).ravel()
        if len(axes) != n_panels:
            raise ValueError(f"this display has {n_panels} panels; got {len(axes)} axes.")
        return axes
    axes = np.empty(n_panels, dtype=object)
    for i in range(n_panels):
        shared = {share: axes[0]} if i and share is not None else {}
        axes[i] = figure.add_subplot(spec[divmod(i, n_columns)], **shared)
    return axes
