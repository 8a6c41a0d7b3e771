"""Restores a backup into an empty database, in one transaction.

`pg_restore` writes the statements, and a connection of the service executes them. psql would also
execute psql commands in the file, as the account that runs the restore; and pg_restore sends
servers before 17 a setting that they refuse.
"""

import os
import select
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import psycopg2
import psycopg2.extensions
from psycopg2 import sql

from sigservice.db import migrate
from sigservice.db.open import OpenDatabase
from sigservice.db.pool import Connection
from sigservice.db.postgres_tools import MIN_VERSION, PostgresTools, find_tools, read_error
from sigservice.errors import StartError

_NO_TIMEOUTS = (
    "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; "
    "SET LOCAL idle_in_transaction_session_timeout = 0"
)
# Relations of extensions, which managed servers have in `public`, don't belong to the service.
_RELATIONS = """
    SELECT c.relname, c.relkind FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = %s
    WHERE c.relkind = ANY('{r,p,v,m,f,S}') AND NOT EXISTS (
        SELECT FROM pg_depend d
        WHERE d.deptype = 'e' AND d.classid = 'pg_class'::regclass AND d.objid = c.oid)
"""
_MAGIC = b"PGDMP"
_FOR_PSQL = (b"\\restrict ", b"\\unrestrict ")
_NEWER = b"SET transaction_timeout"  # unknown to servers before 17
_END_OF_ROWS = b"\\.\n"
SILENT_SECONDS = 60


@contextmanager
def open_backup(path: Path) -> Iterator[IO[bytes]]:
    """Raises StartError for a file that pg_dump didn't write."""
    try:
        with open(path, "rb", buffering=0) as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise StartError(f"{path} is not a backup of `sigservice backup`.")
            file.seek(0)
            yield file
    except OSError as error:
        raise StartError(f"{path} could not be read: {error.strerror}.") from error


def restore_backup(database: OpenDatabase, dump: IO[bytes]) -> int:
    """Returns how many migrations of this version the backup lacks. Raises StartError, after which
    the database is still empty, or unchanged if it was not empty."""
    tools = find_tools(database.tool_folders, MIN_VERSION, with_tls=False)
    conn = database.pool.open_dedicated()
    try:
        # In a separate thread, because a statement of the driver delays Ctrl-C and SIGTERM.
        with ThreadPoolExecutor(1) as executor:
            try:
                return executor.submit(_restore, conn, database.schema, tools, dump).result()
            except BaseException:
                conn.shut_down()  # the thread ends, and the server rolls back
                raise
    except psycopg2.Error as error:
        reason = str(error).strip().partition("\n")[0]  # other lines contain stored values
        raise StartError(f"The backup was not restored: {reason}") from error
    finally:
        conn.close()


def _restore(conn: Connection, schema: str, tools: PostgresTools, dump: IO[bytes]) -> int:
    with conn.cursor() as cursor:
        _check_empty(cursor, schema)
        _execute_dump(cursor, tools, schema, dump)
        pending = _count_pending(conn, cursor, schema)
        # Plans of the first requests need statistics, and autovacuum may take minutes.
        cursor.execute(_RELATIONS, (schema,))
        names = [sql.Identifier(schema, name) for name, kind in cursor.fetchall() if kind == "r"]
        cursor.execute(sql.SQL("ANALYZE {}").format(sql.SQL(", ").join(names)))
    conn.commit()
    return pending


def _check_empty(cursor: psycopg2.extensions.cursor, schema: str) -> None:
    """Raises StartError unless the schema is empty; creates it if it doesn't exist. Waits for a
    service that migrates, and makes others wait."""
    cursor.execute(_NO_TIMEOUTS)
    cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (migrate.LOCK, schema))
    cursor.execute(_RELATIONS, (schema,))
    if names := cursor.fetchall():
        raise StartError(
            f"The database is not empty: its schema {schema} has {len(names)} tables and "
            "sequences. A backup is restored into an empty database only: set another "
            "SERVICE_DATA_DIR, DATABASE_NAME or DATABASE_SCHEMA."
        )
    cursor.execute("SELECT FROM pg_namespace WHERE nspname = %s", (schema,))
    if cursor.fetchone() is None:  # CREATE … IF NOT EXISTS needs the privilege to create
        cursor.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))


def _count_pending(conn: Connection, cursor: psycopg2.extensions.cursor, schema: str) -> int:
    """Raises StartError if the backup has migrations that this version doesn't have, or none."""
    table = sql.Identifier(schema, "schema_migrations")
    cursor.execute("SELECT to_regclass(%s) IS NULL", (table.as_string(conn),))
    if cursor.fetchone() == (True,):
        raise StartError(
            f"The backup has no tables of the service in the schema {schema!r} (DATABASE_SCHEMA)."
        )
    cursor.execute(sql.SQL("SELECT name, checksum FROM {}").format(table))
    checksums, files = dict(cursor.fetchall()), migrate.read_migrations()
    migrate.find_pending(files, checksums, "The backup was made")
    return len(files) - len(checksums)


def _execute_dump(
    cursor: psycopg2.extensions.cursor, tools: PostgresTools, schema: str, dump: IO[bytes]
) -> None:
    with tempfile.TemporaryFile() as errors:
        process = tools.start(
            "pg_restore",
            "--file=-",
            "--no-owner",
            "--no-privileges",
            "--no-tablespaces",
            f"--schema={schema}",  # without the schema itself
            stdin=dump,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        with process:
            try:
                assert process.stdout is not None
                _execute_script(cursor, _Output(process.stdout.fileno()))
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            raise StartError(
                f"The backup was not restored: it is damaged, or pg_restore {tools.version} is too "
                f"old for it: {read_error(errors)}"
            )


def _execute_script(cursor: psycopg2.extensions.cursor, script: "_Output") -> None:
    """Executes statements, and copies the rows that follow a COPY."""
    ignored = _FOR_PSQL if cursor.connection.server_version >= 170000 else (*_FOR_PSQL, _NEWER)
    lines: list[bytes] = []
    while line := script.readline():
        if line.startswith(b"COPY ") and line.endswith(b" FROM stdin;\n"):
            _execute_lines(cursor, lines)
            lines.clear()
            rows: Any = _Rows(script)
            cursor.copy_expert(line, rows)
        elif not line.startswith(ignored):
            lines.append(line)
    _execute_lines(cursor, lines)


def _execute_lines(cursor: psycopg2.extensions.cursor, lines: list[bytes]) -> None:
    if any(line.strip() and not line.startswith(b"--") for line in lines):
        cursor.execute(b"".join(lines))


class _Output:
    """The lines that pg_restore writes. Some damaged files make it compute for ever."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._lines, self._rest = descriptor, list[bytes](), b""
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    def readline(self) -> bytes:
        """The next line, b"" at the end. Raises StartError after SILENT_SECONDS without output."""
        while not self._lines:
            if not self._poll.poll(SILENT_SECONDS * 1000):
                raise StartError(
                    "The backup was not restored: it is damaged. pg_restore has written nothing "
                    f"for {SILENT_SECONDS} s."
                )
            data = os.read(self._descriptor, 1 << 16)
            if not data:
                line, self._rest = self._rest, b""
                return line
            *lines, self._rest = (self._rest + data).split(b"\n")
            self._lines = [line + b"\n" for line in reversed(lines)]
        return self._lines.pop()


class _Rows:
    """The file that `copy_expert` reads: the rows of one table."""

    def __init__(self, script: "_Output") -> None:
        self._script, self._has_ended = script, False

    def read(self, size: int) -> bytes:
        """Complete lines of about `size` bytes; none at the end."""
        rows = b""
        while not self._has_ended and len(rows) < size:
            line = self._script.readline()
            self._has_ended = line in (_END_OF_ROWS, b"")
            rows += b"" if self._has_ended else line
        return rows
