"""Statistics that questions share. It knows no question.

In reading order:

- `settings`: the numbers that decide results
- `sample`: rows of a search, the same ones in whatever order and blocks they come
- `asked_functions`: functions of columns that a parameter asks for
- `normal`: normal equations, and the covariance of coefficients
- `gauss_newton`: nonlinear least squares from a good start
- `sparse`: which few terms, from Gram matrices
- `ratios`: which few terms, where a ratio of two squares is least
- `smooth_terms`: terms of any smooth function
- `surrogate`: a smooth function in place of a target: its noise, its gradients
- `lack_of_fit`: what smooth functions still explain of residuals
- `variety`: polynomial equations and the points where they hold
- `debiased`: products of terms without what noise adds to them, and equations from their means
"""
