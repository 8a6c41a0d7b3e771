"""What the handlers of the service need of the application context, without a database."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bottle import request

from sigservice.clock import Clock
from sigservice.concurrency.limiter import Limiter, RecentKeys
from sigservice.context import public_prefix
from sigservice.delivery.client_documents import ClientDocuments
from sigservice.delivery.compiled_flags import CompiledFlagsCache
from sigservice.delivery.frontend_documents import FrontendDocuments
from sigservice.delivery.poll_intervals import PollIntervals
from sigservice.log import GetLogger
from sigservice.relay.documents import RelayState
from sigservice.relay.sources import Sources
from sigservice.relay.tokens import Tokens
from sigservice.services.system.capped_log import CappedLog
from sigservice.telemetry import Telemetry

SOURCE = "sigservice.source"  # in the environ: the source of the token


class SourceStates:
    """The flags of the source that covers the token of the request: like FlagStates."""

    def get(self, environment: str, revision: int) -> RelayState:
        state: RelayState = request.environ[SOURCE].state
        return state

    def get_young(
        self, environment: str, revision: int, max_age_seconds: float
    ) -> tuple[RelayState, float]:
        return self.get(environment, revision), 0.0


class NoStreams:
    """OFREP offers no event streams."""

    def has_room_for_browser(self, address: str) -> bool:
        return False


class NoCounts:
    """Evaluations by OFREP aren't counted."""

    def record(self, *_: Any, **__: Any) -> None:
        pass


@dataclass(frozen=True)
class FixedOrigins:
    """The origins of RELAY_CORS_ORIGINS: like CorsOrigins."""

    origins: frozenset[str]

    def get(self, revisions: Any = None) -> frozenset[str]:
        return self.origins

    def get_cached(self) -> frozenset[str]:
        return self.origins


@dataclass(frozen=True)
class RelayContext:
    """Has the members of Context that the handlers of SDKs, and what all responses share, use."""

    config: dict[str, Any]
    clock: Clock
    limiter: Limiter
    telemetry: Telemetry
    get_logger: GetLogger
    sources: Sources
    tokens: Tokens
    client_documents: ClientDocuments
    cors_origins: FixedOrigins
    refusals: CappedLog
    unavailable: CappedLog
    flag_states: SourceStates = field(default_factory=SourceStates)
    frontend_documents: FrontendDocuments = field(default_factory=FrontendDocuments)
    poll_intervals: PollIntervals = field(default_factory=PollIntervals)
    streams: NoStreams = field(default_factory=NoStreams)
    evaluation_counts: NoCounts = field(default_factory=NoCounts)
    uncovered: RecentKeys = field(default_factory=RecentKeys)  # scopes without a source
    recent_credentials: RecentKeys = field(default_factory=RecentKeys)
    draining: threading.Event = field(default_factory=threading.Event)
    has_pages = False

    @property
    def compiled_flags(self) -> CompiledFlagsCache:
        """The compiled flags of the source that covers the token of the request."""
        flags: CompiledFlagsCache = request.environ[SOURCE].compiled
        return flags

    @property
    def base(self) -> str:
        return str(self.config["server"]["baseUriPath"])

    @cached_property
    def prefix(self) -> str:
        return public_prefix(self.config)

    @property
    def trusted_proxies(self) -> Sequence[str]:
        proxies: Sequence[str] = self.config["server"]["trustedProxy"]
        return proxies
