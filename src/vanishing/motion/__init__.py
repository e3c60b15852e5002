"""What stays the same along every run, and how does it move? Quantities, and equations of motion.

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

Equations of motion:

- `measured`: runs with their times; `runs_intake`, `runs_source`: how they come in
- `smoothing`: smooth paths through them
- `candidates`: terms, with constants inside; `integrals`: their integrals along smooth runs
- `linear_stage`: which few terms, from integrals
- `tape`, `stepping`: expressions and steps along them, compiled once; `shooting`: fits to the rows
- `sensitivities`: which few terms, along a fitted path
- `equations_search`: all these steps; `given_parts`: what users know already
- `equations_fit`: search, runs held out, verdict; `conserved_check`: what the runs keep
- `batches`: constants that differ between batches of runs
- `equation`, `simulation`, `saved_motion`, `answers`: results
- `equations_of_motion`: the estimator `EquationsOfMotion`
"""

from vanishing.motion.differences import derivatives

__all__ = ["derivatives"]
