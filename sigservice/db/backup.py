"""Writes a backup of the database, while services use it: a dump of pg_dump."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from psycopg2 import sql

from sigservice.db.migrate import has_migrations
from sigservice.db.open import OpenDatabase
from sigservice.db.postgres_tools import PostgresTools, find_tools, read_error
from sigservice.errors import StartError


def write_backup(database: OpenDatabase, path: Path) -> None:
    """Writes the file `path`. Raises StartError."""
    libpq = database.libpq_arguments()
    with _create_file(path) as draft, closing(database.pool.open_dedicated()) as conn:
        if not has_migrations(conn):
            raise StartError(
                "The database has no tables of the service: check SERVICE_DATA_DIR or DATABASE_*."
            )
        schema = sql.Identifier(database.schema).as_string(conn)
        version = conn.server_version // 10000
        with_tls = libpq["sslmode"] != "disable"
        tools = find_tools(database.tool_folders, version, with_tls=with_tls)
        _dump(tools, libpq, schema, draft)


def _dump(tools: PostgresTools, libpq: dict[str, Any], schema: str, file: str) -> None:
    with tempfile.TemporaryFile() as errors:
        process = tools.start(
            "pg_dump",
            "--format=custom",
            "--no-owner",
            "--no-privileges",
            "--no-tablespaces",
            "--lock-wait-timeout=60s",
            f"--schema={schema}",
            f"--file={file}",
            libpq=libpq,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        with process:
            try:
                process.wait()
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            raise StartError(f"pg_dump failed: {read_error(errors)}")


@contextmanager
def _create_file(path: Path) -> Iterator[str]:
    """The path of an empty file beside `path`, with mode 600, which is renamed to `path` after the
    block. Raises StartError if `path` exists or can't be written."""
    if path.exists():
        raise StartError(f"{path} exists already; a backup never replaces a file.")
    draft = ""
    try:
        handle, draft = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name}.", suffix=".partial"
        )
        try:
            yield draft
            os.fsync(handle)
        finally:
            os.close(handle)
        os.rename(draft, path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise StartError(f"{path} could not be written: {error.strerror}.") from error
    finally:
        with suppress(FileNotFoundError):
            os.unlink(draft)
