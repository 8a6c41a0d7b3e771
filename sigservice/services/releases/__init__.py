"""Releases: plans, guards, decisions, commands, events, step patterns."""
