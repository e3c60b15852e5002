"""The numbers that decide results: what each trades."""

# -- What is normal -------------------------------------------------------------------------------
PRIOR_ROWS = 5_000  # that the covariance of the columns and the noise are learned from: time
FREEDOM = 4.0  # degrees of freedom of the distribution of rows: lower resists more wild rows
PRIOR_STEPS = 50
PRIOR_STEP = 1e-4  # of the scatter, relative: the last one
RIDGE_ROWS = 1.0  # rows of columns that have nothing to do with one another, that are added
# Variance that rows have across laws, beyond that of the rows themselves, in squared spreads: what
# laws say is not to count twice.
ACROSS = 4.0

# -- Noise ----------------------------------------------------------------------------------------
NOISE_FITS = 6  # until the rows that count settle
ROUGH = 6.0  # middle deviations from a law, beyond which a row is no part of the first fit
NORMAL = 0.999  # of rows that obey the laws are nearer than those that later fits leave out
NOISE_RIDGE = 0.02  # share of what a row says, that all columns are equally noisy relative to size
EXACT = 1e-7  # least noise of a column, relative to its spread: below, numbers are rounded

# -- Wrong values ---------------------------------------------------------------------------------
WRONG_SHARE = 0.005  # of cells, before a row is looked at
WRONG_CELLS = 3  # of a row that may be wrong: more are as likely to be a row of another kind
PAIRED = 8  # best suspects that are combined with all others
SUSPECT = 1e-3  # chance of a distance from laws, below which a row is looked at closer
SURE = 0.95  # probability from which on a cell is replaced
NAMED = 0.05  # probability from which on a cell that is left is named
REACH = 6.0  # of a wrong value's distribution, in spreads of its column

# -- Laws -----------------------------------------------------------------------------------------
LEAST_ROWS = 30  # without gaps, to look for laws in
ROUNDS = 3  # of looking for laws in rows that obey those known
LAW_CLOSE = 0.1  # error of a law relative to the spread of a column it determines
