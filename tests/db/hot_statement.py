"""A hot statement of a test's own."""

from __future__ import annotations

from sigservice.db.queries import Statement


def make_hot(text: str) -> Statement:
    statement = Statement(text)
    statement.store, statement.action, statement.is_hot = "tests", "hot", True
    return statement
