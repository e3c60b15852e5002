"""Monomials and polynomials: exact combinatorics and formulas, no data."""
