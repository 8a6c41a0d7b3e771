"""Events of releases: collected during a transaction, stored in the audit log in one statement."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sigservice.clock import format_optional
from sigservice.db import Connection
from sigservice.services.identity import SYSTEM, Cause, Identity
from sigservice.services.releases.guard_results import GuardRecord
from sigservice.services.releases.release_state import Release
from sigservice.services.releases.release_texts import make_path, make_text
from sigservice.services.system import events
from sigservice.services.system.events import Event

# Of one transaction, the second say why the first happened: they are one message.
_DECISIONS = (
    "release-rolled-back", "release-held", "release-would-roll-back", "release-would-hold",
    "release-resumed",
)  # fmt: skip
_CIRCUMSTANCES = ("release-guard-fired", "release-guard-ok", "release-edited")


class ReleaseEventNote(NamedTuple):
    """A note on the connection for each event; the metric of releases counts them."""

    type: str


class Journal:
    """The events of a transaction, in order. `last_text` is the sentence of the last one."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._notes: list[ReleaseEventNote] = []
        self.last_text = ""
        self._causes: dict[str, tuple[int, Cause]] = {}  # by type, with the place of the event

    def make_cause(self, type: str, by: Identity) -> Identity:
        """The actor of changes that the next event of the type causes, which will be before their
        events in the audit log."""
        cause = Cause(None, (name_audit_event(type),), by.cause)
        self._causes[type] = len(self._events), cause
        return replace(by, cause=cause)

    def add_all(self, batch: Sequence[Event]) -> None:
        """Adds events of changes."""
        self._events += batch

    def add(
        self,
        release: Release,
        type: str,
        *,
        by: Identity = SYSTEM,
        reason: str = "",
        guard: GuardRecord | None = None,
        before: int = 0,
        editor: str = "",
    ) -> None:
        """`before` is the percentage before the event, `editor` the user who changed the flag."""
        text = make_text(release, type, before=before, editor=editor, reason=reason)
        self.last_text = text
        data = {
            "releaseId": release.id,
            "text": text,
            "step": release.step,
            "rollout": release.rollout,
            "reason": reason or None,
            "guard": describe_guard(guard) if guard else None,
            "url": make_path(release),
        }
        item = release.target.event_scope | {"created_at": release.now, "data": data}
        name = name_audit_event(type)
        place, cause = self._causes.pop(type, (len(self._events), None))
        self._events.insert(place, Event(name, by, item, cause_of=cause))
        self._notes.append(ReleaseEventNote(type))
        if type in ("held", "rolledBack") and guard is not None and guard.state == "firing":
            self._events.append(Event("safeguard-triggered", by, item, covered_by=[(name,)]))

    def write(self, conn: Connection) -> None:
        """Stores all of it."""
        conn.notes += self._notes
        types = {event.type for event in self._events}
        decisions = [(type,) for type in _DECISIONS if type in types]
        events.record_all(
            conn,
            [
                event._replace(covered_by=decisions) if event.type in _CIRCUMSTANCES else event
                for event in self._events
            ],
        )


def name_audit_event(type: str) -> str:
    """Such as `release-rolled-back` for `rolledBack`."""
    return "release-" + re.sub("([A-Z])", lambda match: f"-{match[1].lower()}", type)


def name_release_event(type: str) -> str:
    """The reverse of `name_audit_event`."""
    return re.sub("-(.)", lambda match: match[1].upper(), type.removeprefix("release-"))


def describe_guard(guard: GuardRecord) -> dict[str, Any]:
    """The member `guard` of an event."""
    return {
        **({"signalId": guard.signal_id} if guard.kind == "signal" else {}),
        "id": guard.id,
        "kind": guard.kind,
        "value": guard.value,
        "limit": guard.limit,
        "samples": guard.samples if guard.samples is None else round(guard.samples),
        "from": format_optional(guard.covers_from),
        "to": format_optional(guard.covers_to),
    }
