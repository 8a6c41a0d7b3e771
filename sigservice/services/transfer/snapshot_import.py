"""Imports a snapshot: reads the target, checks the snapshot, writes the differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sigservice.db import Connection
from sigservice.errors import BadDataError, ExceedsLimitError
from sigservice.repository.flags import features
from sigservice.repository.transfer import definitions
from sigservice.services import revisions
from sigservice.services.flags import segments
from sigservice.services.identity import Identity
from sigservice.services.transfer import snapshots
from sigservice.services.transfer.definition_checker import LIMIT, Finding, ImportTarget
from sigservice.services.transfer.snapshot_checker import SnapshotChecker
from sigservice.services.transfer.snapshot_writer import (
    ImportChange,
    ImportChanges,
    OnWritten,
    SnapshotWriter,
)
from sigservice.services.transfer.snapshots import Snapshot


@dataclass(frozen=True)
class ImportLimits:
    """The configured limits."""

    max_segment_values: int
    max_strategy_segments: int

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> ImportLimits:
        return cls(config["segmentValuesLimit"], config["strategySegmentsLimit"])


class Notice(NamedTuple):
    """Why an item isn't imported, or what must be done about it."""

    item: str
    message: str


@dataclass
class PartialChanges:
    """`skipped` is not imported. `secrets` must be entered again."""

    entries: list[ImportChange] = field(default_factory=list)
    skipped: list[Notice] = field(default_factory=list)
    secrets: list[Notice] = field(default_factory=list)


def lock_target(conn: Connection, names: list[str], limits: ImportLimits) -> ImportTarget:
    """`read_target` under the lock, so that the result stays valid for the transaction."""
    revisions.lock(conn)
    return read_target(conn, names, limits)


def read_target(conn: Connection, names: list[str], limits: ImportLimits) -> ImportTarget:
    """The existing definitions, and the flags with these names."""
    return ImportTarget(
        existing=snapshots.read_snapshot(conn, names),
        locations={row.pop("name"): row for row in definitions.list_feature_locations(conn)},
        feature_types=frozenset(row["id"] for row in features.list_types(conn)),
        max_segment_values=limits.max_segment_values,
        max_strategy_segments=limits.max_strategy_segments,
    )


def import_snapshot(
    conn: Connection,
    snapshot: Snapshot,
    by: Identity,
    limits: ImportLimits,
    on_written: OnWritten = bool,
    *,
    lenient: bool = False,
) -> tuple[ImportChanges, list[Finding]]:
    """Imports everything or nothing. Raises BadDataError with all findings, ExceedsLimitError. If
    `lenient`, imports what is valid, and the findings explain the rest."""
    target = lock_target(conn, [feature.name for feature in snapshot.features], limits)
    checker = SnapshotChecker(target, lenient=lenient)
    accepted = checker.check(snapshot)
    raise_findings([it for it in checker.findings if it.kind == LIMIT or not lenient])
    writer = SnapshotWriter(conn, target.existing, by, overwrite=True, on_written=on_written)
    changes = writer.write(accepted)
    check_moved_segments(conn, target.existing, accepted)
    return changes, checker.findings


def check_moved_segments(conn: Connection, existing: Snapshot, accepted: Snapshot) -> None:
    """Call it after the write. Raises BadDataError if a segment changed its project and strategies
    of another one use it."""
    former = {item.name: item.project for item in existing.segments}
    moved = {it.name for it in accepted.segments if former.get(it.name, it.project) != it.project}
    for row in definitions.list_segments(conn) if moved else []:
        if row["name"] in moved:
            segments.check_project_fits(conn, row, row["project"])


def raise_findings(findings: list[Finding]) -> None:
    """Raises BadDataError, or ExceedsLimitError, if there are findings."""
    if findings:
        details = [{"message": finding.message, "path": finding.path} for finding in findings]
        is_limit = any(finding.kind == LIMIT for finding in findings)
        error_type = ExceedsLimitError if is_limit else BadDataError
        raise error_type(findings[0].message, details=details)


def restore_path(path: str, paths: Mapping[str, str]) -> str:
    """The path with its longest beginning in `paths` replaced."""
    for end in range(len(path), 0, -1):
        if path[:end] in paths and path[end : end + 1] in ("", ".", "["):
            return paths[path[:end]] + path[end:]
    return path
