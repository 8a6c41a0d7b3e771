"""Creates, starts and stops a relay."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Mapping
from functools import partial
from types import FrameType
from typing import Any

from bottle import Bottle

from sigservice.application.service_manager import STOPPING, notify_service_manager
from sigservice.clock import Clock
from sigservice.concurrency.limiter import Limiter
from sigservice.crypto import secrets
from sigservice.delivery.client_documents import ClientDocuments
from sigservice.http_server.http_parsing import BodyPermit, DecideBody
from sigservice.http_server.listener import Callbacks, Listener
from sigservice.log import GetLogger, build_line_loggers
from sigservice.relay.context import FixedOrigins, RelayContext, SourceStates
from sigservice.relay.routes import bind_routes
from sigservice.relay.settings import Settings
from sigservice.relay.sources import Sources
from sigservice.relay.tokens import Tokens
from sigservice.relay.upstream import Upstream
from sigservice.services.system.capped_log import CappedLog
from sigservice.telemetry import Telemetry
from sigservice.version import VERSION_WITH_COMMIT, __version__
from sigservice.web.body import JSON_LIMIT
from sigservice.web.client_ip import find_client_ip, make_connection_key, make_limit_key
from sigservice.web.cors import make_rejection_headers
from sigservice.web.dispatcher import Dispatcher, LateRoutes
from sigservice.web.guards import read_ofrep_token
from sigservice.web.request_log import build_refusal_log
from sigservice.web.wsgi import Wsgi, wrap_app

WORKERS = 32
VALIDATIONS_PER_MINUTE = 60
STOP_POLL_SECONDS = 3.0


class Relay:
    """`app` is a WSGI callable that also works without the listener; flags are read after
    `start_reading`."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self.config = settings.config
        self._token_count = len(settings.tokens)
        get_logger = _build_loggers(self.config)
        self._logger = get_logger("relay")
        for line in settings.warnings:
            self._logger.warn("%s", line)
        self.context = _build_context(settings, clock, get_logger)
        shared: Any = self.context  # it has what they need of a Context
        dispatcher = Dispatcher(shared, Bottle(), compresses=not self.config["disableCompression"])
        dispatcher.complete(list(bind_routes(self.context)), LateRoutes({}, lambda _module: ()))
        self.app: Wsgi = wrap_app(shared, dispatcher)
        self._callbacks = Callbacks(
            make_rejection_headers(shared),
            build_refusal_log(shared),
            _build_body_decision(self.context),
            partial(make_connection_key, trusted=self.context.trusted_proxies),
        )
        self._listener: Listener | None = None
        self._thread: threading.Thread | None = None
        self._environ: Mapping[str, str] = {}
        self._lock, self._end = threading.Lock(), threading.Lock()
        self._end.acquire()  # see application.service.Service

    @property
    def port(self) -> int:
        assert self._listener is not None
        return self._listener.port or 0

    def start(self) -> None:
        """Returns when the relay listens; it doesn't wait for the upstream. Raises StartError."""
        self._listener = Listener(self.app, self.config, self._logger, self._callbacks, WORKERS)
        self._thread = threading.Thread(target=self._serve, name="listener", daemon=True)
        self._thread.start()
        self.context.tokens.start()

    def describe(self) -> list[str]:
        """The lines of the start."""
        host = self.config["server"]["host"] or "localhost"
        host = {"0.0.0.0": "localhost", "::": "localhost"}.get(host, host)  # noqa: S104
        host = f"[{host}]" if ":" in host else host
        return [
            f"sigservice {VERSION_WITH_COMMIT}, relay",
            f"  address         http://{host}:{self.port}{self.context.base}",
            f"  upstream        {self.config['relay']['upstreamUrl']}",
            f"  tokens          {self._token_count}",
        ]

    def wait(self) -> None:
        """Blocks until the relay has stopped. Wakes now and then, for signals."""
        while not self._end.acquire(timeout=STOP_POLL_SECONDS):
            pass
        self._end.release()

    def stop(self) -> None:
        """Stops listening and reading; waits for running requests up to the timeout."""
        self.context.draining.set()
        with self._lock:
            if not self._end.locked():
                return
            self.context.tokens.stop()
            self.context.sources.stop()
            if self._listener is not None and self._thread is not None:
                self._listener.request_stop()
                self._thread.join()
            self._end.release()

    def install_signal_handlers(self, environ: Mapping[str, str]) -> None:
        """`environ` says whether systemd is to be notified."""
        self._environ = environ
        if self.config["server"]["gracefulShutdownEnable"]:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                    signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self.context.draining.is_set():  # a second signal ends the process at once
            os._exit(1)
        self.context.draining.set()
        notify_service_manager(STOPPING, self._environ)
        if number == signal.SIGTERM:
            assert self._listener is not None
            self._listener.close_after_responses()
            self._end.acquire(timeout=self.config["server"]["gracefulShutdownDelay"] / 1000)
        self.stop()
        sys.exit(0)

    def _serve(self) -> None:
        assert self._listener is not None
        try:
            self._listener.run()
        except Exception as error:  # noqa: BLE001  the process must not continue without a listener
            self._logger.error("the listener failed: %s: %s", type(error).__name__, error)
            os._exit(1)


def _build_loggers(config: Mapping[str, Any]) -> GetLogger:
    always_logged = frozenset({"HTTP"} if config["enableRequestLogger"] else ())
    return build_line_loggers(config["logLevel"], always_logged, config["logFormat"])


def _build_context(settings: Settings, clock: Clock, get_logger: GetLogger) -> RelayContext:
    config, logger = settings.config, get_logger("relay")
    telemetry = Telemetry(
        enabled=False,
        with_app_names=False,
        version=__version__,
        monotonic=clock.monotonic,
        count=lambda _names: {},
    )
    limiter = Limiter(clock.monotonic)
    failures = config["rateLimiting"]["failedAuthMaxPerMinute"]
    limiter.add("failed_auth", amount=failures, window=60)
    limiter.add("edge_validate", amount=VALIDATIONS_PER_MINUTE, window=60)
    upstream = Upstream(config, clock)
    sources = Sources(config, upstream, clock, telemetry, logger, max_waiting=WORKERS // 4)
    states: Any = SourceStates()
    return RelayContext(
        config=config,
        clock=clock,
        limiter=limiter,
        telemetry=telemetry,
        get_logger=get_logger,
        sources=sources,
        tokens=Tokens(config, settings.tokens, upstream, sources, clock, logger),
        client_documents=ClientDocuments(
            states, clock, telemetry, enabled=True, max_age_seconds=float("inf")
        ),
        cors_origins=FixedOrigins(frozenset(config["relay"]["corsOrigins"])),
        refusals=CappedLog(get_logger("refusals"), clock.monotonic),
        unavailable=CappedLog(get_logger("errors"), clock.monotonic),
    )


def _build_body_decision(context: RelayContext) -> DecideBody:
    """Bodies of known tokens, and of all others up to the limits of an address."""

    def decide(
        _method: str, _path: str, _query: str, headers: dict[str, str], peer: str
    ) -> BodyPermit:
        environ: dict[str, Any] = {f"HTTP_{name}": text for name, text in headers.items()}
        key = secrets.sha256(read_ofrep_token(environ))
        if key in context.recent_credentials:
            return BodyPermit(JSON_LIMIT, True, key)
        ip = find_client_ip(environ | {"REMOTE_ADDR": peer}, context.trusted_proxies)
        return BodyPermit(JSON_LIMIT, False, make_limit_key(ip))

    return decide
