"""A POST against real servers: checked, bounded, never led elsewhere."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from sigservice.outgoing import post as module
from sigservice.outgoing.addresses import AddressPolicy, DestinationError
from sigservice.outgoing.post import DeliveryError, HttpConnection, get, post
from sigservice.outgoing.proxies import Proxies
from tests.receiver import CERTIFICATE, receiving
from tests.table_tests import each
from tests.waiting import DEADLINE_SECONDS, take_time

HERE = AddressPolicy(False, ("127.0.0.1", "localhost"))
HEADERS = {"Content-Type": "application/json"}


def ask(url, policy=HERE, proxies=None, **more):
    return post(url, b"{}", HEADERS, policy=policy, proxies=proxies or Proxies(), **more)


@pytest.fixture
def receiver():
    with receiving() as one:
        yield one


def test_it_arrives(receiver):
    assert ask(f"{receiver.url}/a/b?c=%20d").status == 204
    (request,) = receiver.requests
    assert (request.path, request.body) == ("/a/b?c=%20d", b"{}")
    assert request.headers["Host"] == f"127.0.0.1:{receiver.port}"


def test_a_get_has_no_body(receiver):
    receiver.answers, receiver.body = [(200, {})], b"x" * 100_000
    response = get(f"{receiver.url}/a?b=c", policy=HERE, proxies=Proxies())
    assert len(response.body) == module.MAX_BYTES
    (request,) = receiver.requests
    assert (request.path, request.body) == ("/a?b=c", b"")
    with pytest.raises(DestinationError):
        get(receiver.url, policy=AddressPolicy(), proxies=Proxies())


def test_nobody_is_asked_who_may_not_be(receiver, monkeypatch):
    with pytest.raises(DestinationError):
        ask(receiver.url, AddressPolicy())
    with pytest.raises(DestinationError):
        ask(f"http://localhost:{receiver.port}/", AddressPolicy())
    assert receiver.requests == []


def test_a_redirect_is_an_answer_and_not_followed(receiver):
    receiver.answers = [(302, {"Location": f"{receiver.url}/private"})]
    assert ask(f"{receiver.url}/x").status == 302
    assert [request.path for request in receiver.requests] == ["/x"]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_name_can_not_change_its_mind(receiver, monkeypatch, scheme):
    """It is resolved once; the second answer, which leads here, is never asked for."""
    answers = [["203.0.113.1"], ["127.0.0.1"]]
    real, connected, this_thread = socket.getaddrinfo, [], threading.get_ident()

    def getaddrinfo(host, port, *args, **more):
        if host != "rebind.example":
            if threading.get_ident() == this_thread:  # not a service that another test started
                connected.append(host)
            return real(host, port, *args, **more)
        results = answers.pop(0)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, port)) for a in results]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(module, "CONNECT_SECONDS", 0.05)
    with pytest.raises(DeliveryError):
        ask(
            f"{scheme}://rebind.example:{receiver.port}/", AddressPolicy(False, ("203.0.113.0/24",))
        )
    assert (len(answers), set(connected)) == (1, {"203.0.113.1"})
    assert receiver.requests == []


@pytest.mark.parametrize("proxies", [Proxies(), Proxies(http="http://127.0.0.1:9")])
def test_a_name_that_is_never_resolved_takes_no_longer_than_the_request(monkeypatch, proxies):
    answered = threading.Event()
    real = socket.getaddrinfo

    def getaddrinfo(host, *args, **more):
        if host == "silent.example":
            answered.wait(DEADLINE_SECONDS)
        return real("127.0.0.1", *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    started_at = time.monotonic()
    try:
        with pytest.raises(DeliveryError):
            ask("http://silent.example/x", HERE, proxies, seconds=0.2)
        assert time.monotonic() - started_at < DEADLINE_SECONDS / 2
    finally:
        answered.set()


def test_tls_is_verified_by_name_at_the_address_that_was_checked(monkeypatch):
    with receiving("https") as receiver:
        with pytest.raises(DeliveryError, match="TLS failed"):
            ask(receiver.url)
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        assert ask(f"{receiver.url}/x").status == 204
        with pytest.raises(DeliveryError, match="TLS failed"):  # the certificate is localhost's
            ask(f"https://127.0.0.1:{receiver.port}/x")
        assert [request.path for request in receiver.requests] == ["/x"]


def test_through_a_proxy(receiver):
    proxies = Proxies(http=receiver.url.replace("//", "//me:pass@"))
    assert ask("http://hooks.example/x", AddressPolicy(), proxies).status == 204
    (request,) = receiver.requests
    assert request.path == "http://hooks.example/x"
    assert request.headers["Host"] == "hooks.example"
    assert request.headers["Proxy-Authorization"].startswith("Basic ")
    assert ask(receiver.url, HERE, Proxies(http="http://127.0.0.1:9", none="127.0.0.1")).status


@pytest.mark.parametrize("host", ["10.0.0.1", "0x7f.1", "[::1]", "localhost"])
def test_a_proxy_is_not_asked_for_what_may_not_be_reached(receiver, host):
    proxies = Proxies(http=receiver.url)
    with pytest.raises(DestinationError):
        ask(f"http://{host}/", AddressPolicy(), proxies)
    assert ask("http://hooks.example/later", AddressPolicy(), proxies).status == 204
    assert [request.path for request in receiver.requests] == ["http://hooks.example/later"]


def test_through_a_proxy_with_tls(receiver, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with receiving("https") as behind:
        proxies = Proxies(https=receiver.url.replace("//", "//me:pass@"))
        assert ask(f"{behind.url}/x", HERE, proxies).status == 204
        assert receiver.tunnels == [f"localhost:{behind.port}"]
        assert receiver.requests[0].headers["Proxy-Authorization"].startswith("Basic ")
        assert [request.path for request in behind.requests] == ["/x"]
        assert "Proxy-Authorization" not in behind.requests[0].headers


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:9", "socks5://127.0.0.1:9", "http://[", "x:y"])
def test_a_proxy_that_can_not_be_used(proxy):
    with pytest.raises(DeliveryError, match="proxy"):
        ask("http://hooks.example/s3cret", AddressPolicy(), Proxies(http=proxy))


@each(
    "answer why",
    [
        (b"", "connection was closed"),
        (b"SSH-2.0-OpenSSH\r\n", "connection was closed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", None),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1_000_000, None),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc", None),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000, "connection was closed"),
    ],
)
def test_strange_answers(answer, why):
    with listening(lambda conn: conn.sendall(answer)) as url:
        if why is None:
            assert ask(url).status == 200
        else:
            with pytest.raises(DeliveryError, match=why):
                ask(url)


def test_who_answers_byte_by_byte_is_cut_off():
    def dribble(conn):
        conn.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            conn.sendall(b"X: y\r\n")
            take_time(0.05)

    with listening(dribble) as url:
        began = time.monotonic()
        with pytest.raises(DeliveryError, match="No response within"):
            ask(url, seconds=0.3)
        assert time.monotonic() - began < 30


def test_who_never_answers():
    over = threading.Event()
    with listening(lambda conn: over.wait(DEADLINE_SECONDS)) as url:
        with pytest.raises(DeliveryError, match="No response within"):
            ask(url, seconds=0.3)
        over.set()


def test_failures_do_not_tell_the_address():
    for url in ("http://127.0.0.1:9999/s3cret?t=s3cret", "http://s3cret.invalid/s3cret"):
        with pytest.raises(DeliveryError) as error:
            ask(url)
        assert "s3cret" not in str(error.value)
        assert error.value.__cause__ is None


class listening:
    """A TCP server that reads a request's beginning and lets `act` answer."""

    def __init__(self, act):
        self._act = act

    def __enter__(self):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/"

    def _serve(self):
        conn, _ = self._socket.accept()
        with conn:
            conn.recv(65_536)
            try:
                self._act(conn)
            except OSError:
                pass

    def __exit__(self, *error):
        self._socket.close()
        self._thread.join(DEADLINE_SECONDS)


def send(connection, url, policy=HERE, **more):
    options = {"policy": policy, "proxies": Proxies(), **more}
    return connection.request(url, b"{}", HEADERS, **options)


def test_a_connection_is_kept_for_the_next_request_to_the_same_server(receiver):
    receiver.keeps_connections = True
    with HttpConnection() as connection:
        assert [send(connection, f"{receiver.url}/{n}").status for n in range(3)] == [204] * 3
    assert receiver.connections == 1


def test_a_request_on_a_kept_connection_is_like_the_first_one(receiver):
    receiver.keeps_connections = True
    with HttpConnection() as connection:
        for _ in range(2):
            send(connection, f"{receiver.url}/hook?a=1")
        with pytest.raises(DeliveryError):
            connection.request(receiver.url, b"", {"X": "a\nb: c"}, policy=HERE, proxies=Proxies())
    first, second = receiver.requests
    del first.headers["User-Agent"]  # of urllib3; senders have their own
    assert sorted(first.headers.items()) == sorted(second.headers.items())
    assert (first.path, first.body) == (second.path, second.body)


def test_a_connection_is_not_kept_for_another_policy(receiver):
    receiver.keeps_connections = True
    with HttpConnection() as connection:
        send(connection, receiver.url)
        with pytest.raises(DestinationError):
            send(connection, receiver.url, AddressPolicy())
    assert len(receiver.requests) == 1


def test_a_kept_connection_that_the_server_closes_is_replaced_at_once(receiver):
    receiver.keeps_connections = True
    receiver.answers = [(204, {}), (0, {}), (204, {})]
    with HttpConnection() as connection:
        assert [send(connection, receiver.url).status for _ in range(2)] == [204, 204]
    assert (receiver.connections, len(receiver.requests)) == (2, 3)


def test_a_kept_connection_has_the_time_limit_of_each_request(receiver):
    receiver.keeps_connections = True
    with HttpConnection() as connection:
        assert send(connection, receiver.url).status == 204
        receiver.hold = threading.Event()
        with pytest.raises(DeliveryError, match="No response"):
            send(connection, receiver.url, seconds=0.2)
        receiver.hold.set()
        assert send(connection, receiver.url).status == 204


def test_a_name_is_resolved_again_for_a_new_connection_only(receiver, monkeypatch):
    real, resolved = socket.getaddrinfo, []

    def getaddrinfo(host, *args, **more):
        if host == "hooks.example":
            resolved.append(host)
            host = "127.0.0.1"
        return real(host, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    policy = AddressPolicy(False, ("127.0.0.1",))
    receiver.keeps_connections = True
    receiver.answers = [(204, {}), (204, {"Connection": "close"}), (204, {})]
    with HttpConnection() as connection:
        for _ in range(3):
            send(connection, f"http://hooks.example:{receiver.port}/", policy)
    assert len(resolved) == 2
