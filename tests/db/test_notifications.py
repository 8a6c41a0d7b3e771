"""RevisionNotifications: a change of another connection is announced at once."""

import contextlib
import re
import select
from pathlib import Path

import pytest

from sigservice.db.notifications import RETRY_SECONDS, RevisionNotifications
from sigservice.services import revisions
from tests.repository.kit import run
from tests.waiting import until

SQL = Path(__file__).parents[2] / "sql"


@pytest.fixture
def notifications(service):
    notifications = RevisionNotifications(service.context.database)
    yield notifications
    notifications.close()


def is_announced(fd: int, seconds: float = 10) -> bool:
    return bool(select.select([fd], [], [], seconds)[0])


def bump(service) -> None:
    with service.context.database.transaction() as conn:
        revisions.lock(conn)
        revisions.bump(conn, "development", flags=None)


def test_a_change_is_announced(service, notifications):
    fd = notifications.open()
    assert not is_announced(fd, 0)
    bump(service)
    assert is_announced(fd)
    assert notifications.receive()
    assert not is_announced(fd, 0)


def test_a_change_that_is_rolled_back_is_not_announced(service, notifications):
    fd = notifications.open()
    with service.context.database.transaction() as conn:
        revisions.bump(conn, "development", flags=None)
        conn.rollback()
    assert not is_announced(fd, 0)
    bump(service)
    assert is_announced(fd)
    assert notifications.receive()
    assert not is_announced(fd, 0)


def test_a_lost_connection_is_opened_again(service, notifications, rows):
    fd = notifications.open()
    rows(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE query = 'LISTEN sigservice_revisions'"
    )
    assert is_announced(fd)
    until(lambda: not notifications.receive(), "the end of the connection")
    assert notifications.open() is None  # too soon
    fd = until(notifications.open, "the new connection", RETRY_SECONDS + 10)
    bump(service)
    assert is_announced(fd)


def test_signals_are_not_announced(alerts, database):
    """PostgreSQL takes a lock over all databases at the commit of a notification, so only flag
    changes, which happen one after the other anyway, may send one."""
    sources = "\n".join(path.read_text() for path in SQL.rglob("*.sql"))
    channels = set(re.findall(r"\b(?:pg_notify\s*\(\s*'|NOTIFY\s+)(\w+)", sources, re.IGNORECASE))
    assert channels == {"sigservice_revisions"}
    alerts.set()
    with contextlib.closing(database.connect()) as conn:
        run(conn, "LISTEN sigservice_revisions")
        for _ in range(5):
            alerts.send()
        assert count_announced(conn) == 0
        alerts.work()  # the first one switches the flag off
        assert not alerts.is_on()
        for _ in range(5):
            alerts.send()
        alerts.work()
        assert count_announced(conn) == 1
        alerts.switch("checkout", "on")
        assert count_announced(conn) == 1


def count_announced(conn) -> int:
    """All that were committed before, as those of a session arrive with its next answer."""
    run(conn, "SELECT 1")
    count = len(conn.notifies)
    conn.notifies.clear()
    return count
