"""What the home page shows: one function for each SQL statement."""

from sigservice.db import Connection, Row, fetch_all, fetch_row, queries

_SQL = queries.load("system/home")


def find_first_steps(conn: Connection) -> Row:
    """{flag, token, sdk, endpoint, signal, action}: whether there is one."""
    return fetch_row(conn, _SQL["find_first_steps"])


def count_production_flags(conn: Connection) -> Row:
    """{on_count, off_count} of the flags that are used in production."""
    return fetch_row(conn, _SQL["count_production_flags"])


def list_failed_runs(conn: Connection, *, limit: int) -> list[Row]:
    """{id, action_set_id, project, name, created_at, is_schedule, changed_count, flag_count, text};
    `text` says why."""
    return fetch_all(conn, _SQL["list_failed_runs"], limit=limit)


def list_silent_endpoints(conn: Connection) -> list[Row]:
    """Enabled endpoints that are late or down."""
    return fetch_all(conn, _SQL["list_silent_endpoints"])
