"""Runs of action sets: one function for each SQL statement."""

from __future__ import annotations

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all, fetch_one, fetch_one_prepared

PAGE_BYTES = 8_000_000
_SQL = queries.load("actions/action_runs")


def lock(conn: Connection) -> None:
    execute(conn, _SQL["lock_action_runs"])


def insert_many(conn: Connection, runs: str) -> list[int]:
    """The new ids; `runs` is a JSON array of the columns."""
    return [row["id"] for row in fetch_all(conn, _SQL["insert_runs"], runs=runs)]


def find_work(conn: Connection) -> Row:
    """{signals, runs, restores}: whether any of them wait."""
    row = fetch_one_prepared(conn, _SQL["find_work"])
    assert row is not None
    return row


def lock_next_open(conn: Connection, *, since: int) -> Row | None:
    """The oldest that has actions left, of those from the id `since` on; None also when another
    process ended it just now."""
    return fetch_one(conn, _SQL["lock_next_open_run"], since=since)


def give_up(conn: Connection, id: int, *, reason: str) -> None:
    """Ends one that is open."""
    execute(conn, _SQL["give_up_run"], id=id, reason=reason)


def update(
    conn: Connection,
    id: int,
    *,
    state: str,
    action_set: str,
    next_action: int,
    restore_minutes: int | None,
) -> Row | None:
    """{finished_at, signal_created_at}; `restore_minutes` schedules the restoring."""
    return fetch_one(
        conn,
        _SQL["update_run"],
        id=id,
        state=state,
        action_set=action_set,
        next_action=next_action,
        restore_minutes=restore_minutes,
    )


def list_statistics(conn: Connection, caps: dict[int, int]) -> list[Row]:
    """{action_set_id, last_at, in_last_hour} of the sets in `caps`, counted up to their caps."""
    sets, most = list(caps), list(caps.values())
    return fetch_all(conn, _SQL["list_run_statistics"], sets=sets, caps=most)


def find_restorable(conn: Connection, action_set_id: int) -> Row | None:
    """The newest run that changed something and was not undone."""
    return fetch_one(conn, _SQL["find_restorable_run"], action_set_id=action_set_id)


def list_of_alerts(conn: Connection, action_set_id: int, *, before: int) -> list[Row]:
    """Runs older than `before` that alerts caused and nobody has undone, newest first."""
    return fetch_all(conn, _SQL["list_runs_of_alerts"], action_set_id=action_set_id, before=before)


def list_firing(conn: Connection, sets: list[int]) -> list[Row]:
    """{action_set_id, correlation} of each alert that is not over."""
    return fetch_all(conn, _SQL["list_firing_alerts"], sets=sets)


def mark_restored(conn: Connection, ids: list[int], *, by: int | None) -> None:
    """`ids` are newest first."""
    execute(conn, _SQL["mark_restored"], ids=ids, by=by)


def take_due_restores(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["take_due_restores"])


def cancel_restore(conn: Connection, id: int) -> bool:
    """Whether there was one to cancel."""
    return execute(conn, _SQL["cancel_restore"], id=id) > 0


def find(conn: Connection, action_set_id: int, id: int) -> Row | None:
    return fetch_one(conn, _SQL["find_run"], id=id, action_set_id=action_set_id)


def list_newest(
    conn: Connection,
    *,
    action_set_id: int | None = None,
    signal_id: int | None = None,
    project: str | None = None,
    before: int | None = None,
    limit: int,
    offset: int = 0,
) -> list[Row]:
    """Fewer than `limit` when the payloads in them are large, at least one if there is any."""
    return fetch_all(
        conn,
        _SQL["list_runs"],
        action_set_id=action_set_id,
        signal_id=signal_id,
        project=project,
        before=before,
        limit=limit,
        offset=offset,
        page_bytes=PAGE_BYTES,
    )


def list_of_signals(conn: Connection, signal_ids: list[int]) -> list[Row]:
    return fetch_all(conn, _SQL["list_runs_of_signals"], signal_ids=signal_ids)


def list_last(conn: Connection, project: str | None = None) -> list[Row]:
    """Without a project, of all sets."""
    return fetch_all(conn, _SQL["list_last_runs"], project=project)


def delete_old(conn: Connection, *, days: int, chunk: int) -> int:
    return execute(conn, _SQL["delete_old_runs"], days=days, chunk=chunk)
