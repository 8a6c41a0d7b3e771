"""How the service ends: gracefully or not, after how long, and what it says with its exit code."""

from __future__ import annotations

import contextlib
import http.client
import signal
import threading
import time

from tests.server.process import Process, until
from tests.spec.kit import Case, Row
from tests.waiting import DEADLINE_SECONDS

SLOW = {"preRouterHook": {"call": "slow_route"}}
LONG = 50  # seconds that no request is waited for here


class Request(threading.Thread):
    """A slow request; `answer` is None when its connection was cut."""

    def __init__(self, service: Process, seconds: float) -> None:
        super().__init__(daemon=True)
        self._service, self._path, self.answer = service, f"/slow/{seconds}", None
        self.start()
        until(lambda: "came in" in service.stdout, "the request's arrival")

    def run(self) -> None:
        conn = http.client.HTTPConnection("127.0.0.1", self._service.port, timeout=DEADLINE_SECONDS)
        with contextlib.closing(conn), contextlib.suppress(OSError, http.client.HTTPException):
            conn.request("GET", self._path)
            self.answer = conn.getresponse().read()


def stop_during_request(
    service: Process, number: int, seconds: float
) -> tuple[int, float, bytes | None]:
    """(exit code, how long the end took, what a request that needs `seconds` was answered)."""
    request = Request(service, seconds)
    started_at = time.monotonic()
    service.send(number)
    code = service.wait()
    seconds = time.monotonic() - started_at
    request.join(DEADLINE_SECONDS)
    return code, seconds, request.answer


def check_no_graceful_stop(case: Case) -> None:
    service = case.start(
        case.services.reused_environ | {"GRACEFUL_SHUTDOWN_TIMEOUT": "60000"}, SLOW
    )
    code, seconds, answer = stop_during_request(service, signal.SIGTERM, LONG)
    assert (code, answer) == (-signal.SIGTERM, None)
    assert seconds < LONG / 2
    assert "Traceback" not in service.stderr


def check_timeout(case: Case) -> None:
    """Longer than that of the default, which cuts a request after a second."""
    service = case.start(case.services.reused_environ, SLOW)
    assert stop_during_request(service, signal.SIGTERM, 1.2)[::2] == (0, b"slept")


def check_sigint(case: Case) -> None:
    service = case.start(
        case.services.reused_environ | {"GRACEFUL_SHUTDOWN_TIMEOUT": "60000"}, SLOW
    )
    idle = service.connect()
    request = Request(service, 0.6)
    service.send(signal.SIGINT)
    until(lambda: _is_refusing(service), "new connections are refused")
    assert idle.recv(1) == b""
    assert service.wait() == 0
    request.join(DEADLINE_SECONDS)
    assert request.answer == b"slept"
    idle.close()


def check_second_signal(case: Case) -> None:
    service = case.start(
        case.services.reused_environ | {"GRACEFUL_SHUTDOWN_TIMEOUT": "60000"}, SLOW
    )
    Request(service, LONG)
    service.send(signal.SIGINT)
    until(lambda: _is_refusing(service), "new connections are refused")
    service.send(signal.SIGINT)
    assert service.wait(LONG / 2) == 1


def _is_refusing(service: Process) -> bool:
    try:
        service.connect().close()
    except OSError:
        return True
    return False


SIGINT = "programs: SIGINT shuts down gracefully"
ROWS = (
    Row(
        "server.gracefulShutdownEnable",
        check_no_graceful_stop,
        "GRACEFUL_SHUTDOWN_ENABLE",
        "false",
        alone=True,
    ),
    Row(
        "server.gracefulShutdownTimeout",
        check_timeout,
        "GRACEFUL_SHUTDOWN_TIMEOUT",
        "60000",
        alone=True,
    ),
    Row(SIGINT, check_sigint, alone=True),
    Row(SIGINT, check_second_signal, alone=True),
)
