"""Relays in this process, in front of a listening service or of a server that misbehaves."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

import sigservice
from sigservice.clock import Clock
from sigservice.relay.server import Relay
from sigservice.relay.settings import load_settings
from tests.conftest import ADMIN_TOKEN
from tests.waiting import DEADLINE_SECONDS, until

CLIENT, FRONTEND = "*:development.relay-client", "*:development.relay-frontend"
DEFAULT_CLIENT = "default:development.relay-default"
OTHER_FRONTEND = "*:production.relay-frontend"
PROJECT = "/api/admin/projects/default"


def call(
    url: str, method: str, path: str, body: Any = None, token: str = "", **headers: str
) -> tuple[int, dict[str, str], Any]:
    """Status, headers with lowercase names, and the JSON or text of the body."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(
        parts.hostname or "", parts.port or 0, timeout=DEADLINE_SECONDS
    )
    with contextlib.closing(connection):
        fields = {name.replace("_", "-"): text for name, text in headers.items()}
        if token:
            fields["Authorization"] = token
        if body is not None:
            fields.setdefault("Content-Type", "application/json")
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request(method, path, data, fields)
        response = connection.getresponse()
        text = response.read().decode()
        answer = {name.lower(): value for name, value in response.getheaders()}
    try:
        return response.status, answer, json.loads(text)
    except ValueError:
        return response.status, answer, text


class UpstreamService:
    """A listening service of ours."""

    def __init__(self, service: Any) -> None:
        self.service = service
        self.url = f"http://127.0.0.1:{service.port}"

    def admin(self, method: str, path: str, body: Any = None) -> Any:
        status, _, answer = call(self.url, method, path, body, ADMIN_TOKEN)
        assert status < 300, (status, answer)
        return answer

    def create_flag(self, name: str, **strategy: Any) -> None:
        """A flag that is enabled in development, with one strategy."""
        self.admin("POST", f"{PROJECT}/features", {"name": name})
        path = f"{PROJECT}/features/{name}/environments/development"
        self.admin("POST", f"{path}/strategies", {"name": "flexibleRollout"} | strategy)
        self.admin("POST", f"{path}/on")

    def switch(self, name: str, on: bool) -> None:
        path = f"{PROJECT}/features/{name}/environments/development"
        self.admin("POST", f"{path}/{'on' if on else 'off'}")


@pytest.fixture
def upstream(database) -> Iterator[UpstreamService]:
    tokens = [{"type": "admin", "secret": ADMIN_TOKEN, "environment": "*", "project": "*"}]
    for type, secret in (
        ("client", CLIENT),
        ("client", DEFAULT_CLIENT),
        ("frontend", FRONTEND),
        ("frontend", OTHER_FRONTEND),
    ):
        project, _, rest = secret.partition(":")
        environment = rest.partition(".")[0]
        tokens.append(
            {"type": type, "secret": secret, "environment": environment, "project": project}
        )
    service = sigservice.start(
        {
            "db": database.options(),
            "logLevel": "error",
            "server": {"host": "127.0.0.1", "port": 0, "gracefulShutdownEnable": False},
            "authentication": {"initialAdminUser": None, "initApiTokens": tokens},
        },
        {},
    )
    try:
        yield UpstreamService(service)
    finally:
        service.stop()


class RelayKit:
    def __init__(self, relay: Relay) -> None:
        self.relay, self.context = relay, relay.context
        self.url = f"http://127.0.0.1:{relay.port}"

    def get(self, path: str, token: str = "", **headers: str) -> tuple[int, dict[str, str], Any]:
        return call(self.url, "GET", path, None, token, **headers)

    def post(
        self, path: str, body: Any, token: str = "", **headers: str
    ) -> tuple[int, dict[str, str], Any]:
        return call(self.url, "POST", path, body, token, **headers)

    def wait_until_ready(self) -> None:
        until(lambda: self.get("/ready")[0] == 200, "the relay is ready")

    def list_toggles(self, token: str = FRONTEND) -> set[str]:
        status, _, answer = self.get("/api/frontend", token)
        assert status == 200, answer
        return {toggle["name"] for toggle in answer["toggles"]}

    def read_all_again(self) -> None:
        """What the threads of the sources do when their time has come."""
        for source in self.context.sources.list_all():
            self.context.sources.read(source)


MakeRelay = Callable[..., RelayKit]


@pytest.fixture
def make_relay() -> Iterator[MakeRelay]:
    relays: list[Relay] = []

    def make(
        url: str, tokens: str = CLIENT, *, clock: Clock | None = None, **variables: str
    ) -> RelayKit:
        environ = {
            "RELAY_UPSTREAM_URLS": url,
            "RELAY_TOKENS": tokens,
            "HTTP_HOST": "127.0.0.1",
            "LOG_LEVEL": "fatal",
            "GRACEFUL_SHUTDOWN_TIMEOUT": "100",
            "NO_PROXY": "*",
        }
        relay = Relay(load_settings(environ | variables), clock or Clock())
        relays.append(relay)
        relay.start()
        return RelayKit(relay)

    yield make
    for relay in relays:
        relay.stop()


class FakeUpstream:
    """A server with the two routes that the relay asks. `flags` answers for flags, and `tokens` has
    the valid ones: (status, headers, body), or None to say nothing."""

    def __init__(self) -> None:
        self.tokens = {CLIENT: "client", FRONTEND: "frontend"}
        self.names = ["one"]
        self.flags: Callable[[], tuple[int, dict[str, str], bytes] | None] = self.write_flags
        self.validation: Callable[[list[str]], tuple[int, bytes]] = self.validate
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.validated: list[list[str]] = []
        self.released = threading.Event()  # ends answers that hang
        self._server: ThreadingHTTPServer | None = None
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def write_flags(self) -> tuple[int, dict[str, str], bytes]:
        features = [
            {
                "name": name,
                "enabled": True,
                "project": "default",
                "strategies": [],
                "x": {"y": 1.50},
            }
            for name in self.names
        ]
        return 200, {"ETag": '"e"'}, json.dumps({"version": 2, "features": features}).encode()

    def validate(self, tokens: list[str]) -> tuple[int, bytes]:
        valid = [
            {
                "token": token,
                "type": self.tokens[token],
                "environment": "development",
                "projects": ["*"],
            }
            for token in tokens
            if token in self.tokens
        ]
        return 200, json.dumps({"tokens": valid}).encode()

    def start(self) -> None:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                fake.requests.append((self.path, dict(self.headers)))
                answer = fake.flags()
                if answer is None:
                    fake.released.wait(DEADLINE_SECONDS)
                    return
                self.answer(*answer)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                tokens = json.loads(body)["tokens"]
                fake.validated.append(tokens)
                status, text = fake.validation(tokens)
                self.answer(status, {}, text)

            def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
                self.send_response(status)
                headers = {"Content-Length": str(len(body))} | headers
                for name, text in headers.items():
                    self.send_header(name, text)
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            allow_reuse_address = True
            address_family = socket.AF_INET

        self._server = Server(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        self.released.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


@pytest.fixture
def fake() -> Iterator[FakeUpstream]:
    upstream = FakeUpstream()
    yield upstream
    upstream.stop()
