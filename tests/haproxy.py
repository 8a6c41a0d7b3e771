"""A real HAProxy in front of services, for tests."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.server.process import ROOT, Client, find_free_port
from tests.waiting import DEADLINE_SECONDS, until


class Haproxy(Client):
    """A running HAProxy that listens on `port`; `folder` has its admin socket, and `pid` is the
    process that reloads on SIGUSR2."""

    def __init__(self, port: int, folder: Path, pid: int) -> None:
        self.port, self.pid, self._socket = port, pid, str(folder / "admin.sock")

    def has_admin_socket(self) -> bool:
        return os.path.exists(self._socket)

    def count_servers(self, backend: str) -> int:
        """How many servers of the backend are up."""
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(DEADLINE_SECONDS)
            sock.connect(self._socket)
            sock.sendall(b"show stat\n")
            text = b"".join(iter(lambda: sock.recv(65_536), b"")).decode()
        rows = csv.DictReader(io.StringIO(text.removeprefix("# ")))
        return sum(
            row["pxname"] == backend and row["svname"] != "BACKEND" and row["status"] == "UP"
            for row in rows
        )

    def wait_for_servers(self, count: int, backend: str = "writes") -> None:
        until(lambda: self.count_servers(backend) == count, f"{count} servers that are up")


def read_configuration(name: str, port: int, nodes: Sequence[int]) -> str:
    """A file of deploy/ that listens on `port` without TLS, for nodes at these ports only. Its
    servers of PostgreSQL are down."""
    text = (ROOT / "deploy" / name).read_text()
    text = re.sub(r"bind :::443 .*", f"bind 127.0.0.1:{port}", text)
    text = text.replace("bind :::80 v4v6", f"bind 127.0.0.1:{find_free_port()}")
    text = re.sub(r"    (user|group) haproxy\n", "", text)
    text = text.replace("bind :5432", f"bind 127.0.0.1:{find_free_port()}")
    for index, node in enumerate(nodes):
        for address in (f"127.0.0.1:{4301 + index}", f"10.0.0.{21 + index}:4242"):
            text = text.replace(address, f"127.0.0.1:{node}")
    text = re.sub(r" *server \w+ 10\.0\.0\.2.*\n", "", text)
    text = re.sub(r"10\.0\.0\.\d+:\d+", "127.0.0.1:1", text).replace("port 8008", "port 1")
    return text.replace("/run/haproxy/admin.sock", "ADMIN_SOCKET")


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
        process = subprocess.Popen([_find_program(), "-W", "-db", "-f", str(file)], stderr=errors)
        haproxy = Haproxy(port, file.parent, process.pid)

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
