"""Which law holds? A table, and the equations its columns obey.

The files are the steps of the search: `surrogate` and `reductions` (which combinations of columns
matter), `dictionary`, `links` and `implicit` (candidates), `sparse` (which terms), `refit` (their
coefficients in units of the target), `choose` (which law, if any), `search` (all of it),
`finder` (the estimator); and beside them `terms` and `law` (what is found), and `check`, for an
equation that somebody has in mind, with `equations` (read from text) and `constants` (fitted).
"""
