"""The embedded PostgreSQL: used when no database is configured.

One process starts it through the supervisor; other processes with the same data directory attach.
Each of them starts another supervisor if that one dies. PostgreSQL listens only on a unix socket
in a private folder. See docs/decisions/0003-embedded-postgresql.md.
"""

import contextlib
import fcntl
import os
import pwd
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg2

from sigservice.config.database import build_libpq_arguments
from sigservice.db import supervisor
from sigservice.db.connector import UNUSABLE_VARIABLES
from sigservice.db.data_directory import (
    DataDirectory,
    find_data_directory,
    make_access_error,
)
from sigservice.errors import StartError
from sigservice.log import Logger
from sigservice.paths import make_private

USER = "sigservice"
PORT = 5432
START_SECONDS = 30
STOP_SECONDS = 4
WATCH_SECONDS = 0.8  # a return may need two looks, and may take 2 s
# The programs don't get the environment of the service, which has secrets and variables for other
# databases.
_ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
_MAX_LOG_BYTES = 10_000_000


class EmbeddedPostgres:
    """A PostgreSQL server; it stops when the last process that uses it calls `stop`."""

    def __init__(
        self,
        data_dir: str,
        postgres_bin: str | None = None,
        logger: Logger | None = None,
        *,
        must_exist: bool = False,
    ) -> None:
        """Finds the data directory; raises StartError, with `must_exist` also if it has no
        database."""
        self.directory: DataDirectory = find_data_directory(
            data_dir, postgres_bin, must_exist=must_exist
        )
        self.is_attached = False
        self._users: int | None = None
        self._supervisor: subprocess.Popen[bytes] | None = None
        self._logger = logger
        self._watcher = threading.Thread(target=self._watch, name="supervisor watch", daemon=True)
        self._stopping = threading.Event()

    def start(self) -> None:
        """Returns when the database answers; raises StartError, with one line, if it doesn't."""
        try:
            with self._lock_start():
                self._users = os.open(self._file("users.lock"), os.O_RDWR | os.O_CREAT, 0o600)
                fcntl.flock(self._users, fcntl.LOCK_SH)  # waits while another process stops it
                self.directory.protect()
                self._create_private_folder(self.directory.socket_dir)
                self._bring_up()
                self.is_attached = self._supervisor is None
        except OSError as error:
            self.stop()
            raise make_access_error(self.directory.home, error) from error
        except BaseException:
            self.stop()
            raise
        self._watcher.start()

    def settings(self) -> dict[str, Any]:
        """The `db` option for this database."""
        return {
            "host": str(self.directory.socket_dir),
            "port": PORT,
            "user": USER,
            "password": "unused",
            "database": "postgres",
        }

    def arguments(self, database: str = "postgres") -> dict[str, Any]:
        """The arguments for psycopg2.connect, for connections outside the pool."""
        more = {"database": database, "ssl": False, "applicationName": USER}
        return build_libpq_arguments(self.settings() | more, lambda name, text: "")

    def stop(self) -> None:
        """Stops the database if no other process uses it; a second call has no effect."""
        if self._users is None:
            return
        users, self._users = self._users, None
        self._stopping.set()
        if self._watcher.is_alive():
            self._watcher.join()
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_last = True
        except OSError:
            is_last = False
        if self._supervisor is not None and self._supervisor.poll() is not None:
            self._supervisor = None  # another process has started its successor
        if is_last and self._supervisor is not None:
            self._supervisor.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):  # a stuck supervisor
                self._supervisor.wait(STOP_SECONDS)
        os.close(users)
        if is_last and self._supervisor is None:
            self._wait_until_stopped()
        self._supervisor = None

    def _wait_until_stopped(self) -> None:
        """For an attached process: the supervisor of the first process stops the database."""
        deadline = time.monotonic() + STOP_SECONDS
        while (self.directory.cluster / "postmaster.pid").exists() and time.monotonic() < deadline:
            time.sleep(0.02)

    def _file(self, name: str) -> Path:
        return self.directory.home / name

    @contextlib.contextmanager
    def _lock_start(self) -> Any:
        """Takes the lock under which only one process at a time starts the database."""
        lock = os.open(self._file("start.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            deadline = time.monotonic() + START_SECONDS
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise StartError(
                            f"Another process has been starting {self.directory.cluster} for "
                            f"{START_SECONDS} s; see {self.directory.log}."
                        ) from None
                    time.sleep(0.02)
            yield
        finally:
            os.close(lock)

    def _answers(self) -> bool:
        try:
            psycopg2.connect(**self.arguments()).close()
        except psycopg2.Error as error:
            for words, hint in UNUSABLE_VARIABLES.items():
                if words in str(error):
                    reason = str(error).strip()
                    raise StartError(f"Can't use the database: {reason} ({hint})") from error
            return False
        return True

    def _prepare(self) -> None:
        """Creates the cluster under another name and renames it, so that it is always complete."""
        if self.directory.log.exists() and self.directory.log.stat().st_size > _MAX_LOG_BYTES:
            self.directory.log.replace(self.directory.log.with_suffix(".log.1"))
        version = self.directory.cluster / "PG_VERSION"
        if version.exists():
            self._check_owner(self.directory.cluster)
            self._check_version(version.read_text().strip())
            return
        for leftover in self.directory.home.glob("postgres.new-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        fresh = Path(tempfile.mkdtemp(dir=self.directory.home, prefix="postgres.new-"))
        self._change_owner(fresh)
        arguments = ["-D", str(fresh), "-U", USER, "-E", "UTF8", "--locale=C"]
        arguments += ["--auth-local=peer", "--auth-host=reject"]
        result = self._run("initdb", *arguments, "--data-checksums", "--no-instructions")
        if result.returncode:
            shutil.rmtree(fresh, ignore_errors=True)
            raise StartError(f"initdb failed: {_last_line(result.stderr + result.stdout)}")
        fresh.rename(self.directory.cluster)

    def _check_version(self, version: str) -> None:
        output = self._run("postgres", "--version").stdout.decode(errors="replace")
        expected = output.split()[-1].split(".")[0] if output.split() else "?"
        if version != expected:
            raise StartError(
                f"{self.directory.cluster} was created by PostgreSQL {version}, "
                f"but the embedded one is {expected}: see docs/run.md."
            )

    def _write_access_rules(self) -> None:
        """Allows only the account that runs the database, and root, to connect. Does so at each
        start, because older versions trusted every process with access to the socket."""
        account = self._account()
        names = sorted({account.pw_name, pwd.getpwuid(0).pw_name})
        lines = {
            "pg_hba.conf": [f"local all {USER} peer map={USER}"],
            "pg_ident.conf": [f'{USER} "{name}" {USER}' for name in names],
        }
        for name, rules in lines.items():
            file = self.directory.cluster / name
            fresh = file.with_suffix(".new")
            fresh.unlink(missing_ok=True)
            with open(fresh, "x", opener=supervisor.open_private) as stream:
                stream.write("\n".join(["# Written by sigservice at each start.", *rules, ""]))
                os.fchown(stream.fileno(), account.pw_uid, account.pw_gid)
            fresh.replace(file)

    def _account(self) -> pwd.struct_passwd:
        """The account that runs the database. Raises StartError."""
        name = self.directory.account
        try:
            return pwd.getpwnam(name) if name else pwd.getpwuid(os.geteuid())
        except KeyError:
            raise StartError(
                f"The account {name or os.geteuid()}, which runs the embedded PostgreSQL, is not "
                "known to the system (see /etc/passwd)."
            ) from None

    def _bring_up(self) -> None:
        """Returns when the database answers. Starts a supervisor if none runs."""
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            is_failed = self._supervisor is not None and self._supervisor.poll() is not None
            if is_failed or time.monotonic() > deadline:
                line = _last_line(self.directory.log.read_bytes()[-4000:])
                raise StartError(f"The embedded PostgreSQL doesn't start: {line}")
            with self._take_supervisor_lock() as lock:
                if lock is not None:
                    self._prepare()
                    self._write_access_rules()
                    self._launch(lock)
            time.sleep(0.01)

    def _watch(self) -> None:
        """Starts another supervisor whenever the supervisor of this database has died, until the
        stop."""
        while not self._stopping.wait(WATCH_SECONDS):
            with (
                contextlib.suppress(OSError, StartError),
                self._take_supervisor_lock() as lock,
            ):
                # A supervisor of an older version holds no lock.
                if lock is None or self._answers():
                    continue
                if self._logger is not None:
                    self._logger.warn("the supervisor of the database has died; starting another")
                self._launch(lock)

    @contextlib.contextmanager
    def _take_supervisor_lock(self) -> Iterator[int | None]:
        """The locked file for a new supervisor, or None while a supervisor runs."""
        lock = supervisor.take_lock(str(self._file("supervisor.lock")))
        try:
            yield lock
        finally:
            if lock is not None:
                os.close(lock)  # a supervisor that was started keeps the lock

    def _launch(self, supervisor_lock: int) -> None:
        settings = {
            "listen_addresses": "",
            "port": str(PORT),
            "unix_socket_directories": f'"{self.directory.socket_dir}"',
            "unix_socket_permissions": "0700",
            "max_connections": "60",
            # As files of the data directory: systemd-logind removes the shared memory of an account
            # when it logs out, and no new connection could then be opened.
            "dynamic_shared_memory_type": "mmap",
            "fsync": "off" if self.directory.is_temporary else "on",
            "max_wal_size": "512MB",
            # Statements and details of errors contain user data; the service logs errors itself.
            "log_min_messages": "log",
            "log_min_error_statement": "panic",
            "log_error_verbosity": "terse",
        }
        if sys.platform == "linux":
            # After a crash, one call instead of a call for each file of the data directory.
            settings["recovery_init_sync_method"] = "syncfs"
        command = [str(self.directory.binaries / "postgres"), "-D", str(self.directory.cluster)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        directory = self.directory
        if self._supervisor is not None:
            self._supervisor.poll()  # removes the zombie of a killed supervisor
        with open(directory.log, "ab", opener=supervisor.open_private) as log:
            self._supervisor = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    supervisor.__file__,
                    str(supervisor_lock),
                    str(directory.home),
                    directory.account,
                    str(directory.socket_dir) if directory.is_temporary else "",
                    *command,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[supervisor_lock],
                start_new_session=True,
                cwd="/",
                env=_ENVIRONMENT,
            )

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        identity: dict[str, Any] = {}
        if self.directory.account:
            user = pwd.getpwnam(self.directory.account)
            identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        return subprocess.run(
            [str(self.directory.binaries / program), *arguments],
            capture_output=True,
            check=False,
            cwd="/",
            env=_ENVIRONMENT,
            **identity,
        )

    def _create_private_folder(self, folder: Path) -> None:
        """Creates a folder that only the database's account can access; raises StartError."""
        try:
            folder.mkdir(mode=0o700)
            self._change_owner(folder)
        except FileExistsError:
            owner, is_below = self._account().pw_uid, folder.parent == self.directory.home
            if folder.is_symlink() or folder.lstat().st_uid != owner:
                raise StartError(f"{folder} belongs to another account; remove it.") from None
            # Every account can write to /tmp, the other parent: the folder may be planted.
            if folder.stat().st_mode & 0o077 and not (is_below and make_private(folder)):
                raise StartError(f"Other accounts can access {folder}; remove it.") from None
            if any(file.lstat().st_uid != owner for file in folder.iterdir()):
                raise StartError(f"{folder} has a file of another account; remove it.") from None

    def _check_owner(self, cluster: Path) -> None:
        """Raises StartError with a command if PostgreSQL would refuse the owner or mode."""
        account = self._account()
        if cluster.stat().st_uid != account.pw_uid:
            raise StartError(
                f"{cluster} doesn't belong to {account.pw_name}, which runs PostgreSQL: "
                f"chown -R {account.pw_name} {shlex.quote(str(cluster))}"
            )
        if not make_private(cluster):
            raise StartError(
                f"Other accounts can access {cluster}: chmod 700 {shlex.quote(str(cluster))}"
            )

    def _change_owner(self, folder: Path) -> None:
        if self.directory.account:
            user = pwd.getpwnam(self.directory.account)
            os.chown(folder, user.pw_uid, user.pw_gid)


def _last_line(output: bytes) -> str:
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if "FATAL" in line or "error" in line.lower()]
    return (errors or lines or ["no reason in the log"])[-1]
