"""The numbers that decide results: what each trades, and what was measured.

Read by attribute when they are needed (``settings.LACK_OF_FIT``), so that a study can change one.
"""

# -- Smooth functions -----------------------------------------------------------------------------
# Logarithms of a column are taken unless this quantile is closer to zero than this share of the
# median. With the smallest value instead, surrogates of columns spread over two decades had up to
# 700 times the noise, and never less.
LOW_QUANTILE, CLOSE_TO_ZERO = 0.001, 0.02
MAX_SMOOTH_TERMS = 252  # degree 5 in five variables: what a function can follow against time
MAX_SMOOTH_DEGREE = 12
DEPENDENT = 1e-10  # eigenvalue, per term, of smooth terms that depend on one another
# Residuals are no noise from this many deviations of F on, where chance has less than this
# probability: of 300 tables of 12 to 300 rows without lack of fit, none had more, with deviations
# alone 2 % of those with 20 rows.
LACK_OF_FIT, SURE_LACK = 5.0, 1e-4
# Rows from which on White's test is asked, too: where noise differed between rows, F alone called
# that a lack of fit in 3 % of tables with 50 rows, both together in none. On 20 rows White's test
# sees a fifth of what F sees.
UNEQUAL_ROWS = 50
