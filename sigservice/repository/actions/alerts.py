"""The alerts of action sets: one function for each SQL statement."""

from collections.abc import Collection, Sequence

from sigservice.db import Connection, Row, execute, fetch_all, queries

_SQL = queries.load("actions/alerts")


def list_by_keys(conn: Connection, keys: Collection[tuple[int, str]]) -> list[Row]:
    """The alerts that each are {ID of the set, key}, and one other alert of each of these sets that
    fires and isn't ignored."""
    sets, texts = [id for id, _ in keys], [key for _, key in keys]
    return fetch_all(conn, _SQL["list_alerts"], sets=sets, keys=texts)


def list_firing_sets(conn: Connection, sets: Sequence[int]) -> list[Row]:
    """{action_set_id} of those that have an alert that fires."""
    return fetch_all(conn, _SQL["list_firing_sets"], sets=[*sets])


def store(conn: Connection, alerts: str, *, reverting: Collection[int]) -> None:
    """`alerts` is a JSON array of {action_set_id, key, source_id, key_path, is_firing, run_id,
    resolved_at}; no other alert of the sets `reverting` fires now."""
    execute(conn, _SQL["store_alerts"], alerts=alerts, reverting=[*reverting])


def list_ignored(conn: Connection) -> list[Row]:
    """With the project and the name of the set."""
    return fetch_all(conn, _SQL["list_ignored_alerts"])


def ignore(conn: Connection, run: Row, *, by: str, by_id: int) -> None:
    """Ignores the alert of the run."""
    columns = {"action_set_id": run["action_set_id"], "key": run["correlation"]}
    execute(conn, _SQL["ignore_alert"], ignored_by=by, ignored_by_id=by_id, **columns)


def stop_ignoring(conn: Connection, run: Row) -> bool:
    """False if the alert of the run isn't ignored."""
    columns = {"action_set_id": run["action_set_id"], "key": run["correlation"]}
    return execute(conn, _SQL["stop_ignoring_alert"], **columns) > 0


def delete_ended(conn: Connection, *, chunk: int) -> int:
    return execute(conn, _SQL["delete_ended_alerts"], chunk=chunk)
