"""Applies files of definitions: reads what exists, plans, and writes the plan in one transaction.

Without changes nothing is locked and written. Otherwise the plan is made again under the lock of
imports, so two applies have the effect of one after the other.
"""

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, ClassVar, Literal

import msgspec
from msgspec.structs import replace

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.errors import ConflictError, NoPermissionError
from sigservice.repository.flags import sources
from sigservice.repository.projects import strategy_types
from sigservice.repository.transfer import definitions
from sigservice.services import revisions
from sigservice.services.flags import feature_naming, features
from sigservice.services.identity import ADMIN, EDIT, Identity
from sigservice.services.problems import Problems
from sigservice.services.projects import tag_types
from sigservice.services.system import events
from sigservice.services.transfer.apply_planner import Hold, Planner, add_entry
from sigservice.services.transfer.apply_sources import Conflict, SourceState
from sigservice.services.transfer.definition_checker import Finding, ImportTarget
from sigservice.services.transfer.flag_files import KINDS, FileReader
from sigservice.services.transfer.snapshot_checker import SnapshotChecker
from sigservice.services.transfer.snapshot_import import (
    ImportLimits,
    check_moved_segments,
    raise_findings,
    read_target,
)
from sigservice.services.transfer.snapshot_writer import SnapshotWriter
from sigservice.services.transfer.snapshots import Feature, ProjectEnvironment, Snapshot, get_name

Begin = Callable[..., AbstractContextManager[Connection]]
_HOLDS = {
    "alert": "an alert holds it since {}",
    "release": "a release there began {}",
    "schedule": "a schedule is due {}",
}


class ApplyRequest(msgspec.Struct):
    """`documents` are files (docs/flags-as-code.md) as JSON."""

    read_only: ClassVar = ()
    documents: list[dict[str, Any]]
    check: bool = False
    source: str | None = None
    revision: str | None = None
    adopt: bool = False
    prune: Literal["unused", "all"] | None = None
    revive: bool = False
    conflicts: Literal["refuse", "skip"] = "refuse"
    fingerprint: str | None = None


def apply_files(
    begin: Begin, request: ApplyRequest, by: Identity, limits: ImportLimits, now: datetime
) -> dict[str, Any]:
    """The answer of the route; `begin` starts a transaction. Raises BadDataError and
    ExceedsLimitError for the files, ConflictError for what is here, NoPermissionError."""
    _check_source(request)
    reader = FileReader()
    reader.read(request.documents)
    with begin(is_slow=True, snapshot=True) as conn:
        apply = _Apply(conn, reader, request, limits, now)
        answer = apply.check(by)
    if request.check or not (apply.has_changes or request.source):
        return answer
    with begin() as conn:
        if apply.has_changes:
            revisions.lock(conn)
            apply = _Apply(conn, reader, request, limits, now)
            answer = apply.check(by)
            apply.write(by)
        else:
            sources.put(conn, request.source or "", request.revision, by.username)
    return answer


def _check_source(request: ApplyRequest) -> None:
    """Raises BadDataError."""
    problems = Problems()
    for path in ("source", "revision"):
        text = getattr(request, path)
        if text is not None and not (
            1 <= len(text) <= 200 and text == text.strip() and text.isprintable()
        ):
            problems.add(path, f"The {path} must have 1 to 200 printable characters.")
    if request.source == "file":
        problems.add("source", "This name is reserved.")
    for path in ("revision", "adopt", "prune"):
        if getattr(request, path) and request.source is None:
            problems.add(path, f"{path} needs a source.")
    problems.raise_if_any()


class _Apply:
    """The plan of a request in a transaction."""

    def __init__(
        self,
        conn: Connection,
        reader: FileReader,
        request: ApplyRequest,
        limits: ImportLimits,
        now: datetime,
    ) -> None:
        self._conn, self._items, self._request = conn, reader.items, request
        names = {
            "flag": [item.name for item in reader.snapshot.features],
            "segment": [item.name for item in reader.snapshot.segments],
        }
        self._target = read_target(conn, names["flag"], limits)
        self._sources = SourceState(conn, request.source, names, now)
        desired = self._fill_projects(reader.snapshot)
        archived = {it.name for it in self._target.existing.features if it.archivedAt}
        self._revived = archived if request.revive else set()
        conflicts = self._find_conflicts(desired)
        self._make_plan(desired, conflicts)
        if request.source is None:
            conflicts += [
                conflict
                for it in self.plan.changes
                if it["change"] != "create"
                and (
                    conflict := self._sources.find_conflict(
                        it["kind"], it["project"], it["name"], adopt=True
                    )
                )
            ]
            if len(conflicts) > len(self.plan.skipped):
                self._make_plan(desired, conflicts)

    @property
    def has_changes(self) -> bool:
        return bool(self.plan.changes or any(self._sources.released.values()))

    def _make_plan(self, desired: Snapshot, conflicts: list[Conflict]) -> None:
        """Without the items that have conflicts. Raises ConflictError if these refuse the apply."""
        request = self._request
        if conflicts and request.conflicts == "refuse":
            self._raise_conflicts(conflicts)
        skipped = {(it.kind, it.name) for it in conflicts}
        self._revived = {name for name in self._revived if ("flag", name) not in skipped}
        self._existing = replace(
            self._target.existing, features=[*map(self._revive, self._target.existing.features)]
        )
        self._desired = self._check_snapshot(
            replace(
                desired,
                features=[it for it in desired.features if ("flag", it.name) not in skipped],
                segments=[it for it in desired.segments if ("segment", it.name) not in skipped],
            )
        )
        names = {*(it.name for it in desired.features)}
        names |= {name for kind, name in self._sources.owners if kind == "flag"}
        holds = {
            (row["feature"], row["environment"]): _describe_hold(row)
            for row in definitions.list_holds(self._conn, sorted(names))
        }
        used_projects = {row["project"] for row in self._target.locations.values()}
        self.plan = Planner(
            self._existing,
            self._items,
            holds,
            used_projects,
            self._revived,
            self._list_adopted(),
            self._sources.drifted,
        ).make_plan(self._desired)
        for it in conflicts:
            text = f"{it.kind} {it.message}"
            add_entry(self.plan.skipped, it.kind, it.project, it.name, it.reason, text)
        if request.source is not None:
            parents = {
                name: row["parent"]
                for name, row in self._target.locations.items()
                if row["parent"] and not row["archived"]
            }
            for item in self.plan.snapshot.features:
                parents[item.name] = item.dependencies[0].feature if item.dependencies else ""
            flags = {name: it for (name, _), it in holds.items() if it.reason != "schedule"}
            self._sources.plan_undeclared(self.plan, request.prune, parents, flags)

    def _list_adopted(self) -> set[tuple[str, str]]:
        """The items that exist and that this apply marks, by group and name."""
        if self._request.source is None:
            return set()
        existing = {("flags", name) for name in self._target.locations}
        existing |= {("segments", it.name) for it in self._target.existing.segments}
        owners = {(f"{kind}s", name) for kind, name in self._sources.owners}
        return existing - owners

    def check(self, by: Identity) -> dict[str, Any]:
        """The answer. Raises NoPermissionError, and ConflictError for another fingerprint."""
        request, plan = self._request, self.plan
        declared = [
            (*key, sorted(item.attributes), item.enforces, item.enforcing)
            for key, item in sorted(self._items.items())
        ]
        options = (request.source, request.adopt, request.prune, request.revive, request.conflicts)
        content = (self._desired, declared, options, plan.changes)
        encoded = msgspec.json.encode(content, order="deterministic")
        fingerprint = hashlib.sha256(encoded).hexdigest()[:16]
        if request.fingerprint not in (None, fingerprint):
            text = "The plan isn't the one with this fingerprint. Check again."
            detail = {"message": text, "path": "fingerprint", "reason": "changed"}
            raise ConflictError(text, details=[detail])
        if not request.check:
            self._check_permissions(by)
        return {
            "applied": not request.check,
            "source": request.source,
            "revision": request.revision,
            "fingerprint": fingerprint,
            "counts": plan.count(),
            "changes": plan.changes,
            "held": plan.holds,
            "skipped": plan.skipped,
            "notes": plan.notes,
        }

    def write(self, by: Identity) -> None:
        """Writes the plan with the events of each change."""
        request, conn = self._request, self._conn
        mark = {"source": request.source, "revision": request.revision}
        if request.source is not None:
            by = dataclasses.replace(by, apply=mark)
        if self._revived:
            features.revive(conn, sorted(self._revived), by)
        SnapshotWriter(
            conn, self._existing, by, overwrite=True, on_written=bool, is_complete=True
        ).write(self.plan.snapshot)
        check_moved_segments(conn, self._existing, self.plan.snapshot)
        for project in sorted({*self._sources.pruned_flags.values()}):
            names = [it for it, place in self._sources.pruned_flags.items() if place == project]
            features.archive(conn, project, names, by)
        if request.source is not None:
            sources.put(conn, request.source, request.revision, by.username)
            flags = [item.name for item in self._desired.features]
            segments = [item.name for item in self._desired.segments]
            sources.mark(conn, request.source, flags=flags, segments=segments)
            released = self._sources.released
            sources.mark(conn, None, flags=released["flag"], segments=released["segment"])
        if self.plan.changes:
            data = mark | {"counts": self.plan.count()}
            events.record(conn, "features-applied", dataclasses.replace(by, apply=None), data=data)

    def _fill_projects(self, snapshot: Snapshot) -> Snapshot:
        """New projects that name no environments get all enabled ones, as by hand."""
        ids = {project.id for project in self._target.existing.projects}
        names = {it.name: it.enabled for it in self._target.existing.environments}
        for item in snapshot.environments:
            names.setdefault(item.name, item.enabled)
        links = [ProjectEnvironment(name) for name, is_enabled in names.items() if is_enabled]
        projects = [
            project
            if project.id in ids or "environments" in self._items["projects", project.id].attributes
            else replace(project, environments=links)
            for project in snapshot.projects
        ]
        return replace(snapshot, projects=projects)

    def _find_conflicts(self, desired: Snapshot) -> list[Conflict]:
        """At most one for each flag and segment."""
        conflicts = [self._find_conflict(item) for item in desired.features]
        if self._request.source is not None:
            existing = {it.name for it in self._target.existing.segments}
            conflicts += [
                self._sources.find_conflict(
                    "segment", it.project, it.name, adopt=self._request.adopt
                )
                for it in desired.segments
                if it.name in existing
            ]
        return [conflict for conflict in conflicts if conflict is not None]

    def _find_conflict(self, item: Feature) -> Conflict | None:
        location = self._target.locations.get(item.name)
        if location is None:
            return None
        key = ("flag", item.project, item.name)
        if location["project"] != item.project:
            text = f"{item.name} exists in the project {location['project']}."
            return Conflict(*key, "otherProject", text)
        if location["archived"] and item.name not in self._revived:
            return Conflict(*key, "archived", f"{item.name} is archived.")
        if self._request.source is None:
            return None
        return self._sources.find_conflict(*key, adopt=self._request.adopt)

    def _raise_conflicts(self, conflicts: list[Conflict]) -> None:
        details = [
            {
                "message": it.message,
                "path": self._items[f"{it.kind}s", it.name].path,
                "reason": it.reason,
            }
            for it in conflicts
        ]
        raise ConflictError(conflicts[0].message, details=details)

    def _revive(self, item: Feature) -> Feature:
        """The flag as it is after its revival."""
        if item.name not in self._revived:
            return item
        states = [replace(state, enabled=False) for state in item.environments]
        return replace(item, archivedAt=None, dependencies=[], environments=states)

    def _check_snapshot(self, desired: Snapshot) -> Snapshot:
        """The items in the form in which they are stored. Raises BadDataError."""
        locations = dict(self._target.locations)
        for item in desired.features:
            if location := locations.get(item.name):
                declaration = self._items["flags", item.name]
                parent = None if "dependencies" in declaration.attributes else location["parent"]
                locations[item.name] = {**location, "archived": False, "parent": parent}
        target: ImportTarget = ImportTarget(
            self._target.existing,
            locations,
            self._target.feature_types,
            self._target.max_segment_values,
            self._target.max_strategy_segments,
        )
        checker = SnapshotChecker(target)
        accepted = checker.check(desired)
        findings = [*checker.findings, *self._check_built_in(desired), *self._check_names(desired)]
        raise_findings([self._restore_path(desired, finding) for finding in findings])
        return accepted

    def _check_built_in(self, desired: Snapshot) -> list[Finding]:
        built_in = {row["name"] for row in strategy_types.list_all(self._conn) if row["built_in"]}
        places = [("strategyTypes", name) for name in built_in] + [("tagTypes", tag_types.DEFAULT)]
        return [
            Finding(group, name, self._items[group, name].path, f"{name} is built in.")
            for group, name in places
            if (group, name) in self._items
        ]

    def _check_names(self, desired: Snapshot) -> list[Finding]:
        """New flags must match the pattern of their project."""
        new = [item for item in desired.features if item.name not in self._target.locations]
        ids = {project.id for project in self._target.existing.projects}
        projects = {item.project for item in new} & ids
        namings = {project: feature_naming.read(self._conn, project) for project in projects}
        return [
            Finding("features", item.name, self._items["flags", item.name].path, text)
            for item in new
            if item.project in namings
            and (text := feature_naming.find_mismatch(namings[item.project], item.name))
        ]

    def _restore_path(self, desired: Snapshot, finding: Finding) -> Finding:
        """The finding with the path in the files."""
        member, bracket, rest = finding.path.partition("[")
        group = next((name for name, kind in KINDS.items() if kind.member == member), "")
        index, _, inner = rest.partition("]")
        if not group or not bracket:
            return finding
        name = get_name(getattr(desired, member)[int(index)])
        path = self._items[group, name].restore_path(inner)
        return Finding(finding.kind, finding.item, path, finding.message)

    def _check_permissions(self, by: Identity) -> None:
        if self._request.source is not None and not by.has_permission(EDIT):
            text = "You need the permission EDIT for an apply with a source."
            raise NoPermissionError(text, path="source", extra={"permissions": [EDIT]})
        for change in self.plan.changes:
            is_new_project = change["kind"] == "project" and change["change"] == "create"
            needed = ADMIN if change["kind"] == "environment" or is_new_project else EDIT
            if not by.has_permission(needed):
                group = next(name for name, kind in KINDS.items() if kind.label == change["kind"])
                text = f"You need the permission {needed} for the {change['text']}."
                path = self._items[group, change["name"]].path
                raise NoPermissionError(text, path=path, extra={"permissions": [needed]})


def _describe_hold(row: Mapping[str, Any] | Row) -> Hold:
    return Hold(row["reason"], _HOLDS[row["reason"]].format(format_iso(row["since"])))
