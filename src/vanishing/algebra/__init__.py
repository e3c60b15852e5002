"""Monomials, polynomials, and formulas as one tree of terms and functions: no data."""
