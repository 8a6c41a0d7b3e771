"""Where the service listens, how long it keeps connections, what it compresses."""

from __future__ import annotations

import gzip
import socket
import stat
import time
import warnings

from tests.server.process import create_open_folder, find_free_port, until
from tests.spec.database_fixtures import start_together
from tests.spec.kit import Case, Row
from tests.waiting import DEADLINE_SECONDS

HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


PORT, OTHER_PORT = find_free_port(), find_free_port()


def check_port(case: Case) -> None:
    is_free = not case.value
    service = (
        case.services.get_shared("default", case.rows)
        if is_free
        else case.start(case.services.reused_environ)
    )
    assert service.port > 0 if is_free else service.port == case.value
    assert f":{service.port}" in service.stdout
    assert case.request("GET", "/health", service=service).json == {"health": "GOOD"}


def check_port_in_use(case: Case) -> None:
    with socket.create_server(("0.0.0.0", 0)) as listener:
        number = listener.getsockname()[1]
        process = case.start_failing({"HTTP_PORT": str(number)})
        assert process.wait() == 1
        (line,) = process.stderr.splitlines()
        assert f"port {number}" in line
        assert "in use" in line


def is_healthy_at(check_host: str, number: int) -> bool:
    try:
        with socket.create_connection((check_host, number), DEADLINE_SECONDS) as sock:
            sock.sendall(HEALTH)
            return b"GOOD" in _read_all(sock)
    except OSError:
        return False


def _read_all(sock: socket.socket) -> bytes:
    received = b""
    while part := sock.recv(65_536):
        received += part
    return received


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        warnings.warn("no IPv6 here: what concerns it is not asked", stacklevel=2)
        return False
    return True


def check_host(case: Case) -> None:
    """Nothing is all addresses of both families; an address is itself; 0.0.0.0 is all of IPv4."""
    everywhere = case.value in (None, "0.0.0.0")
    assert is_healthy_at("127.0.0.1", case.service.port)
    assert is_healthy_at("127.0.0.5", case.service.port) == everywhere
    if has_ipv6():
        assert is_healthy_at("::1", case.service.port) == (case.value is None)


def check_ipv6_only(case: Case) -> None:
    if has_ipv6():
        service = case.start(
            case.services.reused_environ | {"HTTP_HOST": "::1", "HTTP_PORT": ""}
        )  # omitted: the system picks
        assert f"http://[::1]:{service.port}" in service.stdout
        assert is_healthy_at("::1", service.port)
        assert not is_healthy_at("127.0.0.1", service.port)


def check_unknown_host(case: Case) -> None:
    process = case.start_failing({"HTTP_HOST": "203.0.113.9"})
    assert process.wait() == 1
    (line,) = process.stderr.splitlines()
    assert "Can't listen on 203.0.113.9" in line


def check_pipe(case: Case) -> None:
    """A socket that a killed service left is replaced; host and port mean nothing."""
    with create_open_folder() as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        path = folder / "service.sock"
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(str(path))
        nowhere = {"port": listener.getsockname()[1], "host": "203.0.113.9"}
        service = case.start(options={"server": {"pipe": str(path), **nowhere}})
        assert service.pipe == str(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with service.connect() as sock:
            sock.sendall(HEALTH)
            assert b"GOOD" in _read_all(sock)
        service.send(15)
        assert service.wait() == 0
        assert not path.exists()


def check_no_pipe(case: Case) -> None:
    assert (case.service.pipe, case.service.port > 0) == ("", True)


def check_invalid_pipe(case: Case) -> None:
    with create_open_folder() as folder:
        file = folder / "file"
        file.write_text("precious")
        paths = [str(file), str(folder / "missing" / "service.sock")]
        cases = {path: (case.services.reused_environ, {"server": {"pipe": path}}) for path in paths}
        with start_together(cases) as messages:
            for path in paths:
                assert messages[path].startswith(f"StartError: Can't listen on {path}")
                assert "\n" not in messages[path]
        assert file.read_text() == "precious"


def check_keep_alive(case: Case) -> None:
    """Measured since the start of the service, while the other rows were asked."""
    assert case.service.is_running()
    idle = case.services.idle[case.way]
    if case.value == 0:
        until(lambda: time.monotonic() - idle.started_at > 4, "the time of the others")
        assert idle.seconds is None
    else:
        until(lambda: idle.seconds is not None, "the end of an idle connection")
        assert case.value - 0.2 < idle.seconds
        assert case.value == 15 or idle.seconds < 14, "the default's"


def check_compression(case: Case) -> None:
    wants = {"Accept_Encoding": "br, gzip;q=0.9"}
    flags = [f"compressed-{n}" for n in range(4)]
    features = "/api/admin/projects/default/features"
    for name in flags:
        case.admin("POST", features, {"name": name, "description": "lorem ipsum " * 40})
    body = {"tokenName": "c", "type": "client", "environment": "default", "projects": ["*"]}
    secret = case.admin("POST", "/api/admin/api-tokens", body)["secret"]
    try:
        for path in ("/sign-in", "/docs/openapi.json", "/api/client/features"):
            plain = case.request("GET", path, token=secret)
            packed = case.request("GET", path, token=secret, **wants)
            assert len(plain.body) > 1024
            assert plain.headers["Content-Encoding"] is None
            assert plain.headers["ETag"] == packed.headers["ETag"]
            is_packed = packed.headers["Content-Encoding"] == "gzip"
            assert is_packed != case.value, path
            if is_packed:
                for answer in (plain, packed):
                    assert "Accept-Encoding" in answer.headers["Vary"]
                assert len(packed.body) < len(plain.body)
                unpacked = gzip.decompress(packed.body)
                assert len(unpacked) == len(plain.body)
            head = case.request("HEAD", path, token=secret, **wants)
            assert (head.status, head.body) == (200, b"")
            never = case.request("GET", path, token=secret, Accept_Encoding="gzip;q=0")
            assert never.headers["Content-Encoding"] is None
        conditional = {"If_None_Match": packed.headers["ETag"]} | wants
        assert (
            case.request("GET", "/api/client/features", token=secret, **conditional).status == 304
        )
        small = case.request("GET", "/health", **wants)
        assert small.headers["Content-Encoding"] is None
    finally:
        for name in flags:
            case.admin("DELETE", f"{features}/{name}")
        for name in flags:
            case.admin("DELETE", f"/api/admin/archive/{name}")
        case.admin("DELETE", f"/api/admin/api-tokens/{secret}")


ROWS = (
    Row("server.port", check_port, "HTTP_PORT", 0, str(PORT), PORT, code=OTHER_PORT, alone=True),
    Row("server.port", check_port_in_use, alone=True),
    Row("server.host", check_host, "HTTP_HOST", None, "127.0.0.1", code="0.0.0.0"),
    Row("server.host", check_ipv6_only, alone=True),
    Row("server.host", check_unknown_host, alone=True),
    Row("server.pipe", check_no_pipe, default=None),
    Row("server.pipe", check_pipe, alone=True),
    Row("server.pipe", check_invalid_pipe, alone=True),
    Row(
        "disableCompression",
        check_compression,
        "SERVER_DISABLE_COMPRESSION",
        False,
        "true",
        True,
        code=False,
    ),
)
# The last of all rows: by then a connection has been idle for long.
LAST = (Row("keepAliveTimeout", check_keep_alive, "SERVER_KEEPALIVE_TIMEOUT", 15, "1", 1, code=0),)
