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


def table_of(explanations, rows, decided, transformer, base, rest):
    """Return explanations as a pandas DataFrame, one line for each generator of a row.

    Two more lines of a row have the other equations, if there are some, and the base value: all
    contributions of a row add up to its decision value.

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
    base : sequence of float
        For each row, the decision value without any generator.
    rest : sequence of (int, float)
        For each row, how many generators are not among its explanations, and what they contribute.
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(f"a table needs pandas: install with {install('app')}") from None
    names = ["row", "for", "class", "equation", "units", "value", "weight", "contribution"]
    written: dict[int, tuple[Readable, str]] = {}
    lines = []
    each = zip(rows, decided, explanations, base, rest, strict=True)
    for row, label, reasons, start, (n_others, contributed) in each:
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
        if n_others:
            others = f"{n_others} other equation{'' if n_others == 1 else 's'}"
            lines.append((row, label, "", others, "", None, None, contributed))
        lines.append((row, label, "", "base value", "", None, None, start))
    table = pd.DataFrame(lines, columns=names)
    return table.astype(dict.fromkeys(("value", "weight", "contribution"), float))
