"""The audit log: each change writes its event in its own transaction.

`restrict_to_readable` and `to_json` hide from non-admins what they may not read.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import msgspec

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.repository.system import events
from sigservice.repository.system.events import EventFilter
from sigservice.services.identity import ADMIN, Cause, Identity

# Families of event types (their first words) that all users may read: flags and their parts. Only
# admins read the others (tokens, users, action sets, signals) and families that aren't listed yet.
OPEN_FAMILIES = (
    "context", "default", "environment", "feature", "features", "project", "release", "safeguard",
    "segment", "strategy", "tag",
)  # fmt: skip


# Events with the reason of a change of a flag, beside the event of the change.
RELEASE_EVENTS = ("release-", "safeguard-")
RUN_EVENTS = ("action-run-",)
RULE_EVENTS = ("alert-rule-firing", "alert-rule-resolved", "alert-rule-unknown")


class FlagEventNote(NamedTuple):
    """A note on the connection for each event of a flag; the metric of flag changes counts them."""

    event: str
    feature: str
    project: str | None
    environment: str | None


class Event(NamedTuple):
    """`item` is {project, environment, feature_name, data, pre_data}; absent members are null. `id`
    was reserved with the run. `cause_of` is the cause of other events of the batch. An integration
    that gets all types of a tuple of `covered_by` doesn't get this event: they say the same."""

    type: str
    by: Identity
    item: Mapping[str, Any]
    id: int | None = None
    covered_by: Sequence[tuple[str, ...]] = ()
    cause_of: Cause | None = None


def record(
    conn: Connection,
    type: str,
    by: Identity,
    *,
    data: Mapping[str, Any] | None = None,
    pre_data: Mapping[str, Any] | None = None,
    project: str | None = None,
    environment: str | None = None,
    feature_name: str | None = None,
) -> None:
    """`data` is the new state, `pre_data` the old one, both without secrets. If a run or a release
    made the change, `data` contains its `cause`."""
    item = {
        "data": data,
        "pre_data": pre_data,
        "project": project,
        "environment": environment,
        "feature_name": feature_name,
    }
    record_all(conn, [Event(type, by, item)])


def record_many(
    conn: Connection, type: str, by: Identity, items: Sequence[Mapping[str, Any]]
) -> None:
    """One event for each item {project, environment, feature_name, data, pre_data}."""
    record_all(conn, [Event(type, by, item) for item in items])


@contextmanager
def collect(conn: Connection) -> Iterator[list[Event]]:
    """The events that the block records, which it doesn't store. A savepoint that is rolled back
    drops its own."""
    batch: list[Event] = []
    outer, conn.events = conn.events, batch
    try:
        yield batch
    finally:
        conn.events = outer


def record_all(conn: Connection, batch: Sequence[Event]) -> None:
    """Records events of any types and actors in one statement, in their order."""
    if conn.events is not None:
        conn.events += batch
    else:
        store_all(conn, batch)


def store_all(conn: Connection, batch: Sequence[Event]) -> None:
    """Like `record_all`, also of events that are collected."""
    if not batch:
        return
    conn.notes += [
        FlagEventNote(type, item["feature_name"], item.get("project"), item.get("environment"))
        for type, _, item, *_ in batch
        if item.get("feature_name") and not type.startswith((*RELEASE_EVENTS, *RUN_EVENTS))
    ]
    positions = {id(event.cause_of): n for n, event in enumerate(batch, 1) if event.cause_of}
    rows = [
        {
            **event.item,
            "id": event.id,
            "type": event.type,
            "created_by": event.by.username,
            "created_by_user_id": event.by.user_id,
            "ip": event.by.ip or None,
            "data": _add_cause(event.item.get("data"), event.by),
            "covered_by": [*event.covered_by, *_list_causes(event.by.cause)],
            "cause_position": positions.get(id(event.by.cause)),
        }
        for event in batch
    ]
    events.insert_many(conn, msgspec.json.encode(rows).decode())


def _add_cause(data: Mapping[str, Any] | None, by: Identity) -> Mapping[str, Any] | None:
    if by.reason:
        data = {**(data or {}), "reason": by.reason}
    if by.apply is not None:
        data = {**(data or {}), "apply": by.apply}
    if by.action_run is not None:
        data = {**(data or {}), "actionRun": by.action_run}
    if by.cause is not None:
        type = by.cause.types[0] if len(by.cause.types) == 1 else None
        data = {**(data or {}), "cause": {"eventId": by.cause.event_id, "type": type}}
    return data


def _list_causes(cause: Cause | None) -> list[tuple[str, ...]]:
    return [] if cause is None else [cause.types, *_list_causes(cause.parent)]


def restrict_to_readable(identity: Identity, event_filter: EventFilter) -> EventFilter:
    """The filter, limited to what `identity` may read; counts and searches use it too."""
    if identity.has_permission(ADMIN):
        return event_filter
    return replace(event_filter, families=list(OPEN_FAMILIES), projects_only=True)


def list_readable_types(conn: Connection, identity: Identity) -> list[str]:
    """The types of stored events that `identity` may read."""
    families = restrict_to_readable(identity, EventFilter()).families
    types = events.list_types(conn)
    return [type for type in types if families is None or type.partition("-")[0] in families]


@dataclass(frozen=True)
class EventPage:
    """`next_before` is the `before` of the next older page, None on the last one.

    `searched_to_end` is false if a search stopped before the oldest event. The filter is limited to
    the part of the log that was searched; totals use it.
    """

    rows: list[Row]
    next_before: int | None
    searched_to_end: bool
    event_filter: EventFilter


def list_page(
    conn: Connection,
    event_filter: EventFilter,
    *,
    limit: int,
    before: int | None = None,
    offset: int = 0,
    max_bytes: int = events.PAGE_BYTES,
) -> EventPage:
    """The newest events that match: at most `limit`, and one more than fits into `max_bytes` of
    data.

    A search for a text covers the newest 10 000 events below `before` that match the other filters,
    or 16 MB of stored data; the next page continues from there.
    """
    has_more = False
    if event_filter.text:
        oldest_id, newest_id, has_more = events.find_search_window(
            conn, event_filter, before=before
        )
        event_filter = replace(event_filter, oldest_id=oldest_id, newest_id=newest_id)
    rows = events.list_newest(
        conn, event_filter, limit=limit + 1, before=before, offset=offset, max_bytes=max_bytes
    )
    if len(rows) > limit or events.is_truncated(rows, max_bytes):
        rows = rows[:limit]
        return EventPage(rows, rows[-1]["id"], True, event_filter)
    next_before = event_filter.oldest_id if has_more else None
    return EventPage(rows, next_before, not has_more, event_filter)


def to_json(row: Row, identity: Identity) -> dict[str, Any]:
    """An event of the API; only admins get IP addresses."""
    return {
        "id": row["id"],
        "createdAt": format_iso(row["created_at"]),
        "type": row["type"],
        "createdBy": row["created_by"],
        "createdByUserId": row["created_by_user_id"],
        "ip": row["ip"] if identity.has_permission(ADMIN) else None,
        "project": row["project"],
        "environment": row["environment"],
        "featureName": row["feature_name"],
        "data": _wrap_json(row["data"]),
        "preData": _wrap_json(row["pre_data"]),
        "tags": msgspec.Raw(row["tags"].encode()),
    }


def _wrap_json(text: str | None) -> msgspec.Raw | None:
    return None if text is None else msgspec.Raw(text.encode())
