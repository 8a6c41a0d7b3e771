"""The stored signals that concern guards of a new or changed release. They are read and matched
before the lock of changes, once for each endpoint, because payloads can be large."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from sigservice.db import Connection, Row
from sigservice.errors import ForbiddenError
from sigservice.repository.releases import release_guards
from sigservice.services.actions.action_alerts import AlertTimes, FindTimes, find_time
from sigservice.services.actions.action_filters import Filter, Matcher
from sigservice.services.actions.action_set_options import ResolvedCondition
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.releases.guard_results import AlertChange, match_signal
from sigservice.services.releases.plans import MAX_GUARDS, Guard, SignalGuard
from sigservice.services.signals.endpoint_options import parse_options
from sigservice.services.signals.payload_paths import to_text

MAX_SIGNALS, MAX_BYTES = 1000, 5_000_000  # of an endpoint
FIRING_TIME, PREVIEW_TIME = timedelta(hours=24), timedelta(hours=48)
# Signals that came this long before a guard was stored were read with it.
OVERLAP = timedelta(minutes=2)


class SenderDefaults(NamedTuple):
    """The conditions under which signals of a sender fire and resolve an alert, and their times."""

    filters: list[Filter]
    resolved: ResolvedCondition | None
    times: AlertTimes | None


FindDefaults = Callable[[str], SenderDefaults | None]  # by the name of a sender
Match = tuple[datetime, AlertChange]


class GuardSignals(NamedTuple):
    """The endpoints of guards that exist, by ID. By the position of a guard: its matches, newest
    first, and why its caller may not use its filters."""

    endpoints: Mapping[int, Row]
    matches: Mapping[int, Sequence[Match]]
    refusals: Mapping[int, ForbiddenError]


def read_guard_signals(
    conn: Connection,
    guards: Sequence[Guard],
    existing: Sequence[Guard],
    by: Identity,
    find_defaults: FindDefaults,
) -> GuardSignals:
    """Reads the endpoints, and what the last two days have for each guard on signals. `existing`
    are the guards of the flag's releases: their filters may be used again."""
    conditions = {_make_condition(guard) for guard in existing if isinstance(guard, SignalGuard)}
    guards = guards[:MAX_GUARDS]
    ids = [guard.endpoint_id for guard in guards if guard.endpoint_id is not None]
    endpoints = release_guards.list_endpoints(conn, ids) if ids else {}
    matches: dict[int, Sequence[Match]] = {}
    refusals: dict[int, ForbiddenError] = {}
    for endpoint in endpoints.values():
        defaults = find_defaults(endpoint["template"]) if endpoint["template"] else None
        readable = []
        for index, guard in enumerate(guards):
            if not isinstance(guard, SignalGuard) or guard.endpointId != endpoint["id"]:
                continue
            is_allowed = by.has_permission(ADMIN) or _make_condition(guard) in conditions
            error = None if is_allowed else _find_refusal(index, guard, endpoint, defaults)
            if error is not None:
                refusals[index] = error
            else:
                readable.append((index, fill_defaults(guard, defaults)))
        signals = _read_signals(conn, endpoint, PREVIEW_TIME) if readable else []
        times = defaults.times if defaults else None
        matches |= {index: _match(signals, guard, times) for index, guard in readable}
    return GuardSignals(endpoints, matches, refusals)


def read_changes(
    conn: Connection, endpoint: Row, guard: SignalGuard, since: datetime, find_times: FindTimes
) -> Sequence[Match]:
    """The matches of signals that came while the guard was stored at `since`, or later."""
    signals = _read_signals(conn, endpoint, FIRING_TIME, since - OVERLAP)
    return _match(signals, guard, find_times(endpoint["template"]))


def list_changes(matches: Sequence[Match], since: datetime | None = None) -> list[AlertChange]:
    """The changes of alerts since then, in the order of their signals."""
    return [change for at, change in reversed(matches) if since is None or at > since]


def fill_defaults(guard: SignalGuard, defaults: SenderDefaults | None) -> SignalGuard:
    """The guard, with the conditions of its sender's template where it has none of its own."""
    if defaults is None:
        return guard
    filters = defaults.filters if guard.filters is None else guard.filters
    return msgspec.structs.replace(
        guard, filters=filters, resolved=guard.resolved or defaults.resolved
    )


def _find_refusal(
    index: int, guard: SignalGuard, endpoint: Row, defaults: SenderDefaults | None
) -> ForbiddenError | None:
    """Filters of one's own could read payloads, which only admins may: with each answer, one learns
    whether a value matches."""
    released = {*parse_options(endpoint["options"]).guardPaths}
    filters = {make_text(filter) for filter in (defaults.filters if defaults else ())}
    resolved = defaults.resolved if defaults else None
    unknown = {
        leaf.path
        for filter in guard.filters or ()
        if make_text(filter) not in filters
        for leaf in filter.any or [filter]
    }
    if guard.resolved is not None and guard.resolved != resolved:
        unknown |= _list_paths(guard.resolved)
    if not unknown - released:
        return None
    path = min(unknown - released)[:100]
    return ForbiddenError(
        f"Only an admin may compare the values at {path} of this endpoint. An admin can add the "
        "path to those that guards may read (guardPaths).",
        path=f"guards[{index}].filters",
    )


def make_text(condition: Filter | ResolvedCondition | None) -> str:
    """The same text for conditions that do the same: filters compare values as text."""
    return to_text(_to_texts(msgspec.to_builtins(condition)))


def _to_texts(value: Any) -> Any:
    if isinstance(value, list):
        return [_to_texts(item) for item in value]
    if isinstance(value, dict):
        return {key: _to_texts(item) for key, item in value.items()}
    return to_text(value)


def _make_condition(guard: SignalGuard) -> tuple[int, str, str]:
    filters = "".join(make_text(filter) for filter in guard.filters or ())
    return guard.endpointId, filters, make_text(guard.resolved)


def _list_paths(resolved: ResolvedCondition) -> set[str]:
    return {resolved.path, *resolved.key_paths}


def _read_signals(
    conn: Connection, endpoint: Row, time: timedelta, since: datetime | None = None
) -> list[tuple[datetime, dict[str, Any]]]:
    """The newest signals, as `match_signal` takes them."""
    rows = release_guards.list_recent_signals(
        conn, endpoint["id"], time=time, since=since, limit=MAX_SIGNALS, max_bytes=MAX_BYTES
    )
    name = endpoint["name"]
    return [
        (
            row["created_at"],
            {"id": row["id"], "endpoint": name, "payload": msgspec.json.decode(row["payload"])},
        )
        for row in rows
    ]


def _match(
    signals: Sequence[tuple[datetime, dict[str, Any]]],
    guard: SignalGuard,
    times: AlertTimes | None,
) -> Sequence[Match]:
    matcher, matches = Matcher(guard.filters or []), []
    for created_at, signal in signals:
        change = match_signal(0, guard, matcher, signal)
        if change is not None:
            is_resolved = change.sentence is None
            at = find_time(signal["payload"], times, is_resolved=is_resolved)
            matches.append((created_at, msgspec.structs.replace(change, at=at)))
    return matches
