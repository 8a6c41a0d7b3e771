"""Caches the documents of the frontend API, by the context fields that flags use."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from sys import getsizeof

from mmh3 import hash_bytes

from sigservice.evaluation.fields import Fields
from sigservice.evaluation.flags import Step, evaluate, evaluate_repeatable
from sigservice.flags.compiled_flags import CompiledFlags
from sigservice.recent_keys import RecentKeys

MAX_DOCUMENTS = 10_000
MAX_BYTES = 64_000_000
OVERHEAD = 1000  # bytes that caching costs beside texts and toggles, roughly

Key = tuple[int, tuple[str, ...], tuple[str | None, ...]]


@dataclass(frozen=True, slots=True)
class FrontendDocument:
    text: bytes
    etag: str


class FrontendDocuments:
    """Caches the evaluated toggles of a context. Flags that depend on a random value or the clock
    are evaluated each time.

    The first evaluation of a context isn't cached: most contexts come once, and they would displace
    those that come again.
    """

    def __init__(self) -> None:
        self._cached: OrderedDict[Key, tuple[list[Step], int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        self._recent = RecentKeys(MAX_DOCUMENTS)

    def get(
        self, compiled: CompiledFlags, projects: tuple[str, ...], context: Fields
    ) -> FrontendDocument:
        """The flags of these projects (`*`: all) that are enabled for `context`."""
        key = (compiled.number, projects, tuple(map(context.get, compiled.flags.field_names)))
        steps = self._find(key)
        if steps is None:
            steps = compiled.flags.list_steps(projects)
            if hash(key) in self._recent:
                steps = evaluate_repeatable(steps, context)
                self._cache(key, steps)
            else:
                self._recent.add(hash(key))
        text = evaluate(steps, context)
        return FrontendDocument(text, f'W/"{hash_bytes(text).hex()}"')

    def _find(self, key: Key) -> list[Step] | None:
        with self._lock:
            cached = self._cached.get(key)
            if cached is None:
                return None
            self._cached.move_to_end(key)
            return cached[0]

    def _cache(self, key: Key, steps: list[Step]) -> None:
        size = OVERHEAD + sum(map(getsizeof, (*key[2], *steps)))
        with self._lock:
            if key not in self._cached:
                self._bytes += size
                self._cached[key] = steps, size
            while len(self._cached) > MAX_DOCUMENTS or self._bytes > MAX_BYTES:
                self._bytes -= self._cached.popitem(last=False)[1][1]
