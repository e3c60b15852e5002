"""Which rules should a database check? Laws and ranges of a table as checks of single rows."""
