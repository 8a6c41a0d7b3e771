"""A real HAProxy in front of services, for tests."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.process import Client
from tests.waiting import DEADLINE_SECONDS, until


class Haproxy(Client):
    """A running HAProxy that listens on `port`; `folder` has its admin socket."""

    def __init__(self, port: int, folder: Path) -> None:
        self.port, self._socket = port, str(folder / "admin.sock")

    def has_admin_socket(self) -> bool:
        return os.path.exists(self._socket)

    def list_servers(self) -> dict[str, str]:
        """The status of each server by name: "UP" or "DOWN", or the first check that differs."""
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(DEADLINE_SECONDS)
            sock.connect(self._socket)
            sock.sendall(b"show stat\n")
            text = b"".join(iter(lambda: sock.recv(65_536), b"")).decode()
        rows = csv.DictReader(io.StringIO(text.removeprefix("# ")))
        own = ("FRONTEND", "BACKEND")
        return {row["svname"]: row["status"] for row in rows if row["svname"] not in own}

    def wait_for_servers(self, count: int) -> None:
        """Waits until so many servers are up."""

        def count_up() -> bool:
            return list(self.list_servers().values()).count("UP") == count

        until(count_up, f"{count} servers that are up")


def check_configuration(text: str) -> None:
    """Fails with the messages of HAProxy if it doesn't accept the configuration."""
    with _write(text) as file:
        result = subprocess.run(
            [_find_program(), "-c", "-f", str(file)], capture_output=True, text=True, timeout=60
        )
    assert result.returncode == 0, result.stderr
    assert "WARNING" not in result.stderr, result.stderr


@contextlib.contextmanager
def run_haproxy(text: str, port: int) -> Iterator[Haproxy]:
    """Runs it with a configuration in which ADMIN_SOCKET is the path of its admin socket."""
    with _write(text) as file, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([_find_program(), "-db", "-f", str(file)], stderr=errors)
        haproxy = Haproxy(port, file.parent)

        def is_listening() -> bool:
            assert process.poll() is None, errors.seek(0) or errors.read().decode()
            with contextlib.suppress(OSError):
                haproxy.connect().close()
                return haproxy.has_admin_socket()  # a moment later
            return False

        try:
            until(is_listening, "HAProxy listens")
            yield haproxy
        finally:
            process.terminate()
            process.wait(DEADLINE_SECONDS)


def _find_program() -> str:
    program = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
    if program is None:
        pytest.skip("needs HAProxy")
    return program


@contextlib.contextmanager
def _write(text: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        file = Path(folder) / "haproxy.cfg"
        file.write_text(text.replace("ADMIN_SOCKET", str(Path(folder) / "admin.sock")))
        yield file
