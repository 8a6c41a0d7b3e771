"""Outgoing requests through a real proxy, which is another process."""

from __future__ import annotations

import base64
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from standardwebhooks import Webhook

from tests.receiver import CERTIFICATE, receiving
from tests.receiver import Asked as Told
from tests.server.process import Process, free_port, open_folder, until
from tests.spec.kit import Asked, Row
from tests.waiting import DEADLINE_SECONDS

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()
SETS = "/api/admin/projects/default/actions"
PUBLIC = "https://flags.example"


class Proxy:
    """proxy.py on 127.0.0.1; `log` names each request that it passed on."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        self._file = folder / f"port {port}"
        self._log = folder / f"log {port}"
        arguments = f"--hostname 127.0.0.1 --port {port} --num-workers 1 --num-acceptors 1"
        with self._log.open("w") as log:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", "proxy", *arguments.split(), "--port-file", self._file],
                stdout=log,
                stderr=log,
                cwd=folder,
            )

    @property
    def port(self) -> int:
        until(lambda: self._file.exists() and self._file.read_text().strip(), "the proxy's port")
        return int(self._file.read_text().split()[0])

    @property
    def log(self) -> str:
        return self._log.read_text()

    def close(self) -> None:
        self._popen.terminate()
        try:
            self._popen.wait(DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait(DEADLINE_SECONDS)


@contextlib.contextmanager
def proxies() -> Iterator[Any]:
    with open_folder() as folder, contextlib.ExitStack() as stack:

        def start(port: int = 0) -> Proxy:
            return stack.enter_context(contextlib.closing(Proxy(folder, port)))

        yield start


def acting(asked: Asked, service: Process, urls: list[str]) -> int:
    """A set of actions that tells each of these receivers; runs once. Returns its id."""
    endpoint = asked.admin("POST", "/api/admin/signal-endpoints", {"name": "e"}, service=service)
    account = {"username": "robot", "name": "Robot", "rootRole": "Editor"}
    account = asked.admin("POST", "/api/admin/service-account", account, service=service)
    features = "/api/admin/projects/default/features"
    asked.admin("POST", features, {"name": "checkout"}, service=service)
    params = {"environment": "production", "featureName": "checkout"}
    action = {"action": "TOGGLE_FEATURE_ON", "sortOrder": 1, "executionParams": params}
    source = {"source": "signal-endpoint", "sourceId": endpoint["id"], "payload": {}}
    channel = {"type": "webhook", "on": ["success", "failed"], "secret": SECRET}
    body = {
        "name": "told",
        "actorId": account["id"],
        "match": source | {"filters": []},
        "actions": [action],
        "options": {"notifications": [channel | {"url": url} for url in urls]},
    }
    made = asked.admin("POST", SETS, body, service=service)
    path = f"/api/admin/signal-endpoints/{endpoint['id']}/test-signal"
    asked.admin("POST", path, {"payload": {}}, service=service)
    return int(made["id"])


def through_a_proxy(asked: Asked) -> None:
    """http by the proxy's GET-like request, https by CONNECT, what NO_PROXY names directly; while
    a proxy is down the message waits and is sent when it is back."""
    with receiving() as plain, receiving("https") as secure, proxies() as start:
        first, back_at = start(), free_port()
        environ = {
            "http_proxy": f"http://127.0.0.1:{first.port}",
            "HTTP_PROXY": "http://127.0.0.1:9",  # small letters win
            "HTTPS_PROXY": f"http://127.0.0.1:{back_at}",
            "NO_PROXY": "other.example,127.0.0.1",
            "SSL_CERT_FILE": str(CERTIFICATE),
            "SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1,localhost",
            "SERVICE_URL": PUBLIC,
        }
        service = asked.start(environ)
        urls = [
            f"http://localhost:{plain.port}/by-proxy",
            f"{secure.url}/by-tunnel",
            f"http://127.0.0.1:{plain.port}/directly",
        ]
        path = f"{SETS}/{acting(asked, service, urls)}/notifications"
        until(lambda: len(plain.asked) == 2, "the two that are not held up")
        told = {one.path: one for one in plain.asked}
        check(told["/by-proxy"], "by the first proxy", via=True)
        check(told["/directly"], "directly", via=False)
        until(lambda: f"localhost:{plain.port}" in first.log, "the proxy's own log")
        waiting = until(lambda: failed_once(asked, service, path), "the failed attempt")
        assert waiting["lastError"] == "The proxy can't be reached, or it refuses."
        assert not secure.asked
        late = start(back_at)
        assert late.port == back_at
        asked.admin("POST", f"{path}/{waiting['id']}/retry", service=service)
        until(lambda: secure.asked, "what was held up")
        check(secure.asked[0], "through the tunnel", via=False)
        until(lambda: f"localhost:{secure.port}" in late.log, "the proxy's own log")
        assert f"localhost:{secure.port}" not in first.log


def failed_once(asked: Asked, service: Process, path: str) -> dict[str, Any]:
    found = asked.admin("GET", path, service=service)["notifications"]
    return next((one for one in found if one["dueAt"] and one["lastError"]), {})


def check(told: Told, how: str, *, via: bool) -> None:
    event = Webhook(SECRET).verify(told.body, dict(told.headers))
    assert event["data"]["url"].startswith(f"{PUBLIC}/admin/"), how
    assert event == json.loads(told.body)
    assert (told.headers["Via"] is not None) == via, how


ROWS = (
    Row("programs: outgoing requests can be routed through a proxy", through_a_proxy, alone=True),
)
