"""Executing statements: row shapes, and prepared ones that are lost or stale."""

from __future__ import annotations

import pytest

from sigservice.config.database import build_libpq_arguments
from sigservice.db.pool import Database
from sigservice.db.statements import (
    execute,
    fetch_all,
    fetch_one,
    fetch_value,
    number_parameters,
)
from sigservice.errors import BadDataError
from tests.db.hot_statement import make_hot

STATEMENT = make_hot(
    "SELECT %(n)s::int + 1 AS next, %(text)s::text || '%%' AS text, %(n)s::int AS n"
)


@pytest.fixture
def conn(temporary_database):
    settings = {"ssl": False, "applicationName": "service"}
    arguments = build_libpq_arguments(
        temporary_database.options() | settings, lambda name, text: ""
    )
    pool = Database(lambda: arguments, min_size=0, max_size=1, idle_seconds=1)
    with pool.autocommit() as conn:
        yield conn
    pool.close()


def prepared(conn):
    return fetch_value(conn, "SELECT count(*) FROM pg_prepared_statements")


def test_shapes(conn):
    assert fetch_one(conn, "SELECT 1 AS a, 'x' AS b") == {"a": 1, "b": "x"}
    assert fetch_one(conn, "SELECT 1 WHERE false") is None
    assert fetch_all(conn, "SELECT g AS n FROM generate_series(1, 2) g") == [{"n": 1}, {"n": 2}]
    assert fetch_value(conn, "SELECT 7") == 7
    assert fetch_value(conn, "SELECT 7 WHERE false") is None
    assert execute(conn, "SELECT 1 FROM generate_series(1, 3)") == 3


def test_parameters_are_numbered_by_name():
    assert number_parameters("a = %(x)s AND b = %(y)s OR c = %(x)s LIKE '%%'") == (
        "a = $1 AND b = $2 OR c = $1 LIKE '%'",
        ["x", "y"],
    )


def test_a_hot_statement_is_prepared_once(conn):
    for n in range(10):
        result = fetch_one(conn, STATEMENT, n=n, text="a")
        assert result == {"next": n + 1, "text": "a%", "n": n}
    assert prepared(conn) == 1


def test_a_hot_statement_may_have_no_parameters(conn):
    for _ in range(2):
        assert fetch_one(conn, make_hot("SELECT 7 AS n")) == {"n": 7}
    assert prepared(conn) == 1


def test_a_lost_prepared_statement_does_not_matter(conn):
    fetch_one(conn, STATEMENT, n=1, text="a")
    execute(conn, "DEALLOCATE ALL")
    assert fetch_one(conn, STATEMENT, n=2, text="b") == {"next": 3, "text": "b%", "n": 2}
    assert fetch_one(conn, STATEMENT, n=3, text="b")["next"] == 4


def test_a_stale_plan_does_not_matter(conn):
    execute(conn, "CREATE TEMPORARY TABLE changing (a int)")
    execute(conn, "INSERT INTO changing VALUES (1)")
    statement = make_hot("SELECT * FROM changing WHERE a = %(a)s")
    assert fetch_one(conn, statement, a=1) == {"a": 1}
    execute(conn, "ALTER TABLE changing ADD b int")
    assert fetch_one(conn, statement, a=1) == {"a": 1, "b": None}


def test_errors_of_a_prepared_statement_are_translated(conn):
    with pytest.raises(BadDataError):
        fetch_one(conn, make_hot("SELECT %(text)s::int AS n"), text="x")
    assert fetch_one(conn, STATEMENT, n=1, text="a")["n"] == 1


def test_in_a_transaction_nothing_is_prepared(temporary_database):
    settings = {"ssl": False, "applicationName": "service"}
    arguments = build_libpq_arguments(
        temporary_database.options() | settings, lambda name, text: ""
    )
    pool = Database(lambda: arguments, min_size=0, max_size=1, idle_seconds=1)
    with pool.transaction() as conn:
        fetch_one(conn, STATEMENT, n=1, text="a")
        assert prepared(conn) == 0
    pool.close()
