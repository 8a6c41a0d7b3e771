"""Helpers for test suites that run the service in-process; see docs/testing.md.

with TemporaryDatabase() as database:
    service = sigservice.create({"db": database.options()}, environ={})
    web = webtest.TestApp(service.app)
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg2
import psycopg2.errors
from psycopg2 import sql

from sigservice.clock import Clock
from sigservice.crypto.secrets import Passwords
from sigservice.db.data_directory import TEMPORARY
from sigservice.db.embedded import EmbeddedPostgres

if TYPE_CHECKING:
    from sigservice.application.service import Service


Result = TypeVar("Result")


class TemporaryDatabase:
    """A temporary PostgreSQL server; its start takes about a second."""

    def __init__(self) -> None:
        self._server = EmbeddedPostgres(TEMPORARY)
        self._connection: Any = None  # connecting takes longer than emptying

    def __enter__(self) -> TemporaryDatabase:
        self._server.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._connection is not None:
            self._connection.close()
        self._server.stop()

    def options(self, database: str = "postgres") -> dict[str, Any]:
        """The `db` option for `sigservice.create`."""
        return self._server.settings() | {"database": database}

    def connect(self, database: str = "postgres") -> Any:
        """A psycopg2 connection in autocommit, to check rows in a test."""
        conn = psycopg2.connect(**self._server.arguments(database))
        conn.autocommit = True
        return conn

    def create_database(self, name: str) -> dict[str, Any]:
        """Creates an empty database; returns its `db` option."""
        self._execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.options(name)

    def empty(self, database: str = "postgres") -> None:
        """Deletes all rows except roles, feature types and applied migrations. The next service
        creates the default rows."""
        if database != "postgres":
            with contextlib.closing(self.connect(database)) as conn:
                return _delete_rows(conn)
        self.use_connection(_delete_rows)

    def use_connection(self, use: Callable[[Any], Result]) -> Result:
        """What `use` returns, called with a connection in autocommit that is kept."""
        try:
            self._connection = self._connection or self.connect()
            return use(self._connection)
        except psycopg2.Error:  # the backends were terminated
            self._connection = self.connect()
            return use(self._connection)

    def _execute(self, statement: sql.Composed) -> None:
        conn = self.connect()
        try:
            with conn.cursor() as cursor:
                cursor.execute(statement)
        finally:
            conn.close()


# Without the view pg_tables, whose plan takes longer than the deletes.
_LIST_TABLES = """
SELECT format('%s', oid::regclass) FROM pg_class
WHERE relkind = 'r' AND relpersistence = 'p'
  AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
  AND relname NOT IN ('roles', 'feature_types', 'schema_migrations')
"""
# The rows of a migration that pages change.
_RESET_LIFETIMES = """
UPDATE feature_types SET lifetime_days = new.days
FROM (VALUES ('release', 40), ('experiment', 40), ('operational', 7), ('kill-switch', NULL),
    ('permission', NULL)) AS new (id, days)
WHERE feature_types.id = new.id AND lifetime_days IS DISTINCT FROM new.days;
"""


def _delete_rows(conn: Any) -> None:
    with conn.cursor() as cursor:
        cursor.execute(_LIST_TABLES)
        names = [row[0] for row in cursor.fetchall()]  # quoted by regclass
    # Ten times as fast as TRUNCATE; without triggers the order does not matter.
    deletes = "".join(f"DELETE FROM {name};" for name in names)  # noqa: S608
    reset = _RESET_LIFETIMES if names else ""  # no table before the first start
    run_planned(conn, f"{deletes} {reset} RETURN true;")


def run_planned(conn: Any, statements: str) -> bool:
    """What PL/pgSQL returns, without triggers. It is a function of the session, which keeps the
    plans of its statements."""
    name = f"pg_temp.planned_{zlib.crc32(statements.encode())}"
    call = f"SET session_replication_role = replica; SELECT {name}()"
    with conn.cursor() as cursor:
        try:
            cursor.execute(call)
        except (psycopg2.errors.InvalidSchemaName, psycopg2.errors.UndefinedFunction):
            cursor.execute(
                f"CREATE FUNCTION {name}() RETURNS boolean LANGUAGE plpgsql "
                f"AS $planned$BEGIN {statements} END$planned$; {call}"
            )
        return bool(cursor.fetchone()[0])


def reset(service: Service, database: TemporaryDatabase, clock: Clock | None = None) -> None:
    """Deletes all rows and gives the service the state of a new one, with `clock` if there is one:
    for the next test, in a fraction of the time of `sigservice.create`.

    Raises RuntimeError for a service that was started or stopped.
    """
    database.empty()
    service.reset(clock or service.context.clock)


class FakeClock(Clock):
    """A clock that only `advance` moves; `step` sets the clock on the wall forward or back."""

    def __init__(self) -> None:
        self._now = datetime.now(UTC)
        self._monotonic = 1000.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    @property
    def fixed_now(self) -> datetime:
        return self._now

    def choose_now(self, database_now: datetime) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds

    def step(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


class QuickPasswords(Passwords):
    """Argon2id with little work, for fast tests."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_kib=64)
