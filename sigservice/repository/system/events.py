"""The audit log: one function for each SQL statement.

A page of events ends early when their data exceeds its maximum; see is_truncated.
"""

import re
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sigservice.db import Connection, Row, execute, fetch_all, fetch_row, fetch_value, queries

_SQL = queries.load("system/events")
PAGE_BYTES = 8_000_000
SEARCH_ROWS = 10_000
SEARCH_BYTES = 16_000_000  # as stored: large data is compressed
_ID = re.compile(r"-?[0-9]{1,9}")


@dataclass(frozen=True)
class EventFilter:
    """The filters of a list of events; None means any. `start` is inclusive, `end` exclusive.
    `authors` are names or IDs, `families` the first words of event types; `projects_only` excludes
    events without a project or flag. `oldest_id` and `newest_id` are inclusive."""

    types: list[str] | None = None
    features: list[str] | None = None
    projects: list[str] | None = None
    environments: list[str] | None = None
    authors: list[str] | None = None
    start: datetime | None = None
    end: datetime | None = None
    text: str | None = None
    families: list[str] | None = None
    projects_only: bool = False
    oldest_id: int | None = None
    newest_id: int | None = None

    def to_parameters(self) -> dict[str, Any]:
        ids = [int(author) for author in self.authors or [] if _ID.fullmatch(author)]
        return asdict(self) | {"author_ids": ids}


def insert_many(conn: Connection, items: str) -> None:
    """`items` is a JSON array of the columns, in the order of the events."""
    execute(conn, _SQL["insert_events"], items=items)


def list_newest(
    conn: Connection,
    event_filter: EventFilter,
    *,
    limit: int,
    before: int | None = None,
    offset: int = 0,
    max_bytes: int = PAGE_BYTES,
) -> list[Row]:
    page = {"before": before, "limit": limit, "offset": offset, "page_bytes": max_bytes}
    return fetch_all(conn, _SQL["list_events"], **page, **event_filter.to_parameters())


def is_truncated(rows: list[Row], max_bytes: int) -> bool:
    """Whether a page of `list_newest` ended early."""
    return bool(rows) and rows[-1]["bytes"] >= max_bytes


def count(conn: Connection, event_filter: EventFilter) -> int:
    """At most 10,000."""
    return int(fetch_value(conn, _SQL["count_events"], **event_filter.to_parameters()))


def find_search_window(
    conn: Connection, event_filter: EventFilter, *, before: int | None
) -> tuple[int, int, bool]:
    """The oldest and the newest ID that one search covers, 0 if there are no events, and whether
    older events may exist."""
    row = fetch_row(
        conn,
        _SQL["find_search_window"],
        before=before,
        window_rows=SEARCH_ROWS,
        window_bytes=SEARCH_BYTES,
        **event_filter.to_parameters(),
    )
    return row["oldest_id"], row["newest_id"], row["has_more"]


def list_types(conn: Connection) -> list[str]:
    return [row["type"] for row in fetch_all(conn, _SQL["list_event_types"])]


def fill_created_by(conn: Connection, *, system_id: int, token_id: int) -> int:
    """Fills a batch of up to 100 events; returns how many."""
    return execute(conn, _SQL["fill_created_by"], system_id=system_id, token_id=token_id)


def lock_old(conn: Connection, *, days: int, chunk: int) -> list[int]:
    """IDs of events to delete, which stay locked until the end of the transaction. Skips those that
    another process has locked."""
    return [row["id"] for row in fetch_all(conn, _SQL["lock_old_events"], days=days, chunk=chunk)]


def list_by_ids(conn: Connection, ids: list[int]) -> list[Row]:
    return fetch_all(conn, _SQL["list_events_by_id"], ids=ids)


def delete_by_ids(conn: Connection, ids: list[int]) -> int:
    return execute(conn, _SQL["delete_events"], ids=ids)
