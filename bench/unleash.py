"""unleash-server from npm, as it runs in production, with a PostgreSQL like the embedded one."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from service import NO_RATE_LIMITS, ROOT, TOKENS, Service

sys.path.insert(0, ROOT)
from sigservice.db.embedded import EmbeddedPostgres

VERSION = "8.2.0"
MIN_NODE = 20
START_SECONDS = 60
MORE_RATE_LIMITS = {
    "SDK_API_RATE_LIMIT_PER_MINUTE": "10000000",
    "TOKEN_AUTHENTICATION_RATE_LIMIT_PER_MINUTE": "10000000",
}


def find_problem() -> str | None:
    """The reason why the server can't run here."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return "node and npm aren't installed"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()
    if int(version.removeprefix("v").split(".")[0]) < MIN_NODE:
        return f"node is {version}; {MIN_NODE} or later is needed"
    return None


def install(directory: str) -> Path:
    """The program, installed into the directory unless it is there already."""
    package = Path(directory, "node_modules", "unleash-server")
    if not package.exists():
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", directory]
        subprocess.run([*command, f"unleash-server@{VERSION}"], check=True, capture_output=True)
    return package / "dist" / "server.js"


@contextmanager
def run_unleash(program: Path, **more: str) -> Iterator[tuple[Service, int]]:
    """Starts the server on a new database; yields it with the process ID of its PostgreSQL."""
    with tempfile.TemporaryDirectory(prefix="sigservice-bench-") as folder:
        os.chmod(folder, 0o711)  # for root, whose PostgreSQL runs as another account
        postgres = EmbeddedPostgres(f"{folder}/data")
        postgres.start()
        try:
            database = int((postgres.directory.cluster / "postmaster.pid").read_text().split()[0])
            port = find_free_port()
            settings = postgres.settings()
            environ = {
                "PATH": os.environ["PATH"],
                "NODE_ENV": "production",
                "LOG_LEVEL": "error",
                "CHECK_VERSION": "false",
                "SEND_TELEMETRY": "false",
                "HTTP_HOST": "127.0.0.1",
                "HTTP_PORT": str(port),
                "DATABASE_HOST": settings["host"],
                "DATABASE_USERNAME": settings["user"],
                "DATABASE_PASSWORD": settings["password"],
                "DATABASE_NAME": settings["database"],
                "DATABASE_SSL": "false",
            }
            environ |= TOKENS | NO_RATE_LIMITS | MORE_RATE_LIMITS | more
            process = subprocess.Popen(
                ["node", str(program)],
                env=environ,
                cwd=folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                wait_for_health(process, port)
                service = Service(process.pid, port, folder, create_personal_token(port))
                create_strategy(service)
                yield service, database
            finally:
                process.terminate()
                process.wait(20)
        finally:
            postgres.stop()


def create_personal_token(port: int) -> str:
    """A token of the first admin, because admin tokens can't import flags there."""
    session = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    expires_at = datetime.now(UTC) + timedelta(days=1)
    body: dict[str, str] = {}
    for path, values in (
        ("/auth/simple/login", {"username": "admin", "password": "unleash4all"}),
        ("/api/admin/user/tokens", {"description": "b", "expiresAt": expires_at.isoformat()}),
    ):
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}{path}",
            data=json.dumps(values).encode(),
            headers={"Content-Type": "application/json"},
        )
        with session.open(request) as response:
            body = json.load(response)
    return body["secret"]


def create_strategy(service: Service) -> None:
    """Creates userWithId, which SDKs know but a new server doesn't have."""
    parameters = [{"name": "userIds", "type": "list", "required": False}]
    service.send("/api/admin/strategies", {"name": "userWithId", "parameters": parameters})


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def wait_for_health(process: subprocess.Popen[bytes], port: int) -> None:
    """Raises RuntimeError if the server ends or doesn't answer in time."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health").close()
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("unleash-server doesn't start; run it without stderr=DEVNULL to see why")
