"""The numbers that decide results: what each trades, and what was measured.

Read by attribute when they are needed (``settings.LACK_OF_FIT``), so that a study can change one.
"""

# -- Rows -----------------------------------------------------------------------------------------
SAMPLE_ROWS = (
    10_000  # drawn for a search: time against noise; the tables of the law study have as many
)
HELD_OUT = 4  # one row of this many is held out: how well errors are known against coefficients

# -- Columns far from the origin ------------------------------------------------------------------
# Spreads from the origin beyond which powers of a column tell nothing apart: products of terms of
# degree 6 are then equal in all digits but one. Laws of columns nearer than that are found as well
# in the columns as they are.
FAR = 20.0
OFFSET_WIDTH = 6.0  # spreads: offsets are short numbers that may be so far from the rows
NEEDED = 4.0  # standard errors of a coefficient that a polynomial needs, wherever columns start
TRIED_STEPS = 12  # of a column to another origin, those known best: time
STEP_WIDTH = 0.3  # standard errors that an origin may be rounded by
EXPANDED_DEGREE, EXPANDED_TERMS = (
    4,
    126,
)  # of a polynomial that tells origins: degree 4 in 5 columns
ROUNDINGS = 10.0  # times what one rounding leaves: sums of terms have several

# -- Few terms: time against supports that are missed ---------------------------------------------
PRICED_TERMS = (
    250  # candidates that a term was chosen among, in the price of each; a dictionary's size
)
EXHAUSTIVE = 300_000  # supports of one size up to EXHAUSTIVE_SIZE of which all are tried
EXHAUSTIVE_SIZE = 5  # terms
SUPPORTS_PER_SIZE = 3  # best ones that are kept of those
EXHAUSTIVE_RATIOS = 30_000  # likewise where ratios v'Gv / v'Hv are least, which take longer
EXCHANGED = 1.15  # times what all terms leave: supports that leave more have two terms exchanged,
EXCHANGES = 3  # so many times
BEAM, EXTENSIONS, BEAM_SIZE = 40, 12, 7  # supports of one size, terms tried for each, largest size
# Of a function's range, by which it has to differ from a polynomial of degree 2 to be tried.
SAME_FUNCTION = 1e-9
ORDERS = 60  # of columns, in which sparse vectors of a space are looked for

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
# Signs of residuals of this many neighbours are compared, in the order of each column and, for this
# many rows, in all columns. Of 9,000 tables of 20 to 1,000 rows whose noise has Student's
# distribution and grows along a column, 2 were beyond 5 deviations.
NEIGHBOURS, NEIGHBOUR_ROWS = 8, 4000
# Rows of one column below which they are compared with straight lines between neighbours. Of 45,000
# tables of 12 to 100 rows whose noise is normal, Student's or Cauchy's, or grows by e^4, 12 were
# called no noise. More rows are followed by smooth terms.
INTERPOLATED_ROWS = 100
NEAREST = 2  # rows whose residuals are multiplied by that of a row
# Rows from which on White's test is asked, too: where noise differed between rows, F alone called
# that a lack of fit in 3 % of tables with 50 rows, both together in none. On 20 rows White's test
# sees a fifth of what F sees.
UNEQUAL_ROWS = 50
# Products of two columns, all of which are asked what is left: values of the columns, time.
PRODUCT_VALUES, LEAST_PRODUCT_ROWS = 600_000, 1000

# -- Surrogates of targets ------------------------------------------------------------------------
EXPONENTIAL_SHARE = 0.9  # least share of positive rows for which y = exp(Q) is tried
LEAST_RATIO = 0.03  # of the rms, of what logarithms are taken of where a fit of exp(Q) starts
EXPONENTIAL_STEPS = 9  # of Gauss-Newton
EXPONENTIAL_GAIN = 3e-4  # share of the loss below which these steps end: a surrogate is no answer
STILL_GAINING = 0.6  # ratio of residuals of the last two degrees below which a next one would help

# -- Noise that grows with the target -------------------------------------------------------------
VARIANCE_ROWS = 5000  # that tell how the noise grows: time
VARIANCE_GRID = 60  # shares of noise that does not grow, over the decades that rows can tell
LEAST_VARIANCE = 1e-3  # of a row, relative to a typical one: bounds how much one row can count
LARGEST_SQUARE = (
    20.0  # of the median: 3 deviations; larger ones count as these where rows are wrong
)
