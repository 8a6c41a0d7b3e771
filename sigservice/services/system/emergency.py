"""The emergency: releases are frozen (none starts or goes on, guards still act), automation is
paused (signals are stored, no alert switches a flag). Both are one stored state, read from the
database, so they hold in every process from their commit on."""

from datetime import datetime, timedelta

import msgspec

from sigservice.clock import format_iso
from sigservice.db import Connection
from sigservice.repository.system import settings
from sigservice.services import revisions
from sigservice.services.identity import SYSTEM, Identity, name_actor
from sigservice.services.system import events

KEY = "emergency"
MEMBERS = {"freeze": "frozen", "pause": "paused"}


class Measure(msgspec.Struct):
    """`endsAt` is None if a person ends it."""

    by: str
    at: datetime
    endsAt: datetime | None
    reason: str


class Emergency(msgspec.Struct):
    frozen: Measure | None = None
    paused: Measure | None = None


def decode(text: str | None, now: datetime) -> Emergency:
    """The stored state, without what has ended by now."""
    state = msgspec.json.decode(text, type=Emergency) if text else Emergency()
    for member in MEMBERS.values():
        measure = getattr(state, member)
        if measure and measure.endsAt and measure.endsAt <= now:
            setattr(state, member, None)
    return state


def read(conn: Connection, now: datetime) -> Emergency:
    return decode(settings.find(conn, KEY), now)


def start(
    conn: Connection,
    members: list[str],
    by: Identity,
    now: datetime,
    reason: str,
    minutes: int | None,
) -> bool:
    """Starts the `members` that aren't in force for this reason. Returns whether one started."""
    revisions.lock(conn)  # so that no step is decided at the same time
    state = read(conn, now)
    ends_at = now + timedelta(minutes=minutes) if minutes else None
    actor = name_actor(by.username, by.user_id)
    new = [
        member
        for member in members
        if (old := getattr(state, member)) is None
        or (old.reason, old.endsAt is None) != (reason, ends_at is None)
    ]
    for member in new:
        setattr(state, member, Measure(actor, now, ends_at, reason))
    if new:
        settings.save(conn, KEY, msgspec.json.encode(state).decode())
    return bool(new)


def end(conn: Connection, what: str, by: Identity, now: datetime) -> None:
    """`what` is a key of MEMBERS. Does nothing if it isn't in force."""
    revisions.lock(conn)
    state = read(conn, now)
    measure = getattr(state, MEMBERS[what])
    if measure is None:
        return
    setattr(state, MEMBERS[what], None)
    settings.save(conn, KEY, msgspec.json.encode(state).decode())
    _record_end(conn, [what], measure.reason, by)


def end_due(conn: Connection, now: datetime) -> None:
    """Records the end of what has ended by its time."""
    revisions.lock(conn)
    text = settings.find(conn, KEY)
    state, present = decode(text, datetime.min.replace(tzinfo=now.tzinfo)), decode(text, now)
    ended = [
        what for what, name in MEMBERS.items() if getattr(state, name) != getattr(present, name)
    ]
    if ended:
        settings.save(conn, KEY, msgspec.json.encode(present).decode())
        _record_end(conn, ended, getattr(state, MEMBERS[ended[0]]).reason, SYSTEM)


def is_due(text: str | None, now: datetime) -> bool:
    """Whether a part of the stored state has ended by its time."""
    return text is not None and decode(text, now) != msgspec.json.decode(text, type=Emergency)


def to_json(state: Emergency) -> dict[str, object]:
    return {
        member: {
            "by": measure.by,
            "at": format_iso(measure.at),
            "endsAt": measure.endsAt and format_iso(measure.endsAt),
            "reason": measure.reason,
        }
        if (measure := getattr(state, member))
        else None
        for member in MEMBERS.values()
    }


def _record_end(conn: Connection, what: list[str], reason: str, by: Identity) -> None:
    events.record(conn, "emergency-ended", by, data={"what": what, "reason": reason})
