"""What a start makes of an empty database, once, however many processes start."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sigservice.errors import ConfigError, PasswordMismatch, StartError
from sigservice.repository.access import users
from sigservice.repository.system import events
from sigservice.services import startup
from sigservice.services.access import api_tokens, sessions
from tests.conftest import ADMIN_TOKEN
from tests.waiting import DEADLINE_SECONDS

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "Correct-Horse-7"
IN_CODE = {"initialAdminUser": {"username": "ada", "password": PASSWORD}}
ENVIRON = {
    "SERVICE_DEFAULT_ADMIN_USERNAME": "eva",
    "SERVICE_DEFAULT_ADMIN_PASSWORD": "Another-Horse-8",
}
CLIENT = "default:development.client-secret"
FRONTEND = "*:production.frontend-secret"
NOW = datetime.now(UTC)


def people(service):
    with service.context.database.autocommit() as conn:
        return users.list_all(conn)


def signs_in(service, username, password):
    context = service.context
    return sessions.verify_password(context.database, context.passwords, username, password)


def logged(service):
    with service.context.database.autocommit() as conn:
        return events.list_newest(conn, events.EventFilter(types=["api-token-created"]), limit=100)


@pytest.mark.parametrize(
    ("authentication", "environ", "username", "password"),
    [
        (IN_CODE, {}, "ada", PASSWORD),
        ({}, ENVIRON, "eva", "Another-Horse-8"),
        (IN_CODE, ENVIRON, "ada", PASSWORD),
        ({}, {}, "admin", "unleash4all"),
    ],
    ids=["in code", "environment pair", "in code beats environment", "built-in"],
)
def test_an_empty_table_gets_one_admin(make_service, authentication, environ, username, password):
    service = make_service({"authentication": authentication}, environ)
    (row,) = people(service)
    assert (row["username"], row["role"], row["email"]) == (username, "Admin", None)
    assert row["has_built_in_password"] is (username == "admin")
    assert signs_in(service, username, password)["id"] == row["id"]
    with pytest.raises(PasswordMismatch):
        signs_in(service, username, password + "x")
    works = startup.default_password_works(service.context.database)
    assert works is (username == "admin")


@pytest.mark.parametrize("environ", [{}, ENVIRON])
def test_none_makes_no_admin(make_service, environ):
    service = make_service({"authentication": {"initialAdminUser": None}}, environ)
    assert people(service) == []
    assert not startup.default_password_works(service.context.database)


def test_the_documented_password_is_only_built_in_when_nobody_chose_it(make_service):
    options = {"initialAdminUser": {"username": "admin", "password": "unleash4all"}}
    (row,) = people(make_service({"authentication": options}))
    assert row["has_built_in_password"] is False


def test_no_admin_is_made_where_there_is_a_user(make_service):
    first = make_service()
    (ada,) = people(first)
    second = make_service({"authentication": {}}, ENVIRON)
    assert people(second) == [ada]
    assert signs_in(second, "ada", PASSWORD)["password_hash"]
    with pytest.raises(PasswordMismatch):
        signs_in(second, "eva", "Another-Horse-8")


def test_any_user_counts_even_one_that_is_no_admin(make_service, database):
    service = make_service({"authentication": {"initialAdminUser": None}})
    with service.context.database.autocommit() as conn:
        users.insert(conn, username="v", email=None, name=None, role_id=3, password_hash=None)
    assert [row["username"] for row in people(make_service())] == ["v"]


def test_a_service_account_is_no_user_that_counts(make_service, database):
    make_service({"authentication": {"initialAdminUser": None}})
    conn = database.connect()
    with conn.cursor() as cursor:
        cursor.execute(
            "INSERT INTO users (account_type, username, role_id) VALUES ('service', 'robot', 1)"
        )
    conn.close()
    assert [row["username"] for row in people(make_service())] == ["ada"]


@pytest.mark.parametrize(
    ("username", "password"),
    [("ada@example.org", PASSWORD), ("x" * 201, PASSWORD), ("ada", "aA1-" * 257)],
    ids=["an address", "too long a name", "too long a password"],
)
def test_a_configured_admin_can_sign_in_or_is_refused_at_the_start(
    make_service, username, password
):
    pair = {"initialAdminUser": {"username": username, "password": password}}
    try:
        service = make_service({"authentication": pair})
    except (ConfigError, StartError):
        return
    assert signs_in(service, username, password)["role"] == "Admin"


def test_configured_tokens_are_stored_by_hash_with_their_scope(make_service):
    environ = {"INIT_CLIENT_API_TOKENS": CLIENT, "INIT_FRONTEND_API_TOKENS": FRONTEND}
    service = make_service(environ=environ)
    with service.context.database.autocommit() as conn:
        tokens = [
            api_tokens.find_valid(conn, secret, now=NOW)
            for secret in (ADMIN_TOKEN, CLIENT, FRONTEND)
        ]
        assert [(row["type"], row["environment"], row["projects"]) for row in tokens] == [
            ("admin", "*", ["*"]),
            ("client", "development", ["default"]),
            ("frontend", "production", ["*"]),
        ]
        assert api_tokens.find_valid(conn, CLIENT + "x", now=NOW) is None
        assert api_tokens.find_valid(conn, "", now=NOW) is None
        with conn.cursor() as cursor:
            cursor.execute("SELECT api_tokens::text, secret_prefix FROM api_tokens ORDER BY id")
            rows = cursor.fetchall()
    assert [prefix for _, prefix in rows] == ["*:*", "default:development", "*:production"]
    assert not any(secret in text for text, _ in rows for secret in (ADMIN_TOKEN, CLIENT))


def test_each_configured_token_is_in_the_log_without_its_secret(make_service):
    rows = logged(make_service(environ={"INIT_CLIENT_API_TOKENS": CLIENT}))
    assert [row["created_by"] for row in rows] == ["init-api-tokens"] * 2
    assert "secret" not in rows[0]["data"]
    assert json.loads(rows[0]["data"]) == {
        "type": "client",
        "environment": "development",
        "projects": ["default"],
        "username": "client",
    }


def test_configured_tokens_go_into_an_empty_table_only(make_service):
    make_service()
    service = make_service(environ={"INIT_CLIENT_API_TOKENS": CLIENT})
    with service.context.database.autocommit() as conn:
        assert api_tokens.find_valid(conn, CLIENT, now=NOW) is None
        assert api_tokens.find_valid(conn, ADMIN_TOKEN, now=NOW)
    assert len(logged(service)) == 1


def test_without_configured_tokens_there_are_none(make_service):
    service = make_service({"authentication": {}})
    assert logged(service) == []
    with service.context.database.transaction() as conn:
        assert api_tokens.create_initial(conn, []) == 0
    assert logged(make_service(environ={"INIT_CLIENT_API_TOKENS": CLIENT}))


ONE_START = """
import json, sys
import sigservice.application.service
options, environ = json.loads(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
sigservice.create(options, environ).stop()
"""


@pytest.mark.external
def test_four_processes_that_start_at_once_make_one_admin_and_one_set_of_tokens(database):
    options = {"db": database.create_database("four_starts"), "logLevel": "error"}
    environ = ENVIRON | {"INIT_ADMIN_API_TOKENS": ADMIN_TOKEN, "INIT_CLIENT_API_TOKENS": CLIENT}
    command = [sys.executable, "-c", ONE_START, json.dumps([options, environ])]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    started = [subprocess.Popen(command, cwd=ROOT, text=True, **pipes) for _ in range(4)]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=DEADLINE_SECONDS) for process in started]
    assert outputs == [("", "")] * 4
    assert [process.returncode for process in started] == [0] * 4
    conn = database.connect("four_starts")
    with conn.cursor() as cursor:
        cursor.execute("SELECT username, role_id FROM users")
        assert cursor.fetchall() == [("eva", 1)]
        cursor.execute("SELECT type, environment FROM api_tokens ORDER BY type")
        assert cursor.fetchall() == [("admin", "*"), ("client", "development")]
        cursor.execute("SELECT type, count(*) FROM events GROUP BY type ORDER BY type")
        assert cursor.fetchall() == [("api-token-created", 2), ("user-created", 1)]
    conn.close()
