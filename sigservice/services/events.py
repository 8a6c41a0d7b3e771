"""The audit log: every change records itself here, in its own transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from sigservice.db.pool import Connection
from sigservice.repository import events
from sigservice.services.identity import Identity


class Change(NamedTuple):
    """What an event says of a flag: a note at the connection for whoever counts changes."""

    event: str
    feature: str
    project: str | None
    environment: str | None


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
) -> int:
    """The event's id. `data` is the new state, `pre_data` the old one; never a secret."""
    if feature_name:
        conn.notes.append(Change(type, feature_name, project, environment))
    return events.insert(
        conn,
        type=type,
        created_by=by.username,
        created_by_user_id=by.user_id,
        ip=by.ip or None,
        project=project,
        environment=environment,
        feature_name=feature_name,
        data=_json(data),
        pre_data=_json(pre_data),
    )


def record_many(
    conn: Connection, type: str, by: Identity, items: Sequence[Mapping[str, Any]]
) -> None:
    """One event for each item {project, environment, feature_name, data, pre_data}."""
    if items:
        conn.notes += [
            Change(type, item["feature_name"], item.get("project"), item.get("environment"))
            for item in items
            if item.get("feature_name")
        ]
        events.insert_many(
            conn,
            type=type,
            created_by=by.username,
            created_by_user_id=by.user_id,
            ip=by.ip or None,
            items=msgspec.json.encode(items).decode(),
        )


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()
