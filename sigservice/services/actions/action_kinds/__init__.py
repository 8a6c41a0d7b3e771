"""The kinds of actions: one file each, and one row in table.py."""
