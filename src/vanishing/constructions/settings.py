"""The numbers that decide results: what each trades, and what was measured.

Guards against rounding and overflow stand beside the code they guard; most follow from the errors
that `certificate` bounds.
"""

# Coefficients in closed form from moments err by about eps times the largest ratio of a term's mean
# square to what of it the terms before leave over. Up to this ratio they are good for 1e-8; beyond
# it the rows decide, which costs a pass.
MAX_INFLATION = 1e6

# On wide data a degree has more terms than anyone can use. The default search, which goes on as
# long as there is a border, leaves one alone that has more terms than both of these allow: 500
# columns have 125,000 products. Smaller ones would end fits that are worth their time.
WIDE_BORDER = 20_000
WIDE_BORDER_PER_ROW = 20
OPEN_ENDED = 10  # max_degree, the default: a smaller one says which degrees are wanted

STANDARD_ERRORS = 3.0  # within which a debiased mean square is zero: fewer laws, or more artefacts
NO_NOISE = 1e-4  # what columns without noise count for, next to the noisiest: they have laws, too
EVEN_SHARE = 0.4999  # of the class in a contrast: from one half on it does not tell classes apart

# Share of a generator's squared gradient, over all rows, that earlier ones' leave over: with less
# it is redundant. Noise turns gradients by about its size next to that of the shape, and those of
# high degrees by more.
REDUNDANT = 0.01

# Degrees of freedom. A generator is an equation of the rows if it has so many rows per term, and
# rows are nearer to its zeros than this share of what rows without equation are.
ROWS_PER_TERM = 2
NEAR = 0.1
NOISE_RATIO = 5.0  # how much further off than the nearest equation another may be
ROUNDING = 1e-6  # distance from zeros that rounding makes, in standard deviations of the rows
INDEPENDENT = 5.0  # singular values of gradients, in units of the noise, that count as a rank
SHARE_OF_ROWS = 0.1  # a part of a variety with fewer rows has no dimension of its own
BELOW_PSI = 0.3  # share of psi that mean squares of equations may have where all are seen
