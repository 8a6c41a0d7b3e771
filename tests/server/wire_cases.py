"""Requests that nobody sends by accident: bytes, and what may come back. See test_wire.py.

`@SENDER@` stands for a signal token, `@SESSION@` for a signed-in session's cookie, `@CSRF@` for
its token, `@ID@` for the endpoint's id.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.server import wire_bytes as sent
from tests.server.process import ADMIN_SECRET
from tests.server.wire_bytes import LIST, SIGNAL

BEARER = f"Authorization: Bearer {ADMIN_SECRET}"
SENDER = "Authorization: Bearer @SENDER@"
SESSION = "Cookie: service-session=@SESSION@"
SMUGGLED = b"GET /ready HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = "Transfer-Encoding: chunked"
REFUSED = frozenset({400})


@dataclass(frozen=True)
class Case:
    """`most` answers at most; at least one unless `silent`. `page`: errors may be HTML."""

    name: str
    data: bytes
    status: frozenset[int] = frozenset()
    most: int = 1
    silent: bool = False
    page: bool = False


def http(
    method: str,
    target: str | bytes,
    *headers: str | bytes,
    body: bytes = b"",
    version: str = " HTTP/1.1",
    host: str = "Host: x\r\n",
) -> bytes:
    """One request, nothing added but a Host."""
    target = target if isinstance(target, bytes) else target.encode("latin-1")
    lines = [h if isinstance(h, bytes) else h.encode("latin-1") for h in headers]
    head = method.encode("latin-1") + b" " + target + version.encode() + b"\r\n" + host.encode()
    return head + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + body


def _sized(method: str, target: str, *headers: str | bytes, body: bytes) -> bytes:
    return http(method, target, *headers, f"Content-Length: {len(body)}", body=body)


def is_page(path: str) -> bool:
    return not path.startswith(("/api", "/auth", "/health", "/ready", "/internal"))


def cases() -> list[Case]:
    """All of them, with unique names."""
    groups = (_lines(), _fields(), _framing(), _requests(), _contents(), _sizes(), _noise())
    return list(itertools.chain.from_iterable(groups))


def _numbered(group: str, items: Iterable[bytes | str]) -> Iterator[tuple[str, bytes]]:
    for number, item in enumerate(items):
        data = item if isinstance(item, bytes) else item.encode("utf-8")
        shown = ascii(data[:40])[2:-1].replace("[", "(").replace("]", ")").replace("::", ":_:")
        yield f"{group} {number}: {shown}", data


def _lines() -> Iterator[Case]:
    for name, line in _numbered("start line", sent.START_LINES):
        yield Case(name, line + b"\r\nHost: x\r\n\r\n" + SMUGGLED, REFUSED)
    for name, target in _numbered("target", sent.TARGETS):
        yield Case(name, http("GET", target), page=True)
    for version in ("", " HTTP/0.9", " HTTP/1.0", " HTTP/1.2", " HTTP/2.0", " HTTP/3.0"):
        keep = "Connection: keep-alive"
        yield Case(f"version{version}", http("GET", "/health", version=version))
        for body in (SMUGGLED, b"0\r\n\r\n" + SMUGGLED):
            name = f"chunked before 1.1{version} {len(body)}"
            data = http("POST", SIGNAL, keep, SENDER, CHUNKED, body=body, version=version)
            yield Case(name, data)
    yield Case("another protocol", b"EHLO evil.example\r\n\r\n", page=True)
    yield Case("HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04", page=True)
    yield Case("method of 5000 letters", http("A" * 5000, "/health"))
    yield Case("method of symbols", http("!#$%&'*+-.^_`|~", "/health"), frozenset({405}))
    unfinished = [b"", b"\r\n", b"\r\n\r\n", b"\n\n", b"GET /health HTTP/1.1\r\n"]
    for name, data in _numbered("nothing", unfinished):
        yield Case(name, data, silent=True)
    yield Case("only line feeds", b"GET /health HTTP/1.1\nHost: x\n\n", silent=True)


def _fields() -> Iterator[Case]:
    for name, line in _numbered("bad header", sent.HEADERS):
        status = frozenset({431}) if len(line) > 30_000 else REFUSED
        yield Case(name, http("GET", "/health", line), status)
        yield Case(f"first {name}", http("GET", LIST, line, BEARER, host=""), status)
    many = b"\r\n".join(b"A%d: b" % number for number in range(2500))
    yield Case("2500 header lines", http("GET", "/health", many), frozenset({431}))
    for name, line in _numbered("odd header", sent.ODD_HEADERS):
        yield Case(f"{name} to signals", _sized("POST", SIGNAL, SENDER, line, body=b"{}"))
        yield Case(f"{name} to a list", http("GET", LIST, BEARER, line), frozenset({200}))
        yield Case(f"{name} to a page", http("GET", "/sign-in", line), page=True)
    for name, value in _numbered("host", sent.HOSTS):
        line = b"Host: " + value
        yield Case(f"{name} to a page", http("GET", "/", line, host=""), page=True)
        yield Case(f"{name} to a list", http("GET", LIST, BEARER, line, host=""))
        yield Case(f"{name} twice", http("GET", LIST, line, line, host=""), REFUSED)
    yield Case("no host", http("GET", LIST, BEARER, host=""))
    listed = http("GET", "/health", "Connection: close, te", body=SMUGGLED)
    yield Case("close among other options ends the connection", listed)


def _framing() -> Iterator[Case]:
    after = b"0\r\n\r\n" + SMUGGLED
    for name, value in _numbered("length", sent.LENGTHS):
        line = b"Content-Length: " + value
        status = REFUSED if len(value) != 20 else frozenset({413})
        yield Case(name, http("POST", SIGNAL, SENDER, line, body=after), status)
    for name, value in _numbered("coding", sent.CODINGS):
        line = b"Transfer-Encoding: " + value
        yield Case(name, http("POST", SIGNAL, SENDER, line, body=after), frozenset({400, 501}))
    for (name, line), path in itertools.product(
        _numbered("framing", sent.CODING_LINES), (SIGNAL, LIST, "/sign-in")
    ):
        yield Case(f"{name} to {path}", http("POST", path, SENDER, line, body=after), page=True)
    for name, body in _numbered("chunk", sent.CHUNKS):
        yield Case(name, http("POST", SIGNAL, SENDER, CHUNKED, body=body + SMUGGLED), REFUSED)
    for name, body in _numbered("open chunk", sent.OPEN_CHUNKS):
        yield Case(name, http("POST", SIGNAL, SENDER, CHUNKED, body=body), silent=True)
    trailer = b"2\r\n{}\r\n0\r\nContent-Length: 9\r\nHost: evil.example\r\n\r\n"
    good = frozenset({200})
    yield Case("trailer", http("POST", SIGNAL, SENDER, CHUNKED, body=trailer), good)
    tiny = b"1\r\n \r\n" * 9000 + b"2\r\n{}\r\n0\r\n\r\n"
    yield Case("9000 chunks", http("POST", SIGNAL, SENDER, CHUNKED, body=tiny), REFUSED)
    for length in (1, 3, 1000):
        short = http("POST", SIGNAL, SENDER, f"Content-Length: {length}", body=b"{}")
        yield Case(f"length {length} for 2 bytes", short, most=2, silent=True)


def _requests() -> Iterator[Case]:
    for path, method in itertools.product(sent.ROUTES, sent.METHODS):
        yield Case(f"stranger {method} {path}", http(method, path), page=is_page(path))
        if method in ("HEAD", "PATCH", "PUT", "DELETE"):
            data = _sized(method, path, BEARER, "Content-Type: application/json", body=b"{}")
            yield Case(f"admin {method} {path}", data, page=is_page(path))
    for name, path in _numbered("path", sent.PATHS):
        yield Case(name, http("GET", path), page=True)
    for name, path in _numbered("api path", sent.API_PATHS):
        yield Case(name, http("GET", LIST.encode() + path, BEARER))
        yield Case(f"{name} as a name", http("POST", b"/api/signal-endpoint" + path, SENDER))
    for (name, query), path in itertools.product(
        _numbered("query", sent.QUERIES),
        ("/api/admin/signals", "/api/admin/events", f"{LIST}/@ID@/signals"),
    ):
        yield Case(f"{name} to {path}", http("GET", path.encode() + b"?" + query, BEARER))
    for (name, query), path in itertools.product(
        _numbered("query", sent.QUERIES), ("/sign-in", "/admin/events", "/admin/signals/@ID@/log")
    ):
        yield Case(
            f"{name} to {path}", http("GET", path.encode() + b"?" + query, SESSION), page=True
        )
    for (name, value), path in itertools.product(
        _numbered("secret", sent.SECRETS), (SIGNAL, LIST, "/internal-backstage/prometheus")
    ):
        method = "POST" if path == SIGNAL else "GET"
        yield Case(f"{name} to {path}", http(method, path, b"Authorization: " + value))
    for (name, value), path in itertools.product(
        _numbered("cookie", sent.COOKIES), ("/", LIST, "/sign-in")
    ):
        yield Case(f"{name} to {path}", http("GET", path, b"Cookie: " + value), page=is_page(path))


def _contents() -> Iterator[Case]:
    kind = "Content-Type: application/json"
    targets = (LIST, f"{LIST}/@ID@/tokens", "/api/admin/user-admin", "/auth/simple/login")
    targets += ("/api/admin/user-admin/validate-password", "/api/admin/user/change-password")
    for (name, body), path in itertools.product(_numbered("json", sent.JSON_BODIES), targets):
        yield Case(f"{name} to {path}", _sized("POST", path, BEARER, kind, body=body))
    for name, body in _numbered("json", sent.JSON_BODIES):
        yield Case(f"{name} to put", _sized("PUT", f"{LIST}/9999", BEARER, kind, body=body))
    form = "Content-Type: application/x-www-form-urlencoded"
    for (name, body), path in itertools.product(
        _numbered("form", sent.FORM_BODIES), ("/sign-in", "/profile/password", "/admin/signals/new")
    ):
        yield Case(f"{name} to {path}", _sized("POST", path, SESSION, form, body=body), page=True)
        signed = b"csrf=@CSRF@&" + body
        data = http("POST", path, SESSION, form, f"Content-Length: {len(body) + 48}", body=signed)
        yield Case(f"{name} to {path} with its token", data, page=True)
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
            yield Case(f"type {kind[:30]!r} to {path}", data, page=is_page(path))
    for coding in ("gzip", "br", "deflate", "gzip, gzip", "\xff", "identity, gzip", "x" * 9000):
        data = _sized("POST", SIGNAL, SENDER, f"Content-Encoding: {coding}", body=b"{}")
        yield Case(f"encoding {coding[:20]!r}", data, frozenset({400, 415}))


def _sizes() -> Iterator[Case]:
    """The application answers, without the body where that is larger than what its path takes."""
    large = frozenset({413})
    for size in (5_500_000, 10**9, 10**30):
        yield Case(f"length {size}", http("POST", SIGNAL, SENDER, f"Content-Length: {size}"), large)
    for path in (SIGNAL, LIST, "/auth/simple", "/sign-in"):
        for size in (102_500, 1_050_000):
            data = _sized("POST", path, BEARER, "Content-Type: application/json", body=b" " * size)
            yield Case(f"{size} blanks to {path}", data, most=1, page=is_page(path))
    many = b"FFFF\r\n" + b"x" * 65535 + b"\r\n"
    yield Case("5.9 MB in chunks", http("POST", SIGNAL, SENDER, CHUNKED, body=many * 90), large)
    for count in (2, 50):
        yield Case(
            f"{count} pipelined", http("GET", "/health") * count, frozenset({200}), most=count
        )
    mixed = http("GET", "/health") + b"BAD\r\n\r\n" + http("GET", "/health")
    yield Case("an error ends the pipeline", mixed, frozenset({200, 400}), most=2)


def _noise() -> Iterator[Case]:
    """Bytes of a good request changed at random; the seed makes them the same each time."""
    chance = random.Random(20261121)
    good = _sized("POST", SIGNAL, SENDER, "Content-Type: application/json", body=b'{"a": 1}')
    for number in range(100):
        data = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.choice(b"\x00\t\r\n :;,/\xff%0\x7f")
        yield Case(f"noise {number}", bytes(data), most=3, silent=True, page=True)
