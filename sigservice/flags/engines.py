"""One engine for each environment, made anew when a flag has changed."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict

from sigservice.clock import Clock
from sigservice.db.pool import Database
from sigservice.flags.engine import FlagEngine
from sigservice.flags.revision_cache import RevisionCache
from sigservice.services.flags import client_features
from sigservice.services.flags.client_features import Query
from sigservice.telemetry import Telemetry

# A segment's values are copied into each strategy that uses it, so one may weigh 50 MB.
MOST_ENGINES = 10


class Engines:
    """`max_age` (seconds) is the option frontendApi.refreshIntervalInMs; None: any age.

    An engine is only given for the revision that it was made for, whatever its age.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        state: RevisionCache,
        telemetry: Telemetry,
        *,
        max_age: float | None,
    ) -> None:
        self._database, self._clock = database, clock
        self._state, self._telemetry = state, telemetry
        self._max_age = max_age
        self._kept: OrderedDict[str, tuple[FlagEngine, float]] = OrderedDict()
        self._lock = threading.Lock()
        self._building: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def get(self, environment: str, revision: int) -> FlagEngine:
        """One of this revision or a later one. Raises DatabaseUnavailable."""
        kept = self._find(environment, revision)
        if kept:
            return kept
        with self._lock:
            building = self._building[environment]
        with building:
            kept = self._find(environment, revision)
            if kept:
                return kept
            # Who has waited may find a later one; asking again keeps it from being replaced.
            revision = self._state.read_revisions().of_environment(environment)
            return self._find(environment, revision) or self._build(environment, revision)

    def _find(self, environment: str, revision: int) -> FlagEngine | None:
        engine, built_at = self._kept.get(environment) or (None, 0.0)
        if engine is None or engine.revision != revision:
            return None
        is_young = self._max_age is None or self._clock.monotonic() - built_at < self._max_age
        return engine if is_young else None

    def _build(self, environment: str, revision: int) -> FlagEngine:
        with self._database.autocommit() as conn:
            document = client_features.build(conn, Query(environment), revision)
        with self._telemetry.work.measure("Engines", "build"):
            engine = FlagEngine(document, revision)
        self._telemetry.work.count_engine_build()
        with self._lock:
            self._kept[environment] = engine, self._clock.monotonic()
            self._kept.move_to_end(environment)
            if len(self._kept) > MOST_ENGINES:
                self._kept.popitem(last=False)
        return engine
