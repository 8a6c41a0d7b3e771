"""Serialised answers of the frontend API, kept by context for as long as nothing changed."""

from __future__ import annotations

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

MOST_BODIES = 10_000
MOST_BYTES = 64_000_000
OVERHEAD = 1000  # bytes that keeping an answer costs beside its text, roughly

Key = tuple[str, tuple[str, ...], bytes]


@dataclass(frozen=True)
class FrontendDocument:
    mark: object
    text: bytes
    etag: str


class FrontendDocuments:
    """What would be different next time is not kept."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines
        self._kept: OrderedDict[Key, FrontendDocument] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, access: Access, revision: int, context: dict[str, Any]) -> FrontendDocument:
        """The token's flags that are on for `context`. Raises DatabaseUnavailable."""
        engine = self._engines.get(access.environment, revision)
        context = engine.context_dependency.reduce_context(context)
        if not engine.context_dependency.is_deterministic(context, access.projects):
            return _evaluate(engine, access, context)
        key = (access.environment, access.projects, msgspec.json.encode(context, order="sorted"))
        body = self._find(key)
        if body is None or body.mark is not engine.mark:
            body = _evaluate(engine, access, context)
            self._keep(key, body)
        return body

    def _find(self, key: Key) -> FrontendDocument | None:
        with self._lock:
            body = self._kept.get(key)
            if body is not None:
                self._kept.move_to_end(key)
            return body

    def _keep(self, key: Key, body: FrontendDocument) -> None:
        with self._lock:
            self._drop(key, self._kept.pop(key, None))
            self._kept[key] = body
            self._bytes += _weight(key, body)
            while len(self._kept) > MOST_BODIES or self._bytes > MOST_BYTES:
                self._drop(*self._kept.popitem(last=False))

    def _drop(self, key: Key, body: FrontendDocument | None) -> None:
        if body is not None:
            self._bytes -= _weight(key, body)


def _weight(key: Key, body: FrontendDocument) -> int:
    return len(key[2]) + len(body.text) + OVERHEAD


def _evaluate(engine: FlagEngine, access: Access, context: dict[str, Any]) -> FrontendDocument:
    """Without a session one is made up, so that stickiness has something to stick to."""
    toggles = engine.evaluate({"sessionId": uuid.uuid4().hex} | context, access.projects)
    text = msgspec.json.encode({"toggles": toggles})
    return FrontendDocument(
        engine.mark, text, f'W/"{hashlib.blake2b(text, digest_size=16).hexdigest()}"'
    )
