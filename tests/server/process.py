"""The service as a real process: started, asked over sockets, signalled, stopped by its pid."""

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
# No limit may stand between an attack and the code it is meant for.
OPEN_LIMITS = {
    "INIT_ADMIN_API_TOKENS": ADMIN_SECRET,
    "SIGNAL_ENDPOINT_RATE_LIMIT_PER_SECOND": "100000",
    "FAILED_AUTH_LIMIT_PER_MINUTE": "1000000",
    "SIMPLE_LOGIN_LIMIT_PER_MINUTE": "1000000",
    "CREATE_USER_RATE_LIMIT_PER_MINUTE": "1000000",
}


def find_free_port() -> int:
    """Below those that the system gives to others in between."""
    while True:
        number = random.randrange(20_000, 32_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", number)):
            return number


def make_database_environ(options: Mapping[str, Any]) -> dict[str, str]:
    """The variables that stand for a `db` option."""
    return {
        "DATABASE_HOST": str(options["host"]),
        "DATABASE_PORT": str(options["port"]),
        "DATABASE_USERNAME": str(options["user"]),
        "DATABASE_NAME": str(options["database"]),
    }


def is_running(pid: int) -> bool:
    """False for a zombie too: it has ended, whoever should collect it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in ("Z", "X")


class Client:
    """Asks a service that listens on a port or a pipe."""

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
        """(status, parsed JSON or the bytes); raises OSError and HTTPException as they come."""
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
        """An endpoint with a token: (the endpoint's id, the token)."""
        status, endpoint = self.request("POST", "/api/admin/signal-endpoints", {"name": name})
        assert status == 201, endpoint
        path = f"/api/admin/signal-endpoints/{endpoint['id']}/tokens"
        status, token = self.request("POST", path, {"name": "ci"})
        assert status == 201, token
        return endpoint["id"], token["token"]


class Process(Client):
    """One started service. `script` runs instead of run.py; it must print the address line.

    It is forked from a process that has imported the service, which makes it cheap; `cold` ones
    are Python's own from the beginning, as people start it.
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
            self._popen = warm.start(script, variables, cwd, self._out, self._err)
        self.pid, self.environ = self._popen.pid, dict(environ)
        self._has_database = "SERVICE_DATA_DIR" in environ

    @property
    def stdout(self) -> str:
        return _everything(self._out)

    @property
    def stderr(self) -> str:
        return _everything(self._err)

    def wait_for_address(self) -> Process:
        """Returns when the address is printed; fails with its errors when it ends instead."""

        def printed() -> re.Match[str] | None:
            found = ADDRESS.search(self.stdout)
            if not found and self._popen.poll() is not None:
                raise AssertionError(f"ended with {self._popen.returncode}: {self.stderr}")
            return found

        match = until(printed, "the address line")
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
        """Ends it, politely where it has a database to end; frees the files."""
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
    """The finished `python -m sigservice` with these arguments."""
    script = f"""
import runpy, sys
sys.argv = {["sigservice", *arguments]!r}
runpy.run_module("sigservice", run_name="__main__", alter_sys=True)
"""
    with contextlib.ExitStack() as stack:
        given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(stdin.encode())
        given.seek(0)
        code = warm.start(script, environ, ROOT, out, err, given).wait(DEADLINE_SECONDS)
        return subprocess.CompletedProcess(
            ["sigservice", *arguments], code, _everything(out), _everything(err)
        )


def _everything(file: Any) -> str:
    """Reads beside the process that writes: the offset is shared, so it stays untouched."""
    return os.pread(file.fileno(), 10_000_000, 0).decode(errors="replace")


@contextlib.contextmanager
def run_service(environ: Mapping[str, str], script: str = "", **more: Any) -> Iterator[Process]:
    """A service that has printed its address; stopped at the end."""
    process = Process(environ, script, **more)
    try:
        yield process.wait_for_address()
    finally:
        process.close()


def run_failing_service(
    environ: Mapping[str, str], script: str = "", seconds: float = DEADLINE_SECONDS
) -> Process:
    """A service that must end by itself; `wait()` gives its exit code at once."""
    process = Process(environ, script)
    try:
        process.wait(seconds)
    except AssertionError:
        process.close()
        raise
    return process


@contextlib.contextmanager
def create_open_folder(suffix: str = "") -> Iterator[Path]:
    """A folder that the account of the embedded database can pass, also when we are root."""
    folder = Path(tempfile.mkdtemp(prefix="sigservice-test-", suffix=suffix, dir="/tmp"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=False)


def find_postmaster(data: Path) -> int:
    """The pid of the embedded PostgreSQL of a data folder, 0 while there is none."""
    with contextlib.suppress(FileNotFoundError, IndexError, ValueError):
        pid = int((data / "postgres" / "postmaster.pid").read_text().split()[0])
        return pid if is_running(pid) else 0
    return 0


def find_parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def list_processes(data: Path) -> list[int]:
    """Postmasters and supervisors whose command line names the data folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                named = os.fsencode(data) in (entry / "cmdline").read_bytes()
                if named and is_running(int(entry.name)):
                    found.append(int(entry.name))
    return found
