"""Polynomials: what `generators_` consists of, and how they are read from text."""

from vanishing.algebra.exact import ExactPolynomial
from vanishing.algebra.generators import Generators
from vanishing.algebra.parsing import parse_equation, parse_polynomial
from vanishing.algebra.polynomials import Polynomial

__all__ = ["ExactPolynomial", "Generators", "Polynomial", "parse_equation", "parse_polynomial"]
