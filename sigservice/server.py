"""create, start, stop: one service from its configuration to its end."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from types import FrameType
from typing import Any

from sigservice.app import make_app
from sigservice.build import build_context, build_loggers
from sigservice.clock import Clock
from sigservice.config import Loaded, load_config, risks
from sigservice.config.options import DEFAULT_ADMIN
from sigservice.db.open import OpenDatabase
from sigservice.jobs import (
    actions,
    clean_up,
    created_by,
    last_used_tokens,
    mails,
    notifications,
    retention,
    sign_ins,
    version_check,
)
from sigservice.jobs.runner import Job, Runner
from sigservice.listener import Listener
from sigservice.secrets import Passwords
from sigservice.services import startup
from sigservice.version import __version__
from sigservice.web.cors import make_rejection_headers
from sigservice.web.request_log import refusal_log
from sigservice.web.wsgi import Wsgi

JOBS = (
    Job("actions", actions.run_quietly, 0.5, 0.1, lambda context: context.signals_waiting),
    Job("notifications", notifications.run_quietly, 5, 1, lambda c: c.notifications_waiting),
    Job("mails", mails.run_quietly, 5, 1, lambda context: context.mails_waiting),
    Job("retention", retention.run_once, every_seconds=600, first_seconds=60),
    Job("sessions", clean_up.delete_sessions, every_seconds=3600, first_seconds=60),
    Job("reset tokens", clean_up.delete_reset_tokens, every_seconds=3600, first_seconds=60),
    Job("seen tokens", last_used_tokens.run_once, every_seconds=60, first_seconds=60),
    Job("failed sign-ins", sign_ins.record_summary, every_seconds=60, first_seconds=60),
    Job("frozen connections", clean_up.cut_stuck, every_seconds=0.5, first_seconds=0.5),
    Job("connections", clean_up.evict_connections, every_seconds=0.5, first_seconds=0.5),
)
CREATED_BY = (
    Job("created-by of events", created_by.fill_events, every_seconds=900, first_seconds=30),
    Job("created-by of flags", created_by.fill_features, every_seconds=900, first_seconds=30),
)
VERSION_CHECK = Job("version check", version_check.run_once, 48 * 3600, first_seconds=30)


def create(
    options: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    clock: Clock | None = None,
    passwords: Passwords | None = None,
) -> Service:
    """A service whose database is open, migrated and seeded; it does not listen.

    `environ` is os.environ unless given; `clock` and `passwords` are for tests. Raises
    ConfigError (all problems at once) and StartError (one line).
    """
    loaded = load_config(options, os.environ if environ is None else environ)
    return Service(loaded, clock or Clock(), passwords or Passwords())


def start(
    options: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> Service:
    """`create`, then listen. In the main thread SIGTERM, SIGINT and SIGHUP stop it gracefully."""
    service = create(options, environ)
    try:
        service.start()
    except BaseException:
        service.stop()
        raise
    return service


class Service:
    """`app` is a plain WSGI callable, usable without ever listening."""

    def __init__(self, loaded: Loaded, clock: Clock, passwords: Passwords) -> None:
        config = loaded.config
        self.config, self.warnings = config, loaded.warnings
        self._type_risks = [
            risk.message for risk in risks.find_authentication_risks(config, loaded.sources)
        ]
        get_logger = build_loggers(config)
        self._logger = get_logger("server")
        self._database = OpenDatabase(config, get_logger("database"))
        self._listener: Listener | None = None
        self._thread: threading.Thread | None = None
        self._runner: Runner | None = None
        self._sign_in_code = ""
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        try:
            self.context = build_context(config, self._database.pool, clock, passwords, get_logger)
            startup.seed(
                self.context.database,
                config["authentication"],
                self.context.passwords,
                self._logger,
            )
            startup.switch_environments(
                self.context.database, config["environmentEnableOverrides"], self._logger
            )
            self.app: Wsgi
            self.app, self._admit = make_app(self.context)
            self._warn()
        except BaseException:
            self._database.close()
            raise

    @property
    def port(self) -> int | None:
        """The bound port while it listens, None otherwise and for a unix socket."""
        return self._listener.port if self._listener and not self._stopped.is_set() else None

    @property
    def url(self) -> str:
        """Where it listens, as a local client reaches it; "" while it does not."""
        if self._listener is None or self._stopped.is_set():
            return ""
        if self.config["server"]["pipe"]:
            return f"unix:{self.config['server']['pipe']}"
        host = self.config["server"]["host"] or "localhost"
        shown = {"0.0.0.0": "localhost", "::": "localhost"}.get(host, host)  # noqa: S104
        shown = f"[{shown}]" if ":" in shown else shown
        return f"http://{shown}:{self.port}{self.context.base}"

    def start(self) -> None:
        """Returns when it listens. Raises RuntimeError the second time and after a stop."""
        with self._lock:
            if self._stopped.is_set() or self._listener is not None:
                raise RuntimeError("A service starts once; create a new one.")
            self._listener = Listener(
                self.app,
                self.config,
                self._logger,
                make_rejection_headers(self.context),
                refusal_log(self.context),
                self._admit,
            )
        if self.context.authentication.type.has_passwords:
            self._sign_in_code = startup.issue_sign_in_code(self.context.database)
        self._runner = Runner(self.context, _jobs(self.config))
        self._runner.start()
        if self.context.mail_server is None:
            self._logger.info("No mail server (EMAIL_HOST): users can't reset their own passwords.")
        self._install_signal_handlers()
        self._thread = threading.Thread(target=self._serve, name="listener", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Blocks until the service has stopped."""
        self._stopped.wait()

    def stop(self) -> None:
        """Stops listening, lets running requests finish up to the timeout, closes everything.

        Once and for all: a second call returns at once, another thread's call waits.
        """
        self.context.stopping.set()
        with self._lock:
            if self._stopped.is_set():
                return
            deadline = time.monotonic() + self.config["server"]["gracefulShutdownTimeout"] / 1000
            if self._runner is not None:
                self._runner.ask_to_stop()
            if self._thread is not None and self._listener is not None:
                self._listener.ask_to_stop()
                self._thread.join()
            elif self._listener is not None:
                self._listener.close()
            if self._runner is not None:
                self._runner.join(deadline - time.monotonic())
            self.context.sender.close()
            self._database.close()
            self._stopped.set()

    def describe(self) -> list[str]:
        """What a person wants to know at the start, a line each, at most a dozen."""
        kind = self.context.authentication.type
        who, code = kind.users, ""
        if kind.has_passwords and startup.default_password_works(self.context.database):
            who = "{username} with the built-in password {password}: change it"
            who = who.format(**DEFAULT_ADMIN)  # never what is configured
            code = self._sign_in_code
        missing = []
        if not self.context.public_url:
            missing.append("SERVICE_URL (links use localhost)")
        if not self.config["email"]["host"]:
            missing.append("mail (users can't reset their own passwords)")
        lines = [
            f"sigservice {__version__}",
            f"  address         {self.url}",
            f"  database        {self._database.description}",
            f"  authentication  {self.config['authentication']['type']}",
            f"  sign-in         {who}",
        ]
        if code:
            lines.append(f"  one-time code   {code}: for one sign-in from outside private networks")
        if missing:
            lines.append(f"  not configured  {', '.join(missing)}")
        shown = [*self._type_risks, *self.warnings]
        return lines + [f"  warning         {text}" for text in shown[:6]]

    def _warn(self) -> None:
        """The command alone prints the lines of `describe`, so warnings go to the log too."""
        is_broken = self.context.authentication.lacks_handler
        tell = self._logger.error if is_broken else self._logger.warn
        for line in self._type_risks:
            tell("%s", line)
        for line in self.warnings:
            self._logger.warn("%s", line)

    def _serve(self) -> None:
        assert self._listener is not None
        try:
            cut = self._listener.run()
            if cut:
                self._logger.warn("%d connections were cut at the end", cut)
        except Exception as error:  # noqa: BLE001  the process must not live on deaf
            self._logger.error("the listener failed: %s: %s", type(error).__name__, error)
            os._exit(1)

    def _install_signal_handlers(self) -> None:
        if not self.config["server"]["gracefulShutdownEnable"]:
            return
        if threading.current_thread() is not threading.main_thread():
            self._logger.debug("not in the main thread: signals are not handled")
            return
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.context.stopping.is_set():  # the second time somebody means it
            os._exit(1)
        self._logger.info("%s: stopping", signal.Signals(number).name)
        self.stop()
        sys.exit(0)


def _jobs(config: dict[str, Any]) -> tuple[Job, ...]:
    jobs: tuple[Job, ...] = JOBS
    if config["server"]["enableScheduledCreatedByMigration"]:
        jobs += CREATED_BY
    if config["versionCheck"]["url"] and config["versionCheck"]["enable"]:
        jobs += (VERSION_CHECK,)
    return jobs


__all__ = ["Service", "create", "start"]
