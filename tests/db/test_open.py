"""A configured PostgreSQL as people have them: TCP, a password, a database of its own."""

from __future__ import annotations

import time

import psycopg2
import pytest

from sigservice.config import load_config
from sigservice.db.open import OpenDatabase, _summarize
from sigservice.errors import StartError
from sigservice.log import build_line_loggers
from tests.postgres_server import postgres_server

pytestmark = pytest.mark.external

LOGGER = build_line_loggers("fatal")("database")


@pytest.fixture(scope="module")
def server():
    """(port): a PostgreSQL on 127.0.0.1 that demands SCRAM; user app, database "my service"."""
    with postgres_server() as started:
        started.ask("CREATE ROLE app LOGIN PASSWORD 'p w'")
        started.ask('CREATE DATABASE "my service" OWNER app')
        started.ask("CREATE ROLE locked NOLOGIN PASSWORD 'p w'")
        started.ask("CREATE DATABASE closed")
        started.ask("REVOKE CONNECT ON DATABASE closed FROM public")
        yield started.port


def opened(environ, options=None, retry_seconds=0.3):
    return OpenDatabase(load_config(options, environ).config, LOGGER, retry_seconds)


def ask(database, statement):
    with database.pool.autocommit() as conn, conn.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()


def test_by_url(server):
    url = f"postgres://app:p%20w@127.0.0.1:{server}/my%20service?sslmode=disable"
    database = opened({"DATABASE_URL": url, "DATABASE_SCHEMA": "my schema"})
    result = ask(
        database, "SELECT current_user, current_schema(), current_setting('server_version')"
    )
    assert result[:2] == ("app", "my schema")
    assert f"127.0.0.1:{server}" in database.description
    assert "p w" not in database.description
    database.close()


def test_by_parts(server):
    environ = {
        "DATABASE_HOST": "127.0.0.1",
        "DATABASE_PORT": str(server),
        "DATABASE_USERNAME": "app",
        "DATABASE_PASSWORD": "p w",
        "DATABASE_NAME": "my service",
        "DATABASE_APPLICATION_NAME": "flags",
    }
    database = opened(environ)
    result = ask(database, "SELECT application_name FROM pg_stat_activity WHERE usename = 'app'")
    assert result == ("flags",)
    database.close()


def test_in_code_by_file_and_whatever_libpq_variables_say(server, tmp_path, monkeypatch):
    monkeypatch.setenv("PGREQUIREAUTH", "gss")
    monkeypatch.setenv("PGOPTIONS", "-c search_path=nowhere")
    file = tmp_path / "url"
    file.write_text(f"host=127.0.0.1 port={server} user=app password='p w' dbname=nowhere\n")
    options = {"databaseUrlFile": str(file), "db": {"database": "my service"}}
    database = opened({}, options)
    assert ask(database, "SELECT current_database(), current_schema()") == ("my service", "public")
    database.close()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("p%20w", "wrong"), "password authentication failed"),
        (("my%20service", "nowhere"), "does not exist"),
        (("sslmode=disable", "sslmode=require"), "does not support SSL"),
    ],
)
def test_what_can_not_be_reached_is_one_clear_line(server, change, reason):
    url = f"postgres://app:p%20w@127.0.0.1:{server}/my%20service?sslmode=disable"
    with pytest.raises(StartError, match=reason) as raised:
        opened({"DATABASE_URL": url.replace(*change)})
    assert "\n" not in str(raised.value)
    assert "wrong" not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("p%20w", "wrong"), "Can't use the database"),
        (("my%20service", "nowhere"), r'database "nowhere" does not exist \(check DATABASE_NAME'),
        (("app:p%20w", "nobody:x"), "password authentication failed"),
        (("app:", "locked:"), "is not permitted to log in"),
        (("my%20service", "closed"), "permission denied for database"),
        (("sslmode=disable", "sslmode=require"), "requires TLS"),
    ],
)
def test_what_time_does_not_mend_is_not_tried_again(server, change, says):
    url = f"postgres://app:p%20w@127.0.0.1:{server}/my%20service?sslmode=disable"
    began = time.monotonic()
    with pytest.raises(StartError, match=says):
        opened({"DATABASE_URL": url.replace(*change)}, retry_seconds=30)
    assert time.monotonic() - began < 25


def test_of_several_addresses_the_last_ones_reason_is_told():
    first = (
        'connection to server at "db" (::1), port 5432 failed: Connection refused\n\tIs the …?\n'
    )
    last = 'connection to server at "db" (127.0.0.1), port 5432 failed: FATAL:  too many'
    assert _summarize(psycopg2.OperationalError(first + last)) == last
    assert _summarize(psycopg2.OperationalError("no such\nthing")) == "no such"


def test_a_schema_that_may_not_be_made_is_one_clear_line(server):
    url = f"postgres://app:p%20w@127.0.0.1:{server}/postgres?sslmode=disable"
    with pytest.raises(StartError, match="permission denied"):
        opened({"DATABASE_URL": url, "DATABASE_SCHEMA": "forbidden"})
