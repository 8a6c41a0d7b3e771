"""A primary that becomes a standby, and a standby that becomes the primary."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from sigservice.config import load_config
from sigservice.db.errors import DatabaseUnavailable
from sigservice.db.open import OpenDatabase
from sigservice.db.statements import execute
from sigservice.errors import StartError
from sigservice.log import build_line_loggers
from tests.postgres_server import postgres_server
from tests.waiting import until

pytestmark = pytest.mark.external

LOGGER = build_line_loggers("fatal")("database")
CREATE_ROLE = "CREATE ROLE app SUPERUSER LOGIN PASSWORD 'pw'"
WRITE = "UPDATE revisions SET id = id + 1"


@contextmanager
def opened(hosts, retry_seconds=0.3, **more):
    environ = {
        "DATABASE_HOST": hosts,
        "DATABASE_USERNAME": "app",
        "DATABASE_PASSWORD": "pw",
        "DATABASE_NAME": "postgres",
    }
    database = OpenDatabase(load_config({}, environ | more).config, LOGGER, retry_seconds)
    try:
        yield database
    finally:
        database.close()


def can_write(pool):
    try:
        with pool.autocommit() as conn:
            execute(conn, WRITE)
    except DatabaseUnavailable:
        return False
    return True


def replay_all(primary, standby):
    """Until the standby has what the primary has written."""
    (position,) = primary.ask("SELECT pg_current_wal_lsn()")[0]
    behind = "SELECT pg_last_wal_replay_lsn() < %s"
    until(lambda: standby.ask(behind, position) == [(False,)], "a standby that is up to date")


def test_of_several_hosts_the_one_that_accepts_writes_is_used():
    with postgres_server() as primary:
        primary.ask(CREATE_ROLE)
        with postgres_server(copy_of=primary) as standby:
            hosts = f"127.0.0.1:{standby.port},127.0.0.1:{primary.port}"
            with opened(hosts) as database:
                assert database.description.startswith(
                    f"PostgreSQL at 127.0.0.1:{standby.port}, 127.0.0.1:{primary.port}, "
                )
                assert can_write(database.pool)
                replay_all(primary, standby)
                primary.stop()
                assert not can_write(database.pool)  # nor on the standby, which would answer reads
                with pytest.raises(StartError, match=r"read-only|refused") as caught:
                    opened(hosts).__enter__()
                assert "\n" not in str(caught.value)
                standby.ask("SELECT pg_promote()")
                assert can_write(database.pool)


def test_a_primary_that_comes_back_as_a_standby_is_not_used_until_it_accepts_writes():
    with postgres_server() as server:
        server.ask(CREATE_ROLE)
        url = f"postgres://app:pw@127.0.0.1:{server.port}/postgres?sslmode=disable"
        url += "&target_session_attrs=read-write"
        with opened("", DATABASE_URL=url) as database:
            pool = database.pool
            with pool.autocommit(), pool.autocommit():
                pass
            server.stop()
            (server.folder / "data" / "standby.signal").touch()
            server.start()
            assert not can_write(pool)
            with pytest.raises(DatabaseUnavailable):
                pool.ping()
            assert pool.statistics()["free"] == 0
            server.ask("SELECT pg_promote()")
            pool.ping()
            assert can_write(pool)
