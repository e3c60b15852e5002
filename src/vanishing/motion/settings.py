"""The numbers that decide results: what each trades, and what was measured.

Read by attribute when they are needed (``settings.EXACT``), so that a study can change one. With
these numbers twelve systems have the figures of `benchmarks/README.md` (one wrong claim in 720
fits). Half and twice each of them were tried on eleven systems (without noise, or with .01 and .05,
where the number is read; one seed): the fits that are right (11; 10 and 10 of 11) and wrong claims
(none) stay the same but for what a line says. Not tried: SEARCHED_ROWS, SEARCHED_RUNS,
MAX_MONOMIALS, SPARE_ROWS.
"""

# -- Rows and monomials that a search looks at ----------------------------------------------------
HELD_OUT = 4  # one run of this many is held out: more confirm better, and leave fewer to learn from
SEARCHED_ROWS, SEARCHED_RUNS = 40_000, 400  # of more, some are searched: time, not what is found
MAX_MONOMIALS = 1500  # a search of more is refused: memory and time
# With noise, among which sparse polynomials are looked for: the double pendulum has 392.
MOST_TERMS = 130
SPARE_ROWS = 10  # more than monomials, or the degree is lowered
ROWS_PER_TERM = 8  # with noise: fewer rows let long polynomials fit it

# -- Laws of the state: distance of a monomial from smaller ones, relative to its size ------------
VANISHES = 1e-13  # of a law: rounding
INTEGRATED = 1e-7  # of a law of few terms, which holds up to the errors of an integration
LAW_TERMS = 7  # such a law has fewer: more terms come that near to anything
NEARLY = 1e-6  # of a monomial that says nearly nothing new, such as x^4 beside x, sin(x), cos(x)

# -- Without noise: variance within runs over that of all rows ------------------------------------
EXACT = 1e-6  # up to which something is conserved but for errors of an integration
ROUNDING = 1e-13  # below which anything may be rounding
BAND = 1e3  # factor within which quantities are as exact as the best one
# Entries of null vectors that count as zero: what monomials that are nearly dependent leave there
# may be far more than rounding.
TOLERANCES = (1e-6, 1e-4, 1e-2)
SMALL = 1e-2  # of the limit, what coefficients of size 1 add: keeps coefficients small
REWEIGHTED = 8  # steps of reweighting towards few terms: time
SPARE_TERMS = 2  # times the terms that are wanted may be looked at, before some are dropped

# Relative size of what cancels, and spreads of a column that its origin is rounded by, where
# columns far from the origin are measured from where a quantity has the fewest terms.
ORIGIN = 1e-7

# -- With noise -----------------------------------------------------------------------------------
LARGEST_RATIO = 0.1  # of variance within runs to that of all rows, where the noise is known
UNKNOWN_NOISE = 0.05  # the same where it is not: more takes slow motion for noise; half: 10 and 9
UNTESTED = 0.01  # the same where nothing but smallness tells noise from motion
IN_SAMPLE = 0.1  # what these are multiplied by where no runs were held out
OVERSTATED = 0.3  # variance of what varies least over that of the noise: below, noise is less
PROPORTION = 0.2  # noise that is not known need not be in proportion to the spread so exactly
SPARE_NOISE = 0.05  # runs held out may have so much more noise than expected, beside chance
SECOND_ORDER = 0.02  # what noise adds that is not of first order, relative to what is
DEVIATIONS = 4.0  # standard deviations of chance; and of a coefficient that is needed
COMPLEXITY = 3.0  # price of a degree or function of a term
CANDIDATES = 40  # that runs held out are asked about: more find more, and claim more by chance
SAME_NOISE = 2.0  # factor within which degrees may have the same least ratio

# -- What is new: polynomials in other quantities, or functions of them, are not reported again ---
NEW = 0.2  # with noise, least share of the spread that such polynomials leave
FUNCTION, NOISY_FUNCTION = 0.02, 0.1  # that functions of them leave, or of the gradient
FUNCTION_DEGREE, RUNS_PER_TERM = 5, 3  # of polynomials fitted to values along runs
GRADIENT_ROWS = 300  # on which gradients are compared: time
RANK, NOISY_RANK = 1e-6, 0.05  # singular values of gradients that count as zero

# -- Is it noise? Friction leaves another share in each run ---------------------------------------
RUN_ROWS = 5  # least rows of a run that is looked at
TELLING_RUNS = 8  # how many runs tell anything
TELLING_ERROR = 0.3  # and how precise they must be: half the error, 10 and 5
UNEVEN = 0.4  # deviation between runs that is noise in any case: columns differ in theirs
UNEVEN_CHANCE = 2.0  # times what is expected by chance

# == Equations of motion ==========================================================================

# -- Smooth paths ---------------------------------------------------------------------------------
KNOTS = 0.9  # intervals of a spline per row: more interpolate, fewer miss what is fast
LEAST_KNOTS, MOST_KNOTS = 6, 4000  # of them
# More rows than a spline has parameters, or it goes through all of them and no noise is left: with
# none, nothing is found in 15 to 30 rows with noise; with 3, as much as with 10, which miss more of
# what is fast.
SPARE_SPLINE_ROWS = 3
GCV_PRICE = 1.3  # of a parameter in cross-validation: 1 follows the noise of one run in ten
PENALTIES = (-9.0, 9.0, 1.0)  # decades of the penalty that are tried, relative to the rows' weight
GROWING_ROWS = 30  # least rows that tell whether noise grows with the column
GROWING_GAIN = 8.0  # twice the log-likelihood from which on it does
# Of a column's deviation: noise below it counts as this much. Without it, the errors of whoever
# simulated a table are fitted.
NOISE_FLOOR = 2e-4

# -- Linear problems ------------------------------------------------------------------------------
# Errors of integrals, as variance of a random walk per step over that of the noise, that are tried.
WALKS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
LEAST_BEND = 0.3  # of exp(k*x) and sin(k*x): k times the range of the column, at least
GRID = (0.02, 5.0, 9)  # constants inside, in units of a column's size: first, last, how many

# -- Choice: score = m log(chi2 / m + s) + prices -------------------------------------------------
SOFT, SOFT_BELOW = 0.3, 3.0  # s; where the noise is below the floor
# Rows that all rows together are worth below the floor: a term has to make the error a quarter.
SMOOTH_ROWS, EXACT_MISFIT = 4.0, 1e-5
LEAST_MISFIT = 0.95  # of chi2 / m, that any equation can be expected to reach
TERM_PRICE = 6.0  # of a term, beside log m
DEGREE_PRICE = 2.0  # of each degree above one
CONSTANT_PRICE = 2.0  # of a constant inside, beside log m
KIND_PRICE = 9.0  # of a kind of function

# -- Shooting -------------------------------------------------------------------------------------
PIECE_ROWS = 6  # least rows of a piece
PIECES = (8, 2, 1)  # of a run, one after the other
# Longest step of the integration times the size of the Jacobian; where noise is below the floor.
PACE, PACE_BELOW = 0.8, 0.15
HOPELESS, POOR_GAIN = 4.0, 0.05  # chi2 / m of a poor fit, and this share for it
SHOT_GAIN = 1e-4  # share of the loss below which a step is the last

# -- Stages of terms ------------------------------------------------------------------------------
MOST_CANDIDATES, MOST_RESELECTED = 90, 130  # of a dictionary, and along a fitted path: time
HIGHER = {1: 2, 2: 1, 3: 1}  # degrees that are added for so many variables
FUNCTIONS = ("sin", "cos", "exp", "log", "sqrt", "reciprocal", "x|x|")  # that "auto" tries
SUPPORTS = 3  # of each stage that go on
FAMILIES = 4  # families with a constant inside that are refined and searched, for each column
# Of constants of users' forms, about which nothing is known; starts of a family at most: time.
COARSE_GRID, MOST_STARTS = (0.03, 30.0, 7), 200
FIRST_STEP, LAST_STEP = 0.25, 2e-3  # of constants inside, relative: further is left to shooting
REFINEMENTS = 25  # of constants inside, at most
POLE = 300.0  # of its median: the largest value of a function that has no pole between
# Errors of integrals before the first support is known; and larger ones, with which polynomials are
# looked for once more: what is fast is then seen from row to row.
FIRST_WALK, LARGE_WALK = 1e-3, 0.1
NEAR_ZERO = 1e-3  # of a column's size: what is nearer has no logarithm, root or reciprocal
# The widest range of a column that a function is tried on: exp(x) of a wide one is a single row.
WIDEST = {"exp": 9.0, "circular": 40.0}
SHOT_STEPS = 15  # of Levenberg and Marquardt, for each number of pieces

# -- Which systems are fitted to the rows ---------------------------------------------------------
ROUNDS = 3  # of reselection and other equations
WEAK = 4.0  # standard errors of a coefficient up to which its term is tried without
HOPE = 1.0  # in score, that another equation must promise along a fitted path
ALTERNATIVES = 4  # other equations of a column, from integrals, that are tried
ALTERNATIVE_GAP = 40.0  # in score, beyond which they are not
REMEMBERED = 4  # of a column's equations whose terms reselection looks at
POOR = 1.3  # chi2 / m from which on terms are chosen again along short pieces
SHORT_PIECES = 32  # of a run
NAMED_FUNCTIONS = (*FUNCTIONS, "tan", "tanh", "arctan", "cbrt")  # that may be asked for
PACE_SIMULATED = 0.1  # of simulations that users ask for

STEPS_BACK = (
    0.05  # of rows: fewer steps back in time may be several runs, more are rows in no order
)

# -- Batches --------------------------------------------------------------------------------------
SEARCHED_BATCHES = 3  # the largest, whose runs are searched alone: time
DIFFERENT = 0.01  # chance of saying that a constant differs where none does

# -- Large tables ---------------------------------------------------------------------------------
LONGEST_RUN = 2000  # rows of a run that is followed as one
SEARCHED_RUN_ROWS = 4000  # that terms are looked for along
FITTED_ROWS = 100_000  # that the last fit is to
READ_ROWS = 200_000  # of rows that are not in memory, in whole runs: those fitted, and held out

# Relative difference of two right-hand sides with as many constants that are one equation; where
# the noise is below the floor.
SAME, SAME_BELOW = 1e-3, 1e-6
OVERSTATED_NOISE = 0.6  # chi2 / m of the best equations below which the noise is less

# -- Verdicts -------------------------------------------------------------------------------------
MOST_ERROR = 1.1  # of the noise, that equations may leave
# Deviations of the correlation of neighbouring residuals: of 64 fits with noise of .03 those with
# equations have 3.1 at most; where smooth paths miss jumps between rows it is 8 and more.
MOST_LACK = 5.0
# Rows below which equations are certain or none at all, where the noise is estimated, too: 26 of 80
# paths of 12 to 40 rows that obey nothing are followed by something that is not certain.
FEW_ROWS = 50
SPARE_VALUES = 3.0  # of a column, more than constants: with fewer, anything can be followed
HELD_OUT_SPARE = 0.1  # more that they may leave on runs held out
SURE_EVIDENCE = 5.0  # nats from which on terms are certain
CONSTANT_DIRECTION = 1.0  # times the noise, that a combination of columns moves which is constant
# Conserved quantities are compared on at most so many rows; along the fitted field they may change
# by this share of what they would along one that does not keep them.
COMPARED_ROWS, BROKEN = 20_000, 0.1
