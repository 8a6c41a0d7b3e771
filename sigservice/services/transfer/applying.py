"""Applies files of definitions: reads what exists, plans, and writes the plan in one transaction.

Without changes nothing is locked and written. Otherwise the plan is made again under the lock of
imports, so two applies have the effect of one after the other.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import msgspec
from msgspec.structs import replace

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.errors import ConflictError, NoPermissionError
from sigservice.repository.projects import strategy_types
from sigservice.repository.transfer import definitions
from sigservice.services import revisions
from sigservice.services.flags import feature_naming, features
from sigservice.services.identity import ADMIN, EDIT, Identity
from sigservice.services.projects import tag_types
from sigservice.services.system import events
from sigservice.services.transfer.apply_planner import Hold, Planner
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
    revive: bool = False
    conflicts: Literal["refuse", "skip"] = "refuse"
    fingerprint: str | None = None


def apply_files(
    begin: Begin, request: ApplyRequest, by: Identity, limits: ImportLimits
) -> dict[str, Any]:
    """The answer of the route; `begin` starts a transaction. Raises BadDataError and
    ExceedsLimitError for the files, ConflictError for what is here, NoPermissionError."""
    reader = FileReader()
    reader.read(request.documents)
    with begin(is_slow=True, snapshot=True) as conn:
        apply = _Apply(conn, reader, request, limits)
        answer = apply.check(by)
    if request.check or not apply.plan.changes:
        return answer
    with begin() as conn:
        revisions.lock(conn)
        apply = _Apply(conn, reader, request, limits)
        answer = apply.check(by)
        apply.write(by)
    return answer


@dataclass
class _Conflict:
    item: Feature
    reason: str
    message: str


class _Apply:
    """The plan of a request in a transaction."""

    def __init__(
        self, conn: Connection, reader: FileReader, request: ApplyRequest, limits: ImportLimits
    ) -> None:
        self._conn, self._items, self._request = conn, reader.items, request
        names = [item.name for item in reader.snapshot.features]
        self._target = read_target(conn, names, limits)
        desired = self._fill_projects(reader.snapshot)
        archived = {it.name for it in self._target.existing.features if it.archivedAt}
        self._revived = archived if request.revive else set()
        conflicts = [it for item in desired.features for it in self._find_conflicts(item)]
        if conflicts and request.conflicts == "refuse":
            self._raise_conflicts(conflicts)
        skipped = {it.item.name for it in conflicts}
        self._revived -= skipped
        desired = replace(
            desired, features=[item for item in desired.features if item.name not in skipped]
        )
        self._existing = replace(
            self._target.existing, features=[*map(self._revive, self._target.existing.features)]
        )
        self._desired = self._check_snapshot(desired)
        self.plan = self._make_planner(names).make_plan(self._desired)
        self.plan.skipped = [self._describe_skipped(it) for it in conflicts]

    def check(self, by: Identity) -> dict[str, Any]:
        """The answer. Raises NoPermissionError, and ConflictError for another fingerprint."""
        request, plan = self._request, self.plan
        declared = [
            (*key, sorted(item.attributes), item.enforces, item.enforcing)
            for key, item in sorted(self._items.items())
        ]
        options = (request.revive, request.conflicts)
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
            "fingerprint": fingerprint,
            "counts": plan.count(),
            "changes": plan.changes,
            "held": plan.holds,
            "skipped": plan.skipped,
            "notes": plan.notes,
        }

    def write(self, by: Identity) -> None:
        """Writes the plan with the events of each change."""
        if self._revived:
            features.revive(self._conn, sorted(self._revived), by)
        SnapshotWriter(
            self._conn, self._existing, by, overwrite=True, on_written=bool, is_complete=True
        ).write(self.plan.snapshot)
        check_moved_segments(self._conn, self._existing, self.plan.snapshot)
        if self.plan.changes:
            events.record(self._conn, "features-applied", by, data={"counts": self.plan.count()})

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

    def _find_conflicts(self, item: Feature) -> list[_Conflict]:
        location = self._target.locations.get(item.name)
        if location is None:
            return []
        if location["project"] != item.project:
            text = f"{item.name} exists in the project {location['project']}."
            return [_Conflict(item, "otherProject", text)]
        if location["archived"] and item.name not in self._revived:
            return [_Conflict(item, "archived", f"{item.name} is archived.")]
        return []

    def _raise_conflicts(self, conflicts: list[_Conflict]) -> None:
        details = [
            {
                "message": it.message,
                "path": self._items["flags", it.item.name].path,
                "reason": it.reason,
            }
            for it in conflicts
        ]
        raise ConflictError(conflicts[0].message, details=details)

    def _describe_skipped(self, conflict: _Conflict) -> dict[str, Any]:
        return {
            "kind": "flag",
            "project": conflict.item.project,
            "name": conflict.item.name,
            "environment": None,
            "reason": conflict.reason,
            "text": f"flag {conflict.message}",
        }

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

    def _make_planner(self, names: list[str]) -> Planner:
        holds = {
            (row["feature"], row["environment"]): _describe_hold(row)
            for row in definitions.list_holds(self._conn, names)
        }
        counts = Counter(row["project"] for row in self._target.locations.values())
        return Planner(self._existing, self._items, holds, counts.keys(), self._revived)

    def _check_permissions(self, by: Identity) -> None:
        changes = self.plan.changes
        for change in changes:
            is_new_project = change["kind"] == "project" and change["change"] == "create"
            needed = ADMIN if change["kind"] == "environment" or is_new_project else EDIT
            if not by.has_permission(needed):
                group = next(name for name, kind in KINDS.items() if kind.label == change["kind"])
                text = f"You need the permission {needed} for the {change['text']}."
                path = self._items[group, change["name"]].path
                raise NoPermissionError(text, path=path, extra={"permissions": [needed]})


def _describe_hold(row: Mapping[str, Any] | Row) -> Hold:
    return Hold(row["reason"], _HOLDS[row["reason"]].format(format_iso(row["since"])))
