"""Runs of action sets: one function for each SQL statement."""

from datetime import datetime

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, fetch_row, queries

PAGE_BYTES = 8_000_000
_SQL = queries.load("actions/action_runs")


def lock(conn: Connection) -> None:
    execute(conn, _SQL["lock_action_runs"])


def insert_many(conn: Connection, runs: str) -> list[Row]:
    """The new runs, with the columns of their events and `is_first`; `runs` is a JSON array of the
    columns."""
    return fetch_all(conn, _SQL["insert_runs"], runs=runs)


def find_pending_work(conn: Connection, now: datetime | None) -> Row:
    """{signals, runs, reverts, schedules}: whether there are any, by the clock of the database if
    `now` is None."""
    return fetch_row(conn, _SQL["find_pending_work"], now=now)


def lock_unfinished(conn: Connection, *, since: int, limit: int) -> list[Row]:
    """The oldest unfinished runs with at least the ID `since`, without those that another process
    has just finished."""
    return fetch_all(conn, _SQL["lock_unfinished_runs"], since=since, limit=limit)


def fail(conn: Connection, id: int, *, reason: str) -> list[Row]:
    """Ends an unfinished run; returns it with the columns of its event, unless it has ended."""
    return fetch_all(conn, _SQL["fail_run"], id=id, reason=reason)


def update_many(conn: Connection, runs: str, *, first: int, last: int) -> list[Row]:
    """The runs with the columns of their events and `signal_created_at`. `runs` is a JSON array of
    {id, state, action_set, next_action, restore_minutes}, oldest first, with IDs from `first` to
    `last`; `restore_minutes` schedules the auto-revert."""
    return fetch_all(conn, _SQL["update_runs"], runs=runs, first=first, last=last)


def list_statistics(conn: Connection, max_runs_per_set: dict[int, int]) -> list[Row]:
    """{action_set_id, last_at, in_last_hour} of the sets, counted up to their maximum."""
    sets, max_runs = list(max_runs_per_set), list(max_runs_per_set.values())
    return fetch_all(conn, _SQL["list_run_statistics"], sets=sets, max_runs=max_runs)


def mark_reverted(conn: Connection, id: int, *, by: int) -> None:
    """`by` is the run that reverts it. It holds nothing after that."""
    execute(conn, _SQL["mark_reverted"], id=id, by=by)


def pop_due_reverts(conn: Connection, now: datetime | None) -> list[Row]:
    """Those due `now`, by the clock of the database if it is None."""
    return fetch_all(conn, _SQL["pop_due_reverts"], now=now)


def cancel_auto_revert(conn: Connection, id: int) -> bool:
    """False if none is scheduled."""
    return execute(conn, _SQL["cancel_auto_revert"], id=id) > 0


def find(conn: Connection, action_set_id: int, id: int) -> Row | None:
    return fetch_one(conn, _SQL["find_run"], id=id, action_set_id=action_set_id)


def list_since(conn: Connection, since: datetime, *, project: str | None, limit: int) -> list[Row]:
    """The ended runs of signals, newest first, without the copies of the signals."""
    return fetch_all(conn, _SQL["list_runs_since"], since=since, project=project, limit=limit)


def list_resolved(
    conn: Connection, since: datetime, *, project: str | None, limit: int
) -> list[Row]:
    """The runs that resolved alerts have reverted since, the last first: also `resolved_at`, and
    `last_signal_id`, which started the run."""
    return fetch_all(conn, _SQL["list_resolved_runs"], since=since, project=project, limit=limit)


def list_of_set(
    conn: Connection, action_set_id: int, *, before: int | None = None, limit: int, offset: int = 0
) -> list[Row]:
    """Newest first. Fewer than `limit` if their payloads are large, but at least one."""
    return fetch_all(
        conn,
        _SQL["list_runs_of_set"],
        action_set_id=action_set_id,
        before=before,
        limit=limit,
        offset=offset,
        page_bytes=PAGE_BYTES,
    )


def list_of_signals(conn: Connection, signal_ids: list[int]) -> list[Row]:
    return fetch_all(conn, _SQL["list_runs_of_signals"], signal_ids=signal_ids)


def list_last(conn: Connection, action_set_ids: list[int]) -> list[Row]:
    """The newest run of each set that has one."""
    return fetch_all(conn, _SQL["list_last_runs"], action_set_ids=action_set_ids)


def list_by_ids(conn: Connection, ids: list[int], *, payloads: bool) -> list[Row]:
    """Without the copies of signals and sets; `payload` is NULL without `payloads`."""
    return fetch_all(conn, _SQL["list_runs_by_id"], ids=ids, payloads=payloads)


def delete_old(conn: Connection, *, days: int, chunk: int) -> int:
    return execute(conn, _SQL["delete_old_runs"], days=days, chunk=chunk)


def count_by_hour(conn: Connection) -> list[Row]:
    """{endpoint_id, hours_ago, runs} of the last 24 hours."""
    return fetch_all(conn, _SQL["count_runs_by_hour"])
