"""The audit log: every change records itself here, in its own transaction.

Not everybody may read all of it: see `readable_by` and `to_json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec

from sigservice.clock import iso
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.repository.system import events
from sigservice.repository.system.events import Filter
from sigservice.services.identity import ADMIN, Identity

# Families of types (their first words) that need VIEW only: flags and what they are made of. Those
# of tokens, users, action sets and signals are for admins; so is a new one until it is listed.
OPEN_FAMILIES = (
    "context", "default", "environment", "feature", "features", "project", "segment", "strategy",
    "tag",
)  # fmt: skip


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
    """The event's id. `data` is the new state, `pre_data` the old one; never a secret. What an
    action set does has its run in `data` too."""
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
        data=_json(_with_run(data, by)),
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
            items=msgspec.json.encode(
                [{**item, "data": _with_run(item.get("data"), by)} for item in items]
            ).decode(),
        )


def _with_run(data: Mapping[str, Any] | None, by: Identity) -> Mapping[str, Any] | None:
    return data if by.action_run is None else {**(data or {}), "actionRun": by.action_run}


def readable_by(identity: Identity, wanted: Filter) -> Filter:
    """`wanted`, narrowed to what `identity` may read; counts and searches see no other events."""
    if identity.may(ADMIN):
        return wanted
    return replace(wanted, families=list(OPEN_FAMILIES), projects_only=True)


def to_json(row: Row, identity: Identity) -> dict[str, Any]:
    """An event on the wire; addresses are for admins."""
    return {
        "id": row["id"],
        "createdAt": iso(row["created_at"]),
        "type": row["type"],
        "createdBy": row["created_by"],
        "createdByUserId": row["created_by_user_id"],
        "ip": row["ip"] if identity.may(ADMIN) else None,
        "project": row["project"],
        "environment": row["environment"],
        "featureName": row["feature_name"],
        "data": _raw(row["data"]),
        "preData": _raw(row["pre_data"]),
        "tags": [],
    }


def _raw(text: str | None) -> msgspec.Raw | None:
    return None if text is None else msgspec.Raw(text.encode())


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()
