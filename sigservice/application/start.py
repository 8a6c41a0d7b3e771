"""Creates and starts a service. The database opens in a thread while the rest is imported, because
each takes as long as the other, so this module imports only what the database needs."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sigservice.application.service_manager import READY, notify_service_manager
from sigservice.clock import Clock
from sigservice.config import Loaded, load_config
from sigservice.crypto.secrets import Passwords
from sigservice.db.migrate import Prepare
from sigservice.db.open import OpenDatabase
from sigservice.errors import StartError
from sigservice.log import GetLogger, build_line_loggers

if TYPE_CHECKING:
    from sigservice.application.service import Service


def create(
    options: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    clock: Clock | None = None,
    passwords: Passwords | None = None,
) -> Service:
    """A service whose database is open, migrated and seeded; it does not listen.

    `environ` defaults to os.environ; `clock` and `passwords` are for tests. Raises ConfigError
    with all problems, and StartError with one line.
    """
    loaded = load_config(options, os.environ if environ is None else environ)
    return _create(loaded, clock or Clock(), passwords or Passwords())


def create_on_existing(
    options: Mapping[str, Any], announce: Callable[[str], None], prepare: Prepare
) -> Service:
    """Like `create` for the environment of the process, but raises StartError if there is no
    database. `announce` is called with a description of the database."""
    loaded = load_config(options, os.environ)
    opening = {"must_exist": True, "prepare": prepare, "announce": announce}
    return _create(loaded, Clock(), Passwords(), **opening)


def start(
    options: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> Service:
    """`create`, then listen. In the main thread SIGTERM, SIGINT and SIGHUP stop it gracefully,
    SIGTERM after the delay in which a proxy notices (GRACEFUL_SHUTDOWN_DELAY). An ignored SIGHUP
    (nohup) stays ignored.

    systemd is notified of both if it started the process (NOTIFY_SOCKET)."""
    service = create(options, environ)
    try:
        service.start()
    except BaseException:
        service.stop()
        raise
    notify_service_manager(READY, os.environ)
    return service


def build_loggers(config: dict[str, Any]) -> GetLogger:
    """The configured or the default provider. Raises StartError if a method is missing."""
    provider = config["getLogger"]
    if provider is None:
        always_logged = frozenset({"HTTP"} if config["enableRequestLogger"] else ())
        return build_line_loggers(config["logLevel"], always_logged, config["logFormat"])
    logger = provider("sigservice")
    for method in ("debug", "info", "warn", "error"):
        if not callable(getattr(logger, method, None)):
            raise StartError(f"getLogger must return an object with a method {method}.")
    return provider


def _create(loaded: Loaded, clock: Clock, passwords: Passwords, **options: Any) -> Service:
    """`options` are those of OpenDatabase."""
    get_logger = build_loggers(loaded.config)
    opening = _Opening(lambda: OpenDatabase(loaded.config, get_logger("database"), **options))
    try:
        from sigservice.application.service import Service

        database = opening.wait()
    except BaseException:
        opening.abandon()
        raise
    return Service(loaded, get_logger, database, clock, passwords)


class _Opening:
    """A database that a thread opens. The thread doesn't keep the process from ending."""

    def __init__(self, open_database: Callable[[], OpenDatabase]) -> None:
        self._open = open_database
        self._database: OpenDatabase | None = None
        self._error: BaseException | None = None
        self._lock, self._is_abandoned = threading.Lock(), False
        self._thread = threading.Thread(target=self._run, name="database", daemon=True)
        self._thread.start()

    def wait(self) -> OpenDatabase:
        """Raises what opening has raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._database is not None
        return self._database

    def abandon(self) -> None:
        """Closes the database now, or once it is open."""
        with self._lock:
            self._is_abandoned = True
        if self._database is not None:
            self._database.close()

    def _run(self) -> None:
        try:
            database = self._open()
        except BaseException as error:  # noqa: BLE001  `wait` raises it
            self._error = error
            return
        with self._lock:
            if not self._is_abandoned:
                self._database = database
                return
        database.close()


__all__ = ["build_loggers", "create", "create_on_existing", "start"]
