"""Caches the documents of the client API, by query and revision, and the parts that the next
document of a query shares."""

import threading
from collections import OrderedDict

from sigservice.clock import Clock
from sigservice.concurrency.shared import Shared
from sigservice.delivery.document_parts import PartedDocument
from sigservice.delivery.flag_state import FlagState
from sigservice.delivery.flag_states import FlagStates
from sigservice.services.flags.client_features import Query
from sigservice.telemetry import Telemetry

MAX_DOCUMENTS = 200
MAX_BYTES = 64 * 2**20


class ClientDocument:
    """A body for many requests, joined and compressed once, when the first of them needs it."""

    read_at = 0.0  # the monotonic time when its flags were compared with the database

    def __init__(self, parts: PartedDocument) -> None:
        self.revision, self.etag, self.size = parts.revision, parts.etag, parts.size
        self.parts = parts
        self._body: bytes | None = None
        self._gzipped: bytes | None = None
        self._lock = threading.Lock()

    @property
    def body(self) -> bytes:
        with self._lock:
            if self._body is None:
                self._body = self.parts.join()
            return self._body

    @property
    def gzipped(self) -> bytes:
        with self._lock:
            if self._gzipped is None:
                self._gzipped = self.parts.compress()
            return self._gzipped


class ClientDocuments:
    """`enabled` and `max_age_seconds` are the options clientFeatureCaching.*.

    A document is returned only for the revision that it was built at, so it has changes by the
    service at once. It has changes made directly in the database after the maximum age at the
    latest; an SDK that has the ETag of the revision gets them after the next change by the service.
    """

    def __init__(
        self,
        states: FlagStates,
        clock: Clock,
        telemetry: Telemetry,
        *,
        enabled: bool,
        max_age_seconds: float,
    ) -> None:
        self._states, self._clock, self._telemetry = states, clock, telemetry
        self._enabled, self._max_age_seconds = enabled, max_age_seconds
        self._documents: OrderedDict[Query, ClientDocument] = OrderedDict()
        self._parts: OrderedDict[Query, PartedDocument] = OrderedDict()  # the last ones
        self._lock = threading.Lock()
        self._shared = Shared[tuple[Query, int], ClientDocument]()

    def get(self, query: Query, revision: int) -> ClientDocument:
        """The document at this revision or a later one. Raises DatabaseUnavailable."""
        return self._find(query, revision) or self._shared.get(
            (query, revision), lambda: self._find(query, revision) or self._build(query, revision)
        )

    def _find(self, query: Query, revision: int) -> ClientDocument | None:
        document = self._documents.get(query)
        if document is None or document.revision != revision:
            return None
        age_seconds = self._clock.monotonic() - document.read_at
        return document if age_seconds <= self._max_age_seconds else None

    def _build(self, query: Query, revision: int) -> ClientDocument:
        if not self._enabled:
            return self._build_document(query, self._states.read_all(query.environment), None)
        state, read_at = self._states.get_young(query.environment, revision, self._max_age_seconds)
        document = self._documents.get(query)
        if document is None or document.parts.state is not state:
            document = self._build_document(query, state, self._parts.get(query))
        document.read_at = read_at
        self._cache(query, document)
        return document

    def _build_document(
        self, query: Query, state: FlagState, former: PartedDocument | None
    ) -> ClientDocument:
        with self._telemetry.internals.measure("ClientDocuments", "build"):
            return ClientDocument(PartedDocument(query, state, former))

    def _cache(self, query: Query, document: ClientDocument) -> None:
        now = self._clock.monotonic()
        with self._lock:
            self._parts[query] = document.parts
            self._parts.move_to_end(query)
            # The other texts are those of the states.
            size = sum(parts.size for it, parts in self._parts.items() if it.inline)
            while len(self._parts) > MAX_DOCUMENTS or size > MAX_BYTES:
                oldest, parts = self._parts.popitem(last=False)
                size -= parts.size if oldest.inline else 0
            self._documents[query] = document
            self._documents.move_to_end(query)
            size = sum(document.size for document in self._documents.values())
            while self._documents and (
                len(self._documents) > MAX_DOCUMENTS
                or size > MAX_BYTES
                or now - next(iter(self._documents.values())).read_at > self._max_age_seconds
            ):
                size -= self._documents.popitem(last=False)[1].size
