"""Every way from a guarded process to this machine, tried in one such process."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import DEADLINE_SECONDS

pytestmark = pytest.mark.external

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("guarded_process.py")
ALLOWED = {"an allowed name", "sendto an allowed name", "the proxy"}
LEFT_TO_THE_PROXY = {"through a proxy to an unknown name"}


@pytest.fixture(scope="module")
def outcomes():
    """What became of each attempt, and what arrived: first bytes of connections, datagrams."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(type=socket.SOCK_DGRAM) as u,
    ):
        port = server.getsockname()[1]
        u.bind(("127.0.0.1", port))
        server.settimeout(DEADLINE_SECONDS)
        u.settimeout(DEADLINE_SECONDS)
        done = subprocess.run(
            [sys.executable, str(PROGRAM), str(port)],
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        arrived = []
        for _ in range(2):
            with server.accept()[0] as conn:
                arrived.append(conn.recv(100).decode())
        return json.loads(done.stdout), arrived, u.recv(10)


def test_what_may_not_be_reached_is_refused_whatever_the_way(outcomes):
    results, _, _ = outcomes
    refused = {name for name, result in results.items() if result == "refused"}
    assert set(results) - refused == ALLOWED | LEFT_TO_THE_PROXY, results
    assert len(refused) > 25


def test_what_is_allowed_is_all_that_arrives(outcomes):
    """The allowed ones come last, so whatever had come through before would be seen first."""
    results, connections, datagram = outcomes
    assert {results[name] for name in ALLOWED} == {"done"}
    assert connections == ["proxy.example", "allowed.example"]
    assert datagram == b"allowed"
