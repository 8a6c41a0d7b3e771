"""Names that the search of the pages finds."""

from collections.abc import Sequence

from sigservice.db import Connection, Row, build_like_pattern, fetch_all, queries

_SQL = queries.load("system/search")


def find_names(conn: Connection, words: Sequence[str], *, endpoints: bool, limit: int) -> list[Row]:
    """{kind, name, id} of flags, projects and segments, and of signal endpoints and action sets
    if `endpoints`, whose names contain all words: at most `limit` of each kind."""
    patterns = [build_like_pattern(word) for word in words]
    return fetch_all(conn, _SQL["find_names"], words=patterns, endpoints=endpoints, limit=limit)
