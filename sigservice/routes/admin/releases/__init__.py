"""Releases, their templates and the freeze."""
