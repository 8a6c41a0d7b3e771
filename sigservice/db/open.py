"""Opens the configured or the embedded database: found, reached, migrated, pooled."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import threading
import time
from typing import Any

import psycopg2

from sigservice.config.database import build_libpq_arguments
from sigservice.db import session
from sigservice.db.embedded import EmbeddedPostgres
from sigservice.db.errors import UnconfirmedCommit
from sigservice.db.migrate import migrate
from sigservice.db.pool import UNUSABLE_VARIABLES, Database
from sigservice.errors import StartError
from sigservice.log import Logger

RETRY_SECONDS = 30.0
_PAUSE = 0.5
# What time does not mend, in libpq's words, and what a person can do. A server that speaks another
# language is waited for like one that is not there.
_FINAL = {
    "session is read-only": "a standby? A server that takes writes is needed",
    "password authentication failed": "",
    "certificate verify failed": "no trusted CA has signed it: give its ca, see DATABASE_SSL",
    "does not match host name": "",
    "does not support SSL": "DATABASE_SSL or sslmode asks for TLS",
    "SSL error": "",
    "no pg_hba.conf entry": "perhaps it demands TLS, see DATABASE_SSL, or forbids it",
    "pg_hba.conf rejects": "perhaps it demands TLS, see DATABASE_SSL, or forbids it",
    "requires a valid client certificate": "give cert and key, see DATABASE_SSL",
    "certificate authentication failed": "the certificate's common name must be the user",
    "certificate present, but not private key": "DATABASE_SSL has a cert without its key",
    "could not read certificate file": "the cert of DATABASE_SSL",
    "could not load private key file": "the key of DATABASE_SSL does not fit or has a passphrase",
    "could not read root certificate file": "the ca of DATABASE_SSL",
    **UNUSABLE_VARIABLES,
}


class OpenDatabase:
    """A database ready for use: `pool` for the house, `described` for a person."""

    def __init__(
        self, config: dict[str, Any], logger: Logger, retry_seconds: float = RETRY_SECONDS
    ) -> None:
        """Raises StartError with one line when it can't be opened."""
        self._pem_folder, self._pem_lock = "", threading.Lock()
        self._embedded: EmbeddedPostgres | None = None
        settings = dict(config["db"])
        if settings["embedded"]:
            self._embedded = EmbeddedPostgres(config["dataDir"], config["postgresBin"])
            self._embedded.start()
            settings |= self._embedded.settings()
        try:
            pool = settings["pool"]
            self.pool = Database(
                lambda: build_libpq_arguments(settings, self._write_pem),
                low=pool["min"],
                high=pool["max"],
                idle_seconds=pool["idleTimeoutMillis"] / 1000,
                settings=session.settings(settings["schema"]),
            )
            self.described = self._describe(settings)
            self._migrate_patiently(settings, logger, retry_seconds)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Closes the pool and ends the embedded database if nobody else uses it."""
        if hasattr(self, "pool"):
            self.pool.close()
        if self._embedded:
            self._embedded.stop()
        if self._pem_folder:
            shutil.rmtree(self._pem_folder, ignore_errors=True)

    def _migrate_patiently(
        self, settings: dict[str, Any], logger: Logger, retry_seconds: float
    ) -> None:
        deadline = time.monotonic() + retry_seconds
        told = False
        while True:
            try:
                for name in migrate(self.pool, settings["schema"]):
                    logger.debug("migrated %s", name)
                return
            except (psycopg2.OperationalError, UnconfirmedCommit) as error:
                reason = _reason(error)
                hint = next((_FINAL[words] for words in _FINAL if words in reason), None)
                if hint is not None:
                    more = f" ({hint})" if hint else ""
                    raise StartError(f"The database can't be used: {reason}{more}") from error
                if time.monotonic() >= deadline:
                    raise StartError(
                        f"The database is not reached after {retry_seconds:.0f} s: {reason}"
                    ) from error
                if not told:
                    logger.warn("waiting for the database: %s", reason)
                    told = True
                time.sleep(_PAUSE)
            except psycopg2.Error as error:
                reason = str(error).strip().splitlines()[0]
                raise StartError(f"The database can't be migrated: {reason}") from error

    def _describe(self, settings: dict[str, Any]) -> str:
        if self._embedded is None:
            host, port = settings["host"], settings["port"]
            return f"PostgreSQL at {host}:{port}, database {settings['database']}"
        place = self._embedded.place
        if place.temporary:
            return "embedded PostgreSQL, thrown away at the end"
        shared = ", shared with another process" if self._embedded.attached else ""
        note = f" ({place.note})" if place.note else ""
        return f"embedded PostgreSQL, data in {place.home}{shared}{note}"

    def _write_pem(self, name: str, text: str) -> str:
        """libpq reads files, for each connection anew, and refuses a key that others may read."""
        with self._pem_lock:
            if not _is_ours(self._pem_folder):  # what cleans /tmp may have taken it
                self._pem_folder = tempfile.mkdtemp(prefix="sigservice-tls-")
            path = os.path.join(self._pem_folder, f"{name}.pem")
            if not os.path.exists(path):
                with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                    file.write(text if text.endswith("\n") else text + "\n")
        return path


def _reason(error: Exception) -> str:
    """One line: of the last address, where a host has several."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return ([line for line in lines if line.startswith("connection to ")] or lines[:1])[-1]


def _is_ours(folder: str) -> bool:
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
