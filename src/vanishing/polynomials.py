"""Polynomials: what `generators_` consists of."""

from vanishing.algebra.polynomials import Generators, Polynomial

__all__ = ["Generators", "Polynomial"]
