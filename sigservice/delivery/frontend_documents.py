"""Caches the documents of the frontend API and of OFREP, by the context fields that flags use."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from sys import getsizeof
from typing import Any, Literal

import msgspec
from mmh3 import hash_bytes

from sigservice.concurrency.limiter import RecentKeys
from sigservice.delivery.compiled_flags import CompiledFlags
from sigservice.evaluation.all_flags import AllFlags
from sigservice.evaluation.fields import Fields
from sigservice.evaluation.flags import (
    Entry,
    Flag,
    Flags,
    evaluate,
    evaluate_repeatable,
    join_results,
)

MAX_DOCUMENTS = 10_000
MAX_BYTES = 64_000_000
MAX_AGE = 10  # compilations of any environment: no client asks for the flags before a change
OVERHEAD = 1000  # bytes that caching costs beside texts and toggles, roughly

Key = tuple[int, str, tuple[str, ...], tuple[str | None, ...]]
Kind = Literal["flags", "all_flags", "ofrep_flags"]  # members of CompiledFlags


@dataclass(frozen=True, slots=True)
class FrontendDocument:
    text: bytes
    etag: str


class FrontendDocuments:
    """Caches the evaluated flags of a context. Flags that depend on a random value or the clock are
    evaluated each time.

    The first evaluation of a context isn't cached: most contexts occur once, and would displace the
    ones that occur again.
    """

    def __init__(self) -> None:
        self._cached: OrderedDict[Key, tuple[list[Entry], int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        self._recent = RecentKeys(MAX_DOCUMENTS)

    def get(
        self,
        compiled: CompiledFlags,
        projects: tuple[str, ...],
        context: Fields,
        *,
        has_disabled: bool = False,
    ) -> FrontendDocument:
        """The flags of these projects (`*`: all) that are enabled for `context`, or with
        `has_disabled` all of them."""
        kind: Kind = "all_flags" if has_disabled else "flags"
        entries = self._find_entries(compiled, projects, context, kind)
        return _make_document(evaluate(entries, context))

    def get_ofrep(
        self,
        compiled: CompiledFlags,
        projects: tuple[str, ...],
        context: Fields,
        more: dict[str, Any],
    ) -> FrontendDocument:
        """All flags of these projects, also disabled ones, and `more` members. The ETag covers the
        whole context, because clients send the ETag that they got for another context."""
        entries = self._find_entries(compiled, projects, context, "ofrep_flags")
        members = {"metadata": {"version": str(compiled.revision)}} | more
        end = msgspec.json.encode(members)[1:]
        text = b'{"flags":[' + join_results(entries, context) + b"]," + end
        canonical = msgspec.json.encode(sorted(context.items()))
        return FrontendDocument(text, _make_etag(text + canonical))

    def _find_entries(
        self, compiled: CompiledFlags, projects: tuple[str, ...], context: Fields, kind: Kind
    ) -> list[Entry]:
        values = tuple(map(context.get, compiled.flags.field_names))
        key = (compiled.number, kind, projects, values)
        entries = self._find(key)
        if entries is None:
            flags: Flags | AllFlags = getattr(compiled, kind)
            entries = flags.list_entries(projects)
            if hash(key) in self._recent:
                entries = evaluate_repeatable(entries, context)
                self._cache(key, entries)
            else:
                self._recent.add(hash(key))
        return entries

    def _find(self, key: Key) -> list[Entry] | None:
        with self._lock:
            cached = self._cached.get(key)
            if cached is None:
                return None
            self._cached.move_to_end(key)
            return cached[0]

    def _cache(self, key: Key, entries: list[Entry]) -> None:
        size = OVERHEAD + sum(map(getsizeof, (*key[-1], *entries)))
        with self._lock:
            if key not in self._cached:
                self._bytes += size
                self._cached[key] = entries, size
            while self._cached and (
                len(self._cached) > MAX_DOCUMENTS
                or self._bytes > MAX_BYTES
                or next(iter(self._cached))[0] < key[0] - MAX_AGE
            ):
                self._bytes -= self._cached.popitem(last=False)[1][1]


def evaluate_flag(name: str, flag: Flag, context: Fields) -> FrontendDocument:
    """The toggle of one flag, also if it is disabled for `context`."""
    return _make_document(join_results([AllFlags.compile(name, flag)], context))


def _make_document(text: bytes) -> FrontendDocument:
    return FrontendDocument(text, _make_etag(text))


def _make_etag(text: bytes) -> str:
    return f'W/"{hash_bytes(text).hex()}"'
