"""Numbers that decide which rules are made, and what each trades."""

# A rule that held in all rows by accident: the chance of that, over all rules of its kind together.
# Smaller asks for more rows before a sign, an order or a code is claimed.
BY_ACCIDENT = 1e-3
# Rows within the first number of robust standard deviations of a law's residuals are right rows,
# and those beyond the second are wrong ones. Between, a row is right as long as the tail of nearer
# ones reaches it, if at most a share of the rows is there: Student's t with four degrees of freedom
# has one in 200 there, wrong rows may be more.
WRONG = (5.0, 10.0)
MOST_BEYOND = 0.02
# A law that more than this share of the rows breaks makes no rule.
MOST_WRONG = 0.2
# Largest tolerance of a law, in standard deviations of its column. A looser one checks nothing that
# the range of the column does not.
LOOSEST = 1.0
# The share of the rows that a tail is fitted to, and the fewest and most of them.
TAIL, FEWEST_IN_TAIL, MOST_IN_TAIL = 0.1, 10, 1000
# Fewest rows that a range is made from.
FEWEST_ROWS = 30
# Most codes of a column. Longer lists are no rules that people read.
MOST_CODES = 50
# How many times smaller the error of one law has to be than that of another about the same columns,
# or of the plane through them, to take its place.
BETTER = 3.0
# Error of a law, relative to the spread of its column, from which on one about more columns that is
# BETTER takes its place.
ROUGH = 0.02
# Correlation from which on a product of two columns is looked at as a law of a third one.
ALIKE = 0.98
# How much of the size of a law's residual may come from leaving digits of its numbers out.
ROUNDING = 0.1
