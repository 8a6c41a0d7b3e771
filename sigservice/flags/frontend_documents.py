"""Caches the serialized documents of the frontend API, by evaluation context and engine."""

import hashlib
import threading
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import msgspec

from sigservice.flags.engine import FlagEngine
from sigservice.flags.engines import Engines
from sigservice.flags.revision_cache import Access

MAX_DOCUMENTS = 10_000
MAX_BYTES = 64_000_000
OVERHEAD = 1000  # bytes that caching a document costs beside its text, roughly

Key = tuple[str, tuple[str, ...], bytes]


@dataclass(frozen=True)
class FrontendDocument:
    mark: object
    text: bytes
    etag: str


class FrontendDocuments:
    """Documents that random stickiness or the clock decides aren't cached."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines
        self._documents: OrderedDict[Key, FrontendDocument] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, access: Access, revision: int, context: dict[str, Any]) -> FrontendDocument:
        """The token's flags that are enabled for `context`. Raises DatabaseUnavailable."""
        engine = self._engines.get(access.environment, revision)
        context = engine.context_dependency.reduce_context(context)
        if not engine.context_dependency.is_deterministic(context, access.projects):
            return _evaluate(engine, access, context)
        key = (access.environment, access.projects, msgspec.json.encode(context, order="sorted"))
        document = self._find(key)
        if document is None or document.mark is not engine.mark:
            document = _evaluate(engine, access, context)
            self._cache(key, document)
        return document

    def _find(self, key: Key) -> FrontendDocument | None:
        with self._lock:
            document = self._documents.get(key)
            if document is not None:
                self._documents.move_to_end(key)
            return document

    def _cache(self, key: Key, document: FrontendDocument) -> None:
        with self._lock:
            self._drop(key, self._documents.pop(key, None))
            self._documents[key] = document
            self._bytes += _count_bytes(key, document)
            while len(self._documents) > MAX_DOCUMENTS or self._bytes > MAX_BYTES:
                self._drop(*self._documents.popitem(last=False))

    def _drop(self, key: Key, document: FrontendDocument | None) -> None:
        if document is not None:
            self._bytes -= _count_bytes(key, document)


def _count_bytes(key: Key, document: FrontendDocument) -> int:
    return len(key[2]) + len(document.text) + OVERHEAD


def _evaluate(engine: FlagEngine, access: Access, context: dict[str, Any]) -> FrontendDocument:
    """A context without a sessionId gets a random one, which stickiness needs."""
    toggles = engine.evaluate({"sessionId": uuid.uuid4().hex} | context, access.projects)
    text = msgspec.json.encode({"toggles": toggles})
    return FrontendDocument(
        engine.mark, text, f'W/"{hashlib.blake2b(text, digest_size=16).hexdigest()}"'
    )
