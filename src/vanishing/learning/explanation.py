"""What decided single predictions, as a table in the units of the columns."""

from typing import TypedDict

from vanishing.algebra.polynomials import Polynomial
from vanishing.algebra.units import Readable, readable
from vanishing.checks import install
from vanishing.learning.scaling import affine

# How much a generator has to do with a prediction; see `VanishingClassifier.explain`.
Explanation = TypedDict(
    "Explanation",
    {
        "class": object,
        "generator": Polynomial,
        "value": float,
        "weight": float,
        "contribution": float,
    },
)


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
        raise ImportError(f"a table needs pandas: install with {install('app')}") from None
    names = ["row", "for", "class", "equation", "units", "value", "weight", "contribution"]
    written: dict[int, tuple[Readable, str]] = {}
    lines = []
    for row, label, reasons in zip(rows, decided, explanations, strict=True):
        for reason in reasons:
            generator = reason["generator"]
            if id(generator) not in written:
                shown = readable(generator, affine(transformer, generator.terms.shape[1]))
                written[id(generator)] = shown, shown.write()
            shown, text = written[id(generator)]
            units = "original" if shown.original else "scaled"
            size = abs(shown.polynomial.leading_coef)  # the value is that of left minus right side
            numbers = (reason["value"] / size, reason["weight"] * size, reason["contribution"])
            lines.append((row, label, reason["class"], text, units, *numbers))
    return pd.DataFrame(lines, columns=names)
