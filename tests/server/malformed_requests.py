"""Malformed requests as bytes, and the allowed responses. See test_malformed_requests.py.

`@SENDER@` stands for a signal token, `@SESSION@` for a session cookie, `@CSRF@` for its token and
`@ID@` for the ID of the endpoint.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.server import malformed_bytes as malformed
from tests.server.malformed_bytes import LIST, SIGNAL
from tests.server.process import ADMIN_SECRET

BEARER = f"Authorization: Bearer {ADMIN_SECRET}"
SENDER = "Authorization: Bearer @SENDER@"
SESSION = "Cookie: service-session=@SESSION@"
SMUGGLED = b"GET /ready HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = "Transfer-Encoding: chunked"
REJECTED = frozenset({400})
# Other spellings of SIGNAL, which a proxy that routes by path would not recognize.
ODD_TARGETS = (
    f"/{SIGNAL}",
    f"http://x/{SIGNAL}",
    f"x:{SIGNAL}",
    SIGNAL.replace("/api", "/%61pi"),
    SIGNAL.replace("/api/", "/api//"),
    SIGNAL.replace("/api/", "/api%2F"),
    SIGNAL.replace("endpoint/", "endpoint%2f"),
    f"http://x{SIGNAL.replace('/api', '/a%70i')}",
    SIGNAL.replace("signal-", "signal%2D"),
    f"{SIGNAL}?token=x#y",
)


@dataclass(frozen=True)
class MalformedRequest:
    """At most `maximum` responses, at least one unless `silent`. `page`: errors may be HTML."""

    name: str
    data: bytes
    status: frozenset[int] = frozenset()
    maximum: int = 1
    silent: bool = False
    page: bool = False


def build_request(
    method: str,
    target: str | bytes,
    *headers: str | bytes,
    body: bytes = b"",
    version: str = " HTTP/1.1",
    host: str = "Host: x\r\n",
) -> bytes:
    """A request with these headers and a Host."""
    target = target if isinstance(target, bytes) else target.encode("latin-1")
    lines = [h if isinstance(h, bytes) else h.encode("latin-1") for h in headers]
    head = method.encode("latin-1") + b" " + target + version.encode() + b"\r\n" + host.encode()
    return head + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + body


def _sized(method: str, target: str, *headers: str | bytes, body: bytes) -> bytes:
    return build_request(method, target, *headers, f"Content-Length: {len(body)}", body=body)


def is_page(path: str) -> bool:
    return not path.startswith(("/api", "/auth", "/health", "/ready", "/internal"))


def list_malformed_requests() -> list[MalformedRequest]:
    """All malformed requests, with unique names."""
    groups = (_lines(), _fields(), _framing(), _requests(), _contents(), _sizes(), _noise())
    return list(itertools.chain.from_iterable(groups))


def _numbered(group: str, items: Iterable[bytes | str]) -> Iterator[tuple[str, bytes]]:
    for number, item in enumerate(items):
        data = item if isinstance(item, bytes) else item.encode("utf-8")
        expected = ascii(data[:40])[2:-1].replace("[", "(").replace("]", ")").replace("::", ":_:")
        yield f"{group} {number}: {expected}", data


def _lines() -> Iterator[MalformedRequest]:
    for name, line in _numbered("start line", malformed.START_LINES):
        yield MalformedRequest(name, line + b"\r\nHost: x\r\n\r\n" + SMUGGLED, REJECTED)
    for name, target in _numbered("target", malformed.TARGETS):
        yield MalformedRequest(name, build_request("GET", target), page=True)
    for target in ODD_TARGETS:
        data = _sized("POST", target, SENDER, "Content-Type: application/json", body=b"{}")
        yield MalformedRequest(f"odd path {target}", data, REJECTED)
    for version in ("", " HTTP/0.9", " HTTP/1.0", " HTTP/1.2", " HTTP/2.0", " HTTP/3.0"):
        keep = "Connection: keep-alive"
        yield MalformedRequest(
            f"version{version}", build_request("GET", "/health", version=version)
        )
        for body in (SMUGGLED, b"0\r\n\r\n" + SMUGGLED):
            name = f"chunked before 1.1{version} {len(body)}"
            data = build_request("POST", SIGNAL, keep, SENDER, CHUNKED, body=body, version=version)
            yield MalformedRequest(name, data)
    yield MalformedRequest("another protocol", b"EHLO evil.example\r\n\r\n", page=True)
    yield MalformedRequest(
        "HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04", page=True
    )
    yield MalformedRequest("method of 5000 letters", build_request("A" * 5000, "/health"))
    yield MalformedRequest(
        "method of symbols", build_request("!#$%&'*+-.^_`|~", "/health"), frozenset({405})
    )
    unfinished = [b"", b"\r\n", b"\r\n\r\n", b"\n\n", b"GET /health HTTP/1.1\r\n"]
    for name, data in _numbered("nothing", unfinished):
        yield MalformedRequest(name, data, silent=True)
    yield MalformedRequest("only line feeds", b"GET /health HTTP/1.1\nHost: x\n\n", silent=True)


def _fields() -> Iterator[MalformedRequest]:
    for name, line in _numbered("bad header", malformed.HEADERS):
        status = frozenset({431}) if len(line) > 30_000 else REJECTED
        yield MalformedRequest(name, build_request("GET", "/health", line), status)
        yield MalformedRequest(
            f"first {name}", build_request("GET", LIST, line, BEARER, host=""), status
        )
    many = b"\r\n".join(b"A%d: b" % number for number in range(2500))
    yield MalformedRequest(
        "2500 header lines", build_request("GET", "/health", many), frozenset({431})
    )
    for name, line in _numbered("odd header", malformed.ODD_HEADERS):
        yield MalformedRequest(
            f"{name} to signals", _sized("POST", SIGNAL, SENDER, line, body=b"{}")
        )
        yield MalformedRequest(
            f"{name} to a list", build_request("GET", LIST, BEARER, line), frozenset({200})
        )
        yield MalformedRequest(
            f"{name} to a page", build_request("GET", "/sign-in", line), page=True
        )
    for name, value in _numbered("host", malformed.HOSTS):
        line = b"Host: " + value
        yield MalformedRequest(
            f"{name} to a page", build_request("GET", "/", line, host=""), page=True
        )
        yield MalformedRequest(
            f"{name} to a list", build_request("GET", LIST, BEARER, line, host="")
        )
        yield MalformedRequest(
            f"{name} twice", build_request("GET", LIST, line, line, host=""), REJECTED
        )
    yield MalformedRequest("no host", build_request("GET", LIST, BEARER, host=""))
    listing = build_request("GET", "/health", "Connection: close, te", body=SMUGGLED)
    yield MalformedRequest("close among other options ends the connection", listing)


def _framing() -> Iterator[MalformedRequest]:
    after = b"0\r\n\r\n" + SMUGGLED
    for name, value in _numbered("length", malformed.LENGTHS):
        line = b"Content-Length: " + value
        status = REJECTED if len(value) != 20 else frozenset({413})
        yield MalformedRequest(
            name, build_request("POST", SIGNAL, SENDER, line, body=after), status
        )
    for name, value in _numbered("coding", malformed.CODINGS):
        line = b"Transfer-Encoding: " + value
        yield MalformedRequest(
            name, build_request("POST", SIGNAL, SENDER, line, body=after), frozenset({400, 501})
        )
    for (name, line), path in itertools.product(
        _numbered("framing", malformed.CODING_LINES), (SIGNAL, LIST, "/sign-in")
    ):
        yield MalformedRequest(
            f"{name} to {path}", build_request("POST", path, SENDER, line, body=after), page=True
        )
    for name, body in _numbered("chunk", malformed.CHUNKS):
        yield MalformedRequest(
            name, build_request("POST", SIGNAL, SENDER, CHUNKED, body=body + SMUGGLED), REJECTED
        )
    for name, body in _numbered("open chunk", malformed.OPEN_CHUNKS):
        yield MalformedRequest(
            name, build_request("POST", SIGNAL, SENDER, CHUNKED, body=body), silent=True
        )
    trailer = b"2\r\n{}\r\n0\r\nContent-Length: 9\r\nHost: evil.example\r\n\r\n"
    good = frozenset({200})
    yield MalformedRequest(
        "trailer", build_request("POST", SIGNAL, SENDER, CHUNKED, body=trailer), good
    )
    tiny = b"1\r\n \r\n" * 9000 + b"2\r\n{}\r\n0\r\n\r\n"
    yield MalformedRequest(
        "9000 chunks", build_request("POST", SIGNAL, SENDER, CHUNKED, body=tiny), REJECTED
    )
    for length in (1, 3, 1000):
        short = build_request("POST", SIGNAL, SENDER, f"Content-Length: {length}", body=b"{}")
        yield MalformedRequest(f"length {length} for 2 bytes", short, maximum=2, silent=True)


def _requests() -> Iterator[MalformedRequest]:
    for path, method in itertools.product(malformed.ROUTES, malformed.METHODS):
        yield MalformedRequest(
            f"unauthenticated {method} {path}", build_request(method, path), page=is_page(path)
        )
        if method in ("HEAD", "PATCH", "PUT", "DELETE"):
            data = _sized(method, path, BEARER, "Content-Type: application/json", body=b"{}")
            yield MalformedRequest(f"admin {method} {path}", data, page=is_page(path))
    for name, path in _numbered("path", malformed.PATHS):
        yield MalformedRequest(name, build_request("GET", path), page=True)
    for name, path in _numbered("api path", malformed.API_PATHS):
        yield MalformedRequest(name, build_request("GET", LIST.encode() + path, BEARER))
        yield MalformedRequest(
            f"{name} as a name", build_request("POST", b"/api/signal-endpoint" + path, SENDER)
        )
    for (name, query), path in itertools.product(
        _numbered("query", malformed.QUERIES),
        ("/api/admin/signals", "/api/admin/events", f"{LIST}/@ID@/signals"),
    ):
        yield MalformedRequest(
            f"{name} to {path}", build_request("GET", path.encode() + b"?" + query, BEARER)
        )
    for (name, query), path in itertools.product(
        _numbered("query", malformed.QUERIES),
        ("/sign-in", "/admin/events", "/admin/signals/@ID@/log"),
    ):
        yield MalformedRequest(
            f"{name} to {path}",
            build_request("GET", path.encode() + b"?" + query, SESSION),
            page=True,
        )
    for (name, value), path in itertools.product(
        _numbered("secret", malformed.SECRETS), (SIGNAL, LIST, "/internal-backstage/prometheus")
    ):
        method = "POST" if path == SIGNAL else "GET"
        yield MalformedRequest(
            f"{name} to {path}", build_request(method, path, b"Authorization: " + value)
        )
    for (name, value), path in itertools.product(
        _numbered("cookie", malformed.COOKIES), ("/", LIST, "/sign-in")
    ):
        yield MalformedRequest(
            f"{name} to {path}", build_request("GET", path, b"Cookie: " + value), page=is_page(path)
        )


def _contents() -> Iterator[MalformedRequest]:
    kind = "Content-Type: application/json"
    targets = (LIST, f"{LIST}/@ID@/tokens", "/api/admin/user-admin", "/auth/simple/login")
    targets += ("/api/admin/user-admin/validate-password", "/api/admin/user/change-password")
    for (name, body), path in itertools.product(_numbered("json", malformed.JSON_BODIES), targets):
        yield MalformedRequest(f"{name} to {path}", _sized("POST", path, BEARER, kind, body=body))
    for name, body in _numbered("json", malformed.JSON_BODIES):
        yield MalformedRequest(
            f"{name} to put", _sized("PUT", f"{LIST}/9999", BEARER, kind, body=body)
        )
    form = "Content-Type: application/x-www-form-urlencoded"
    for (name, body), path in itertools.product(
        _numbered("form", malformed.FORM_BODIES),
        ("/sign-in", "/profile/password", "/admin/signals/new"),
    ):
        yield MalformedRequest(
            f"{name} to {path}", _sized("POST", path, SESSION, form, body=body), page=True
        )
        signed = b"csrf=@CSRF@&" + body
        data = build_request(
            "POST", path, SESSION, form, f"Content-Length: {len(body) + 48}", body=signed
        )
        yield MalformedRequest(f"{name} to {path} with its token", data, page=True)
    for kind in (
        "",
        "x",
        "/",
        "application/json;" + "x" * 9000,
        "multipart/form-data; boundary=\xff",
        ";",
    ):
        for path in (SIGNAL, LIST, "/sign-in", "/auth/simple"):
            data = _sized("POST", path, SENDER, f"Content-Type: {kind}", body=b'--x\r\n{"a":1}')
            yield MalformedRequest(f"type {kind[:30]!r} to {path}", data, page=is_page(path))
    for coding in ("gzip", "br", "deflate", "gzip, gzip", "\xff", "identity, gzip", "x" * 9000):
        data = _sized("POST", SIGNAL, SENDER, f"Content-Encoding: {coding}", body=b"{}")
        yield MalformedRequest(f"encoding {coding[:20]!r}", data, frozenset({400, 415}))


def _sizes() -> Iterator[MalformedRequest]:
    """Large requests: the service responds without reading bodies over the limit of the path."""
    large = frozenset({413})
    for size in (5_500_000, 10**9, 10**30):
        yield MalformedRequest(
            f"length {size}",
            build_request("POST", SIGNAL, SENDER, f"Content-Length: {size}"),
            large,
        )
    for path in (SIGNAL, LIST, "/auth/simple", "/sign-in"):
        for size in (102_500, 1_050_000):
            data = _sized("POST", path, BEARER, "Content-Type: application/json", body=b" " * size)
            yield MalformedRequest(f"{size} blanks to {path}", data, maximum=1, page=is_page(path))
    many = b"FFFF\r\n" + b"x" * 65535 + b"\r\n"
    yield MalformedRequest(
        "5.9 MB in chunks", build_request("POST", SIGNAL, SENDER, CHUNKED, body=many * 90), large
    )
    for count in (2, 50):
        yield MalformedRequest(
            f"{count} pipelined",
            build_request("GET", "/health") * count,
            frozenset({200}),
            maximum=count,
        )
    mixed = build_request("GET", "/health") + b"BAD\r\n\r\n" + build_request("GET", "/health")
    yield MalformedRequest("an error ends the pipeline", mixed, frozenset({200, 400}), maximum=2)


def _noise() -> Iterator[MalformedRequest]:
    """Valid requests with random changes; the seed is fixed."""
    chance = random.Random(20261121)
    good = _sized("POST", SIGNAL, SENDER, "Content-Type: application/json", body=b'{"a": 1}')
    for number in range(100):
        data = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.choice(b"\x00\t\r\n :;,/\xff%0\x7f")
        yield MalformedRequest(f"noise {number}", bytes(data), maximum=3, silent=True, page=True)
