"""The tokens that the upstream has called valid or invalid.

Only a usable answer of POST /edge/validate without a token ends it. Unknown tokens of concurrent
requests share a request to the upstream, and are limited, so that a flood of invented ones reaches
neither the upstream nor the memory.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from sigservice.clock import Clock
from sigservice.concurrency import wait_budget
from sigservice.concurrency.limiter import TokenBuckets
from sigservice.concurrency.workers import release_turn
from sigservice.crypto import secrets
from sigservice.errors import UnavailableError
from sigservice.log import Logger, format_trace
from sigservice.relay.sources import RETRY_AFTER, Source, Sources
from sigservice.relay.upstream import Scope, Upstream, UpstreamError

BATCH = 100  # tokens in a request
MAX_VALID, MAX_INVALID = 2000, 10_000
INVALID_SECONDS, UNUSED_SECONDS = 60.0, 24 * 3600.0
CHECK_SECONDS = 5.0  # that a request waits
RETRY_SECONDS = 2.0  # after a failed check of all tokens
# Per minute: requests for unknown tokens, and invalid ones among them (the service answers 60
# requests, and refuses an address after 60 invalid tokens).
REQUESTS, REQUEST_BURST = 20, 10
INVALID, INVALID_BURST = 15, 15


@dataclass
class KnownToken:
    secret: str
    scope: Scope
    used_at: float


class Tokens:
    """`configured` are the tokens of RELAY_TOKENS, whose scopes become sources."""

    def __init__(
        self,
        config: Mapping[str, Any],
        configured: Sequence[str],
        upstream: Upstream,
        sources: Sources,
        clock: Clock,
        logger: Logger,
    ) -> None:
        settings = config["relay"]
        self._interval: int = settings["tokenSeconds"]
        self._environments = frozenset(settings["environments"])
        self._configured, self._upstream, self._sources = list(configured), upstream, sources
        self._clock, self._logger = clock, logger
        self._valid: OrderedDict[bytes, KnownToken] = OrderedDict()
        self._invalid: OrderedDict[bytes, float] = OrderedDict()  # until when
        self._pending: dict[bytes, tuple[str, Future[Scope | None]]] = {}
        self._requests = TokenBuckets(REQUESTS / 60, REQUEST_BURST, clock.monotonic)
        self._invalid_budget = TokenBuckets(INVALID / 60, INVALID_BURST, clock.monotonic)
        self._lock = threading.Lock()
        self._wake, self._stopping = threading.Event(), False
        self._must_check = False
        self._bad: set[int] = set()  # numbers of configured tokens that give no flags
        self._is_ready = False  # the upstream has answered about the configured tokens
        sources.on_refusal = self.request_check

    def start(self) -> None:
        threading.Thread(target=self._run, name="tokens", daemon=True).start()

    def stop(self) -> None:
        self._stopping = True
        self._wake.set()

    def request_check(self) -> None:
        """Makes the thread check all tokens at once."""
        self._must_check = True
        self._wake.set()

    def allows(self, scope: Scope) -> bool:
        """Whether RELAY_ENVIRONMENTS has the environment of the scope."""
        return not self._environments or scope.environment in self._environments

    def find_known(self, key: bytes) -> Scope | None:
        """The scope of a valid token; None if it isn't known."""
        with self._lock:
            token = self._valid.get(key)
            if token is None:
                return None
            token.used_at = self._clock.monotonic()
            self._valid.move_to_end(key)
            return token.scope

    def check(self, items: Mapping[bytes, str]) -> dict[bytes, Scope]:
        """The scopes of the valid ones of these tokens, by SHA-256. Raises UnavailableError if one
        isn't known and the upstream can't be asked."""
        results = {key: self.find_known(key) for key in items}
        futures = {}
        with self._lock:
            now = self._clock.monotonic()
            unknown = [key for key, scope in results.items() if scope is None]
            for key in unknown:
                if self._invalid.get(key, 0.0) > now:
                    continue
                if key not in self._pending:
                    if len(self._pending) >= BATCH:
                        raise _build_error()
                    self._pending[key] = items[key], Future()
                futures[key] = self._pending[key][1]
        if futures:
            self._wake.set()
            results |= self._wait(futures)
        return {key: scope for key, scope in results.items() if scope is not None}

    def _wait(self, futures: Mapping[bytes, Future[Scope | None]]) -> dict[bytes, Scope | None]:
        if not self._sources.waiting.acquire(""):
            raise _build_error()
        try:
            release_turn()
            deadline = self._clock.monotonic() + CHECK_SECONDS
            return {
                key: _await_result(future, deadline, self._clock) for key, future in futures.items()
            }
        finally:
            self._sources.waiting.release("")

    def find_problem(self) -> str:
        """Why the relay isn't ready, or ""."""
        if not self._is_ready:
            return "The upstream hasn't said what the tokens of RELAY_TOKENS are."
        sources = [source for source in self._sources.list_all() if source.is_configured]
        if not sources:
            return "No token of RELAY_TOKENS is a valid client token."
        if any(source.state is None for source in sources):
            return "The flags of RELAY_TOKENS haven't been read yet."
        return ""

    def run_once(self) -> float:
        """Checks all tokens; returns the seconds until the next time. Raises nothing."""
        seconds = float(self._interval)
        try:
            self._check_all()
        except UpstreamError as error:
            self._logger.debug("tokens can't be checked: %s", error)
            seconds = max(RETRY_SECONDS, error.retry_after)
        self._sources.end_idle()
        return seconds

    def answer_pending(self) -> None:
        """Asks about the tokens that requests wait for, and lets the requests go on."""
        with self._lock:
            batch, self._pending = self._pending, {}
        if not batch:
            return
        room = self._invalid_budget.peek("").remaining if self._is_ready else 0
        if room and not self._requests.consume("").is_allowed:
            with self._lock:  # they wait for more to ask with
                self._pending = batch | self._pending
            return
        keys = list(batch)[: min(room, BATCH - 1)]
        scopes: Mapping[str, Scope] | None = None
        if keys:
            # With a valid client token the service doesn't count the others against this address.
            tokens = [self._configured[0], *(batch[key][0] for key in keys)]
            try:
                scopes = self._upstream.validate(list(dict.fromkeys(tokens)))
            except UpstreamError as error:
                self._logger.debug("tokens can't be checked: %s", error)
        for key, (secret, future) in batch.items():
            if scopes is None or key not in keys:
                future.set_exception(_build_error())
                continue
            scope = scopes.get(secret)
            if scope is None:
                self._invalid_budget.consume("")
                self._add_invalid(key)
            else:
                self._add_valid(key, secret, scope)
            future.set_result(scope)

    def _check_all(self) -> None:
        """Checks the configured and all known tokens. Raises UpstreamError."""
        now = self._clock.monotonic()
        with self._lock:
            for key in [k for k, it in self._valid.items() if now - it.used_at > UNUSED_SECONDS]:
                del self._valid[key]
            of_clients = [token.secret for token in self._valid.values()]
        of_sources = [source.secret for source in self._sources.list_all()]
        all_secrets = list(dict.fromkeys([*self._configured, *of_sources, *of_clients]))
        scopes: dict[str, Scope] = {}
        for start in range(0, len(all_secrets), BATCH):
            scopes |= self._upstream.validate(all_secrets[start : start + BATCH])
        self._read_configured(scopes)
        with self._lock:
            for secret in of_clients:
                key, scope = secrets.sha256(secret), scopes.get(secret)
                if scope is None:
                    self._valid.pop(key, None)
                elif key in self._valid:
                    self._valid[key].scope = scope
        self._replace_secrets(scopes, frozenset(all_secrets))
        self._is_ready = True

    def _read_configured(self, scopes: Mapping[str, Scope]) -> None:
        """The scopes of configured tokens become sources, the largest first: it may cover
        others."""
        good: list[tuple[Scope, str]] = []
        for number, secret in enumerate(self._configured, 1):
            scope, problem = scopes.get(secret), ""
            if scope is None:
                problem = "is invalid"
            elif scope.type != "client":
                problem = f"is of type {scope.type}, not client"
            elif not self.allows(scope):
                problem = "is of an environment outside of RELAY_ENVIRONMENTS"
            else:
                good.append((scope, secret))
            if problem and number not in self._bad:
                self._logger.error("token %d of RELAY_TOKENS %s", number, problem)
            (self._bad.add if problem else self._bad.discard)(number)
        for scope, secret in sorted(good, key=lambda pair: -pair[0].breadth):
            self._sources.add(scope, secret, is_configured=True)

    def _replace_secrets(self, scopes: Mapping[str, Scope], all_secrets: frozenset[str]) -> None:
        """A source whose token has ended goes on with another client token of the same scope."""
        for source in self._sources.list_all():
            if source.secret not in all_secrets or _covers(source, scopes.get(source.secret)):
                continue
            others = [secret for secret, scope in scopes.items() if _covers(source, scope)]
            if others:
                source.secret = others[0]
            else:
                self._sources.end(source, "its token was revoked")

    def _add_valid(self, key: bytes, secret: str, scope: Scope) -> None:
        with self._lock:
            self._valid[key] = KnownToken(secret, scope, self._clock.monotonic())
            while len(self._valid) > MAX_VALID:
                self._valid.popitem(last=False)

    def _add_invalid(self, key: bytes) -> None:
        with self._lock:
            self._invalid[key] = self._clock.monotonic() + INVALID_SECONDS
            self._invalid.move_to_end(key)
            while len(self._invalid) > MAX_INVALID:
                self._invalid.popitem(last=False)

    def _run(self) -> None:
        due_at = self._clock.monotonic()
        while not self._stopping:
            try:
                if self._must_check or self._clock.monotonic() >= due_at:
                    self._must_check = False
                    due_at = self._clock.monotonic() + self.run_once()
                self.answer_pending()
            except Exception as error:  # noqa: BLE001  the thread must go on
                if not self._stopping:
                    self._logger.error("the check of tokens failed: %s", format_trace(error))
            seconds = due_at - self._clock.monotonic()
            self._wake.wait(max(0.0, min(seconds, 1.0) if self._pending else seconds))
            self._wake.clear()


def _covers(source: Source, scope: Scope | None) -> bool:
    return scope is not None and scope.type == "client" and scope.covers(source.scope)


def _await_result(future: Future[Scope | None], deadline: float, clock: Clock) -> Scope | None:
    def has_failed(timeout: float) -> bool:
        return future.exception(timeout) is not None

    try:
        is_unavailable = wait_budget.wait(has_failed, max(0.0, deadline - clock.monotonic()))
    except TimeoutError:
        is_unavailable = True
    if is_unavailable:
        raise _build_error()
    return future.result()


def _build_error() -> UnavailableError:
    return UnavailableError("The token can't be checked at the moment.", headers=RETRY_AFTER)
