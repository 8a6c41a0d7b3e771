"""Caches one engine for each environment and rebuilds it after a change."""

import threading
from collections import OrderedDict, defaultdict

from sigservice.clock import Clock
from sigservice.db.pool import Database
from sigservice.flags.engine import FlagEngine
from sigservice.flags.revision_cache import RevisionCache
from sigservice.services.flags import client_features
from sigservice.services.flags.client_features import Query
from sigservice.telemetry import Telemetry

# A segment's values are copied into each strategy that uses it, so one may take 50 MB.
MAX_ENGINES = 10


class Engines:
    """`max_age_seconds` is the option frontendApi.refreshIntervalInMs; None: any age.

    An engine is only returned for the revision that it was built for, whatever its age.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        revision_cache: RevisionCache,
        telemetry: Telemetry,
        *,
        max_age_seconds: float | None,
    ) -> None:
        self._database, self._clock = database, clock
        self._revision_cache, self._telemetry = revision_cache, telemetry
        self._max_age_seconds = max_age_seconds
        self._engines: OrderedDict[str, tuple[FlagEngine, float]] = OrderedDict()
        self._lock = threading.Lock()
        self._build_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def get(self, environment: str, revision: int) -> FlagEngine:
        """Returns the engine of this revision or a later one. Raises DatabaseUnavailable."""
        cached = self._find(environment, revision)
        if cached:
            return cached
        with self._lock:
            build_lock = self._build_locks[environment]
        with build_lock:
            cached = self._find(environment, revision)
            if cached:
                return cached
            # The engine built meanwhile may be of a later revision; reading it again keeps it.
            revision = self._revision_cache.read_revisions().of_environment(environment)
            return self._find(environment, revision) or self._build(environment, revision)

    def _find(self, environment: str, revision: int) -> FlagEngine | None:
        engine, built_at = self._engines.get(environment) or (None, 0.0)
        if engine is None or engine.revision != revision:
            return None
        max_age = self._max_age_seconds
        is_young = max_age is None or self._clock.monotonic() - built_at < max_age
        return engine if is_young else None

    def _build(self, environment: str, revision: int) -> FlagEngine:
        with self._database.autocommit() as conn:
            document = client_features.build_document(conn, Query(environment), revision)
        with self._telemetry.internals.measure("Engines", "build"):
            engine = FlagEngine(document, revision)
        self._telemetry.internals.count_engine_build()
        with self._lock:
            self._engines[environment] = engine, self._clock.monotonic()
            self._engines.move_to_end(environment)
            if len(self._engines) > MAX_ENGINES:
                self._engines.popitem(last=False)
        return engine
