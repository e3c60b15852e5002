"""What the displays share: matplotlib, colours and text, and what is drawn of an estimator."""

import re

import numpy as np
from sklearn.pipeline import Pipeline

from vanishing.algebra.polynomials import Polynomial
from vanishing.constructions.exact import BuchbergerMoller
from vanishing.inspection import Anatomy, anatomy

# Okabe and Ito's colours, which people with any kind of colour vision tell apart, without the
# yellow that white paper swallows.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#5A5A5A"
_MARKERS = "os^Dvph"


# -- Estimators -----------------------------------------------------------------------------------


def drawn(estimator) -> Anatomy:
    """Return what an estimator consists of; raise an error if it has nothing to draw."""
    found = anatomy(estimator)
    if isinstance(found.core, BuchbergerMoller):
        raise TypeError("BuchbergerMoller has generators with fractions, which are not drawn.")
    return found


def part_of(estimator, class_of_interest):
    """Return the part of one class, by default the first, and what a title says of it."""
    found = drawn(estimator)
    if found.classes is None:
        if class_of_interest is not None:
            raise ValueError(f"{name_of(estimator)} has no classes; leave class_of_interest out.")
        return found.parts[0], ""
    label = found.classes[0] if class_of_interest is None else class_of_interest
    if label not in found.classes:
        known = ", ".join(map(str, found.classes))
        raise ValueError(f"class_of_interest must be one of {known}; got {label!r}.")
    return found.parts[found.classes.index(label)], f", class {plain(label)}"


def name_of(estimator) -> str:
    """Return the name of an estimator, or of the last one of a pipeline."""
    return type(estimator[-1] if isinstance(estimator, Pipeline) else estimator).__name__


# -- Text -----------------------------------------------------------------------------------------


def is_symbol(name) -> bool:
    """Say whether a name is a letter, with a number or without."""
    return re.fullmatch(r"[A-Za-z](_?\d+)?", name) is not None


def plain(text) -> str:
    """Write text of any kind, in which matplotlib shall see no formula."""
    return str(text).replace("$", r"\$")


def formula(polynomial, limit=None, end="") -> str:
    """Write a polynomial for a picture: as a formula if its variables are symbols such as x0."""
    if not all(map(is_symbol, polynomial.feature_names)):
        return plain(polynomial.shortened(limit)) + end
    return f"${polynomial.write('latex', digits=3, limit=limit)}{end}$"


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
        raise ImportError(
            "pictures need matplotlib: install with python -m pip install 'vanishing[app]'"
        ) from None
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
    """Return axes of panels: new ones, those given, or parts of the one given.

    ``size`` is that of a panel, in inches; ``share`` is "sharex", "sharey" or None.
    """
    plt = pyplot()
    n_rows = -(-n_panels // n_columns)
    if ax is None:
        figure = plt.figure(figsize=(n_columns * size[0], n_rows * size[1]), layout="constrained")
        spec = figure.add_gridspec(n_rows, n_columns)
    elif isinstance(ax, plt.Axes):
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
