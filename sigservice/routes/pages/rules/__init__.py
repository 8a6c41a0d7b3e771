"""Alert rules and metric sources."""
