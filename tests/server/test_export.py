"""An export to a client that is slow, or goes away: it ends, and its worker is free again."""

from __future__ import annotations

import contextlib
import http.client

import pytest

from sigservice.http_server import reading_pace
from tests.conftest import ADMIN_TOKEN
from tests.waiting import DEADLINE_SECONDS, until

COUNT, SIZE = 40, 900_000  # more than the listener buffers


@pytest.fixture
def open_export(make_service, database):
    """`open_export()`: the service, and a connection to it with the response."""
    service = make_service({"server": {"gracefulShutdownEnable": False}})
    service.start()
    with contextlib.closing(database.connect()) as conn, conn, conn.cursor() as cursor:
        statement = "INSERT INTO signal_endpoints (name, created_by_user_id) VALUES ('a', 1)"
        cursor.execute(f"{statement} RETURNING id")
        id = cursor.fetchone()[0]
        statement = """INSERT INTO signals (endpoint_id, token_id, payload, payload_bytes)
            SELECT %s, 0, to_json(repeat('x', %s)), %s FROM generate_series(1, %s)"""
        cursor.execute(statement, (id, SIZE, SIZE, COUNT))

    def get():
        conn = http.client.HTTPConnection("127.0.0.1", service.port, timeout=DEADLINE_SECONDS)
        path = f"/api/admin/signal-endpoints/{id}/export"
        conn.request("GET", path, headers={"Authorization": ADMIN_TOKEN})
        return service, conn, conn.getresponse()

    return get


def count_channels(service):
    return len(service._listener._channels())


def test_large_export_is_complete(open_export):
    _, conn, response = open_export()
    with contextlib.closing(conn):
        assert response.read().count(b"\n") == COUNT


def test_export_ends_when_the_client_goes_away(open_export):
    service, conn, response = open_export()
    assert response.read(1000)
    response.close()
    conn.close()
    until(lambda: not count_channels(service), "the end of the request")


def test_client_that_reads_nothing_is_disconnected(open_export, monkeypatch):
    monkeypatch.setattr(reading_pace, "SLOW_SECONDS", 0.5)
    service, conn, response = open_export()
    with contextlib.closing(conn):
        until(lambda: not count_channels(service), "the end of the request")
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            response.read()


def test_client_that_reads_a_little_is_disconnected(open_export, monkeypatch):
    monkeypatch.setattr(reading_pace, "SLOW_SECONDS", 0.5)
    service, conn, response = open_export()
    with contextlib.closing(conn):

        def read_a_little():
            assert response.read(1)
            return not count_channels(service)

        until(read_a_little, "the end of the request", pause=0.1)
        assert not service.context.streamed_files._amounts
