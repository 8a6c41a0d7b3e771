"""A PostgreSQL with roles, databases and services, shared by the rows of the database."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from tests.postgres_server import PostgresServer, postgres_server
from tests.server.process import Process, find_free_port, until
from tests.spec.kit import ADMIN_SECRET, script_for

HBA = """
local all postgres trust
local replication postgres trust
local all all scram-sha-256
host all all 127.0.0.0/8 scram-sha-256
"""
# role: password
ROLES = {
    "service_user": "service_password",  # the defaults
    "ada": "from the environment",
    "bob": "from code",
    "app": "hunter2",
    "reads": "hunter2",
    "may not": "hunter2",
}
DATABASES = {"service": "service_user", "parts": "ada", "code": "bob", "app": "app"}
# The variables of the services `environment` and `code`.
PARTS = {
    "DATABASE_USERNAME": "ada",
    "DATABASE_PASSWORD": ROLES["ada"],
    "DATABASE_NAME": "parts",
    "DATABASE_APPLICATION_NAME": "flags of parts",
    "DATABASE_SCHEMA": "my schema",
    "DATABASE_POOL_MIN": "1",
    "DATABASE_POOL_MAX": "3",
    "DATABASE_POOL_IDLE_TIMEOUT_MS": "300",
}
CODE = {
    "user": "bob",
    "password": ROLES["bob"],
    "host": "127.0.0.1",
    "database": "code",
    "applicationName": "flags of code",
    "schema": 'a "quoted" one',
    "pool": {"min": 2, "max": 2, "idleTimeoutMillis": 400},
}


class Site:
    """`lonely` is a service without a database. It is started first and checked last."""

    def __init__(self, server: PostgresServer, lonely: Process, stack: ExitStack) -> None:
        self.server, self.lonely = server, lonely
        self._stack = stack
        self._services: dict[str, Process] = {}
        for role, password in ROLES.items():
            server.ask(f"CREATE ROLE \"{role}\" LOGIN PASSWORD '{password}'")
        server.ask("ALTER ROLE reads SET default_transaction_read_only = on")
        for database, owner in DATABASES.items():
            server.ask(f'CREATE DATABASE "{database}" OWNER "{owner}"')

    def service(self, way: str) -> Process:
        """The service that is configured in this way. All three start at the same time."""
        if not self._services:
            port, folder = str(self.server.port), str(self.server.folder)
            in_code = {"db": CODE | {"port": self.server.port}}
            self._services = {
                "default": self.start_service({"DATABASE_PORT": port}),
                "environment": self.start_service(PARTS | {"DATABASE_HOST": folder} | _port(port)),
                "code": self.start_service(PARTS | {"DATABASE_HOST": folder} | _port("1"), in_code),
            }
        return self._services[way].wait_for_address()

    def start_service(
        self, environ: Mapping[str, str], options: Mapping[str, Any] | None = None
    ) -> Process:
        """Starts a service without waiting: use `.wait_for_address()` or `.wait()`."""
        process = Process(
            {"INIT_ADMIN_API_TOKENS": ADMIN_SECRET} | dict(environ), script_for(options or {})
        )
        self._stack.callback(process.close)
        return process

    def make_url(self, database: str, user: str = "app", **query: str) -> str:
        """A connection string without a password; set DATABASE_PASSWORD."""
        more = "&".join(f"{name}={text}" for name, text in query.items())
        user = user.replace(" ", "%20")
        return f"postgres://{user}@127.0.0.1:{self.server.port}/{database}?{more}"

    def create_database(self, name: str) -> str:
        self.server.ask(f'CREATE DATABASE "{name}" OWNER app')
        return name

    def list_sessions(self, column: str, **where: str) -> list[Any]:
        """This column of pg_stat_activity for the matching sessions."""
        conditions = " AND ".join(f"{name} = %s" for name in where)
        rows = self.server.ask(
            f"SELECT {column} FROM pg_stat_activity WHERE {conditions}",
            *where.values(),
        )
        return [row[0] for row in rows]


@contextmanager
def open_site() -> Iterator[Site]:
    nowhere = {"DATABASE_HOST": "127.0.0.1", "DATABASE_PORT": str(find_free_port())}
    nowhere |= {"DATABASE_PASSWORD": "hunter2"}
    with ExitStack() as stack, closing(Process(nowhere)) as lonely:
        server = stack.enter_context(postgres_server(hba=HBA))
        yield Site(server, lonely, stack)


@contextmanager
def start_together(
    cases: Mapping[str, tuple[Mapping[str, str], Mapping[str, Any]]], **environ: str
) -> Iterator[dict[str, str]]:
    """Starts services in one process, which is faster; yields the messages of each.

    A case is (environment, options); `environ` is that of the process.
    """
    script = f"from tests.spec.run import start_several; start_several({json.dumps(cases)!r})"
    with closing(Process(environ, script)) as process:
        until(lambda: process.stdout.endswith("\n"), "services that start or don't")
        assert "hunter2" not in process.stdout + process.stderr
        yield {name: "\n".join(lines) for name, lines in json.loads(process.stdout).items()}


@contextmanager
def run_standby(of: PostgresServer) -> Iterator[PostgresServer]:
    with postgres_server(copy_of=of) as server:
        yield server


@contextmanager
def run_old_server(newer: PostgresServer) -> Iterator[int]:
    """The port of a relay that reports a server as PostgreSQL 13."""
    version = newer.ask("SHOW server_version")[0][0].encode()
    older = b"13" + version[2:]
    assert version[:2] > b"13"
    listener = socket.create_server(("127.0.0.1", 0))
    change = (b"server_version\0" + version, b"server_version\0" + older)
    threading.Thread(target=_relay, args=(listener, newer.port, change), daemon=True).start()
    with listener:
        yield listener.getsockname()[1]


@contextmanager
def write_files(**texts: str) -> Iterator[dict[str, str]]:
    """The paths of files with these contents."""
    with tempfile.TemporaryDirectory(prefix="sigservice-test-") as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text)
        yield {name: str(Path(folder) / name) for name in texts}


def _port(text: str) -> dict[str, str]:
    return {"DATABASE_PORT": text}


def _relay(listener: socket.socket, port: int, change: tuple[bytes, bytes]) -> None:
    """Relays one client after the other; a start needs no more."""
    with contextlib.suppress(OSError):
        while True:
            client, _ = listener.accept()
            with client, socket.create_connection(("127.0.0.1", port)) as server:
                ends = {client: server, server: client}
                while ends:
                    for source in select.select(list(ends), [], [])[0]:
                        data = source.recv(65536)
                        ends[source].sendall(data.replace(*change))
                        if not data:
                            ends = {}
                            break
