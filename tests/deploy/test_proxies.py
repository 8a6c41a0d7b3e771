"""nginx and HAProxy with the configurations of deploy/ and a certificate of the test's own.

The service behind them has the variables that they need.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import re
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from tests.deploy.proxies import DEPLOY, FILES, HOST, Proxy, run_proxy
from tests.server.process import (
    OPEN_LIMITS,
    Process,
    make_database_environ,
    run_service,
)
from tests.waiting import until

FEATURES = "/api/admin/projects/default/features"
PASSWORD = "correct horse battery staple 1"
METRICS = "/internal-backstage/prometheus"
# How a client may write this path.
METRICS_PATHS = (
    METRICS,
    f"{METRICS}/",
    f"{METRICS}?a=b",
    f"/{METRICS}",
    "/internal-backstage//prometheus",
    "/internal-backstage%2Fprometheus",
    "/%2Finternal-backstage/prometheus",
    "/internal%2Dbackstage/%70rometheus",
    "/internal-backstage/impact/metrics",
    "/internal-backstage/%69mpact//metrics/",
    f"http://{HOST}{METRICS}",
)
SECRET = "default:development.secret-of-a-token"
SECRET_PATHS = (
    f"/api/admin/api-tokens/{SECRET}",
    f"/api/admin/api-tokens/{SECRET}%zz",
    f"//api/admin//api-tokens//{SECRET}/",
    f"/api/admin/%61pi-tokens/{SECRET}",
    f"/api/admin/api-tokens%2F{SECRET}",
    f"/api/admin/projects/default/api-tokens/{SECRET}",
    f"/api/signal-endpoint/deploys?token={SECRET}",
    f"/api/signal-endpoint/deploys?%74oken={SECRET}",
    f"/ofrep/v1/events?token={SECRET}",
    f"/new-user?token={SECRET}",
    f"/reset-password?token={SECRET}",
)
GENERATED_SECRET = "0123456789abcdef" * 4
CHALLENGE = "/.well-known/acme-challenge/token"


@pytest.fixture(scope="module")
def environ(temporary_database) -> dict[str, str]:
    temporary_database.empty()
    environ = OPEN_LIMITS | make_database_environ(temporary_database.options())
    text = (DEPLOY / "systemd" / "sigservice.env").read_text()
    environ |= re.findall(r"^(SERVICE_URL|SERVICE_TRUSTED_PROXY|SECURE_HEADERS)=(.+)$", text, re.M)
    return environ | {
        "HTTP_HOST": "127.0.0.1",
        "SERVICE_DEFAULT_ADMIN_USERNAME": "ada",
        "SERVICE_DEFAULT_ADMIN_PASSWORD": PASSWORD,
        "SIMPLE_LOGIN_LIMIT_PER_MINUTE": "2",
        "SERVICE_LOGIN_LIMIT_PER_ACCOUNT_PER_MINUTE": "1000",
    }


@pytest.fixture(scope="module")
def service(environ: dict[str, str]) -> Iterator[Process]:
    with run_service(environ) as service:
        service.request("POST", FEATURES, {"name": "checkout"})
        yield service


@pytest.fixture(scope="module", params=list(FILES))
def proxy(service: Process, request: pytest.FixtureRequest) -> Iterator[Proxy]:
    with run_proxy(request.param, service) as proxy:
        yield proxy


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
    address = f"127.0.0.{proxy.number}4"
    status, headers, text = proxy.request("GET", "/sign-in", address=address)
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
        address=address,
        Cookie=cookie.partition(";")[0],
        Content_Type="application/x-www-form-urlencoded",
        Origin=f"https://{HOST}",
    )
    assert status == 303
    assert "__Host-service-session" in headers["Set-Cookie"]


def test_a_signal(proxy):
    name = f"deploys-{proxy.number}"
    _, token = proxy.upstream.create_sender(name)
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
    token = create_token(proxy.upstream, "client")
    head = f"GET /api/client/streaming HTTP/1.1\r\nHost: {HOST}\r\nAuthorization: {token}\r\n\r\n"
    with proxy.connect() as sock:
        sock.sendall(head.encode())
        assert b"200 OK" in read_until(sock, b"event: unleash-connected")
        path = f"{FEATURES}/checkout/environments/development"
        for state in ("on", "off"):
            assert proxy.upstream.request("POST", f"{path}/{state}")[0] == 200
            read_until(sock, b"event: unleash-updated")


def test_an_event_stream_of_a_browser_begins_at_once(proxy):
    token = create_token(proxy.upstream, "frontend")
    body = {"context": {"targetingKey": "7"}}
    path = "/ofrep/v1/evaluate/flags"
    status, _, text = proxy.request("POST", path, body, Authorization=token)
    assert status == 200
    uri = json.loads(text)["eventStreams"][0]["endpoint"]["requestUri"]
    with proxy.connect() as sock:
        sock.sendall(f"GET {uri} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        read_until(sock, b"refetchEvaluation")


def test_the_address_of_the_client_is_logged_and_limited(proxy):
    """Whatever address the client claims."""
    first, second = f"127.0.0.{proxy.number}0", f"127.0.0.{proxy.number}1"
    body = {"username": "ada", "password": "wrong"}

    def sign_in(address: str) -> int:
        claim = {"X_Forwarded_For": "203.0.113.9, 127.0.0.1"}
        return proxy.request("POST", "/auth/simple/login", body, address, **claim)[0]

    assert [sign_in(first) for _ in range(3)] == [401, 401, 429]
    assert sign_in(second) == 401
    token = create_token(proxy.upstream, "client")
    status, _, _ = proxy.request("GET", "/api/admin/projects", address=second, Authorization=token)
    assert status == 403
    until(lambda: f" from {second}: " in proxy.upstream.stderr, "the refusal in the log")


@pytest.mark.parametrize(("path", "status"), [("/sign-in?next=/a", 301), ("/api/admin/x", 403)])
def test_plain_http(proxy, path, status):
    answer, headers, _ = proxy.request_plain(path)
    assert answer == status
    assert headers["Location"] == (f"https://{HOST}{path}" if status == 301 else None)


def test_metrics_are_denied_in_any_spelling(proxy):
    for path in METRICS_PATHS:
        assert proxy.upstream.request("GET", path)[0] == 200, path
        assert proxy.request("GET", path)[0] == 404, path


@contextlib.contextmanager
def run_certbot(port: int, folder: Path) -> Iterator[None]:
    """Serves the folder on the port of --http-01-port, as certbot serves its challenge."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def write_challenge(proxy: Proxy) -> None:
    """Writes the answer of the challenge into the folder of --webroot-path."""
    file = proxy.folder / CHALLENGE.strip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("token.thumbprint")


def test_a_challenge_is_answered_over_plain_http(proxy):
    write_challenge(proxy)
    with run_certbot(proxy.certbot_port, proxy.folder):
        status, _, text = proxy.request_plain(CHALLENGE)
    assert (status, text) == (200, "token.thumbprint")


@pytest.mark.parametrize("proxy", ["haproxy for machines"], indirect=True)
def test_a_challenge_is_answered_while_both_haproxys_renew(proxy, tmp_path):
    write_challenge(proxy)
    with (
        run_certbot(proxy.certbot_port, proxy.folder),
        run_certbot(proxy.other_certbot_port, tmp_path),
    ):
        assert [proxy.request_plain(CHALLENGE)[0] for _ in range(4)] == [200] * 4


def test_a_renewed_certificate_is_served_after_the_hook(proxy):
    before = proxy.read_serial_number()
    proxy.write_certificate()
    proxy.run_deploy_hook(reload=f"kill -{'HUP' if proxy.number == 1 else 'USR2'} {proxy.pid}")
    until(lambda: proxy.read_serial_number() != before, "the new certificate")


@pytest.mark.parametrize("name", FILES)
def test_no_secret_is_logged(name, environ):
    """Neither while the service answers nor while it doesn't."""
    hexadecimal = f"/typed/{GENERATED_SECRET}"
    with run_service(environ) as service, run_proxy(name, service) as proxy:
        for is_up in (True, False):
            # HAProxy tries a refused connection for 3 s.
            for path in (*SECRET_PATHS, hexadecimal) if is_up else SECRET_PATHS[::6]:
                proxy.request("DELETE", path)
                proxy.request_plain(path, "DELETE")
            status, *_ = proxy.request("GET", f"/static/{is_up}")
            assert (status == 404) is is_up
            until(lambda is_up=is_up: f"GET /static/{is_up}" in proxy.read_logs(), "the last line")
            service.kill()
        logs = proxy.read_logs()
    assert SECRET.partition(".")[2] not in logs
    assert GENERATED_SECRET not in logs
