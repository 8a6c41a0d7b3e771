"""Action sets, filters, evaluation, runs, undo and auto-revert and templates."""
