"""Raw clients of GET /api/client/streaming: what they send, when they leave, and what ends them."""

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from sigservice.delivery import streams
from sigservice.http_server import reading_pace
from tests.server.process import create_open_folder
from tests.server.raw_streams import LIMIT, Server, Stream
from tests.waiting import until


@pytest.fixture
def make_server(make_service) -> Any:
    def make(limit: int = LIMIT, **server: Any) -> Server:
        options = {"host": "127.0.0.1", "port": 0, "gracefulShutdownEnable": False, **server}
        return Server(make_service({"server": options, "streaming": {"maxStreams": limit}}))

    return make


@pytest.fixture
def server(make_server) -> Server:
    server = make_server()
    server.admin("POST", "/api/admin/projects/default/features", {"name": "a"})
    return server


@pytest.fixture
def token(server) -> str:
    return str(server.create_token()["secret"])


@pytest.fixture
def stream(server, token) -> Iterator[Stream]:
    with server.open(token) as stream:
        yield stream


def test_a_change_is_one_event_with_an_id(server, stream):
    server.switch(True)
    name, events = stream.read_event()
    assert name == "unleash-updated"
    assert [event["type"] for event in events] == ["feature-updated"]


def test_streams_go_on_after_the_system_had_no_thread_left(server, token, monkeypatch):
    start = threading.Thread.start

    def fail(thread):
        if thread.name == "streams":
            monkeypatch.setattr(threading.Thread, "start", start)
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", fail)
    with server.open(token):
        until(lambda: threading.Thread.start is start, "the failure")
        with server.open(token) as stream:
            server.switch(True)
            assert stream.read_event()[0] == "unleash-updated"


def test_a_client_that_comes_back_gets_what_it_missed(server, token, stream):
    server.switch(True)
    (event,) = stream.read_event()[1]
    server.switch(False)
    with Stream(server, token, event_id=str(event["eventId"])) as second:
        second.read_head()
        (missed,) = second.read_event()[1]
    assert (missed["type"], missed["feature"]["enabled"]) == ("feature-updated", False)


def test_clients_that_leave_at_any_moment_release_their_places(server, token):
    reset = struct.pack("ii", 1, 0)
    for moment in range(6 * LIMIT):
        stream = Stream(server, token, method=("GET", "HEAD")[moment % 7 == 6])
        if moment % 3 == 1:
            stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        if moment % 4 == 2:
            stream.read_head()
        elif moment % 4 == 3:
            stream.socket.recv(moment + 1)
        if moment % 5 == 0:
            server.switch(moment % 2 == 0)
        stream.socket.close()
        half = server.connect()
        half.sendall(b"GET /api/client/streaming HTTP/1.1\r\nAuth"[: moment + 1])
        half.close()
    server.await_all_places(token)


def test_head_requests_and_wrong_tokens_take_no_place(server, token):
    for _ in range(LIMIT + 1):
        with Stream(server, token, method="HEAD") as head:
            assert head.read_head().startswith("HTTP/1.1 200")
        with Stream(server, "*:development.wrong") as response:
            assert response.read_head().startswith("HTTP/1.1 401")
    server.await_all_places(token)


def test_http_1_0_gets_a_stream_without_chunks(server, token):
    with Stream(server, token, version="1.0") as stream:
        head = stream.read_head()
        assert "chunked" not in head
        assert "Connection: close" in head
        assert stream.read_until(b"data: ").startswith(b"id: ")
        server.switch(True)
        stream.read_until(b"feature-updated")


@pytest.mark.parametrize(
    "extra",
    [b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n", b"\0\xff\r\n" * 100],
    ids=["http", "bytes"],
)
def test_bytes_after_the_request_are_dropped(server, token, extra):
    with server.open(token, extra=extra) as stream:
        stream.socket.sendall(extra)
        server.switch(True)
        assert stream.read_event()[0] == "unleash-updated"


def test_a_client_that_keeps_sending_is_disconnected(server, token, stream):
    with contextlib.suppress(ConnectionError):
        for _ in range(100):
            stream.socket.sendall(b"x" * 65_536)
    stream.read_rest()
    server.await_all_places(token)


def test_a_revoked_token_ends_its_streams_only(server, token, stream):
    other = server.create_token()
    with server.open(other["secret"]) as ended:
        server.admin("DELETE", f"/api/admin/api-tokens/{other['secret']}")
        assert ended.read_rest().endswith(b"0\r\n\r\n")
    server.switch(True)
    assert stream.read_event()[0] == "unleash-updated"


def test_an_expired_token_ends_its_streams(server, clock):
    expires_at = clock.now() + timedelta(minutes=1)
    token = server.create_token(expiresAt=expires_at.isoformat())
    with server.open(token["secret"]) as stream:
        clock.advance(120)
        assert stream.read_rest().endswith(b"0\r\n\r\n")


def expire(clock, hours):
    return (clock.now() + timedelta(hours=hours)).isoformat()


def test_a_shortened_expiry_ends_the_streams_of_the_token(server, clock):
    """Before the next change is written to them."""
    token = server.create_token(expiresAt=expire(clock, 100))["secret"]
    with server.open(token) as stream:
        path = f"/api/admin/api-tokens/{token}"
        server.admin("PUT", path, {"expiresAt": expire(clock, 1)})
        server.switch(True)
        assert stream.read_event()[0] == "unleash-updated"  # after the new expiry was read
        clock.advance(2 * 3600)
        server.switch(False)
        assert b"unleash-updated" not in stream.read_rest()


@pytest.mark.parametrize("is_removed", [False, True])
def test_a_stream_goes_on_after_the_expiry_that_it_was_opened_with(server, clock, rows, is_removed):
    token = server.create_token(expiresAt=expire(clock, 1))
    with server.open(token["secret"]) as stream:
        path = f"/api/admin/api-tokens/{token['secret']}"
        server.admin("PUT", path, {"expiresAt": expire(clock, 100)})
        if is_removed:
            rows("UPDATE api_tokens SET expires_at = NULL WHERE id = %s", token["id"])
            server.create_token()  # tokens have changed: the stream reads the expiry again
        server.switch(True)
        assert stream.read_event()[0] == "unleash-updated"  # after the new expiry was read
        clock.advance(200 * 3600 if is_removed else 2 * 3600)
        server.switch(False)
        assert stream.read_event()[0] == "unleash-updated"


def test_a_change_in_another_process_arrives(server, make_server, stream, rows):
    other = make_server()
    other.switch(True)
    assert stream.read_event()[0] == "unleash-updated"
    listening = "SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN sigservice_revisions'"
    assert rows(f"SELECT pg_terminate_backend(pid) FROM ({listening}) AS l") == [(True,)]
    other.switch(False)
    assert stream.read_event()[0] == "unleash-updated"
    until(lambda: rows(listening), "the next LISTEN")


def test_a_change_without_a_notification_arrives_after_a_second(server, stream, rows):
    rows("ALTER TABLE revisions DISABLE TRIGGER revisions_notify")
    try:
        server.switch(True)
        assert stream.read_event()[0] == "unleash-updated"
    finally:
        rows("ALTER TABLE revisions ENABLE TRIGGER revisions_notify")


def test_a_stop_ends_all_streams_in_order(make_server):
    server = make_server(limit=200)
    token = server.create_token()["secret"]
    all_streams = [server.open(token) for _ in range(200)]
    server.service.stop()
    ends = [stream.read_rest() for stream in all_streams]
    for stream in all_streams:
        stream.socket.close()
    assert set(ends) == {b"\r\n0\r\n\r\n"}


def test_clients_that_do_not_read_hold_little_memory(make_server, monkeypatch):
    """On a unix socket, which the system gives little memory."""
    monkeypatch.setattr(streams, "MAX_PENDING_BYTES", 1_000_000)
    with create_open_folder() as folder, contextlib.ExitStack() as stack:
        web = make_server()
        web.create_large_flag(1)
        server = make_server(limit=100, pipe=str(folder / "s"))
        token = web.create_token()["secret"]
        for _ in range(40):
            stack.enter_context(server.open(token))
        reader = stack.enter_context(server.open(token))
        opened = server.service.context.streams
        for number in range(12):
            web.switch(number % 2 == 0)
            assert reader.read_event()[0] == "unleash-updated"
            pending = sum(connection.pending_bytes for connection in list(opened._open))
            assert pending <= streams.MAX_PENDING_BYTES
        assert 1 <= opened.count < 30


def test_a_client_that_never_reads_its_first_event_is_disconnected(make_server, monkeypatch):
    monkeypatch.setattr(reading_pace, "STALLED_SECONDS", 0.5)
    with create_open_folder() as folder:
        web = make_server()
        web.create_large_flag(8)
        server = make_server(pipe=str(folder / "s"))
        token = web.create_token()["secret"]
        slow = [Stream(server, token) for _ in range(LIMIT)]
        for stream in slow:
            stream.socket.recv(1)
        server.await_all_places(token)
        for stream in slow:
            stream.socket.close()
