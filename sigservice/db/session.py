"""The settings of a database session: set by a statement, and read back at the start.

Connection poolers reject or ignore the `options` of the startup packet. Without the settings the
service would use tables of another schema and acknowledge commits that a crash can undo.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from typing import Any

from sigservice.errors import StartError


def build_settings(schema: str) -> dict[str, str]:
    """The settings of each session, in the format of SHOW."""
    quoted = '"' + schema.replace('"', '""') + '"'
    return {
        "search_path": quoted,
        # An acknowledged signal must survive a crash even if the cluster's default is off.
        "synchronous_commit": "on",
        "statement_timeout": "5s",
        "lock_timeout": "2s",
        "idle_in_transaction_session_timeout": "10s",
        "TimeZone": "UTC",
        # A notice after a commit means that the commit is not safe (db/connection.py), so other
        # notices are off.
        "client_min_messages": "warning",
    }


def build_set_statement(names: Iterable[str], *columns: str) -> str:
    """The statement that sets the settings `names`, and also selects `columns`; its parameters are
    the values."""
    calls = (f"set_config('{name}', %({name})s, false)" for name in names)
    return f"SELECT {', '.join((*calls, *columns))}"


def check_settings(conn: Any, connect: Callable[[], Any], expected: Mapping[str, str]) -> None:
    """Raises StartError if `conn` lost its settings or shares its session with other connections.
    `connect` opens a second connection, which is needed only behind a pooler."""
    pid, *values = _read(conn, expected)
    for name, value in zip(expected, values, strict=True):
        if value != expected[name]:
            raise StartError(
                f"The database session has {name} {value!r} instead of {expected[name]!r}: "
                "a pooler or proxy between the service and the database changes it."
            )
    if pid == conn.info.backend_pid:
        return
    # The process IDs differ behind a pooler, which makes up its own.
    with closing(connect()) as other:
        other.autocommit = True
        is_shared = _read(other)[0] == pid or _read(conn)[0] != pid
        if is_shared:
            with other.cursor() as cursor:  # resets the session for the next client
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
