"""nginx and HAProxy with the configurations of deploy/ and a certificate of the test's own.

The service behind them has the variables that they need.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from bs4 import BeautifulSoup

from tests.server.process import (
    OPEN_LIMITS,
    Process,
    create_open_folder,
    find_free_port,
    make_database_environ,
    run_service,
)
from tests.waiting import until

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
HOST = "flags.example.com"
FEATURES = "/api/admin/projects/default/features"
PASSWORD = "correct horse battery staple 1"
# Less than the 15 s until the first ping, which would push the event through a buffer.
PROMPT_SECONDS = 10
NGINX = """
daemon off; pid {folder}/nginx.pid; error_log stderr;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    scgi_temp_path {folder}/scgi;
    uwsgi_temp_path {folder}/uwsgi;
    include {folder}/sigservice.conf;
}}
"""


class Proxy:
    """A running proxy: its ports, the authority of its certificate, and the service behind it."""

    def __init__(self, service: Process, authority: trustme.CA) -> None:
        self.service = service
        self.https_port, self.http_port = find_free_port(), find_free_port()
        self._tls = ssl.create_default_context()
        authority.configure_trust(self._tls)

    def connect(self, address: str = "127.0.0.2") -> ssl.SSLSocket:
        """A TLS connection from `address` that has verified the certificate."""
        sock = socket.create_connection(
            ("127.0.0.1", self.https_port), PROMPT_SECONDS, source_address=(address, 0)
        )
        return self._tls.wrap_socket(sock, server_hostname=HOST)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        address: str = "127.0.0.2",
        **headers: str,
    ) -> tuple[int, http.client.HTTPMessage, str]:
        """(status, headers, text) of a request from `address`; `body` is JSON or a form's text."""
        fields = {name.replace("_", "-"): text for name, text in headers.items()} | {"Host": HOST}
        if body is not None and not isinstance(body, str):
            body, fields["Content-Type"] = json.dumps(body), "application/json"
        connection = http.client.HTTPConnection(HOST)
        connection.sock = self.connect(address)
        with contextlib.closing(connection):
            connection.request(method, path, body, fields)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()


def prepare(folder: Path, proxy: Proxy, name: str, certificate: trustme.LeafCert) -> list[str]:
    """Writes the configuration with ports and files of the test; returns the arguments."""
    chain, key = folder / "fullchain.pem", folder / "privkey.pem"
    chain.write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))
    key.write_bytes(certificate.private_key_pem.bytes())
    (folder / "all.pem").write_bytes(chain.read_bytes() + key.read_bytes())
    is_nginx = name == "nginx"
    file = DEPLOY / ("nginx/sigservice.conf" if is_nginx else "haproxy/single-process.cfg")
    text = file.read_text()
    replacements = [
        (r"127\.0\.0\.1:4242", f"127.0.0.1:{proxy.service.port}"),
        (r"(listen (?:\[::\]:)?|bind :::)443\b", rf"\g<1>{proxy.https_port}"),
        (r"(listen (?:\[::\]:)?|bind :::)80\b", rf"\g<1>{proxy.http_port}"),
    ]
    if is_nginx:
        replacements.append((rf"/etc/letsencrypt/live/{HOST}", str(folder)))
        replacements.append(("/var/log/nginx", str(folder)))
    else:
        replacements.append((rf"/etc/haproxy/{HOST}\.pem", str(folder / "all.pem")))
        replacements.append((r"    (log /dev/log|user|group) .*\n", ""))
    for pattern, replacement in replacements:
        text, count = re.subn(pattern, replacement, text)
        assert count, pattern
    (folder / "sigservice.conf").write_text(text)
    if not is_nginx:
        return ["-W", "-db", "-f", str(folder / "sigservice.conf")]
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder))
    return ["-c", str(folder / "nginx.conf")]


@pytest.fixture(scope="module")
def service(temporary_database) -> Iterator[Process]:
    temporary_database.empty()
    environ = OPEN_LIMITS | make_database_environ(temporary_database.options())
    text = (DEPLOY / "systemd" / "sigservice.env").read_text()
    environ |= re.findall(r"^(SERVICE_URL|SERVICE_TRUSTED_PROXY|SECURE_HEADERS)=(.+)$", text, re.M)
    environ |= {
        "HTTP_HOST": "127.0.0.1",
        "SERVICE_DEFAULT_ADMIN_USERNAME": "ada",
        "SERVICE_DEFAULT_ADMIN_PASSWORD": PASSWORD,
        "SIMPLE_LOGIN_LIMIT_PER_MINUTE": "2",
    }
    with run_service(environ) as service:
        service.request("POST", FEATURES, {"name": "checkout"})
        yield service


@pytest.fixture(scope="module", params=["nginx", "haproxy"])
def proxy(service: Process, request: pytest.FixtureRequest) -> Iterator[Proxy]:
    program = shutil.which(request.param, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        pytest.skip(f"{request.param} is not installed")
    authority = trustme.CA()
    proxy = Proxy(service, authority)
    with create_open_folder() as folder:
        arguments = prepare(folder, proxy, request.param, authority.issue_cert(HOST))
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen([program, *arguments], stdout=log, stderr=log)

        def is_listening() -> bool:
            assert process.poll() is None, (folder / "log").read_text()
            with contextlib.suppress(OSError), proxy.connect():
                return True
            return False

        try:
            until(is_listening, f"{request.param} to listen")
            yield proxy
        finally:
            process.terminate()
            process.wait(PROMPT_SECONDS)


def create_token(service: Process, type: str) -> str:
    body = {"tokenName": f"{type} token", "type": type, "environment": "development"}
    status, token = service.request("POST", "/api/admin/api-tokens", body)
    assert status == 201
    return token["secret"]


def read_until(sock: ssl.SSLSocket, end: bytes) -> bytes:
    data = b""
    while end not in data:
        part = sock.recv(65_536)
        assert part, data
        data += part
    return data


def test_the_sign_in_page_and_a_sign_in(proxy):
    status, headers, text = proxy.request("GET", "/sign-in", address="127.0.0.4")
    assert status == 200
    assert headers["Strict-Transport-Security"]
    (cookie,) = (header for header in headers.get_all("Set-Cookie") if "__Host-" in header)
    assert "Secure" in cookie
    fields = BeautifulSoup(text, "html.parser").find_all("input", type="hidden")
    form = "&".join(f"{field['name']}={field['value']}" for field in fields)
    status, headers, _ = proxy.request(
        "POST",
        "/sign-in",
        f"{form}&username=ada&password={PASSWORD.replace(' ', '+')}",
        address="127.0.0.4",
        Cookie=cookie.partition(";")[0],
        Content_Type="application/x-www-form-urlencoded",
        Origin=f"https://{HOST}",
    )
    assert status == 303
    assert "__Host-service-session" in headers["Set-Cookie"]


def test_a_signal(proxy, request):
    name = f"deploys-{request.node.callspec.params['proxy']}"
    _, token = proxy.service.create_sender(name)
    path, bearer = f"/api/signal-endpoint/{name}", f"Bearer {token}"
    status, _, text = proxy.request("POST", path, {"status": "ok"}, Authorization=bearer)
    assert (status, json.loads(text)["signals"][0]["payload"]) == (200, {"status": "ok"})
    assert proxy.request("POST", path, {}, Authorization="Bearer wrong")[0] == 401


def test_http_2(proxy):
    if not shutil.which("curl"):
        pytest.skip("curl is not installed")
    url = f"https://{HOST}:{proxy.https_port}/health"
    done = subprocess.run(
        ["curl", "-sk", "--noproxy", "*", "--max-time", "10", "--resolve",
         f"{HOST}:{proxy.https_port}:127.0.0.1", "-w", "%{http_version}", "-o", "/dev/null", url],
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "2")


def test_a_stream_sends_each_event_at_once(proxy):
    token = create_token(proxy.service, "client")
    head = f"GET /api/client/streaming HTTP/1.1\r\nHost: {HOST}\r\nAuthorization: {token}\r\n\r\n"
    with proxy.connect() as sock:
        sock.sendall(head.encode())
        assert b"200 OK" in read_until(sock, b"event: unleash-connected")
        path = f"{FEATURES}/checkout/environments/development"
        for state in ("on", "off"):
            assert proxy.service.request("POST", f"{path}/{state}")[0] == 200
            read_until(sock, b"event: unleash-updated")


def test_an_event_stream_of_a_browser_begins_at_once(proxy):
    token = create_token(proxy.service, "frontend")
    body = {"context": {"targetingKey": "7"}}
    path = "/ofrep/v1/evaluate/flags"
    status, _, text = proxy.request("POST", path, body, Authorization=token)
    assert status == 200
    uri = json.loads(text)["eventStreams"][0]["endpoint"]["requestUri"]
    with proxy.connect() as sock:
        sock.sendall(f"GET {uri} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        read_until(sock, b"refetchEvaluation")


def test_the_address_of_the_client_is_logged_and_limited(proxy, request):
    """Whatever address the client claims."""
    host = {"nginx": 10, "haproxy": 20}[request.node.callspec.params["proxy"]]
    first, second = f"127.0.0.{host}", f"127.0.0.{host + 1}"
    body = {"username": "ada", "password": "wrong"}

    def sign_in(address: str) -> int:
        claim = {"X_Forwarded_For": "203.0.113.9, 127.0.0.1"}
        return proxy.request("POST", "/auth/simple/login", body, address, **claim)[0]

    assert [sign_in(first) for _ in range(3)] == [401, 401, 429]
    assert sign_in(second) == 401
    token = create_token(proxy.service, "client")
    status, _, _ = proxy.request("GET", "/api/admin/projects", address=second, Authorization=token)
    assert status == 403
    until(lambda: f" from {second}: " in proxy.service.stderr, "the refusal in the log")


@pytest.mark.parametrize(("path", "status"), [("/sign-in?next=/a", 301), ("/api/admin/x", 403)])
def test_plain_http(proxy, path, status):
    connection = http.client.HTTPConnection("127.0.0.1", proxy.http_port, timeout=PROMPT_SECONDS)
    with contextlib.closing(connection):
        connection.request("GET", path, headers={"Host": HOST})
        answer = connection.getresponse()
    assert answer.status == status
    assert answer.headers["Location"] == (f"https://{HOST}{path}" if status == 301 else None)
