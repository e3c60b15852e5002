"""The numbers that decide results: what each trades, and what was measured.

Where no other measurement is named they were chosen together, by errors and seconds of the tuned
classifier on fourteen data sets: benchmarks/README.md, "Classification". Work is the number of
entries that one pass of the linear SVMs over the features of a fold reads: counts decide, never
clocks. What only says how the SVM gets to its solution stands beside its steps: the duality gap
judges that.
"""

# -- What a search tries --------------------------------------------------------------------------

PSIS = (  # for OAVI: the paper's grid, and on; a smaller psi has more generators, and overfits
    *(0.1, 0.05, 0.01, 0.005, 1e-3, 5e-4, 1e-4, 5e-5),
    *(1e-5, 5e-6, 1e-6, 5e-7, 1e-7, 5e-8, 1e-8),
)
CONTRASTIVE_PSIS = (0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)  # in larger steps
DEGREES = (1, 2, 3, 4, 6, 8)  # of contrastive generators: more terms, which need more rows
N_KNOTS = 16  # of a column: 8 and 32 were no better
N_LEVELS = 6  # of a plane: 12 were no better
N_PAIR_KNOTS, MOST_PAIRS = 8, 8  # of a column, and pairs: 3 for all were worse on 3 tables of 4
MOST_QUANTILES = 100  # of a column, for scale="quantile": 1000 were no better on spam
SLACKS = (0.1, 0.3, 1.0)  # of quotients, for generators with fewer terms
ROWS_PER_TERM = 5  # with fewer, polynomials tell classes apart by chance
ORACLES = ("pcg", "omp")  # the default, and greedy least squares: fewer terms in a generator
CS = (0.1, 1.0, 10.0)  # the paper's
CS_BETWEEN = (0.03, 0.3, 3.0, 30.0)  # tried next to the best: three are coarse for spam

# -- When a search takes another choice, or stops -------------------------------------------------

FEW_MISTAKES = 10  # on held-out rows: with fewer, nothing else can be told from chance
SURE = 1.0  # standard errors by which another choice has to be better: fewer follow chance
MORE_MISTAKES = 0.03  # share by which a simpler choice may make more, so that none is added to few
MORE_LOSS = 0.02  # share by which the log-loss of a simpler choice may be larger, within its error
FEWER = (0.7, 0.85)  # of the equations, in a step of backward elimination
BEHIND = 2.0  # standard errors from which on no variant of a choice, and no costly psi, is tried
PATIENCE = 2  # psi or degrees without gain before the next are left alone

# -- How much work a search does ------------------------------------------------------------------

MOST_SAMPLED = 60_000  # rows of more that a search, and quantiles, look at
RARE_ROWS = 300  # of a class at least, of such a sample: a hundred in a fold of three
MOST_ROWS = 5_000  # training rows of a fold, as 20,000 were no better; the best is fitted to all
KEPT_SCORES = 5000  # decision values of a fold that a temperature is learned from
MOST_WORK = 8e7  # for the next psi: digits spent most of 66 to 127 s on two psi that rarely win
MOST_SIMPLIFIED_WORK = 3e6  # of what is looked at with slack and smaller C
MOST_WORK_WITHOUT_GAIN = 3e5  # beyond: one psi of a choice unless it gains, and no slack
MOST_BENT_WORK = 3e6  # beyond: knots of one kind only where those of another gained
MOST_SCREENED_WORK = 2e7  # where scalings, oracles and degrees are compared
LARGEST_GROWTH = 2.0  # of the number of generators from one psi to the next, when work is foreseen
MOST_PRODUCTS = 2e9  # multiplications for the moments of a degree and their eigenvectors

# -- Probabilities (benchmarks/studies/probabilities.py: log-loss as of three folds, or lower) ----

COLDEST, HOTTEST = 1e-3, 1e3  # temperatures: in units of the margin, which the SVM wants to be 1
LARGEST_LEVERAGE = 0.95  # of a row on its own decision value: near 1 a Newton step says too much
LARGEST_SLACK = 2.0  # of a row left out: as far on the wrong side as it should be on the right

ROWS_PER_BIN, MOST_BINS = 30, 10  # of a reliability diagram: shares are good to a tenth or better

# -- The error of what was chosen: draws, by the number of scores that each looks at -------------

DRAWS = (50, 200)
DRAWN_SCORES = 4e8

MOST_PATTERNS = 20  # of gaps in several columns that have a classifier of their own

# -- Rows far outside (of 100 ordinary splits each of 13 data sets 4 would warn, all of one set) --

FAR = 0.5  # how far beyond the range of a column in training, relative to it, is far outside
ORDINARY = 0.02  # share of such rows without a warning: tails are long
