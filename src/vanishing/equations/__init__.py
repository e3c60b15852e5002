"""What questions answer with: equations with coefficients, their errors and their units."""
