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
