"""Caches the serialized documents of the frontend API, by the context fields that flags use."""

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass

import msgspec

from sigservice.evaluation.fields import Fields
from sigservice.evaluation.flags import Flags
from sigservice.flags.compiled_flags import CompiledFlags
from sigservice.recent_keys import RecentKeys

MAX_DOCUMENTS = 10_000
MAX_BYTES = 64_000_000
OVERHEAD = 1000  # bytes that caching a document costs beside its text, roughly

Key = tuple[int, tuple[str, ...], bytes]


@dataclass(frozen=True, slots=True)
class FrontendDocument:
    text: bytes
    etag: str


class FrontendDocuments:
    """Documents that a random value or the clock decides aren't cached.

    Neither is the first one of a context: most contexts come once, and they would displace those
    that come again.
    """

    def __init__(self) -> None:
        self._documents: OrderedDict[Key, FrontendDocument] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        self._recent = RecentKeys(MAX_DOCUMENTS)

    def get(
        self, compiled: CompiledFlags, projects: tuple[str, ...], context: Fields
    ) -> FrontendDocument:
        """The flags of these projects (`*`: all) that are enabled for `context`."""
        key = (compiled.number, projects, _hash_used_fields(compiled.flags, context))
        document = self._find(key)
        if document is None:
            text = compiled.flags.evaluate(context, projects)
            document = FrontendDocument(text, f'W/"{_hash(text).hex()}"')
            if context.is_repeatable:
                self._cache(key, document)
        return document

    def _find(self, key: Key) -> FrontendDocument | None:
        with self._lock:
            document = self._documents.get(key)
            if document is not None:
                self._documents.move_to_end(key)
            return document

    def _cache(self, key: Key, document: FrontendDocument) -> None:
        if key not in self._recent:
            self._recent.add(key)
            return
        with self._lock:
            if key in self._documents:
                return
            self._documents[key] = document
            self._bytes += len(document.text) + OVERHEAD
            while len(self._documents) > MAX_DOCUMENTS or self._bytes > MAX_BYTES:
                _, oldest = self._documents.popitem(last=False)
                self._bytes -= len(oldest.text) + OVERHEAD


def _hash_used_fields(flags: Flags, context: Fields) -> bytes:
    """A cryptographic hash, so that nobody can make up a context that gets the answer of others."""
    return _hash(msgspec.json.encode([context.get(name) for name in flags.field_names]))


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
