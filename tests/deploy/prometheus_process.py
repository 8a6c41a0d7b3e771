"""Debian's Prometheus as a process of a test."""

from __future__ import annotations

import json
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.server.process import find_free_port
from tests.waiting import DEADLINE_SECONDS, until


@contextmanager
def run_prometheus(folder: Path, *, prefix: str = "") -> Iterator[str]:
    """The address of a Prometheus with the `prometheus.yml` of the folder, below `prefix`."""
    address = f"127.0.0.1:{find_free_port()}"
    arguments = [
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
        f"--web.route-prefix={prefix}/",
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(["prometheus", *arguments], stdout=log, stderr=log)
    url = f"http://{address}{prefix}"
    try:
        until(lambda: is_ready(process, url, folder / "log"), "Prometheus to be ready")
        yield url
    finally:
        process.kill()
        process.wait(DEADLINE_SECONDS)


def is_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> bool:
    assert process.poll() is None, log.read_text()
    try:
        fetch(f"{url}/-/ready")
    except OSError:
        return False
    return True


def fetch(url: str) -> bytes:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=DEADLINE_SECONDS) as answer:
        return answer.read()


def ask(prometheus: str, path: str, **query: str) -> Any:
    """The data of an answer of the API."""
    answer = json.loads(fetch(f"{prometheus}/api/v1/{path}?{urllib.parse.urlencode(query)}"))
    assert answer["status"] == "success"
    return answer["data"]
