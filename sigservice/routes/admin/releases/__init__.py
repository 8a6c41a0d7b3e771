"""Releases, their step patterns and the emergency."""
