"""The scopes that the relay reads, each with a client token and a thread of its own."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from sigservice.clock import Clock, format_iso
from sigservice.concurrency import wait_budget
from sigservice.concurrency.quotas import Quotas
from sigservice.concurrency.workers import release_turn
from sigservice.delivery.compiled_flags import CompiledFlagsCache
from sigservice.errors import UnavailableError
from sigservice.log import Logger, format_trace
from sigservice.relay.documents import Document, RelayState, build_state, replace_broken
from sigservice.relay.upstream import Scope, Upstream, UpstreamError
from sigservice.telemetry import Telemetry

MAX_BACKOFF_SECONDS = 30.0
FIRST_FLAGS_SECONDS = 5.0
LOST_INTERVALS = 3
WARN_SECONDS = 60.0
IDLE_SECONDS = 24 * 3600.0
RETRY_AFTER = {"Retry-After": "5"}


class Source:
    """The flags of a scope. `state` is what was read last, None before the first time; nothing but
    a usable answer of the upstream changes it."""

    def __init__(
        self, scope: Scope, secret: str, *, is_configured: bool, clock: Clock, telemetry: Telemetry
    ) -> None:
        self.scope, self.secret, self.is_configured = scope, secret, is_configured
        self._clock = clock
        self.state: RelayState | None = None
        self._evaluable: RelayState | None = None
        self._evaluable_document: Document | None = None
        self._etag, self._own_id = "", int(time.time())
        self._revision, self._broken = -1, set[str]()
        self.failures = 0
        self.contact_at: float | None = None  # of the monotonic clock
        self.read_at = ""  # the time of the last contact, as text
        self.created_at = self.used_at = clock.monotonic()
        self.has_first = threading.Event()
        self.ended = threading.Event()
        self.compiled = CompiledFlagsCache(self, clock, telemetry, max_age_seconds=None)  # type: ignore[arg-type]

    def get_young(self, _environment: str, _revision: int, _seconds: float) -> Any:
        """The flags that can be evaluated: see FlagStates."""
        return self._evaluable, 0.0

    def read(self, upstream: Upstream) -> list[str]:
        """Asks the upstream once; returns the names of further flags that can't be evaluated.
        Raises UpstreamError."""
        answer = upstream.read_flags(self.secret, self._etag)
        self.contact_at, self.read_at = self._clock.monotonic(), format_iso(self._clock.now())
        self.failures, new = 0, list[str]()
        if answer is not None:
            document, self._etag = answer
            if document.revision != self._revision:
                new = self._replace(document)
            self.has_first.set()
        return new

    def _replace(self, document: Document) -> list[str]:
        self._own_id += 1
        event_id = document.event_id or self._own_id
        evaluable, broken = replace_broken(document, self._evaluable_document)
        state = build_state(self.scope.environment, document, event_id)
        self._evaluable = (
            build_state(self.scope.environment, evaluable, event_id) if broken else state
        )
        self._evaluable_document = evaluable
        self.state, self._revision = state, document.revision
        former, self._broken = self._broken, set(broken)
        return sorted(self._broken - former)


class Sources:
    """All sources. Starts a thread for each."""

    def __init__(
        self,
        config: Mapping[str, Any],
        upstream: Upstream,
        clock: Clock,
        telemetry: Telemetry,
        logger: Logger,
        max_waiting: int,
    ) -> None:
        """At most `max_waiting` requests wait for an answer of the upstream."""
        self.waiting = Quotas(total=max_waiting)
        settings = config["relay"]
        self._interval: int = settings["refreshSeconds"]
        self._limit: int = settings["scopesLimit"]
        self._upstream, self._clock = upstream, clock
        self._telemetry, self._logger = telemetry, logger
        self._sources: list[Source] = []
        self._lock = threading.Lock()
        self._is_stopped = False
        self._warned_at, self._is_lost = -WARN_SECONDS, False
        self.on_refusal: Callable[[], None] = lambda: None  # a token was refused by a poll

    def list_all(self) -> list[Source]:
        return list(self._sources)

    def find(self, scope: Scope) -> Source | None:
        """The source with the fewest projects that covers the scope, among equals the first."""
        fitting = [source for source in self._sources if source.scope.covers(scope)]
        return min(fitting, key=lambda source: source.scope.breadth, default=None)

    def add(self, scope: Scope, secret: str, *, is_configured: bool) -> Source:
        """The source that covers the scope, or a new one. Raises UnavailableError if there are too
        many."""
        with self._lock:
            source = self.find(scope)
            if source is not None:
                source.is_configured = source.is_configured or is_configured
                return source
            extra = sum(not source.is_configured for source in self._sources)
            if self._is_stopped or (not is_configured and extra >= self._limit):
                raise UnavailableError(
                    "The relay reads the maximum number of scopes (RELAY_SCOPES_LIMIT).",
                    headers=RETRY_AFTER,
                )
            source = Source(
                scope,
                secret,
                is_configured=is_configured,
                clock=self._clock,
                telemetry=self._telemetry,
            )
            self._sources.append(source)
        threading.Thread(target=self._run, args=(source,), name="source", daemon=True).start()
        return source

    def wait_for_state(self, source: Source) -> RelayState:
        """The state of the source; waits for the first one of a new source. Raises UnavailableError
        without one."""
        source.used_at = now = self._clock.monotonic()
        seconds = source.created_at + FIRST_FLAGS_SECONDS - now
        if source.state is None and seconds > 0 and self.waiting.acquire(""):
            try:
                release_turn()
                wait_budget.wait(source.has_first.wait, seconds)
            finally:
                self.waiting.release("")
        if source.state is None:
            raise UnavailableError(
                "The relay hasn't read the flags of this token yet.", headers=RETRY_AFTER
            )
        return source.state

    def end(self, source: Source, reason: str) -> None:
        with self._lock:
            if source in self._sources:
                self._sources.remove(source)
                self._logger.info("source %s ended: %s", source.scope.describe(), reason)
        source.ended.set()

    def end_idle(self) -> None:
        """Ends the sources of SDKs that nobody has used for a day."""
        for source in self.list_all():
            idle_seconds = self._clock.monotonic() - source.used_at
            if not source.is_configured and idle_seconds > IDLE_SECONDS:
                self.end(source, "no request for 24 hours")

    def stop(self) -> None:
        with self._lock:
            self._is_stopped = True
        for source in self.list_all():
            source.ended.set()

    def describe_contact(self) -> str:
        """`connected`, `lost`, or `never` since the start."""
        times = [source.contact_at for source in self._sources if source.contact_at is not None]
        if not times:
            return "never"
        is_recent = self._clock.monotonic() - max(times) <= LOST_INTERVALS * self._interval
        return "connected" if is_recent else "lost"

    def read(self, source: Source) -> float:
        """Asks the upstream for the flags of the source; returns the seconds until the next time.
        Raises nothing."""
        try:
            broken = source.read(self._upstream)
        except UpstreamError as error:
            return self._handle_failure(source, error)
        except Exception as error:  # noqa: BLE001  the source must go on
            self._logger.error("source failed: %s", format_trace(error))
            return self._handle_failure(source, UpstreamError("internal error"))
        for name in broken:
            self._logger.warn("flag %s can't be evaluated and is off", ascii(name[:100]))
        if self._is_lost:
            self._is_lost = False
            self._logger.info("the upstream is back")
        return self._interval * random.uniform(0.9, 1.1)  # noqa: S311

    def _handle_failure(self, source: Source, error: UpstreamError) -> float:
        if error.is_refused:
            self.on_refusal()
        maximum = max(MAX_BACKOFF_SECONDS, float(self._interval))
        delay = min(maximum, 2.0 ** min(source.failures, 20))
        source.failures += 1
        now = self._clock.monotonic()
        if self.describe_contact() != "connected" and now - self._warned_at >= WARN_SECONDS:
            self._warned_at, self._is_lost = now, True
            if source.contact_at is None:
                self._logger.warn("no contact with the upstream yet: %s", error)
            else:
                self._logger.warn(
                    "no contact with the upstream for %d s; serving the flags of %s: %s",
                    now - source.contact_at,
                    source.read_at,
                    error,
                )
        return max(error.retry_after, random.uniform(delay / 2, delay))  # noqa: S311

    def _run(self, source: Source) -> None:
        seconds = 0.0
        while not source.ended.wait(seconds):
            seconds = self.read(source)
