"""Numbers that decide how questions are asked, and what was measured."""

# Bytes of a file, as if it were plain text, from which on its rows are written to a temporary file
# of numbers instead of being held in memory. A table of 64 MB is 8,000,000 cells: 200 MB in memory
# with what reading takes, and as much is left to the fit on the smallest machines.
LARGE = 64_000_000
# How many times as large a compressed file, or a Parquet file, is as text.
PACKED = 5
# Rows from which the kinds of the columns of a large table are known.
FIRST_ROWS = 50_000
# Numbers of a large table that are in memory at a time while its rows are read again: 8 MB.
BLOCK = 1_000_000
# Rows of a large table that a report and a picture take, evenly spread.
SHOWN_ROWS = 100_000
