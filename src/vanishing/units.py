"""Polynomials in scaled columns, written in the columns' own units."""

from vanishing.algebra.units import digits_in_original_units, equation, in_original_units

__all__ = ["digits_in_original_units", "equation", "in_original_units"]
