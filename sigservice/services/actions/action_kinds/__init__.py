"""The kinds of actions. table.py has them by name; application/build.py adds those of releases."""
