"""Alert rules."""
