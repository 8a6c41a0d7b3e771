"""Behind PgBouncer: a session keeps its settings, or the start says what is wrong."""

from __future__ import annotations

from contextlib import closing

import psycopg2
import pytest

from sigservice.config import load_config
from sigservice.db.open import OpenDatabase
from sigservice.db.session import build_set_statement, build_settings, check_settings
from sigservice.db.statements import fetch_one
from sigservice.errors import StartError
from sigservice.log import build_line_loggers
from tests.pooler import pgbouncer
from tests.postgres_server import postgres_server

pytestmark = pytest.mark.external

LOGGER = build_line_loggers("fatal")("database")
USERS = '"app" "pw"\n'


@pytest.fixture(scope="module")
def server():
    with postgres_server() as server:
        server.ask("CREATE ROLE app LOGIN PASSWORD 'pw'")
        server.ask("CREATE DATABASE flags OWNER app")
        server.ask("ALTER ROLE app SET synchronous_commit = off")
        yield server


def opened(port, **more):
    environ = {
        "DATABASE_HOST": "127.0.0.1",
        "DATABASE_PORT": str(port),
        "DATABASE_USERNAME": "app",
        "DATABASE_PASSWORD": "pw",
        "DATABASE_NAME": "flags",
    }
    return OpenDatabase(load_config({}, environ | more).config, LOGGER, 0.3)


def test_in_session_mode_each_session_has_its_settings(server):
    with pgbouncer(server, "session", USERS) as port:
        database = opened(port, DATABASE_SCHEMA="my schema")
        columns = ", ".join(
            f"current_setting('{name}') AS \"{name}\"" for name in build_settings("")
        )
        with database.pool.autocommit() as first, database.pool.autocommit() as second:
            for conn in (first, second):
                assert fetch_one(conn, f"SELECT {columns}") == build_settings("my schema")
                assert fetch_one(conn, "SELECT current_schema() AS it") == {"it": "my schema"}
        database.close()


@pytest.mark.parametrize("mode", ["transaction", "statement"])
def test_a_pooler_that_shares_sessions_is_refused_in_one_line(server, mode):
    with pgbouncer(server, mode, USERS) as port:
        with pytest.raises(StartError, match="pool_mode to session") as raised:
            opened(port, DATABASE_SCHEMA="shared")
    assert "\n" not in str(raised.value)
    assert server.ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == [(0,)]
    named = "SELECT count(*) FROM pg_namespace WHERE nspname = 'shared'"
    assert server.ask(named, database="flags") == [(0,)]


def test_a_refused_pooler_keeps_no_setting_for_its_other_clients(server):
    more = "default_pool_size = 1"
    with pgbouncer(server, "transaction", USERS, more) as port:
        with pytest.raises(StartError):
            opened(port)
        other = {"host": "127.0.0.1", "port": port, "user": "app", "password": "pw"}
        with closing(psycopg2.connect(dbname="flags", **other)) as conn, conn.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            assert cursor.fetchone() == ("0",)


def test_a_setting_that_does_not_stay_is_refused(server):
    """As if something in between had dropped it: with DATABASE_SCHEMA the tables of `public` would
    be used."""
    with closing(server.connect()) as conn:
        with pytest.raises(StartError, match="search_path") as raised:
            check_settings(conn, server.connect, build_settings("other"))
        with conn.cursor() as cursor:
            cursor.execute(build_set_statement(build_settings("other")), build_settings("other"))
        check_settings(conn, server.connect, build_settings("other"))
    assert "\n" not in str(raised.value)
