"""The embedded PostgreSQL: used when no database is configured.

One process starts it through the supervisor; a second one on the same data folder attaches. It
listens on a unix socket in a private folder only. See docs/decisions/0003.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg2

from sigservice.config.database import build_libpq_arguments
from sigservice.db import supervisor
from sigservice.db.data_directory import Place, find_place
from sigservice.db.pool import UNUSABLE_VARIABLES
from sigservice.errors import StartError

USER = "sigservice"
PORT = 5432
START_SECONDS = 30
STOP_SECONDS = 4
# Nothing of ours: it may hold secrets, and variables meant for another database.
_ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
_LOG_KEPT = 10_000_000


class EmbeddedPostgres:
    """Start it, connect with `arguments()`, stop it. Owned by all processes that started it."""

    def __init__(self, data_dir: str, postgres_bin: str | None = None) -> None:
        """Finds a place; raises StartError when there is none."""
        self.place: Place = find_place(data_dir, postgres_bin)
        self.attached = False
        self._users: int | None = None
        self._supervisor: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when the database answers; raises StartError with one line when it does not."""
        try:
            with self._starting():
                self._users = os.open(self._file("users.lock"), os.O_RDWR | os.O_CREAT, 0o600)
                fcntl.flock(self._users, fcntl.LOCK_SH)  # waits while one is stopping
                self._private(self.place.socket_dir)
                if self._answers():
                    self.attached = True
                    return
                self._prepare()
                self._admit()
                self._launch()
        except OSError as error:
            self.stop()
            raise StartError(
                f"Can't use the data folder {self.place.home}: {error.strerror}."
            ) from error
        except BaseException:
            self.stop()
            raise

    def settings(self) -> dict[str, Any]:
        """The `db` option that reaches it."""
        return {
            "host": str(self.place.socket_dir),
            "port": PORT,
            "user": USER,
            "password": "unused",
            "database": "postgres",
        }

    def arguments(self, database: str = "postgres") -> dict[str, Any]:
        """psycopg2.connect's arguments, for what is no part of the house."""
        more = {"database": database, "ssl": False, "applicationName": USER}
        return build_libpq_arguments(self.settings() | more, lambda name, text: "")

    def stop(self) -> None:
        """Stops the database if nobody else uses it; does nothing the second time."""
        if self._users is None:
            return
        users, self._users = self._users, None
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        except OSError:
            alone = False
        if alone and self._supervisor is not None:
            self._supervisor.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):  # a frozen one: it goes on
                self._supervisor.wait(STOP_SECONDS)
        os.close(users)
        if alone and self._supervisor is None:
            self._wait_until_stopped()
        self._supervisor = None

    def _wait_until_stopped(self) -> None:
        """An attached process that leaves last lets the supervisor of the starter do it."""
        deadline = time.monotonic() + STOP_SECONDS
        while (self.place.cluster / "postmaster.pid").exists() and time.monotonic() < deadline:
            time.sleep(0.02)

    def _file(self, name: str) -> Path:
        return self.place.home / name

    @contextlib.contextmanager
    def _starting(self) -> Any:
        """One starter at a time."""
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
                            f"Another process has been starting {self.place.cluster} for "
                            f"{START_SECONDS} s; look at {self.place.log}."
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
                    raise StartError(f"The database can't be used: {reason} ({hint})") from error
            return False
        return True

    def _prepare(self) -> None:
        """The cluster, made aside and renamed so that no half-made one is ever found."""
        if self.place.log.exists() and self.place.log.stat().st_size > _LOG_KEPT:
            self.place.log.replace(self.place.log.with_suffix(".log.1"))
        version = self.place.cluster / "PG_VERSION"
        if version.exists():
            self._check_version(version.read_text().strip())
            return
        for left_over in self.place.home.glob("postgres.new-*"):
            shutil.rmtree(left_over, ignore_errors=True)
        fresh = Path(tempfile.mkdtemp(dir=self.place.home, prefix="postgres.new-"))
        self._give(fresh)
        arguments = ["-D", str(fresh), "-U", USER, "-E", "UTF8", "--locale=C"]
        arguments += ["--auth-local=peer", "--auth-host=reject"]
        done = self._run("initdb", *arguments, "--data-checksums", "--no-instructions")
        if done.returncode:
            shutil.rmtree(fresh, ignore_errors=True)
            raise StartError(f"initdb failed: {_last_line(done.stderr + done.stdout)}")
        fresh.rename(self.place.cluster)

    def _check_version(self, found: str) -> None:
        output = self._run("postgres", "--version").stdout.decode(errors="replace")
        ours = output.split()[-1].split(".")[0] if output.split() else "?"
        if found != ours:
            raise StartError(
                f"{self.place.cluster} was made by PostgreSQL {found}, the embedded one is {ours}: "
                "see docs/upgrading.md."
            )

    def _admit(self) -> None:
        """Writes who may connect: the account that runs the database, and root. At each start,
        because older versions trusted every process that reached the socket."""
        account = self._account()
        names = sorted({account.pw_name, pwd.getpwuid(0).pw_name})
        lines = {
            "pg_hba.conf": [f"local all {USER} peer map={USER}"],
            "pg_ident.conf": [f'{USER} "{name}" {USER}' for name in names],
        }
        for name, rules in lines.items():
            file = self.place.cluster / name
            fresh = file.with_suffix(".new")
            fresh.unlink(missing_ok=True)
            with open(fresh, "x", opener=supervisor.private) as stream:
                stream.write("\n".join(["# Written by sigservice at each start.", *rules, ""]))
                os.fchown(stream.fileno(), account.pw_uid, account.pw_gid)
            fresh.replace(file)

    def _account(self) -> pwd.struct_passwd:
        """The one that runs the database. Raises StartError."""
        name = self.place.account
        try:
            return pwd.getpwnam(name) if name else pwd.getpwuid(os.geteuid())
        except KeyError:
            raise StartError(
                f"The account {name or os.geteuid()}, which runs the embedded PostgreSQL, is not "
                "known to the system (see /etc/passwd)."
            ) from None

    def _launch(self) -> None:
        settings = {
            "listen_addresses": "",
            "port": str(PORT),
            "unix_socket_directories": f'"{self.place.socket_dir}"',
            "unix_socket_permissions": "0700",
            "max_connections": "60",
            "fsync": "off" if self.place.temporary else "on",
            "max_wal_size": "512MB",
            # An error's statement and detail hold what people sent; the service reports errors.
            "log_min_messages": "log",
            "log_min_error_statement": "panic",
            "log_error_verbosity": "terse",
        }
        command = [str(self.place.binaries / "postgres"), "-D", str(self.place.cluster)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        place = self.place
        throw_away = [str(place.home), str(place.socket_dir)] if place.temporary else ["", ""]
        with open(place.log, "ab", opener=supervisor.private) as log:
            self._supervisor = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    supervisor.__file__,
                    str(self._file("users.lock")),
                    str(place.log),
                    place.account,
                    *throw_away,
                    *command,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd="/",
                env=_ENVIRONMENT,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._supervisor.poll() is not None or time.monotonic() > deadline:
                line = _last_line(self.place.log.read_bytes()[-4000:])
                raise StartError(f"The embedded PostgreSQL does not start: {line}")
            time.sleep(0.01)

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        identity: dict[str, Any] = {}
        if self.place.account:
            user = pwd.getpwnam(self.place.account)
            identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        return subprocess.run(
            [str(self.place.binaries / program), *arguments],
            capture_output=True,
            check=False,
            cwd="/",
            env=_ENVIRONMENT,
            **identity,
        )

    def _private(self, folder: Path) -> None:
        """Makes a folder that only the database's account enters; refuses somebody else's."""
        try:
            folder.mkdir(mode=0o700)
            self._give(folder)
        except FileExistsError:
            status = folder.lstat()
            owner = self._account().pw_uid
            if folder.is_symlink() or status.st_uid != owner or status.st_mode & 0o077:
                raise StartError(f"{folder} belongs to somebody else; remove it.") from None

    def _give(self, folder: Path) -> None:
        if self.place.account:
            user = pwd.getpwnam(self.place.account)
            os.chown(folder, user.pw_uid, user.pw_gid)


def _last_line(output: bytes) -> str:
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if "FATAL" in line or "error" in line.lower()]
    return (telling or lines or ["no reason given"])[-1]
