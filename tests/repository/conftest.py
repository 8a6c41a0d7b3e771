"""A connection for each test whose work is undone at its end; one service for a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import sigservice
from sigservice.application.service import Service
from sigservice.db.pool import Connection, Database
from sigservice.testing import FakeClock, TemporaryDatabase


@pytest.fixture(scope="module")
def nobodys_service(temporary_database: TemporaryDatabase) -> Iterator[Service]:
    """Without users and tokens, on empty tables."""
    options = {
        "db": temporary_database.options(),
        "logLevel": "error",
        "authentication": {"initialAdminUser": None},
    }
    service = sigservice.create(options, {}, clock=FakeClock())
    temporary_database.empty()
    yield service
    service.stop()


@pytest.fixture
def conn(nobodys_service: Service) -> Iterator[Connection]:
    """A transaction on empty tables, rolled back at the end."""
    with nobodys_service.context.database.transaction() as conn:
        yield conn
        conn.rollback()


@pytest.fixture
def pool(nobodys_service: Service, temporary_database: TemporaryDatabase) -> Iterator[Database]:
    """For tests that need two connections, and so have to commit; not together with `conn`."""
    yield nobodys_service.context.database
    temporary_database.empty()
