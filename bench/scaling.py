"""What a second process on one machine gives, and what HAProxy costs: signals to 64 endpoints over
64 connections to one process, to the same through HAProxy, and to two through HAProxy.

Usage: python bench/scaling.py (needs haproxy)
"""

import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from load import build_post
from loads import SIGNAL, Load
from report import Report
from rounds import Server, measure_rounds
from service import ROOT, Service, run_service

CONFIGURATION = Path(ROOT, "deploy", "haproxy", "several-processes.cfg")
ENDPOINTS, CONNECTIONS, ROUNDS = 64, 64, 9
ENVIRON = {
    "SERVICE_TRUSTED_PROXY": "127.0.0.1",
    "SERVICE_SIGNAL_ENDPOINTS_LIMIT": str(ENDPOINTS),
}


def main() -> int:
    report = Report()
    with run_service(**ENVIRON) as first:
        posts = []
        for number in range(ENDPOINTS):
            _, token = first.create_signal_token(f"bench-{number}")
            path = f"/api/signal-endpoint/bench-{number}"
            posts.append(build_post(path, SIGNAL, f"Bearer {token}"))
        loads = [Load("signal", posts, 200, None, None)]
        with (
            run_service(**ENVIRON, SERVICE_DATA_DIR=first.data) as second,
            run_haproxy(first) as (one_port, one_pid),
            run_haproxy(first, second) as (two_port, two_pid),
        ):
            servers = [
                Server(first.port, [first.pid], loads),
                Server(one_port, [first.pid, one_pid], loads),
                Server(two_port, [first.pid, second.pid, two_pid], loads),
            ]
            direct, one, two = (
                figures["signal"] for figures in measure_rounds(servers, ROUNDS, CONNECTIONS)
            )
    report.check("two processes, requests of one", two.compare_rates(one), "", 1.2, least=True)
    report.check("HAProxy, requests without it", one.compare_rates(direct), "", 0.85, least=True)
    return 1 if report.failures or direct.errors + one.errors + two.errors else 0


@contextmanager
def run_haproxy(*services: Service) -> Iterator[tuple[int, int]]:
    """The port and the process of an HAProxy with the configuration of deploy/, without TLS."""
    program = shutil.which("haproxy") or "/usr/sbin/haproxy"
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    text = re.sub(r"bind :::443 .*", f"bind 127.0.0.1:{port}", CONFIGURATION.read_text())
    text = re.sub(r"(?m)^ *(stats socket|log|user|group) .*\n", "", text)
    text = re.sub(r"frontend http\n( .*\n)+", "", text)
    ports = dict(zip(("4301", "4302"), (service.port for service in services), strict=False))
    for old in ("4301", "4302"):
        if old in ports:
            text = text.replace(f"127.0.0.1:{old}", f"127.0.0.1:{ports[old]}")
        else:
            text = re.sub(rf"(?m)^ *server n{old} .*\n", "", text)
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as file:
        file.write(text)
        file.flush()
        process = subprocess.Popen([program, "-db", "-f", file.name])
        try:
            time.sleep(2)  # until its checks have found the services
            yield port, process.pid
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
