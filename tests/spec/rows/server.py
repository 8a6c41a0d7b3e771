"""Where the service listens, how long it keeps connections, what it compresses."""

from __future__ import annotations

import gzip
import socket
import stat
import time
import warnings

from tests.server.process import free_port, open_folder, until
from tests.spec.database_site import together
from tests.spec.kit import Asked, Row
from tests.waiting import DEADLINE_SECONDS

HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


PORT, OTHER_PORT = free_port(), free_port()


def port(asked: Asked) -> None:
    is_free = not asked.value
    service = (
        asked.services.shared("default", asked.rows)
        if is_free
        else asked.start(asked.services.used)
    )
    assert service.port > 0 if is_free else service.port == asked.value
    assert f":{service.port}" in service.stdout
    assert asked.ask("GET", "/health", service=service).json == {"health": "GOOD"}


def port_in_use(asked: Asked) -> None:
    with socket.create_server(("0.0.0.0", 0)) as taken:
        number = taken.getsockname()[1]
        ended = asked.refuse({"HTTP_PORT": str(number)})
        assert ended.wait() == 1
        (line,) = ended.stderr.splitlines()
        assert f"port {number}" in line
        assert "in use" in line


def answers_at(host: str, number: int) -> bool:
    try:
        with socket.create_connection((host, number), DEADLINE_SECONDS) as sock:
            sock.sendall(HEALTH)
            return b"GOOD" in _rest(sock)
    except OSError:
        return False


def _rest(sock: socket.socket) -> bytes:
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


def host(asked: Asked) -> None:
    """Nothing is all addresses of both families; an address is itself; 0.0.0.0 is all of IPv4."""
    everywhere = asked.value in (None, "0.0.0.0")
    assert answers_at("127.0.0.1", asked.service.port)
    assert answers_at("127.0.0.5", asked.service.port) == everywhere
    if has_ipv6():
        assert answers_at("::1", asked.service.port) == (asked.value is None)


def ipv6_alone(asked: Asked) -> None:
    if has_ipv6():
        service = asked.start(
            asked.services.used | {"HTTP_HOST": "::1", "HTTP_PORT": ""}
        )  # omitted: the system picks
        assert f"http://[::1]:{service.port}" in service.stdout
        assert answers_at("::1", service.port)
        assert not answers_at("127.0.0.1", service.port)


def no_such_host(asked: Asked) -> None:
    ended = asked.refuse({"HTTP_HOST": "203.0.113.9"})
    assert ended.wait() == 1
    (line,) = ended.stderr.splitlines()
    assert "Can't listen on 203.0.113.9" in line


def pipe(asked: Asked) -> None:
    """A socket that a killed service left is replaced; host and port mean nothing."""
    with open_folder() as folder, socket.create_server(("127.0.0.1", 0)) as taken:
        path = folder / "service.sock"
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(str(path))
        nowhere = {"port": taken.getsockname()[1], "host": "203.0.113.9"}
        service = asked.start(options={"server": {"pipe": str(path), **nowhere}})
        assert service.pipe == str(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with service.connect() as sock:
            sock.sendall(HEALTH)
            assert b"GOOD" in _rest(sock)
        service.send(15)
        assert service.wait() == 0
        assert not path.exists()


def no_pipe(asked: Asked) -> None:
    assert (asked.service.pipe, asked.service.port > 0) == ("", True)


def pipe_that_can_not_be(asked: Asked) -> None:
    with open_folder() as folder:
        file = folder / "file"
        file.write_text("precious")
        paths = [str(file), str(folder / "missing" / "service.sock")]
        cases = {path: (asked.services.used, {"server": {"pipe": path}}) for path in paths}
        with together(cases) as said:
            for path in paths:
                assert said[path].startswith(f"StartError: Can't listen on {path}")
                assert "\n" not in said[path]
        assert file.read_text() == "precious"


def keep_alive(asked: Asked) -> None:
    """Measured since the start of the service, while the other rows were asked."""
    assert asked.service.is_running()
    idle = asked.services.idle[asked.way]
    if asked.value == 0:
        until(lambda: time.monotonic() - idle.began > 4, "the time of the others")
        assert idle.seconds is None
    else:
        until(lambda: idle.seconds is not None, "the end of an idle connection")
        assert asked.value - 0.2 < idle.seconds
        assert asked.value == 15 or idle.seconds < 14, "the default's"


def compression(asked: Asked) -> None:
    wants = {"Accept_Encoding": "br, gzip;q=0.9"}
    flags = [f"compressed-{n}" for n in range(4)]
    features = "/api/admin/projects/default/features"
    for name in flags:
        asked.admin("POST", features, {"name": name, "description": "lorem ipsum " * 40})
    body = {"tokenName": "c", "type": "client", "environment": "default", "projects": ["*"]}
    secret = asked.admin("POST", "/api/admin/api-tokens", body)["secret"]
    try:
        for path in ("/sign-in", "/docs/openapi.json", "/api/client/features"):
            plain = asked.ask("GET", path, token=secret)
            packed = asked.ask("GET", path, token=secret, **wants)
            assert len(plain.body) > 1024
            assert plain.headers["Content-Encoding"] is None
            assert plain.headers["ETag"] == packed.headers["ETag"]
            is_packed = packed.headers["Content-Encoding"] == "gzip"
            assert is_packed != asked.value, path
            if is_packed:
                for answer in (plain, packed):
                    assert "Accept-Encoding" in answer.headers["Vary"]
                assert len(packed.body) < len(plain.body)
                unpacked = gzip.decompress(packed.body)
                assert len(unpacked) == len(plain.body)
            head = asked.ask("HEAD", path, token=secret, **wants)
            assert (head.status, head.body) == (200, b"")
            never = asked.ask("GET", path, token=secret, Accept_Encoding="gzip;q=0")
            assert never.headers["Content-Encoding"] is None
        known = {"If_None_Match": packed.headers["ETag"]} | wants
        assert asked.ask("GET", "/api/client/features", token=secret, **known).status == 304
        small = asked.ask("GET", "/health", **wants)
        assert small.headers["Content-Encoding"] is None
    finally:
        for name in flags:
            asked.admin("DELETE", f"{features}/{name}")
        for name in flags:
            asked.admin("DELETE", f"/api/admin/archive/{name}")
        asked.admin("DELETE", f"/api/admin/api-tokens/{secret}")


ROWS = (
    Row("server.port", port, "HTTP_PORT", 0, str(PORT), PORT, code=OTHER_PORT, alone=True),
    Row("server.port", port_in_use, alone=True),
    Row("server.host", host, "HTTP_HOST", None, "127.0.0.1", code="0.0.0.0"),
    Row("server.host", ipv6_alone, alone=True),
    Row("server.host", no_such_host, alone=True),
    Row("server.pipe", no_pipe, default=None),
    Row("server.pipe", pipe, alone=True),
    Row("server.pipe", pipe_that_can_not_be, alone=True),
    Row(
        "disableCompression",
        compression,
        "SERVER_DISABLE_COMPRESSION",
        False,
        "true",
        True,
        code=False,
    ),
)
# The last of all rows: by then a connection has been idle for long.
LAST = (Row("keepAliveTimeout", keep_alive, "SERVER_KEEPALIVE_TIMEOUT", 15, "1", 1, code=0),)
