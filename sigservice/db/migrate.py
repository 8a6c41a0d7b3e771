"""Forward-only migrations: numbered files, one transaction each, recorded with a checksum.

Several processes may start at once, so each transaction finds the next migration under an advisory
lock of the schema. The lock ends with the transaction, so no connection pooler can keep it.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from psycopg2 import sql

from sigservice.db import session
from sigservice.db.pool import Connection, Database
from sigservice.errors import StartError
from sigservice.paths import resource_dir

MIN_POSTGRES = 140000
# A function that makes the first connection to a database and returns the names of the migrations
# that it applied.
Prepare = Callable[[Database, str], list[str]]
LOCK = 0x5167  # first half of the advisory lock's key; the second is the schema's hash


@dataclass(frozen=True)
class Migration:
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def read_migrations() -> list[Migration]:
    """All migrations in their order."""
    files = sorted((resource_dir("sql") / "migrations").glob("*.sql"))
    return [Migration(file.stem, file.read_text("utf-8")) for file in files]


def migrate(database: Database, schema: str) -> list[str]:
    """Migrates `schema`; returns the names of the applied migrations.

    Raises StartError for an old server, a connection pooler that shares sessions, a migration that
    was edited after it was applied, and a schema of a newer version; psycopg2.Error for a standby
    and for connection errors.
    """
    with _open_checked(database) as conn:
        return _apply_all(conn, schema)


def migrate_existing(database: Database, schema: str) -> list[str]:
    """Like `migrate`, but raises StartError too if the schema has no tables of the service."""
    with _open_checked(database) as conn:
        if not has_migrations(conn):
            raise StartError(
                "The database has no tables of the service: check SERVICE_DATA_DIR or DATABASE_*. "
                "`sigservice run` creates the tables."
            )
        return _apply_all(conn, schema)


def connect(database: Database, schema: str) -> list[str]:
    """Connects once and changes nothing; returns []. Raises like `migrate`, except for the
    migrations."""
    with _open_checked(database):
        return []


def has_migrations(conn: Connection) -> bool:
    """Whether the schema has been migrated before."""
    with conn.cursor() as cursor:
        cursor.execute("SELECT to_regclass('schema_migrations')")
        return cursor.fetchone() != (None,)


@contextmanager
def _open_checked(database: Database) -> Iterator[Connection]:
    """A connection to a supported server, which is added to the pool after the block."""
    conn = database.open_dedicated()
    try:
        conn.autocommit = True
        _check_server(conn)
        session.check_settings(conn, database.open_dedicated, database.settings)
        conn.autocommit = False
        yield conn
        conn.rollback()
    except BaseException:
        conn.close()
        raise
    database.add_connection(conn)


def _apply_all(conn: Connection, schema: str) -> list[str]:
    files, applied = read_migrations(), []
    while one := _apply_next(conn, schema, files):
        applied.append(one)
    return applied


def _apply_next(conn: Connection, schema: str, files: list[Migration]) -> str | None:
    """Applies one migration in a transaction; returns its name, or None without one."""
    with conn.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
        cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (LOCK, schema))
        cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,))
        if cursor.fetchone() is None:  # CREATE … IF NOT EXISTS needs the privilege to create
            cursor.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
        if not has_migrations(conn):  # see above
            cursor.execute(
                "CREATE TABLE schema_migrations ("
                " name text PRIMARY KEY, checksum text NOT NULL,"
                " applied_at timestamptz NOT NULL DEFAULT now())"
            )
        cursor.execute("SELECT name, checksum FROM schema_migrations")
        pending = find_pending(files, dict(cursor.fetchall()), "The database was migrated")
        if pending is not None:
            cursor.execute(pending.text)
            cursor.execute(
                "INSERT INTO schema_migrations (name, checksum) VALUES (%s, %s)",
                (pending.name, pending.checksum),
            )
    conn.commit()
    return pending.name if pending else None


def find_pending(
    files: list[Migration], checksums: dict[str, str], what_happened: str
) -> Migration | None:
    """The first migration that is not in `checksums`, or None. Raises StartError, whose text begins
    with `what_happened`, if a newer version applied others."""
    unknown = sorted(set(checksums) - {file.name for file in files})
    if unknown:
        raise StartError(f"{what_happened} by a newer version ({unknown[-1]}): use that version.")
    for file in files:
        if file.name not in checksums:
            return file
        if checksums[file.name] != file.checksum:
            raise StartError(f"The migration {file.name} was edited after it was applied.")
    return None


def _check_server(conn: Connection) -> None:
    if conn.server_version < MIN_POSTGRES:
        raise StartError(
            f"The database is PostgreSQL {conn.server_version // 10000}, but must be 14 or newer."
        )
