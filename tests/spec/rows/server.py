"""Where the service listens, how long it keeps connections, what it compresses."""

from __future__ import annotations

import socket
import stat
import warnings

from tests.server.process import create_open_folder, find_free_port, until
from tests.spec.database_fixtures import start_together
from tests.spec.kit import Case, Row
from tests.waiting import DEADLINE_SECONDS

HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


PORT = find_free_port()


def check_port(case: Case) -> None:
    service = case.start(case.services.reused_environ)
    assert service.port == PORT
    assert f":{PORT}" in service.stdout
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
    """Nothing is all addresses of both families; an address is itself."""
    is_everywhere = case.value is None
    assert is_healthy_at("127.0.0.1", case.service.port)
    assert is_healthy_at("127.0.0.5", case.service.port) == is_everywhere
    if has_ipv6():
        assert is_healthy_at("::1", case.service.port) == is_everywhere


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
    idle = case.services.idle["environment"]
    until(lambda: idle.seconds is not None, "the end of an idle connection")
    assert 0.8 < idle.seconds < 14, "the default's"


def check_no_compression(case: Case) -> None:
    for path in ("/sign-in", "/docs/openapi.json", "/static/app.css"):
        answer = case.request("GET", path, Accept_Encoding="br, gzip;q=0.9")
        assert (answer.status, answer.headers["Content-Encoding"]) == (200, None)
        assert len(answer.body) > 1024


ROWS = (
    Row("server.port", check_port, "HTTP_PORT", str(PORT), alone=True),
    Row("server.port", check_port_in_use, alone=True),
    Row("server.host", check_host, "HTTP_HOST", "127.0.0.1"),
    Row("server.host", check_host),
    Row("server.host", check_ipv6_only, alone=True),
    Row("server.host", check_unknown_host, alone=True),
    Row("server.pipe", check_pipe, alone=True),
    Row("server.pipe", check_invalid_pipe, alone=True),
    Row("disableCompression", check_no_compression, "SERVER_DISABLE_COMPRESSION", "true"),
)
# The last of all rows: by then a connection has been idle for long.
LAST = (Row("keepAliveTimeout", check_keep_alive, "SERVER_KEEPALIVE_TIMEOUT", "1"),)
