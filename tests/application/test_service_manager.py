"""systemd is notified when the service is ready and when it stops."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sigservice.application.service_manager import READY, STOPPING, notify_service_manager
from tests.server.process import make_database_environ, run_service
from tests.waiting import DEADLINE_SECONDS


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    """A socket like that of systemd."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(tmp_path / "notify"))
        sock.settimeout(DEADLINE_SECONDS)
        yield sock


@pytest.mark.external
def test_start_and_stop_notify_systemd(temporary_database: Any, manager: socket.socket):
    database = make_database_environ(temporary_database.create_database("notify"))
    with run_service(database | {"NOTIFY_SOCKET": manager.getsockname()}) as process:
        assert manager.recv(100) == b"READY=1"
        assert process.request("GET", "/ready")[0] == 200
        process.send(signal.SIGTERM)
        assert manager.recv(100) == b"STOPPING=1"
        assert process.wait() == 0


def test_abstract_socket_is_notified():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind("")  # the system chooses an abstract address
        sock.settimeout(DEADLINE_SECONDS)
        name = sock.getsockname()[1:].decode()
        notify_service_manager(STOPPING, {"NOTIFY_SOCKET": f"@{name}"})
        assert sock.recv(100) == b"STOPPING=1"


@pytest.mark.parametrize("address", ["", "/does/not/exist", "relative", "vsock:2:1"])
def test_missing_socket_is_ignored(address: str):
    notify_service_manager(READY, {"NOTIFY_SOCKET": address})
