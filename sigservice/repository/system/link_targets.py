"""The objects that pages link: one function for each SQL statement."""

from collections.abc import Iterable

import msgspec

from sigservice.db import Connection, fetch_all, queries

_SQL = queries.load("system/link_targets")
# A kind of the statement, and the name or ID; for a signal `endpoint/signal`.
Target = tuple[str, str]


def list_existing(conn: Connection, targets: Iterable[Target]) -> set[Target]:
    """Those that exist."""
    items = [{"kind": kind, "key": key} for kind, key in set(targets)]
    if not items:
        return set()
    text = msgspec.json.encode(items).decode()
    rows = fetch_all(conn, _SQL["list_existing_targets"], targets=text)
    return {(row["kind"], row["key"]) for row in rows}
