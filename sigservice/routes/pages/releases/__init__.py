"""Releases and the freeze."""
