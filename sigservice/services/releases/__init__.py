"""Releases: plans, guards, decisions, commands, events, templates."""
