"""Events of releases and their entries in the audit log. Both are collected during a transaction
and stored in one statement each."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sigservice.clock import format_optional
from sigservice.db import Connection
from sigservice.repository.releases import releases as release_rows
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
    """The events of a transaction, in order."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._audit: list[Event] = []
        self._ids: dict[str, int] = {}

    def make_cause(self, conn: Connection, type: str, by: Identity) -> Identity:
        """The actor of changes that the next event of the type causes. Events before it get IDs
        too, so that the audit log has their order."""
        ids = events.reserve_ids(conn, 1 + sum(event.id is None for event in self._audit))
        self._audit = [
            event._replace(id=ids.pop(0)) if event.id is None else event for event in self._audit
        ]
        (self._ids[type],) = ids
        cause = Cause(self._ids[type], (name_audit_event(type),), by.cause)
        return replace(by, cause=cause)

    def collect(self, _conn: Connection, batch: Sequence[Event]) -> None:
        """Keeps events of changes, to record them in the statement of the others."""
        self._audit += batch

    @property
    def last_text(self) -> str:
        """The sentence of the last event."""
        return str(self._rows[-1]["text"])

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
        item = {
            "release_id": release.id,
            "created_at": release.now,
            "type": type,
            "step": release.step,
            "rollout": release.rollout,
            "actor": by.username,
            "reason": reason or None,
            "text": text,
            "guard": describe_guard(guard) if guard else None,
        }
        self._rows.append(item)
        data = {
            "releaseId": release.id,
            "text": text,
            **{name: item[name] for name in ("step", "rollout", "reason", "guard")},
            "url": make_path(release),
        }
        scope = release.target.event_scope
        name, item_of_event = name_audit_event(type), scope | {"data": data}
        self._audit.append(Event(name, by, item_of_event, self._ids.pop(type, None)))
        if type in ("held", "rolledBack") and guard is not None and guard.state == "firing":
            self._audit.append(
                Event("safeguard-triggered", by, item_of_event, covered_by=[(name,)])
            )

    def write(self, conn: Connection) -> None:
        """Stores all of it."""
        if not self._rows:
            return
        release_rows.insert_events(conn, self._rows)
        conn.notes += [ReleaseEventNote(row["type"]) for row in self._rows]
        types = {event.type for event in self._audit}
        decisions = [(type,) for type in _DECISIONS if type in types]
        events.record_all(
            conn,
            [
                event._replace(covered_by=decisions) if event.type in _CIRCUMSTANCES else event
                for event in self._audit
            ],
        )


def name_audit_event(type: str) -> str:
    return "release-" + re.sub("([A-Z])", lambda match: f"-{match[1].lower()}", type)


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
