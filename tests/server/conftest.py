"""Directories for embedded databases, and listening services in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from sigservice.db.embedded import EmbeddedPostgres
from tests.server.process import Client, create_open_folder, list_processes, until

OUTSIDE = ("keepAliveTimeout", "preRouterHook")  # of the `server` block


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty directory for an embedded database; nothing may run in it at the end."""
    with create_open_folder() as path:
        yield path
        until(lambda: not list_processes(path), "the end of every database")


@pytest.fixture(scope="session")
def shared_data() -> Iterator[Path]:
    with create_open_folder() as path:
        yield path / "data"


@pytest.fixture
def data(shared_data: Path) -> Iterator[Path]:
    """A data directory with an empty database that doesn't run; it is created once."""
    database = EmbeddedPostgres(str(shared_data))
    database.start()
    conn = psycopg2.connect(**database.arguments())
    with conn, conn.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    conn.close()
    database.stop()
    yield shared_data
    until(lambda: not list_processes(shared_data), "the end of the database")


@pytest.fixture
def serve(make_service: Callable[..., Any]) -> Callable[..., Client]:
    """`serve(host="::1", …)`: a service in this process, without signal handlers."""

    def start(**server: Any) -> Client:
        others = {name: server.pop(name) for name in OUTSIDE if name in server}
        options = {"gracefulShutdownEnable": False, **server}
        service = make_service({"server": options, **others})
        service.start()
        return Client.at(service.port, str(server.get("pipe") or ""))

    return start
