"""Serialised answers of the client API, kept by query for as long as nothing changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from sigservice.clock import Clock
from sigservice.db.pool import Database
from sigservice.flags.single_flight import SingleFlight
from sigservice.services.flags import client_features
from sigservice.services.flags.client_features import Query
from sigservice.shared_body import SharedBody
from sigservice.telemetry import Telemetry

MOST_BODIES = 200
MOST_BYTES = 64 * 2**20


@dataclass
class Body:
    revision: int
    built_at: float
    plain: SharedBody


class ClientDocuments:
    """`enabled` and `max_age` (seconds) are the options clientFeatureCaching.*.

    A body is given only with the revision that it was built for, so none is ever old; the age
    bounds how long memory is held.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        telemetry: Telemetry,
        *,
        enabled: bool,
        max_age: float,
    ) -> None:
        self._database, self._clock, self._telemetry = database, clock, telemetry
        self._enabled, self._max_age = enabled, max_age
        self._kept: OrderedDict[Query, Body] = OrderedDict()
        self._lock = threading.Lock()
        self._flights = SingleFlight[tuple[Query, int], Body]()

    def get(self, query: Query, revision: int) -> Body:
        """Raises DatabaseUnavailable."""
        return self._find(query, revision) or self._flights.get(
            (query, revision), lambda: self._find(query, revision) or self._build(query, revision)
        )

    def _find(self, query: Query, revision: int) -> Body | None:
        body = self._kept.get(query)
        if body is None or body.revision != revision:
            return None
        return body if self._clock.monotonic() - body.built_at <= self._max_age else None

    def _build(self, query: Query, revision: int) -> Body:
        now = self._clock.monotonic()
        timed = self._telemetry.work.measure("ClientBodies", "build")
        with timed, self._database.autocommit() as conn:
            plain = SharedBody(client_features.build(conn, query, revision))
        body = Body(revision, now, plain)
        if self._enabled:
            self._keep(query, body, now)
        return body

    def _keep(self, query: Query, body: Body, now: float) -> None:
        with self._lock:
            self._kept[query] = body
            self._kept.move_to_end(query)
            size = sum(len(kept.plain) for kept in self._kept.values())
            while self._kept and (
                len(self._kept) > MOST_BODIES
                or size > MOST_BYTES
                or now - next(iter(self._kept.values())).built_at > self._max_age
            ):
                size -= len(self._kept.popitem(last=False)[1].plain)
