"""Writes a backup of the database, while services use it.

One transaction computes the digests of all tables. pg_dump reads the same snapshot."""

import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import psycopg2
import psycopg2.extensions
from psycopg2 import sql

from sigservice.db.backup_file import FORMAT, BackupWriter, Manifest, Table, create_file
from sigservice.db.migrate import has_migrations
from sigservice.db.open import OpenDatabase
from sigservice.db.pool import Connection
from sigservice.db.postgres_tools import find_tools, read_error
from sigservice.errors import StartError
from sigservice.version import __version__

# The text of a row depends on these settings.
_FIXED_SETTINGS = (
    "SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, MDY'; "
    "SET LOCAL IntervalStyle = 'postgres'; SET LOCAL extra_float_digits = 1; "
    "SET LOCAL bytea_output = 'hex'"
)
NO_TIMEOUTS = (
    "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; "
    "SET LOCAL idle_in_transaction_session_timeout = 0"
)
# The digest is independent of the order of the rows and of the version of PostgreSQL.
_DIGEST = sql.SQL(
    "SELECT count(*), coalesce(sum(('x' || left(md5((r.*)::text), 16))::bit(64)::bigint), 0)::text"
    " FROM {} AS r"
)
# Relations of extensions, which managed servers have in `public`, don't belong to the service.
_RELATIONS = sql.SQL("""
    SELECT c.relname FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = {schema}
    WHERE c.relkind = ANY({kinds}) AND NOT EXISTS (
        SELECT FROM pg_depend d
        WHERE d.deptype = 'e' AND d.classid = 'pg_class'::regclass AND d.objid = c.oid)
    ORDER BY c.relname
""")


def write_backup(database: OpenDatabase, path: Path, *, has_key: bool) -> Manifest:
    """Writes the file `path` and returns its manifest. Raises StartError."""
    with create_file(path) as file:
        conn = database.pool.open_dedicated()
        try:
            return _write(database, conn, BackupWriter(file), has_key)
        except psycopg2.Error as error:
            raise StartError(f"The backup failed: {str(error).strip().splitlines()[0]}") from error
        finally:
            conn.close()


def read_tables(cursor: psycopg2.extensions.cursor, schema: str) -> list[Table]:
    """The tables of the service with their digests. Changes settings of the transaction."""
    cursor.execute(_FIXED_SETTINGS)
    cursor.execute(build_relations(schema, "r"))
    tables = []
    for (name,) in cursor.fetchall():
        cursor.execute(_DIGEST.format(sql.Identifier(schema, name)))
        tables += [Table(name, rows, digest) for rows, digest in cursor.fetchall()]
    return tables


def build_relations(schema: str, kinds: str) -> sql.Composed:
    """The statement that lists the names of the service's relations of these kinds (`relkind`)."""
    return _RELATIONS.format(schema=sql.Literal(schema), kinds=sql.Literal(list(kinds)))


def _write(
    database: OpenDatabase, conn: Connection, writer: BackupWriter, has_key: bool
) -> Manifest:
    libpq = database.libpq_arguments()
    tools = find_tools(
        database.tool_folders,
        conn.server_version // 10000,
        with_tls=libpq["sslmode"] != "disable",
    )
    schema, created_at = database.schema, datetime.now(UTC)
    with conn.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute(NO_TIMEOUTS)
        if not has_migrations(conn):
            raise StartError(
                "The database has no tables of the service: check SERVICE_DATA_DIR or DATABASE_*."
            )
        cursor.execute("SELECT name, checksum FROM schema_migrations ORDER BY name")
        migrations = dict(cursor.fetchall())
        tables = read_tables(cursor, schema)
        cursor.execute("SELECT pg_export_snapshot()")
        ((snapshot,),) = cursor.fetchall()
        manifest = Manifest(
            format=FORMAT,
            version=__version__,
            created_at=created_at.isoformat(timespec="seconds"),
            tools=tools.version,
            db_schema=schema,
            migrations=migrations,
            tables=tables,
            has_key=has_key,
        )
        with tempfile.TemporaryFile() as errors:
            process = tools.start(
                "pg_dump",
                "--format=custom",
                "--no-owner",
                "--no-privileges",
                "--no-tablespaces",
                "--lock-wait-timeout=60s",
                f"--schema={sql.Identifier(schema).as_string(conn)}",
                f"--snapshot={snapshot}",
                libpq=libpq,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
            with process:
                try:
                    assert process.stdout is not None
                    digest = writer.write_dump(process.stdout)
                except BaseException:
                    process.kill()
                    raise
            if process.returncode:
                raise StartError(f"pg_dump failed: {read_error(errors)}")
    manifest = msgspec.structs.replace(manifest, dump_sha256=digest)
    writer.write_manifest(manifest)
    return manifest
