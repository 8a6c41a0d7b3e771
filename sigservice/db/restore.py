"""Restores a backup into an empty database, in one transaction, which also verifies every table.

`pg_restore` writes the statements, and a connection of the service executes them. psql would also
execute psql commands in the file, as the account that runs the restore."""

import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

import psycopg2
import psycopg2.extensions
from psycopg2 import sql

from sigservice.db import migrate
from sigservice.db.backup import NO_TIMEOUTS, build_relations, read_tables
from sigservice.db.backup_file import Manifest, Table
from sigservice.db.open import OpenDatabase
from sigservice.db.pool import Connection
from sigservice.db.postgres_tools import PostgresTools, find_tools, read_error
from sigservice.errors import StartError

_KINDS = "rpvmfS"  # tables, views and sequences
_FOR_PSQL = (b"\\restrict ", b"\\unrestrict ")
_NEWER = b"SET transaction_timeout"  # unknown to servers before 17
_END_OF_ROWS = b"\\.\n"


def check_manifest(manifest: Manifest, schema: str) -> int:
    """The number of this version's migrations that the backup lacks. Raises StartError if it has
    others, or another schema."""
    if manifest.db_schema != schema:
        raise StartError(
            f"The backup has the schema {manifest.db_schema!r}, but DATABASE_SCHEMA is {schema!r}."
        )
    files = migrate.read_migrations()
    migrate.find_pending(files, manifest.migrations, "The backup was made")
    return len(files) - len(manifest.migrations)


def restore_backup(database: OpenDatabase, manifest: Manifest, dump: IO[bytes]) -> None:
    """Restores the dump that begins at the file's offset. Raises StartError, after which the
    database is still empty, or unchanged if it was not empty."""
    tools = find_tools(database.tool_folders, manifest.tools, with_tls=False)
    conn = database.pool.open_dedicated()
    try:
        # In a separate thread, because a statement of the driver delays Ctrl-C and SIGTERM.
        with ThreadPoolExecutor(1) as executor:
            try:
                executor.submit(_restore, conn, database.schema, tools, manifest, dump).result()
            except BaseException:
                conn.shut_down()  # the thread ends, and the server rolls back
                raise
    except psycopg2.Error as error:
        reason = str(error).strip().partition("\n")[0]  # other lines contain stored values
        raise StartError(f"The backup was not restored: {reason}") from error
    finally:
        conn.close()


def _restore(
    conn: Connection, schema: str, tools: PostgresTools, manifest: Manifest, dump: IO[bytes]
) -> None:
    with conn.cursor() as cursor:
        _check_empty(cursor, schema)
        _execute_dump(cursor, tools, schema, dump)
        restored = {table.name: table for table in read_tables(cursor, schema)}
        _check_tables(manifest, restored)
        # Plans of the first requests need statistics, and autovacuum may take minutes.
        names = sql.SQL(", ").join(sql.Identifier(schema, name) for name in restored)
        if restored:
            cursor.execute(sql.SQL("ANALYZE {}").format(names))
    conn.commit()


def _check_empty(cursor: psycopg2.extensions.cursor, schema: str) -> None:
    """Raises StartError unless the schema is empty; creates it if it doesn't exist. Waits for a
    service that migrates, and makes others wait."""
    cursor.execute(NO_TIMEOUTS)
    cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (migrate.LOCK, schema))
    cursor.execute(build_relations(schema, _KINDS))
    if names := cursor.fetchall():
        raise StartError(
            f"The database is not empty: its schema {schema} has {len(names)} tables and "
            "sequences. A backup is restored into an empty database only: set another "
            "SERVICE_DATA_DIR, DATABASE_NAME or DATABASE_SCHEMA."
        )
    cursor.execute("SELECT FROM pg_namespace WHERE nspname = %s", (schema,))
    if cursor.fetchone() is None:  # CREATE … IF NOT EXISTS needs the privilege to create
        cursor.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))


def _check_tables(manifest: Manifest, restored: dict[str, Table]) -> None:
    expected = {table.name: table for table in manifest.tables}
    for name in sorted({*expected, *restored}):
        if expected.get(name) != restored.get(name):
            raise StartError(
                f"The backup was not restored: the table {name} differs from the backup."
            )


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
                _execute_script(cursor, process.stdout)
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            raise StartError(f"pg_restore failed: {read_error(errors)}")


def _execute_script(cursor: psycopg2.extensions.cursor, script: IO[bytes]) -> None:
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


class _Rows:
    """The file that `copy_expert` reads: the rows of one table."""

    def __init__(self, script: IO[bytes]) -> None:
        self._script, self._has_ended = script, False

    def read(self, size: int) -> bytes:
        """Complete lines of about `size` bytes; none at the end."""
        rows = b""
        while not self._has_ended and len(rows) < size:
            line = self._script.readline()
            self._has_ended = line in (_END_OF_ROWS, b"")
            rows += b"" if self._has_ended else line
        return rows
