"""The numbers that decide results: what each trades, and what was measured.

Read by attribute when they are needed (``settings.EVIDENCE``), so that a study can change one.
Percentages are formulas of the Feynman set found at noise 0 / .01 / .1 (25 of them, one is 4 %).
"Half" and "twice" say what benchmarks/studies/sensitivity.py counts with that number: laws found,
and wrong claims, on 40 tables of Feynman formulas (noise .01 and .1) and 20 without a law. As it
is: 30 found, 5 wrong.
"""

# -- Rows and columns that a search looks at: time against what can be told ------------------------
LEAST_ROWS = 3  # different rows below which a fit is refused
FIRST_ROWS = 4000  # of a surrogate, and of the screening of columns; the study used 4,000
LINK_ROWS = 2500  # on which a link is tried first: fewer are faster, and noise is known less well
CHOICE_ROWS = 5000  # on which sparse terms are chosen; all rows of the sample then fit them
COMPARED_ROWS = 1000  # on which two laws are told apart; a hundred per term is plenty
MAX_COLUMNS = 9  # of a search; more are screened first, which may miss one that matters little
PURSUED = 12  # columns that each view of the screening takes in
POOL = 25  # columns whose products are screened: 60 took 3 s, and time is their sixth power
SCREENED_TERMS = 30  # of degree 2 that the screening of columns chooses
SCREENED_VALUES = 1_200_000  # of columns that are screened: time
MAX_TARGETS = 40  # columns that are taken in turn where there is no target: time
NAMED_COLUMNS = 10  # that were left out; more are counted
MANY_DECADES = 50  # of a column that is of no size: its logarithm is asked for
FEW_VALUES = 6  # a variable of no more gets no functions of its own, and powers below their number

# -- Sums of more columns than a search takes ------------------------------------------------------
SPARE_ROWS = 5  # more than coefficients: exact sums leave rounding on as many by no chance
ROWS_FOR_ALL = 3.0  # per column: with fewer, columns are also taken in one after the other
FORWARD_COLUMNS = 40  # that are: time
# Share of the target's variance that a sum may leave. Of 64 tables of random walks (12 and 30 on 30
# and 75 rows) 5 were called sums; with 0.5 14. No planted sum with 10 % noise was lost.
SUM_LEFT = 0.1
SUM_TERMS = 4  # other than columns in such a sum, one after the other
SUMMED_COLUMNS = 60  # whose squares, products and functions are tried in a sum: time

# -- Rows that are wrong, and rows of unequal noise -----------------------------------------------
FAR = 4.5  # deviations beyond which robust fits leave a row out: 1 good row in 150,000
HALF_WEIGHT = 2.0  # deviations at which a row counts half: lower resists more wrong rows
CHANCE = 40.0  # twice the log-likelihood that the best of thousands of equations gains by chance
UNEQUAL_GAIN = 10.0  # twice the log-likelihood: equal noise has 1 on average, and 10 in 1 of 600
# Share of rows, by (sum y^2)^2 / sum y^4, below which relative noise is tried, too: of normal rows
# it is a third, of rows over one decade .43, over two .22, over four .11.
DECIDING_ROWS = 0.25
RELATIVE = 1.5  # ratio of relative errors on most rows, up to which noise is called relative
UNEQUAL_LEFT = 0.1  # share of the variance that a prediction may leave for noise to be told by it

# -- Products of powers, in logarithms -----------------------------------------------------------
LEAST_NONZERO = 0.9  # share of rows on which a column is not zero, so that it has logarithms
SIGNIFICANT_EXPONENT = 9.0  # squared t-value of an exponent that is not zero
SNAPPED = 15.0  # log-likelihood that simple exponents may lose to fitted ones
SAME_SIGN = 0.9  # share of the target whose sign a product has

# -- Factors of a target, by differences between neighbours -------------------------------------
FACTOR_ROWS = 1000  # on which they are looked for: time
LEAST_FACTOR_ROWS = 60  # fewer have no neighbours: of 30, factors were wrong
CLEAR_EVIDENCE = 100.0  # of a law with such factors, beyond which no other variables are looked at
MOST_REST = 3  # columns that are no factors: neighbours in more of them are far from one another
REST_BEAM = 2  # rests to which a column is added: time
REST_PRICE = 10.0  # twice the log-likelihood that one more column of the rest has to gain
ROWS_PER_CURVATURE = 2.0  # per coefficient of a quadratic function, by which products are found
NO_EXPONENT = 0.15  # how far exponents of a product may be from simple ones, or from zero
SAME_SIGN_NEARBY = 0.75  # share of neighbours that have the sign of y / M: by chance it is half

# -- Reductions: without them 72 / 68 / - instead of 96 / 92 / 84 ---------------------------------
# Exponents a of x_j x_i^a; the first six in triples, which are many.
REDUCTION_RATIOS = (1, -1, 2, -2, 0.5, -0.5, 3, -3, 1.5, -1.5, 1 / 3, -1 / 3, 2 / 3, -2 / 3)
# Half: 29, 5; twice: the same.
REDUCTION_RANK = 0.05  # share of y that the equation of a reduction worth a surrogate may leave
REDUCTIONS_TRIED = 4  # single reductions per step, each of them a surrogate: time
FAR_BETTER = 0.5  # share that a factor leaves of what a surrogate leaves that is far from y
# Half, twice: the same.
STATES_BACK = 3  # states to go back to before the unreduced one: without, 96 / 88 / -

# -- Sums and differences of two variables, of which functions are -------------------------------
SUMMED_VARIABLES = 6  # of a state whose pairs are tried, each of them two surrogates: time
SUMS_TRIED = 1  # best sums of a state that are searched: time
SUM_PRICE = 15.0  # score of a variable that is a sum: there are 30 of six variables

# -- Terms to choose from -------------------------------------------------------------------------
# Half: 28, 6; twice: 29, 4.
DICTIONARY_TERMS = 250  # of a stage: more reach further, and each term has to earn more
HIGHEST_EXPONENT = 4  # of a variable among several; of a single one it is max_degree
HOMOGENEOUS_MORE = 8  # times as many terms are made, where most have another dimension
SHORT_TERMS = 3  # of supports from a dictionary of more terms than few rows can tell apart
LINK_TERMS = 13  # of a sparse support; 10 to 13 terms of one variable fit anything to 1e-11
IMPLICIT_TERMS = 130  # with noise: more terms than these explain anything
FAMILY_TERMS = (30, 74, 130, 220)  # of quotients with functions: the first are tried exhaustively
# Of a function's range, by which it has to differ from a polynomial of degree 2: quotients of
# functions over narrow ranges fit anything to 1e-12.
FAMILY_FUNCTION = 1e-4
ENOUGH_TERMS = 74  # of these: no more are tried where so many reach the noise
EXACT_TERMS = 220  # without noise: the time of a singular value decomposition

# -- Links: only T(Y) = Y finds 88 / 76 / 64 ------------------------------------------------------
# Half: 23, 5; twice: the same.
LINK_SLACK = 1.04  # times the noise: what all terms of a link may leave; higher is slower
BETTER_NOISE = 0.8  # share of the noise that a dictionary must leave for it to be learnt from
LARGE_NOISE = 0.05  # relative: beyond it T(Y) is expanded about the smooth target
SUPPORTS_KEPT = 3  # best supports of a link that are fitted in units of y
FEW_TERMS_SLACK = 4.0  # times the noise that supports of 1 to 3 terms may leave: poles of T

# -- Implicit laws: without them 80 / 80 / 80 -----------------------------------------------------
IMPLICIT_SLACK = 1.06  # times the noise: what all terms of a degree may leave
IMPLICIT_DEGREES = 3  # that reach the noise, and are searched: lower ones may approximate
SUPPORT_SLACK = 1.15  # times the noise: what supports may leave to be fitted in units of y
SUPPORTS_PER_SIZE = 5  # that are fitted in units of y

# -- Forms: curves with constants inside functions -------------------------------------------------
ROWS_PER_CONSTANT = 8.0  # of a form: forms are few, and the terms of a search many
# Of a form of one column without constants inside functions. Where one was, eight rows of gamma and
# zeta functions were called powers and exponential functions above a level.
LEAST_ROWS_PER_CONSTANT = 2.5
FORM_POINTS = 6000  # of the grid of a form's constants: time
FORM_WAVES, FORM_WAVE_STEP = 60.0, 0.2  # most waves that a table has, and how fine they are told
FORM_GRID_ROWS, FORM_ROWS = 150, 400  # on which a grid, and steps from its best points, are tried
FORM_STARTS, FORM_STEPS = 5, 15  # best points of a grid, and steps from each: time
FORM_LAST_STEPS = 40  # on all rows
FORM_STEP_GAIN = 0.01  # score by which each of these has to be better than the one before
# Score by which a form may be worse than what is known and still be looked at; what few rows say of
# it may be off by this factor, and constants of few rows on all of them by the next; share of the
# target's square below which all forms are.
FORM_REACH, FORM_SLACK, FORM_NEAR, FORM_FLOOR = 100.0, 1.3, 1.1, 1e-6
MORE_CONSTANTS = 1  # than terms of a law that leaves little, in forms that are compared with it
OUTSIDE = 1.5  # half-ranges of a variable, from their middle, in which a place has to be
# Predictions of a form and another law are the same below this share of the noise.
SAME_CURVE = 1e-2

# -- Tables without noise -------------------------------------------------------------------------
EXACT = 1e-12  # singular value, or residual relative to the target, of a law that is exact
EXACT_LINK = 3e-13  # residual of least squares on the rows; the study had the same
NO_NOISE = 1e-10  # mean square relative to the target below which weights do not matter
NEARLY_EXACT = 1e-7  # mean square relative to the target: worth a look at the rows themselves
NEARLY_EXACT_FIT = 1e-7  # residual relative to the target: exact next to a pole, in its terms?
# An exact law is confirmed where it leaves fewer units of rounding, and would leave more without a
# term. Laws of 4 to 12 terms left .2 to .3, and 1e11 and more without one; what fitted functions
# outside of the language to 1e-12 left 200 and more, and 2e3 at most without a term.
ROUNDING_UNITS, NEEDED_TERM = 10.0, 1e5
# Two laws are different where the sum of the terms of one is this share of their sizes where the
# other holds, at so many points.
APART, APART_POINTS = 1e-3, 0.02
# Distance of rows from an exact law in units of the columns' spreads: noise that is far from the
# origin has .3 and more, a law of columns at 1e8 times their spread 1e-8.
THIN = 1e-6
# Spreads of all columns from zero, beyond which only products of powers are searched in columns as
# they are: at 1e4, a*b + c was called sqrt(a*b*(2*c + a*b)), and a product of powers such as .9999.
TOO_FAR = 1e3
FAR_TERMS = 3  # times the terms of a law: where columns are far, before their origins are known
ROUNDED = 1e-9  # relative error that rounding alone makes
COMPUTED = 1e-13  # residual relative to the target of columns computed from others, by differences
EXACT_CHECK = 1e-11  # residual relative to the target at which `check_law` says "exact"

# -- Refit in units of y: without it 96 / 84 / 76 -------------------------------------------------
REFIT_STEPS = 6  # of Gauss-Newton on the sample: time; the study had 5
PASSES = 4  # over all rows, from where the sample ended: time where rows are elsewhere
# Half: the same; twice: 30, 6.
INSIGNIFICANT = 3.0  # times the price of a term: squared t-value below which it is dropped
# Half, twice: the same.
DETERMINED = 9.0  # squared t-value of each coefficient of a law: three standard errors
# Share of rows on which a law has a solution, and on one root: products of a law with another have
# rows on both, and what fits rows without a solution is the surrogate. All rows, where these are
# fewer than 200.
ONE_BRANCH = 0.995
DOUBLE_ROOT = 1e-6  # relative distance of two roots that rounding cannot tell from one
WORSE = 2.0  # times the mean square of the sample: what a law may leave on all rows

# -- Choice: smooth functions without a law were claimed 5 of 7 times without the last two --------
# Half: 30, 4; twice: the same.
EXPONENT_PRICE = 3.0  # score per unit of exponents: simple terms against a slightly better fit
# Of a square root in a product of powers; of a third one it is twice as much, and so on.
ROOT_PRICE, HIGHEST_ROOT = 10.0, 4
FORM_PRICE = 8.0  # score of a form: one out of fifty
FUNCTION_PRICE = 25.0  # score per function used; half: the same; twice: 28, 5
LEAST_EXPLAINED = 0.5  # share of the target's variance, of a law found or checked
# Rows per column for which a product may leave everything unexplained (with fewer, their number to
# the power 3/2; a sum of k terms a k-th part): more refuse more claims of few rows, but also one
# column of ten with 20 % unexplained on 200 rows, which scikit-learn's checks ask for. Of 14 wrong
# claims on 30 rows 8 left more, and 4 of 94 right ones.
ROWS_PER_UNEXPLAINED = 105.0
ROWS_PER_UNEXPLAINED_SUM = 160.0  # likewise, in proportion, of sums of all columns
# Share of the target's variance that a law may leave for no other to be looked for: noise of 20 %.
LITTLE_LEFT = 0.04
# Share of rows at an end of a column that are held out, and how unlikely their squares are where a
# law fails there. Of 100 laws found on 30 to 300 rows none was below .002, of 30 wrong ones half.
AN_END, FAILS = 0.2, 3e-4
# A row is close to a law within this share of the error of most rows. Of uniform noise so many rows
# are, of normal noise 13 %; of two laws that are mixed, nearly none.
CLOSE, SHARE_CLOSE = 0.25, 0.125
CANCELS = 10.0  # how many times larger than the target terms with functions may be
# Probability by which straight lines between the few rows of one column leave less than a law does
# by chance. Of 240 tables of 16 to 45 rows of smooth functions without law, 45 were claimed without
# this test.
BETWEEN = 0.01
ALIKE = 4.5  # deviations by which residuals of neighbours are alike by chance
# Likewise of rows that follow one another: these are counted as fewer then, and not refused.
ALIKE_IN_ORDER = 3.0
LEAST_FREEDOM = 0.01  # of a row that alone decides what a law says of it
ROWS_PER_TERM = 5.0  # per coefficient to be fitted: fewer would fit anything
# Likewise of three coefficients and more, with noise: on 30 rows three terms of 250 fit most smooth
# functions of two columns to a few per cent.
ROWS_PER_NOISY_TERM = 12.0
FEW_ROWS = 30  # on fewer, nothing is said about what a law leaves over
# Half: 31, 6; twice: 28, 1. Of sums of terms on FEW_ROWS twice as much is asked: of 550 tables of
# 30 rows 9 claims were wrong, 5 of them with less.
EVIDENCE = 10.0  # least distance in score to the best law that is really different
# With which a law of powers of several variables may have one term more; with 40 a formula of the
# Feynman set has a wrong law of six terms at noise .001.
STRONG_EVIDENCE = 100.0
# Share of the target: where smooth deviations of this size would not show, a law may be an
# approximation, however few its terms. Feynman's tables at noise .01 have half of it.
UNSEEN = 0.002
# Evidence of a law of many rows, among all that the likeliest variables say, beyond which no others
# are looked at: time. Of 100 tables of the Feynman set at noise .1, 8 had such a law that leaves
# more than a little, and others told against one of them, which had 16.
UNRIVALLED = 20.0
ENOUGH = 200.0  # evidence beyond which no further explanation is looked for: time alone
SAME = 1e-7  # singular value of terms that have a law in common

# -- Laws without a target, or with noise in all columns ------------------------------------------
LARGEST_NOISE = 0.15  # relative to the spread of columns: beyond it nothing can be told
UNRELATED = 0.25  # share of a column's variance that a surrogate may leave for it to be searched
SPECTRUM_GAP = 10.0  # times the least ratio: where half of all are below, columns are only related
RATIO, RATIO_ESTIMATED = 1.2, 2.5  # of error to noise, that a degree may leave; noise estimated
CHECKED = 400  # candidates that are looked at closely: time
FOLLOWS_NOISY = 3e-3  # as SAME, of laws whose coefficients have errors
FOLLOWS_IN_TURN = 0.02  # as SAME, of laws that were found for one column each
TURNS = 0.1  # share of rows on either side of a surface that turns around: a conic, no function

# -- Groups ---------------------------------------------------------------------------------------
SEARCHED_GROUPS = 3  # the largest, until one has a law: time
ROWS_OF_GROUP = 100  # with fewer in the largest group, all rows are searched, too
FORMS_OF_GROUPS = 6  # forms that are fitted to all groups, of those that come near in each: time
NAMED_GROUPS = 4  # laws in a verdict; more are counted
SHARING_STEPS = 50  # of a fit that says whether a constant may be shared: time
DIFFERENT = 0.01  # p-value of constants that differ between groups, all of them together
UNEQUAL_GROUPS = 1e-3  # p-value of noise that differs between groups

# -- check_law ------------------------------------------------------------------------------------
SIGNIFICANT = 1e-3  # p-value of a column that is named as explaining residuals
TESTED_ROWS = 20_000  # of the test of what is left over: time
WRONG_BRANCH = 0.25  # share of rows where a root would be negative
CHECKED_GAIN = 6.0  # twice the log-likelihood from which on noise is unequal: chance in 1 of 100
UNEQUAL_ROBUST_GAIN = 20.0  # likewise where rows may be wrong, and are as far as noise may be
FOLLOWING_ROWS = 100  # fewer are followed by a smooth function even where they are wrong
DRAWS = 6  # of so few rows that all may be right: time
SINGULAR = 1e-7  # smallest singular value of a Jacobian, of constants that are not settled
START_ROWS = 300  # on which starts are compared: time
MAX_STARTS = 600  # time against constants that are found only from near
FOLLOWED_STARTS, FIRST_STEPS = 16, 25  # the best ones, and steps from each on these rows
AGREEING_STARTS = 3  # that lead to the same least squares: no more are followed
REFINED_STARTS = 2  # that are followed to their end on all rows
DECISIVE = 0.3  # of the largest target: rows that decide where it spans decades
# Starts relative to a constant's typical size: of any constant, of a phase, of a frequency.
START_FACTORS = (1.0, -1.0, 3.0, 0.3, 10.0, 0.1, -3.0, -0.3, 30.0, -10.0, 100.0, 0.01)
MORE_FACTORS = (1.0, 0.3, 3.0)  # of other sizes that a constant may have
START_QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)  # of a column, for constants of its size
START_PHASES = (0.5, 2.1, 3.7, 5.3)
START_FREQUENCIES = tuple(0.5 * i for i in range(1, 101))
