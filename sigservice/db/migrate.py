"""Forward-only migrations: numbered files, one transaction each, recorded with a checksum.

Several processes may start at once: one advisory lock for each schema, and each file is looked
up again under it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from psycopg2 import sql

from sigservice.db.pool import Connection, Database
from sigservice.errors import StartError
from sigservice.paths import resource_dir

OLDEST_POSTGRES = 140000
_LOCK = 0x5167  # first half of the advisory lock's key; the second is the schema's hash


@dataclass(frozen=True)
class Migration:
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def migrations() -> list[Migration]:
    """The files in their order."""
    files = sorted((resource_dir("sql") / "migrations").glob("*.sql"))
    return [Migration(file.stem, file.read_text("utf-8")) for file in files]


def migrate(database: Database, schema: str) -> list[str]:
    """Brings `schema` up to date; returns the names of what was applied.

    Raises StartError for a server that is too old or read-only, for a file that was edited
    after it had been applied, and for a schema that a newer version has migrated.
    """
    conn = database.dedicated()
    conn.autocommit = True
    try:
        applied = _migrate(conn, schema)
    except BaseException:
        conn.close()
        raise
    conn.autocommit = False
    database.adopt(conn)
    return applied


def _migrate(conn: Connection, schema: str) -> list[str]:
    with conn.cursor() as cursor:
        _check_server(conn)
        cursor.execute("SET statement_timeout = 0; SET lock_timeout = 0")
        cursor.execute("SELECT pg_advisory_lock(%s, hashtext(%s))", (_LOCK, schema))
        cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,))
        if cursor.fetchone() is None:  # CREATE … IF NOT EXISTS demands the right to create
            cursor.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
        cursor.execute("SELECT to_regclass('schema_migrations')")
        if cursor.fetchone() == (None,):  # the same
            cursor.execute(
                "CREATE TABLE schema_migrations ("
                " name text PRIMARY KEY, checksum text NOT NULL,"
                " applied_at timestamptz NOT NULL DEFAULT now())"
            )
        applied = _apply(conn, migrations())
        cursor.execute(
            "SELECT pg_advisory_unlock(%s, hashtext(%s)); "
            "RESET statement_timeout; RESET lock_timeout",
            (_LOCK, schema),
        )
    return applied


def _check_server(conn: Connection) -> None:
    if conn.server_version < OLDEST_POSTGRES:
        raise StartError(
            f"The database is PostgreSQL {conn.server_version // 10000}; 14 or newer is needed."
        )
    with conn.cursor() as cursor:
        cursor.execute(
            "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool"
        )
        if (cursor.fetchone() or (False,))[0]:
            raise StartError("The database is read-only (a standby?); a writable one is needed.")


def _apply(conn: Connection, files: list[Migration]) -> list[str]:
    applied = []
    with conn.cursor() as cursor:
        cursor.execute("SELECT name, checksum FROM schema_migrations")
        done = dict(cursor.fetchall())
        unknown = sorted(set(done) - {file.name for file in files})
        if unknown:
            raise StartError(
                f"The database was migrated by a newer version ({unknown[-1]}); start that one."
            )
        for file in files:
            if file.name not in done:
                cursor.execute("BEGIN")
                cursor.execute(file.text)
                cursor.execute(
                    "INSERT INTO schema_migrations (name, checksum) VALUES (%s, %s)",
                    (file.name, file.checksum),
                )
                cursor.execute("COMMIT")
                applied.append(file.name)
            elif done[file.name] != file.checksum:
                raise StartError(f"The migration {file.name} was edited after it had been applied.")
    return applied
