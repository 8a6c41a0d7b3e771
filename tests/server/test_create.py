"""`create` inside a program: it neither changes nor uses the environment of the program."""

from __future__ import annotations

import os

import pytest

from sigservice.errors import StartError
from tests.application.test_app import Log

VARIABLES = {
    "PGTZ": "Asia/Tokyo",
    "PGDATESTYLE": "German, DMY",
    "PGGEQO": "off",
    "PGSERVICE": "elsewhere",
    "PGHOST": "203.0.113.9",
    "PGOPTIONS": "-c nonsense=1",
}
# Arguments with a visible effect if one of them is used.
SERVICE = """[elsewhere]
host=203.0.113.9
port=1
user=x
dbname=x
options=-c nonsense=1
passfile=/dev/zero
application_name=x
sslmode=require
requirepeer=x
target_session_attrs=standby
"""


@pytest.fixture
def variables(monkeypatch, tmp_path):
    """The environment of a program that uses another database."""
    file = tmp_path / "services"
    file.write_text(SERVICE)
    for name, value in (VARIABLES | {"PGSERVICEFILE": str(file)}).items():
        monkeypatch.setenv(name, value)


def test_environment_of_the_program_is_unchanged(variables, make_service):
    before = dict(os.environ)
    service = make_service()
    service.start()
    assert dict(os.environ) == before
    service.stop()
    assert dict(os.environ) == before


def test_variables_of_libpq_have_no_effect(variables, make_service):
    service = make_service()
    for _ in range(2):  # the connection that comes back from the pool, too
        with service.context.database.transaction() as conn, conn.cursor() as cursor:
            cursor.execute("SELECT current_setting('TimeZone'), date '2026-03-04'::text")
            assert cursor.fetchone() == ("UTC", "2026-03-04")


@pytest.mark.parametrize(
    ("name", "value"),
    [("PGSERVICE", "nowhere"), ("PGTZ", "nowhere"), ("PGDATESTYLE", "x"), ("PGGEQO", "x")],
)
def test_invalid_variable_of_libpq_is_one_clear_line(make_service, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(StartError, match=name) as raised:
        make_service()
    assert "\n" not in str(raised.value)


def test_warnings_about_options_in_code_are_logged(make_service):
    log = Log()
    make_service({"getLogger": log, "eventHook": print})
    assert any("eventHook was removed" in line[-1] for line in log.lines), log.lines
