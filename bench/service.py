"""A real service for benchmarks: its own process and temporary database, no rate limits."""

import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

TOKEN = "*:*.bench"
CLIENT = "*:development.bench-client"
FRONTEND = "*:development.bench-frontend"
TOKENS = {
    "INIT_ADMIN_API_TOKENS": TOKEN,
    "INIT_CLIENT_API_TOKENS": CLIENT,
    "INIT_FRONTEND_API_TOKENS": FRONTEND,
}
# Both servers of beside.py read these.
NO_RATE_LIMITS = {
    "SIGNAL_ENDPOINT_RATE_LIMIT_PER_SECOND": "100000",
    "CLIENT_METRICS_RATE_LIMIT_PER_MINUTE": "1000000",
    "REGISTER_CLIENT_RATE_LIMIT_PER_MINUTE": "1000000",
}
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass
class Service:
    pid: int
    port: int
    data: str
    token: str = TOKEN  # of an admin

    def send(self, path: str, body: Any = None, *, method: str | None = None) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": self.token, "Content-Type": "application/json"},
            method=method,
        )
        try:
            with urllib.request.urlopen(request) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.code} {error.read()[:500]!r}") from error
        return json.loads(text) if text else None

    def fetch_features(self) -> tuple[str, bytes]:
        """ETag and body of the client API."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/client/features",
            headers={"Authorization": CLIENT, "Unleash-Client-Spec": "5.1.9"},
        )
        with urllib.request.urlopen(request) as response:
            return response.headers["ETag"], response.read()

    def create_flag(self, name: str) -> None:
        self.send("/api/admin/projects/default/features", {"name": name})

    def create_service_account(self) -> int:
        """The ID of a new service account that can change flags."""
        body = {"username": "robot", "name": "Robot", "rootRole": "Editor"}
        return self.send("/api/admin/service-account", body)["id"]

    def create_action_set(
        self, name: str, actor: int, source: int, state: str, flag: str, **payload: str
    ) -> None:
        """Enables or disables a flag in development if the payload has these values; without any,
        if `to` is `state`."""
        values = payload or {"to": state}
        params = {"environment": "development", "featureName": flag}
        action = {"action": f"TOGGLE_FEATURE_{state.upper()}", "executionParams": params}
        match = {
            "source": "signal-endpoint",
            "sourceId": source,
            "payload": {
                path: {"operator": "IN", "values": [value]} for path, value in values.items()
            },
        }
        body = {"name": name, "actorId": actor, "match": match}
        path = "/api/admin/projects/default/actions"
        self.send(path, body | {"actions": [action | {"sortOrder": 1}]})

    def create_signal_token(self, name: str = "bench") -> tuple[int, str]:
        """The ID of a new endpoint and a token of it."""
        id = self.send("/api/admin/signal-endpoints", {"name": name})["id"]
        token = self.send(f"/api/admin/signal-endpoints/{id}/tokens", {"name": "t"})["token"]
        return id, token


@contextmanager
def run_service(
    script: str = "run.py", *, stderr: IO[bytes] | None = None, **environ: str
) -> Iterator[Service]:
    """Starts the service on a temporary data directory (fsync on) and stops it. A second one shares
    the directory if it gets it as SERVICE_DATA_DIR."""
    with tempfile.TemporaryDirectory(prefix="sigservice-bench-") as folder:
        os.chmod(folder, 0o711)  # for root, whose PostgreSQL runs as another account
        settings = os.environ | {
            "SERVICE_DATA_DIR": f"{folder}/data",
            "LOG_LEVEL": "error",
            "PYTHONDONTWRITEBYTECODE": "",  # an installation has bytecode: 0.5 s of the start
        }
        settings |= TOKENS | NO_RATE_LIMITS
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
            yield Service(process.pid, port, (settings | environ)["SERVICE_DATA_DIR"])
        finally:
            process.terminate()
            process.wait()
