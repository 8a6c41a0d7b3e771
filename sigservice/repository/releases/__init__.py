"""Releases and their guards: one function for each SQL statement."""
