"""A configured PostgreSQL as people have them: TCP, a password, a database of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import psycopg2
import pytest

from sigservice.config import load_config
from sigservice.db.open import OpenDatabase
from sigservice.db.place import find_place
from sigservice.errors import StartError
from sigservice.log import line_loggers

LOGGER = line_loggers("fatal")("database")


@pytest.fixture(scope="module")
def server():
    """(port): a PostgreSQL on 127.0.0.1 that demands SCRAM; user app, database "my service"."""
    home = Path(tempfile.mkdtemp(prefix="sigservice-tcp-"))
    place = find_place(":temporary:", None)
    shutil.rmtree(place.home)
    more = {}
    if place.account:
        user = pwd.getpwnam(place.account)
        os.chown(home, user.pw_uid, user.pw_gid)
        more = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    (home / "password").write_text("s3cret")
    (home / "password").chmod(0o644)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    initdb = [place.binaries / "initdb", "-D", home / "data", "-U", "postgres", "--no-sync"]
    initdb += ["-A", "scram-sha-256", f"--pwfile={home}/password"]
    subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd="/", **more)
    process = subprocess.Popen(
        [
            place.binaries / "postgres",
            *("-D", home / "data", "-p", str(port), "-c", "fsync=off"),
            *("-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="),
        ],
        cwd="/",
        stderr=subprocess.DEVNULL,
        **more,
    )
    conn = None
    while conn is None:
        try:
            conn = psycopg2.connect(
                host="127.0.0.1", port=port, user="postgres", password="s3cret", dbname="postgres"
            )
        except psycopg2.OperationalError:
            assert process.poll() is None
    conn.autocommit = True
    with conn.cursor() as cursor:
        cursor.execute("CREATE ROLE app LOGIN PASSWORD 'p w'")
        cursor.execute('CREATE DATABASE "my service" OWNER app')
    conn.close()
    yield port
    process.terminate()
    process.wait()
    shutil.rmtree(home)


def opened(environ, options=None, retry_seconds=0.3):
    return OpenDatabase(load_config(options, environ).config, LOGGER, retry_seconds)


def ask(database, statement):
    with database.pool.autocommit() as conn, conn.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()


def test_by_url(server):
    url = f"postgres://app:p%20w@127.0.0.1:{server}/my%20service?sslmode=disable"
    database = opened({"DATABASE_URL": url, "DATABASE_SCHEMA": "my schema"})
    found = ask(
        database, "SELECT current_user, current_schema(), current_setting('server_version')"
    )
    assert found[:2] == ("app", "my schema")
    assert f"127.0.0.1:{server}" in database.described
    assert "p w" not in database.described
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
    found = ask(database, "SELECT application_name FROM pg_stat_activity WHERE usename = 'app'")
    assert found == ("flags",)
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


def test_a_schema_that_may_not_be_made_is_one_clear_line(server):
    url = f"postgres://app:p%20w@127.0.0.1:{server}/postgres?sslmode=disable"
    with pytest.raises(StartError, match="permission denied"):
        opened({"DATABASE_URL": url, "DATABASE_SCHEMA": "forbidden"})
