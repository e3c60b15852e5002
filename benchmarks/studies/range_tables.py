"""Tables of formulas over ranges as instruments have them, and of laws that history found.

``ranges.csv`` has a range for each column of Feynman's formulas, written down before any search
saw it: log-uniform over one to four decades, of both signs where the formula bears them, uniform
for angles and where a formula has to stay inside its domain, whole numbers where these are counted.
"""

import csv
from pathlib import Path

from honesty_tables import Column, generator, table_of

from vanishing.datasets.feynman import feynman_laws

RANGES = Path(__file__).with_name("ranges.csv")
APART = 3  # every third formula is kept apart while the search is being changed

# Rows, noise (of the rms, or relative), formula and columns.
HISTORIC = {
    "Hubble": (32, ("rms", 0.3), "500*D", "D:log:0.03:2"),
    "Kepler": (6, ("relative", 0.002), "0.2*a**1.5", "a:log:50:1500"),
    "Leavitt": (26, ("rms", 0.02), "15.5 - 2*log10(P)", "P:log:1.2:130"),
    "Tully-Fisher": (18, ("relative", 0.1), "0.003*v**2.5", "v:log:100:600"),
    "Bode": (8, ("relative", 0.02), "0.4 + 0.3*exp(log(2)*n)", "n:count:0:7"),
    "Rydberg": (
        50,
        ("relative", 1e-4),
        "1.097e7*(1/m**2 - 1/n**2)",
        "m:integer:1:3;n:integer:4:20",
    ),
    "Planck": (
        100,
        ("relative", 0.01),
        "1.47e-50*f**3/(exp(4.8e-11*f/T) - 1)",
        "f:log:1e13:1e15;T:log:2000:8000",
    ),
    "Schechter": (27, ("relative", 0.05), "0.02*L**(-0.7)*exp(-0.8*L)", "L:log:0.02:4"),
    "gas": (30, ("relative", 0.1), "8.314*n*T/V", "n:log:0.1:10;T:uniform:250:450;V:log:0.005:0.5"),
    "Newton": (
        30,
        ("relative", 0.01),
        "6.674e-11*m1*m2/r**2",
        "m1:log:1:1e4;m2:log:1:1e4;r:log:0.1:10",
    ),
}


def columns_of(text):
    """Return columns by name, from name:kind:low:high;..."""
    parts = (part.split(":") for part in text.split(";"))
    return {name: Column(kind, float(low), float(high)) for name, kind, low, high in parts}


def range_formulas(apart):
    """Return names of formulas: two thirds of them, or the third that is kept apart."""
    return [name for i, name in enumerate(_ranges()) if (i % APART == APART - 1) == apart]


def range_table(name, n_samples, noise, seed):
    """Return a table of a formula over its ranges."""
    law, columns = feynman_laws()[name], columns_of(_ranges()[name])
    random = generator(seed, list(_ranges()).index(name), n_samples, noise[1], len(noise[0]))
    return table_of(name, law.formula.text, columns, n_samples, noise, random)


def historic_table(name, seed):
    """Return a table as a historic one may have been."""
    n_samples, noise, text, columns = HISTORIC[name]
    random = generator(seed, list(HISTORIC).index(name), 13)
    return table_of(name, text, columns_of(columns), n_samples, noise, random)


def _ranges():
    with open(RANGES, encoding="utf-8") as lines:
        return {row["name"]: row["columns"] for row in csv.DictReader(lines)}
