"""Folders for embedded databases, and services of this process that listen."""

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
    """An empty folder that the database's account can pass; nothing may run in it at the end."""
    with create_open_folder() as path:
        yield path
        until(lambda: not list_processes(path), "the end of every database")


@pytest.fixture(scope="session")
def kept_data() -> Iterator[Path]:
    with create_open_folder() as path:
        yield path / "data"


@pytest.fixture
def data(kept_data: Path) -> Iterator[Path]:
    """A data folder whose database is made once a run, is empty and not running."""
    database = EmbeddedPostgres(str(kept_data))
    database.start()
    conn = psycopg2.connect(**database.arguments())
    with conn, conn.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    conn.close()
    database.stop()
    yield kept_data
    until(lambda: not list_processes(kept_data), "the end of the database")


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
