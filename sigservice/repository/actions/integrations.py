"""Integrations and their deliveries: one function for each SQL statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import (
    Row,
    execute,
    execute_prepared,
    fetch_all,
    fetch_all_prepared,
    fetch_one,
    fetch_value,
)

MAX_QUEUED = 500  # events in one transaction

_SQL = queries.load("actions/integrations")


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
    execute(conn, _SQL["delete_claim"], id=id)


def delete_waiting(conn: Connection, id: int) -> None:
    execute(conn, _SQL["unqueue_events"], id=id)
    execute(conn, _SQL["delete_waiting_deliveries"], id=id)


def delete_orphaned(conn: Connection, *, chunk: int) -> int:
    return execute(conn, _SQL["delete_orphaned_deliveries"], chunk=chunk)


def queue_events(conn: Connection) -> None:
    """Makes deliveries of the oldest events, for the integrations that want them."""
    execute(conn, _SQL["lock_queues"])
    execute_prepared(conn, _SQL["queue_events"], limit=MAX_QUEUED)


def claim_queues(conn: Connection, *, now: datetime, owner: str, busy: Sequence[int]) -> list[int]:
    """The IDs of integrations whose first delivery is due."""
    values = {"now": now, "owner": owner, "busy": list(busy)}
    rows = fetch_all_prepared(conn, _SQL["claim_queues"], **values)
    return [row["integration_id"] for row in rows]


def list_next(conn: Connection, id: int, *, now: datetime, owner: str, limit: int) -> list[Row]:
    """The next deliveries of a claimed queue, in order, with the parameters and the `version` of
    the integration. `attempts` counts the next one. Extends the claim; a lost one has none."""
    values = {"id": id, "now": now, "owner": owner, "limit": limit}
    return fetch_all_prepared(conn, _SQL["list_next_deliveries"], **values)


def release_queue(conn: Connection, id: int, *, owner: str) -> None:
    execute_prepared(conn, _SQL["release_queue"], id=id, owner=owner)


def settle(conn: Connection, items: str, *, count: int) -> dict[int, str | None]:
    """`items` is a JSON array of `count`. Returns the version of the integration by ID of the
    delivery, for those that were stored; None if it was deleted."""
    rows = fetch_all_prepared(conn, _SQL["settle_deliveries"], items=items, count=count)
    return {row["id"]: row["version"] for row in rows}


def inspect_changes(conn: Connection) -> Row:
    """{has_unqueued, is_burst}"""
    (row,) = fetch_all_prepared(conn, _SQL["inspect_changes"])
    return row


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
