"""Revisions: one function for each SQL statement."""

from dataclasses import dataclass

from sigservice.db import Connection, Row, execute, fetch_all, fetch_value, queries

_SQL = queries.load("revisions")


def lock(conn: Connection) -> int:
    """Locks the generation until the end of the transaction and returns it."""
    return int(fetch_value(conn, _SQL["lock_revisions"]) or 0)


@dataclass(frozen=True)
class RevisionBump:
    """What a change touched. `topics` include the empty one, whose numbers all of them get.
    `environments` None: all; `flags` None: any flags and segments. The new numbers are above
    `above_id` and `above_event_id`."""

    topics: list[str]
    environments: list[str] | None
    flags: list[str] | None
    segments: list[int]
    above_id: int = 0
    above_event_id: int = 0


def bump(conn: Connection, revision_bump: RevisionBump) -> None:
    execute(conn, _SQL["bump_revisions"], **vars(revision_bump))


def commit_locally(conn: Connection) -> None:
    """The commit of this transaction waits for no standby."""
    execute(conn, _SQL["commit_locally"])


def find_generation(conn: Connection) -> int:
    """The id that grows with every change; caches check it before each use."""
    return int(fetch_value(conn, _SQL["find_generation"]) or 0)


def list_all(conn: Connection) -> list[Row]:
    """{topic, id, event_id} of each topic."""
    return fetch_all(conn, _SQL["list_revisions"])


def delete_old_changes(conn: Connection, *, chunk: int) -> int:
    """Deletes at most `chunk` changes that are older than a day and returns their number."""
    return execute(conn, _SQL["delete_old_revision_changes"], chunk=chunk)
