"""The numbers that decide what inspection says and shows: what each trades.

None was measured against others but where that is said.
"""

# -- Laws on rows ---------------------------------------------------------------------------------

EXACT = 1e-11  # error relative to the size of the target that counts as rounding
LEAST_ROWS = 5  # fewer tell nothing of what a law leaves unexplained
TESTED_ROWS = 4000  # on which smooth functions are fitted: time
COMPARED_ROWS = 1000  # on which columns to predict are compared: time
FLIPS = 500  # random signs of residuals; the quantile below rests on the five largest
CHANCE = 0.99  # quantile of what chance alone reaches: alarms against misses
FAR = 5.0  # quartile distances that a picture shows, 6.7 standard deviations of normal noise

# -- What decides ---------------------------------------------------------------------------------

PAIRS = (200, 2000)  # least and most pairs of rows that exchange a value: accuracy against time
WORK = 3e9  # multiplications for all columns together, which choose the number of pairs
FEATURE_ROWS = 20_000  # on which features are compared: time
SHRINKAGE = 0.8  # of the equations are left at the next fresh inverse: rounding against time

# -- What is shown --------------------------------------------------------------------------------

EXPLAINED = 1000  # alarms whose columns are counted, the oddest ones: time
EQUATIONS = 10  # of a notebook's table
TERMS = 14  # of an equation, on its right side
DIGITS = 4
CHARACTERS = 300  # of an equation that was compared

# -- Curves ---------------------------------------------------------------------------------------
CURVE_POINTS = 200  # of a line: more are not seen
DECADES = 1.5  # that a positive variable spans for a logarithmic axis
