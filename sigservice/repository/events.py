"""The audit log: one function for each statement of sql/queries/events.sql."""

from __future__ import annotations

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.run import Row, affected, many, value

_SQL = queries.load("events")


def insert(
    conn: Connection,
    *,
    type: str,
    created_by: str,
    created_by_user_id: int | None,
    ip: str | None = None,
    project: str | None = None,
    environment: str | None = None,
    feature_name: str | None = None,
    data: str | None = None,
    pre_data: str | None = None,
) -> int:
    """`data` and `pre_data` are JSON text."""
    return int(
        value(
            conn,
            _SQL["insert_event"],
            type=type,
            created_by=created_by,
            created_by_user_id=created_by_user_id,
            ip=ip,
            project=project,
            environment=environment,
            feature_name=feature_name,
            data=data,
            pre_data=pre_data,
        )
    )


def insert_many(
    conn: Connection,
    *,
    type: str,
    created_by: str,
    created_by_user_id: int | None,
    ip: str | None,
    items: str,
) -> None:
    """`items` is a JSON array of {project, environment, feature_name, data, pre_data}."""
    affected(
        conn,
        _SQL["insert_events"],
        type=type,
        created_by=created_by,
        created_by_user_id=created_by_user_id,
        ip=ip,
        items=items,
    )


def list_newest(
    conn: Connection, *, type: str | None, before: int | None, limit: int, offset: int = 0
) -> list[Row]:
    return many(conn, _SQL["list_events"], type=type, before=before, limit=limit, offset=offset)


def list_of_feature(
    conn: Connection,
    feature: str,
    *,
    limit: int,
    type: str | None = None,
    before: int | None = None,
) -> list[Row]:
    """Newest first."""
    return many(
        conn,
        _SQL["list_events_of_feature"],
        feature=feature,
        type=type,
        before=before,
        limit=limit,
    )


def count(conn: Connection, *, type: str | None) -> int:
    return int(value(conn, _SQL["count_events"], type=type))


def list_types(conn: Connection) -> list[str]:
    return [row["type"] for row in many(conn, _SQL["list_event_types"])]


def fill_created_by(conn: Connection, *, system_id: int, token_id: int) -> int:
    """One batch of at most 100; returns how many."""
    return affected(conn, _SQL["fill_created_by"], system_id=system_id, token_id=token_id)
