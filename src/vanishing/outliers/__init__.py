"""Which rows break the laws of a table? Scores, reasons and thresholds, from moments.

To read in this order:

- `settings`: the numbers that decide results
- `quantiles`: of rows that have weights
- `features`: 1, the columns in standard units, and products of their principal components
- `passes`: a sample of all rows, wherever they are
- `robust`: moments of the rows that go together
- `model`: residuals of columns, their local noise, and scores
- `thresholds`, `calibration`: scores of rows that a fit has not seen, and what follows from them
- `wrong_rows`: training rows that are wrong
- `monomials`, `candidates`: moments behind short equations, and how well these hold
- `consequences`, `equations`: what follows from others, and laws that can be read
- `drift`: laws that hold no longer
- `blame`, `reasons`: the column that is wrong, and why a row has its score
- `state`, `from_moments`: a fit to rows, batches or moments
- `saving`: what is saved
- `detector`: the estimator `VanishingOutlierDetector`
"""
