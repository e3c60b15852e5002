"""What a fitted model consists of, for everyone who shows it."""
