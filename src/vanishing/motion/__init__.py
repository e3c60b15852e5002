"""What stays the same along every run? Conserved quantities, and time derivatives.

To read in this order:

- `settings`: the numbers that decide results
- `quantity`: a conserved quantity, evaluated, written and saved
- `variables`: columns and functions of them, and their monomials
- `runs`: the passes over rows: which runs there are, and scatter within and between them
- `state`: polynomials that vanish on all rows, which are laws of the state and not conserved
- `exact`: quantities of rows without noise: a null space, and sparse vectors in it
- `noisy`: quantities of rows with noise: sparse vectors that leave no more than the noise
- `evenness`: whether what is left over is noise
- `search`: all these steps, on `pencil`s of scatter within runs and of all rows
- `independence`: how many quantities are independent of one another
- `conserved`: the estimator `ConservedQuantities`
- `differences`: time derivatives of measured runs
"""

from vanishing.motion.differences import derivatives

__all__ = ["derivatives"]
