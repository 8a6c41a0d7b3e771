"""What the log says of an error of the database: names and the SQLSTATE, never a value."""

from __future__ import annotations

import psycopg2
import pytest
import webtest

from sigservice.db.errors import DatabaseError, translate
from sigservice.db.queries import Statement
from sigservice.db.statements import execute, fetch_all, fetch_one, savepoint
from sigservice.errors import AppError
from sigservice.log import format_trace
from tests.application.test_app import Log
from tests.conftest import ADMIN
from tests.db.hot_statement import make_hot

SECRET = "hun" + "ter2"  # so that no frame's source line has it
TABLE = f"""
CREATE TABLE things (
    id     int NOT NULL,
    secret text CONSTRAINT secret_is_short CHECK (length(secret) < 9),
    hours  int4range,
    EXCLUDE USING gist (hours WITH &&)
);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'no %% here', NEW.secret USING DETAIL = NEW.secret, HINT = NEW.secret;
END $$;
CREATE TRIGGER refuse BEFORE INSERT ON things
    FOR EACH ROW WHEN (NEW.id = 7) EXECUTE FUNCTION refuse();
INSERT INTO things VALUES (1, '{SECRET}', '[1,3)');
"""
INSERT = Statement(
    "INSERT INTO things VALUES (%(id)s, %(secret)s::text, %(hours)s::text::int4range)"
)
INSERT.store, INSERT.action = "things", "insert_thing"


@pytest.fixture
def conn(service):
    with service.context.database.transaction() as conn:
        execute(conn, TABLE)
        yield conn
        conn.rollback()


def fault(conn, statement=INSERT, run=execute, **values):
    """The error and what the log says of it."""
    row = {"id": 2, "secret": SECRET, "hours": None}
    with pytest.raises((DatabaseError, AppError)) as caught, savepoint(conn):
        run(conn, statement, **row | values)
    return caught.value, format_trace(caught.value)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"id": None}, "NotNullViolation 23502 table things column id in things.insert_thing"),
        (
            {"hours": "[2,9)"},
            "ExclusionViolation 23P01 constraint things_hours_excl table things "
            "in things.insert_thing",
        ),
        ({"id": 7}, "RaiseException P0001 in things.insert_thing"),
    ],
)
def test_a_fault_has_names_and_no_value(conn, values, expected):
    error, text = fault(conn, **values)
    assert str(error) == expected
    assert text.rstrip().endswith(expected)
    assert SECRET not in text
    assert "[2,9)" not in text
    assert "in _execute_plain" in text  # the frames lead to the statement


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        (INSERT, {"secret": f"{SECRET} too long"}),  # check
        ("SELECT %(secret)s::int", {}),  # 22P02
        ("SELECT %(secret)s::jsonb", {}),  # 22P02 with a context
        ("SELECT %(secret)s::date", {}),  # 22007
        (f"SELECT '{SECRET}'::text FROM nowhere", {}),  # a fault of ours
    ],
)
def test_no_value_is_in_what_the_log_would_say(conn, statement, values):
    _, text = fault(conn, statement, fetch_all, **values)
    assert SECRET not in text
    assert "Traceback" in text


def test_a_prepared_statement_tells_no_value_either(service):
    with service.context.database.autocommit() as conn, pytest.raises(AppError) as caught:
        fetch_one(conn, make_hot("SELECT %(secret)s::text::int AS n"), secret=SECRET)
    assert SECRET not in format_trace(caught.value)


def test_a_commit_that_fails_tells_no_value(service, rows):
    rows("CREATE TABLE late (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    rows(
        "CREATE FUNCTION too_late() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{SECRET}'; END $$"
    )
    rows(
        "CREATE CONSTRAINT TRIGGER too_late AFTER INSERT ON late INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION too_late()"
    )
    try:
        with pytest.raises(DatabaseError) as caught:
            insert_late(service.context.database)
    finally:
        rows("DROP TABLE late; DROP FUNCTION too_late")
    assert str(caught.value) == "RaiseException P0001"
    assert SECRET not in format_trace(caught.value)


def insert_late(database):
    with database.transaction() as conn:
        execute(conn, "INSERT INTO late VALUES (1)")


def test_the_log_of_a_request_has_the_trace_and_no_value(make_service, rows):
    """A table that refuses: the answer has an ID, the log the frames and the SQLSTATE."""
    log = Log()
    web = webtest.TestApp(make_service({"getLogger": log}).app)
    rows("ALTER TABLE signal_endpoints ADD needed text NOT NULL")
    try:
        body = {"name": SECRET, "description": SECRET}
        answer = web.post_json("/api/admin/signal-endpoints", body, headers=ADMIN, status=500)
    finally:
        rows("ALTER TABLE signal_endpoints DROP needed")
    (text,) = [text for _, _, text in log.lines if answer.json["id"] in text]
    assert "NotNullViolation 23502 table signal_endpoints column needed" in text
    assert "in signal_endpoints.insert" in text
    assert "Traceback" in text
    assert not [text for _, _, text in log.lines if SECRET in text]


def test_translate_leaves_out_what_the_driver_says():
    error = psycopg2.ProgrammingError(SECRET)
    assert SECRET not in str(translate(error))
