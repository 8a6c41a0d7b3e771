"""A listening service with a few flags, and the official SDKs that poll it."""

from __future__ import annotations

import contextlib
import json
import queue
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sigservice
from tests.conftest import ADMIN_TOKEN
from tests.server.process import Client
from tests.waiting import DEADLINE_SECONDS

HERE = Path(__file__).parent
CLIENT_TOKEN, FRONTEND_TOKEN = "*:development.client-sdk", "*:development.frontend-sdk"
PROJECT = "/api/admin/projects/default"


class Server(Client):
    """The admin API: `self.request(method, path, body)`."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def admin(self, method: str, path: str, body: Any = None) -> Any:
        status, answer = self.request(method, path, body, ADMIN_TOKEN)
        assert status < 300, (status, answer)
        return answer

    def flag(self, name: str, **strategy: Any) -> None:
        """A flag that is enabled in development, with one strategy."""
        self.admin("POST", f"{PROJECT}/features", {"name": name, "impressionData": True})
        path = f"{PROJECT}/features/{name}/environments/development"
        self.admin("POST", f"{path}/strategies", {"name": "flexibleRollout"} | strategy)
        self.admin("POST", f"{path}/on")

    def switch(self, name: str, on: bool) -> None:
        path = f"{PROJECT}/features/{name}/environments/development"
        self.admin("POST", f"{path}/{'on' if on else 'off'}")

    def usage(self, name: str) -> tuple[int, int]:
        """The counts of the last hour as on the flag's page: (yes, no)."""
        path = f"/api/admin/client-metrics/features/{name}"
        rows = self.admin("GET", path)["lastHourUsage"]
        return sum(row["yes"] for row in rows), sum(row["no"] for row in rows)


@pytest.fixture
def server(database) -> Iterator[Server]:
    tokens = [
        {"type": "admin", "secret": ADMIN_TOKEN, "environment": "*", "project": "*"},
        {
            "type": "client",
            "secret": CLIENT_TOKEN,
            "environment": "development",
            "project": "*",
        },
        {
            "type": "frontend",
            "secret": FRONTEND_TOKEN,
            "environment": "development",
            "project": "*",
        },
    ]
    service = sigservice.start(
        {
            "db": database.options(),
            "logLevel": "error",
            "server": {"host": "127.0.0.1", "port": 0, "gracefulShutdownEnable": False},
            "authentication": {"initialAdminUser": None, "initApiTokens": tokens},
        },
        {},
    )
    server = Server()
    server.port = service.port
    yield server
    service.stop()


@pytest.fixture
def flags(server) -> Server:
    """rollout (100%), nobody (0%), german (constraint), beta (segment), color (variant)."""
    server.flag("rollout", parameters={"rollout": 100})
    server.flag("nobody", parameters={"rollout": 0})
    constraint = {"contextName": "country", "operator": "IN", "values": ["de"]}
    server.flag("german", constraints=[constraint])
    users = {"contextName": "userId", "operator": "IN", "values": ["7"]}
    segment = server.admin("POST", "/api/admin/segments", {"name": "b", "constraints": [users]})
    server.flag("beta", segments=[segment["id"]])
    payload = {"type": "string", "value": "#f00"}
    variant = {"name": "red", "weight": 1000, "weightType": "variable", "payload": payload}
    server.flag("color", variants=[variant])
    return server


class Program:
    """A script of this folder that answers lines of JSON; ends with the test."""

    def __init__(self, interpreter: str, script: str, *arguments: str) -> None:
        self._popen = subprocess.Popen(
            [interpreter, str(HERE / script), *arguments],
            cwd=HERE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def ask(self, **command: Any) -> Any:
        """The answer to one command; fails with what the program printed when there is none."""
        assert self._popen.stdin is not None
        self._popen.stdin.write(json.dumps(command) + "\n")
        self._popen.stdin.flush()
        return self.answer()

    def answer(self) -> Any:
        try:
            return json.loads(self._lines.get(timeout=DEADLINE_SECONDS))
        except (queue.Empty, ValueError):
            self._popen.kill()
            assert self._popen.stderr is not None
            raise AssertionError(self._popen.stderr.read()) from None

    def close(self) -> None:
        self._popen.kill()
        self._popen.wait(DEADLINE_SECONDS)
        self._reader.join(DEADLINE_SECONDS)
        for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if stream is not None:
                stream.close()

    def _read(self) -> None:
        assert self._popen.stdout is not None
        for line in self._popen.stdout:
            self._lines.put(line)
        self._lines.put("")  # it has ended


@pytest.fixture
def node() -> Iterator[Any]:
    """`node("script.cjs", …)` starts one; skips where Node or the packages are missing."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    if not (HERE / "node_modules").is_dir():
        pytest.skip("the SDKs are not installed: npm install --prefix tests/sdk")
    with run_programs("node") as start:
        yield start


@pytest.fixture
def ruby() -> Iterator[Any]:
    """The same for Ruby with the SDK of the package ruby-unleash."""
    has_sdk = (
        shutil.which("ruby")
        and not subprocess.run(["ruby", "-e", 'require "unleash"'], capture_output=True).returncode
    )
    if not has_sdk:
        pytest.skip("Debian's package ruby-unleash is not installed")
    with run_programs("ruby") as start:
        yield start


@contextlib.contextmanager
def run_programs(interpreter: str) -> Iterator[Callable[..., Program]]:
    started: list[Program] = []

    def start(script: str, *arguments: str) -> Program:
        started.append(Program(interpreter, script, *arguments))
        return started[-1]

    try:
        yield start
    finally:
        for program in started:
            program.close()
