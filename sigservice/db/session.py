"""The settings of a session: set by a statement, and read back at the start.

Not by the startup packet's `options`, which connection poolers refuse or swallow: then the tables
of another schema would be used, and commits acknowledged that a crash can take back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from typing import Any

from sigservice.errors import StartError


def settings(schema: str) -> dict[str, str]:
    """What each session of the service has, as SHOW says it."""
    quoted = '"' + schema.replace('"', '""') + '"'
    return {
        "search_path": quoted,
        # An acknowledged signal must survive a crash even where a cluster's default is off.
        "synchronous_commit": "on",
        "statement_timeout": "5s",
        "lock_timeout": "2s",
        "idle_in_transaction_session_timeout": "10s",
        "TimeZone": "UTC",
        # A notice after a commit means that it is not safe (db/pool.py), so there are no others.
        "client_min_messages": "warning",
    }


def set_statement(names: Mapping[str, str]) -> str:
    """Takes the settings as its parameters."""
    calls = (f"set_config('{name}', %({name})s, false)" for name in names)
    return f"SELECT {', '.join(calls)}"


def check(conn: Any, connect: Callable[[], Any], expected: Mapping[str, str]) -> None:
    """Raises StartError unless `conn`, on which the settings were set, still has them and is a
    session of its own. `connect` opens a second connection, which only a pooler makes necessary."""
    pid, *values = _read(conn, expected)
    for name, value in zip(expected, values, strict=True):
        if value != expected[name]:
            raise StartError(
                f"The database session has {name} {value!r} instead of {expected[name]!r}: "
                "something between the service and the database changes it."
            )
    if pid == conn.info.backend_pid:
        return
    # A pooler answered: it invents the process IDs of its clients.
    with closing(connect()) as other:
        other.autocommit = True
        is_shared = _read(other)[0] == pid or _read(conn)[0] != pid
        if is_shared:
            with other.cursor() as cursor:  # the next client gets the server as it was
                cursor.execute("RESET ALL")
            raise StartError(
                "The connection pooler in front of the database shares sessions between clients "
                "(transaction or statement mode); set its pool_mode to session."
            )


def _read(conn: Any, names: Iterable[str] = ()) -> tuple[Any, ...]:
    """The server process and the settings of these names."""
    columns = "".join(f", current_setting('{name}')" for name in names)
    with conn.cursor() as cursor:
        cursor.execute(f"SELECT pg_backend_pid(){columns}")
        return tuple(cursor.fetchone())
