"""Restores a backup into an empty database, in one transaction, which also verifies every table."""

import subprocess
import tempfile
from typing import IO

from psycopg2 import sql

from sigservice.db import migrate
from sigservice.db.backup import (
    FIXED_SETTINGS,
    NO_TIMEOUTS,
    build_digest,
    build_relations,
)
from sigservice.db.backup_file import Manifest
from sigservice.db.open import OpenDatabase
from sigservice.db.postgres_tools import PostgresTools, find_tools, read_error
from sigservice.errors import StartError

_KINDS = "rpvmfS"  # tables, views and sequences
_CHUNK_BYTES = 1 << 20
_HEAD_LINES = 60  # of a script, which begins with its settings


def check_manifest(manifest: Manifest, schema: str) -> int:
    """How many migrations of this version the backup lacks. Raises StartError if it has others, or
    another schema."""
    if manifest.db_schema != schema:
        raise StartError(
            f"The backup has the schema {manifest.db_schema!r}, but DATABASE_SCHEMA is {schema!r}."
        )
    files = migrate.read_migrations()
    migrate.find_pending(files, manifest.migrations, "The backup was made")
    return len(files) - len(manifest.migrations)


def restore_backup(database: OpenDatabase, manifest: Manifest, dump: IO[bytes]) -> None:
    """Restores the dump that begins at the file's offset. Raises StartError; the database is empty
    then, or unchanged if it was not empty."""
    conn = database.pool.open_dedicated()
    try:
        with conn.cursor() as cursor:
            cursor.execute(build_relations(database.schema, _KINDS))
            if names := cursor.fetchall():
                raise StartError(
                    f"The database is not empty: its schema {database.schema} has {len(names)} "
                    "tables and sequences. A backup is restored into an empty database only: set "
                    "another SERVICE_DATA_DIR, DATABASE_NAME or DATABASE_SCHEMA."
                )
        beginning = _build_beginning(database.schema).as_string(conn)
        end = _build_end(manifest).as_string(conn)
        server_version = conn.server_version // 10000
    finally:
        conn.close()
    libpq = database.libpq_arguments()
    tools = find_tools(
        database.tool_folders, manifest.tools, with_tls=libpq["sslmode"] != "disable"
    )
    with tempfile.TemporaryFile() as errors:
        psql = tools.start(
            "psql",
            "--no-psqlrc",
            "--quiet",
            "--output=/dev/null",
            "--set=ON_ERROR_STOP=1",
            "--set=VERBOSITY=terse",  # details of errors contain stored values
            "--set=SHOW_CONTEXT=never",
            libpq=libpq,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        with psql:
            try:
                assert psql.stdin is not None
                psql.stdin.write(beginning.encode())
                _write_dump(psql.stdin, tools, manifest.db_schema, dump, server_version)
                psql.stdin.write(end.encode())
                psql.stdin.close()
            except BrokenPipeError:  # psql has stopped at an error
                pass
            except BaseException:
                psql.kill()
                raise
        if psql.returncode:
            raise StartError(f"The backup was not restored: {read_error(errors)}")


def _write_dump(
    script: IO[bytes], tools: PostgresTools, schema: str, dump: IO[bytes], server_version: int
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
                _copy(process.stdout, script, server_version)
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            raise StartError(f"pg_restore failed: {read_error(errors)}")


def _copy(source: IO[bytes], script: IO[bytes], server_version: int) -> None:
    """Copies the script of pg_restore without a setting that older servers don't know."""
    for _ in range(_HEAD_LINES):
        line = source.readline()
        if server_version >= 17 or not line.startswith(b"SET transaction_timeout"):
            script.write(line)
    while chunk := source.read(_CHUNK_BYTES):
        script.write(chunk)


def _build_beginning(schema: str) -> sql.Composed:
    """Starts a transaction that waits for a service that migrates, and that others wait for. psql
    rolls it back if the script ends before its end."""
    return sql.SQL(
        "BEGIN;\n"
        f"{NO_TIMEOUTS};\n"
        "SELECT pg_advisory_xact_lock({lock}, hashtext({schema}));\n"
        "DO $check$ BEGIN\n"
        "IF EXISTS ({relations}) THEN RAISE EXCEPTION 'the database is not empty'; END IF;\n"
        "IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = {schema}) THEN\n"
        "CREATE SCHEMA {name}; END IF;\n"
        "END $check$;\n"
    ).format(
        lock=sql.Literal(migrate.LOCK),
        schema=sql.Literal(schema),
        relations=build_relations(schema, _KINDS),
        name=sql.Identifier(schema),
    )


def _build_end(manifest: Manifest) -> sql.Composed:
    """Compares each table with the manifest, and commits."""
    checks = [
        sql.SQL(
            "IF NOT EXISTS (SELECT FROM ({digest}) AS d (rows, digest) WHERE d.rows = {rows} "
            "AND d.digest = {expected}) THEN RAISE EXCEPTION USING MESSAGE = {message}; END IF;\n"
        ).format(
            digest=build_digest(manifest.db_schema, table.name),
            rows=sql.Literal(table.rows),
            expected=sql.Literal(table.digest),
            message=sql.Literal(f"the restored table {table.name} differs from the backup"),
        )
        for table in manifest.tables
    ]
    return sql.SQL(
        f"\n{FIXED_SETTINGS};\nDO $check$ BEGIN\n{{checks}}END $check$;\n"
        "SET LOCAL synchronous_commit = on;\nCOMMIT;\n"
    ).format(checks=sql.Composed(checks))
