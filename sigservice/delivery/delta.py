"""Messages for SDKs that poll for changes: the events of Unleash's delta protocol.

An event ID names a state of the environment. IDs are only compared for equality: an ID without a
retained state gets everything. After the database went back no former state is retained, because an
ID may name both a lost and a later state.
"""

from collections.abc import Iterator, Mapping

import msgspec

from sigservice.concurrency.shared_body import SharedBody
from sigservice.delivery.flag_state import FlagState
from sigservice.services.flags.client_features import Flag, Query

MAX_MESSAGES = 500  # cached ones of a state
MAX_MESSAGE_BYTES = 32 * 2**20


def build_message(state: FlagState, query: Query, since: int | None) -> SharedBody:
    """`{"events": […]}`: the changes for this query since the state with the event ID `since`, or
    everything (one `hydration`) if that state isn't retained. Empty if nothing has changed. Ignores
    the tags of the query."""
    key = (query, since)
    message = state.messages.get(key)
    if message is None:
        events = _list_changes(state, query, since)
        if events is None:
            message = SharedBody(_write_hydration(state, query))
        else:
            message = SharedBody(b'{"events":[%b]}' % b",".join(events) if events else b"")
        if _has_room(state, message):
            state.messages[key] = message
    return message


def _has_room(state: FlagState, message: bytes) -> bool:
    size = sum(map(len, list(state.messages.values())))
    return len(state.messages) < MAX_MESSAGES and size + len(message) <= MAX_MESSAGE_BYTES


def _write_hydration(state: FlagState, query: Query) -> bytes:
    """The message with everything."""
    texts = [flag.text for flag in state.flags if _matches(query, flag)] or [b""]
    visible = set(_list_segments(state, query))
    segments = b",".join(text for id, text in state.segments.items() if id in visible)
    start = b'{"events":[{"type":"hydration","eventId":%d,"features":[' % state.event_id
    texts[0] = start + texts[0]
    texts[-1] += b'],"segments":[%b]}]}' % segments  # so that the large text is copied once
    return b",".join(texts)


def _list_changes(state: FlagState, query: Query, since: int | None) -> list[bytes] | None:
    """The events, removals first; None if the state with the event ID `since` isn't retained."""
    if since == state.event_id:
        return []
    before: dict[str, Flag | None] = {}
    changed_segments: set[int] = set()
    is_found = False
    for change in reversed(state.changes):
        # A change that was made in the database has no event ID of its own.
        if is_found and change.event_id != since:
            break
        before |= change.flags  # so that the oldest value counts
        changed_segments |= change.segment_ids
        is_found = change.event_id == since
    return _write_events(state, query, before, changed_segments) if is_found else None


def _write_events(
    state: FlagState,
    query: Query,
    before: Mapping[str, Flag | None],
    changed_segments: set[int],
) -> list[bytes]:
    end = b'"eventId":%d}' % state.event_id
    removed, updated = [], []
    left_segments: set[int] = set()  # of former flags
    needed_segments: set[int] = set()
    for name, former in sorted(before.items()):
        flag = state.flags.find(name)
        if former is not None and not _matches(query, former):
            former = None
        if flag is not None and not _matches(query, flag):
            flag = None
        if flag is not None and former is not None and flag.text == former.text:
            continue
        if former is not None:
            left_segments.update(former.segment_ids)
            if flag is None or flag.project != former.project:
                removed.append(
                    b'{"type":"feature-removed","featureName":%b,"project":%b,%b'
                    % (msgspec.json.encode(name), msgspec.json.encode(former.project), end)
                )
        if flag is not None:
            needed_segments.update(flag.segment_ids)
            updated.append(b'{"type":"feature-updated","feature":%b,%b' % (flag.text, end))
    left_segments -= needed_segments
    if left_segments or changed_segments:
        visible_segments = set(_list_segments(state, query))
        left_segments -= visible_segments
        needed_segments |= changed_segments & visible_segments
    return [
        *removed,
        *(
            b'{"type":"segment-removed","segmentId":%d,%b' % (id, end)
            for id in sorted(left_segments)
        ),
        *(
            b'{"type":"segment-updated","segment":%b,%b' % (state.segments[id], end)
            for id in sorted(needed_segments)
        ),
        *updated,
    ]


def _list_segments(state: FlagState, query: Query) -> Iterator[int]:
    """The segments of the flags of this query: others may hold data of other projects."""
    for flag in state.flags:
        if flag.segment_ids and _matches(query, flag):
            yield from flag.segment_ids


def _matches(query: Query, flag: Flag) -> bool:
    is_in_scope = query.projects is None or flag.project in query.projects
    return is_in_scope and flag.name.startswith(query.prefix)
