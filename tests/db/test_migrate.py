"""Migrations: once, in order, in any schema, by several processes at once."""

from __future__ import annotations

import itertools
import re
import threading

import psycopg2
import pytest

from sigservice.config.database import build_libpq_arguments
from sigservice.db import migrate as module
from sigservice.db import session
from sigservice.db.migrate import Migration, migrate, read_migrations
from sigservice.db.pool import Database
from sigservice.errors import StartError


@pytest.fixture
def open_pool(temporary_database, request):
    """`open_pool(schema)`: a pool on a database of this test's own."""
    name = f"migrate_{abs(hash(request.node.name)) % 10**8}"
    options = temporary_database.create_database(name)
    pools = []

    def make(schema="public"):
        arguments = build_libpq_arguments(
            options | {"ssl": False, "applicationName": "service"}, lambda name, text: ""
        )
        pools.append(Database(lambda: arguments, settings=session.build_settings(schema), **SMALL))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


SMALL = {"min_size": 0, "max_size": 2, "idle_seconds": 1}


def names():
    return [migration.name for migration in read_migrations()]


def test_files_are_numbered_without_gaps():
    assert [int(name[:4]) for name in names()] == list(range(1, len(names()) + 1))


def test_running_twice_changes_nothing(open_pool):
    assert migrate(open_pool(), "public") == names()
    assert migrate(open_pool(), "public") == []


@pytest.mark.parametrize("schema", ["other", "my schema", 'with"quote', "back\\slash", "Größe"])
def test_any_schema_is_made_and_used(open_pool, schema):
    pool = open_pool(schema)
    migrate(pool, schema)
    with pool.transaction() as conn, conn.cursor() as cursor:
        cursor.execute("SELECT schemaname FROM pg_tables WHERE tablename = 'signals'")
        assert cursor.fetchall() == [(schema,)]
        cursor.execute("SELECT count(*) FROM signals")


def test_several_processes_may_start_at_once(open_pool):
    applied = []
    threads = [
        threading.Thread(target=lambda: applied.append(migrate(open_pool(), "public")))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(itertools.chain(*applied)) == names()
    assert len(applied) == 4


def test_a_role_without_the_right_to_create_may_use_what_is_there(open_pool, temporary_database):
    assert migrate(open_pool(), "public") == names()
    pool = open_pool()
    with pool.autocommit() as conn, conn.cursor() as cursor:
        cursor.execute("DROP ROLE IF EXISTS reader; CREATE ROLE reader")
        cursor.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
        cursor.execute("REVOKE CREATE ON SCHEMA public FROM public")
    as_reader = pool._connector._arguments() | {"options": "-c role=reader"}
    low = Database(lambda: as_reader, settings=pool.settings, **SMALL)
    assert migrate(low, "public") == []
    low.close()


def test_an_edited_file_is_refused(open_pool, monkeypatch):
    migrate(open_pool(), "public")
    edited = [Migration(m.name, m.text + "-- x") for m in read_migrations()]
    monkeypatch.setattr(module, "read_migrations", lambda: edited)
    with pytest.raises(StartError, match="edited"):
        migrate(open_pool(), "public")


def test_a_newer_schema_is_refused(open_pool, monkeypatch):
    migrate(open_pool(), "public")
    fewer = read_migrations()[:-1]
    monkeypatch.setattr(module, "read_migrations", lambda: fewer)
    with pytest.raises(StartError, match="newer"):
        migrate(open_pool(), "public")


def test_a_failing_file_leaves_nothing_behind(open_pool, monkeypatch):
    broken = Migration("9999_broken", "CREATE TABLE half (n int); SELECT nonsense")
    every = [*read_migrations(), broken]
    monkeypatch.setattr(module, "read_migrations", lambda: every)
    pool = open_pool()
    with pytest.raises(Exception, match="nonsense"):
        migrate(pool, "public")
    with pool.transaction() as conn, conn.cursor() as cursor:
        cursor.execute("SELECT to_regclass('half'), count(*) FROM schema_migrations")
        assert cursor.fetchone() == (None, len(names()))


def test_a_read_only_database_is_refused(open_pool):
    pool = open_pool()
    with pool.autocommit() as conn, conn.cursor() as cursor:
        cursor.execute("SELECT current_database()")
        database = cursor.fetchone()[0]
        cursor.execute(f'ALTER DATABASE "{database}" SET default_transaction_read_only = on')
    with pytest.raises(psycopg2.OperationalError, match="session is read-only"):
        migrate(open_pool(), "public")


def test_synchronous_commit_is_on_whatever_the_cluster_says(open_pool):
    with open_pool().autocommit() as conn, conn.cursor() as cursor:
        cursor.execute("SHOW synchronous_commit")
        assert cursor.fetchone() == ("on",)


BREAKING = re.compile(
    r"\bDROP\s+(TABLE|COLUMN|TYPE|CONSTRAINT|FUNCTION|TRIGGER)\b|\bRENAME\b"
    r"|\bALTER\s+COLUMN\s+\w+\s+(SET\s+DATA\s+)?TYPE\b|\bSET\s+NOT\s+NULL\b",
    re.IGNORECASE,
)
NEW_COLUMN = re.compile(r"\bADD\s+COLUMN\b[^,;]*", re.IGNORECASE)


def test_no_migration_takes_away_what_the_version_before_it_uses():
    """It may still run, see tests/server/test_previous_version.py."""
    for migration in read_migrations():
        text = re.sub(r"--.*", "", migration.text)
        assert not BREAKING.search(text), migration.name
        for column in NEW_COLUMN.findall(text):
            has_default = "DEFAULT" in column.upper()
            assert has_default or "NOT NULL" not in column.upper(), (migration.name, column)
