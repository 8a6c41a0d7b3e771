"""Releases and the emergency."""
