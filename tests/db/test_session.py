"""The settings of each session, whatever the server's and the role's are."""

from __future__ import annotations

import pytest

from sigservice.config.database import build_libpq_arguments
from sigservice.db import session
from sigservice.db.pool import Database
from sigservice.db.statements import execute, fetch_value


@pytest.fixture
def open_pool(temporary_database):
    """`open_pool(schema)`: a pool whose sessions are set up for it."""
    options = temporary_database.options() | {"ssl": False, "applicationName": "service"}
    pools = []

    def make(schema="public"):
        arguments = build_libpq_arguments(options, lambda name, text: "")
        settings = session.build_settings(schema)
        pools.append(
            Database(lambda: arguments, min_size=0, max_size=1, idle_seconds=1, settings=settings)
        )
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


@pytest.mark.parametrize(
    "schema", ["public", "my schema", 'odd"name', "back\\slash", "a,b", "Ünï  =;'x", "%(x)s"]
)
def test_just_the_schema_is_in_the_search_path(open_pool, schema):
    quoted = '"' + schema.replace('"', '""').replace("%", "%%") + '"'
    with open_pool(schema).autocommit() as conn:
        execute(conn, f"CREATE SCHEMA IF NOT EXISTS {quoted}")
        assert fetch_value(conn, "SELECT current_schemas(false)") == [schema]
        if schema != "public":
            execute(conn, f"DROP SCHEMA {quoted}")


def test_a_session_is_durable_bounded_and_in_utc(open_pool):
    with open_pool().autocommit() as conn:
        for name, expected in session.build_settings("public").items():
            assert fetch_value(conn, "SELECT current_setting(%(name)s)", name=name) == expected
