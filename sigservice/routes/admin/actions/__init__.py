"""Action sets, filters, evaluation, runs, undo and auto-revert, templates, notifications."""
