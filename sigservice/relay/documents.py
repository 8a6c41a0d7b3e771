"""Reads a document of the upstream into a state of flags, from which everything is served."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from sigservice.delivery.flag_groups import FlagGroups
from sigservice.delivery.flag_state import FlagState
from sigservice.evaluation.all_flags import AllFlags
from sigservice.evaluation.fields import Fields
from sigservice.evaluation.flags import Flags, join_results
from sigservice.evaluation.ofrep import OfrepFlags
from sigservice.services.flags.client_features import Flag
from sigservice.services.revisions import Revisions

MAX_EVENT_ID = 2**32 - 1
_REVISION_BYTES = 7  # so that it is a number of 64 bits everywhere


class UnusableError(Exception):
    """The answer isn't a document of flags; the text is for the log and has nothing of it."""


class _Feature(msgspec.Struct):
    name: str
    enabled: bool
    strategies: list[Any]
    project: Any = "default"


class _Strategy(msgspec.Struct):
    segments: list[int] = []
    constraints: list[Any] = []


class _Segment(msgspec.Struct):
    id: int
    constraints: list[Any]


class _Meta(msgspec.Struct):
    revisionId: Any = None


class _Body(msgspec.Struct):
    features: list[msgspec.Raw]
    segments: list[msgspec.Raw] | None = None
    meta: msgspec.Raw = msgspec.Raw(b"{}")


@dataclass(frozen=True)
class Document:
    """All flags and segments of a scope. `revision` is a hash of the content; `event_id` is the
    upstream's number of it, 0 without one."""

    flags: tuple[Flag, ...]
    segments: Mapping[int, bytes]
    revision: int
    event_id: int


class RelayState(FlagState):
    """The state of a source. Its revision is the hash of its content, so that documents of the same
    content have the same ETag in every relay."""

    @property
    def document_id(self) -> int:
        return self.event_id


def read_document(body: bytes) -> Document:
    """Raises UnusableError. The texts of flags are the upstream's, in one line."""
    try:
        body.decode()
        parts = msgspec.json.decode(body, type=_Body)
        segments = dict(sorted(map(_read_segment, parts.segments or ())))
        flags = sorted((_read_flag(text) for text in parts.features), key=lambda flag: flag.name)
        number = msgspec.json.decode(parts.meta, type=_Meta).revisionId if parts.meta else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UnusableError("the answer has not the form of flags") from None
    if len({flag.name for flag in flags}) < len(flags):
        raise UnusableError("the answer has a flag twice")
    ids = {id for flag in flags for id in flag.segment_ids}
    # As in SDKs, a strategy whose segment is missing never matches.
    segments = {id: segments.get(id) or _write_missing(id) for id in sorted(ids)}
    event_id = number if type(number) is int and 1 <= number <= MAX_EVENT_ID else 0
    return Document(tuple(flags), segments, _hash(flags, segments), event_id)


def build_state(environment: str, document: Document, event_id: int) -> RelayState:
    """`event_id` is the number of the state."""
    topic = f"in/{environment}"
    revisions = Revisions(document.revision, {topic: document.revision}, {topic: event_id})
    uses = Counter(id for flag in document.flags for id in flag.segment_ids)
    groups = FlagGroups.from_flags(document.flags)
    return RelayState(environment, revisions, groups, document.segments, uses)


def replace_broken(document: Document, former: Document | None) -> tuple[Document, list[str]]:
    """The document with flags that can be evaluated, and the names of those that can't: they are
    off. What `former`, an earlier result, has too isn't tried again."""
    earlier = {flag.name: flag for flag in former.flags} if former else {}
    is_same = former is not None and former.segments == document.segments
    broken_segments = {
        id
        for id, text in document.segments.items()
        if not (is_same or _can_evaluate({}, {id: text}))
    }
    broken = [
        flag.name
        for flag in document.flags
        if not broken_segments.isdisjoint(flag.segment_ids)
        or not (
            (is_same and earlier.get(flag.name) == flag)
            or _can_evaluate(
                {flag.name: flag.text}, {id: document.segments[id] for id in flag.segment_ids}
            )
        )
    ]
    if not broken:
        return document, []
    names = set(broken)
    flags = tuple(_disable(flag) if flag.name in names else flag for flag in document.flags)
    segments = {
        id: _write_missing(id) if id in broken_segments else text
        for id, text in document.segments.items()
    }
    return replace(document, flags=flags, segments=segments), broken


def _can_evaluate(texts: Mapping[str, bytes], segments: Mapping[int, bytes]) -> bool:
    try:
        flags = Flags(texts, segments)
        for each in (AllFlags(flags), OfrepFlags(flags)):
            join_results(each.list_entries(("*",)), Fields({}))
    except Exception:  # noqa: BLE001  the upstream's strategies may have any form
        return False
    return True


def _disable(flag: Flag) -> Flag:
    body = {"name": flag.name, "project": flag.project, "enabled": False, "strategies": []}
    return replace(flag, text=msgspec.json.encode(body), segment_ids=())


def _read_flag(text: msgspec.Raw) -> Flag:
    feature = msgspec.json.decode(text, type=_Feature)
    try:
        strategies = msgspec.convert(feature.strategies, list[_Strategy])
    except msgspec.ValidationError:
        strategies = []  # it can't be evaluated
    ids = {id for strategy in strategies for id in strategy.segments}
    project = feature.project if isinstance(feature.project, str) else "default"
    return Flag(feature.name, _write_line(text), sys.intern(project), tuple(sorted(ids)))


def _read_segment(text: msgspec.Raw) -> tuple[int, bytes]:
    return msgspec.json.decode(text, type=_Segment).id, _write_line(text)


def _write_line(text: msgspec.Raw) -> bytes:
    """The same JSON in one line, which events need."""
    return bytes(msgspec.json.format(text, indent=-1))


def _write_missing(id: int) -> bytes:
    never = {"contextName": "userId", "operator": "IN", "values": []}
    return msgspec.json.encode({"id": id, "name": "missing", "constraints": [never]})


def _hash(flags: Iterable[Flag], segments: Mapping[int, bytes]) -> int:
    digest = hashlib.sha256()
    for text in (*(flag.text for flag in flags), *segments.values()):
        digest.update(b"%d " % len(text) + text)
    return int.from_bytes(digest.digest()[:_REVISION_BYTES], "big")
