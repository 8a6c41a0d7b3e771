"""Raw clients of GET /api/client/streaming, and the service that they use."""

import contextlib
import json
import re
import time
from typing import Any

from tests.conftest import ADMIN_TOKEN
from tests.server.process import Client
from tests.waiting import DEADLINE_SECONDS, until

LIMIT = 20
NODE = "unleash-node-sdk:6.12.1"
FLAG = "/api/admin/projects/default/features/a"
ENVIRONMENT = f"{FLAG}/environments/development"


class Stream:
    """One connection. `extra` follows the request."""

    def __init__(
        self,
        client: Client,
        token: str,
        extra: bytes = b"",
        method: str = "GET",
        version: str = "1.1",
        event_id: str = "",
    ) -> None:
        self.socket = client.connect()
        self._received = b""
        head = f"{method} /api/client/streaming HTTP/{version}\r\nHost: x\r\n"
        head += f"Authorization: {token}\r\n"
        head += f"Last-Event-ID: {event_id}\r\n" if event_id else ""
        self.socket.sendall(head.encode() + b"\r\n" + extra)

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def read_until(self, end: bytes) -> bytes:
        """What arrives up to `end`."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while end not in self._received:
            data = self.socket.recv(65_536)
            assert data, self._received
            assert time.monotonic() < deadline, self._received  # pings may arrive all the time
            self._received += data
        before, _, self._received = self._received.partition(end)
        return before

    def read_head(self) -> str:
        return self.read_until(b"\r\n\r\n").decode()

    def read_event(self) -> tuple[str, list[dict[str, Any]]]:
        """(name, its events), without the pings before."""
        text = self.read_until(b"}\n\n").decode() + "}"
        name = re.search(r"^event: (.*)$", text, re.MULTILINE)
        data = re.search(r"^data: (.*)$", text, re.MULTILINE)
        assert name, text
        assert data, text
        return name[1], json.loads(data[1])["events"]

    def read_rest(self) -> bytes:
        """What arrives up to the end of the connection."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        with contextlib.suppress(ConnectionResetError):
            while data := self.socket.recv(65_536):
                self._received += data
                assert time.monotonic() < deadline, self._received
        return self._received


class Server(Client):
    def __init__(self, service: Any) -> None:
        service.start()
        self.service, self.port = service, service.port or 0
        self.pipe = service.config["server"]["pipe"] or ""

    def admin(self, method: str, path: str, body: Any = None) -> Any:
        status, answer = self.request(method, path, body, ADMIN_TOKEN)
        assert status < 300, answer
        return answer

    def create_token(self, **more: Any) -> dict[str, Any]:
        body = {"tokenName": "t", "type": "client", "environment": "development"}
        return self.admin("POST", "/api/admin/api-tokens", body | more)

    def switch(self, is_on: bool) -> None:
        self.admin("POST", f"{ENVIRONMENT}/{'on' if is_on else 'off'}")

    def create_large_flag(self, strategies: int) -> None:
        """75 kB for each strategy."""
        self.admin("POST", "/api/admin/projects/default/features", {"name": "a"})
        values = [str(number).zfill(90) for number in range(200)]
        constraint = {"contextName": "userId", "operator": "IN", "values": values}
        strategy = {"name": "default", "constraints": [constraint] * 4}
        for _ in range(strategies):
            self.admin("POST", f"{ENVIRONMENT}/strategies", strategy)

    def open(self, token: str, **more: Any) -> Stream:
        """A stream that has begun."""
        stream = Stream(self, token, **more)
        head = stream.read_head()
        assert head.startswith("HTTP/1.1 200"), head
        assert stream.read_event()[0] == "unleash-connected"
        return stream

    def await_all_places(self, token: str) -> None:
        """Fills the limit: a place that was never released would be missing."""

        def fill() -> bool:
            with contextlib.ExitStack() as stack:
                heads = []
                for _ in range(LIMIT):
                    stream = stack.enter_context(Stream(self, token))
                    heads.append(stream.read_head())
                if not all(head.startswith("HTTP/1.1 200") for head in heads):
                    return False
                with Stream(self, token) as surplus:
                    head = surplus.read_head()
                assert head.startswith("HTTP/1.1 429"), head
                assert "Retry-After: 30" in head
                return True

        until(fill, "all places", pause=0.1)
