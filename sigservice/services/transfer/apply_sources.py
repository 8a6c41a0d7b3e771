"""What the source of an apply manages: conflicts, what it adopts, and what its files no longer
have."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple

import msgspec

from sigservice.db import Connection
from sigservice.errors import NotFoundError
from sigservice.repository.flags import sources
from sigservice.services import revisions
from sigservice.services.identity import Identity
from sigservice.services.system import events
from sigservice.services.transfer.apply_planner import Hold, Plan, add_entry

USED_DAYS = 7
_NEVER = datetime.max.replace(tzinfo=UTC)
Key = tuple[str, str]  # kind and name
_HOLDS = {
    "used": f"an SDK evaluated it within the last {USED_DAYS} days",
    "parent": "it is the parent of a flag that stays",
}


class Conflict(NamedTuple):
    """Why an item of the files can't be applied."""

    kind: str
    project: str | None
    name: str
    reason: str
    message: str


class ManagedItem(msgspec.Struct):
    kind: Literal["flag", "segment"]
    name: str
    project: str | None = None


def release(
    conn: Connection, source: str, items: Sequence[ManagedItem] | None, by: Identity
) -> int:
    """Ends the management of these items, or of all and forgets the source. Returns their number.
    Raises NotFoundError for what the source doesn't manage."""
    revisions.lock(conn)
    if source not in {row["name"] for row in sources.list_all(conn)}:
        raise NotFoundError(f"Source {source} not found.")
    rows = sources.list_managed(conn, source, used_after=_NEVER)
    keys = [(row["kind"], row["name"]) for row in rows]
    for item in items or ():
        if (item.kind, item.name) not in keys:
            raise NotFoundError(f"{source} doesn't manage the {item.kind} {item.name}.")
    if items is not None:
        keys = [(item.kind, item.name) for item in items]
    flags, segments = (
        [name for kind, name in keys if kind == selected] for selected in ("flag", "segment")
    )
    count = sources.mark(conn, None, flags=flags, segments=segments)
    if items is None:
        sources.delete(conn, source)
    data = {"source": source, "flags": flags, "segments": segments}
    events.record(conn, "features-released", by, data=data)
    return count


class SourceState:
    """The flags and segments with these names, and all that the source manages. `owners` are the
    sources by kind and name."""

    def __init__(
        self,
        conn: Connection,
        source: str | None,
        names: Mapping[str, Collection[str]],
        now: datetime,
    ) -> None:
        self._source, self._names = source, names
        self._rows = sources.list_managed(
            conn,
            source,
            flags=names["flag"],
            segments=names["segment"],
            used_after=now - timedelta(days=USED_DAYS),
        )
        self.owners: dict[Key, str] = {
            (row["kind"], row["name"]): row["source"] for row in self._rows
        }
        self.drifted = {
            row["name"]: f"by {row['created_by']} on {row['created_at']:%-d %b %Y}"
            for row in (sources.list_changes(conn, names["flag"]) if source else ())
        }
        self.pruned_flags: dict[str, str] = {}
        self.released: dict[str, list[str]] = {"flag": [], "segment": []}

    def find_conflict(
        self, kind: str, project: str | None, name: str, *, adopt: bool
    ) -> Conflict | None:
        """The conflict of an existing item with the source."""
        owner = self.owners.get((kind, name))
        if owner is not None and owner != self._source:
            return Conflict(kind, project, name, "otherSource", f"{name} is managed in {owner}.")
        if owner is None and self._source is not None and not adopt:
            return Conflict(kind, project, name, "unmanaged", f"{name} exists and isn't managed.")
        return None

    def plan_undeclared(
        self,
        plan: Plan,
        prune: Literal["unused", "all"] | None,
        parents: Mapping[str, str],
        holds: Mapping[str, Hold],
    ) -> None:
        """Adds what the files no longer have: notes, or with `prune` the flags to archive.
        `parents` are those of active flags by child."""
        gone = [
            row
            for row in self._rows
            if row["source"] == self._source and row["name"] not in self._names[row["kind"]]
        ]
        flags = [row for row in gone if row["kind"] == "flag" and not row["archived"]]
        reasons: dict[str, Any] = {}
        for row in flags:
            if row["name"] in holds:
                reasons[row["name"]] = holds[row["name"]]
            elif row["is_used"] and prune == "unused":
                reasons[row["name"]] = Hold("used", _HOLDS["used"])
        names = {row["name"] for row in flags}
        staying = {parent for child, parent in parents.items() if child not in names - {*reasons}}
        for row in gone:
            key = (row["kind"], row["project"], row["name"])
            place = f"{row['kind']} {row['name']}"
            if row["name"] in staying & names:
                reasons.setdefault(row["name"], Hold("parent", _HOLDS["parent"]))
            if prune is None or row["kind"] == "segment":
                if not row["archived"]:
                    add_entry(plan.notes, *key, "undeclared", f"{place} isn't in the files")
            elif row["name"] in reasons:
                hold = reasons[row["name"]]
                add_entry(plan.holds, *key, hold.reason, f"{place} isn't archived: {hold.text}")
                continue
            elif not row["archived"]:
                plan.add_change("flag", row["project"], row["name"], "archive")
                self.pruned_flags[row["name"]] = row["project"]
            if prune is not None:
                self.released[row["kind"]].append(row["name"])
