"""Programs that are checked and run by tests, and are no tests themselves."""

collect_ignore = ["typed"]
