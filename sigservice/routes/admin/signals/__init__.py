"""Signal endpoints, their tokens, signals, dead letters."""
