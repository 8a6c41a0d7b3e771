"""The loads that SDKs and senders put on the service, as raw requests with their targets."""

import http.client
import json
from dataclasses import dataclass

from load import build_get, build_post
from service import CLIENT, FRONTEND, Service

FEATURES = "/api/client/features"
SIGNAL = json.dumps(
    {"type": "deploy", "data": {"service": "checkout", "version": "1.2.3", "labels": ["a", "b"]}}
).encode()
COUNTRIES = ("de", "no", "us", "fr", "se")


@dataclass(frozen=True)
class Load:
    """`requests` are sent in turn; ######### in them becomes a number that rises."""

    name: str
    requests: list[bytes]
    status: int  # of the first request; the others may be answered 304
    target: float | None  # requests/s, of those of /health in the same run
    target_beside: float | None  # requests/s, of those of the compared server


def build_context(user: str, n: int) -> bytes:
    context = {
        "userId": user,
        "sessionId": f"session-{user}",
        "appName": "bench",
        "remoteAddress": f"10.0.0.{n}",
        "properties": {
            "country": COUNTRIES[n % 5],
            "email": f"{user}@example.com",
            "age": str(25 + n),
            "version": f"2.{n % 7}.1",
            "plan": ("free", "team")[n % 2],
        },
    }
    return json.dumps({"context": context}).encode()


def build_metrics(n: int) -> bytes:
    toggles = {f"flag-{(n + m) % 100:03}": {"yes": 3, "no": 2, "variants": {}} for m in range(10)}
    times = {"start": "2026-11-22T10:00:00.000Z", "stop": "2026-11-22T10:01:00.000Z"}
    bucket = times | {"toggles": toggles}
    body = {"appName": "bench", "instanceId": f"instance-{n}", "bucket": bucket}
    return json.dumps(body).encode()


def build_registration() -> bytes:
    body = {
        "appName": "bench",
        "instanceId": "instance-#########",
        "sdkVersion": "unleash-client-node:6.0.0",
        "strategies": ["default", "flexibleRollout"],
        "started": "2026-11-22T10:00:00.000Z",
        "interval": 60000,
    }
    return json.dumps(body).encode()


def build_loads(service: Service, signal_token: str | None = None) -> list[Load]:
    """The loads for this server, which has the flags. /health is first."""
    sdk = {"Authorization": CLIENT, "Unleash-Client-Spec": "5.1.9", "Unleash-AppName": "bench"}
    etag, _ = service.fetch_features()
    gzip, current = {"Accept-Encoding": "gzip"}, {"If-None-Match": etag}
    new = [build_context("user-#########", n) for n in range(20)]
    same = [build_context("user-000000001", 1)]
    frontend, metrics, register = "/api/frontend", "/api/client/metrics", "/api/client/register"
    whole_body, unchanged = build_get(FEATURES, sdk), build_get(FEATURES, sdk | current)
    loads = [
        Load("/health", [build_get("/health", {})], 200, None, 1.9),
        Load("whole body", [whole_body], 200, 0.5, 1.6),
        Load("gzip", [build_get(FEATURES, sdk | gzip)], 200, 0.75, 2.8),
        Load("304", [unchanged], 304, 0.85, 1.8),
        # In 30 s, 100 SDKs that never revalidate poll once, and 900 others twice.
        Load("PHP beside 304", [whole_body, *[unchanged] * 18], 200, 0.6, None),
        Load("frontend, new", _build_posts(frontend, new, FRONTEND), 200, 0.6, 1.4),
        Load("frontend, same", _build_posts(frontend, same, FRONTEND), 200, 0.7, 1.8),
        Load(
            "metrics", _build_posts(metrics, map(build_metrics, range(20)), CLIENT), 202, 0.55, 1.3
        ),
        Load("register", _build_posts(register, [build_registration()], CLIENT), 202, 0.6, 1.1),
    ]
    if signal_token is not None:
        post = build_post("/api/signal-endpoint/bench", SIGNAL, f"Bearer {signal_token}")
        loads.append(Load("signal", [post], 200, 0.6, None))
    return loads


def _build_posts(path, bodies, token: str) -> list[bytes]:
    return [build_post(path, body, token) for body in bodies]


def send_raw(port: int, request: bytes) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the response to a raw request."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.connect()
    connection.sock.sendall(request.replace(b"#########", b"000000000"))
    method = request.split(b" ", 1)[0].decode()
    response = http.client.HTTPResponse(connection.sock, method=method)
    response.begin()
    body = response.read()
    connection.close()
    return response.status, dict(response.headers), body


def check_loads(service: Service, loads: list[Load]) -> None:
    """Raises AssertionError if a load gets another answer than it is meant to measure."""
    for load in loads:
        for position, request in enumerate(load.requests):
            status, headers, body = send_raw(service.port, request)
            is_expected = status == load.status or (position > 0 and status == 304)
            assert is_expected, f"{load.name}: {status} {body[:300]!r}"
        if load.name == "gzip":
            assert headers.get("Content-Encoding") == "gzip", headers
