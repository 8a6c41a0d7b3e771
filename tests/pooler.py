"""PgBouncer in front of a PostgreSQL; skips the test where it is not installed."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg2
import pytest

from tests.postgres_server import PostgresServer
from tests.server.process import find_free_port, until

CONFIGURATION = """
[databases]
* = host=127.0.0.1 port={database_port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = plain
auth_file = {folder}/users
pool_mode = {mode}
{more}
"""


def pgbouncer_program() -> str:
    """Its path. Debian puts it where an ordinary user's PATH does not lead."""
    path = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    return path or pytest.skip("needs pgbouncer")


@contextmanager
def pgbouncer(
    server: PostgresServer, mode: str = "session", users: str = "", more: str = ""
) -> Iterator[int]:
    """Its port. `users` are lines of the authentication file, `more` of the configuration."""
    program = pgbouncer_program()
    folder = Path(tempfile.mkdtemp(prefix="sigservice-pgbouncer-"))
    port = find_free_port()
    (folder / "users").write_text(users)
    text = CONFIGURATION.format(
        database_port=server.port, port=port, folder=folder, mode=mode, more=more
    )
    (folder / "pgbouncer.ini").write_text(text)
    identity = {}
    if os.geteuid() == 0:  # which it refuses
        account = pwd.getpwnam("nobody")
        identity = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        for path in (folder, *folder.iterdir()):
            os.chown(path, account.pw_uid, account.pw_gid)
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            [program, str(folder / "pgbouncer.ini")], cwd="/", stdout=log, stderr=log, **identity
        )
    try:
        until(lambda: _answers(port), f"pgbouncer: {(folder / 'log').read_text()}")
        yield port
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(folder)


def _answers(port: int) -> bool:
    try:
        psycopg2.connect(host="127.0.0.1", port=port, user="x", dbname="x").close()
    except psycopg2.OperationalError as error:
        return "refused" not in str(error)
    return True
