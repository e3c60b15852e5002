"""The numbers that decide what a table is taken for: rules of thumb, none of them measured."""

# Lines that are looked at to find the names; with more, longer titles are recognised.
HEADER_LINES = 50
# Different texts of a column that may become columns of 0 and 1; more leave few rows for each.
MAX_CATEGORIES = 50
# Different units of a column that an error lists; with more, the column is called text.
MAX_UNITS = 5
# Rows from which on different whole numbers look like an identifier; in fewer they may be chance.
IDENTIFIER_ROWS = 10
