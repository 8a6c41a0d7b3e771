"""The flags of an environment at one revision, from which the service derives everything that SDKs
get."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sigservice.concurrency.shared_body import SharedBody
from sigservice.delivery.flag_groups import FlagGroups
from sigservice.services.flags.client_features import Flag, FlagReading, Query
from sigservice.services.revisions import Revisions

MAX_CHANGES = 500  # that a state remembers
MAX_CHANGE_BYTES = 16 * 2**20  # of the flags in these changes


@dataclass(frozen=True, slots=True)
class Change:
    """The changed parts of the state with `event_id`, as they were: flags (None if it had no such
    flag) and the IDs of segments. `size` is the size of all texts."""

    event_id: int
    flags: Mapping[str, Flag | None]
    segment_ids: frozenset[int]
    size: int


@dataclass(frozen=True, eq=False)
class FlagState:
    """`segments` are the used segments by ID, `uses` counts their flags. `changes` led to this
    state, oldest first. `is_moved` says whether it was derived from a former state. `messages`
    caches the messages of delta.py."""

    environment: str
    revisions: Revisions
    flags: FlagGroups
    segments: Mapping[int, bytes]
    uses: Mapping[int, int]
    changes: tuple[Change, ...] = ()
    is_moved: bool = False
    messages: dict[tuple[Query, int | None], SharedBody] = field(default_factory=dict)

    @property
    def revision(self) -> int:
        return self.revisions.of_environment(self.environment)

    @property
    def document_id(self) -> int:
        """The number of this state in documents."""
        return self.revision

    @property
    def key(self) -> tuple[str, int]:
        return self.environment, self.revision

    @property
    def event_id(self) -> int:
        return self.revisions.find_event_id(self.environment)

    def find_differences(self, digests: FlagReading) -> list[str]:
        """The names of flags, and IDs of segments, that differ from a reading of digests."""
        own = {flag.name: replace(flag, text=_digest(flag.text)) for flag in self.flags}
        own_segments = {id: _digest(text) for id, text in self.segments.items()}
        names = own.keys() | digests.flags.keys()
        ids = own_segments.keys() | digests.segments.keys()
        return [
            *sorted(name for name in names if own.get(name) != digests.flags.get(name)),
            *(
                f"segment {id}"
                for id in sorted(ids)
                if own_segments.get(id) != digests.segments.get(id)
            ),
        ]


def build_state(environment: str, reading: FlagReading, former: FlagState | None) -> FlagState:
    """The state of the reading, which has all flags or is of the changes since `former`."""
    if former is None or reading.touched is None:
        flags = FlagGroups.from_flags(reading.flags.values())
        uses = Counter(id for flag in flags for id in flag.segment_ids)
        state = FlagState(environment, reading.revisions, flags, reading.segments, uses)
        return (
            state if former is None else _add_history(state, former, _list_changed(state, former))
        )
    names = reading.touched
    changed = {name: reading.flags.get(name) for name in names}
    before = {name: former.flags.find(name) for name in names}
    uses = Counter(former.uses)
    for flag in before.values():
        uses.subtract(flag.segment_ids if flag else ())
    for flag in changed.values():
        uses.update(flag.segment_ids if flag else ())
    uses = +uses  # without unused segments
    segments = former.segments
    if reading.segments or uses.keys() != former.uses.keys():
        texts = {**former.segments, **reading.segments}
        segments = {id: texts[id] for id in sorted(uses)}
    flags = former.flags.replace(changed) if names else former.flags
    state = FlagState(environment, reading.revisions, flags, segments, uses, is_moved=True)
    return _add_history(state, former, before)


def _list_changed(state: FlagState, former: FlagState) -> dict[str, Flag | None]:
    """The flags of `former` that are different now."""
    before: dict[str, Flag | None] = {flag.name: flag for flag in former.flags}
    for flag in state.flags:
        if before.setdefault(flag.name, None) == flag:
            del before[flag.name]
    return before


def _add_history(
    state: FlagState, former: FlagState, before: Mapping[str, Flag | None]
) -> FlagState:
    """The state with the change that led to it; without any changes after the database went
    back."""
    if former.revisions.history != state.revisions.history:
        return state
    ids = former.segments.keys() | state.segments.keys()
    changed_ids = frozenset(id for id in ids if former.segments.get(id) != state.segments.get(id))
    size = sum(len(flag.text) for flag in before.values() if flag)
    change = Change(former.event_id, before, changed_ids, size)
    changes = (*former.changes, change)[-MAX_CHANGES:]
    while sum(it.size for it in changes) > MAX_CHANGE_BYTES:
        changes = changes[1:]
    return replace(state, changes=changes)


def _digest(text: bytes) -> bytes:
    return hashlib.md5(text, usedforsecurity=False).hexdigest().encode()
