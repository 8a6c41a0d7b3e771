"""The flags of each environment with their latest changes, for SDKs that ask what has changed.

The answers are the events of Unleash's delta protocol. An event ID names a state of the
environment. IDs are only compared for equality: an ID without a retained state gets everything.
After the database went back no former state is retained, because the ID of a lost one may have come
twice.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from sigservice.concurrency.coalesced_read import CoalescedRead
from sigservice.concurrency.shared_body import SharedBody
from sigservice.db.pool import Database
from sigservice.services import revisions
from sigservice.services.flags import client_features
from sigservice.services.flags.client_features import Query
from sigservice.telemetry import Telemetry

MAX_ENVIRONMENTS = 50
MAX_CHANGES = 500  # of an environment; older event IDs get everything
MAX_MESSAGES = 500  # cached ones of a state
MAX_MESSAGE_BYTES = 32 * 2**20


class _Strategy(msgspec.Struct):
    segments: list[int] = []


class _FlagReferences(msgspec.Struct):
    project: str
    strategies: list[_Strategy]


@dataclass(frozen=True, slots=True)
class Flag:
    """`text` is the flag's JSON in the client API."""

    text: str
    project: str
    segment_ids: frozenset[int]


@dataclass(frozen=True, slots=True)
class Change:
    """What the state with `event_id` had before it changed: the changed flags (None: it had no such
    flag) and the IDs of changed segments."""

    event_id: int
    flags: dict[str, Flag | None]
    segment_ids: frozenset[int]


@dataclass(frozen=True)
class FlagState:
    """The flags of an environment at one revision, and the changes that led to it, oldest first."""

    revision: int
    event_id: int
    history: int
    flags: dict[str, Flag]
    segments: dict[int, str]
    changes: tuple[Change, ...] = ()
    _messages: dict[tuple[Query, int | None], SharedBody] = field(default_factory=dict)

    def build_message(self, query: Query, since: int | None) -> SharedBody:
        """`{"events": […]}`: what has changed for this query since the state with the event ID
        `since`, or everything (one `hydration`) if that state isn't retained. Empty if nothing has
        changed. The tags of the query don't filter."""
        key = (query, since)
        message = self._messages.get(key)
        if message is None:
            events = self._list_changes(query, since)
            if events is None:
                events = [self._write_hydration(query)]
            message = SharedBody(f'{{"events":[{",".join(events)}]}}'.encode() if events else b"")
            if self._has_room(message):
                self._messages[key] = message
        return message

    def _has_room(self, message: bytes) -> bool:
        size = sum(map(len, list(self._messages.values())))
        return len(self._messages) < MAX_MESSAGES and size + len(message) <= MAX_MESSAGE_BYTES

    def _write_hydration(self, query: Query) -> str:
        features = ",".join(f.text for name, f in self.flags.items() if _matches(query, name, f))
        visible = self._list_segments(query)
        segments = ",".join(text for id, text in self.segments.items() if id in visible)
        return (
            f'{{"type":"hydration","eventId":{self.event_id},"features":[{features}],'
            f'"segments":[{segments}]}}'
        )

    def _list_changes(self, query: Query, since: int | None) -> list[str] | None:
        """The events, removals first; None if the state with the event ID `since` isn't
        retained."""
        if since == self.event_id:
            return []
        before: dict[str, Flag | None] = {}
        changed_segments: set[int] = set()
        for change in reversed(self.changes):
            before |= change.flags  # so that the oldest value counts
            changed_segments |= change.segment_ids
            if change.event_id == since:
                return self._write_events(query, before, changed_segments)
        return None

    def _write_events(
        self, query: Query, before: dict[str, Flag | None], changed_segments: set[int]
    ) -> list[str]:
        end = f'"eventId":{self.event_id}}}'
        removed, updated = [], []
        left_segments: set[int] = set()  # of former flags
        needed_segments: set[int] = set()
        for name, former in sorted(before.items()):
            flag = self.flags.get(name)
            if former is not None and not _matches(query, name, former):
                former = None
            if flag is not None and not _matches(query, name, flag):
                flag = None
            if former is not None:
                left_segments |= former.segment_ids
                if flag is None or flag.project != former.project:
                    removed.append(
                        f'{{"type":"feature-removed","featureName":{_quote(name)},'
                        f'"project":{_quote(former.project)},{end}'
                    )
            if flag is not None and (former is None or flag.text != former.text):
                needed_segments |= flag.segment_ids
                updated.append(f'{{"type":"feature-updated","feature":{flag.text},{end}')
        visible_segments = (
            self._list_segments(query) if left_segments or changed_segments else set()
        )
        needed_segments |= changed_segments & visible_segments
        return [
            *removed,
            *(
                f'{{"type":"segment-removed","segmentId":{id},{end}'
                for id in sorted(left_segments - visible_segments)
            ),
            *(
                f'{{"type":"segment-updated","segment":{self.segments[id]},{end}'
                for id in sorted(needed_segments)
                if id in self.segments
            ),
            *updated,
        ]

    def _list_segments(self, query: Query) -> set[int]:
        """The segments of the flags of this query: others may hold data of other projects."""
        ids: set[int] = set()
        return ids.union(
            *(f.segment_ids for name, f in self.flags.items() if _matches(query, name, f))
        )


class FlagHistory:
    """The current state of each environment that was asked for."""

    def __init__(self, database: Database, telemetry: Telemetry) -> None:
        self._database, self._telemetry = database, telemetry
        self._states: OrderedDict[str, FlagState] = OrderedDict()
        self._reads: dict[str, CoalescedRead[FlagState]] = {}
        self._lock = threading.Lock()

    def get(self, environment: str, revision: int) -> FlagState:
        """The state at this revision or a later one. Raises DatabaseUnavailable."""
        state = self._states.get(environment)
        if state is not None and state.revision == revision:
            return state
        with self._lock:
            read = self._reads.get(environment)
            if read is None:
                read = CoalescedRead(lambda: self._read(environment))
                self._reads[environment] = read
        return read.get()

    def _read(self, environment: str) -> FlagState:
        """One thread at a time for each environment."""
        former = self._states.get(environment)
        # The state of exactly this revision: another process may answer the next request of a
        # client and knows the revision only.
        with self._database.transaction(snapshot=True) as conn:
            current = revisions.read(conn)
            revision = current.of_environment(environment)
            if former is not None and former.history != current.history:
                former = None
            if former is not None and former.revision == revision:
                return former
            flag_texts, segments = client_features.list_texts(conn, environment)
        with self._telemetry.internals.measure("FlagHistory", "build"):
            event_id = current.find_event_id(environment)
            state = _build_state(revision, event_id, current.history, flag_texts, segments, former)
        with self._lock:
            self._states[environment] = state
            self._states.move_to_end(environment)
            if len(self._states) > MAX_ENVIRONMENTS:
                self._reads.pop(self._states.popitem(last=False)[0], None)
        return state


def _build_state(
    revision: int,
    event_id: int,
    history: int,
    flag_texts: dict[str, str],
    segments: dict[int, str],
    former: FlagState | None,
) -> FlagState:
    former_flags = former.flags if former else {}
    flags: dict[str, Flag] = {}
    changed: dict[str, Flag | None] = {}
    for name, text in flag_texts.items():
        flag = former_flags.get(name)
        if flag is None or flag.text != text:
            changed[name] = flag
            flag = _parse_flag(text)
        flags[name] = flag
    if former is None:
        return FlagState(revision, event_id, history, flags, segments)
    changed |= {name: flag for name, flag in former_flags.items() if name not in flags}
    ids = former.segments.keys() | segments.keys()
    changed_ids = frozenset(id for id in ids if former.segments.get(id) != segments.get(id))
    change = Change(former.event_id, changed, changed_ids)
    changes = (*former.changes, change)[-MAX_CHANGES:]
    return FlagState(revision, event_id, history, flags, segments, changes)


def _parse_flag(text: str) -> Flag:
    references = msgspec.json.decode(text, type=_FlagReferences)
    ids: Iterable[int] = (id for strategy in references.strategies for id in strategy.segments)
    return Flag(text, references.project, frozenset(ids))


def _matches(query: Query, name: str, flag: Flag) -> bool:
    is_in_scope = query.projects is None or flag.project in query.projects
    return is_in_scope and name.startswith(query.prefix)


def _quote(text: str) -> str:
    return msgspec.json.encode(text).decode()
