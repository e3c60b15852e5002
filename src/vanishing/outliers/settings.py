"""The numbers that decide results: what each trades, and what was measured.

Read by attribute when they are needed (``settings.LAW``), so that a study can change one. *Half*
and *double*: what that changes in the mean areas of the sixteen tables of `benchmarks/README.md`,
unsupervised (.890) / novelty (.913, two splits), by `benchmarks/studies/outliers.py settings`;
*none*: less than .001. Numbers of thresholds, equations and reasons do not change areas.
"""

# -- Features of a row ----------------------------------------------------------------------------
# Principal components that are multiplied: more see more bends, and take longer.
COMPONENTS = 12  # half -.009 / -.008, double -.005 / .000
PRODUCTS = 400  # of one degree, which binds from degree 4 on: time; none
# With fewer most of G is chance; with more laws of degree 2 are missed.
ROWS_PER_FEATURE = 10  # half -.003 / +.004, double -.006 / -.008
WILD_COLUMN = 10.0  # spread over the range of its middle 90 %: beyond, few values made it; none
RANGE_ROWS = 2000  # on which that range is measured: time
# Range of a column: all but so many of the first rows at each end, and so much of it beyond; of
# moments, standard deviations to each side. Decides which of two columns is named first.
RANGE_LEVEL, RANGE_MARGIN, NORMAL_RANGE = 0.005, 0.1, 3.1
CONSTANT = 1e-12  # spread of a column relative to its size, up to which it is constant; none
CONSTANT_OFF = 1e-6  # deviation of a constant column, relative to its size, that counts as 1; none
FIT_LIMIT = 100.0  # standardised values that a fit sees: wilder ones drown all others; none
SCORE_LIMIT = 1e6  # that a score sees: squares of squares must not overflow; none

# -- Which rows count how much --------------------------------------------------------------------
SAMPLE_ROWS = 10_000  # looked at closer, and scores that are kept: thresholds of a rate below 1e-3
# Of columns in standard units, that decide on folds: with more, rounding of columns far from zero
# changes folds; with less, rows of few columns are alike.
COARSE_DIGITS = 3
FIT_ROWS = 5_000  # that the fits before the last look at: time; double +.001 / .000
LEAST_ROWS = 2  # below which a fit is refused
# Added to G, and that much more of (features per row, less 1 / ROWS_PER_FEATURE): with few rows
# features count as less related. One-class problems of few rows: .933 with it, .925 without; none.
BULK_RIDGE, LAW_RIDGE = (1e-3, 1.0), (1e-6, 0.01)
# Features beyond which rows are weighted by so many random combinations of them: time.
WIDE = 300
# Until weights settle: time.
BULK_FITS = 6  # half -.011 / +.001, double -.001 / .000
LAW_FITS = 5  # half -.013 / -.002, double +.001 / -.004
# Of 1 + distance, what rows far away count: lower resists more wrong rows, and wastes right ones.
LAW_POWER = -1.5  # half -.015 / -.003, double +.003 / -.014 and .022 less on the pump

# A sensor that drifts in many training rows hides in the law that it breaks. Residual of a column
# over its spread in the middle row, below which a law is looked for; how many times the middle
# residual breaks it; fits at most until weights settle, but for such a share of them.
MOSTLY, BREAKS, DRIFT_FITS, SETTLED = 0.2, 2.5, 60, 3e-4
# Rows of less than BROKEN of their weight break laws. They count little if they are more than
# FEW_WRONG and less than MOST_DRIFT of all, and if their places along main directions tell less
# than TOLD of which they are: .03 to .25 for drifts of a fifth of the rows (most for columns that
# change as slowly), .21 and more for clusters, classes, noise that grows and the sixteen tables.
BROKEN, MOST_DRIFT, TOLD = 0.2, 0.3, 0.15
WIDE_DIRECTION = 0.1  # variance along a main direction, over the mean of all

# -- Residuals and scores -------------------------------------------------------------------------
LAW = 0.05  # residual of a column over its spread, below which a law determines it; none
# Local noise over its mean, at least and at most: of columns without a law, and with one.
LOOSE = (0.5, 1.0)  # half -.003 / -.005, double -.005 / -.006
STRICT = (0.1, 3.0)  # none
# Noise varies slowly along the rows: without a ridge it follows the small differences of columns
# that a law ties together, which are the residuals themselves.
NOISE_RIDGE = (0.1, 10.0)  # half -.001 / -.001, double +.002 / .000 and .005 less on the pump
HALF_DOUBT = 4.0  # variance of equations of half of the rows, over that of all; half -.002 / .000
MOST_DOUBT = 2.0  # without it all rows far away are normal; half -.001 / +.001, double -.002 / .000
EXACT = 1e-3  # least size of residuals of laws: rounding is no broken law; none
BLURRED = 0.05  # the same for combinations of laws, which hide a row that breaks one; none
FLOOR = 1e-8  # parts of scores below it are rounding; none

# How far out rows are along main directions, and how far from others, in what scores add to
# residuals: both see groups of odd rows that agree with one another.
FAR_OUT, FAR_FROM_OTHERS = 0.15, 0.35
# Of rows that others are compared with: more and smaller groups see larger groups of odd rows.
GROUPS, GROUP_ROWS = 8, 128
# Distance over that of rows one spread apart in all columns, that counts as none; and below which
# rows are equal but for rounding.
NEAREST, EQUAL = 0.01, 3e-5
FEW_WRONG = 0.05  # share of rows that break laws, up to which neighbours="auto" compares rows

# -- Thresholds and batches -----------------------------------------------------------------------
# Share of all rows that are one and the same row, beyond which it comes again as it is.
COMES_AGAIN = 0.1
# Rows that break laws: at most this share, at how many places they are looked for, beyond how many
# others, and how many times as many as normal rows explain.
MOST_BREAKING, CUTS, LEAST_INSIDE, MANY_TIMES = 0.35, 60, 20, 5.0
# Widths of humps that rows which break laws make on one side of a law, unless they are fewer; and
# standard errors by which there are fewer rows before one. Without humps 8 to 20 % of fresh rows
# were alarms where noise is exponential or lognormal; few errors let chance make some.
HUMPS, HUMP_ROWS, HUMP_ERRORS = (1.0, 2.0, 4.0), 7, 2.5
# Widths of valleys before rows that break laws, how many standard errors deep they are, and how far
# beyond the first place they are looked for. Faults of 5 % in a pump with noise of 0.5 %, 2 to 20 %
# of the rows, were all taken for normal without valleys. With 3.5 errors Cauchy noise makes some.
VALLEYS, VALLEY_ERRORS, VALLEY_END = (0.5, 1.0, 2.0), 4.5, 40.0
# What places along main directions tell of rows beyond a valley, at most: up to .03 for faults, .14
# and more for noise over three decades and normal rows of the sixteen tables.
PLACE = 0.1
SAME_ROWS = 0.9  # share of rows that agree on whether they are wrong, or have the usual value
# Fewer than this break laws, too, beyond a gap of less chance, by so many rows before it.
FEW_BEYOND, CHANCE, NEAR_ROWS = 10, 2e-3, 40
# Shares of normal rows before those whose fall continues beyond the cut, and what the second asks.
BODIES, MORE_TIMES = (0.75, 0.5), 2.0
# The emptiest place between normal rows and those that break laws: few of these are in it, relative
# to all of them, and it is beyond this share of normal ones.
GAP_ROWS, GAP_START = 0.02, 0.95
WILD_SCORE = 15.0  # scores, whose middle half has width 1, that are no normal row's
FORGOTTEN = 1e-12  # share that what was learned counts at least: rounding, beside what is new
PATIENCE = 2.0  # times the share of alarms that a batch may make normal: how fast drift is learned

# -- Equations to read ----------------------------------------------------------------------------
MONOMIALS = 250  # of degree 2; of more columns only linear equations are looked for: time
ROWS_PER_MONOMIAL = 3  # fewer rows make laws of chance
ODD = 0.1  # share of rows that equations are not fitted to: one wrong row hides an exact law
EQUATION_TERMS = 6  # at most: longer ones nobody reads
# Columns of a linear balance, at most, where those of the table are so many at most: time.
BALANCE_TERMS, BALANCE_COLUMNS = 12, 120
SIMPLER = 1.5  # error that fewer terms may have, relative to that of more
TRIPLES = 24  # columns up to which all three of them are tried: time
OFFSET_ERROR = 0.2  # of an equation, that an offset of a column may add to have fewer digits
# Error of an equation over its size where others hold. Beyond the first it follows from them: .9 is
# that of one whose error is 1.5 times that of a longer one. Beyond the second a longer one is small
# wherever rows are.
NEWS, SMALL = 0.9, 0.3
PARENTS = 0.3  # of their errors by which they are off there, so that what they imply is no news
POINTS = 200  # where equations hold, of which the better half counts: time
POINT_STEPS, POINT_STEP = 12, 1e-10  # of Newton's method to them, at most, and the last one's size
POINT_LEVELS = (0.05, 0.95)  # of a column's distribution that they start from
# Logarithm of a row's squared distance from laws, in widths of its middle half: beyond, a row is
# wrong, and no part of the error of a law. Of normal rows less than 0.4 % are.
WRONG = 2.0
# Share of the middle half that is above the middle: .42 of normal rows, .5 of relative noise over
# two decades. Beyond, a wrong row is also farther off than so many times what nine of ten rows
# have; without this, errors of laws were .79 of those on fresh rows there, and .60 over three.
SKEWED, HIGH, WRONG_OVER_HIGH = 0.47, 0.9, 3.5
SURE = 3.0  # standard errors of a coefficient that is not zero
CLOSE = 0.1  # largest error of a law relative to the spread of the column it determines
# Change of a law's slope within the error of the law, relative to the slope: beyond, it is the
# square of another. Squares of laws have .7 with normal noise, .4 with that of rounding; two lines
# whose distance is seven times their noise have .3.
BEND = 0.3
WORSE = 3.0  # error of a law that holds no longer, relative to what it was

# -- Reasons: on the pump the faulty column is among those named in 99.8 % of right alarms --------
FAR = 5.0  # standard deviations of the sum of squares: beyond, a row breaks a law
OFF = 3.0  # errors of a law by which a row breaks that one
LAWS_SHOWN = 3  # of a row
BLAME_COLUMNS = 16  # of a row that are tried: time
BLAME_STEPS = 8  # of Gauss-Newton: features are polynomials of low degree
BLAME_SAME = 16.0  # squared standard deviations within which two columns are both named
# Squared standard deviations that count as one, since the noise of a row is known roughly, and of
# the distance from all others, which are not normal; and the logarithm of how much
# likelier a wrong value is outside the range of its column.
BLAME_DOUBT, BLAME_FAR, BLAME_RANGE = 4.0, 4.0, 4.0

# -- Gaps, time and events ------------------------------------------------------------------------
GAP_STEPS = 3  # of Gauss-Newton to the values of missing cells: they start from linear ones
GAP_FITS = 1  # to rows that were filled in, before the one that counts: time
PAIR_LIMIT, PAIR_RIDGE = 10.0, 1e-3  # of correlations of pairs, where few rows have no gaps
GAP_LEFT = 1e-6  # of the variance of a residual that missing cells leave: below, it is rounding
RUN_ROWS, RUN_CHANCE = 5, 1e-3  # of a stretch, at least; how often chance may make one in a table
EVENT_GAP = 5  # rows from one alarm to the next of the same event
EVENT_DEEP = 4.0  # below the threshold, in units of scores: where an event may begin in another
EVENT_ROWS = 30  # alarms of an event that are explained, the first ones: time
EVENT_HALF = 5.0  # alarms after which an alarm weighs half for the blame: faults spread
# Alarms that parts of an event have at least, which are farther from one another than that: up to
# so many times as far as the longer of them is long.
EVENT_ALARMS, EVENT_REACH = 3, 5
EVENT_STRENGTH = 3.0  # below the threshold, in units of scores: beyond, alarms weigh alike
EVENT_LIKELY = 0.1  # probability of columns that an event names
