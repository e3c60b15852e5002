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
EDGE = 3.0  # spreads from the middle, beyond which a value says no more of gaps

# -- Noise ----------------------------------------------------------------------------------------
NOISE_FITS = 6  # until the rows that count settle
NOISE_STEPS = 4  # of variances that are weighted by those of the step before
LEAST_SIZE = 0.2  # of a law's mean error: no row counts as if it had less
ROUGH = 6.0  # middle deviations from a law, beyond which a row is no part of the first fit
NORMAL = 0.999  # of rows that obey the laws are nearer than those that later fits leave out
# Share of their common value by which relative variances of columns may differ, as far as laws do
# not tell them apart.
ALIKE = 0.5
CHANCE = 3.0  # standard errors by which laws are off beyond the noise, before that counts
EXACT = 1e-7  # least noise of a column, relative to its spread: below, numbers are rounded

# -- Wrong values ---------------------------------------------------------------------------------
WRONG_SHARE = 0.005  # of cells, before a row is looked at
WRONG_CELLS = 3  # of a row that may be wrong: more are as likely to be a row of another kind
OFF = 2.0  # errors of a law by which a row breaks it, so that its columns are suspects
PAIRED = 6  # best suspects that are combined with all others
SUSPECT = 1e-3  # chance of a distance from laws, below which a row is looked at closer
SURE = 0.95  # probability from which on a cell is replaced
NAMED = 0.05  # probability from which on a cell that is left is named
SAYS = 0.5  # error of a gap by one law, in spreads, below which that law is named
REACH = 6.0  # of a wrong value's distribution, in spreads of its column

# -- Laws -----------------------------------------------------------------------------------------
LEAST_ROWS = 20  # without gaps, to look for laws in
# A law follows from others if it is off, where these hold, by no more than so many times what rows
# are, and by no more than the second number of spreads in any case.
IMPLIED, IMPLIED_MOST = 4.0, 0.1
POINTS = 300  # where laws hold, to ask that
COMPLETE = 0.1  # share of rows without gaps, below which columns are left out one by one
LAW_CLOSE = 0.1  # error of a law relative to the spread of a column it determines
BETTER = 0.7  # error of a law over that of another one of the same columns, which it replaces
