"""Caches the serialized documents of the client API, by query and revision."""

import threading
from collections import OrderedDict
from dataclasses import dataclass

from sigservice.clock import Clock
from sigservice.concurrency.shared_body import SharedBody
from sigservice.concurrency.single_flight import SingleFlight
from sigservice.db.pool import Database
from sigservice.services.flags import client_features
from sigservice.services.flags.client_features import Query
from sigservice.telemetry import Telemetry

MAX_DOCUMENTS = 200
MAX_BYTES = 64 * 2**20


@dataclass
class ClientDocument:
    revision: int
    etag: str
    built_at: float
    body: SharedBody


class ClientDocuments:
    """`enabled` and `max_age_seconds` are the options clientFeatureCaching.*.

    A document is returned only for the revision that it was built at, so none is ever stale; the
    age only limits how long memory is held.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        telemetry: Telemetry,
        *,
        enabled: bool,
        max_age_seconds: float,
    ) -> None:
        self._database, self._clock, self._telemetry = database, clock, telemetry
        self._enabled, self._max_age_seconds = enabled, max_age_seconds
        self._documents: OrderedDict[Query, ClientDocument] = OrderedDict()
        self._lock = threading.Lock()
        self._flights = SingleFlight[tuple[Query, int], ClientDocument]()

    def get(self, query: Query, revision: int) -> ClientDocument:
        """The document at this revision or a later one. Raises DatabaseUnavailable."""
        return self._find(query, revision) or self._flights.get(
            (query, revision), lambda: self._find(query, revision) or self._build(query)
        )

    def _find(self, query: Query, revision: int) -> ClientDocument | None:
        document = self._documents.get(query)
        if document is None or document.revision != revision:
            return None
        age_seconds = self._clock.monotonic() - document.built_at
        return document if age_seconds <= self._max_age_seconds else None

    def _build(self, query: Query) -> ClientDocument:
        now = self._clock.monotonic()
        timer = self._telemetry.internals.measure("ClientBodies", "build")
        with timer, self._database.autocommit() as conn:
            revision, text = client_features.build_document(conn, query)
        body = SharedBody(text)
        _ = body.gzipped  # here, so that no reader pays for it
        etag = client_features.build_etag(query, revision)
        document = ClientDocument(revision, etag, now, body)
        if self._enabled:
            self._cache(query, document, now)
        return document

    def _cache(self, query: Query, document: ClientDocument, now: float) -> None:
        with self._lock:
            self._documents[query] = document
            self._documents.move_to_end(query)
            size = sum(len(document.body) for document in self._documents.values())
            while self._documents and (
                len(self._documents) > MAX_DOCUMENTS
                or size > MAX_BYTES
                or now - next(iter(self._documents.values())).built_at > self._max_age_seconds
            ):
                size -= len(self._documents.popitem(last=False)[1].body)
