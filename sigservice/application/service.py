"""A service: start, describe and stop it."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import fields
from types import FrameType
from typing import Any

from sigservice.application.app import make_app
from sigservice.application.build import build_context, build_encryption
from sigservice.application.service_manager import STOPPING, notify_service_manager
from sigservice.application.start import build_loggers
from sigservice.clock import Clock
from sigservice.concurrency.workers import count_workers
from sigservice.config import Loaded, risks
from sigservice.config.oidc import list_addresses
from sigservice.config.options import DEFAULT_ADMIN
from sigservice.config.risk import Risk
from sigservice.context import Context
from sigservice.crypto.secrets import Passwords
from sigservice.db.errors import DatabaseError
from sigservice.db.migrate import connect
from sigservice.db.open import OpenDatabase
from sigservice.errors import AppError, StartError, UnavailableError
from sigservice.http_server.listener import Listener
from sigservice.jobs import (
    actions,
    alert_rules,
    audit_log,
    buffers,
    flag_states,
    integrations,
    mails,
    metric_sources,
    releases,
    retention,
    upkeep,
    version_check,
)
from sigservice.jobs.runner import Job, Runner
from sigservice.log import GetLogger
from sigservice.services import database_risks, startup
from sigservice.version import VERSION_WITH_COMMIT
from sigservice.web.wsgi import Wsgi

STOP_POLL_SECONDS = 3.0
JOBS = (
    Job(
        "actions", actions.run_once, 0.5, 0.1,
        lambda context: context.signals_waiting, logs=False, work="actions",
    ),
    Job(
        "mails", mails.run_once, 5, 1,
        lambda context: context.mails_waiting, logs=False, work="mails",
    ),
    Job("integrations", integrations.run_once, 0.5, 0.5, work="deliveries"),
    Job("releases", releases.run_once, 1, 1, work="releases"),
    Job("alert rules", alert_rules.run_once, 5, 1, work="rules"),
    Job("metric sources", metric_sources.run_once, 5, 1, work="rules"),
    Job("retention", retention.run_once, every_seconds=600, first_seconds=60),
    Job("sessions", upkeep.delete_sessions, every_seconds=3600, first_seconds=60, is_short=True),
    Job(
        "reset tokens",
        upkeep.delete_reset_tokens,
        every_seconds=3600,
        first_seconds=60,
        is_short=True,
    ),
    Job("last uses", buffers.store_last_uses, every_seconds=60, first_seconds=60, is_short=True),
    Job("lifecycle", upkeep.store_stages, every_seconds=60, first_seconds=60, is_short=True),
    Job("counts", buffers.store_counts, every_seconds=5, first_seconds=5, is_short=True),
    Job("flag states", flag_states.verify_quiet, every_seconds=300, first_seconds=300),
    Job("frozen connections", upkeep.cut_stuck, every_seconds=2, first_seconds=2),
    Job("connections", upkeep.renew_connections, every_seconds=2, first_seconds=2),
)  # fmt: skip
AUDIT_LOG = Job("audit log", audit_log.run_once, every_seconds=1, first_seconds=1, logs=False)
CREATED_BY = (
    Job(
        "created-by of events",
        upkeep.fill_events,
        every_seconds=900,
        first_seconds=30,
        is_short=True,
    ),
    Job(
        "created-by of flags",
        upkeep.fill_features,
        every_seconds=900,
        first_seconds=30,
        is_short=True,
    ),
)
VERSION_CHECK = Job("version check", version_check.run_once, 48 * 3600, first_seconds=30)


def find_database_risks(config: dict[str, Any]) -> list[Risk]:
    """The risks that the database knows of, for `check-config`. Neither creates nor migrates it:
    that it doesn't exist or can't be reached is a risk."""
    logger = build_loggers(config)("database")
    try:
        database = OpenDatabase(config, logger, 0, must_exist=True, prepare=connect)
    except StartError as error:
        return [risks.find_unknown_password_risk(config, str(error))]
    try:
        with database.pool.transaction(snapshot=True) as conn:
            return [
                *database_risks.find_password_risks(conn, config),
                *database_risks.find_start_risks(conn, config),
            ]
    except (AppError, DatabaseError) as error:
        is_unavailable = isinstance(error, AppError)
        text = str(error) if is_unavailable else "It lacks tables of this version of the service."
        return [risks.find_unknown_password_risk(config, text)]
    finally:
        database.close()


class Service:
    """`app` is a WSGI callable that also works without the listener."""

    def __init__(
        self,
        loaded: Loaded,
        get_logger: GetLogger,
        database: OpenDatabase,
        clock: Clock,
        passwords: Passwords,
    ) -> None:
        config = loaded.config
        self.config, self.warnings = config, loaded.warnings
        self._type_risks = [
            risk.message for risk in risks.find_authentication_risks(config, loaded.sources)
        ]
        self._get_logger, self._logger = get_logger, get_logger("server")
        self._database = database
        self._listener: Listener | None = None
        self._thread: threading.Thread | None = None
        self._runner: Runner | None = None
        self._sign_in_code = ""
        self._lock = threading.Lock()
        self._is_stopped = False
        # Released at the end. A signal handler stops the service in the thread that may be in
        # `wait`: an Event could then be locked by its own `wait`.
        self._end = threading.Lock()
        self._end.acquire()
        try:
            self.context = self._build_context(clock, passwords)
            self._seed()
            self._wrap_routes = make_app(self.context)
            self.app: Wsgi
            self.app, self._callbacks = self._wrap_routes()
            self._warn()
        except BaseException:
            self._database.close()
            raise

    def _build_context(self, clock: Clock, passwords: Passwords) -> Context:
        encryption = build_encryption(self.config, self._database.home)
        pool = self._database.pool
        return build_context(self.config, pool, clock, passwords, encryption, self._get_logger)

    def _seed(self) -> None:
        database = self.context.database
        startup.seed(database, self.config["authentication"], self.context.passwords)
        names = self.config["environmentEnableOverrides"]
        startup.switch_environments(database, names, self._logger)

    def reset(self, clock: Clock, *, is_seeded: bool = False) -> None:
        """Gives a service that doesn't listen, on emptied tables, the state of a new one with this
        clock: `sigservice.testing.reset`. The routes stay, bound to the same context. With
        `is_seeded` the tables have the rows of a new service already."""
        if self.was_started or self._is_stopped:
            raise RuntimeError("A service that was started or stopped can't be reset.")
        self._get_logger = build_loggers(self.config)
        self._logger = self._get_logger("server")
        fresh = self._build_context(clock, self.context.passwords)
        for field in fields(fresh):
            object.__setattr__(self.context, field.name, getattr(fresh, field.name))
        if not is_seeded:
            self._seed()
        self.app, self._callbacks = self._wrap_routes()

    @property
    def port(self) -> int | None:
        """The bound port while the service listens, else None; None for a unix socket."""
        return self._listener.port if self._listener and not self._is_stopped else None

    @property
    def url(self) -> str:
        """The URL for local clients while the service listens, else ""."""
        if self._listener is None or self._is_stopped:
            return ""
        if self.config["server"]["pipe"]:
            return f"unix:{self.config['server']['pipe']}"
        host = self.config["server"]["host"] or "localhost"
        address = {"0.0.0.0": "localhost", "::": "localhost"}.get(host, host)  # noqa: S104
        address = f"[{address}]" if ":" in address else address
        return f"http://{address}:{self.port}{self.context.base}"

    @property
    def was_started(self) -> bool:
        return self._listener is not None

    def start(self) -> None:
        """Returns when the service listens. Raises RuntimeError if it was started before."""
        with self._lock:
            if self._is_stopped or self._listener is not None:
                raise RuntimeError("A service can be started only once; create a new one.")
            audit_log.acquire(self.context)
            workers = count_workers(self.config["db"]["pool"]["max"])
            self._listener = Listener(self.app, self.config, self._logger, self._callbacks, workers)
            self.context.streams.limit = self._listener.max_streams
        if self.context.authentication.has_password_form:
            self._sign_in_code = startup.issue_sign_in_code(self.context.database)
        self._runner = Runner(self.context, _list_jobs(self.config))
        self._runner.start()
        if self.context.mail_server is None:
            self._logger.info("No mail server (EMAIL_HOST): users can't reset their passwords.")
        self._thread = threading.Thread(target=self._serve, name="listener", daemon=True)
        self._thread.start()
        self._install_signal_handlers()  # a stop needs a thread that has started

    def wait(self) -> None:
        """Blocks until the service has stopped."""
        self._wait(math.inf)

    def _wait(self, seconds: float) -> None:
        """Blocks until the service has stopped, for at most `seconds`. Wakes now and then: only the
        main thread handles signals, but a signal that another thread receives doesn't wake it, for
        example a SIGTERM for a process that SIGSTOP has suspended."""
        deadline = time.monotonic() + seconds
        while (rest := deadline - time.monotonic()) > 0:
            if self._end.acquire(timeout=min(rest, STOP_POLL_SECONDS)):
                self._end.release()
                return

    def stop(self) -> None:
        """Stops listening, waits for running requests up to the timeout, closes everything.

        A second call returns at once; a call from another thread waits for the first.
        """
        self.context.draining.set()
        self.context.stopping.set()
        with self._lock:
            if self._is_stopped:
                return
            deadline = time.monotonic() + self.config["server"]["gracefulShutdownTimeout"] / 1000
            if self._runner is not None:
                self._runner.request_stop()
            self.context.streams.stop()
            if self._thread is not None and self._listener is not None:
                self._listener.request_stop()
                self._thread.join()
            elif self._listener is not None:
                self._listener.close()
            if self._runner is not None:
                self._runner.join(deadline - time.monotonic())
            self._database.close()
            self._is_stopped = True
            self._end.release()

    def describe(self) -> list[str]:
        """The start lines, at most a dozen, without the warnings, which the log has."""
        scheme = self.context.authentication
        users, code = scheme.type.users, ""
        with suppress(UnavailableError):  # must not end a service that listens already
            if scheme.has_password_form and startup.default_password_works(self.context.database):
                users = "{username} with the default password {password}: change it"
                users = users.format(**DEFAULT_ADMIN)  # never the configured password
                code = self._sign_in_code
        lines = [
            f"sigservice {VERSION_WITH_COMMIT}",
            f"  address         {self.url}",
            *self._describe_host(),
            f"  database        {self._database.description}",
            f"  authentication  {self.config['authentication']['type']}",
            f"  sign-in         {users}",
        ]
        if code:
            lines.append(f"  one-time code   {code}, for one sign-in from another machine")
        for name, url in list_addresses(self.config):
            lines.append(f"  provider        {name}: {url}")
        if not self.context.public_url:
            lines.append("  not configured  SERVICE_URL (links use localhost)")
        return lines

    def _describe_host(self) -> list[str]:
        server = self.config["server"]
        if server["pipe"] or server["host"] not in (None, "", "0.0.0.0", "::"):  # noqa: S104
            return []
        return ["  listens on      all addresses; HTTP_HOST=127.0.0.1: this machine only"]

    def _warn(self) -> None:
        """Logs the warnings."""
        is_broken = self.context.authentication.lacks_handler
        log = self._logger.error if is_broken else self._logger.warn
        for line in self._type_risks:
            log("%s", line)
        if risk := self.context.encryption.protect_file():
            self.warnings.append(risk)
        with self.context.database.transaction(snapshot=True) as conn:
            stored_risks = database_risks.find_start_risks(conn, self.config)
        self.warnings += [risk.message for risk in stored_risks]
        for line in self.warnings:
            self._logger.warn("%s", line)

    def _serve(self) -> None:
        assert self._listener is not None
        try:
            closed_count = self._listener.run()
            if closed_count:
                self._logger.warn("busy connections that the stop closed: %d", closed_count)
        except Exception as error:  # noqa: BLE001  the process must not continue without a listener
            self._logger.error("the listener failed: %s: %s", type(error).__name__, error)
            os._exit(1)

    def _install_signal_handlers(self) -> None:
        if not self.config["server"]["gracefulShutdownEnable"]:
            return
        if threading.current_thread() is not threading.main_thread():
            self._logger.debug("not in the main thread: no signal handlers")
            return
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            # nohup ignores SIGHUP, so that the process survives its terminal.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.context.draining.is_set():  # a second signal ends the process at once
            os._exit(1)
        self._logger.info("%s: stopping", signal.Signals(number).name)
        notify_service_manager(STOPPING, os.environ)
        if number == signal.SIGTERM:  # of a service manager; the others come from a terminal
            self._drain(self.config["server"]["gracefulShutdownDelay"] / 1000)
        self.stop()
        sys.exit(0)

    def _drain(self, seconds: float) -> None:
        """Serves for `seconds` more, so that a proxy notices by /health, and by `Connection: close`
        in each response, that it has to use another process."""
        assert self._listener is not None
        self.context.draining.set()
        self._listener.close_after_responses()
        self._wait(seconds)


def _list_jobs(config: dict[str, Any]) -> tuple[Job, ...]:
    jobs: tuple[Job, ...] = JOBS
    if config["audit"]["log"]:
        jobs += (AUDIT_LOG,)
    if config["server"]["enableScheduledCreatedByMigration"]:
        jobs += CREATED_BY
    if config["versionCheck"]["url"] and config["versionCheck"]["enable"]:
        jobs += (VERSION_CHECK,)
    return jobs


__all__ = ["Service"]
