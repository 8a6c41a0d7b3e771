"""The service as a real process that tests start, send requests and signals to, and stop."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.server import warm
from tests.waiting import DEADLINE_SECONDS, until

ROOT = Path(__file__).resolve().parents[2]
ADMIN_SECRET = "*:*.server-tests"
ADDRESS = re.compile(r"^ *address +(?:http://\S+:(\d+)\S*|unix:(\S+))$", re.MULTILINE)
# Rate limits would keep attacks away from the code under test.
OPEN_LIMITS = {
    "INIT_ADMIN_API_TOKENS": ADMIN_SECRET,
    "SIGNAL_ENDPOINT_RATE_LIMIT_PER_SECOND": "100000",
    "FAILED_AUTH_LIMIT_PER_MINUTE": "1000000",
    "SIMPLE_LOGIN_LIMIT_PER_MINUTE": "1000000",
    "CREATE_USER_RATE_LIMIT_PER_MINUTE": "1000000",
}


def find_free_port() -> int:
    """A free port below those that the system assigns, and that no other process of tests gets: an
    abstract socket with its number stays open until this process ends."""
    while True:
        number = random.randrange(20_000, 32_000)
        with socket.socket(socket.AF_UNIX) as reservation:
            with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", number)):
                reservation.bind(f"\0sigservice-test-port-{number}")
                reservation.detach()
                return number


def make_database_environ(options: Mapping[str, Any]) -> dict[str, str]:
    """The variables for a `db` option."""
    return {
        "DATABASE_HOST": str(options["host"]),
        "DATABASE_PORT": str(options["port"]),
        "DATABASE_USERNAME": str(options["user"]),
        "DATABASE_NAME": str(options["database"]),
    }


def is_running(pid: int) -> bool:
    """Whether the process runs; a zombie doesn't."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in ("Z", "X")


class Client:
    """Sends requests to a service on a port or a unix socket."""

    port, pipe = 0, ""

    @classmethod
    def at(cls, port: int | None, pipe: str = "") -> Client:
        client = cls()
        client.port, client.pipe = port or 0, pipe
        return client

    def connect(self, timeout: float = DEADLINE_SECONDS, host: str = "127.0.0.1") -> socket.socket:
        if self.pipe:
            sock = socket.socket(socket.AF_UNIX)
            sock.settimeout(timeout)
            sock.connect(self.pipe)
            return sock
        return socket.create_connection((host, self.port), timeout=timeout)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        secret: str = ADMIN_SECRET,
        timeout: float = DEADLINE_SECONDS,
    ) -> tuple[int, Any]:
        """(status, parsed JSON or bytes). Raises OSError and HTTPException."""
        conn = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        headers = {"Authorization": f"Bearer {secret}", "Connection": "close"}
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        with contextlib.closing(conn):
            conn.request(method, path, body, headers)
            answer = conn.getresponse()
            data = answer.read()
        try:
            return answer.status, json.loads(data)
        except ValueError:
            return answer.status, data

    def create_sender(self, name: str = "deploys") -> tuple[int, str]:
        """A new endpoint with a token: (ID of the endpoint, token)."""
        status, endpoint = self.request("POST", "/api/admin/signal-endpoints", {"name": name})
        assert status == 201, endpoint
        path = f"/api/admin/signal-endpoints/{endpoint['id']}/tokens"
        status, token = self.request("POST", path, {"name": "ci"})
        assert status == 201, token
        return endpoint["id"], token["token"]


class Process(Client):
    """One started service. `script` runs instead of run.py and must print the address line.

    The process is forked from one that has imported the service, which is fast. A `cold` one
    starts Python like users do.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        script: str = "",
        cwd: Path | str = ROOT,
        cold: bool = False,
    ) -> None:
        self._out = tempfile.TemporaryFile()  # noqa: SIM115  closed by close()
        self._err = tempfile.TemporaryFile()  # noqa: SIM115
        inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        quiet = {"HTTP_PORT": "0", "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        quiet["GRACEFUL_SHUTDOWN_DELAY"] = "0"  # most tests stop without a proxy
        variables = inherited | quiet | dict(environ)
        self._popen: Any
        if cold:
            arguments = ["-c", script] if script else ["run.py"]
            self._popen = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=cwd,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=self._out,
                stderr=self._err,
                start_new_session=True,
            )
        else:
            self._popen = warm.start_forked(script, variables, cwd, self._out, self._err)
        self.pid, self.environ = self._popen.pid, dict(environ)
        self._has_database = "SERVICE_DATA_DIR" in environ

    @property
    def stdout(self) -> str:
        return _read_all(self._out)

    @property
    def stderr(self) -> str:
        return _read_all(self._err)

    def wait_for_address(self) -> Process:
        """Waits until the address is printed; fails with the errors if the process ends."""

        def find_address() -> re.Match[str] | None:
            match = ADDRESS.search(self.stdout)
            if not match and self._popen.poll() is not None:
                raise AssertionError(f"ended with {self._popen.returncode}: {self.stderr}")
            return match

        match = until(find_address, "the address line")
        self.port, self.pipe = int(match[1] or 0), match[2] or ""
        return self

    def send(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self, seconds: float = DEADLINE_SECONDS) -> int:
        """The exit code, negative for a signal."""
        try:
            return self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {seconds} s: {self.stderr}") from None

    def is_running(self) -> bool:
        return self._popen.poll() is None

    def kill(self) -> None:
        self._popen.kill()
        self._popen.wait(DEADLINE_SECONDS)

    def close(self) -> None:
        """Stops the process, gracefully if it has an embedded database; closes the files."""
        if self._popen.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                if self._has_database:
                    self._popen.terminate()
                    self._popen.wait(DEADLINE_SECONDS)
            self.kill()
        self._out.close()
        self._err.close()


def run_command(
    arguments: Sequence[str], environ: Mapping[str, str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """The result of `python -m sigservice` with these arguments."""
    script = f"""
import runpy, sys
sys.argv = {["sigservice", *arguments]!r}
runpy.run_module("sigservice", run_name="__main__", alter_sys=True)
"""
    with contextlib.ExitStack() as stack:
        stdin_file, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        stdin_file.write(stdin.encode())
        stdin_file.seek(0)
        code = warm.start_forked(script, environ, ROOT, out, err, stdin_file).wait(DEADLINE_SECONDS)
        return subprocess.CompletedProcess(
            ["sigservice", *arguments], code, _read_all(out), _read_all(err)
        )


def _read_all(file: Any) -> str:
    """Reads a file that another process writes. Keeps the offset, which both share."""
    return os.pread(file.fileno(), 10_000_000, 0).decode(errors="replace")


@contextlib.contextmanager
def run_service(environ: Mapping[str, str], script: str = "", **more: Any) -> Iterator[Process]:
    """A service that has printed its address. It is stopped at the end of the block."""
    process = Process(environ, script, **more)
    try:
        yield process.wait_for_address()
    finally:
        process.close()


def run_failing_service(
    environ: Mapping[str, str], script: str = "", seconds: float = DEADLINE_SECONDS
) -> Process:
    """A service whose start must fail; `wait()` returns its exit code."""
    process = Process(environ, script)
    try:
        process.wait(seconds)
    except AssertionError:
        process.close()
        raise
    return process


@contextlib.contextmanager
def create_open_folder(suffix: str = "") -> Iterator[Path]:
    """A directory that the account of the embedded database can access, also for root."""
    folder = Path(tempfile.mkdtemp(prefix="sigservice-test-", suffix=suffix, dir="/tmp"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=False)


def find_postmaster(data: Path) -> int:
    """The process ID of the embedded PostgreSQL of a data directory, or 0."""
    with contextlib.suppress(FileNotFoundError, IndexError, ValueError):
        pid = int((data / "postgres" / "postmaster.pid").read_text().split()[0])
        return pid if is_running(pid) else 0
    return 0


def find_parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def list_children(pid: int) -> list[int]:
    """The process IDs of the children of a process."""
    names = [entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    children = []
    for name in names:
        with contextlib.suppress(OSError):
            if find_parent(int(name)) == pid:
                children.append(int(name))
    return children


def list_processes(data: Path) -> list[int]:
    """Process IDs of servers and supervisors with the data directory in their command line."""
    pids = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                has_data = os.fsencode(data) in (entry / "cmdline").read_bytes()
                if has_data and is_running(int(entry.name)):
                    pids.append(int(entry.name))
    return pids
