"""Units: polynomials in the columns' own units; products of columns without dimension."""

from vanishing.algebra.quantities import dimensionless_groups
from vanishing.algebra.units import (
    digits_in_original_units,
    digits_that_matter,
    equation,
    in_original_units,
)

__all__ = [
    "digits_in_original_units",
    "digits_that_matter",
    "dimensionless_groups",
    "equation",
    "in_original_units",
]
