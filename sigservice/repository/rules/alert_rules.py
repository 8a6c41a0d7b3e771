"""Alert rules: one function for each SQL statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, fetch_value, queries

_SQL = queries.load("rules/alert_rules")


def lock_all(conn: Connection) -> None:
    execute(conn, _SQL["lock_alert_rules"])


def insert(
    conn: Connection,
    *,
    name: str,
    endpoint_id: int,
    enabled: bool,
    condition: str,
    created_by_user_id: int,
    now: datetime,
    limit: int,
) -> int | None:
    """Returns the ID, None if there are `limit` rules. `condition` is JSON."""
    id: int | None = fetch_value(
        conn,
        _SQL["insert_alert_rule"],
        name=name,
        endpoint_id=endpoint_id,
        enabled=enabled,
        condition=condition,
        created_by_user_id=created_by_user_id,
        now=now,
        limit=limit,
    )
    return id


def list_all(conn: Connection) -> list[Row]:
    """By name, with their states; `condition` is JSON text."""
    return fetch_all(conn, _SQL["list_alert_rules"], id=None)


def find(conn: Connection, id: int) -> Row | None:
    return fetch_one(conn, _SQL["list_alert_rules"], id=id)


def lock(conn: Connection, id: int) -> Row | None:
    """The rule, which neither a change nor an evaluation changes until the transaction ends."""
    execute(conn, _SQL["lock_alert_rule"], id=id)
    return find(conn, id)


def update(
    conn: Connection,
    id: int,
    *,
    name: str,
    endpoint_id: int,
    enabled: bool,
    condition: str,
) -> None:
    execute(
        conn,
        _SQL["update_alert_rule"],
        id=id,
        name=name,
        endpoint_id=endpoint_id,
        enabled=enabled,
        condition=condition,
    )


def delete(conn: Connection, id: int) -> None:
    execute(conn, _SQL["delete_alert_rule"], id=id)


def lock_evaluation(conn: Connection) -> bool:
    """False while another process evaluates rules. Lasts until the end of the
    transaction."""
    return bool(fetch_value(conn, _SQL["lock_evaluation"]))


def list_due(
    conn: Connection, now: datetime, *, too_slow: str, limit: int | None = None
) -> list[Row]:
    """The rules on impact metrics and silence to evaluate, those of guards first and those with the
    error `too_slow` last."""
    sql = _SQL["list_due_alert_rules"]
    return fetch_all(conn, sql, now=now, too_slow=too_slow, limit=limit)


def list_silent(conn: Connection, endpoint_ids: Sequence[int]) -> list[Row]:
    """The enabled rules on the silence of these endpoints that are not `ok`, without those of
    guards."""
    return fetch_all(conn, _SQL["list_silent_alert_rules"], endpoint_ids=list(endpoint_ids))


def lease_due(conn: Connection, now: datetime | None) -> list[Row]:
    """The due rules on metric sources that nobody queries, with `now`, `leased_until`, and
    {feature, environment, project} of the releases of guards. Call it under the lock of metric
    sources."""
    return fetch_all(conn, _SQL["lease_due_alert_rules"], now=now)


def end_leases(conn: Connection, ids: Sequence[int], until: datetime) -> None:
    """Of those that were neither changed nor leased again."""
    execute(conn, _SQL["end_alert_rule_leases"], ids=list(ids), until=until)


def lock_many(conn: Connection, rows: Sequence[Row], now: datetime | None) -> list[Row]:
    """The enabled ones of these rules that have the lease of `rows`, or none as these, locked until
    the transaction ends, with `now`."""
    ids = [row["id"] for row in rows]
    lease = rows[0].get("leased_until") if rows else None
    return fetch_all(conn, _SQL["lock_many_alert_rules"], ids=ids, leased_until=lease, now=now)


def save_states(conn: Connection, items: Sequence[dict[str, Any]]) -> None:
    """`items` have the columns of the state; without `due_at` it stays. Ends their
    leases."""
    execute(conn, _SQL["save_alert_rule_states"], items=msgspec.json.encode(items).decode())
