"""RevisionNotifications: a change of another connection is announced at once."""

import select

import pytest

from sigservice.db.notifications import RETRY_SECONDS, RevisionNotifications
from sigservice.services import revisions
from tests.waiting import until


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
        revisions.bump(conn, "development")


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
        revisions.bump(conn, "development")
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
