"""Integrations and their deliveries: one function for each SQL statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import (
    Row,
    execute,
    fetch_all,
    fetch_one,
    fetch_value,
)

_SQL = queries.load("integrations/integrations")


def lock(conn: Connection) -> None:
    execute(conn, _SQL["lock_integrations"])


def list_all(conn: Connection) -> list[Row]:
    """By ID, with `waiting`, `last_sent_at` and `last_error`; `secrets` are encrypted."""
    return fetch_all(conn, _SQL["list_integrations"], id=None)


def find(conn: Connection, id: int) -> Row | None:
    return fetch_one(conn, _SQL["list_integrations"], id=id)


def insert(conn: Connection, values: dict[str, Any]) -> int:
    return int(fetch_value(conn, _SQL["insert_integration"], **values))


def update(conn: Connection, id: int, values: dict[str, Any]) -> None:
    execute(conn, _SQL["update_integration"], id=id, **values)


def update_secrets(conn: Connection, rows: Sequence[Row]) -> None:
    """Of rows with changed `secrets`."""
    ids, secrets = [row["id"] for row in rows], [row["secrets"] for row in rows]
    execute(conn, _SQL["update_secrets"], ids=ids, secrets=secrets)


def disable(conn: Connection, id: int, reason: str, *, version: str) -> bool:
    """False if it is disabled or deleted, or has another version."""
    return execute(conn, _SQL["disable_integration"], id=id, reason=reason, version=version) > 0


def delete(conn: Connection, id: int) -> None:
    """With its deliveries."""
    execute(conn, _SQL["delete_integration"], id=id)
    delete_waiting(conn, id)
    execute(conn, _SQL["delete_deliveries"], id=id)
    execute(conn, _SQL["delete_lease"], id=id)


def delete_waiting(conn: Connection, id: int) -> None:
    execute(conn, _SQL["delete_waiting_deliveries"], id=id)


def lease_queues(conn: Connection, *, now: datetime, owner: str, busy: Sequence[int]) -> list[int]:
    """The IDs of integrations whose first delivery is due."""
    values = {"now": now, "owner": owner, "busy": list(busy)}
    rows = fetch_all(conn, _SQL["lease_queues"], **values)
    return [row["integration_id"] for row in rows]


def list_next(conn: Connection, id: int, *, now: datetime, owner: str, limit: int) -> list[Row]:
    """The next deliveries of a leased queue, in order, with the parameters and the `version` of
    the integration. `attempts` counts the next one. Extends the lease; a lost one has none."""
    values = {"id": id, "now": now, "owner": owner, "limit": limit}
    return fetch_all(conn, _SQL["list_next_deliveries"], **values)


def release_queue(conn: Connection, id: int, *, owner: str) -> None:
    execute(conn, _SQL["release_queue"], id=id, owner=owner)


def settle(
    conn: Connection,
    row: Row,
    *,
    result: str,
    error: str | None,
    payload: dict[str, Any],
    due_at: datetime,
    now: datetime,
) -> str | None:
    """Stores the result of an attempt of `list_next`: sent, waiting, given up or unfinished.
    An empty payload keeps the stored one. Returns the version of the integration, None if it or the
    delivery was deleted, or a later attempt was stored."""
    result_row = fetch_one(
        conn,
        _SQL["settle_delivery"],
        id=row["id"],
        attempts=row["attempts"],
        result=result,
        error=error,
        payload=msgspec.json.encode(payload).decode() if payload else None,
        due_at=due_at,
        now=now,
    )
    return result_row["version"] if result_row else None


def list_deliveries(
    conn: Connection,
    id: int,
    *,
    limit: int,
    offset: int = 0,
    delivery_id: int | None = None,
    state: str | None = None,
    attempted_only: bool = False,
) -> list[Row]:
    """Newest first, each with the columns of its event; null if that was deleted."""
    return fetch_all(
        conn,
        _SQL["list_deliveries"],
        id=id,
        limit=limit,
        offset=offset,
        delivery_id=delivery_id,
        state=state,
        attempted_only=attempted_only,
    )
