"""The numbers that bound the app; they keep one page from taking the whole machine."""

# Of an upload; a table of 1,000,000 x 20 cells as text is 150 to 400 MB.
UPLOAD_BYTES = 1_000_000_000
# Of what an upload unpacks to: a small archive may hold a very large table.
UNPACKED_BYTES = 4_000_000_000
# Of cells that are pasted.
PASTED_BYTES = 20_000_000
# Of a request that is no table.
REQUEST_BYTES = 1_000_000
# Of a table.
ROWS = 5_000_000
COLUMNS = 2_000
CELLS = 100_000_000
# Seconds of one computation.
SECONDS = 900.0
# Bytes that a computation may take beyond those of the process at rest.
MEMORY = 8_000_000_000
# Pages at a time; the one that was silent for longest makes room for another.
SESSIONS = 16
# Minutes without a word after which a page counts as gone; each minute it says that it is there.
SILENT = 60
# Tables, and answers, that a page keeps; the oldest make room.
KEPT = 12
# Seconds between signs of life while something is computed.
HEARTBEAT = 1.0
