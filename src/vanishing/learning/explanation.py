"""What decided single predictions, as a table in the units of the columns."""

from vanishing.algebra.units import digits_in_original_units, equation, in_original_units
from vanishing.learning.scaling import affine

_EXPANDED = 300  # monomials up to which an equation is written in the columns as given


def table_of(explanations, rows, decided, transformer):
    """Return explanations as a pandas DataFrame, one line for each generator of a row.

    Parameters
    ----------
    explanations : list of lists of dict
        As `VanishingClassifier.explain` returns them.
    rows : sequence
        What to call the rows.
    decided : sequence
        For each row, the class whose decision value the generators contribute to.
    transformer : fitted transformer or None
        What has scaled the columns.
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "a table needs pandas: install with python -m pip install 'vanishing[app]'"
        ) from None
    names = ["row", "for", "class", "equation", "units", "value", "weight", "contribution"]
    written: dict[int, tuple[str, str]] = {}
    lines = []
    for row, label, reasons in zip(rows, decided, explanations, strict=True):
        for one in reasons:
            generator = one["generator"]
            if id(generator) not in written:
                written[id(generator)] = _written(generator, transformer)
            text, units = written[id(generator)]
            numbers = (one["value"], one["weight"], one["contribution"])
            lines.append((row, label, one["class"], text, units, *numbers))
    return pd.DataFrame(lines, columns=names)


def _written(generator, transformer) -> tuple[str, str]:
    """Return an equation, in the columns as given where that can be, and which columns these are.

    A scaling that is no change of units leaves no polynomial in the columns as given.
    """
    units = affine(transformer, generator.terms.shape[1])
    if units is None or (generator.terms + 1).prod(axis=1).sum() > _EXPANDED:
        return equation(generator), "scaled"
    original = in_original_units(generator, *units)
    return equation(original, digits_in_original_units(generator, original, *units)), "original"
