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

from tests.receiver import CERTIFICATE, ReceivedRequest, receiving
from tests.server.process import Process, create_open_folder, find_free_port, until
from tests.spec.kit import Case, Row
from tests.waiting import DEADLINE_SECONDS

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()
ADDONS = "/api/admin/addons"
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
def run_proxies() -> Iterator[Any]:
    with create_open_folder() as folder, contextlib.ExitStack() as stack:

        def start(port: int = 0) -> Proxy:
            return stack.enter_context(contextlib.closing(Proxy(folder, port)))

        yield start


def create_integrations(case: Case, service: Process, urls: list[str]) -> list[str]:
    """An integration for each receiver; a new flag is sent to all. Returns their paths."""
    body = {"provider": "webhook", "enabled": True, "events": ["feature-created"]}
    paths = []
    for url in urls:
        parameters = {"url": url, "secret": SECRET}
        addon = case.admin("POST", ADDONS, body | {"parameters": parameters}, service=service)
        paths.append(f"{ADDONS}/{addon['id']}/deliveries")
    features = "/api/admin/projects/default/features"
    case.admin("POST", features, {"name": "checkout"}, service=service)
    return paths


def check_proxy(case: Case) -> None:
    """http by the proxy's GET-like request, https by CONNECT, what NO_PROXY names directly; while
    a proxy is down the message waits and is sent when it is back."""
    with receiving() as plain, receiving("https") as secure, run_proxies() as start:
        first, back_at = start(), find_free_port()
        environ = {
            "http_proxy": f"http://127.0.0.1:{first.port}",
            "HTTP_PROXY": "http://127.0.0.1:9",  # small letters win
            "HTTPS_PROXY": f"http://127.0.0.1:{back_at}",
            "NO_PROXY": "other.example,127.0.0.1",
            "SSL_CERT_FILE": str(CERTIFICATE),
            "SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1,localhost",
            "SERVICE_URL": PUBLIC,
        }
        service = case.start(environ)
        urls = [
            f"http://localhost:{plain.port}/by-proxy",
            f"{secure.url}/by-tunnel",
            f"http://127.0.0.1:{plain.port}/directly",
        ]
        path = create_integrations(case, service, urls)[1]
        until(lambda: len(plain.requests) == 2, "the two that are not held up")
        requests = {one.path: one for one in plain.requests}
        check_webhook(requests["/by-proxy"], "by the first proxy", is_proxied=True)
        check_webhook(requests["/directly"], "directly", is_proxied=False)
        until(lambda: f"localhost:{plain.port}" in first.log, "the proxy's own log")
        waiting = until(lambda: find_failed(case, service, path), "the failed attempt")
        assert waiting["lastError"] == "The proxy can't be reached or refuses the connection."
        assert not secure.requests
        late = start(back_at)
        assert late.port == back_at
        case.admin("POST", f"{path}/{waiting['id']}/retry", service=service)
        until(lambda: secure.requests, "what was held up")
        check_webhook(secure.requests[0], "through the tunnel", is_proxied=False)
        until(lambda: f"localhost:{secure.port}" in late.log, "the proxy's own log")
        assert f"localhost:{secure.port}" not in first.log


def find_failed(case: Case, service: Process, path: str) -> dict[str, Any]:
    deliveries = case.admin("GET", path, service=service)["deliveries"]
    return next((one for one in deliveries if one["lastError"]), {})


def check_webhook(requests: ReceivedRequest, description: str, *, is_proxied: bool) -> None:
    event = Webhook(SECRET).verify(requests.body, dict(requests.headers))
    assert event["type"] == "feature-created", description
    assert event == json.loads(requests.body)
    assert (requests.headers["Via"] is not None) == is_proxied, description


ROWS = (Row("programs: outgoing requests can be routed through a proxy", check_proxy, alone=True),)
