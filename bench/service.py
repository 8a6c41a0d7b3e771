"""A real service for benchmarks: its own process, its own throw-away database, no limits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

TOKEN = "*:*.bench"
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass
class Running:
    pid: int
    port: int
    data: str

    def call(self, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": TOKEN, "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def features(self, token: str) -> tuple[str, bytes]:
        """The ETag and the body that an SDK gets."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/client/features",
            headers={"Authorization": token, "Unleash-Client-Spec": "5.1.9"},
        )
        with urllib.request.urlopen(request) as answer:
            return answer.headers["ETag"], answer.read()

    def flag(self, name: str) -> None:
        self.call("/api/admin/projects/default/features", {"name": name})

    def account(self) -> int:
        """The id of a service account that may change flags."""
        body = {"username": "robot", "name": "Robot", "rootRole": "Editor"}
        return self.call("/api/admin/service-account", body)["id"]

    def action_set(self, name: str, actor: int, source: int, to: str, flag: str) -> None:
        """Switches a flag in development `to` on or off when the payload says so."""
        params = {"environment": "development", "featureName": flag}
        action = {"action": f"TOGGLE_FEATURE_{to.upper()}", "executionParams": params}
        match = {
            "source": "signal-endpoint",
            "sourceId": source,
            "payload": {"to": {"operator": "IN", "values": [to]}},
        }
        body = {"name": name, "actorId": actor, "match": match}
        path = "/api/admin/projects/default/actions"
        self.call(path, body | {"actions": [action | {"sortOrder": 1}]})

    def signal_token(self, name: str = "bench") -> tuple[int, str]:
        """A new endpoint's id and a token of it."""
        id = self.call("/api/admin/signal-endpoints", {"name": name})["id"]
        token = self.call(f"/api/admin/signal-endpoints/{id}/tokens", {"name": "t"})["token"]
        return id, token


@contextmanager
def running(
    script: str = "run.py", *, stderr: IO[bytes] | None = None, **environ: str
) -> Iterator[Running]:
    """The service on a real data folder (fsync on), stopped and removed at the end; a second one
    shares it when it is given as SERVICE_DATA_DIR."""
    with tempfile.TemporaryDirectory(prefix="sigservice-bench-") as folder:
        os.chmod(folder, 0o711)  # as root another account runs PostgreSQL
        settings = os.environ | {
            "SERVICE_DATA_DIR": f"{folder}/data",
            "INIT_ADMIN_API_TOKENS": TOKEN,
            "SIGNAL_ENDPOINT_RATE_LIMIT_PER_SECOND": "100000",
            "LOG_LEVEL": "error",
        }
        process = subprocess.Popen(
            [sys.executable, script],
            cwd=ROOT,
            env=settings | environ,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        try:
            assert process.stdout is not None
            port = 0
            for line in process.stdout:
                if "address" in line:
                    port = int(line.rsplit(":", 1)[1])
                    break
            yield Running(process.pid, port, (settings | environ)["SERVICE_DATA_DIR"])
        finally:
            process.terminate()
            process.wait()
