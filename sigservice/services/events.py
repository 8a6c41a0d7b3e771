"""The audit log: every change records itself here, in its own transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sigservice.db.pool import Connection
from sigservice.repository import events
from sigservice.services.identity import Identity


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


def record_all(
    conn: Connection, type: str, by: Identity, changes: Sequence[Mapping[str, Any]]
) -> None:
    """Many of one type; a change has `project`, `environment`, `feature_name`, `data` and
    `pre_data`, as `record` takes them, each where there is one."""
    if changes:
        events.insert_many(
            conn,
            type=type,
            created_by=by.username,
            created_by_user_id=by.user_id,
            ip=by.ip or None,
            events=msgspec.json.encode(changes).decode(),
        )


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()
