"""Releases, their step patterns and the freeze."""
