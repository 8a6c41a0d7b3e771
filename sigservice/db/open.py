"""Opens the configured or the embedded database: connects, migrates, creates the pool."""

import os
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg2

from sigservice.config.addresses import split_database_hosts
from sigservice.config.database import build_libpq_arguments
from sigservice.db import session
from sigservice.db.connector import UNUSABLE_VARIABLES
from sigservice.db.data_directory import TEMPORARY
from sigservice.db.embedded import EmbeddedPostgres
from sigservice.db.errors import UnconfirmedCommit
from sigservice.db.migrate import Prepare, migrate
from sigservice.db.pool import Database
from sigservice.errors import StartError
from sigservice.log import Logger

RETRY_SECONDS = 30.0
_PAUSE_SECONDS = 0.5
# Messages of libpq for errors that retries can't fix, with hints. Messages of a server in another
# language don't match, so the service retries.
_READ_ONLY = "session is read-only"
_FINAL = {
    _READ_ONLY: "a standby? The server must accept writes",
    "password authentication failed": "",
    "Peer authentication failed": "",
    "is not permitted to log in": "",
    '" does not exist': "check DATABASE_NAME and DATABASE_USERNAME; createdb creates a database",
    "permission denied for database": "GRANT CONNECT ON DATABASE to the user",
    "no such database": "a pooler doesn't know it: check DATABASE_NAME",
    "no such user": "a pooler doesn't know it: check DATABASE_USERNAME",
    "certificate verify failed": "its CA is not trusted: set ca, see DATABASE_SSL",
    "does not match host name": "",
    "does not support SSL": "DATABASE_SSL or sslmode requires TLS",
    "SSL error": "",
    "no pg_hba.conf entry": "it may require TLS, see DATABASE_SSL, or forbid it",
    "pg_hba.conf rejects": "it may require TLS, see DATABASE_SSL, or forbid it",
    "requires a valid client certificate": "set cert and key, see DATABASE_SSL",
    "certificate authentication failed": "the certificate's common name must be the user",
    "certificate present, but not private key": "DATABASE_SSL has a cert without its key",
    "could not read certificate file": "the cert of DATABASE_SSL",
    "could not load private key file": "the key of DATABASE_SSL doesn't match or has a passphrase",
    "could not read root certificate file": "the ca of DATABASE_SSL",
    **UNUSABLE_VARIABLES,
}


class OpenDatabase:
    """A migrated database with its `pool`, and a `description` for the start lines."""

    def __init__(
        self,
        config: dict[str, Any],
        logger: Logger,
        retry_seconds: float = RETRY_SECONDS,
        *,
        must_exist: bool = False,
        prepare: Prepare = migrate,
        announce: Callable[[str], None] = lambda description: None,
    ) -> None:
        """Raises StartError, with one line, if the database can't be opened. A missing embedded one
        is created, unless it `must_exist`. `announce` is called with a description of the database,
        then `prepare` makes the first connection and migrates."""
        self._pem_folder, self._pem_lock = "", threading.Lock()
        self._embedded: EmbeddedPostgres | None = None
        self._data_dir: str = config["dataDir"]
        settings = dict(config["db"])
        if settings["embedded"]:
            self._embedded = EmbeddedPostgres(
                config["dataDir"], config["postgresBin"], logger, must_exist=must_exist
            )
            settings |= self._embedded.settings()
        self._settings, self._postgres_bin = settings, config["postgresBin"]
        announce(self._describe(settings) + self._describe_socket())
        if self._embedded is not None:
            self._embedded.start()
        try:
            pool = settings["pool"]
            self.pool = Database(
                self.libpq_arguments,
                min_size=pool["min"],
                max_size=pool["max"],
                idle_seconds=pool["idleTimeoutMillis"] / 1000,
                settings=session.build_settings(settings["schema"]),
            )
            self.description = self._describe(settings)
            self._prepare_with_retries(prepare, settings["schema"], logger, retry_seconds)
        except BaseException:
            self.close()
            raise

    @property
    def home(self) -> Path | None:
        """The data directory, which may exist beside a configured database too; None if there is
        none."""
        if self._embedded is not None:
            return self._embedded.directory.home
        return None if self._data_dir == TEMPORARY else Path(self._data_dir).absolute()

    @property
    def is_temporary(self) -> bool:
        """Whether the database is deleted when it is closed."""
        return self._embedded is not None and self._embedded.directory.is_temporary

    @property
    def schema(self) -> str:
        return str(self._settings["schema"])

    @property
    def tool_folders(self) -> list[Path]:
        """The folders that may have programs of PostgreSQL for this database, the preferred one
        first."""
        own = [self._embedded.directory.binaries] if self._embedded is not None else []
        return own + ([Path(self._postgres_bin)] if self._postgres_bin else [])

    def libpq_arguments(self) -> dict[str, Any]:
        """The arguments of a connection, with the password."""
        return build_libpq_arguments(self._settings, self._write_pem)

    def close(self) -> None:
        """Closes the pool, and stops the embedded database if no other process uses it."""
        if hasattr(self, "pool"):
            self.pool.close()
        if self._embedded:
            self._embedded.stop()
        if self._pem_folder:
            shutil.rmtree(self._pem_folder, ignore_errors=True)

    def _prepare_with_retries(
        self,
        prepare: Prepare,
        schema: str,
        logger: Logger,
        retry_seconds: float,
    ) -> None:
        deadline = time.monotonic() + retry_seconds
        is_logged = False
        while True:
            try:
                for name in prepare(self.pool, schema):
                    logger.debug("migrated %s", name)
                return
            except (psycopg2.OperationalError, UnconfirmedCommit) as error:
                reason = _summarize(error)
                hint = next((_FINAL[words] for words in _FINAL if words in reason), None)
                if _READ_ONLY in reason and "," in self._settings["host"]:
                    hint = None  # one of the standbys may become the primary
                if hint is not None:
                    more = f" ({hint})" if hint else ""
                    raise StartError(f"Can't use the database: {reason}{more}") from error
                if time.monotonic() >= deadline:
                    period = f" within {retry_seconds:.0f} s" if retry_seconds else ""
                    raise StartError(f"Can't reach the database{period}: {reason}") from error
                if not is_logged:
                    logger.warn("waiting for the database: %s", reason)
                    is_logged = True
                time.sleep(_PAUSE_SECONDS)
            except psycopg2.Error as error:
                reason = str(error).strip().splitlines()[0]
                raise StartError(f"Can't migrate the database: {reason}") from error

    def _describe(self, settings: dict[str, Any]) -> str:
        if self._embedded is None:
            hosts = split_database_hosts(settings["host"])
            names = ", ".join(f"{host}:{port or settings['port']}" for host, port in hosts)
            return f"PostgreSQL at {names}, database {settings['database']}"
        directory = self._embedded.directory
        if directory.is_temporary:
            return "embedded PostgreSQL, deleted at the end"
        shared = ", shared with another process" if self._embedded.is_attached else ""
        note = f" ({directory.note})" if directory.note else ""
        return f"embedded PostgreSQL, data in {directory.home}{shared}{note}"

    def _describe_socket(self) -> str:
        return f", socket in {self._embedded.directory.socket_dir}" if self._embedded else ""

    def _write_pem(self, name: str, text: str) -> str:
        """Writes a private file: libpq reads it at each connection and refuses keys others can
        read."""
        with self._pem_lock:
            if not _is_own_folder(self._pem_folder):  # a cleanup of /tmp may have deleted it
                self._pem_folder = tempfile.mkdtemp(prefix="sigservice-tls-")
            path = os.path.join(self._pem_folder, f"{name}.pem")
            if not os.path.exists(path):
                with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                    file.write(text if text.endswith("\n") else text + "\n")
        return path


def _summarize(error: Exception) -> str:
    """One line of the error: for a host with several addresses, the error of the last one."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return ([line for line in lines if line.startswith("connection to ")] or lines[:1])[-1]


def _is_own_folder(folder: str) -> bool:
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
