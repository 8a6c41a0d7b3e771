"""What the home page shows: one function for each SQL statement."""

from datetime import datetime

from sigservice.db import Connection, Row, fetch_all, fetch_one, fetch_value, queries

_SQL = queries.load("system/home")


def find_first_steps(conn: Connection) -> Row:
    """{flag, token, sdk, endpoint, signal, action}: whether there is one."""
    row = fetch_one(conn, _SQL["find_first_steps"])
    assert row is not None
    return row


def list_flags_of_alerts(
    conn: Connection, *, limit: int, features: list[str] | None = None, payloads: bool = True
) -> list[Row]:
    """One row for each flag and environment that a run for an alert switched and that no run has
    reverted, newest first, of some flags or of all; `enabled` is the state that the alert keeps,
    `is_set_enabled` is about its action set.
    `payload` is NULL without `payloads`."""
    return fetch_all(
        conn, _SQL["list_flags_of_alerts"], limit=limit, features=features, payloads=payloads
    )


def find_last_alert(conn: Connection) -> datetime | None:
    """When an action set evaluated an alert last, of the newest runs of each."""
    return fetch_value(conn, _SQL["find_last_alert"])


def list_newest_runs(conn: Connection, *, limit: int) -> list[Row]:
    return fetch_all(conn, _SQL["list_newest_runs"], limit=limit)


def list_stale_flags(conn: Connection, *, limit: int) -> list[Row]:
    """The oldest flags that are marked as stale or past their lifetime; `total` is the number of
    all, `stale_total` the number of those that are marked."""
    return fetch_all(conn, _SQL["list_stale_flags"], limit=limit)


def list_failed_schedules(conn: Connection, *, limit: int) -> list[Row]:
    """{id, action_set_id, project, name, created_at, text} of runs; `text` says why."""
    return fetch_all(conn, _SQL["list_failed_schedules"], limit=limit)


def list_silent_endpoints(conn: Connection) -> list[Row]:
    """Enabled endpoints that are late or down."""
    return fetch_all(conn, _SQL["list_silent_endpoints"])
